"""Attempts on the application in memory that begin with the steps of an earlier one."""

from __future__ import annotations

from pipeline.envs.fake import FakeEnvironment
from pipeline.episode import plan_attempt
from pipeline.policies.planner import PlannerPolicy
from pipeline.policies.scripted import ScriptedPolicy
from pipeline.prefix import Prefix
from pipeline.protocols import Environment, Gate, Policy
from pipeline.records import Record
from pipeline.rollout import rollout
from pipeline.tasks import TaskSpec
from tests.episodes import FixedGate, fake_task, play
from verifiers.contract import evaluate

LONG = "Add the to-dos"
"""A task of three segments."""


def long_task() -> TaskSpec:
    """The task of three segments in English."""
    return fake_task(LONG)


async def whole(task: TaskSpec, environment: Environment | None = None) -> Record:
    """The task's oracle from beginning to end."""
    return await play(ScriptedPolicy("scripted", task), task, environment)


def planner(task: TaskSpec, mistakes: float = 0.0, seed: int = 0) -> Policy:
    """The planner."""
    return PlannerPolicy("planner", task, mistakes, seed)


async def rest(
    prefix: Prefix,
    task: TaskSpec,
    environment: Environment | None = None,
    policy: Policy | None = None,
    gate: Gate | None = None,
    number: int = 1,
) -> Record:
    """One attempt that begins with a prefix."""
    earlier, _, segment = prefix.name.rpartition("/")
    plan = plan_attempt(
        "run", task.task_id, "p", seed=0, number=number, start_segment=int(segment), prefix_attempt_id=earlier
    )
    return await rollout(
        task, environment or FakeEnvironment(), policy or planner(task), gate or FixedGate(), plan, prefix
    )


def states(task: TaskSpec, record: Record) -> list[str]:
    """The state of every check at the end, and what changed unexpectedly."""
    found = evaluate(task, record, "pass")
    return [*(result.state for result in found.results), *found.side_effects]
