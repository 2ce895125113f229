from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from pipeline.puzzles.answers import Given, Ground, Typed
from pipeline.puzzles.kinds import ocr, ocr_lines
from pipeline.puzzles.kinds.ocr import Arithmetic, Letter, OneColour, Plain, Written, readings
from pipeline.puzzles.kinds.ocr_lines import Commonsense, Lines, WordSum, wrapped
from pipeline.puzzles.kinds.ocr_texts import bank, hanzi, spelled
from pipeline.puzzles.puzzle import LANGUAGES, Language, PuzzleType, make_puzzle
from pipeline.puzzles.scene import WIDTH
from tests.puzzle_laws import broken_laws, puzzles


def written(texts: Sequence[str], asked: str = "", colours: Sequence[str] = ()) -> Written:
    letters = [
        Letter(text=text, spot=(30.0 + 40 * place, 50.0), size=30.0, colour=colours[place] if colours else "#000000")
        for place, text in enumerate(texts)
    ]
    return Written(variant=0, letters=letters[::-1], meant="", asked=asked)


def lines(*said: str) -> Lines:
    return Lines(variant=0, lines=list(said), meant=["?"])


def found(puzzle_type: PuzzleType[Any], state: Written | Lines) -> list[str]:
    return [answer.accepted[0] for answer in puzzle_type.solve(state) if isinstance(answer, Typed)]


@pytest.mark.parametrize("puzzle_type", (*ocr.TYPES, *ocr_lines.TYPES), ids=lambda one: one.name)
def test_every_type_keeps_the_laws(puzzle_type: PuzzleType[Any]) -> None:
    assert broken_laws(puzzle_type) == []


@pytest.mark.parametrize("puzzle_type", ocr.TYPES, ids=lambda one: one.name)
def test_letters_stay_in_the_picture(puzzle_type: PuzzleType[Written]) -> None:
    spots = [one for puzzle in puzzles(puzzle_type) for one in puzzle.state.letters]  # type: ignore[attr-defined]

    assert all(one.size * 0.4 <= one.spot[0] <= WIDTH - one.size * 0.4 for one in spots)


def test_letters_are_read_from_left_to_right() -> None:
    assert found(Plain(), written("TA4")) == ["TA4"]


def test_what_could_be_read_in_two_ways_has_two_answers() -> None:
    assert found(Plain(), written("A8")) == ["A8", "AB"]
    assert list(readings("未来")) == ["未来", "末来"]


def test_only_letters_of_the_asked_colour_are_typed() -> None:
    state = written("ADT", asked="green", colours=["#148a3b", "#d81f26", "#148a3b"])

    assert found(OneColour(), state) == ["AT"]


def test_a_sum_that_depends_on_what_is_done_first_has_two_answers() -> None:
    assert found(Arithmetic(), written([*"4+3×5=?"])) == ["19", "35"]
    assert found(Arithmetic(), written([*"4×3+5=?"])) == ["17"]


def test_a_sum_below_zero_has_no_answer() -> None:
    assert found(Arithmetic(), written([*"4−9=?"])) == []


@pytest.mark.parametrize(
    ("said", "total"),
    [
        (["twenty-three", "plus thirty-nine"], "62"),
        (["七十八", "加六十七", "减四十五"], "100"),
        (["十", "减十"], "0"),
    ],
)
def test_sums_in_words_are_worked_out(said: list[str], total: str) -> None:
    assert found(WordSum(), lines(*said)) == [total]


@pytest.mark.parametrize(("number", "en", "zh"), [(0, "zero", "零"), (14, "fourteen", "十四"), (90, "ninety", "九十")])
def test_numbers_are_spelled(number: int, en: str, zh: str) -> None:
    assert (spelled(number, "en"), spelled(number, "zh")) == (en, zh)


@pytest.mark.parametrize("language", LANGUAGES)
def test_no_question_stands_in_the_bank_twice(language: Language) -> None:
    questions = [question for question, _ in bank(language)]

    assert len(set(questions)) == len(questions) >= 45


def test_a_question_is_found_however_its_lines_are_broken() -> None:
    assert found(Commonsense(), lines("Which day comes right", "after Sunday?")) == ["Monday"]
    assert found(Commonsense(), lines("星期日的后一天", "是星期几？")) == ["星期一"]


def test_every_form_of_an_answer_is_accepted() -> None:
    accepted = next(answers for question, answers in bank("en") if "spider" in question)

    assert all(Typed(accepted=accepted).fits(Given(text=text), Ground({})) for text in ("8", " eight ", "Eight"))


def test_no_common_character_is_taken_for_another() -> None:
    assert list(readings(hanzi())) == [hanzi()]
    assert len(set(hanzi())) == len(hanzi())


def test_lines_are_of_about_equal_length() -> None:
    assert wrapped("how many legs does a spider have", 20) == ["how many legs does", "a spider have"]
    assert wrapped("一只蜘蛛有几条腿", 5) == ["一只蜘蛛", "有几条腿"]


def test_the_word_of_a_puzzle_is_nowhere_in_what_the_page_asks() -> None:
    for puzzle in puzzles(Plain()):
        assert puzzle.scene.answer.accepted[0] not in puzzle.scene.ask  # type: ignore[union-attr]


def test_small_letters_occur_where_it_is_hard() -> None:
    texts = [make_puzzle(Plain(), seed, 3, "en").scene.answer.accepted[0] for seed in range(20)]  # type: ignore[union-attr]

    assert any(letter.islower() for text in texts for letter in text)


@pytest.mark.parametrize(
    ("question", "answers"),
    [
        ("“田”字一共有几画？", ["5", "五"]),
        ("星期六的后一天是星期几？", ["星期日", "礼拜日", "礼拜天"]),
        ("Which word does not belong: apple, pear, hammer?", ["hammer", "a hammer"]),
        ("What is half of 50?", ["25", "twenty-five", "twenty five"]),
    ],
)
def test_a_question_takes_every_usual_form_of_its_answer(question: str, answers: list[str]) -> None:
    accepted = dict([*bank("en"), *bank("zh")])[question]

    assert set(answers) <= set(accepted)


def test_no_line_begins_with_a_mark_that_closes_what_stands_before() -> None:
    for question, _ in bank("zh"):
        assert not [line for line in wrapped(question, 13) if line[0] in "、，。：；？！”’）》"]
