"""What a form may say, and what becomes of an answer."""

from __future__ import annotations

from typing import Any

import pytest

from pipeline.records import CheckResult, Verdict, Vote
from pipeline.review_answers import NO_REASON, Answer, AnswerError, Subject, last_answer, read_answer, rows_of
from pipeline.words import Claim
from tests.datasets import attempt, verdict
from tests.reviews import TASK, seen, vote

RECORD = seen(attempt("t1", task=TASK))
ATTEMPT = RECORD.attempt.attempt_id


def given(answer: Answer, *said: Vote, standing: tuple[Verdict, ...] = ()) -> tuple[list[Vote], list[Verdict]]:
    """The votes and verdicts when ann answers."""
    votes, others = rows_of(Subject(TASK, RECORD, said, standing), "ann", answer, "pass-2")
    return votes, [row for row in others if isinstance(row, Verdict)]


def by(judge: str, grade: str | None, **changes: Any) -> Vote:
    return vote(ATTEMPT, judge, grade, **changes)


# --- forms -----------------------------------------------------------------------------------------------------------


def test_a_form_is_read_with_its_step_grades() -> None:
    form = {"grade": "partial", "reason": " 价格没有改 ", "step-0": "correct", "step-1": "", "step-2": "wrong"}

    assert read_answer(form, [0, 1, 2], "success") == Answer("partial", "价格没有改", {0: "correct", 2: "wrong"})


@pytest.mark.parametrize(
    ("form", "claim", "message"),
    [
        ({}, "success", "Choose one"),
        ({"grade": "great"}, "success", "Choose one"),
        ({"grade": "correct"}, "success", "Choose one"),
        ({"grade": "cannot_say", "reason": "  "}, "success", "why you cannot say"),
        ({"grade": "infeasible"}, "success", "did not say"),
        ({"grade": "infeasible"}, "none", "did not say"),
        ({"grade": "fail", "step-9": "wrong"}, "success", "no step 9"),
        ({"grade": "fail", "step-0": "complete"}, "success", "Choose one"),
        ({"grade": "fail", "reason": "x" * 4001}, "success", "longer than 4000"),
    ],
)
def test_what_cannot_be_taken_is_told(form: dict[str, str], claim: Claim, message: str) -> None:
    with pytest.raises(AnswerError, match=message):
        read_answer(form, [0, 1], claim)


def test_infeasible_is_taken_where_the_agent_says_so() -> None:
    assert read_answer({"grade": "infeasible"}, [], "infeasible").grade == "infeasible"


def test_what_was_readable_of_a_refused_answer_is_kept() -> None:
    with pytest.raises(AnswerError) as refused:
        read_answer({"grade": "cannot_say", "step-0": "wrong"}, [0], "success")

    assert refused.value.draft == Answer(None, "", {0: "wrong"})


# --- rows ------------------------------------------------------------------------------------------------------------


def test_an_answer_becomes_a_persons_vote_and_a_verdict_by_rule_human() -> None:
    votes, verdicts = given(Answer("fail", "wrong ticket", {}))

    (only,) = votes
    assert (only.judge, only.judge_kind, only.status, only.grade) == ("ann", "person", "graded", "fail")
    assert only.frame_sha256s == list(RECORD.frames)
    (held,) = verdicts
    assert (held.rule, held.status, held.grade, held.pass_id) == ("human", "graded", "fail", "pass-2")
    assert held.failure_category is not None


def test_the_checks_of_the_contract_stand_beside_the_verdict() -> None:
    _, others = rows_of(Subject(TASK, RECORD, [], []), "ann", Answer("complete", "", {}), "pass-2")

    assert [(row.pass_id, row.state) for row in others if isinstance(row, CheckResult)] == [("pass-2", "passed")]


def test_who_cannot_say_leaves_a_vote_and_no_verdict() -> None:
    votes, others = rows_of(Subject(TASK, RECORD, [], []), "ann", Answer(None, "too dark", {}), "pass-2")

    assert [(vote.status, vote.grade, vote.reason) for vote in votes] == [("abstain", None, "too dark")]
    assert others == []


def test_persons_who_disagree_leave_it_undecided() -> None:
    _, (held,) = given(Answer("fail", "", {}), by("bob", "complete"))

    assert (held.rule, held.status, held.grade) == ("human", "undecided", None)
    assert "bob: complete" in held.reason and "ann: fail" in held.reason


def test_a_later_answer_of_the_same_person_counts() -> None:
    _, (held,) = given(Answer("complete", "", {}), by("ann", "fail"))

    assert (held.status, held.grade) == ("graded", "complete")


def test_models_and_programs_are_not_pooled_with_persons() -> None:
    _, (held,) = given(Answer("fail", "", {}), standing=(verdict(ATTEMPT, "correct", step_index=0),))

    assert (held.share, held.families) == (None, 0)


def test_a_grade_that_is_taken_back_leaves_it_undecided() -> None:
    _, (held,) = given(Answer(None, "not sure any more", {}), by("ann", "fail"))

    assert (held.rule, held.status, held.grade, held.failure_category) == ("human", "undecided", None, None)


def test_another_persons_grade_stays_when_one_is_taken_back() -> None:
    _, (held,) = given(Answer(None, "not sure any more", {}), by("ann", "fail"), by("bob", "complete"))

    assert (held.status, held.grade) == ("graded", "complete")


def test_graded_steps_have_votes_and_verdicts_of_their_own() -> None:
    votes, verdicts = given(Answer("complete", "", {1: "explore"}))

    assert [(vote.target, vote.step_index, vote.grade) for vote in votes] == [
        ("trace", None, "complete"),
        ("step", 1, "explore"),
    ]
    assert votes[1].frame_sha256s == [RECORD.observations[1].frame_sha256]
    assert [(held.target, held.step_index, held.rule, held.grade) for held in verdicts] == [
        ("trace", None, "human", "complete"),
        ("step", 1, "human", "explore"),
    ]


def test_a_step_grade_that_is_left_out_later_is_taken_back() -> None:
    votes, verdicts = given(Answer("complete", "", {}), by("ann", "wrong", target="step", step_index=1))

    assert (votes[1].step_index, votes[1].status) == (1, "abstain")
    assert (verdicts[1].step_index, verdicts[1].rule, verdicts[1].status) == (1, "human", "undecided")


def test_the_process_score_counts_persons_before_judges() -> None:
    standing = tuple(verdict(ATTEMPT, grade, step_index=n) for n, grade in enumerate(("wrong", "wrong", "correct")))

    _, (trace, _) = given(Answer("complete", "", {0: "correct"}), standing=standing)

    assert trace.process_score == pytest.approx(2 / 3)


def test_what_a_person_last_said_is_found_again() -> None:
    said = [
        by("ann", "fail", reason="at first"),
        by("bob", "partial"),
        by("ann", "complete", reason=NO_REASON),
        by("ann", "wrong", target="step", step_index=1),
        by("ann", None, target="step", step_index=2),
    ]

    assert last_answer("ann", said) == Answer("complete", "", {1: "wrong"})
    assert last_answer("cleo", said) is None
