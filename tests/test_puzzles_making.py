"""Datasets of puzzles: what is written, what is left out, and what is finished later."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from pipeline.check import check
from pipeline.dataset import Dataset
from pipeline.errors import ConfigError, RunError
from pipeline.puzzle_rows import PuzzleRow
from pipeline.puzzles import making
from pipeline.puzzles.answers import Clicked
from pipeline.puzzles.catalog import TYPES as ALL_TYPES
from pipeline.puzzles.making import Made, Order, held_out_types, make, split_of
from pipeline.puzzles.puzzle import Key, Puzzle, PuzzleError
from pipeline.puzzles.serving import puzzle_of
from pipeline.puzzles.showing import holds_puzzles, puzzle_gallery
from pipeline.structs import Box
from tests.datasets import attempt, collected

pytestmark = [pytest.mark.slow, pytest.mark.timeout(300)]

TYPES = ["oc_checkbox", "ocr_plain", "sl_gap", "tc_vowel"]
ORDER = Order(puzzles=8, seed=3, types=TYPES)


def unheard(_: Made) -> None:
    """How far it has come is of no interest here."""


def rows_of(folder: Path) -> list[PuzzleRow]:
    return sorted(Dataset(folder).rows(PuzzleRow), key=lambda row: row.number)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A dataset of two puzzles of each of four types."""
    made = tmp_path_factory.mktemp("puzzles") / "data"
    asyncio.run(make(made, ORDER, unheard))
    return made


def test_a_dataset_is_sound_and_has_every_type_equally_often(folder: Path) -> None:
    rows = rows_of(folder)

    assert check(folder) == []
    assert sorted(row.type for row in rows) == sorted(TYPES * 2)
    assert {row.refused for row in rows} == {1}


def test_every_move_points_into_its_target(folder: Path) -> None:
    for row in rows_of(folder):
        for move in row.moves:
            if move.target is not None and move.point is not None:
                x, y = (move.point.x + 0.5) * row.width / 1000, (move.point.y + 0.5) * row.height / 1000
                assert move.target.left <= x < move.target.right and move.target.top <= y < move.target.bottom


async def test_the_same_order_makes_the_same_rows(folder: Path, tmp_path: Path) -> None:
    await make(tmp_path / "again", ORDER, unheard)

    assert rows_of(tmp_path / "again") == rows_of(folder)


async def test_a_folder_left_half_way_is_finished(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(making, "_PER_BATCH", 3)

    def stopped(made: Made) -> None:
        if made.puzzles >= 3:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        await make(tmp_path / "half", ORDER, stopped)
    assert len(rows_of(tmp_path / "half")) == 3

    await make(tmp_path / "half", ORDER, unheard)

    assert rows_of(tmp_path / "half") == rows_of(folder)
    assert check(tmp_path / "half") == []


async def test_another_order_is_not_mixed_in(folder: Path) -> None:
    with pytest.raises(ConfigError, match="holds something else"):
        await make(folder, ORDER.model_copy(update={"seed": 4}), unheard)


async def test_puzzles_that_take_a_wrong_answer_are_never_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Clicked, "fits", lambda *_: True)

    with pytest.raises(RunError, match="a wrong answer is taken"):
        await make(tmp_path / "data", Order(puzzles=6, seed=0, types=["tc_vowel"]), unheard)

    assert rows_of(tmp_path / "data") == []


async def test_beyond_the_end_of_its_track_a_handle_stays_at_the_end(tmp_path: Path) -> None:
    await make(tmp_path / "data", Order(puzzles=4, seed=3, types=["sl_unlock"], level=3), unheard)

    assert check(tmp_path / "data") == []
    for row in rows_of(tmp_path / "data"):
        target = row.moves[0].end_target
        assert target is not None
        assert target.right == row.width


async def test_a_row_that_would_contradict_itself_is_never_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(making, "_target", lambda *_: Box(left=0, top=0, right=1, bottom=1))

    with pytest.raises(RunError, match="move 0 lies outside of its target"):
        await make(tmp_path / "data", Order(puzzles=6, seed=0, types=["tc_vowel"]), unheard)

    assert rows_of(tmp_path / "data") == []


async def test_a_puzzle_that_cannot_be_drawn_is_left_out_and_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = making._ticket(ORDER, 0).key

    def drawn(key: Key) -> Puzzle:
        if key == first:
            raise PuzzleError("it has two answers")
        return puzzle_of(key)

    monkeypatch.setattr(making, "puzzle_of", drawn)

    made = await make(tmp_path / "data", ORDER, unheard)

    assert made.left_out == [f"{first.type_name} seed={first.seed}: it has two answers"]
    assert len(rows_of(tmp_path / "data")) == ORDER.puzzles


async def test_a_button_that_is_off_at_first_is_off_in_the_picture(tmp_path: Path) -> None:
    order = Order(puzzles=6, seed=3, types=["oc_wait"], level=1)
    await make(tmp_path / "data", order, unheard)
    await make(tmp_path / "again", order, unheard)

    assert [row.moves[0].type for row in rows_of(tmp_path / "data")] == ["Wait"] * 6
    assert rows_of(tmp_path / "again") == rows_of(tmp_path / "data")


def test_the_gallery_shows_each_type_with_its_answer(folder: Path) -> None:
    page = puzzle_gallery(folder, 4)

    assert page.count('<section class="plate') == 4
    for name in TYPES:
        assert f"<h3>{name}: " in page
    assert "http" not in page.replace("http://www.w3.org", "")


def test_a_dataset_without_puzzles_is_not_taken_for_one(folder: Path, tmp_path: Path) -> None:
    collected(tmp_path / "run", [attempt("t1")], [])

    assert (holds_puzzles(folder), holds_puzzles(tmp_path / "run")) == (True, False)


def test_whole_types_are_held_out() -> None:
    splits = {split_of(Key("sl_gap", seed, 1, "en")) for seed in range(200)}
    held_out = {name for name in ALL_TYPES if {split_of(Key(name, seed, 1, "en")) for seed in range(30)} == {"test"}}

    assert splits == {"train", "test"}
    assert held_out == held_out_types()
    assert {ALL_TYPES[name].kind for name in held_out} == {one.kind for one in ALL_TYPES.values()}
    assert len(held_out) < len(ALL_TYPES) / 7
