"""How good decisions are against the truth: rates with intervals, and the curve of a score.

Rates are of what was decided; `coverage` says how much that is, and `found` is the share of all that is right that was
decided so. Several decisions per item (reshuffles of folds) are averaged per task. Intervals resample tasks, not items,
for items of one task are alike. What decided is not known here.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from pipeline.actions import Model

Numbers = NDArray[np.float64]
Flags = NDArray[np.bool_]
DRAWS, SEED = 2000, 7
_LOW, _HIGH = 2.5, 97.5
_POINTS = 100


class Rate(Model):
    """A rate with the bounds of its 95 % interval; null where there was nothing to count."""

    value: float | None
    low: float | None
    high: float | None


class Figures(Model):
    """How one judge or rule did on a labelled set."""

    n: int
    tasks: int
    positives: int
    coverage: Rate
    precision: Rate
    recall: Rate
    f1: Rate
    accuracy: Rate
    kappa: Rate
    fpr: Rate
    fnr: Rate
    found: Rate


class Point(Model):
    """What accepting everything from a threshold upwards comes to: `risk` is the share of it that is wrong."""

    threshold: float
    coverage: float
    risk: float
    recall: float
    fpr: float


class Decisions(NamedTuple):
    """Decisions on items: for or against where decided. Arrays of items, or of reshuffles by items."""

    said: Flags
    decided: Flags


def decisions_of(sides: Sequence[bool | None]) -> Decisions:
    """Decisions from a list; null is undecided."""
    return Decisions(np.array([side is True for side in sides]), np.array([side is not None for side in sides]))


def figures_of(decisions: Decisions, truth: Flags, task_ids: Sequence[str]) -> Figures:
    """Every rate with its interval."""
    counts = _by_task(decisions, truth, task_ids)
    draws = np.random.default_rng(SEED).multinomial(len(counts), np.full(len(counts), 1 / len(counts)), size=DRAWS)
    rates, spread = _rates(counts.sum(axis=0)), _rates(draws @ counts)
    return Figures.model_validate(
        {
            "n": len(truth),
            "tasks": len(counts),
            "positives": int(truth.sum()),
            **{name: _rate(rates[name], spread[name]) for name in rates},
        }
    )


def curve_of(scores: Numbers, truth: Flags) -> list[Point]:
    """Acceptance from the strictest threshold to the laxest, at most a hundred points."""
    thresholds = np.unique(scores)[::-1]
    chosen = thresholds[np.unique(np.linspace(0, len(thresholds) - 1, _POINTS).astype(int))]
    return [_point(float(threshold), scores >= threshold, truth) for threshold in chosen]


def _point(threshold: float, accepted: Flags, truth: Flags) -> Point:
    right, wrong = int((accepted & truth).sum()), int((accepted & ~truth).sum())
    return Point(
        threshold=threshold,
        coverage=float(accepted.mean()),
        risk=wrong / (right + wrong),
        recall=right / max(int(truth.sum()), 1),
        fpr=wrong / max(int((~truth).sum()), 1),
    )


def _by_task(decisions: Decisions, truth: Flags, task_ids: Sequence[str]) -> Numbers:
    """Per task: true and false accepted, true and false rejected, and what is right and wrong among the undecided."""
    said, decided = np.atleast_2d(decisions.said), np.atleast_2d(decisions.decided)
    kinds = [decided & said, decided & said, decided & ~said, decided & ~said, ~decided, ~decided]
    truths = [truth, ~truth, truth, ~truth, truth, ~truth]
    cells = np.stack([(kind & right).mean(axis=0) for kind, right in zip(kinds, truths, strict=True)], axis=1)
    tasks, index = np.unique(np.array(task_ids), return_inverse=True)
    counts = np.zeros((len(tasks), cells.shape[1]))
    np.add.at(counts, index, cells)
    return counts


def _rates(counts: Numbers) -> dict[str, Numbers]:
    """Each rate of counts, whose last axis is that of `_by_task`; nan where there is nothing to count."""
    tp, fp, fn, tn, up, un = np.moveaxis(np.asarray(counts, dtype=float), -1, 0)
    decided = tp + fp + fn + tn
    agreed = _share(tp + tn, decided)
    chance = _share((tp + fp) * (tp + fn) + (fn + tn) * (fp + tn), decided**2)
    return {
        "coverage": _share(decided, decided + up + un),
        "precision": _share(tp, tp + fp),
        "recall": _share(tp, tp + fn),
        "f1": _share(2 * tp, 2 * tp + fp + fn),
        "accuracy": agreed,
        "kappa": _share(agreed - chance, 1 - chance),
        "fpr": _share(fp, fp + tn),
        "fnr": _share(fn, tp + fn),
        "found": _share(tp, tp + fn + up),
    }


def _share(part: Numbers, whole: Numbers) -> Numbers:
    part, whole = np.asarray(part, dtype=float), np.asarray(whole, dtype=float)
    share: Numbers = np.divide(part, whole, out=np.full(whole.shape, np.nan), where=whole > 0)
    return share


def _rate(value: Numbers, spread: Numbers) -> Rate:
    known = spread[~np.isnan(spread)]
    if np.isnan(value) or not len(known):
        return Rate(value=None, low=None, high=None)
    low, high = np.percentile(known, [_LOW, _HIGH])
    return Rate(value=float(value), low=float(low), high=float(high))
