"""What holds for every type of puzzle, over seeds, levels and languages."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations
from random import Random
from typing import Any

from pipeline.puzzles.answers import SHIFT_ERROR, Region
from pipeline.puzzles.puzzle import LANGUAGES, LEVELS, Level, Puzzle, PuzzleType, make_puzzle
from pipeline.puzzles.scene import SMALLEST_MARK, WIDTH, Sliders


def puzzles(puzzle_type: PuzzleType[Any], seeds: int = 20) -> Iterator[Puzzle]:
    """One puzzle for every seed, level and language."""
    for seed in range(seeds):
        for level in LEVELS:
            for language in LANGUAGES:
                yield make_puzzle(puzzle_type, seed, level, language)


_ROUNDED = 2.0
"""Units by which canonical points may miss a shift, on the smallest art of the web."""


def levels_alike(puzzle_type: PuzzleType[Any], seeds: int = 20) -> list[tuple[int, Level, Level]]:
    """Seeds from which two levels draw the same state; none, if every level is harder than the one before."""
    return [
        (seed, one, other)
        for seed in range(seeds)
        for one, other in combinations(LEVELS, 2)
        if puzzle_type.draw(Random(seed), one, "en") == puzzle_type.draw(Random(seed), other, "en")
    ]


def broken_laws(puzzle_type: PuzzleType[Any]) -> list[str]:
    """What a type breaks; nothing, if it is sound."""
    return [
        f"{puzzle.key}: {law}"
        for puzzle in puzzles(puzzle_type)
        for law, holds in {
            "has one answer": list(puzzle_type.solve(puzzle.state)) == [puzzle.scene.answer],
            "survives JSON": type(puzzle.state).model_validate_json(puzzle.state.model_dump_json()) == puzzle.state,
            "is the same again": make_puzzle(puzzle_type, *puzzle.key[1:]) == puzzle,
            "has marks that are inside, large enough and apart": _marked(puzzle),
            "has handles that can be drawn so far": _slidable(puzzle),
            "takes what canonical points can name, and no more than a twentieth": _ranged(puzzle),
            "asks without a slot left": "{" not in puzzle.scene.ask,
        }.items()
        if not holds
    ]


def _marked(puzzle: Puzzle) -> bool:
    regions = list(puzzle.scene.marks.values())
    inside = all(
        left >= 0 and top >= 0 and right <= WIDTH and bottom <= puzzle.scene.height
        for left, top, right, bottom in (region.edges for region in regions)
    )
    large = all(
        right - left >= SMALLEST_MARK and bottom - top >= SMALLEST_MARK
        for left, top, right, bottom in (region.edges for region in regions)
    )
    return inside and large and all(_apart(one, other) for one, other in combinations(regions, 2))


def _apart(one: Region, other: Region) -> bool:
    (left, top, right, bottom), (left_2, top_2, right_2, bottom_2) = one.edges, other.edges
    return right <= left_2 or right_2 <= left or bottom <= top_2 or bottom_2 <= top


def _slidable(puzzle: Puzzle) -> bool:
    control, answer = puzzle.scene.control, puzzle.scene.answer
    if not isinstance(control, Sliders) or answer.kind != "slid":
        return True
    reach: dict[str, float] = {handle.name: handle.reach for handle in control.handles}
    return all(
        shift == round(shift) and shift >= 70 and (shift <= 0.95 * reach[name] or shift == reach[name])
        for name, shift in answer.shifts.items()
    )


def _ranged(puzzle: Puzzle) -> bool:
    control, answer = puzzle.scene.control, puzzle.scene.answer
    if not isinstance(control, Sliders) or answer.kind != "slid":
        return True
    reach: dict[str, float] = {handle.name: handle.reach for handle in control.handles}
    for name, shift in answer.shifts.items():
        low, high = answer.range_of(name)
        if low > shift - _ROUNDED or high < min(shift + _ROUNDED, reach[name]):
            return False
        strays = max(shift - low, high - shift) > SHIFT_ERROR * shift + 0.01
        if strays and puzzle.key.type_name != "sl_select_frame":  # there only what is shown counts
            return False
    return True
