"""What a person answers about a trajectory, and the rows that come of it.

A person who cannot say leaves a vote that abstains and no verdict. Everything else is the panel's rule about persons:
one answer decides, two that differ leave the target undecided. This module knows nothing of pages or folders.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple, TypeVar

from pipeline.actions import Model
from pipeline.config import PanelConfig
from pipeline.judging import stripped
from pipeline.protocols import view_of
from pipeline.records import Record, Verdict, Vote
from pipeline.tasks import TaskSpec
from pipeline.words import Claim, Grade, StepGrade, TraceGrade
from verifiers.contract import evaluate
from verifiers.panel import STEP_GRADES, TRACE_GRADES, Case, decide, process_score

CANNOT_SAY = "cannot_say"
"""What a form sends in place of a grade."""
NO_REASON = "no reason given"
FAMILY = "person"
LONGEST = 4000
"""Characters of a reason."""


_STEP = re.compile(r"step-(\d{1,6})")
_Allowed = TypeVar("_Allowed", TraceGrade, StepGrade)


class Answer(NamedTuple):
    """One person's answer: a grade, or null with the reason why none can be given, and grades of single steps."""

    grade: TraceGrade | None
    reason: str
    steps: Mapping[int, StepGrade]


class AnswerError(ValueError):
    """An answer that cannot be taken: what its author is told, and what of it could be read."""

    def __init__(self, message: str, draft: Answer | None = None) -> None:
        super().__init__(message)
        self.draft = draft


class Subject(NamedTuple):
    """What is answered about: the record with its task, what persons said of it before, and its steps' verdicts."""

    task: TaskSpec
    record: Record
    said: Sequence[Vote]
    standing: Sequence[Verdict]


def read_answer(form: Mapping[str, str], steps: Iterable[int], claim: Claim) -> Answer:
    """The answer that a form holds; raises AnswerError."""
    word, reason = form.get("grade", ""), form.get("reason", "").strip()
    grade = None if word == CANNOT_SAY else _grade(word, TRACE_GRADES)
    draft = Answer(grade, reason, _step_grades(form, set(steps)))
    if len(reason) > LONGEST:
        raise AnswerError(f"The reason is longer than {LONGEST} characters.", draft)
    if grade is None and not reason:
        raise AnswerError("Say in a few words why you cannot say.", draft)
    if grade == "infeasible" and claim != "infeasible":
        raise AnswerError("The agent did not say that the task cannot be done: grade it fail.", draft)
    return draft


def _step_grades(form: Mapping[str, str], steps: set[int]) -> dict[int, StepGrade]:
    found = {match[1]: word for name, word in form.items() if word and (match := _STEP.fullmatch(name))}
    unknown = sorted(number for number in found if int(number) not in steps)
    if unknown:
        raise AnswerError(f"There is no step {unknown[0]}.")
    return {int(number): _grade(word, STEP_GRADES) for number, word in found.items()}


def _grade(word: str, allowed: Sequence[_Allowed]) -> _Allowed:
    for grade in allowed:
        if word == grade:
            return grade
    raise AnswerError("Choose one of the answers.")


def last_answer(reviewer: str, said: Iterable[Vote]) -> Answer | None:
    """What a person last said of a trajectory, from all votes of persons on it, oldest first."""
    own = {vote.step_index: vote for vote in said if vote.judge == reviewer}
    trace = own.pop(None, None)
    if trace is None:
        return None
    steps = {index: _grade(vote.grade, STEP_GRADES) for index, vote in own.items() if index is not None and vote.grade}
    reason = "" if trace.reason == NO_REASON else trace.reason
    return Answer(_grade(trace.grade, TRACE_GRADES) if trace.grade else None, reason, steps)


def rows_of(subject: Subject, reviewer: str, answer: Answer, pass_id: str) -> tuple[list[Vote], list[Model]]:
    """The votes of an answer, and the other rows of the pass: checks, and verdicts on what was answered."""
    task, record = subject.task, subject.record
    votes = _votes(subject, reviewer, answer, pass_id)
    evaluated = evaluate(task, record, pass_id)
    case = Case(task, stripped(record), evaluated, view_of(task))
    decided = decide(case, [*subject.said, *votes], PanelConfig(), pass_id)
    answered = {(vote.target, vote.step_index) for vote in votes}
    graded = {(vote.target, vote.step_index) for vote in subject.said if vote.grade}
    verdicts = [
        verdict if verdict.rule == "human" else _withdrawn(verdict, reviewer)
        for verdict in decided
        if (verdict.target, verdict.step_index) in answered
        and (verdict.rule == "human" or (verdict.target, verdict.step_index) in graded)
    ]
    scored = [_scored(verdict, [*subject.standing, *verdicts]) for verdict in verdicts]
    return votes, [*(evaluated.results if scored else []), *scored]


def _votes(subject: Subject, reviewer: str, answer: Answer, pass_id: str) -> list[Vote]:
    """A vote on the trajectory, one on each graded step, and abstentions where an earlier grade was taken back."""
    attempt_id = subject.record.attempt.attempt_id
    frames = {look.observation_index: look.frame_sha256 for look in subject.record.observations if look.frame_sha256}
    before = {vote.step_index for vote in subject.said if vote.judge == reviewer and vote.step_index is not None}

    def vote(index: int | None, grade: Grade | None, reason: str, shown: Iterable[str]) -> Vote:
        fields: dict[str, Any] = {"target": "trace" if index is None else "step", "step_index": index}
        return Vote(
            **fields,
            pass_id=pass_id,
            attempt_id=attempt_id,
            judge=reviewer,
            judge_kind="person",
            family=FAMILY,
            status="graded" if grade else "abstain",
            grade=grade,
            reason=reason,
            frame_sha256s=list(dict.fromkeys(shown)),
        )

    votes = [vote(None, answer.grade, answer.reason or NO_REASON, frames.values())]
    for index in sorted(before | set(answer.steps)):
        grade = answer.steps.get(index)
        shown = [frames[index]] if index in frames else []
        votes.append(vote(index, grade, NO_REASON if grade else "the grade was taken back", shown))
    return votes


def _withdrawn(verdict: Verdict, reviewer: str) -> Verdict:
    """What stands in place of a person's verdict when nobody's grade is left: it would otherwise stay in force."""
    reason = f"{reviewer} has taken the grade back; nobody else has given one"
    change = {"status": "undecided", "grade": None, "rule": "human", "reason": reason, "failure_category": None}
    return verdict.model_copy(update={**change, "share": None, "families": 0, "calibration": None})


def _scored(verdict: Verdict, steps: Iterable[Verdict]) -> Verdict:
    """The trajectory's verdict with the process score of the steps' verdicts that now hold."""
    if verdict.target == "step":
        return verdict
    latest = {step.step_index: step for step in steps if step.target == "step"}
    return verdict.model_copy(update={"process_score": process_score(list(latest.values()))})
