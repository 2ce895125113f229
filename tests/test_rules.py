"""The rules that are measured, and that those of the panel are what the panel applies."""

from __future__ import annotations

from collections.abc import Mapping

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pipeline.config import PanelConfig
from pipeline.words import Grade
from tests.calibrations import model
from tests.records import task
from tests.test_panel import ended, rule_on
from tests.votes import vote
from verifiers.labelled import Item, LabelSet, ballots
from verifiers.rules import RULES

FAMILIES = {"a": "x", "b": "y", "c": "z", "d": "x"}
RULE = {rule.name: rule.decide for rule in RULES}


def decided(
    name: str, grades: Mapping[str, Grade | None], right: Grade = "complete", *, known: bool = True
) -> bool | None:
    """What a rule makes of votes; without `known` only for and against are."""
    serving = ("correct", "explore") if right == "correct" else (right,)
    votes = {judge: grade in serving for judge, grade in grades.items() if grade}
    full = {judge: grade for judge, grade in grades.items() if grade} if known else {}
    item = Item("i", "t", True, votes, grades=full)
    voters = [model(judge, FAMILIES[judge]) for judge in grades]
    (ballot,) = ballots(LabelSet("by hand", [item], voters))
    return RULE[name](ballot)


GRADES: list[Grade | None] = ["complete", "partial", "infeasible", "fail", None]


@settings(max_examples=300, deadline=None)
@given(st.lists(st.sampled_from(GRADES), min_size=1, max_size=4))
def test_the_quorum_is_measured_as_the_panel_applies_it(said: list[Grade | None]) -> None:
    judges = dict(zip(FAMILIES, said, strict=False))
    votes = [vote(grade, FAMILIES[judge], judge) for judge, grade in judges.items()]

    verdict = rule_on(task(), ended(), votes, PanelConfig())
    used = verdict.grade == "complete" if verdict.rule == "quorum" else None

    assert decided("quorum", judges) is used


@pytest.mark.parametrize(
    ("grades", "quorum", "majority"),
    [
        ({"a": "partial", "b": "fail"}, None, False),
        ({"a": "partial", "b": "partial"}, False, False),
        ({"a": "partial", "b": "partial", "c": "complete"}, False, False),
        ({"a": "complete", "b": "complete", "c": "partial"}, True, True),
        ({"a": "complete", "b": "partial", "c": "fail"}, None, False),
    ],
)
def test_a_part_and_a_failure_are_no_quorum(
    grades: dict[str, Grade | None], quorum: bool | None, majority: bool | None
) -> None:
    assert decided("quorum", grades) is quorum
    assert decided("majority", grades) is majority


def test_of_a_refusal_that_was_right_infeasible_is_the_grade_for() -> None:
    assert decided("quorum", {"a": "infeasible", "b": "infeasible"}, "infeasible") is True
    assert decided("quorum", {"a": "complete", "b": "complete"}, "infeasible") is False
    assert decided("quorum", {"a": "complete", "b": "fail"}, "infeasible") is None


def test_steps_that_serve_by_different_grades_are_no_quorum_but_a_majority() -> None:
    assert decided("quorum", {"a": "correct", "b": "explore"}, "correct") is None
    assert decided("quorum", {"a": "explore", "b": "explore"}, "correct") is True
    assert decided("all", {"a": "correct", "b": "explore"}, "correct") is True


def test_where_only_for_and_against_are_known_those_are_counted() -> None:
    assert decided("quorum", {"a": "partial", "b": "fail"}, known=False) is False
    assert decided("single", {"a": "partial", "d": "fail"}, known=False) is False
    assert decided("single", {"a": "partial", "d": "fail"}) is None
