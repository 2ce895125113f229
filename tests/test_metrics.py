"""Rates, their intervals, and curves."""

from __future__ import annotations

import numpy as np
import pytest

from verifiers.metrics import Decisions, curve_of, decisions_of, figures_of

TRUTH = np.array([True] * 4 + [False] * 6)
SIDES = [True, True, True, False] + [True] + [False] * 4 + [None]
TASKS = [f"task-{n}" for n in range(10)]


@pytest.mark.parametrize(
    ("rate", "value"),
    [
        ("coverage", 9 / 10),
        ("precision", 3 / 4),
        ("recall", 3 / 4),
        ("f1", 3 / 4),
        ("accuracy", 7 / 9),
        ("kappa", (7 / 9 - 41 / 81) / (1 - 41 / 81)),
        ("fpr", 1 / 5),
        ("fnr", 1 / 4),
        ("found", 3 / 4),
    ],
)
def test_rates_are_of_what_was_decided(rate: str, value: float) -> None:
    figures = figures_of(decisions_of(SIDES), TRUTH, TASKS)

    assert getattr(figures, rate).value == pytest.approx(value)


def test_what_is_right_and_undecided_counts_as_not_found() -> None:
    figures = figures_of(decisions_of([True, None, None, False]), np.array([True, True, True, False]), TASKS[:4])

    assert figures.recall.value == 1.0
    assert figures.found.value == pytest.approx(1 / 3)


def test_a_rate_without_anything_to_count_is_null_not_zero() -> None:
    figures = figures_of(decisions_of([False, False]), np.array([True, True]), TASKS[:2])

    assert (figures.precision.value, figures.precision.low, figures.fpr.value) == (None, None, None)
    assert figures.recall.value == 0.0


def test_an_interval_holds_its_rate_and_narrows_with_more_tasks() -> None:
    few = figures_of(decisions_of(SIDES), TRUTH, TASKS).accuracy
    many = figures_of(decisions_of(SIDES * 20), np.tile(TRUTH, 20), [f"{n}-{t}" for n in range(20) for t in TASKS])

    assert few.low is not None and few.value is not None and few.high is not None
    assert few.low < few.value < few.high
    assert many.accuracy.low is not None and many.accuracy.high is not None
    assert many.accuracy.high - many.accuracy.low < (few.high - few.low) / 3


def test_items_of_one_task_do_not_narrow_the_interval() -> None:
    once = figures_of(decisions_of(SIDES), TRUTH, TASKS).accuracy
    copied = figures_of(decisions_of(SIDES * 20), np.tile(TRUTH, 20), TASKS * 20).accuracy

    assert copied == once


def test_several_decisions_per_item_are_averaged() -> None:
    said = np.array([[True, False], [True, True]])

    figures = figures_of(Decisions(said, np.ones_like(said)), np.array([True, False]), TASKS[:2])

    assert (figures.recall.value, figures.fpr.value) == (1.0, 0.5)


def test_the_same_items_give_the_same_intervals() -> None:
    assert figures_of(decisions_of(SIDES), TRUTH, TASKS) == figures_of(decisions_of(SIDES), TRUTH, TASKS)


def test_a_curve_goes_from_the_strictest_threshold_to_accepting_all() -> None:
    curve = curve_of(np.array([0.9, 0.8, 0.8, 0.1]), np.array([True, True, False, False]))

    assert [point.threshold for point in curve] == [0.9, 0.8, 0.1]
    assert [point.coverage for point in curve] == [0.25, 0.75, 1.0]
    assert [point.recall for point in curve] == [0.5, 1.0, 1.0]
    assert [point.fpr for point in curve] == [0.0, 0.5, 1.0]
    assert [point.risk for point in curve] == pytest.approx([0.0, 1 / 3, 0.5])


def test_a_long_curve_keeps_a_hundred_points_and_both_ends() -> None:
    scores = np.linspace(0, 1, 5000)

    curve = curve_of(scores, scores > 0.5)

    assert len(curve) == 100
    assert (curve[0].threshold, curve[-1].threshold) == (1.0, 0.0)
