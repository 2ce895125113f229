"""Puzzles in which a marker is drawn to a place of a grid."""

from __future__ import annotations

import math
from collections.abc import Iterator
from random import Random
from typing import Any, ClassVar, Literal

from pipeline.puzzles.answers import Answer, Dropped, Spot, around
from pipeline.puzzles.art import INKS, glyph, mark, paper
from pipeline.puzzles.kinds.dragging import BRIGHT, DragPuzzle, names, token, tray
from pipeline.puzzles.puzzle import Language, Level, PuzzleType, State
from pipeline.puzzles.scene import WIDTH, Items, Scene


class Grid(State):
    """A grid whose columns have letters and whose rows have numbers; the names of its cells, row by row."""

    letters: str
    rows: int
    upward: bool
    """Whether the rows are counted from the bottom."""
    cells: list[str]
    asked: str
    meant: str
    start: Spot


class Coordinates(DragPuzzle[Grid]):
    """Drag a marker to the cell that is named."""

    name: ClassVar[str] = "dr_coordinates"
    _SIZES: ClassVar[dict[int, tuple[int, float]]] = {4: (3, 46.0), 6: (4, 40.0), 8: (5, 34.0)}
    """For so many columns, how many rows, and the side of a cell."""
    _TOP: ClassVar[float] = 26.0

    def draw(self, rng: Random, level: Level, language: Language) -> Grid:
        """4 x 3 to 8 x 5 cells; counted from the bottom on the highest level."""
        columns = 2 + 2 * level
        rows, _ = self._SIZES[columns]
        letters = "ABCDEFGH"[:columns]
        cells = names(rng, columns * rows)
        column, row = rng.randrange(columns), rng.randrange(rows)
        upward = level == 3
        return Grid(
            variant=rng.randrange(10_000),
            letters=letters,
            rows=rows,
            upward=upward,
            cells=cells,
            asked=f"{letters[column]}{rows - row if upward else row + 1}",
            meant=cells[row * columns + column],
            start=(float(rng.randrange(40, 281)), self._bottom(columns) + 26),
        )

    def solve(self, state: Grid) -> Iterator[Answer]:
        """All cells with the name that is asked for."""
        for number, cell in enumerate(state.cells):
            row, column = divmod(number, len(state.letters))
            if f"{state.letters[column]}{self._counted(state, row)}" == state.asked:
                yield Dropped(rests={"p0": cell})

    def scene(self, state: Grid, language: Language) -> Scene:
        """The marker in a tray below the grid."""
        _, side = self._SIZES[len(state.letters)]
        left = (WIDTH - side * len(state.letters)) / 2 + 8
        colour = BRIGHT[state.variant % len(BRIGHT)]
        spots = [
            (left + side * (number % len(state.letters) + 0.5), self._TOP + side * (number // len(state.letters) + 0.5))
            for number in range(len(state.cells))
        ]
        tints = ("#ffffff", "#eef2f7")
        cells = [
            mark(
                cell,
                f'<rect x="{x - side / 2 + 1:g}" y="{y - side / 2 + 1:g}" width="{side - 2:g}" height="{side - 2:g}" '
                f'rx="4" fill="{tints[(number + number // len(state.letters)) % 2]}" stroke="#94a3b8"/>',
            )
            for number, (cell, (x, y)) in enumerate(zip(state.cells, spots, strict=True))
        ]
        heads = [
            glyph(letter, (left + side * (number + 0.5), self._TOP - 10), 15.0)
            for number, letter in enumerate(state.letters)
        ]
        sides = [
            glyph(str(self._counted(state, row)), (left - 11, self._TOP + side * (row + 0.5)), 15.0)
            for row in range(state.rows)
        ]
        bottom = self._bottom(len(state.letters))
        height = bottom + 52
        return Scene(
            ask=self.ask(state, language, cell=state.asked),
            art="".join(
                (
                    paper(state.variant, height),
                    tray(bottom + 4, 44),
                    *heads,
                    *sides,
                    *cells,
                    token("p0", state.start, colour),
                )
            ),
            height=height,
            control=Items(spots={"p0": state.start}),
            answer=Dropped(rests={"p0": state.meant}),
            marks={cell: around(spot, side - 2) for cell, spot in zip(state.cells, spots, strict=True)},
        )

    def _counted(self, state: Grid, row: int) -> int:
        return state.rows - row if state.upward else row + 1

    def _bottom(self, columns: int) -> float:
        rows, side = self._SIZES[columns]
        return self._TOP + rows * side


Axis = Literal["upright", "flat", "falling", "rising"]
"""Across = at, down = at, down = across - at, down = at - across."""
Place = tuple[int, int]


class Lattice(State):
    """Places in columns and rows with a mirror between them, and a marker on one; their names, row by row."""

    columns: int
    rows: int
    places: list[str]
    axis: Axis
    at: float
    stands: Place
    meant: str


class Mirror(DragPuzzle[Lattice]):
    """Drag a marker to its mirror image."""

    name: ClassVar[str] = "dr_mirror"
    _STEP: ClassVar[float] = 34.0
    _SIZES: ClassVar[dict[Level, tuple[int, int]]] = {1: (7, 4), 2: (8, 5), 3: (9, 6)}

    def draw(self, rng: Random, level: Level, language: Language) -> Lattice:
        """A mirror that stands; then one that stands or lies; then a slanting one."""
        columns, rows = self._SIZES[level]
        axes: dict[Level, tuple[Axis, ...]] = {1: ("upright",), 2: ("upright", "flat"), 3: ("falling", "rising")}
        axis = rng.choice(axes[level])
        middle = {"upright": columns - 1, "flat": rows - 1, "falling": columns - rows, "rising": columns + rows - 2}
        at = float(middle[axis] / 2 + rng.randint(-1, 1) / 2)
        if level == 3:
            at = float(round(at) + rng.randint(-1, 1))
        places = names(rng, columns * rows)
        stands = (rng.randrange(columns), rng.randrange(rows))
        column, row = _mirrored(stands, axis, at)
        inside = 0 <= column < columns and 0 <= row < rows
        return Lattice(
            variant=rng.randrange(10_000),
            columns=columns,
            rows=rows,
            places=places,
            axis=axis,
            at=at,
            stands=stands,
            meant=places[int(row * columns + column)] if inside else "",
        )

    def solve(self, state: Lattice) -> Iterator[Answer]:
        """All places that the mirror turns into the marker's, if this is off the mirror by more than a step."""
        for number, name in enumerate(state.places):
            row, column = divmod(number, state.columns)
            far = abs(column - state.stands[0]) + abs(row - state.stands[1]) > 1
            if far and math.dist(_mirrored((column, row), state.axis, state.at), state.stands) < 0.01:
                yield Dropped(rests={"p0": name})

    def scene(self, state: Lattice, language: Language) -> Scene:
        """Every place is a small ring."""
        height = self._STEP * state.rows + 16
        corner = ((WIDTH - self._STEP * (state.columns - 1)) / 2, (height - self._STEP * (state.rows - 1)) / 2)
        spots = {
            name: (
                corner[0] + self._STEP * (number % state.columns),
                corner[1] + self._STEP * (number // state.columns),
            )
            for number, name in enumerate(state.places)
        }
        start = spots[state.places[state.stands[1] * state.columns + state.stands[0]]]
        colour = BRIGHT[state.variant % len(BRIGHT)]
        rings = [
            mark(name, f'<circle cx="{x:g}" cy="{y:g}" r="6" fill="#ffffff" stroke="#94a3b8" stroke-width="1.5"/>')
            for name, (x, y) in spots.items()
        ]
        return Scene(
            ask=self.ask(state, language),
            art="".join(
                (paper(state.variant, height), self._line(state, corner, height), *rings, token("p0", start, colour))
            ),
            height=height,
            control=Items(spots={"p0": start}),
            answer=Dropped(rests={"p0": state.meant}),
            marks={name: around(spot, 20.0) for name, spot in spots.items()},
        )

    def _line(self, state: Lattice, corner: Spot, height: float) -> str:
        """The mirror, from edge to edge of the lattice."""
        x, y = corner[0] + self._STEP * state.at, corner[1] + self._STEP * state.at
        low, high = 6 - corner[1], height - 6 - corner[1]
        from_x, from_y, to_x, to_y = {
            "upright": (x, 6.0, x, height - 6),
            "flat": (10.0, y, WIDTH - 10, y),
            "falling": (x + low, 6.0, x + high, height - 6),
            "rising": (x - low, 6.0, x - high, height - 6),
        }[state.axis]
        return (
            f'<path d="M{from_x:g} {from_y:g}L{to_x:g} {to_y:g}" stroke="{INKS[state.variant % len(INKS)]}" '
            'stroke-width="3.5" stroke-dasharray="9 6" stroke-linecap="round"/>'
        )


def _mirrored(place: Place, axis: Axis, at: float) -> tuple[float, float]:
    column, row = place
    match axis:
        case "upright":
            return 2 * at - column, row
        case "flat":
            return column, 2 * at - row
        case "falling":
            return row + at, column - at
        case "rising":
            return at - row, at - column


TYPES: tuple[PuzzleType[Any], ...] = (Coordinates(), Mirror())
