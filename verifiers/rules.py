"""Fixed rules that turn the votes on an item into a decision, to be measured beside the panel's own.

`quorum` and `single` are the panel's; the others are what they are compared with. A tie and a lack of votes are
undecided unless the rule's name says otherwise. Nothing is known here of checks.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from verifiers.ballot import Ballot


class FixedRule(NamedTuple):
    """A rule by name; null is undecided."""

    name: str
    decide: Callable[[Ballot], bool | None]


def _quorum(ballot: Ballot) -> bool | None:
    grade = ballot.quorum(("complete", "fail"))
    return None if grade is None else grade == "complete"


def _majority(ballot: Ballot) -> bool | None:
    share = ballot.share("complete")
    return None if share is None or share == 0.5 else share > 0.5


def _tie_for(ballot: Ballot) -> bool | None:
    share = ballot.share("complete")
    return None if share is None else share >= 0.5


def _tie_against(ballot: Ballot) -> bool | None:
    share = ballot.share("complete")
    return None if share is None else share > 0.5


def _any(ballot: Ballot) -> bool | None:
    share = ballot.share("complete")
    return None if share is None else share > 0


def _all(ballot: Ballot) -> bool | None:
    share = ballot.share("complete")
    return None if share is None else share == 1


def _single(ballot: Ballot) -> bool | None:
    grade = ballot.leading(("complete", "fail")) if ballot.families() == 1 else None
    return None if grade is None else grade == "complete"


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
