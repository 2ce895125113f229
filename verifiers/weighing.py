"""The weighted rule: a sum of readable weights that turns votes and signs into the odds that the agent did right.

A judge adds one weight when it votes for, another when it votes against, and nothing when it is silent: silence is a
state of its own, not a vote of zero. Signs of the record lie between 0 and 1. Weights come from a calibration only;
how they are fitted is not known here.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import Literal

from pydantic import Field

from pipeline.actions import Model

Side = Literal["for", "against", "neither"]


class Weight(Model):
    """What one feature adds to the log-odds; `feature` reads `screen:for`, `judge-a:against` or `sign:repeated`."""

    feature: str
    weight: float


class Weighing(Model):
    """A fitted rule: right from `accept` upwards, wrong below `reject`, undecided between the two."""

    intercept: float
    weights: list[Weight]
    accept: float = Field(ge=0, le=1)
    reject: float = Field(ge=0, le=1)

    def probability(self, features: Mapping[str, float]) -> float:
        """How likely the agent did right; features without a weight add nothing."""
        return _likely(self._odds(features))

    def side(self, features: Mapping[str, float], waiting: Iterable[str] = ()) -> Side:
        """What the rule decides, if that holds whatever the judges say who are still to be heard."""
        odds, rest = self._odds(features), [self._span(judge) for judge in waiting]
        lowest = self._side(odds + sum(low for low, _ in rest))
        highest = self._side(odds + sum(high for _, high in rest))
        return lowest if lowest == highest else "neither"

    def _odds(self, features: Mapping[str, float]) -> float:
        return self.intercept + sum(one.weight * features.get(one.feature, 0.0) for one in self.weights)

    def _span(self, judge: str) -> tuple[float, float]:
        """The least and the most that a judge's vote, or silence, can add."""
        sides = features_of({judge: True}, {}) | features_of({judge: False}, {})
        possible = [0.0, *(one.weight for one in self.weights if one.feature in sides)]
        return min(possible), max(possible)

    def _side(self, odds: float) -> Side:
        likely = _likely(odds)
        if likely >= self.accept:
            return "for"
        return "against" if likely < self.reject else "neither"


def _likely(odds: float) -> float:
    return 1 / (1 + math.exp(-max(min(odds, 500.0), -500.0)))


def features_of(votes: Mapping[str, bool], signs: Mapping[str, float]) -> dict[str, float]:
    """The features of one item, by name."""
    cast = {f"{judge}:{'for' if said else 'against'}": 1.0 for judge, said in votes.items()}
    return cast | {f"sign:{name}": value for name, value in signs.items()}
