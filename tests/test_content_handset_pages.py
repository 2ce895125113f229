"""Applications of this machine that show in a package of the handset: their entries and tasks, and the proof of each.

What the application itself knows and stores is the affair of its own tests.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator

import pytest
import pytest_asyncio

from catalogs.store import load_catalog
from pipeline import envs
from pipeline.app_entry import PhoneEntry, entry_names, load_app, load_entry, load_phone_app, server_of
from pipeline.config import load_config
from pipeline.policies.planner import planned
from pipeline.reaper import Scratch
from pipeline.tasks import RESERVED_PROBES, TaskSpec
from taskspecs.store import load_tasks
from tests.test_tasks import Worlds, length_of, prove_oracle, prove_the_rest

ENTRIES = [
    entry for entry in map(load_entry, entry_names()) if isinstance(entry, PhoneEntry) and entry.page_of is not None
]
IDS = [entry.app_id for entry in ENTRIES]
TASKS = [task for task in load_tasks("mobile") if task.start.app_id in IDS]


def told(task: TaskSpec) -> str:
    return f"{task.start.app_id}-{task.tier}-{task.task_id[:6]}"


@pytest.mark.parametrize("entry", ENTRIES, ids=lambda entry: entry.app_id)
def test_an_entry_says_what_its_pages_are_of(entry: PhoneEntry) -> None:
    server = server_of(entry.app_id)

    assert server is not None and server == load_app(entry.page_of or "")
    assert (entry.version, entry.licence) == (server.version, server.licence)
    assert entry.package == f"org.pathproof.web.{entry.page_of}"


def test_there_are_tasks_in_both_languages_and_of_each_kind() -> None:
    assert (
        {task.language for task in TASKS} == {"en", "zh"} == {one.language for app in IDS for one in load_catalog(app)}
    )
    assert all(sum(task.start.app_id == app_id for task in TASKS) >= 4 for app_id in IDS)
    assert {task.tier for task in TASKS} >= {"single", "multi"}
    assert {task.contract_kind for task in TASKS} == {"state", "answer"}
    assert {task.feasible for task in TASKS} == {True, False}


@pytest.mark.parametrize("task", TASKS, ids=told)
def test_a_task_asks_what_the_application_answers(task: TaskSpec) -> None:
    entry = load_phone_app(task.start.app_id)
    probes = {check.probe for check in [*task.checks, *task.absence_checks, *task.preflight]}

    assert probes and probes <= {*entry.asked, *RESERVED_PROBES}
    assert [(param.name, param.value) for param in task.app_versions] == [(entry.app_id, entry.version)]
    assert length_of(task) * 2 <= task.max_steps <= length_of(task) * 3 + 10


@pytest.mark.parametrize("task", [task for task in TASKS if task.feasible], ids=told)
def test_the_planners_plan_is_the_oracle(task: TaskSpec) -> None:
    assert [found.step for found in planned(task)] == task.oracle


def test_the_configuration_has_them() -> None:
    assert set(IDS) <= set(load_config("mobile", []).apps)


# --- the proof ----------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def scratches() -> Iterator[tuple[Scratch, Scratch]]:
    with Scratch("oracle") as one, Scratch("others") as other:
        yield one, other


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def worlds(scratches: tuple[Scratch, Scratch]) -> AsyncIterator[Worlds]:
    """Two handsets, so that what fails is tried while the oracle runs."""
    one, other = (envs.build(load_config("mobile", []), scratch) for scratch in scratches)
    yield Worlds(one, other)
    await asyncio.gather(one.close(), other.close())


@pytest.mark.slow
@pytest.mark.asyncio(loop_scope="module")
@pytest.mark.parametrize("task", TASKS, ids=told)
async def test_a_task_is_proved_on_the_handset(task: TaskSpec, worlds: Worlds) -> None:
    async with asyncio.TaskGroup() as proofs:
        oracle = proofs.create_task(prove_oracle(task, worlds.oracle))
        idle = proofs.create_task(prove_the_rest(task, worlds.others))

    granted = oracle.result()
    assert (granted.checks if task.feasible else granted.absence) == "passed"
    assert idle.result().checks != "passed"
