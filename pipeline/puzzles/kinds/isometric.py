"""Cubes seen from above and between two of their sides: where they are drawn, and how they turn.

Axes: x to the right and near, y up, z to the left and near; lengths in edges of a cube. Knows nothing of puzzles.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from itertools import permutations, product
from typing import Literal

from pipeline.puzzles.answers import Spot
from pipeline.puzzles.art import polygon

Vector = tuple[int, int, int]
Turn = tuple[Vector, Vector, Vector]
"""Where x, y and z go."""
Side = Literal["top", "front", "right"]

_ACROSS = math.sqrt(3) / 2
_ROUND: tuple[Vector, ...] = ((1, 0, 0), (0, -1, 0), (0, 0, 1), (-1, 0, 0), (0, 1, 0), (0, 0, -1))
"""Steps along the axes, in the order in which they are seen around a corner."""

SIDES: Mapping[Side, tuple[Vector, Vector, Vector]] = {
    "top": ((0, 1, 0), (1, 0, 0), (0, 0, 1)),
    "front": ((0, 0, 1), (1, 0, 0), (0, -1, 0)),
    "right": ((1, 0, 0), (0, 0, -1), (0, -1, 0)),
}
"""The sides that are seen: outwards, and along two edges."""
SHADES: Mapping[Side, str] = {"top": "#bfdbfe", "front": "#60a5fa", "right": "#2563eb"}


def cross(one: Vector, other: Vector) -> Vector:
    """The vector that stands on both, by the right hand."""
    (a, b, c), (d, e, f) = one, other
    return b * f - c * e, c * d - a * f, a * e - b * d


@cache
def turns() -> tuple[Turn, ...]:
    """The 24 ways to turn a cube onto itself."""
    axes: list[Vector] = [(1, 0, 0), (0, 1, 0), (0, 0, 1)]
    found = []
    for (a, b), (s, t) in product(permutations(axes, 2), product((1, -1), repeat=2)):
        x, y = (a[0] * s, a[1] * s, a[2] * s), (b[0] * t, b[1] * t, b[2] * t)
        found.append((x, y, cross(x, y)))
    return tuple(found)


def moved(cubes: Iterable[Vector], turn: Turn) -> list[Vector]:
    """Cubes after a turn, shifted so that all their smallest places are 0, in order."""
    (a, b, c), (d, e, f), (g, h, i) = turn
    placed = [(x * a + y * d + z * g, x * b + y * e + z * h, x * c + y * f + z * i) for x, y, z in cubes]
    left, low, far = (min(places) for places in zip(*placed, strict=True))
    return sorted((x - left, y - low, z - far) for x, y, z in placed)


def shape(cubes: Sequence[Vector]) -> tuple[Vector, ...]:
    """What is the same for a solid however it is turned, and differs from that of any other, its mirror's image too."""
    return min(tuple(moved(cubes, turn)) for turn in turns())


def flipped(cubes: Iterable[Vector]) -> list[Vector]:
    """The mirror's image."""
    return [(-x, y, z) for x, y, z in cubes]


def seen_at(place: tuple[float, float, float]) -> Spot:
    """Where a place is drawn, from where 0, 0, 0 is."""
    x, y, z = place
    return (x - z) * _ACROSS, (x + z) / 2 - y


def side_corners(cube: tuple[float, float, float], side: Side) -> list[Spot]:
    """The corners of a side of the cube that begins at a place."""
    out, one, other = SIDES[side]
    start = [cube[axis] + max(out[axis], 0) + max(-one[axis], 0) + max(-other[axis], 0) for axis in range(3)]
    steps = ((0, 0), (1, 0), (1, 1), (0, 1))
    return [
        seen_at(
            (
                start[0] + one[0] * a + other[0] * b,
                start[1] + one[1] * a + other[1] * b,
                start[2] + one[2] * a + other[2] * b,
            )
        )
        for a, b in steps
    ]


def parts_seen(cubes: Iterable[Vector]) -> dict[Vector, int]:
    """How many sixths of each cube are seen, where six sixths are all three sides that could be."""
    owners: dict[Spot, Vector] = {}
    for cube in sorted(cubes, key=sum):
        x, y, z = cube
        for one, other in zip(_ROUND, [*_ROUND[1:], _ROUND[0]], strict=True):
            centre = (3 * x + one[0] + other[0], 3 * y + one[1] + other[1], 3 * z + one[2] + other[2])
            owners[centre[0] - centre[2], centre[0] + centre[2] - 2 * centre[1]] = cube
    counts = dict.fromkeys(cubes, 0)
    for cube in owners.values():
        counts[cube] += 1
    return counts


def solid(cubes: Iterable[Vector], spot: Spot, room: float, edge: float = 99.0) -> str:
    """Cubes as they are drawn, with their middle at a place, in a square of so much room, edges no longer than this."""
    ordered = sorted(cubes, key=sum)
    corners = {cube: {side: side_corners(cube, side) for side in SIDES} for cube in ordered}
    across = [x for sides in corners.values() for shape in sides.values() for x, _ in shape]
    down = [y for sides in corners.values() for shape in sides.values() for _, y in shape]
    scale = min(edge, room / max(max(across) - min(across), max(down) - min(down)))
    middle = ((max(across) + min(across)) / 2, (max(down) + min(down)) / 2)
    return "".join(
        polygon(
            [(spot[0] + (x - middle[0]) * scale, spot[1] + (y - middle[1]) * scale) for x, y in shape],
            f'fill="{SHADES[side]}" stroke="#1e293b" stroke-width="1.2" stroke-linejoin="round"',
        )
        for sides in corners.values()
        for side, shape in sides.items()
    )


def on_side(cube: tuple[float, float, float], side: Side, spot: Spot, edge: float, drawn: str) -> str:
    """What is drawn on a square of 1 by 1, as it lies on a side of a cube; `spot` is where 0, 0, 0 is drawn."""
    (x, y), (a, b), _, (c, d) = side_corners(cube, side)
    numbers = ((a - x) * edge, (b - y) * edge, (c - x) * edge, (d - y) * edge, spot[0] + x * edge, spot[1] + y * edge)
    return f'<g transform="matrix({" ".join(f"{number:.3f}" for number in numbers)})">{drawn}</g>'
