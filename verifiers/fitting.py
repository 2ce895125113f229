"""Fits the weighted rule: logistic regression with a ridge, folds that keep a task together, thresholds.

A standard normal prior on every weight keeps few items from giving large weights; the objective is convex and solved by
Newton's method, so the same items give the same weights. Thresholds are read off the fitted probabilities, or off
out-of-fold scores, never off the items they are then measured on.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from verifiers.labelled import Item
from verifiers.weighing import Weighing, Weight, features_of

Numbers = NDArray[np.float64]
FOLDS, RESHUFFLES, SEED = 5, 10, 20261129
_RIDGE = 1.0
_STEPS, _CONVERGED = 100, 1e-9


class Scored(NamedTuple):
    """Out-of-fold results, one row per reshuffle of the folds: each item as judged without any item of its task."""

    scores: Numbers
    accepted: NDArray[np.bool_]
    """By the threshold that its own fold's training items gave."""


def fit(items: Sequence[Item]) -> Weighing:
    """The weights of these items, with the threshold that gives the best F1 to be expected."""
    names = _names(items)
    weights = _newton(_matrix(items, names), _truth(items))
    return _weighing(names, weights, items)


def cross_validated(items: Sequence[Item]) -> Scored:
    """Every item scored and decided by weights and a threshold from other tasks."""
    scores = np.zeros((RESHUFFLES, len(items)))
    accepted = np.zeros((RESHUFFLES, len(items)), dtype=bool)
    names = _names(items)
    matrix, truth = _matrix(items, names), _truth(items)
    for shuffle in range(RESHUFFLES):
        parts = folds([item.task_id for item in items], SEED + shuffle)
        for part in range(FOLDS):
            held, rest = parts == part, parts != part
            weights = _newton(matrix[rest], truth[rest])
            scores[shuffle, held] = _logistic(matrix[held] @ weights)
            accepted[shuffle, held] = scores[shuffle, held] >= best_f1_threshold(_logistic(matrix[rest] @ weights))
    return Scored(scores, accepted)


def folds(task_ids: Sequence[str], seed: int) -> NDArray[np.int64]:
    """The fold of every item; items of one task are never apart."""
    distinct = sorted(set(task_ids))
    order = np.random.default_rng(seed).permutation(len(distinct))
    fold = {task: int(place) % FOLDS for task, place in zip(distinct, order, strict=True)}
    return np.array([fold[task] for task in task_ids], dtype=np.int64)


def best_f1_threshold(scores: Numbers) -> float:
    """Half the best F1 to be expected if the scores are true probabilities, which is where that F1 is reached."""
    ranked = np.sort(scores)[::-1]
    expected = 2 * np.cumsum(ranked) / (np.arange(1, len(ranked) + 1) + ranked.sum())
    return float(expected.max() / 2)


def precise_threshold(scores: Numbers, truth: NDArray[np.bool_], precision: float) -> float | None:
    """The lowest threshold from which on at least this share of the accepted is right; none if there is no such."""
    order = np.argsort(-scores, kind="stable")
    right = np.cumsum(truth[order]) / np.arange(1, len(order) + 1)
    ranked = scores[order]
    last_of_its_score = np.append(ranked[1:] < ranked[:-1], True)
    reached = np.flatnonzero((right >= precision) & last_of_its_score)
    return float(ranked[reached[-1]]) if len(reached) else None


def _newton(matrix: Numbers, truth: Numbers) -> Numbers:
    ridge = np.full(matrix.shape[1], _RIDGE)
    ridge[0] = 1e-6  # the intercept is free, but a set of one kind only must not send it to infinity
    weights = np.zeros(matrix.shape[1])
    for _ in range(_STEPS):
        likely = _logistic(matrix @ weights)
        slope = matrix.T @ (likely - truth) + ridge * weights
        curve = (matrix * (likely * (1 - likely))[:, None]).T @ matrix + np.diag(ridge)
        step = np.linalg.solve(curve, slope)
        weights -= step
        if np.abs(step).max() < _CONVERGED:
            break
    return weights


def _weighing(names: Sequence[str], weights: Numbers, items: Sequence[Item]) -> Weighing:
    threshold = best_f1_threshold(_logistic(_matrix(items, names) @ weights))
    pairs = zip(names, weights[1:], strict=True)
    return Weighing(
        intercept=float(weights[0]),
        weights=[Weight(feature=name, weight=float(weight)) for name, weight in pairs],
        accept=threshold,
        reject=threshold,
    )


def _names(items: Sequence[Item]) -> list[str]:
    return sorted({name for item in items for name in features_of(item.votes, item.signs)})


def _matrix(items: Sequence[Item], names: Sequence[str]) -> Numbers:
    rows = [features_of(item.votes, item.signs) for item in items]
    return np.array([[1.0, *(row.get(name, 0.0) for name in names)] for row in rows])


def _truth(items: Sequence[Item]) -> Numbers:
    return np.array([float(item.truth) for item in items])


def _logistic(odds: Numbers) -> Numbers:
    likely: Numbers = 1 / (1 + np.exp(-np.clip(odds, -500, 500)))
    return likely
