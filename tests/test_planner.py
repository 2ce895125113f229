"""The planner: procedures followed on the screen, and mistakes made on purpose."""

from __future__ import annotations

import asyncio
import random
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.actions import Click, Finished, Type, Wait
from pipeline.envs.fake import FakeEnvironment, Faults
from pipeline.policies.mistakes import altered
from pipeline.policies.planner import PlannerPolicy, planned
from pipeline.records import Record, Step
from pipeline.structs import Param
from pipeline.tasks import CapabilityCall, ProcedureStep, TaskSpec
from taskspecs.store import load_tasks
from tests.episodes import Curtained, fake_task, play
from verifiers.contract import evaluate, outcome_of

FAKE_TASKS = load_tasks("fake")
ENGLISH = [task for task in FAKE_TASKS if task.language == "en"]


Run = tuple[TaskSpec, Record]


async def plan(
    task: TaskSpec, mistakes: float = 0.0, seed: int = 0, environment: FakeEnvironment | None = None
) -> Record:
    return await play(PlannerPolicy("p", task, mistakes, seed), task, environment)


@pytest.fixture(scope="module")
def erring() -> list[Run]:
    """Every English task six times, with a mistake at about one step in five; one environment for its pictures."""
    environment = FakeEnvironment()

    async def runs() -> list[Run]:
        return [(task, await plan(task, 0.2, seed, environment)) for seed in range(6) for task in ENGLISH]

    return asyncio.run(runs())


def injected(record: Record) -> list[Step]:
    return [step for step in record.steps if step.injected is not None]


def plain(record: Record) -> list[tuple[str, str, str | None]]:
    return [(step.reply, step.thought, step.injected) for step in record.steps]


# --- without mistakes ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("task", FAKE_TASKS, ids=lambda task: f"{task.language}-{task.task_id[:6]}")
async def test_procedures_meet_the_contract(task: TaskSpec) -> None:
    record = await plan(task)
    evaluated = evaluate(task, record, "pass")
    assert injected(record) == [] and evaluated.side_effects == []
    if task.feasible:
        assert (outcome_of(task, evaluated).checks, record.trajectory.claim) == ("passed", "success")
    else:
        assert (outcome_of(task, evaluated).absence, record.trajectory.claim) == ("passed", "infeasible")


async def test_what_to_do_is_never_read_from_the_oracle() -> None:
    task = fake_task()
    misled = task.model_copy(update={"oracle": [ProcedureStep(action="Click", role="link", name="Help")]})
    assert plain(await plan(misled)) == plain(await plan(task))


async def test_an_answer_written_out_in_the_oracle_is_not_taken() -> None:
    task = fake_task("How many")
    record = await plan(task.model_copy(update={"oracle": [ProcedureStep(action="Finished", content="3")]}))
    assert record.trajectory.answer is None
    assert (await plan(task)).trajectory.answer == "3"


async def test_a_missing_object_named_by_the_task_is_looked_for_then_claimed_infeasible() -> None:
    record = await plan(fake_task('Delete the to-do "Feed the parrot"'))
    assert [step.action.type for step in record.steps if step.action] == [
        *("Click", "Wait", "Wait", "Scroll"),
        "Finished",
    ]
    assert record.trajectory.answer == 'infeasible: "Feed the parrot" was not found'


async def test_a_missing_option_named_by_the_task_is_claimed_infeasible() -> None:
    record = await plan(fake_task('Set the priority of "Pay the rent" to'))
    assert record.trajectory.answer == 'infeasible: "critical" was not found'


async def test_claims_are_in_the_tasks_language() -> None:
    record = await plan(fake_task("删除待办“Feed the parrot”"))
    assert record.trajectory.answer == "infeasible: 没有找到“Feed the parrot”"


async def test_without_a_capability_it_looks_where_the_function_would_be() -> None:
    record = await plan(fake_task("Share the to-do"))
    assert isinstance(record.steps[0].action, Click)
    assert record.steps[0].target is not None and record.steps[0].target.name == "Book train tickets"
    assert record.trajectory.claim == "infeasible"


async def test_something_missing_that_the_task_did_not_name_is_no_infeasibility() -> None:
    call = CapabilityCall(capability_id="fake-todo.add", params=[Param(name="title", value="x")])
    task = fake_task(calls=[call])
    record = await plan(task)
    assert (record.trajectory.termination, record.trajectory.claim) == ("call_user", "none"), "no priority was given"


async def test_a_screen_that_forbids_pictures_says_nothing_of_what_exists() -> None:
    task = fake_task('Delete the to-do "Feed the parrot"')
    record = await play(PlannerPolicy("p", task, 1.0, 0), task, Curtained(after=0))
    assert [step.action.type for step in record.steps if step.action] == ["Wait", "Wait", "Wait", "CallUser"]
    assert (record.trajectory.claim, record.trajectory.fault) == ("none", None)


def test_a_plan_ends_with_the_end_and_knows_what_the_task_names() -> None:
    steps = planned(fake_task("Rename"))
    assert [entry.step.action for entry in steps][-2:] == ["Click", "Finished"]
    assert [entry.step.name for entry in steps if entry.slotted] == ["Fix the bicycle"]
    assert steps[0].purpose == "rename a to-do"


# --- mistakes on purpose ------------------------------------------------------------------------------------------


async def test_same_seed_gives_the_same_mistakes_and_another_seed_others() -> None:
    task = fake_task("Add the to-dos")
    assert plain(await plan(task, 0.3, seed=1)) == plain(await plan(task, 0.3, seed=1))
    assert len({str(plain(await plan(task, 0.3, seed=seed))) for seed in range(5)}) > 1


def test_mistakes_are_about_as_frequent_as_asked(erring: list[Run]) -> None:
    share = sum(len(injected(record)) for _, record in erring) / sum(len(record.steps) for _, record in erring)
    assert 0.1 < share < 0.25


def test_every_kind_occurs_and_so_does_every_outcome(erring: list[Run]) -> None:
    kinds, outcomes = Counter[str](), Counter[str]()
    for task, record in erring:
        kinds.update(str(step.injected) for step in injected(record))
        if task.feasible:
            outcomes[str(outcome_of(task, evaluate(task, record, "pass")).checks)] += 1
    assert set(kinds) == {"wrong_target", "useless", "premature", "wrong_value"}
    assert outcomes["passed"] > outcomes["failed"] > 0


def test_a_recoverable_error_can_be_followed_by_success(erring: list[Run]) -> None:
    assert any(
        task.feasible
        and any(step.injected == "wrong_target" for step in record.steps)
        and outcome_of(task, evaluate(task, record, "pass")).checks == "passed"
        for task, record in erring
    )


def test_a_wrong_target_is_not_what_the_thought_names(erring: list[Run]) -> None:
    wrong = [step for _, record in erring for step in injected(record) if step.injected == "wrong_target"]
    assert len(wrong) > 10
    for step in wrong:
        assert step.target is not None
        assert f'{step.target.role} "{step.target.name}"' not in step.thought


def test_a_premature_end_is_the_last_step_and_says_success(erring: list[Run]) -> None:
    ended = [record for _, record in erring if any(step.injected == "premature" for step in record.steps)]
    assert ended
    for record in ended:
        assert record.steps[-1].injected == "premature"
        assert isinstance(record.steps[-1].action, Finished)
        assert record.trajectory.claim == "success"


async def test_a_wrong_value_is_not_the_one_asked_for() -> None:
    task, environment = fake_task(), FakeEnvironment()
    typed = [
        step.action.content
        for seed in range(40)
        for step in injected(await plan(task, 0.3, seed, environment))
        if step.injected == "wrong_value" and isinstance(step.action, Type)
    ]
    assert typed and "Buy stamps" not in typed


async def test_waiting_for_a_picture_is_no_occasion_for_mistakes() -> None:
    task = fake_task()
    record = await play(PlannerPolicy("p", task, 1.0, 0), task, faults=Faults(failing_looks=[0]))
    assert isinstance(record.steps[0].action, Wait) and record.steps[0].injected is None


@given(text=st.text(min_size=1).filter(str.strip), seed=st.integers(0, 99))
def test_an_altered_value_differs_and_is_not_empty(text: str, seed: int) -> None:
    changed = altered(text, random.Random(seed))
    assert changed and changed != text


@pytest.mark.parametrize("text", ["12.50", "2026-03-05", "ticket 7"])
def test_an_altered_number_keeps_its_form(text: str) -> None:
    changed = altered(text, random.Random(0))
    assert len(changed) == len(text)
    assert sum(one != other for one, other in zip(changed, text, strict=True)) == 1
