"""The quickstart tasks: what the set holds, and the proof of every task in the real applications with real Chromium.

For every task the oracle meets the contract (or rightly claims that it cannot be done), and doing nothing does not.
The planner's plan is shown to be the oracle wherever the task can be done; where it cannot, the planner is run too.
Stopping a workflow early leaves it done in part.
"""

from __future__ import annotations

import asyncio
import re
from collections import Counter
from collections.abc import AsyncIterator, Callable
from fnmatch import fnmatchcase
from typing import NamedTuple

import pytest
import pytest_asyncio

from catalogs.store import capability, load_catalog
from pipeline import envs
from pipeline.apps import load_app
from pipeline.config import load_config
from pipeline.policies.noop import NoopPolicy
from pipeline.policies.planner import PlannerPolicy, planned
from pipeline.policies.scripted import ScriptedPolicy
from pipeline.protocols import Environment, Policy
from pipeline.reaper import Scratch
from pipeline.records import Record
from pipeline.tasks import ANSWER, RESERVED_PROBES, TaskSpec, identified
from taskspecs.store import load_tasks
from tests.episodes import play
from verifiers.contract import Outcome, evaluate, outcome_of, side_effects

TASKS = load_tasks("quickstart")
APPS = ("fava", "ihatemoney", "sqlite-web", "trac")
STEPS_OF_A_FIELD = {"Type": 2, "SelectOption": 2}
"""A field is clicked before it is filled."""


def name_of(task: TaskSpec) -> str:
    """A test's name: where, what kind, which."""
    return f"{task.start.app_id}-{task.language}-{task.tier}-{task.task_id[:6]}"


def of_app(app_id: str) -> list[TaskSpec]:
    return [task for task in TASKS if task.start.app_id == app_id]


def length_of(task: TaskSpec) -> int:
    """Actions of the oracle when every element shows at once."""
    return sum(
        STEPS_OF_A_FIELD.get(step.action, 1) if step.role or step.name else 1
        for step in task.oracle
        if not step.optional
    )


each_task = pytest.mark.parametrize("task", TASKS, ids=name_of)
each_app = pytest.mark.parametrize("app_id", APPS)


# --- what the set holds -------------------------------------------------------------------------------------------


def test_the_set_is_large_and_mixed_enough() -> None:
    languages = Counter(task.language for task in TASKS)
    assert len(TASKS) >= 44
    assert {task.start.app_id for task in TASKS} == set(APPS)
    assert set(languages) == {"en", "zh"} and min(languages.values()) >= len(TASKS) // 3
    assert {task.contract_kind for task in TASKS} == {"state", "answer"}
    assert {"none", "create", "edit", "delete"} <= {task.consequence for task in TASKS}
    assert any(task.setup for task in TASKS)
    assert 0.1 <= sum(not task.feasible for task in TASKS) / len(TASKS) <= 0.35


def test_every_task_is_asked_once() -> None:
    assert len({task.task_id for task in TASKS}) == len(TASKS)
    assert len({task.instruction for task in TASKS}) == len(TASKS)


@each_app
def test_every_application_has_its_share(app_id: str) -> None:
    tasks = of_app(app_id)
    assert len(tasks) >= 12
    assert {task.tier for task in tasks} == {"single", "multi", "workflow"}
    assert {task.language for task in tasks} == {"en", "zh"}
    assert sum(task.contract_kind == "answer" for task in tasks) >= 2
    assert sum(not task.feasible for task in tasks) >= 2


@each_app
def test_every_catalog_has_capabilities_with_procedure_and_consequence(app_id: str) -> None:
    capabilities = load_catalog(app_id)
    used = {call.capability_id for task in of_app(app_id) for call in task.calls}
    assert len(capabilities) >= 8
    assert len({found.capability_id for found in capabilities}) == len(capabilities)
    assert used <= {found.capability_id for found in capabilities}, "what no task here proves, exploration confirms"
    for found in capabilities:
        assert found.procedure and found.screens and found.effect, found.capability_id
        assert found.consequence in ("none", "create", "edit", "delete"), found.capability_id
        assert all(slot.values for slot in found.slots), found.capability_id
        assert len(found.path) == 3, found.capability_id


@each_task
def test_a_contract_speaks_of_what_exists(task: TaskSpec) -> None:
    app = load_app(task.start.app_id)
    checks = [*task.checks, *task.absence_checks, *task.preflight]
    assert checks
    assert {check.probe for check in checks} <= {*app.probes, *RESERVED_PROBES}
    assert [(param.name, param.value) for param in task.app_versions] == [(app.app_id, app.version)]
    assert len({check.name for check in task.checks}) == len(task.checks)


@each_task
def test_a_task_has_what_its_kind_needs(task: TaskSpec) -> None:
    if not task.feasible:
        assert task.absence_checks and task.infeasible_reason and not task.segments
        assert (task.oracle[-1].content or "").startswith("infeasible: ") and len(task.oracle) >= 3
        assert not task.expected_changes
    elif task.contract_kind == "answer":
        assert any(check.probe == ANSWER for check in task.checks)
        assert not task.expected_changes or task.tier != "single"
    else:
        assert task.segments and task.expected_changes and not task.absence_checks


@each_task
def test_a_tier_is_what_it_says(task: TaskSpec) -> None:
    calls = len(task.calls)
    if task.tier == "single":
        assert calls <= 1 and len(task.segments) <= 1
    elif task.tier == "multi":
        assert calls in (2, 3) and len(task.segments) >= 2
    else:
        assert calls >= 4 and len(task.segments) >= 2


@each_task
def test_limits_leave_room_for_detours(task: TaskSpec) -> None:
    assert length_of(task) * 2 <= task.max_steps <= length_of(task) * 3 + 10
    assert 30 <= task.max_seconds <= 180


@each_task
def test_an_answer_does_not_stand_in_its_question(task: TaskSpec) -> None:
    answers = [text for check in task.checks if check.probe == ANSWER for text in check.expected]
    standing = [rf"(?i)(?<![a-z0-9.]){re.escape(text)}(?![a-z0-9])" for text in answers]
    assert not [pattern for pattern in standing if re.search(pattern, task.instruction)]


@each_task
def test_a_change_that_is_expected_is_named_closely(task: TaskSpec) -> None:
    for pattern in task.expected_changes:
        assert not fnmatchcase("any_table/1", pattern), pattern
        assert not fnmatchcase("any.file|any line", pattern), pattern


@each_task
def test_the_planners_plan_is_the_oracle(task: TaskSpec) -> None:
    plan = [found.step for found in planned(task)]
    if task.feasible:
        assert plan == task.oracle
    else:
        assert not plan or plan != task.oracle


# --- the proof ----------------------------------------------------------------------------------------------------


class Worlds(NamedTuple):
    """Two environments, so that what fails is tried while the oracle runs."""

    oracle: Environment
    others: Environment


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def worlds() -> AsyncIterator[Worlds]:
    """In each one browser, and one instance of each application, for all tasks of the set."""
    config = load_config("quickstart", [])
    with Scratch("oracle") as one, Scratch("others") as other:
        made = Worlds(envs.build(config, one), envs.build(config, other))
        yield made
        await asyncio.gather(*(environment.close() for environment in made))


async def outcome_after(policy: Callable[[], Policy], task: TaskSpec, world: Environment) -> tuple[Record, Outcome]:
    """An episode that ends by itself and leaves no side effect, and what the contract says of it.

    A fault is the world's: it says nothing of the task, and gives a second attempt as in a run.
    """
    record = await play(policy(), task, world)
    if record.trajectory.fault is not None:
        record = await play(policy(), task, world)
    assert record.trajectory.fault is None, record.trajectory.fault
    assert record.trajectory.termination == "finished", record.trajectory
    assert side_effects(task, record) == []
    return record, outcome_of(task, evaluate(task, record, "proof"))


async def prove_oracle(task: TaskSpec, world: Environment) -> Outcome:
    """The oracle meets the contract, or rightly claims that it cannot be done, and none of its steps fails."""
    record, outcome = await outcome_after(lambda: ScriptedPolicy("oracle", task), task, world)
    assert [step.error_detail for step in record.steps if step.status != "ok"] == []
    proved = (outcome.checks, "success") if task.feasible else (outcome.absence, "infeasible")
    assert proved == ("passed", record.trajectory.claim), evaluate(task, record, "proof").results
    return outcome


async def prove_that_doing_nothing_fails(task: TaskSpec, world: Environment) -> Outcome:
    """It claims success, which no contract grants."""
    record, outcome = await outcome_after(lambda: NoopPolicy("noop", task), task, world)
    assert record.trajectory.claim == "success"
    assert outcome.checks == ("failed" if task.feasible else None)
    return outcome


async def prove_that_the_planner_finds_out(task: TaskSpec, world: Environment) -> None:
    """What cannot be done is told from the screen alone."""
    record, outcome = await outcome_after(lambda: PlannerPolicy("planner", task, mistakes=0.0, seed=0), task, world)
    assert (outcome.absence, record.trajectory.claim) == ("passed", "infeasible")


async def prove_that_stopping_early_is_partial(task: TaskSpec, world: Environment) -> None:
    """After the first capability some segments hold, and some do not."""
    done = len(capability(task.calls[0].capability_id).procedure)
    early = identified(task.model_copy(update={"oracle": [*task.oracle[:done], task.oracle[-1]]}))
    _, outcome = await outcome_after(lambda: ScriptedPolicy("early", early), early, world)
    assert outcome.checks == "failed"
    assert outcome.segments_passed is not None and 1 <= outcome.segments_passed < len(task.segments)


async def prove_the_rest(task: TaskSpec, world: Environment) -> Outcome:
    """Everything but the oracle; what came of doing nothing."""
    idle = await prove_that_doing_nothing_fails(task, world)
    if not task.feasible:
        await prove_that_the_planner_finds_out(task, world)
    if task.tier == "workflow":
        await prove_that_stopping_early_is_partial(task, world)
    return idle


@pytest.mark.slow
@pytest.mark.asyncio(loop_scope="module")
@each_task
async def test_a_task_is_proved_in_its_application(task: TaskSpec, worlds: Worlds) -> None:
    async with asyncio.TaskGroup() as proofs:
        oracle = proofs.create_task(prove_oracle(task, worlds.oracle))
        idle = proofs.create_task(prove_the_rest(task, worlds.others))

    granted = oracle.result()
    assert (granted.checks if task.feasible else granted.absence) == "passed"
    assert idle.result().checks != "passed"
