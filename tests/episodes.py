"""Runs one episode on the fake environment with what a test wants to vary."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from pipeline.actions import Action, Point, canonical_point
from pipeline.envs.discreet import DiscreetEnvironment
from pipeline.envs.fake import FakeEnvironment, Faults
from pipeline.envs.fake_app import HEIGHT, WIDTH
from pipeline.episode import plan_attempt
from pipeline.policies.canned import CannedPolicy, Given
from pipeline.protocols import Environment, Gate, Observation, Policy
from pipeline.records import ModelCall, Record
from pipeline.rollout import rollout
from pipeline.structs import GateDecision, TargetUnderPoint
from pipeline.tasks import SetupOperation, TaskSpec, identified
from taskspecs.store import load_tasks


class FixedGate:
    """Rules the same on every action."""

    def __init__(self, ruling: str = "allow") -> None:
        self.ruling = ruling
        self.asked: list[tuple[TaskSpec, Observation, Action, TargetUnderPoint | None]] = []

    async def decide(
        self, task: TaskSpec, observation: Observation, action: Action, target: TargetUnderPoint | None
    ) -> GateDecision:
        self.asked.append((task, observation, action, target))
        return GateDecision(decision=self.ruling, consequence="none", reason="by the test", profile="sandbox")

    def drain_calls(self) -> list[ModelCall]:
        return []


class Curtained(FakeEnvironment):
    """Its window forbids pictures for so many looks, after the first ones."""

    def __init__(self, after: int, looks: int = 99) -> None:
        super().__init__()
        self.hidden = range(after, after + looks)
        self.looks = 0

    async def observe(self) -> Observation:
        seen, number = await super().observe(), self.looks
        self.looks += 1
        return seen.model_copy(
            update={"frame": None, "capture_error": "secure_screen"} if number in self.hidden else {}
        )


def fake_task(beginning: str = "Add a to-do", **changes: Any) -> TaskSpec:
    """The task of the fake set whose instruction begins so, changed as wanted."""
    found = next(task for task in load_tasks("fake") if task.instruction.startswith(beginning))
    return identified(found.model_copy(update=changes))


def with_faults(task: TaskSpec, text: str) -> TaskSpec:
    """The task with a set-up that commands faults."""
    operation = SetupOperation(kind="write", app_id="fake-todo", target="faults", content=text)
    return identified(task.model_copy(update={"setup": [*task.setup, operation]}))


async def play(
    given: Sequence[Given] | Policy,
    task: TaskSpec | None = None,
    environment: Environment | None = None,
    gate: Gate | None = None,
    faults: Faults | None = None,
    **plan: Any,
) -> Record:
    """One attempt with canned decisions or a policy."""
    task = task or fake_task()
    policy = CannedPolicy(given) if isinstance(given, Sequence) else given
    attempt = plan_attempt("run", task.task_id, policy.policy_id, seed=0, **plan)
    return await rollout(task, environment or FakeEnvironment(faults), policy, gate or FixedGate(), attempt)


def behind(environment: Environment | None) -> Environment:
    """The environment that a discreet one keeps the secrets of."""
    assert isinstance(environment, DiscreetEnvironment)
    return environment._environment


async def on_screen(name: str, role: str, path: str = "/") -> Point:
    """The canonical point in the middle of an element of the fake application."""
    environment = FakeEnvironment()
    task = fake_task()
    await environment.start(identified(task.model_copy(update={"start": task.start.model_copy(update={"path": path})})))
    tree = (await environment.observe()).tree
    assert tree is not None
    box = next(node.box for node in tree.nodes if (node.role, node.name) == (role, name))
    assert box is not None
    return canonical_point(box.centre, WIDTH, HEIGHT)
