"""Judge `telemetry`: grades a trajectory from how it went, without a look at a screen and without a model.

The signs of a record are few and lie between 0 and 1: how the episode ended, how much it repeated, idled and failed,
whether it answered, how much of its budget it used. None of them is evidence by itself, for what they are worth differs
from one application and policy to the next. So the judge votes only with weights that were fitted on labelled
trajectories, which come with the calibration that measured them; without one, or where the weights do not decide, it
abstains. It tells right from wrong and never votes `partial`.
"""

from __future__ import annotations

from pipeline.actions import Wait
from pipeline.protocols import Judged, JudgeView
from pipeline.records import Record, Step, Vote
from pipeline.words import JudgeKind, Target, TraceGrade
from verifiers.ballot import PROGRAM
from verifiers.operations import move_of
from verifiers.weighing import Weighing, features_of

NAME = "telemetry"
_ENDED_BY_AGENT = frozenset(["finished", "call_user"])


class TelemetryJudge:
    """Grades trajectories by fitted weights of their signs."""

    name = NAME
    family = PROGRAM
    kind: JudgeKind = "program"
    targets: tuple[Target, ...] = ("trace",)

    def __init__(self, weighing: Weighing | None = None) -> None:
        self._weighing = weighing

    def judge(self, view: JudgeView, record: Record, pass_id: str) -> Judged:
        """One trace vote."""
        signs = signs_of(view, record)
        grade, reason = self._grade(signs, right_grade(record))
        vote = Vote(
            pass_id=pass_id,
            target="trace",
            attempt_id=record.attempt.attempt_id,
            judge=self.name,
            judge_kind=self.kind,
            family=self.family,
            status="graded" if grade else "abstain",
            grade=grade,
            reason=reason,
        )
        return Judged([vote], [])

    def _grade(self, signs: dict[str, float], right: TraceGrade) -> tuple[TraceGrade | None, str]:
        told = ", ".join(f"{name} {value:.2f}" for name, value in signs.items())
        if self._weighing is None:
            return None, f"no calibration gives the signs a weight: {told}"
        features = features_of({}, signs)
        reason = f"right with probability {self._weighing.probability(features):.2f}: {told}"
        match self._weighing.side(features):
            case "for":
                return right, reason
            case "against":
                return "fail", reason
            case "neither":
                return None, reason


def right_grade(record: Record) -> TraceGrade:
    """The grade an agent that did right has earned: it reported that the task cannot be done, or it did it."""
    return "infeasible" if record.trajectory.claim == "infeasible" else "complete"


def signs_of(view: JudgeView, record: Record) -> dict[str, float]:
    """What the record alone shows. `known` is 1: it tells a record without any sign from one that was not read."""
    trajectory, steps = record.trajectory, record.own_steps
    done = [step for step in steps if step.action is None or move_of(step.action) != "end"]
    actions = [step.action.model_dump_json() for step in done if step.action is not None]
    return {
        "known": 1.0,
        "unfinished": float(trajectory.termination not in _ENDED_BY_AGENT),
        "budget": min(len(steps) / view.max_steps, 1.0),
        "repeated": 1 - len(set(actions)) / len(actions) if actions else 0.0,
        "idle": _share(done, [step for step in done if _idle(step, record)]),
        "failed": _share(done, [step for step in done if step.status == "failed"]),
        "answered": float(bool(trajectory.answer)),
        "gave_up": float(trajectory.claim == "infeasible"),
    }


def _idle(step: Step, record: Record) -> bool:
    """Whether the step waited, or the screen after it is the screen before it."""
    if isinstance(step.action, Wait):
        return True
    looks = {look.observation_index: look for look in record.observations}
    before, after = looks.get(step.step_index), looks.get(step.step_index + 1)
    seen = before is not None and after is not None and before.frame_sha256 is not None
    return bool(seen and before and after and before.frame_sha256 == after.frame_sha256)


def _share(whole: list[Step], part: list[Step]) -> float:
    return len(part) / len(whole) if whole else 0.0
