"""Puzzles of solids that are made of cubes: which one is the same, turned."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from random import Random
from typing import Any, ClassVar

from pipeline.puzzles.answers import Answer, Clicked, rectangle
from pipeline.puzzles.art import panel, shuffled_marks
from pipeline.puzzles.kinds.isometric import SIDES, Vector, flipped, moved, parts_seen, shape, solid, turns
from pipeline.puzzles.kinds.reasoning import OptionPuzzle, Options, tiles
from pipeline.puzzles.puzzle import Language, Level, PuzzleType
from pipeline.puzzles.scene import Scene


class Solids(Options):
    """Cubes of a solid, and those of the solid on each tile."""

    solid: list[Vector]
    options: list[list[Vector]]


_ENOUGH = 3
"""So many sixths of a cube must be seen, that nobody overlooks it."""


class RotateSolid(OptionPuzzle[Solids]):
    """Click the solid that is the same, turned."""

    name: ClassVar[str] = "vr_rotate_solid"

    def draw(self, rng: Random, level: Level, language: Language) -> Solids:
        """Solids of five to seven cubes; wrong ones have one cube elsewhere, and a hard one is the mirror's image."""
        cubes = _grown(rng, 4 + level)
        first = _shown(rng, cubes, [])
        solids = [cubes, flipped(cubes)] if level == 3 else [cubes]
        differ = len({shape(one) for one in solids}) == len(solids)
        while first and differ and len(solids) < 3 + (level > 1):
            solids.append(_unlike(rng, solids))
        options = [_shown(rng, one, first) for one in solids]
        marks = shuffled_marks(rng, len(options))
        order = rng.sample(range(len(options)), len(options))
        return Solids(
            variant=rng.randrange(10_000),
            marks=[marks[place] for place in order],
            meant=marks[0],
            solid=first,
            options=[options[place] for place in order],
        )

    def solve(self, state: Solids) -> Iterator[Answer]:
        """Each solid that some turn makes of the first one, or any when one is not seen well enough."""
        if not state.solid or not all(state.options):
            return  # one of them cannot be shown
        hidden = any(min(parts_seen(one).values()) < _ENOUGH for one in (state.solid, *state.options))
        for name, one in zip(state.marks, state.options, strict=True):
            if hidden or shape(one) == shape(state.solid):
                yield Clicked(marks=[name])

    def scene(self, state: Solids, language: Language) -> Scene:
        """The first solid above, the others on tiles."""
        regions = tiles(state.marks, 112, 108, len(state.marks))
        room = regions[state.marks[0]].edges[2] - regions[state.marks[0]].edges[0] - 10
        drawn = [
            solid(one, regions[name].centre, min(room, 84), 22)
            for name, one in zip(state.marks, state.options, strict=True)
        ]
        above = panel(rectangle(100, 6, 120, 106), "#fffbeb") + solid(state.solid, (160, 59), 94, 26)
        return self.picked(state, language, regions, drawn, height=222, above=above)


def _grown(rng: Random, count: int) -> list[Vector]:
    cubes: list[Vector] = [(0, 0, 0)]
    while len(cubes) < count:
        cubes.append(rng.choice(_beside(cubes)))
    return cubes


def _beside(cubes: Sequence[Vector]) -> list[Vector]:
    """The free places at the sides of cubes."""
    steps = [out for out, *_ in SIDES.values()]
    places = [(x + a * s, y + b * s, z + c * s) for x, y, z in cubes for a, b, c in steps for s in (1, -1)]
    return [place for place in places if place not in cubes]


def _connected(cubes: Sequence[Vector]) -> bool:
    reached = [cubes[0]]
    while near := [cube for cube in _beside(reached) if cube in cubes]:
        reached += dict.fromkeys(near)
    return len(reached) == len(cubes)


def _unlike(rng: Random, solids: Sequence[list[Vector]]) -> list[Vector]:
    """The first solid with one cube elsewhere, so that it is none of those and none of their mirror's images."""
    known = {shape(one) for one in solids} | {shape(flipped(one)) for one in solids}
    while True:
        other = list(solids[0])
        other.remove(rng.choice(other))
        other.append(rng.choice(_beside(other)))
        if _connected(other) and shape(other) not in known and _shown(rng, other, []):
            return other


def _shown(rng: Random, cubes: Sequence[Vector], unlike: Sequence[Vector]) -> list[Vector]:
    """A solid turned so that all its cubes are seen, other than another one; nothing when that cannot be."""
    ways = (moved(cubes, turn) for turn in rng.sample(turns(), 24))
    return next((way for way in ways if way != unlike and min(parts_seen(way).values()) >= _ENOUGH), [])


TYPES: tuple[PuzzleType[Any], ...] = (RotateSolid(),)
