from __future__ import annotations

from typing import Any

import pytest

from pipeline.puzzles.answers import Given, Ground, Tap, Tapped
from pipeline.puzzles.kinds.oneclick_login import (
    TYPES,
    Choice,
    Choices,
    ConsentLogin,
    Decoys,
    Hold,
    alike,
    labels,
    legal,
    wishes,
)
from pipeline.puzzles.puzzle import LANGUAGES, Language, PuzzleType
from pipeline.puzzles.scene import Button, Buttons
from tests.puzzle_laws import broken_laws, puzzles

_LONG_PRESS = 0.8
"""Seconds for which the web environment holds a long press."""


def choices(*given: dict[str, Any], asked: str = "") -> Choices:
    return Choices(
        variant=0,
        choices=[
            Choice(
                sense=one["sense"],
                button=Button.model_validate(
                    {"name": f"b{number}", "label": one["sense"]} | {k: v for k, v in one.items() if k != "sense"}
                ),
            )
            for number, one in enumerate(given)
        ],
        meant=["?"],
        asked=asked,
    )


def found(puzzle_type: PuzzleType[Choices], state: Choices) -> list[list[str]]:
    return [answer.taps for answer in puzzle_type.solve(state) if isinstance(answer, Tapped)]


@pytest.mark.parametrize("puzzle_type", TYPES, ids=lambda one: one.name)
def test_every_type_keeps_the_laws(puzzle_type: PuzzleType[Choices]) -> None:
    assert broken_laws(puzzle_type) == []


@pytest.mark.parametrize("puzzle_type", TYPES, ids=lambda one: one.name)
def test_no_two_buttons_of_a_page_are_called_the_same(puzzle_type: PuzzleType[Choices]) -> None:
    for puzzle in puzzles(puzzle_type):
        assert isinstance(puzzle.scene.control, Buttons)
        said = [one.label for one in puzzle.scene.control.buttons]
        assert len(set(said)) == len(said) >= 2


def test_boxes_are_tapped_in_any_order_before_what_ends() -> None:
    state = choices({"sense": "a", "ends": False}, {"sense": "b", "ends": False}, {"sense": "c"})

    ways = [[one.sense for one in taps] for taps in legal(state.choices)]

    assert ways == [["c"], ["a", "c"], ["b", "c"], ["a", "b", "c"], ["b", "a", "c"]]


def test_whoever_logs_in_agrees_first_and_to_nothing_else() -> None:
    state = choices({"sense": "news", "ends": False}, {"sense": "agree", "ends": False}, {"sense": "log_in"})

    assert found(ConsentLogin(), state) == [["b1", "b2"]]


def test_two_agreements_leave_two_answers() -> None:
    state = choices({"sense": "agree", "ends": False}, {"sense": "agree", "ends": False}, {"sense": "log_in"})

    assert found(ConsentLogin(), state) == [["b0", "b2"], ["b1", "b2"]]


def test_equal_labels_leave_two_answers() -> None:
    assert found(Decoys(), choices({"sense": "Confirm"}, {"sense": "Confirm"}, asked="Confirm")) == [["b0"], ["b1"]]
    assert found(Decoys(), choices({"sense": "Confirm"}, {"sense": "Conform"}, asked="Confirm")) == [["b0"]]


def test_a_button_without_a_bar_is_not_held() -> None:
    assert found(Hold(), choices({"sense": "hold"}, {"sense": "cancel"})) == []


def test_a_bar_is_full_before_a_long_press_ends_and_not_after_a_click() -> None:
    for puzzle in puzzles(Hold()):
        answer = puzzle.scene.answer
        assert isinstance(answer, Tapped)
        name = answer.taps[0]
        assert answer.fits(Given(taps=[Tap(name=name, held=_LONG_PRESS)]), Ground({}))
        assert not answer.fits(Given(taps=[Tap(name=name, held=0.1)]), Ground({}))


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_wish_has_a_label_and_no_label_stands_twice(language: Language) -> None:
    said = [label for group in labels(language).values() for label in group]

    assert wishes(language).keys() <= labels(language).keys()
    assert len(set(said)) == len(said)
    assert all(len(set(group)) == 5 for group in alike(language))
