"""Why a trajectory failed: one category for each one graded partial or fail, from simple rules over the record.

The category helps to sort failures; it is no verdict and changes none.
"""

from __future__ import annotations

from pipeline.protocols import Evaluated, JudgeView
from pipeline.records import CheckResult, Record
from pipeline.tasks import ANSWER, TaskSpec
from pipeline.words import FailureCategory
from verifiers.contract import outcome_of
from verifiers.effect import assess
from verifiers.evidence import evidence_of
from verifiers.findings import value_of
from verifiers.keypoints import Sought
from verifiers.moment import Why, moment_of

_BY_STEP: dict[Why, FailureCategory] = {
    "other_value": "wrong_value",
    "other_target": "wrong_target",
    "destructive": "wrong_target",
}


def category_of(task: TaskSpec, record: Record, evaluated: Evaluated, view: JudgeView) -> FailureCategory:
    """The category of a trajectory that did not do what was asked."""
    return _by_ending(task, record, evaluated) or _by_steps(record, view) or _by_checks(task, record, evaluated)


def _by_ending(task: TaskSpec, record: Record, evaluated: Evaluated) -> FailureCategory | None:
    trajectory = record.trajectory
    absent = outcome_of(task, evaluated).absence == "passed"
    if trajectory.termination == "loop":
        return "loop"
    if trajectory.claim == "infeasible" or trajectory.termination in ("call_user", "refused", "blocked"):
        return "gave_up"
    if trajectory.termination == "unreadable":
        return "other"
    if absent and trajectory.claim == "success":
        return "hallucinated_answer" if trajectory.answer else "misread_screen"
    if _failed_answers(task, evaluated):
        return _answer(record)
    return None


def _answer(record: Record) -> FailureCategory:
    """A wrong answer that stood on a screen was misread; one that stood nowhere was made up."""
    answer = record.trajectory.answer
    if not answer:
        return "early_stop" if record.trajectory.claim == "success" else "missing_step"
    said = value_of(answer, Sought("answered", "", "none", "answer", ""))
    return "hallucinated_answer" if evidence_of(record).seen(said) is None else "misread_screen"


def _failed_answers(task: TaskSpec, evaluated: Evaluated) -> list[CheckResult]:
    names = {check.name for check in task.checks if check.probe == ANSWER}
    failed = [result for result in evaluated.results if result.state == "failed"]
    return failed if failed and all(result.name in names for result in failed) else []


def _by_steps(record: Record, view: JudgeView) -> FailureCategory | None:
    """What went wrong last and was not followed by anything that could have put it right."""
    places = [place for place, step in enumerate(record.steps) if not step.replayed]
    whys = [assess(moment_of(view, record, place)).why for place in places]
    if whys and whys[-1] == "too_early":
        return "early_stop"
    return next((_BY_STEP[why] for why in reversed(whys) if why in _BY_STEP), None)


def _by_checks(task: TaskSpec, record: Record, evaluated: Evaluated) -> FailureCategory:
    if any(not effect.startswith("unknown: ") for effect in evaluated.side_effects):
        return "side_effect"
    if record.trajectory.termination in ("step_limit", "time_limit"):
        return "no_stop"
    if not record.own_steps:
        return "early_stop"
    return "missing_step" if task.checks else "other"
