"""What holds of the panel whatever the votes are, and what it makes of judges that failed."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from pipeline.records import Vote
from tests.records import task
from tests.test_panel import asked, ended, outcome, rule_on
from tests.votes import letters, program, vote

WORTH = {"fail": 0, "partial": 1, None: 2, "complete": 3}
"""From worst to best; what is undecided may still be complete."""
CHECKS: list[list[str]] = [[], ["passed"], ["failed"], ["unreadable"], ["passed", "failed"], ["failed", "unreadable"]]
JUDGES = st.lists(
    st.tuples(
        st.sampled_from(["complete", "partial", "infeasible", "fail", "abstain", "error"]),
        st.sampled_from(["x", "y", "z", "program"]),
    ),
    min_size=1,
    max_size=6,
)


def drawn(judges: Sequence[tuple[str, str]]) -> list[Vote]:
    """One vote per pair of what is said and whose family says it."""
    return [
        vote(
            None if said in ("abstain", "error") else said,  # type: ignore[arg-type]
            family,
            f"j{number}",
            "program" if family == "program" else "model",
            status=said if said in ("abstain", "error") else None,  # type: ignore[arg-type]
        )
        for number, (said, family) in enumerate(judges)
    ]


def heard_a_model(votes: Sequence[Vote]) -> bool:
    return any(one.judge_kind == "model" and one.status != "error" for one in votes)


@settings(max_examples=400, deadline=None)
@given(
    judges=JUDGES,
    more=st.sampled_from(["x", "y", "z", "program"]),
    checks=st.sampled_from(
        [[], ["passed"], ["failed"], ["unreadable"], ["passed", "failed"], ["failed", "unreadable"]]
    ),
    acted=st.booleans(),
)
def test_one_more_vote_for_complete_never_lowers_the_outcome(
    judges: list[tuple[str, str]], more: str, checks: list[str], acted: bool
) -> None:
    made, reads = asked(*checks) if checks else (task(), [])
    of = ended(*reads, acted=acted)
    votes = drawn(judges)
    # The first model to be heard changes who decides, the checks or the panel; that is no matter of votes.
    assume(heard_a_model(votes) or more == "program")

    before = rule_on(made, of, votes)
    after = rule_on(made, of, [*votes, *drawn([*judges, ("complete", more)])[-1:]])

    assert WORTH[after.grade] >= WORTH[before.grade]


@settings(max_examples=200, deadline=None)
@given(judges=JUDGES)
def test_against_checks_that_hold_no_votes_ever_decide(judges: list[tuple[str, str]]) -> None:
    made, reads = asked("passed")

    assert rule_on(made, ended(*reads), drawn(judges)).grade in ("complete", None)


# --- judges that failed ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("votes", [[], [program("complete")], [program(None)]])
def test_a_model_that_only_failed_was_not_heard_and_the_checks_decide(votes: list[Vote]) -> None:
    made, reads = asked("passed")
    failed = vote(None, "x", status="error").model_copy(update={"reason": "connection_failed: nobody there"})

    verdict = rule_on(made, ended(*reads), [*votes, failed])

    assert outcome(verdict) == ("graded", "complete", "contract_only")
    assert "x: error, connection_failed: nobody there" in verdict.reason


def test_a_model_that_failed_leaves_the_others_to_decide_and_is_named() -> None:
    votes = [*letters("SS", "xy"), vote(None, "z", status="error")]

    verdict = rule_on(task(), ended(), votes)

    assert outcome(verdict) == ("graded", "complete", "quorum")
    assert verdict.reason == "judge-0: complete, judge-1: complete; z: error, z says None"


def test_a_failure_of_the_contract_names_the_judges_that_could_not_work() -> None:
    made, reads = asked("passed", "failed")

    verdict = rule_on(made, ended(*reads), [vote(None, "x", status="error")])

    assert outcome(verdict) == ("graded", "partial", "contract_partial")
    assert "x: error, x says None" in verdict.reason


def test_a_program_still_disputes_the_checks_where_the_model_failed() -> None:
    made, reads = asked("passed")

    verdict = rule_on(made, ended(*reads), [program("fail"), vote(None, "x", status="error")])

    assert outcome(verdict) == ("undecided", None, "contract_disputed")
