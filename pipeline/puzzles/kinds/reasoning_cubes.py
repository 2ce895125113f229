"""Puzzles of one cube: a die that rolls, a net that is folded."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from random import Random
from typing import Any, ClassVar, Literal, NamedTuple

from pipeline.puzzles.answers import Answer, Clicked, Spot, rectangle
from pipeline.puzzles.art import panel, polygon, shuffled_marks
from pipeline.puzzles.colours import COLOURS
from pipeline.puzzles.kinds.isometric import (
    Side,
    Vector,
    cross,
    on_side,
    seen_at,
    turns,
)
from pipeline.puzzles.kinds.reasoning import DARK, GAP, PIPS, OptionPuzzle, Options, die_face, tiles
from pipeline.puzzles.puzzle import Language, Level, PuzzleType
from pipeline.puzzles.scene import WIDTH, Scene

Roll = Literal["right", "left", "near", "away"]
"""Along x and back, along z and back."""
_STEPS: Mapping[Roll, tuple[int, int]] = {"right": (1, 0), "left": (-1, 0), "near": (0, 1), "away": (0, -1)}
_BACK: Mapping[Roll, Roll] = {"right": "left", "left": "right", "near": "away", "away": "near"}


class Die(NamedTuple):
    """What is seen of a die whose opposite faces add up to 7."""

    top: int
    front: int
    right: int

    def rolled(self, roll: Roll) -> Die:
        """The die after it rolled over one edge."""
        top, front, right = self
        match roll:
            case "right":
                return Die(7 - right, front, top)
            case "left":
                return Die(right, front, 7 - top)
            case "near":
                return Die(7 - front, top, right)
            case "away":
                return Die(front, 7 - top, right)


class Rolls(Options):
    """The die as it lies, its rolls, and the faces on the tiles."""

    die: tuple[int, int, int]
    rolls: list[Roll]
    faces: list[int]


class DiceRoll(OptionPuzzle[Rolls]):
    """Click the face that is on top after the rolls."""

    name: ClassVar[str] = "vr_dice_roll"
    _edge: ClassVar[float] = 34.0

    def draw(self, rng: Random, level: Level, language: Language) -> Rolls:
        """Two to five rolls that never lead behind the die."""
        top = rng.randint(1, 6)
        front = rng.choice([face for face in range(1, 7) if face not in (top, 7 - top)])
        right = rng.choice([face for face in range(1, 7) if face not in (top, 7 - top, front, 7 - front)])
        die = Die(top, front, right)
        rolls, cell, been = list[Roll](), (0, 0), {(0, 0)}
        after = die
        while len(rolls) < 1 + level + (level == 3):
            free = [
                roll
                for roll, (x, z) in _STEPS.items()
                if cell[0] + x >= 0 and cell[1] + z >= 0 and (cell[0] + x, cell[1] + z) not in been
            ]
            roll = rng.choice(free)
            cell = (cell[0] + _STEPS[roll][0], cell[1] + _STEPS[roll][1])
            been.add(cell)
            rolls.append(roll)
            after = after.rolled(roll)
        faces = rng.sample(range(1, 7), 6)
        marks = shuffled_marks(rng, 6)
        return Rolls(
            variant=rng.randrange(10_000),
            marks=marks,
            meant=marks[faces.index(after.top)],
            die=die,
            rolls=rolls,
            faces=faces,
        )

    def solve(self, state: Rolls) -> Iterator[Answer]:
        """Each face that, on top at the end, comes from the die at the beginning when all is rolled back."""
        dice = [
            Die(top, front, right)
            for top in range(1, 7)
            for front in range(1, 7)
            for right in range(1, 7)
            if len({min(face, 7 - face) for face in (top, front, right)}) == 3
        ]
        ends = set()
        for end in dice:
            die = end
            for roll in reversed(state.rolls):
                die = die.rolled(_BACK[roll])
            if die == state.die:
                ends.add(end.top)
        yield from (Clicked(marks=[name]) for name, face in zip(state.marks, state.faces, strict=True) if face in ends)

    def scene(self, state: Rolls, language: Language) -> Scene:
        """The die on a floor with arrows, and all faces on tiles."""
        cells = [(0, 0)]
        for roll in state.rolls:
            cells.append((cells[-1][0] + _STEPS[roll][0], cells[-1][1] + _STEPS[roll][1]))
        spots = [seen_at((x, 0.0, z)) for x, z in cells]
        middle = (max(x for x, _ in spots) + min(x for x, _ in spots)) / 2
        spot = (WIDTH / 2 - middle * self._edge, 52.0)
        low = max(y for _, y in spots)
        height = 52 + (low + 1) * self._edge + 80
        regions = tiles(state.marks, height - 64, 64, 6)
        drawn = [die_face(regions[name].centre, 34, face) for name, face in zip(state.marks, state.faces, strict=True)]
        above = _floor(cells, spot, self._edge) + _die(Die(*state.die), spot, self._edge)
        return self.picked(state, language, regions, drawn, height=height, above=above)


def _floor(cells: Sequence[tuple[int, int]], spot: Spot, edge: float) -> str:
    """The squares that a die rolls over, with an arrow from each to the next."""

    def at(x: float, z: float) -> Spot:
        across, down = seen_at((x, 0, z))
        return spot[0] + across * edge, spot[1] + down * edge

    squares = "".join(
        polygon(
            [at(x, z), at(x + 1, z), at(x + 1, z + 1), at(x, z + 1)], 'fill="#fef3c7" stroke="#b45309" stroke-width="1"'
        )
        for x, z in cells
    )
    arrows = ""
    for (x, z), (to_x, to_z) in pairwise(cells):
        step, aside = (to_x - x, to_z - z), (to_z - z, to_x - x)
        end = (to_x + 0.5 + step[0] * 0.1, to_z + 0.5 + step[1] * 0.1)
        back = (end[0] - step[0] * 0.35, end[1] - step[1] * 0.35)
        start = (to_x + 0.5 - step[0] * 0.75, to_z + 0.5 - step[1] * 0.75)
        head = [at(*end), *(at(back[0] + aside[0] * s, back[1] + aside[1] * s) for s in (0.24, -0.24))]
        line = (at(*start), at(*back))
        arrows += (
            f'<path d="M{line[0][0]:.1f} {line[0][1]:.1f}L{line[1][0]:.1f} {line[1][1]:.1f}" stroke="#dc2626" '
            'stroke-width="5"/>' + polygon(head, 'fill="#dc2626"')
        )
    return squares + arrows


def _die(die: Die, spot: Spot, edge: float) -> str:
    fills: Mapping[Side, str] = {"top": "#ffffff", "front": "#e2e8f0", "right": "#cbd5e1"}
    faces: Mapping[Side, int] = {"top": die.top, "front": die.front, "right": die.right}
    return "".join(
        on_side(
            (0, 0, 0),
            side,
            spot,
            edge,
            f'<rect width="1" height="1" fill="{fills[side]}" stroke="{DARK}" stroke-width="0.04"/>'
            + "".join(
                f'<circle cx="{0.5 + x / 4:g}" cy="{0.5 + y / 4:g}" r="0.1" fill="{DARK}"/>' for x, y in PIPS[face]
            ),
        )
        for side, face in faces.items()
    )


_NETS = (
    ((1, 0), (0, 1), (1, 1), (2, 1), (3, 1), (1, 2)),
    ((0, 0), (0, 1), (1, 1), (2, 1), (3, 1), (3, 2)),
    ((0, 0), (1, 0), (1, 1), (2, 1), (2, 2), (3, 2)),
    ((2, 0), (0, 1), (1, 1), (2, 1), (3, 1), (1, 2)),
    ((0, 0), (1, 0), (2, 0), (2, 1), (3, 1), (4, 1)),
    ((0, 0), (1, 0), (1, 1), (2, 1), (3, 1), (2, 2)),
)
"""Some of the eleven nets of a cube: squares across and down."""

_SIGNS = (
    "",
    '<circle cx="0.5" cy="0.5" r="0.28" fill="#ffffff"/>',
    '<path d="M0.5 0.18V0.82M0.18 0.5H0.82" stroke="#ffffff" stroke-width="0.18"/>',
    '<circle cx="0.5" cy="0.5" r="0.24" fill="none" stroke="#ffffff" stroke-width="0.12"/>',
    '<rect x="0.28" y="0.28" width="0.44" height="0.44" fill="#ffffff"/>',
    '<path d="M0.5 0.14L0.6 0.4L0.86 0.5L0.6 0.6L0.5 0.86L0.4 0.6L0.14 0.5L0.4 0.4Z" fill="#ffffff"/>',
)
"""Signs that look the same after a quarter of a turn, one for each colour."""


def folded(cells: Sequence[tuple[int, int]]) -> list[Vector]:
    """Which way each square of a net looks once it is folded backwards, the first one looking along z."""
    frames: dict[tuple[int, int], tuple[Vector, Vector]] = {cells[0]: ((0, 0, 1), (1, 0, 0))}
    waiting = [cells[0]]
    while waiting:
        x, y = waiting.pop()
        out, across = frames[x, y]
        up = cross(out, across)
        around = {(x + 1, y): (across, _minus(out)), (x - 1, y): (_minus(across), out)}
        around |= {(x, y - 1): (up, across), (x, y + 1): (_minus(up), across)}
        for cell, frame in around.items():
            if cell in cells and cell not in frames:
                frames[cell] = frame
                waiting.append(cell)
    return [frames[cell][0] for cell in cells]


def _minus(vector: Vector) -> Vector:
    return -vector[0], -vector[1], -vector[2]


class Net(Options):
    """The squares of a net, whose numbers are their pictures, and what is seen of each cube: top, front, right."""

    cells: list[tuple[int, int]]
    pictures: list[int]
    cubes: list[tuple[int, int, int]]


class NetFold(OptionPuzzle[Net]):
    """Click the cube that a net makes."""

    name: ClassVar[str] = "vr_net_fold"
    _cell: ClassVar[float] = 29.0

    def draw(self, rng: Random, level: Level, language: Language) -> Net:
        """One cube that it makes, and three that show opposite squares or, when it is harder, a mirror's image."""
        cells = list(rng.choice(_NETS))
        pictures = rng.sample(range(6), 6)
        ways = folded(cells)
        legal = [
            (pictures[a], pictures[b], pictures[c])
            for a in range(6)
            for b in range(6)
            for c in range(6)
            if cross(ways[a], ways[b]) == ways[c]
        ]
        right = rng.choice(legal)
        mirrored = [(b, a, c) for a, b, c in rng.sample(legal, level)]
        wrong = list(mirrored)
        while len(wrong) < 3:
            seen = rng.sample(range(6), 3)
            cube = (seen[0], seen[1], seen[2])
            if cube not in legal and (cube[1], cube[0], cube[2]) not in legal:
                wrong.append(cube)
        marks = shuffled_marks(rng, 4)
        cubes = [right, *wrong]
        order = rng.sample(range(4), 4)
        return Net(
            variant=rng.randrange(10_000),
            marks=[marks[place] for place in order],
            meant=marks[0],
            cells=cells,
            pictures=pictures,
            cubes=[cubes[place] for place in order],
        )

    def solve(self, state: Net) -> Iterator[Answer]:
        """Each cube that, turned in some way, has its three pictures where the folded net has them."""
        ways = dict(zip(state.pictures, folded(state.cells), strict=True))
        for name, cube in zip(state.marks, state.cubes, strict=True):
            looks = tuple(ways[picture] for picture in cube)
            if looks in [(y, z, x) for x, y, z in turns()]:
                yield Clicked(marks=[name])

    def scene(self, state: Net, language: Language) -> Scene:
        """The net, and four cubes on tiles."""
        columns, rows = (max(cell[axis] for cell in state.cells) + 1 for axis in (0, 1))
        left = (WIDTH - columns * self._cell) / 2
        top = 10 + (3 - rows) * self._cell / 2
        net = "".join(
            f'<g transform="translate({left + x * self._cell:g} {top + y * self._cell:g}) scale({self._cell:g})">'
            f"{_picture(picture)}</g>"
            for (x, y), picture in zip(state.cells, state.pictures, strict=True)
        )
        regions = tiles(state.marks, 106, 96, 4)
        sides: tuple[Side, ...] = ("top", "front", "right")
        drawn = [
            "".join(
                on_side((0, 0, 0), side, regions[name].centre, 33, _picture(picture))
                for side, picture in zip(sides, cube, strict=True)
            )
            for name, cube in zip(state.marks, state.cubes, strict=True)
        ]
        back = panel(rectangle(GAP, 4, WIDTH - 2 * GAP, 100))
        return self.picked(state, language, regions, drawn, height=204, above=back + net)


def _picture(number: int) -> str:
    paint = COLOURS[number].paint
    return f'<rect width="1" height="1" fill="{paint}" stroke="#ffffff" stroke-width="0.05"/>{_SIGNS[number]}'


TYPES: tuple[PuzzleType[Any], ...] = (DiceRoll(), NetFold())
