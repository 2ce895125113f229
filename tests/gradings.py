"""Judged trajectories written by hand, as exports read them, with real pictures."""

from __future__ import annotations

from collections.abc import Sequence

from pipeline.actions import Action, Click, Finished, Point, Type
from pipeline.envs.fake_picture import draw
from pipeline.exports.source import Graded, StepView, TraceView
from pipeline.records import Candidate, Record, Step
from pipeline.structs import Node
from pipeline.tasks import TaskSpec
from pipeline.words import StepGrade, TraceGrade, VerdictStatus
from tests.records import ATTEMPT, Look, look, node, record, step
from tests.records import task as one_task

CLICK, TYPE, DONE = Click(point=Point(x=10, y=20)), Type(content="Lamp"), Finished(content="done")
TASK = one_task("Create the ticket “Lamp”.", template_id="create", capability_ids=["demo.create"])


def screen(*nodes: Node) -> Look:
    """A screen with a small picture of its own."""
    plain = look(*nodes)
    return plain._replace(picture=draw(plain.nodes or [], 320, 200).image.bytes)


def played(actions: Sequence[Action | None] = (CLICK, TYPE, DONE)) -> Record:
    """A trajectory in which every action leads to another screen."""
    screens = [screen(node("heading", f"Screen {number}")) for number in range(len(actions) + 1)]
    return record(screens, [step(action, f"Step {number}.") for number, action in enumerate(actions)])


def graded(
    made: Record | None = None,
    grade: TraceGrade | None = "complete",
    steps: Sequence[StepGrade | None] = ("correct", "correct", "correct"),
    *,
    task: TaskSpec = TASK,
    status: VerdictStatus | None = None,
    usable: bool = True,
) -> Graded:
    """What is held of a trajectory; a step without a grade has no verdict."""
    views = {index: StepView(one, 1.0) for index, one in enumerate(steps) if one}
    trace = TraceView(ATTEMPT, status or ("graded" if grade else "undecided"), grade, 1.0, usable, 0.5, 0.25)
    return Graded("run", task, made or played(), trace, views)


def with_candidates(made: Record, *candidates: tuple[int, Action | None, str]) -> Record:
    """The record with proposals that were replaced: step, action, reason."""
    rows = [
        Candidate(attempt_id=ATTEMPT, step_index=index, candidate_index=number, action=action, reply="?", reason=reason)
        for number, (index, action, reason) in enumerate(candidates)
    ]
    return made.model_copy(update={"candidates": rows})


def with_step(made: Record, index: int, **changes: object) -> Record:
    """The record with one step changed."""
    steps: list[Step] = list(made.steps)
    steps[index] = steps[index].model_copy(update=changes)
    return made.model_copy(update={"steps": steps})


def flagged(made: Record, index: int, flag: str) -> Record:
    """The record with a mark on one look."""
    looks = list(made.observations)
    looks[index] = looks[index].model_copy(update={"flags": [flag]})
    return made.model_copy(update={"observations": looks})
