"""A dataset of the fake application made by the real pipeline, with everything in it that can happen.

Tasks are rolled out by the planner with and without mistakes, by the oracle, and by a policy that does nothing; some
environments break at their start, in the middle, for ever, or cannot take a picture. A pass of programs judges all of
it, and persons disagree with each other about a few.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from datetime import timedelta
from pathlib import Path
from typing import NamedTuple

from catalogs.store import capability
from pipeline import policies
from pipeline.actions import Model, Pixel, canonical_point
from pipeline.config import RunConfig, load_config
from pipeline.dataset import Dataset
from pipeline.envs.fake import FakeEnvironment
from pipeline.episode import AttemptPlan, plan_attempt
from pipeline.judging import Bench, build_judges, judge_record
from pipeline.manifest import Assigned
from pipeline.protocols import Consulted, Decision, Policy, Turn
from pipeline.provenance import opening_rows, pass_row
from pipeline.records import Candidate, ModelCall, Record, Validation, Vote, now
from pipeline.rollout import rollout
from pipeline.safety import sandbox_gate
from pipeline.sinks import Committer, PartWriter
from pipeline.tasks import TaskSpec
from taskspecs.store import load_tasks
from tests.episodes import with_faults

RUN = "collected"
ATTEMPTS = 2
UNTRIED = "fake-todo.print"
"""A capability that no task uses."""


class Plan(NamedTuple):
    """One trajectory to be made."""

    task: TaskSpec
    config: RunConfig
    run_id: str = RUN


class SecondThoughts(Policy):
    """A policy whose first click is rejected in favour of the oracle's: the rejected one is kept as a candidate."""

    def __init__(self, inner: Policy) -> None:
        self.policy_id, self.name, self._inner = inner.policy_id, inner.name, inner
        self._rejected: list[Candidate] = []

    async def decide(self, turn: Turn) -> Decision:
        """The inner decision, beside a click at the picture's corner that was rejected."""
        decision = await self._inner.decide(turn)
        if turn.observation.frame is None or turn.step_index > 1:
            return decision
        frame = turn.observation.frame
        point = canonical_point(Pixel(x=2, y=2), frame.width, frame.height)
        kinds = ({"type": "Click", "point": point}, {"type": "Wait"})
        self._rejected = [
            Candidate.model_validate(
                {
                    "attempt_id": "",
                    "step_index": 0,
                    "candidate_index": 0,
                    "action": kinds[turn.step_index],
                    "reply": "?",
                    "reason": "rejected",
                }
            )
        ]
        return decision

    def drain_consulted(self) -> Consulted:
        """The rejected click."""
        rejected, self._rejected = self._rejected, []
        return Consulted([], rejected, [])


def config(*changes: str) -> RunConfig:
    """The fake configuration, changed."""
    return load_config("fake", ["seed=5", f"attempts={ATTEMPTS}", *changes])


def plans() -> list[Plan]:
    """What is rolled out: thirty-odd trajectories."""
    tasks = load_tasks("fake")[::2]
    erring, able, idle = config("policy.mistakes=0.3"), config("policy=scripted"), config("policy=noop")
    made = [Plan(task, erring) for task in tasks]
    made += [Plan(task, able) for task in tasks]
    made += [Plan(task, idle) for task in tasks[:2]]
    made += [Plan(tasks[0], config("policy=scripted", "seed=6"))]
    faults = ("failing_starts: 1", "failing_starts: -1", "crash_at: 1", "failing_looks: [1]", "wall_at: 0")
    made += [Plan(with_faults(task, fault), able) for task, fault in zip(tasks, faults, strict=False)]
    return made


def collect(folder: Path, run_id: str = RUN) -> Path:
    """Make the dataset."""
    made = [plan._replace(run_id=run_id) for plan in plans()]
    shared = config()
    committer = Committer.claim(folder, run_id, shared.model_dump(mode="json"))
    tasks = list({plan.task.task_id: plan.task for plan in made}.values())
    committer.record(opening_rows(shared, tasks))
    committer.record([capability("fake-todo.add").model_copy(update={"capability_id": UNTRIED})])
    asyncio.run(_roll_out(folder, committer, made))
    _judge(folder, committer, shared)
    committer.record(_validations(tasks))
    committer.finish()
    return folder


def _validations(tasks: Sequence[TaskSpec]) -> list[Validation]:
    """Of three tasks: the first was renewed, the second ran out, the third no longer holds."""
    day = timedelta(days=1)
    return [
        Validation(
            task_id=task.task_id,
            validated_at=now() - ago * day,
            held=reason is None,
            reason=reason,
            expires_at=now() + left * day,
        )
        for task, ago, left, reason in (
            (tasks[0], 40, -10, None),
            (tasks[0], 9, 21, None),
            (tasks[1], 40, -10, None),
            (tasks[2], 40, 20, None),
            (tasks[2], 5, -5, "oracle_fails"),
        )
    ]


async def _roll_out(folder: Path, committer: Committer, made: Sequence[Plan]) -> None:
    writers = [PartWriter(folder, made[0].run_id, committer.epoch, f"w{number}") for number in range(2)]
    for place, plan in enumerate(made):
        environment, number = FakeEnvironment(), 1
        while True:
            node = place % 2
            record = await _attempt(committer, plan, environment, number, node)
            writers[node].write(record)
            if record.attempt.final:
                break
            number += 1
    for writer in writers:
        batch = writer.flush()
        assert batch is not None and committer.publish(batch)


async def _attempt(committer: Committer, plan: Plan, environment: FakeEnvironment, number: int, node: int) -> Record:
    policy = policies.build(plan.config, plan.task, plan.config.seed)
    if policy.name == "scripted":
        policy = SecondThoughts(policy)
    where = {"attempts": ATTEMPTS, "worker": f"w{node}", "node": f"node-{node}"}
    seed, task_id = plan.config.seed, plan.task.task_id
    planned = plan_attempt(plan.run_id, task_id, policy.policy_id, seed=seed, number=number, **where)
    committer.assign([_assigned(plan, planned, policy, committer.epoch)])
    record = await rollout(plan.task, environment, policy, sandbox_gate(), planned)
    return record.model_copy(update={"model_calls": [_call(record)]})


def _call(record: Record) -> ModelCall:
    """What a model would have cost: a tenth of a cent per step."""
    return ModelCall(
        call_id=f"{record.attempt.attempt_id}/all",
        attempt_id=record.attempt.attempt_id,
        pass_id=None,
        stage="decide",
        endpoint="http://127.0.0.1:1/v1",
        model="none",
        status="ok",
        prompt_tokens=100 * len(record.steps),
        completion_tokens=10 * len(record.steps),
        images=len(record.steps),
        cost_usd=0.001 * len(record.steps),
        seconds=0.5,
        retries=0,
    )


def _assigned(plan: Plan, planned: AttemptPlan, policy: Policy, epoch: int) -> Assigned:
    return Assigned(
        epoch=epoch,
        attempt_id=planned.attempt_id,
        trajectory_id=planned.trajectory_id,
        task_id=plan.task.task_id,
        policy_id=policy.policy_id,
        policy=policy.name,
        seed=planned.seed,
        number=planned.number,
        app_id=plan.task.start.app_id,
        app_ids=plan.task.app_ids,
        platform=plan.task.platform,
        worker=planned.worker,
        node=planned.node,
        assigned_at=now(),
    )


def _judge(folder: Path, committer: Committer, shared: RunConfig) -> None:
    dataset, judges = Dataset(folder), build_judges(["effect"])
    passed = pass_row(dataset.run.run_id, "collect", shared)
    rows: list[Model] = [passed]
    for number, attempt_id in enumerate(dataset.unjudged_attempts()):
        record = dataset.record(attempt_id)
        task = dataset.task(record.attempt.task_id)
        judgement = asyncio.run(judge_record(task, record, Bench(judges), shared.panel, passed.pass_id))
        rows += [*judgement.votes, *judgement.keypoints, *judgement.checks, *judgement.verdicts]
        if number % 4 == 0:
            rows += [_opinion(passed.pass_id, attempt_id, "ann", "complete")]
            rows += [_opinion(passed.pass_id, attempt_id, "bob", "fail" if number % 8 else "complete")]
    committer.record(rows)


def _opinion(pass_id: str, attempt_id: str, judge: str, grade: str) -> Vote:
    return Vote.model_validate(
        {
            "pass_id": pass_id,
            "target": "trace",
            "attempt_id": attempt_id,
            "judge": judge,
            "judge_kind": "person",
            "family": "person",
            "status": "graded",
            "grade": grade,
            "reason": f"{judge} says so",
        }
    )
