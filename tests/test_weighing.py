"""The weighted rule as it is applied."""

from __future__ import annotations

import math

import pytest

from tests.calibrations import weighing
from verifiers.weighing import Side, features_of


def test_features_name_the_judge_and_its_side() -> None:
    assert features_of({"a": True, "b": False}, {"budget": 0.5}) == {"a:for": 1.0, "b:against": 1.0, "sign:budget": 0.5}


def test_weights_add_up_to_log_odds() -> None:
    rule = weighing(a__for=2.0, sign__budget=-1.0)

    assert rule.probability({"a:for": 1.0, "sign:budget": 0.5}) == pytest.approx(1 / (1 + math.exp(-1.5)))
    assert rule.probability({}) == 0.5


def test_a_judge_without_a_weight_adds_nothing() -> None:
    assert weighing(a__for=2.0).probability({"stranger:for": 1.0}) == 0.5


@pytest.mark.parametrize(("weight", "side"), [(3.0, "for"), (0.0, "neither"), (-3.0, "against")])
def test_two_thresholds_leave_room_for_doubt(weight: float, side: Side) -> None:
    assert weighing(accept=0.9, reject=0.1, a__for=weight).side({"a:for": 1.0}) == side


@pytest.mark.parametrize(
    ("waiting", "side"), [([], "for"), (["small"], "for"), (["large"], "neither"), (["stranger"], "for")]
)
def test_a_decision_holds_whatever_those_say_who_are_still_to_be_heard(waiting: list[str], side: Side) -> None:
    rule = weighing(a__for=1.0, small__for=0.5, small__against=-0.5, large__for=2.0, large__against=-2.0)

    assert rule.side({"a:for": 1.0}, waiting) == side


def test_those_still_to_be_heard_may_be_silent() -> None:
    """Both of its votes would be for; only silence leaves the decision as it is."""
    rule = weighing(accept=0.6, odd__for=1.0, odd__against=1.0)

    assert rule.side({}, ["odd"]) == "neither"


def test_the_threshold_itself_accepts() -> None:
    assert weighing(accept=0.5).side({}) == "for"


def test_extreme_weights_do_not_overflow() -> None:
    assert weighing(a__for=1e6).probability({"a:for": 1.0}) == pytest.approx(1.0)
    assert weighing(a__for=-1e6).probability({"a:for": 1.0}) == pytest.approx(0.0)
