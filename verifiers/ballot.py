"""Votes on one target, counted: who voted validly, which side has a quorum, how many families stand behind it.

Program judges together are one family, whatever they call themselves; a judge has one vote; persons are kept apart.
This module knows nothing of contracts or records.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from pipeline.records import Vote
from pipeline.words import Grade

PROGRAM = "program"
"""The one family of all judges without a model."""
MIN_FAMILIES = 2


class Ballot(NamedTuple):
    """The votes on one target."""

    valid: list[Vote]
    """Graded votes of models and programs, one per judge."""
    persons: list[Vote]
    """Graded votes of persons."""
    silent: list[Vote]
    """Abstentions and errors."""
    has_models: bool
    """Whether a model judge was heard, also when it abstained; one that failed was not."""

    def leading(self, allowed: Iterable[Grade]) -> Grade | None:
        """The allowed grade with two thirds of all valid votes, if there is one."""
        for grade in allowed:
            if self.valid and 3 * len(self._for(grade)) >= 2 * len(self.valid):
                return grade
        return None

    def quorum(self, allowed: Iterable[Grade]) -> Grade | None:
        """The allowed grade with two thirds of all valid votes, cast by at least two families."""
        grade = self.leading(allowed)
        return grade if grade is not None and self.families(grade) >= MIN_FAMILIES else None

    def without(self, grade: Grade) -> Ballot:
        """The ballot as if nobody had voted for a grade."""
        return self._replace(valid=[vote for vote in self.valid if vote.grade != grade])

    def families(self, grade: Grade | None = None) -> int:
        """How many families cast a valid vote, or one for a grade."""
        return len({family_of(vote) for vote in self._for(grade)})

    def share(self, grade: Grade | None) -> float | None:
        """The share of the valid votes that a grade has; without a grade the largest share; null without votes."""
        if not self.valid:
            return None
        counts = {vote.grade: len(self._for(vote.grade)) for vote in self.valid}
        return (max(counts.values()) if grade is None else counts.get(grade, 0)) / len(self.valid)

    def tally(self) -> str:
        """The votes in words, e.g. `screen: fail, judge-a: complete`, and who failed; where none is valid, why not."""
        if self.valid:
            return "; ".join([", ".join(f"{vote.judge}: {vote.grade}" for vote in self.valid), *self.failures()])
        return "; ".join(["no valid vote", *(f"{vote.judge}: {vote.status}, {vote.reason}" for vote in self.silent)])

    def failures(self) -> list[str]:
        """The judges that could not work, and why: the others decide without them."""
        return [f"{vote.judge}: error, {vote.reason}" for vote in self.silent if vote.status == "error"]

    def _for(self, grade: Grade | None) -> list[Vote]:
        return [vote for vote in self.valid if grade is None or vote.grade == grade]


def ballot_of(votes: Iterable[Vote]) -> Ballot:
    """The ballot of the votes on one target; of several votes of one judge the last counts."""
    latest = list({(vote.judge_kind, vote.judge): vote for vote in votes}.values())
    graded = [vote for vote in latest if vote.status == "graded" and vote.grade is not None]
    return Ballot(
        valid=[vote for vote in graded if vote.judge_kind != "person"],
        persons=[vote for vote in graded if vote.judge_kind == "person"],
        silent=[vote for vote in latest if vote.status != "graded" and vote.judge_kind != "person"],
        has_models=any(vote.judge_kind == "model" and vote.status != "error" for vote in latest),
    )


def family_of(vote: Vote) -> str:
    """The family a vote counts for; how it is capitalised does not matter."""
    return PROGRAM if vote.judge_kind == "program" else vote.family.casefold()
