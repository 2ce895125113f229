"""The weighted rule as it is fitted: weights, folds, thresholds."""

from __future__ import annotations

import math

import numpy as np
import pytest

from tests.calibrations import labelled
from verifiers.fitting import (
    FOLDS,
    RESHUFFLES,
    best_f1_threshold,
    cross_validated,
    fit,
    folds,
    precise_threshold,
    thresholds_of,
)
from verifiers.labelled import Item
from verifiers.weighing import Weighing

GOOD_AND_POOR = labelled({"good": 0.9, "poor": 0.6}).items


def weight(fitted: Weighing, feature: str) -> float:
    return next(one.weight for one in fitted.weights if one.feature == feature)


def test_a_better_judge_weighs_more_and_a_vote_against_weighs_less_than_nothing() -> None:
    fitted = fit(GOOD_AND_POOR)

    assert weight(fitted, "good:for") > 2 * weight(fitted, "poor:for") > 0
    assert weight(fitted, "good:against") < 0


def test_weights_are_those_that_explain_the_items_best() -> None:
    """The slope of the penalised likelihood vanishes: for each weight, the residuals it touches sum up to it."""
    fitted = fit(GOOD_AND_POOR)

    for feature, vote in (("good:for", True), ("good:against", False)):
        touched = [item for item in GOOD_AND_POOR if item.votes["good"] == vote]
        residual = sum(item.truth - fitted.probability(_features(item)) for item in touched)
        assert residual == pytest.approx(weight(fitted, feature), abs=1e-6)


def _features(item: Item) -> dict[str, float]:
    return {f"{name}:{'for' if said else 'against'}": 1.0 for name, said in item.votes.items()}


def test_items_of_which_every_one_is_right_still_give_finite_weights() -> None:
    fitted = fit([item._replace(truth=True) for item in GOOD_AND_POOR])

    assert all(math.isfinite(one.weight) for one in fitted.weights)
    assert math.isfinite(fitted.intercept)


def test_the_order_of_items_does_not_matter() -> None:
    backwards = fit(list(reversed(GOOD_AND_POOR)))

    assert [one.weight for one in backwards.weights] == pytest.approx(
        [one.weight for one in fit(GOOD_AND_POOR).weights]
    )


def test_a_silent_judge_is_neither_for_nor_against() -> None:
    silent = [item._replace(votes={"poor": item.votes["poor"]}) for item in GOOD_AND_POOR[:30]]

    fitted = fit([*GOOD_AND_POOR[30:], *silent])

    assert fitted.probability({"poor:for": 1.0}) < fitted.probability({"poor:for": 1.0, "good:for": 1.0})
    assert fitted.probability({"poor:for": 1.0}) > fitted.probability({"poor:for": 1.0, "good:against": 1.0})


def test_folds_keep_a_task_together_and_are_of_about_one_size() -> None:
    tasks = [f"task-{n % 40}" for n in range(200)]

    found = folds(tasks, seed=3)

    assert all(len({found[n] for n in range(200) if tasks[n] == task}) == 1 for task in set(tasks))
    assert sorted(np.bincount(found)) == [200 // FOLDS] * FOLDS
    assert list(found) != list(folds(tasks, seed=4))


def test_an_item_is_scored_without_its_own_task() -> None:
    """A judge that is right on one task only is worth nothing to that task's own score."""
    noise = [Item(f"{n}", f"t-{n}", n % 2 == 0, {"a": n % 2 == 0}) for n in range(40)]
    odd_one = Item("odd", "odd", True, {"b": True})

    scored = cross_validated([*noise, odd_one])

    assert fit([*noise, odd_one]).probability({"b:for": 1.0}) > 0.55
    assert scored.scores[:, -1].max() < 0.55


def test_each_reshuffle_scores_every_item_once() -> None:
    scored = cross_validated(GOOD_AND_POOR)

    assert scored.scores.shape == (RESHUFFLES, len(GOOD_AND_POOR))
    assert (scored.scores > 0).all()
    assert (scored.accepted ^ scored.rejected).all()


def test_the_best_threshold_is_half_the_f1_to_be_expected() -> None:
    scores = np.array([0.9, 0.8, 0.3, 0.1])
    expected = [2 * sum(scores[:k]) / (k + sum(scores)) for k in range(1, 5)]

    assert best_f1_threshold(scores) == pytest.approx(max(expected) / 2)


@pytest.mark.parametrize(("precision", "threshold"), [(1.0, 0.8), (0.75, 0.6), (0.6, 0.4), (0.5, 0.2)])
def test_the_lowest_score_that_reaches_a_precision_accepts(precision: float, threshold: float) -> None:
    scores = np.array([0.9, 0.8, 0.7, 0.6, 0.4, 0.2])
    truth = np.array([True, True, False, True, False, False])

    assert precise_threshold(scores, truth, precision) == threshold


def test_items_of_one_score_are_accepted_together() -> None:
    scores, truth = np.array([0.9, 0.9, 0.1]), np.array([True, False, False])

    assert precise_threshold(scores, truth, 0.9) is None


def test_a_precision_out_of_reach_accepts_nothing_and_rejects_as_before() -> None:
    scores, truth = np.array([0.9, 0.9, 0.1]), np.array([True, False, False])

    accept, reject = thresholds_of(scores, truth, 0.9)

    assert (accept, reject) == (1.0, best_f1_threshold(scores))


def test_a_wished_precision_leaves_the_doubtful_undecided() -> None:
    scored = cross_validated(GOOD_AND_POOR, precision=0.9)

    undecided = ~scored.accepted & ~scored.rejected
    assert undecided.any()
    assert not (scored.accepted & scored.rejected).any()
