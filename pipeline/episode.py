"""What is written down while an episode runs: rows grow here and become one `Record`.

Rows are added before the world is touched and amended after, so that an episode which breaks at any moment leaves an
honest record: an action in flight stays `unknown`. This module knows nothing of environments and policies, and decides
nothing; the rollout drives it.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from pydantic import Field

from pipeline.actions import Answer, CallUser, Finished, Model, Terminal
from pipeline.budget import consumed
from pipeline.identity import attempt_id_of, trajectory_id_of
from pipeline.protocols import MOST_PATIENCE, Consulted, Decision, Move, Observation, Turn
from pipeline.records import (
    Attempt,
    Candidate,
    Event,
    Frame,
    ObservationRow,
    ProbeRead,
    Record,
    Step,
    Trajectory,
    Tree,
    now,
)
from pipeline.structs import EnvironmentInfo, Fault, Usage
from pipeline.tasks import TaskSpec
from pipeline.words import Claim, Termination

BEFORE_FIRST_STEP = -1
"""`step_index` of events that happened while the episode was set up."""

_INFEASIBLE = "infeasible:"
_OTHER_CALLS = 4
"""Of the environment, before the first turn and after the last."""
_MAY_BE_SLOW = ("desktop",)
"""Platforms some of whose environments have patience."""


class Limits(Model):
    """Deadlines of outside calls, in seconds, and how often something may repeat before the episode ends.

    Those of calls of the environment are multiplied by its patience.
    """

    start_seconds: float = Field(default=120.0, gt=0)
    decide_seconds: float = Field(default=180.0, gt=0)
    call_seconds: float = Field(default=30.0, gt=0)
    finish_seconds: float = Field(default=20.0, gt=0)
    same_actions: int = Field(default=4, ge=2)
    unusable_replies: int = Field(default=3, ge=1)
    gate_refusals: int = Field(default=3, ge=1)
    failed_captures: int = Field(default=3, ge=1)

    def longest(self, platform: str, seconds: float) -> float:
        """Seconds that an attempt may take whose turns take no longer than so many, whatever environment it is on."""
        patience = MOST_PATIENCE if platform in _MAY_BE_SLOW else 1.0
        return seconds + patience * (self.start_seconds + self.finish_seconds + _OTHER_CALLS * self.call_seconds)


class AttemptPlan(Model):
    """One attempt to be made: its identities, where it runs, and its limits (null limits are the task's own)."""

    trajectory_id: str
    attempt_id: str
    seed: int
    round: int = 0
    start_segment: int = 0
    prefix_attempt_id: str | None = None
    number: int = 1
    attempts: int = 1
    """How many attempts a trajectory has: a fault in the last one is final."""
    worker: str = "local"
    node: str = "local"
    max_steps: int | None = None
    max_seconds: float | None = None
    limits: Limits = Limits()


def plan_attempt(run_id: str, task_id: str, policy_id: str, *, seed: int, number: int = 1, **more: Any) -> AttemptPlan:
    """A plan with its identities filled in; `more` holds further fields of AttemptPlan."""
    begins = int(more.get("start_segment", 0)), more.get("prefix_attempt_id")
    trajectory_id = trajectory_id_of(run_id, task_id, policy_id, seed, int(more.get("round", 0)), *begins)
    return AttemptPlan(
        trajectory_id=trajectory_id,
        attempt_id=attempt_id_of(trajectory_id, number),
        seed=seed,
        number=number,
        **more,
    )


class Ending(NamedTuple):
    """How an episode ended, and what the agent said."""

    termination: Termination
    reason: str | None = None
    fault: Fault | None = None
    claim: Claim = "none"
    answer: str | None = None


def ending_of(action: Terminal, *, refused: bool = False) -> Ending:
    """The ending that a terminal action declares; `refused` is a dialect's own way to say that it cannot be done."""
    termination: Termination = "call_user" if isinstance(action, CallUser) else "finished"
    claim: Claim = "none" if isinstance(action, CallUser) else "success"
    if refused or action.content.strip().casefold().startswith(_INFEASIBLE):
        claim = "infeasible"
    answer = action.content if isinstance(action, Answer | Finished) else ""
    return Ending(termination, claim=claim, answer=answer or None)


class Episode:
    """The growing record of one attempt."""

    def __init__(self, task: TaskSpec, plan: AttemptPlan, policy_id: str, policy: str) -> None:
        self.task = task
        self.plan = plan
        self.environment: EnvironmentInfo | None = None
        self.observations: list[ObservationRow] = []
        self.steps: list[Step] = []
        self.events: list[Event] = []
        self.probe_reads: list[ProbeRead] = []
        self.ending: Ending | None = None
        self.feedback: str | None = None
        self._policy_id = policy_id
        self._policy = policy
        self._consulted = Consulted([], [], [])
        self._frames: dict[str, Frame] = {}
        self._trees: dict[str, Tree] = {}
        self._last: Observation | None = None
        self._started_at = now()
        self._clock = time.monotonic()

    @property
    def last(self) -> Observation:
        """The newest observation; there is one before the first turn."""
        if self._last is None:
            raise LookupError("nothing has been observed yet")
        return self._last

    @property
    def own_steps(self) -> list[Step]:
        """The steps that the policy asked for; those of an earlier attempt that were made again are not."""
        return [step for step in self.steps if not step.replayed]

    @property
    def turn(self) -> Turn:
        """What the policy may know now."""
        return Turn(len(self.steps), self.last, self.steps[-1] if self.steps else None, self.feedback)

    @property
    def seen_since_last_step(self) -> bool:
        """Whether the result of the newest step has been looked at."""
        return len(self.observations) > len(self.steps)

    def saw(self, observation: Observation) -> None:
        """Keep an observation; equal pictures and trees are kept once."""
        frame, tree = observation.frame, observation.tree
        if frame is not None:
            self._frames[frame.sha256] = frame
        if tree is not None:
            self._trees[tree.sha256] = tree
        self._last = observation
        self.observations.append(
            ObservationRow(
                attempt_id=self.plan.attempt_id,
                observation_index=len(self.observations),
                frame_sha256=frame.sha256 if frame else None,
                tree_sha256=tree.sha256 if tree else None,
                **observation.model_dump(exclude={"frame", "tree"}),
            )
        )

    def decided(self, decision: Decision, seconds: float, *, replayed: bool = False) -> None:
        """Open a step: until it is amended, nobody knows whether its action took place."""
        self._open(f"{self.plan.attempt_id}/{len(self.steps)}", 0, decision, seconds, replayed=replayed)

    def follows(self, decision: Decision, move: Move) -> None:
        """Open the next step of the same reply; what it cost stands with the first."""
        before = self.steps[-1]
        update = {"action": move.action, "device_points": move.device_points, "flags": move.flags, "usage": Usage()}
        rest = decision.model_copy(update=update)
        self._open(before.reply_id, before.substep + 1, rest, 0.0, replayed=before.replayed)

    def left_out(self, reply: str, moves: Sequence[Move]) -> None:
        """The rest of a reply is not carried out, because the newest step ended it."""
        index, rows = len(self.steps) - 1, self._consulted.candidates
        first = sum(row.step_index == index for row in rows)
        rows.extend(
            Candidate(
                attempt_id=self.plan.attempt_id,
                step_index=index,
                candidate_index=first + number,
                action=move.action,
                reply=reply,
                reason="sequence_stopped",
            )
            for number, move in enumerate(moves)
        )

    def consulted(self, rows: Consulted) -> None:
        """Keep what models were asked for the step that opens next, and what they said."""
        at = {"attempt_id": self.plan.attempt_id, "step_index": len(self.steps)}
        self._consulted.calls.extend(row.model_copy(update={"attempt_id": self.plan.attempt_id}) for row in rows.calls)
        self._consulted.candidates.extend(row.model_copy(update=at) for row in rows.candidates)
        self._consulted.votes.extend(row.model_copy(update=at) for row in rows.votes)

    def _open(self, reply_id: str, substep: int, decision: Decision, seconds: float, *, replayed: bool) -> None:
        points = [*decision.device_points, None, None]
        self.steps.append(
            Step(
                attempt_id=self.plan.attempt_id,
                step_index=len(self.steps),
                reply_id=reply_id,
                substep=substep,
                replayed=replayed,
                device_point=points[0],
                device_point_end=points[1],
                status="unknown",
                seconds_decide=seconds,
                seconds_act=0.0,
                **decision.model_dump(exclude={"device_points", "then", "infeasible"}),
            )
        )

    def amend(self, **update: Any) -> None:
        """Complete the newest step with what has become known."""
        self.steps[-1] = self.steps[-1].model_copy(update=update)

    def read(self, reads: Iterable[ProbeRead]) -> None:
        """Keep what probes read; of two reads of the same at the same look the newer one."""
        update = {"attempt_id": self.plan.attempt_id}
        kept = {(row.observation_index, row.app_id, row.probe): row for row in self.probe_reads}
        kept |= {(row.observation_index, row.app_id, row.probe): row.model_copy(update=update) for row in reads}
        self.probe_reads = list(kept.values())

    def happened(self, events: Iterable[Event]) -> None:
        """Keep events, dated by the newest step."""
        update = {
            "attempt_id": self.plan.attempt_id,
            "step_index": len(self.steps) - 1 if self.steps else BEFORE_FIRST_STEP,
        }
        self.events.extend(event.model_copy(update=update) for event in events)

    def end(self, ending: Ending) -> None:
        """Say how the episode ended. The first ending stands, unless the world broke or the run was stopped."""
        if self.ending is None:
            self.ending = ending
        elif ending.termination in ("fault", "cancelled"):
            self.ending = ending._replace(claim=self.ending.claim, answer=self.ending.answer)

    def record(self) -> Record:
        """Everything this attempt left behind."""
        ending = self.ending or Ending("cancelled")
        return Record(
            attempt=self._attempt(ending),
            trajectory=self._trajectory(ending),
            observations=self.observations,
            steps=self.steps,
            candidates=self._consulted.candidates,
            frames=self._frames,
            trees=self._trees,
            probe_reads=self.probe_reads,
            events=self.events,
            model_calls=self._consulted.calls,
            votes=self._consulted.votes,
        )

    def _attempt(self, ending: Ending) -> Attempt:
        plan = self.plan
        repeatable = ending.termination == "cancelled" or (
            ending.termination == "fault" and plan.number < plan.attempts
        )
        return Attempt(
            attempt_id=plan.attempt_id,
            trajectory_id=plan.trajectory_id,
            task_id=self.task.task_id,
            policy_id=self._policy_id,
            seed=plan.seed,
            round=plan.round,
            start_segment=plan.start_segment,
            prefix_attempt_id=plan.prefix_attempt_id,
            number=plan.number,
            final=not repeatable,
            environment=self.environment,
            worker=plan.worker,
            node=plan.node,
            started_at=self._started_at,
            finished_at=now(),
            termination=ending.termination,
            fault=ending.fault,
        )

    def _trajectory(self, ending: Ending) -> Trajectory:
        return Trajectory(
            trajectory_id=self.plan.trajectory_id,
            attempt_id=self.plan.attempt_id,
            task_id=self.task.task_id,
            app_id=self.task.start.app_id,
            app_ids=self.task.app_ids,
            platform=self.task.platform,
            policy=self._policy,
            policy_id=self._policy_id,
            seed=self.plan.seed,
            termination=ending.termination,
            reason=ending.reason,
            fault=ending.fault,
            claim=ending.claim,
            answer=ending.answer,
            step_count=len(self.own_steps),
            contains_secret=any("contains_secret" in row.flags for row in self.observations),
            seconds=round(time.monotonic() - self._clock, 3),
            usage=consumed(self._consulted.calls),
        )
