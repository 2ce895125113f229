"""What becomes a row: kinds by their quotas, nothing twice, and no screen or label more than its share."""

from __future__ import annotations

from collections import Counter

import pytest

from pipeline.records import digest
from pipeline.synth.choosing import PER_SCREEN, Choice, Chooser
from pipeline.synth.elements import Edges, Shown
from tests.synthetic import element, scene, shown

PAGE = shown([element(f"Button {name}", (0, 40.0 * place)) for place, name in enumerate("abcdefghijklmn")])


def place(edges: Edges | None) -> str:
    """Everything looks different where it stands elsewhere."""
    return digest("place", str(edges))[:16]


def chosen(chooser: Chooser, page: Shown = PAGE, most: int = 99) -> list[Choice]:
    return list(chooser.choose(scene(page), place, most))


def test_a_screen_gives_so_many_rows_at_most() -> None:
    assert 3 < len(chosen(Chooser(1000))) <= PER_SCREEN


def test_no_kind_takes_a_whole_screen() -> None:
    kinds = Counter(choice.question.kind for choice in chosen(Chooser(1000)))

    assert max(kinds.values()) <= 3


def test_nothing_is_chosen_twice_that_looks_the_same() -> None:
    chooser = Chooser(1000)
    first = {(choice.label_hash, choice.phash) for choice in chosen(chooser)}

    assert not first & {(choice.label_hash, choice.phash) for choice in chosen(chooser)}


@pytest.mark.parametrize(("look", "again"), [("000000000000000f", False), ("000000000000001f", True)])
def test_what_looks_nearly_the_same_is_not_chosen_again_under_the_same_label(look: str, again: bool) -> None:
    page, chooser = scene(shown([element("Alone")])), Chooser(1000)

    first = {choice.label_hash for choice in chooser.choose(page, lambda _: "0000000000000000", 99)}
    second = {choice.label_hash for choice in chooser.choose(page, lambda _: look, 99)}

    assert bool(first & second) == again


def test_no_place_is_asked_for_twice_on_a_screen() -> None:
    boxes = [one.question.target.box for one in chosen(Chooser(1000)) if one.question.target]

    assert len(boxes) == len(set(boxes))


def test_a_label_comes_only_so_often_wherever_it_stands() -> None:
    chooser = Chooser(100)
    labels: Counter[str] = Counter()
    for shift in range(12):
        page = shown([element("Alone", (0, 30.0 * shift))])
        labels.update(choice.label_hash for choice in chosen(chooser, page))

    assert max(labels.values()) == 4


def test_no_more_are_chosen_than_are_wanted() -> None:
    chooser = Chooser(1000)

    assert len(chosen(chooser, most=2)) == 2
    assert chooser.chosen == 2
