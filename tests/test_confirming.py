"""Trying capabilities on the application in memory: what confirms, what does not, and what says nothing."""

from __future__ import annotations

from typing import Any

import pytest

from catalogs.confirming import Confirmer, first_examples, problem_of
from catalogs.store import capability, load_catalog
from catalogs.subject import Subject
from pipeline.envs.fake import FakeEnvironment, Faults
from pipeline.structs import Param
from pipeline.tasks import Capability

TODO = Subject("fake-todo")
SECONDS = 20.0


def changed(name: str, **update: Any) -> Capability:
    """A capability of the fake application's catalog, changed as wanted."""
    row = capability(f"fake-todo.{name}")
    return Capability.model_validate({**row.model_dump(), **update})


def step(action: str, role: str | None = None, name: str | None = None, **more: Any) -> dict[str, Any]:
    return {"action": action, "role": role, "name": name, **more}


def confirmer(faults: Faults | None = None, subject: Subject = TODO) -> Confirmer:
    return Confirmer(FakeEnvironment(faults), subject)


@pytest.mark.parametrize("row", load_catalog("fake-todo"), ids=lambda row: row.capability_id)
async def test_every_capability_of_the_catalog_holds(row: Capability) -> None:
    outcome = await confirmer().confirm(row, SECONDS)

    assert (outcome.verdict, outcome.capability.status, outcome.reason) == ("confirmed", "confirmed", "")
    assert (outcome.capability.success_count, len(outcome.trials)) == (1, 1)


async def test_what_claims_to_write_and_does_not_is_outdated() -> None:
    row = changed("read-notes", consequence="edit")

    outcome = await confirmer().confirm(row, SECONDS)

    assert outcome.verdict == "outdated" and "the state is what it was" in outcome.reason
    assert outcome.capability.failure_count == len(outcome.trials) == 2


async def test_what_claims_to_read_and_writes_is_not_confirmed() -> None:
    outcome = await confirmer().confirm(changed("complete", consequence="none"), SECONDS)

    assert outcome.verdict == "outdated" and "the state differs: todo/" in outcome.reason


async def test_a_capture_that_finds_nothing_does_not_confirm() -> None:
    steps = [step("Click", "link", "Statistics"), step("TakeNote", content="{n}", capture=r"Lost: (\d+)", save_as="n")]

    outcome = await confirmer().confirm(changed("count-by-priority", procedure=steps), SECONDS)

    assert outcome.verdict == "outdated" and outcome.reason.startswith("step 2: nothing on the screen matches")


async def test_the_last_screen_must_be_the_one_named() -> None:
    outcome = await confirmer().confirm(changed("count-by-priority", screens=["/help"]), SECONDS)

    assert outcome.reason == "it ended at 'statistics', not on /help"


async def test_a_broken_world_says_nothing_of_a_capability() -> None:
    row = capability("fake-todo.complete")

    outcome = await confirmer(Faults(failing_starts=-1)).confirm(row, SECONDS)

    assert outcome.verdict is None and outcome.capability == row
    assert outcome.reason.startswith("setup/app_not_ready")


async def test_a_first_try_that_the_world_broke_does_not_make_it_flaky() -> None:
    outcome = await confirmer(Faults(failing_starts=1)).confirm(capability("fake-todo.complete"), SECONDS)

    assert (outcome.verdict, outcome.capability.failure_count) == ("confirmed", 0)


async def test_running_out_of_time_says_nothing_of_a_capability() -> None:
    row = capability("fake-todo.complete")

    outcome = await confirmer(Faults(act_seconds=5)).confirm(row, 0.3)

    assert (outcome.verdict, outcome.reason, outcome.capability) == (None, "out of time", row)


async def test_a_login_wall_is_named() -> None:
    outcome = await confirmer(Faults(wall_at=0, wall="login")).confirm(capability("fake-todo.rename"), SECONDS)

    assert outcome.verdict == outcome.capability.status == "needs_login"


async def test_without_a_procedure_nothing_is_tried() -> None:
    outcome = await confirmer().confirm(changed("add", procedure=[]), SECONDS)

    assert (outcome.verdict, outcome.trials) == (None, [])


async def test_a_renamed_control_is_mended_in_the_procedure() -> None:
    steps = [row.model_dump() for row in capability("fake-todo.add").procedure]
    steps[-1]["name"] = "Create"

    outcome = await confirmer().confirm(changed("add", procedure=steps), SECONDS)

    assert outcome.verdict == "renamed" and outcome.capability.status == "confirmed"
    assert outcome.capability.procedure == capability("fake-todo.add").procedure
    assert outcome.reason == "button 'Create' is now 'Add'"


async def test_other_procedures_count_only_by_their_effect() -> None:
    row = capability("fake-todo.add")
    idle, whole = row.procedure[:-1], row.procedure

    assert await confirmer().replace(row, [idle]) is None
    outcome = await confirmer().replace(row, [idle, whole])
    assert outcome is not None and outcome.verdict == "renamed" and outcome.capability.procedure == whole


async def test_a_trial_tells_its_end_and_what_changed() -> None:
    row = capability("fake-todo.complete")

    trial = await confirmer().attempt(row, SECONDS)

    assert trial.changes == [["todo/2", "changed"]] and trial.ended_at == "http://localhost/"
    assert problem_of(row, trial) is None and trial.nodes


def test_the_first_example_of_every_slot_is_used() -> None:
    assert first_examples(capability("fake-todo.set-priority").slots) == [
        Param(name="title", value="Buy coffee beans"),
        Param(name="priority", value="low"),
    ]
