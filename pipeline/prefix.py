"""The first steps of an earlier attempt, by which the segments before a later one were done: what is to be done again.

Only what took place is repeated: replies that could not be read and actions that failed are left out, and so is the end
that the agent declared. Whether the segments are done then is asked of the world. This module carries nothing out, and
knows nothing of where attempts are stored.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby, takewhile
from typing import NamedTuple

from pipeline.actions import Action, Terminal
from pipeline.protocols import Decision, Move, Observation
from pipeline.records import Event, ObservationRow, ProbeRead, Record, Step
from pipeline.tasks import Check, TaskSpec
from verifiers.contract import evaluate

SEEDED = "seeded"
"""Flag of a replayed step that was not carried out again: its outcome was loaded."""


class Done(NamedTuple):
    """A step that took place, with its action, the look it acted on, and what happened beside it."""

    step: Step
    action: Action
    look: Observation
    events: Sequence[Event]

    @property
    def move(self) -> Move:
        """The same at the same pixels."""
        points = [point for point in (self.step.device_point, self.step.device_point_end) if point is not None]
        flags = [flag for flag in self.step.flags if flag != SEEDED]
        return Move(action=self.action, device_points=points, flags=flags)


class Prefix:
    """What leads to the beginning of a segment.

    `reached` is how many replies led there, once that was seen and the state there is kept under `name`.
    """

    def __init__(self, record: Record, segment: int) -> None:
        self.segment = segment
        self.name = f"{record.attempt.attempt_id}/{segment}"
        self.replies = _replies(record)
        self.first_reads: Sequence[ProbeRead] = [row for row in record.probe_reads if row.observation_index == 0]
        self.reached: int | None = None

    def checks(self, task: TaskSpec) -> list[Check]:
        """What must hold before the segment begins."""
        return [check for segment in task.segments[: self.segment] for check in segment.checks]

    def unmet(self, task: TaskSpec, record: Record) -> list[str]:
        """What does not hold at the end of a record: checks by name, and keys that changed unexpectedly."""
        begun = task.model_copy(update={"segments": task.segments[: self.segment], "absence_checks": []})
        found = evaluate(begun, record, "")
        return [*(one.name for one in found.results if one.state != "passed"), *found.side_effects]


def decision_of(reply: Sequence[Done]) -> Decision:
    """The decision that a reply stood for, at the same pixels; what it cost was paid before."""
    first, moves = reply[0].step, [done.move for done in reply]
    return Decision(
        thought=first.thought,
        action=moves[0].action,
        reply=first.reply,
        dialect=first.dialect,
        coordinate_space=first.coordinate_space,
        divisor=first.divisor,
        device_points=moves[0].device_points,
        flags=moves[0].flags,
        injected=first.injected,
        then=moves[1:],
    )


def _replies(record: Record) -> list[list[Done]]:
    looks = {row.observation_index: row for row in record.observations}
    tried = takewhile(lambda step: not isinstance(step.action, Terminal), record.steps)
    done = [
        Done(step, step.action, _seen(looks[step.step_index], record), _events(step, record))
        for step in tried
        if step.action is not None and step.status == "ok"
    ]
    return [list(steps) for _, steps in groupby(done, key=lambda one: one.step.reply_id)]


def _events(step: Step, record: Record) -> list[Event]:
    return [event for event in record.events if event.step_index == step.step_index]


def _seen(row: ObservationRow, record: Record) -> Observation:
    """A stored look as it was taken."""
    fields = row.model_dump(exclude={"attempt_id", "observation_index", "frame_sha256", "tree_sha256"})
    frame, tree = record.frames.get(row.frame_sha256 or ""), record.trees.get(row.tree_sha256 or "")
    return Observation(frame=frame, tree=tree, **fields)
