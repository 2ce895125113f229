"""Fixed rules that turn the votes on an item into a decision, to be measured beside the panel's own.

`quorum` and `single` are the panel's, which counts grade by grade: one vote for `partial` and one for `fail` do not
agree. The others are what they are compared with and know only for and against. A tie and a lack of votes are undecided
unless the rule's name says otherwise. Nothing is known here of checks.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple, get_args

from pipeline.words import Grade
from verifiers.ballot import Ballot
from verifiers.labelled import RIGHT


class FixedRule(NamedTuple):
    """A rule by name; null is undecided."""

    name: str
    decide: Callable[[Ballot], bool | None]


def _quorum(ballot: Ballot) -> bool | None:
    return _side(ballot.quorum(get_args(Grade)))


def _side(grade: Grade | None) -> bool | None:
    return None if grade is None else grade in RIGHT


def _share(ballot: Ballot) -> float | None:
    """The share of the votes that are for, by whichever grade."""
    return sum(vote.grade in RIGHT for vote in ballot.valid) / len(ballot.valid) if ballot.valid else None


def _majority(ballot: Ballot) -> bool | None:
    share = _share(ballot)
    return None if share is None or share == 0.5 else share > 0.5


def _tie_for(ballot: Ballot) -> bool | None:
    share = _share(ballot)
    return None if share is None else share >= 0.5


def _tie_against(ballot: Ballot) -> bool | None:
    share = _share(ballot)
    return None if share is None else share > 0.5


def _any(ballot: Ballot) -> bool | None:
    share = _share(ballot)
    return None if share is None else share > 0


def _all(ballot: Ballot) -> bool | None:
    share = _share(ballot)
    return None if share is None else share == 1


def _single(ballot: Ballot) -> bool | None:
    return _side(ballot.leading(get_args(Grade)) if ballot.families() == 1 else None)


RULES = (
    FixedRule("all", _all),
    FixedRule("any", _any),
    FixedRule("majority", _majority),
    FixedRule("majority, tie against", _tie_against),
    FixedRule("majority, tie for", _tie_for),
    FixedRule("quorum", _quorum),
    FixedRule("single", _single),
)
"""Every fixed rule, sorted by name."""
