"""Labelled items: what judges said of trajectories whose truth is known. What calibration is measured on.

Everything is brought to one question: did the agent do right? A vote is for it or against it; a judge that abstained or
failed is silent, which is neither. On an item whose task cannot be done, to do right is to report so, and a vote for it
is one for `infeasible`. A step is right that serves the task or looks around (`correct`, `explore`). This module knows
nothing of where the items come from.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from pydantic import Field

from pipeline.actions import Model
from pipeline.records import Vote
from pipeline.words import Domain, Grade, JudgeKind
from verifiers.ballot import Ballot, ballot_of

RIGHT: tuple[Grade, ...] = ("complete", "correct", "explore")
"""The grades of what was right, as the votes on an item are counted."""


class Voter(Model):
    """A judge as a calibration knows it: under another family or with another prompt it is another judge."""

    name: str
    kind: JudgeKind
    family: str
    prompt_sha256s: list[str] = Field(default_factory=list)


class Item(NamedTuple):
    """One trajectory or step: the truth, the votes without those of silent judges, and what the record alone shows."""

    item_id: str
    task_id: str
    truth: bool
    votes: Mapping[str, bool]
    signs: Mapping[str, float] = {}
    infeasible: bool = False
    domain: Domain | None = None
    grades: Mapping[str, Grade] = {}
    """What the judges said in full, where more is known than for or against: the panel counts grades."""


class LabelSet(NamedTuple):
    """Items and the judges that were asked about them."""

    source: str
    items: Sequence[Item]
    voters: Sequence[Voter]

    def where(self, wanted: Callable[[Item], bool]) -> LabelSet:
        """The items of one kind."""
        return self._replace(items=[item for item in self.items if wanted(item)])

    def only(self, *names: str) -> LabelSet:
        """The same items as if only these judges had been asked."""
        items = [
            item._replace(votes={name: vote for name, vote in item.votes.items() if name in names})
            for item in self.items
        ]
        return self._replace(items=items, voters=[voter for voter in self.voters if voter.name in names])

    def without_signs(self) -> LabelSet:
        """The same items as if only votes were known of them."""
        return self._replace(items=[item._replace(signs={}) for item in self.items])


def ballots(labels: LabelSet) -> list[Ballot]:
    """The votes on every item as the panel counts them, grade by grade.

    `complete` stands for right and `fail` for wrong where no more is known; on an item that was right to be reported
    infeasible the two grades that may be right change places, so that `complete` is the right one.
    """
    return [ballot_of(_vote(item, voter) for voter in labels.voters) for item in labels.items]


def _vote(item: Item, voter: Voter) -> Vote:
    said = item.votes.get(voter.name)
    return Vote(
        pass_id="",
        target="trace",
        attempt_id=item.item_id,
        judge=voter.name,
        judge_kind=voter.kind,
        family=voter.family,
        status="abstain" if said is None else "graded",
        grade=None if said is None else _grade(said, item.grades.get(voter.name)),
        reason="",
    )


def _grade(said: bool, grade: Grade | None) -> Grade:
    if said:
        return grade if grade in RIGHT else "complete"
    return "infeasible" if grade == "complete" else grade or "fail"
