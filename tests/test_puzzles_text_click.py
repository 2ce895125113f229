from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from pipeline.puzzles.answers import Clicked
from pipeline.puzzles.kinds.characters import Character, Characters
from pipeline.puzzles.kinds.text_click import (
    TYPES,
    Alphabet,
    Ascending,
    Coloured,
    Foreign,
    Idiom,
    Inverted,
    Rotated,
    Sized,
    Vowels,
)
from pipeline.puzzles.kinds.text_click_words import idioms, pairs, sayings, script_of, scripts
from pipeline.puzzles.puzzle import LEVELS, PuzzleType
from pipeline.puzzles.scene import Pointer
from tests.puzzle_laws import broken_laws, puzzles


def state(texts: Sequence[str], asked: str = "", **lists: Sequence[Any]) -> Characters:
    """Characters in a row, m0 to mN, with lists of sizes, angles or colours."""
    given = {name.removesuffix("s"): list(values) for name, values in lists.items()}
    return Characters(
        variant=0,
        characters=[
            Character.model_validate(
                {"mark": f"m{number}", "text": text, "spot": (30.0 + 45 * number, 90.0), "size": 34.0}
                | {name: values[number] for name, values in given.items()}
            )
            for number, text in enumerate(texts)
        ],
        meant=[],
        asked=asked,
    )


def found(puzzle_type: PuzzleType[Characters], latent: Characters) -> list[list[str]]:
    return [answer.marks for answer in puzzle_type.solve(latent) if isinstance(answer, Clicked)]


@pytest.mark.parametrize("puzzle_type", TYPES, ids=lambda one: one.name)
def test_every_type_keeps_the_laws(puzzle_type: PuzzleType[Characters]) -> None:
    assert broken_laws(puzzle_type) == []


def test_equal_letters_may_be_clicked_in_either_order() -> None:
    assert found(Alphabet(), state("BAB")) == [["m1", "m0", "m2"], ["m1", "m2", "m0"]]


def test_numbers_go_by_value_not_by_their_digits() -> None:
    assert found(Ascending(), state(["100", "9", "23"])) == [["m1", "m2", "m0"]]


def test_letters_that_look_equally_large_leave_two_orders() -> None:
    assert len(found(Sized(), state("ABC", sizes=[20, 40, 48]))) == 2
    assert found(Sized(), state("ABC", sizes=[52, 20, 40])) == [["m1", "m2", "m0"]]


def test_a_letter_that_is_hardly_tilted_could_be_either() -> None:
    assert found(Rotated(), state("ABC", angles=[-40, 9, 0])) == [["m0"], ["m0", "m1"]]
    assert found(Rotated(), state("ABC", angles=[-40, 40, 0])) == [["m0", "m1"]]


def test_two_letters_on_their_heads_leave_two_answers() -> None:
    assert found(Inverted(), state("AFG", angles=[180, 5, 188])) == [["m0"], ["m2"]]


def test_leftover_tiles_may_not_make_a_second_idiom() -> None:
    assert found(Idiom(), state(["废", "半", "而", "途", "鱼"])) == [["m1", "m3", "m2", "m0"]]
    assert len(found(Idiom(), state(["半", "途", "而", "废", "半"]))) == 2


def test_only_the_one_character_of_another_script_is_foreign() -> None:
    assert found(Foreign(), state("ДRЖ")) == [["m1"]]
    assert found(Foreign(), state("ДR")) == [["m0"], ["m1"]]
    assert found(Foreign(), state("ДRЖS")) == []
    assert found(Foreign(), state("ДR한")) == []


def test_a_colour_is_found_by_its_name_in_either_language() -> None:
    colours = ["#d81f26", "#1d4ed8", "#d81f26"]

    assert found(Coloured(), state("ABC", asked="red", colours=colours)) == [["m0", "m2"]]
    assert found(Coloured(), state("ABC", asked="蓝色", colours=colours)) == [["m1"]]


def test_idioms_and_sayings_are_told_apart_by_their_order_alone() -> None:
    said = [*idioms(), *sayings()]

    assert all(len(set(one)) == len(one) for one in said)
    assert len({tuple(sorted(one)) for one in said}) == len(said)
    assert all(len(one) == 4 for one in idioms())


_ALSO_SAID = (
    *(
        "滴水穿石",
        "蛇影杯弓",
        "尝胆卧薪",
        "北辙南辕",
        "马到功成",
        "一帆顺风",
        "大题小做",
        "打草蛇惊",
        "颖脱而出",
        "虎威狐假",
    ),
    *(
        "止渴望梅",
        "沉舟破釜",
        "还珠买椟",
        "鸡群鹤立",
        "弄斧班门",
        "引玉抛砖",
        "知新温故",
        "楚歌四面",
        "充饥画饼",
        "补牢亡羊",
    ),
    *(
        "起舞闻鸡",
        "偷光凿壁",
        "请罪负荆",
        "待兔守株",
        "茅庐三顾",
        "盗铃掩耳",
        "求剑刻舟",
        "功倍事半",
        "暮四朝三",
        "大愚若智",
    ),
    *("得手应心", "天开异想", "立断当机", "学步邯郸", "一笑置之", "实而不华", "炭送雪中", "花添锦上"),
)
"""Second orders of idioms that are as well known, or are found in dictionaries."""


def test_no_idiom_is_said_in_another_order_too() -> None:
    known = {"".join(sorted(one)) for one in _ALSO_SAID}

    assert not [one for one in idioms() if "".join(sorted(one)) in known]


def test_no_idiom_is_made_of_two_halves_that_change_places() -> None:
    # What holds an idiom together is a word of grammar, or it is one of those that have been looked at.
    looked_at = "叶公好龙 愚公移山 后来居上 草木皆兵 骑虎难下 脚踏实地 恰到好处 熟能生巧"

    loose = ["".join(one) for one in idioms() if not set(one) & set("之而如若不于可其与")]

    assert set(loose) <= set(looked_at.split())


@pytest.mark.parametrize("puzzle_type", TYPES, ids=lambda one: one.name)
def test_whether_a_button_confirms_tells_nothing_of_how_many_are_meant(puzzle_type: PuzzleType[Characters]) -> None:
    controls = {puzzle.scene.control.model_dump_json() for puzzle in puzzles(puzzle_type, 20)}

    assert len(controls) == 1


@pytest.mark.parametrize("puzzle_type", [Vowels(), Rotated(), Coloured()], ids=lambda one: one.name)
def test_what_asks_for_all_of_something_is_confirmed_though_it_is_one(puzzle_type: PuzzleType[Characters]) -> None:
    alone = [one for one in puzzles(puzzle_type, 20) if len(one.state.meant) == 1]  # type: ignore[attr-defined]

    assert alone
    assert all(isinstance(one.scene.control, Pointer) and not one.scene.control.single for one in alone)


def test_every_script_that_is_paired_knows_its_characters() -> None:
    assert all(script_of(letter) == name for name, letters in scripts().items() for letter in letters)
    assert {name for level in LEVELS for pair in pairs(level) for name in pair} <= scripts().keys()


def test_letters_on_their_heads_are_no_letters_again() -> None:
    shown = {one.text for puzzle in puzzles(Inverted()) for one in puzzle.state.characters}  # type: ignore[attr-defined]

    assert not shown & set("HINOSXZMWPBDUCE")
