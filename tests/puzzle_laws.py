"""What holds for every type of puzzle, over seeds, levels and languages."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations
from typing import Any

from pipeline.puzzles.answers import Region
from pipeline.puzzles.puzzle import LANGUAGES, LEVELS, Puzzle, PuzzleType, make_puzzle
from pipeline.puzzles.scene import SMALLEST_MARK, WIDTH, Sliders


def puzzles(puzzle_type: PuzzleType[Any], seeds: int = 6) -> Iterator[Puzzle]:
    """One puzzle for every seed, level and language."""
    for seed in range(seeds):
        for level in LEVELS:
            for language in LANGUAGES:
                yield make_puzzle(puzzle_type, seed, level, language)


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
