"""A puzzle in which a marker is drawn through a maze, corner by corner."""

from __future__ import annotations

from collections.abc import Iterator
from random import Random
from typing import Any, ClassVar

from pipeline.puzzles.answers import Answer, Region, Spot, Walked, around, rectangle
from pipeline.puzzles.art import mark, paper
from pipeline.puzzles.kinds.dragging import BRIGHT, DragPuzzle, token
from pipeline.puzzles.puzzle import Language, Level, PuzzleType, State
from pipeline.puzzles.scene import WIDTH, Scene, Token

Cell = tuple[int, int]
"""Column and row."""


_RADIUS = 9.0
"""Units from the middle of the token to its rim."""


class Passages(State):
    """Which neighbouring cells of a maze are joined, where the marker begins, and where it shall go."""

    columns: int
    rows: int
    joined: list[tuple[Cell, Cell]]
    start: Cell
    goal: Cell
    meant: list[Cell]
    """The cells of the way."""


class Maze(DragPuzzle[Passages]):
    """Drag a marker through a maze to the flag."""

    name: ClassVar[str] = "dr_maze"
    _SIZES: ClassVar[dict[Level, tuple[int, int]]] = {1: (5, 3), 2: (6, 4), 3: (8, 5)}
    _CORNERS: ClassVar[dict[Level, tuple[int, int]]] = {1: (1, 3), 2: (3, 5), 3: (5, 8)}
    _WALL: ClassVar[float] = 5.0

    def draw(self, rng: Random, level: Level, language: Language) -> Passages:
        """A maze without a circle; the way turns as often as the level asks."""
        columns, rows = self._SIZES[level]
        joined = _grown(rng, columns, rows)
        start = (rng.randrange(columns), rng.randrange(rows))
        least, most = self._CORNERS[level]
        ways = [
            way
            for column in range(columns)
            for row in range(rows)
            for way in _ways(joined, start, (column, row))
            if len(way) > 3 and least <= len(_corners(way)) - 2 <= most
        ]
        meant = rng.choice(ways) if ways else [start]
        return Passages(
            variant=rng.randrange(10_000),
            columns=columns,
            rows=rows,
            joined=joined,
            start=start,
            goal=meant[-1],
            meant=meant,
        )

    def solve(self, state: Passages) -> Iterator[Answer]:
        """All ways from the beginning to the flag that come to no cell twice; none if no wall is in between."""
        if not self._open(state):
            for way in _ways(state.joined, state.start, state.goal):
                yield self._walked(state, way)

    def scene(self, state: Passages, language: Language) -> Scene:
        """Corridors on a white floor."""
        side, left, top, height = self._measures(state)
        wide, high = side * state.columns, side * state.rows
        floor = f'<rect x="{left:g}" y="{top:g}" width="{wide:g}" height="{high:g}" fill="#ffffff"/>'
        walls = list(self._walls(state))
        ink = ("#334155", "#3f3f63", "#2f4f4a", "#573b3b")[state.variant % 4]
        goal = self._middle(state, state.goal)
        colour = BRIGHT[state.variant % len(BRIGHT)]
        return Scene(
            ask=self.ask(state, language),
            art="".join(
                (
                    paper(state.variant, height),
                    floor,
                    *(_wall(wall, ink) for wall in walls),
                    mark("m0", _flag(goal, side - 12)),
                    token("p0", self._middle(state, state.start), colour, _RADIUS),
                )
            ),
            height=height,
            control=Token(part="p0", start=self._middle(state, state.start)),
            answer=self._walked(state, state.meant),
            marks={"m0": around(goal, side - 12)},
            walls=[_widened(wall, _RADIUS - 1) for wall in walls],
        )

    def _open(self, state: Passages) -> bool:
        """Whether a straight line leads from the beginning to the flag."""
        (x, y), (to_x, to_y) = self._middle(state, state.start), self._middle(state, state.goal)
        line = [(x + (to_x - x) * piece / 80, y + (to_y - y) * piece / 80) for piece in range(81)]
        return not any(wall.holds(spot) for wall in self._walls(state) for spot in line)

    def _walked(self, state: Passages, way: list[Cell]) -> Walked:
        return Walked(way=[self._middle(state, cell) for cell in _corners(way)], to="m0")

    def _measures(self, state: Passages) -> tuple[float, float, float, float]:
        """The side of a cell, the left and the top of the maze, the height of the art."""
        side = float(min((WIDTH - 16) // state.columns, 240 // state.rows))
        return side, (WIDTH - side * state.columns) / 2, 8.0, side * state.rows + 16

    def _middle(self, state: Passages, cell: Cell) -> Spot:
        side, left, top, _ = self._measures(state)
        return left + side * (cell[0] + 0.5), top + side * (cell[1] + 0.5)

    def _walls(self, state: Passages) -> Iterator[Region]:
        """The walls around the maze, and those between cells that are not joined."""
        side, left, top, _ = self._measures(state)
        joined = {frozenset(pair) for pair in state.joined}
        for column in range(state.columns + 1):
            for row in range(state.rows + 1):
                x, y = left + side * column - self._WALL / 2, top + side * row - self._WALL / 2
                if row < state.rows and frozenset({(column - 1, row), (column, row)}) not in joined:
                    yield rectangle(x, y, self._WALL, side + self._WALL)
                if column < state.columns and frozenset({(column, row - 1), (column, row)}) not in joined:
                    yield rectangle(x, y, side + self._WALL, self._WALL)


def _widened(wall: Region, more: float) -> Region:
    """What the middle of the token must not enter for the whole of it to stay out of a wall."""
    left, top, right, bottom = wall.edges
    return rectangle(left - more, top - more, right - left + 2 * more, bottom - top + 2 * more)


def _neighbours(cell: Cell) -> tuple[Cell, ...]:
    column, row = cell
    return (column + 1, row), (column - 1, row), (column, row + 1), (column, row - 1)


def _grown(rng: Random, columns: int, rows: int) -> list[tuple[Cell, Cell]]:
    """Corridors that grow until they have come to every cell once, mostly from where they came to last."""
    reached = [(rng.randrange(columns), rng.randrange(rows))]
    seen, joined = set(reached), []
    while reached:
        at = reached[-1] if rng.random() < 0.8 else rng.choice(reached)
        free = [
            (column, row)
            for column, row in _neighbours(at)
            if 0 <= column < columns and 0 <= row < rows and (column, row) not in seen
        ]
        if not free:
            reached.remove(at)
            continue
        after = rng.choice(free)
        seen.add(after)
        reached.append(after)
        joined.append((at, after))
    return joined


def _ways(joined: list[tuple[Cell, Cell]], start: Cell, goal: Cell) -> Iterator[list[Cell]]:
    """All ways that come to no cell twice."""
    pairs = {frozenset(pair) for pair in joined}
    unfinished = [[start]]
    while unfinished:
        way = unfinished.pop()
        if way[-1] == goal:
            yield way
            continue
        unfinished += [
            [*way, cell] for cell in _neighbours(way[-1]) if cell not in way and frozenset({way[-1], cell}) in pairs
        ]


def _corners(way: list[Cell]) -> list[Cell]:
    """The first cell, those where the way turns, and the last."""
    turns = [
        at
        for before, at, after in zip(way, way[1:], way[2:], strict=False)
        if (at[0] - before[0], at[1] - before[1]) != (after[0] - at[0], after[1] - at[1])
    ]
    return [way[0], *turns, way[-1]]


def _wall(region: Region, ink: str) -> str:
    left, top, right, bottom = region.edges
    return f'<rect x="{left:g}" y="{top:g}" width="{right - left:g}" height="{bottom - top:g}" rx="2.5" fill="{ink}"/>'


def _flag(spot: Spot, side: float) -> str:
    """A flag on a plate."""
    x, y = spot
    half = side / 2
    return (
        f'<rect x="{x - half:g}" y="{y - half:g}" width="{side:g}" height="{side:g}" rx="6" fill="#fef3c7"/>'
        f'<path d="M{x - 6:g} {y + 10:g}V{y - 11:g}" stroke="#78350f" stroke-width="2.5" stroke-linecap="round"/>'
        f'<path d="M{x - 5:g} {y - 11:g}L{x + 10:g} {y - 5:g}L{x - 5:g} {y + 1:g}Z" fill="#dc2626"/>'
    )


TYPES: tuple[PuzzleType[Any], ...] = (Maze(),)
