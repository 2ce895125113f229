from __future__ import annotations

from typing import Any

import pytest

from pipeline.puzzles.answers import Answer, Clicked
from pipeline.puzzles.icons import APART, GROUP_NAMES, icon_names, icons
from pipeline.puzzles.kinds import icon_click, icon_forms
from pipeline.puzzles.kinds.icon_click import AllOf, Odd, Pair, ReferenceOrder, SizeOrder, Sticker, Stickers
from pipeline.puzzles.kinds.icon_forms import Shape, ShapeColour, Shapes
from pipeline.puzzles.puzzle import PuzzleType
from tests.puzzle_laws import broken_laws

TYPES: tuple[PuzzleType[Any], ...] = (*icon_click.TYPES, *icon_forms.TYPES)


def stickers(*looks: tuple[str, int, float], asked: list[str] | None = None) -> Stickers:
    """Icons in a row, m0 to mN, with their paint and size."""
    return Stickers(
        variant=0,
        stickers=[
            Sticker(mark=f"m{place}", icon=icon, spot=(25.0 + 50 * place, 90.0), size=size, paint=paint)
            for place, (icon, paint, size) in enumerate(looks)
        ],
        meant=[],
        asked=asked or [],
    )


def marks(answers: list[Answer]) -> list[list[str]]:
    """What is clicked in each answer."""
    return [answer.marks for answer in answers if isinstance(answer, Clicked)]


@pytest.mark.parametrize("puzzle_type", TYPES, ids=lambda one: one.name)
def test_a_type_keeps_all_laws(puzzle_type: PuzzleType[Any]) -> None:
    assert broken_laws(puzzle_type) == []


def test_an_icon_that_is_there_twice_can_be_clicked_in_two_ways() -> None:
    state = stickers(("cat", 0, 40), ("bus", 0, 40), ("cat", 1, 40), asked=["cat", "bus"])
    assert marks(list(ReferenceOrder().solve(state))) == [["m0", "m1"], ["m2", "m1"]]


def test_a_class_is_asked_for_only_among_what_nobody_counts_to_it() -> None:
    state = stickers(("apple", 0, 40), ("cat", 0, 40), ("cactus", 0, 40), asked=["fruit"])
    assert marks(list(AllOf().solve(state))) == [["m0"], ["m0", "m2"]]


def test_a_pair_is_alike_in_shape_and_colour() -> None:
    state = stickers(("cat", 0, 40), ("cat", 1, 40), ("bus", 1, 40), ("cat", 1, 40))
    assert marks(list(Pair().solve(state))) == [["m1", "m3"]]


def test_two_pairs_are_two_answers() -> None:
    state = stickers(("cat", 0, 40), ("cat", 0, 40), ("bus", 1, 40), ("bus", 1, 40))
    assert len(list(Pair().solve(state))) == 2


def test_of_two_that_differ_neither_is_the_odd_one() -> None:
    state = stickers(("cat", 0, 40), ("cat", 0, 40), ("bus", 0, 40), ("cat", 1, 40))
    assert list(Odd().solve(state)) == []


def test_sizes_that_can_hardly_be_told_apart_may_come_in_either_order() -> None:
    state = stickers(("cat", 0, 20), ("cat", 0, 22), ("cat", 0, 50), asked=["rising"])
    assert marks(list(SizeOrder().solve(state))) == [["m0", "m1", "m2"], ["m1", "m0", "m2"]]


def test_falling_sizes_begin_with_the_largest() -> None:
    state = stickers(("cat", 0, 20), ("cat", 0, 30), ("cat", 0, 50), asked=["falling"])
    assert marks(list(SizeOrder().solve(state))) == [["m2", "m1", "m0"]]


def test_a_shape_needs_form_and_colour() -> None:
    looks = [("circle", 1), ("square", 0), ("circle", 0)]
    state = Shapes(
        variant=0,
        shapes=[
            Shape(mark=f"m{place}", form=form, colour=colour, spot=(30.0 + 60 * place, 90.0), size=30)
            for place, (form, colour) in enumerate(looks)
        ],
        meant="",
        colour=0,
        form="circle",
    )
    assert marks(list(ShapeColour().solve(state))) == [["m2"]]


def test_icons_have_a_name_of_their_own_in_both_languages() -> None:
    drawn = icons().values()
    assert len({one.en for one in drawn}) == len({one.zh for one in drawn}) == len(drawn)


def test_every_class_that_is_asked_for_has_enough_icons_and_others_to_hide_among() -> None:
    assert all(len(icon_names(group)) >= 5 and len(icon_names(*APART[group])) >= 9 for group in GROUP_NAMES)
