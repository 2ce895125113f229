"""Votes written by hand."""

from __future__ import annotations

from collections.abc import Sequence

from pipeline.records import Vote
from pipeline.words import Grade, JudgeKind, VoteStatus
from tests.records import ATTEMPT


def vote(
    grade: Grade | None,
    family: str = "x",
    judge: str | None = None,
    kind: JudgeKind = "model",
    step: int | None = None,
    status: VoteStatus | None = None,
) -> Vote:
    """A vote on the trajectory, or on a step; without a grade an abstention."""
    return Vote(
        pass_id="pass",
        target="trace" if step is None else "step",
        attempt_id=ATTEMPT,
        step_index=step,
        judge=judge or family,
        judge_kind=kind,
        family=family,
        status=status or ("graded" if grade else "abstain"),
        grade=grade,
        reason=f"{family} says {grade}",
    )


def program(grade: Grade | None, judge: str = "screen", step: int | None = None) -> Vote:
    """A vote of a judge without a model."""
    return vote(grade, family="program", judge=judge, kind="program", step=step)


def person(grade: Grade, judge: str = "ann", step: int | None = None) -> Vote:
    """A person's answer."""
    return vote(grade, family="person", judge=judge, kind="person", step=step)


def letters(text: str, families: Sequence[str] = ("x", "x", "y")) -> list[Vote]:
    """One vote per letter: S complete, F fail, P partial, I infeasible, - abstain."""
    grades: dict[str, Grade | None] = {"S": "complete", "F": "fail", "P": "partial", "I": "infeasible", "-": None}
    return [
        vote(grades[mark], family, f"judge-{n}") for n, (mark, family) in enumerate(zip(text, families, strict=True))
    ]
