"""Correlated judges: what a panel is worth, and who is whose copy."""

from __future__ import annotations

import numpy as np
import pytest

from tests.calibrations import labelled, model
from verifiers.dependence import dependence_of
from verifiers.labelled import LabelSet

MANY = 300


def with_copy(labels: LabelSet, of: str, name: str, changed: float, seed: int = 5) -> LabelSet:
    """One more judge that repeats another's votes but for a share of them."""
    random = np.random.default_rng(seed)
    items = [
        item._replace(votes={**item.votes, name: item.votes[of] ^ bool(random.random() < changed)})
        for item in labels.items
    ]
    return labels._replace(items=items, voters=[*labels.voters, model(name)])


def test_independent_judges_are_worth_their_number() -> None:
    found = dependence_of(labelled({"a": 0.8, "b": 0.7, "c": 0.9}, tasks=MANY))

    assert found.effective == pytest.approx(3.0, abs=0.2)
    assert not any(pair.duplicate for pair in found.pairs)


def test_agreement_that_accuracy_explains_is_no_dependence() -> None:
    """Two judges that are nearly always right agree nearly always."""
    pair = dependence_of(labelled({"a": 0.97, "b": 0.97}, tasks=MANY)).pairs[0]

    assert pair.agreement > 0.9
    assert pair.excess < 0.2


def test_two_copies_of_one_judge_are_worth_one() -> None:
    found = dependence_of(with_copy(labelled({"a": 0.8}, tasks=MANY), "a", "b", changed=0.0))

    assert found.effective == pytest.approx(1.0)
    assert found.pairs[0].excess == pytest.approx(1.0)


def test_near_duplicates_are_found_among_others() -> None:
    labels = with_copy(labelled({"a": 0.8, "b": 0.8, "c": 0.7}, tasks=MANY), "a", "a-again", changed=0.03)

    found = dependence_of(labels)

    assert [(pair.first, pair.second) for pair in found.pairs if pair.duplicate] == [("a", "a-again")]
    assert found.effective is not None
    assert 2.0 < found.effective < 3.5


def test_judges_that_contradict_each_other_are_not_worth_more_than_their_number() -> None:
    found = dependence_of(with_copy(labelled({"a": 0.6}, tasks=MANY), "a", "b", changed=1.0))

    assert found.effective == 2.0


def test_judges_that_hardly_met_are_not_compared() -> None:
    labels = labelled({"a": 0.8, "b": 0.8}, tasks=10, per_task=3)
    apart = [
        item._replace(votes={name: vote for name, vote in item.votes.items() if name == "ab"[n % 2]})
        for n, item in enumerate(labels.items)
    ]

    found = dependence_of(labels._replace(items=apart))

    assert (found.effective, found.pairs) == (None, [])


def test_a_judge_that_never_varies_is_uncorrelated() -> None:
    labels = labelled({"a": 0.8, "b": 0.8}, tasks=MANY)
    constant = [item._replace(votes={**item.votes, "b": True}) for item in labels.items]

    assert dependence_of(labels._replace(items=constant)).pairs[0].correlation == 0.0
