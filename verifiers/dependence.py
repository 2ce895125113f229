"""How many independent votes a panel really has, and which judges are near-duplicates.

Two judges that are both right on easy items agree without knowing of each other; what counts is agreement beyond that.
Votes are therefore compared among items of the same truth, where independent judges are uncorrelated. The effective
number of votes is n / (1 + (n - 1) r) with r the mean correlation of a pair (Kish, Survey Sampling, 1965).
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from pipeline.actions import Model
from verifiers.labelled import Item, LabelSet

DUPLICATE = 0.8
"""The share of possible excess agreement from which on two judges are one."""
_FEWEST = 20


class Pair(Model):
    """Two judges on the items on which both voted. `excess` is 0 for independent judges and 1 for identical ones."""

    first: str
    second: str
    n: int
    agreement: float
    expected: float
    excess: float
    correlation: float
    """Of their votes among items of the same truth."""

    @property
    def duplicate(self) -> bool:
        """Whether the two count as one voter."""
        return self.excess >= DUPLICATE


class Dependence(Model):
    """All pairs of a panel, and how many independent votes it comes to; null where no pair could be compared."""

    voters: int
    effective: float | None
    pairs: list[Pair]


def dependence_of(labels: LabelSet) -> Dependence:
    """Every pair of judges that voted together on enough items."""
    names = [voter.name for voter in labels.voters]
    found = [_pair(first, second, labels.items) for first, second in combinations(names, 2)]
    pairs = [pair for pair in found if pair is not None]
    correlation = max(float(np.mean([pair.correlation for pair in pairs])), 0.0) if pairs else None
    effective = None if correlation is None else len(names) / (1 + (len(names) - 1) * correlation)
    return Dependence(voters=len(names), effective=effective, pairs=pairs)


def _pair(first: str, second: str, items: Sequence[Item]) -> Pair | None:
    both = [item for item in items if first in item.votes and second in item.votes]
    if len(both) < _FEWEST:
        return None
    truth = np.array([item.truth for item in both])
    votes = np.array([[item.votes[first], item.votes[second]] for item in both], dtype=float)
    agreement = float((votes[:, 0] == votes[:, 1]).mean())
    strata = [votes[truth == side] for side in (True, False) if (truth == side).any()]
    expected = sum(len(stratum) / len(both) * _by_chance(stratum) for stratum in strata)
    possible = 1 - expected
    return Pair(
        first=first,
        second=second,
        n=len(both),
        agreement=agreement,
        expected=expected,
        excess=(agreement - expected) / possible if possible > 0 else 0.0,
        correlation=_correlation(strata),
    )


def _by_chance(votes: NDArray[np.float64]) -> float:
    """How often two independent judges with these rates agree."""
    a, b = votes.mean(axis=0)
    return float(a * b + (1 - a) * (1 - b))


def _correlation(strata: Sequence[NDArray[np.float64]]) -> float:
    """The correlation of the votes after each stratum's mean is taken away."""
    rest = np.concatenate([stratum - stratum.mean(axis=0) for stratum in strata])
    spread = float(np.sqrt((rest[:, 0] ** 2).sum() * (rest[:, 1] ** 2).sum()))
    return float((rest[:, 0] * rest[:, 1]).sum()) / spread if spread > 0 else 0.0
