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
Flags = NDArray[np.bool_]
FOLDS, RESHUFFLES, SEED = 5, 10, 20261129
_RIDGE = 1.0
_STEPS, _CONVERGED = 100, 1e-9


class Thresholds(NamedTuple):
    """Right from `accept` upwards, wrong below `reject`."""

    accept: float
    reject: float


class Scored(NamedTuple):
    """Out-of-fold results, one row per reshuffle of the folds: each item as judged without any item of its task.

    What is neither accepted nor rejected is undecided; the thresholds are those its own fold's training items gave.
    """

    scores: Numbers
    accepted: Flags
    rejected: Flags


def fit(items: Sequence[Item], precision: float | None = None) -> Weighing:
    """The weights and thresholds of these items."""
    names = _names(items)
    matrix, truth = _matrix(items, names), _truth(items)
    weights = _newton(matrix, truth)
    thresholds = thresholds_of(_logistic(matrix @ weights), truth, precision)
    return Weighing(
        intercept=float(weights[0]),
        weights=[Weight(feature=name, weight=float(one)) for name, one in zip(names, weights[1:], strict=True)],
        accept=thresholds.accept,
        reject=thresholds.reject,
    )


def cross_validated(items: Sequence[Item], precision: float | None = None) -> Scored:
    """Every item scored and decided by weights and thresholds from other tasks."""
    shape = (RESHUFFLES, len(items))
    found = Scored(np.zeros(shape), np.zeros(shape, dtype=bool), np.zeros(shape, dtype=bool))
    names = _names(items)
    matrix, truth = _matrix(items, names), _truth(items)
    for shuffle in range(RESHUFFLES):
        parts = folds([item.task_id for item in items], SEED + shuffle)
        for part in range(FOLDS):
            held, rest = parts == part, parts != part
            weights = _newton(matrix[rest], truth[rest])
            accept, reject = thresholds_of(_logistic(matrix[rest] @ weights), truth[rest], precision)
            scores = _logistic(matrix[held] @ weights)
            found.scores[shuffle, held] = scores
            found.accepted[shuffle, held] = scores >= accept
            found.rejected[shuffle, held] = scores < reject
    return found


def thresholds_of(scores: Numbers, truth: Flags, precision: float | None) -> Thresholds:
    """Where the best F1 is to be expected; with a wished precision the lowest score that reaches it accepts.

    Where no score reaches it, nothing is accepted.
    """
    best = best_f1_threshold(scores)
    if precision is None:
        return Thresholds(best, best)
    precise = precise_threshold(scores, truth, precision)
    return Thresholds(1.0 if precise is None else max(precise, best), best)


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


def precise_threshold(scores: Numbers, truth: Flags, precision: float) -> float | None:
    """The lowest threshold from which on at least this share of the accepted is right; none if there is no such."""
    order = np.argsort(-scores, kind="stable")
    right = np.cumsum(truth[order]) / np.arange(1, len(order) + 1)
    ranked = scores[order]
    last_of_its_score = np.append(ranked[1:] < ranked[:-1], True)
    reached = np.flatnonzero((right >= precision) & last_of_its_score)
    return float(ranked[reached[-1]]) if len(reached) else None


def _newton(matrix: Numbers, truth: Flags) -> Numbers:
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


def _names(items: Sequence[Item]) -> list[str]:
    return sorted({name for item in items for name in features_of(item.votes, item.signs)})


def _matrix(items: Sequence[Item], names: Sequence[str]) -> Numbers:
    rows = [features_of(item.votes, item.signs) for item in items]
    return np.array([[1.0, *(row.get(name, 0.0) for name in names)] for row in rows])


def _truth(items: Sequence[Item]) -> Flags:
    return np.array([item.truth for item in items])


def _logistic(odds: Numbers) -> Numbers:
    likely: Numbers = 1 / (1 + np.exp(-np.clip(odds, -500, 500)))
    return likely
