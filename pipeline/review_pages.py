"""A review's pages as data: the list, and a trajectory without and with what judges made of it.

Before the reviewer has answered a page holds only what the agent was asked, did and met: no grade, vote, check,
keypoint or reason of a judge, no thought of the agent, and nothing that tells a waiting trajectory from one drawn for
an audit. This module knows nothing of HTML or HTTP.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from pipeline.report_pages import UNREADABLE, StepPage, TrajectoryPage, rows, trajectory_page
from pipeline.review_answers import CANNOT_SAY, NO_REASON, Answer, last_answer
from pipeline.review_session import Line, Progress, Session


class Choice(NamedTuple):
    """One answer of the form, and the key that chooses it."""

    value: str
    label: str
    key: str
    meaning: str


CHOICES = (
    Choice(
        "complete", "Complete", "1", "Everything that was asked is done and right, and the answer, if any, is correct."
    ),
    Choice("partial", "Partial", "2", "A part of what was asked is done, but not all of it."),
    Choice("infeasible", "Infeasible", "3", "It cannot be done here, and the agent says so."),
    Choice("fail", "Fail", "4", "Nothing of it is done, the wrong thing was done, or the agent wrongly gave up."),
    Choice(CANNOT_SAY, "Cannot say", "5", "The screens do not show it. Say why; the question goes to somebody else."),
)
STEP_CHOICES = (
    ("correct", "correct: serves the task"),
    ("explore", "explore: looks around, harmless"),
    ("invalid", "invalid: has no effect or cannot be done"),
    ("wrong", "wrong: leads away from the task"),
)

_CLAIMS = {
    "success": "that the task is done",
    "infeasible": "that the task cannot be done",
    "none": "nothing about the outcome",
}


class Entry(NamedTuple):
    """One line of the list; `state` is `waiting` or what the reviewer answered."""

    line: Line
    state: str
    css: str


class ListPage(NamedTuple):
    """Everything there is to do."""

    reviewer: str
    progress: Progress
    entries: list[Entry]
    others: list[Entry]
    first: str | None


class Opinion(NamedTuple):
    """What one judge or person said."""

    judge: str
    kind: str
    grade: str
    css: str
    reason: str


class ReviewPage(NamedTuple):
    """One trajectory to be answered, or answered."""

    attempt_id: str
    reviewer: str
    progress: Progress
    item: TrajectoryPage
    claim: str
    may_be_infeasible: bool
    answer: Answer | None
    """What the form shows: the stored answer, or the one that could not be taken."""
    revealed: bool
    judges: list[Opinion]
    persons: list[Opinion]
    disagree: bool
    following: str | None
    problem: str


def list_page(session: Session) -> ListPage:
    """The session's trajectories, and those that persons answered before."""
    return ListPage(
        reviewer=session.reviewer or "",
        progress=session.progress,
        entries=[_entry(session, line) for line in session.lines(session.items)],
        others=[_entry(session, line) for line in session.lines(session.others)],
        first=session.next_after(""),
    )


def review_page(session: Session, attempt_id: str, draft: Answer | None = None, problem: str = "") -> ReviewPage:
    """A trajectory, blind until the reviewer has answered it; `draft` is an answer that could not be taken."""
    held = _judged(session, attempt_id)
    shown = trajectory_page(session.dataset, session.views, attempt_id, held)
    stored = session.answer_of(attempt_id)
    persons = _persons(session, attempt_id) if stored else []
    return ReviewPage(
        attempt_id=attempt_id,
        reviewer=session.reviewer or "",
        progress=session.progress,
        item=shown if stored else blinded(shown),
        claim=_CLAIMS[shown.claim],
        may_be_infeasible=shown.claim == "infeasible",
        answer=draft or stored,
        revealed=stored is not None,
        judges=_judges(session, attempt_id, held["pass_id"]) if stored and held else [],
        persons=persons,
        disagree=len({opinion.grade for opinion in persons if opinion.css != "none"}) > 1,
        following=session.next_after(attempt_id),
        problem=problem,
    )


def blinded(page: TrajectoryPage) -> TrajectoryPage:
    """The page without anything a judge said or the agent thought."""
    return page._replace(
        grade="",
        css="none",
        rule="",
        share="",
        reason="",
        calibration="",
        failure_category=None,
        side_effects="",
        segments="",
        checks=[],
        keypoints=[],
        steps=[_blinded_step(step) for step in page.steps],
    )


def _blinded_step(step: StepPage) -> StepPage:
    # A reply that could not be read is shown in place of an action, and may hold thoughts.
    detail = "" if step.action == UNREADABLE else step.detail
    return step._replace(thought=None, detail=detail, grade=None, css="none", reason="")


def _entry(session: Session, line: Line) -> Entry:
    answer = session.answer_of(line.attempt_id)
    if answer is None:
        return Entry(line, "waiting", "none")
    return Entry(line, answer.grade or "cannot say", answer.grade or "none")


def _judged(session: Session, attempt_id: str) -> dict[str, Any] | None:
    """The newest verdict of judges, also where a person's is in force."""
    found = rows(
        session.views,
        "SELECT v.* FROM verdicts AS v LEFT JOIN passes AS p USING (run_id, pass_id) WHERE target = 'trace' AND "
        "candidate_index IS NULL AND v.rule <> 'human' AND attempt_id = ? "
        "ORDER BY judged_at DESC NULLS LAST, pass_id LIMIT 1",
        attempt_id,
    )
    return found[0] if found else None


def _judges(session: Session, attempt_id: str, pass_id: str) -> list[Opinion]:
    found = rows(
        session.views,
        "SELECT judge, judge_kind, status, grade, reason FROM votes WHERE target = 'trace' AND judge_kind <> 'person' "
        "AND attempt_id = ? AND pass_id = ? ORDER BY judge",
        attempt_id,
        pass_id,
    )
    return [
        Opinion(row["judge"], row["judge_kind"], row["grade"] or row["status"], row["grade"] or "none", row["reason"])
        for row in found
    ]


def _persons(session: Session, attempt_id: str) -> list[Opinion]:
    """What every person last said, in the order in which they first answered."""
    said = session.said(attempt_id)
    found = []
    for name in dict.fromkeys(vote.judge for vote in said):
        answer = last_answer(name, said)
        if answer is not None:
            grade = answer.grade or "cannot say"
            found.append(Opinion(name, "person", grade, answer.grade or "none", answer.reason or NO_REASON))
    return found
