"""Puzzles that are counted and compared: dice, darts, holes."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from itertools import combinations
from random import Random
from typing import Any, ClassVar

from pipeline.actions import Model
from pipeline.puzzles.answers import Answer, Clicked, Spot
from pipeline.puzzles.art import glyph, shuffled_marks
from pipeline.puzzles.icons import PAINTS
from pipeline.puzzles.kinds.reasoning import DARK, OptionPuzzle, Options, die_face, tiles
from pipeline.puzzles.puzzle import Language, Level, PuzzleType
from pipeline.puzzles.scene import Scene

_DIE_COLOURS = ("#ffffff", "#dc2626", "#2563eb", "#15803d", "#7c3aed")


class DiceSums(Options):
    """The dice of each picture, and the sum that is asked for."""

    dice: list[list[int]]
    asked: int


class DiceSum(OptionPuzzle[DiceSums]):
    """Click the picture whose dice have a sum."""

    name: ClassVar[str] = "vr_dice_sum"

    def draw(self, rng: Random, level: Level, language: Language) -> DiceSums:
        """Four to six pictures with two to four dice each."""
        dice = [[rng.randint(1, 6) for _ in range(1 + level)] for _ in range(3 + level)]
        marks = shuffled_marks(rng, len(dice))
        chosen = rng.randrange(len(dice))
        return DiceSums(
            variant=rng.randrange(10_000), marks=marks, meant=marks[chosen], dice=dice, asked=sum(dice[chosen])
        )

    def solve(self, state: DiceSums) -> Iterator[Answer]:
        """Each picture with this sum."""
        for name, dice in zip(state.marks, state.dice, strict=True):
            if sum(dice) == state.asked:
                yield Clicked(marks=[name])

    def scene(self, state: DiceSums, language: Language) -> Scene:
        """Two rows of tiles, with two dice in each of their rows."""
        rng = Random(f"dice {state.variant}")
        height = 220.0
        regions = tiles(state.marks, 0, height, (len(state.marks) + 1) // 2)
        drawn = []
        for name, dice in zip(state.marks, state.dice, strict=True):
            x, y = regions[name].centre
            rows = math.ceil(len(dice) / 2)
            spots = [(x - 19 + 38 * (place % 2), y - 19 * (rows - 1) + 38 * (place // 2)) for place in range(len(dice))]
            drawn.append(
                "".join(
                    die_face(spot, 28, pips, rng.choice(_DIE_COLOURS), rng.randint(-12, 12))
                    for spot, pips in zip(spots, dice, strict=True)
                )
            )
        return self.picked(state, language, regions, drawn, height=height, asked=state.asked)


_RINGS = ((14.0, 10, "#dc2626"), (29.0, 5, "#fde68a"), (44.0, 2, "#93c5fd"))
"""Rings of a board, from the middle: outer radius in units, points, colour."""


class Dart(Model):
    """Where a dart sticks, from the middle of its board."""

    across: float
    down: float

    @property
    def points(self) -> int:
        """What the ring counts that it sticks in; nothing outside."""
        far = math.hypot(self.across, self.down)
        return next((points for radius, points, _ in _RINGS if far < radius), 0)


class DartSums(Options):
    """The darts on each board, and the sum that is asked for."""

    darts: list[list[Dart]]
    asked: int


class DartSum(OptionPuzzle[DartSums]):
    """Click the board whose darts have a sum."""

    name: ClassVar[str] = "vr_dart_sum"

    def draw(self, rng: Random, level: Level, language: Language) -> DartSums:
        """Three to six boards with two to four darts each, none of them on a line."""
        boards = [self._board(rng, 1 + level) for _ in range((3, 4, 6)[level - 1])]
        marks = shuffled_marks(rng, len(boards))
        chosen = rng.randrange(len(boards))
        return DartSums(
            variant=rng.randrange(10_000),
            marks=marks,
            meant=marks[chosen],
            darts=boards,
            asked=sum(dart.points for dart in boards[chosen]),
        )

    def _board(self, rng: Random, count: int) -> list[Dart]:
        darts: list[Dart] = []
        while len(darts) < count:
            inner, outer = rng.choice(((0.0, 9.0), (19.0, 24.0), (34.0, 39.0)))
            far, turn = rng.uniform(inner, outer), rng.uniform(0, math.tau)
            dart = Dart(across=round(far * math.cos(turn), 1), down=round(far * math.sin(turn), 1))
            if all(math.dist((dart.across, dart.down), (other.across, other.down)) >= 11 for other in darts):
                darts.append(dart)
        return darts

    def solve(self, state: DartSums) -> Iterator[Answer]:
        """Each board with this sum."""
        for name, darts in zip(state.marks, state.darts, strict=True):
            if sum(dart.points for dart in darts) == state.asked:
                yield Clicked(marks=[name])

    def scene(self, state: DartSums, language: Language) -> Scene:
        """What the rings count, and the boards below."""
        columns = 2 if len(state.marks) == 4 else 3
        rows = math.ceil(len(state.marks) / columns)
        height = 34.0 + 106.0 * rows
        regions = tiles(state.marks, 30, height - 30, columns)
        drawn = [
            _board_drawn(regions[name].centre, darts) for name, darts in zip(state.marks, state.darts, strict=True)
        ]
        legend = "".join(
            f'<circle cx="{92 + 56 * place}" cy="20" r="9" fill="{colour}" stroke="{DARK}" stroke-width="1"/>'
            + glyph(str(points), (113 + 56 * place, 20), 16, fill=DARK)
            for place, (_, points, colour) in enumerate(_RINGS)
        )
        return self.picked(state, language, regions, drawn, height=height, above=legend, asked=state.asked)


def _board_drawn(spot: Spot, darts: Sequence[Dart]) -> str:
    x, y = spot
    rings = "".join(
        f'<circle cx="{x:g}" cy="{y:g}" r="{radius:g}" fill="{colour}" stroke="{DARK}" stroke-width="1"/>'
        for radius, _, colour in reversed(_RINGS)
    )
    stuck = "".join(
        f'<circle cx="{x + dart.across:g}" cy="{y + dart.down:g}" r="3.6" fill="{DARK}" stroke="#ffffff" '
        'stroke-width="1.4"/>'
        for dart in darts
    )
    return rings + stuck


class Disc(Model):
    """A round piece that is cut out of a plate, from the middle of the plate."""

    across: float
    down: float
    radius: float

    def gap(self, other: Disc) -> float:
        """How far apart two pieces are; below zero where they overlap."""
        return math.hypot(self.across - other.across, self.down - other.down) - self.radius - other.radius


_PLATE = 38.0
"""Radius of a plate with holes."""


def holes(cuts: Sequence[Disc]) -> list[int]:
    """How many holes a plate may be said to have: several where pieces touch each other or nearly reach its edge.

    What reaches over the edge makes no hole.
    """
    edge = [_PLATE - math.hypot(cut.across, cut.down) - cut.radius for cut in cuts]
    gaps = [one.gap(other) for one, other in combinations(cuts, 2)]
    if any(far < 3 for far in gaps) or any(-2 < far < 3 for far in edge):
        return [len(cuts), len(cuts) - 1]
    return [sum(far > 0 for far in edge)]


class Plates(Options):
    """What is cut out of each plate, and the number of holes that is asked for."""

    cuts: list[list[Disc]]
    asked: int


class HoleCount(OptionPuzzle[Plates]):
    """Click the plate with so many holes; bites out of its edge are none."""

    name: ClassVar[str] = "vr_hole_count"

    def draw(self, rng: Random, level: Level, language: Language) -> Plates:
        """Four to six plates with up to five pieces cut out; the harder it is, the more bites."""
        plates = [self._cuts(rng, level) for _ in range(3 + level)]
        marks = shuffled_marks(rng, len(plates))
        counts = [holes(cuts)[0] for cuts in plates]
        chosen = counts.index(min(counts, key=lambda count: (counts.count(count), rng.random())))
        asked = counts[chosen]
        return Plates(variant=rng.randrange(10_000), marks=marks, meant=marks[chosen], cuts=plates, asked=asked)

    def _cuts(self, rng: Random, level: Level) -> list[Disc]:
        cuts: list[Disc] = []
        wanted = rng.randint(1, 2 + level)
        for _ in range(30):
            if len(cuts) == wanted:
                break
            far = _PLATE if rng.random() < 0.12 * (level + 1) else rng.uniform(0, 26)
            turn = rng.uniform(0, math.tau)
            cut = Disc(
                across=round(far * math.cos(turn), 1),
                down=round(far * math.sin(turn), 1),
                radius=round(rng.uniform(5, 8), 1),
            )
            if all(cut.gap(other) >= 3.5 for other in cuts):
                cuts.append(cut)
        return cuts

    def solve(self, state: Plates) -> Iterator[Answer]:
        """Each plate that may be said to have so many."""
        for name, cuts in zip(state.marks, state.cuts, strict=True):
            if state.asked > 0 and state.asked in holes(cuts):
                yield Clicked(marks=[name])

    def scene(self, state: Plates, language: Language) -> Scene:
        """Plates in colours on white tiles; what is cut out is as white as they are."""
        rng = Random(f"plates {state.variant}")
        columns = (len(state.marks) + 1) // 2
        regions = tiles(state.marks, 0, 210, columns)
        drawn = []
        for name, cuts in zip(state.marks, state.cuts, strict=True):
            x, y = regions[name].centre
            pieces = "".join(
                f'<circle cx="{x + cut.across:g}" cy="{y + cut.down:g}" r="{cut.radius:g}" fill="#ffffff"/>'
                for cut in cuts
            )
            fill = rng.choice(PAINTS).main
            drawn.append(f'<circle cx="{x:g}" cy="{y:g}" r="{_PLATE:g}" fill="{fill}"/>{pieces}')
        return self.picked(state, language, regions, drawn, height=210, asked=state.asked)


TYPES: tuple[PuzzleType[Any], ...] = (DiceSum(), DartSum(), HoleCount())
