"""Pictures of places (hills, a bay, a town), painted from a number, that are cut into pieces, tiles and discs.

A picture is flat patches one over the other, so that the colour at any place is known without drawing it: whether two
pieces fit together is computed from the colours on both sides of their seam. Knows nothing of types of puzzles.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from functools import cache, lru_cache
from random import Random
from typing import NamedTuple

from pipeline.puzzles.answers import Region, Spot, rectangle
from pipeline.puzzles.art import polygon, regular

_VISIBLE = 26
"""Colours that differ by less in every channel (of 0..255) may pass for the same."""
_SKIES = (
    ("#1f3a68", "#35629e", "#5b8fc7", "#93bfe4", "#cfe5f5"),
    ("#4a2f63", "#8a4472", "#c9626e", "#ee9468", "#f9cd82"),
    ("#0f5f6f", "#2a8c96", "#5cb5b3", "#9ad6c6", "#d8f0dd"),
    ("#27224f", "#4c3c7d", "#7d61a6", "#b390c6", "#e5c8dc"),
)
_GREENS = ("#2f6b3a", "#4d8b3f", "#7fa843", "#1f5a4a", "#a3b84f")
_WALLS = ("#b5533c", "#d9a441", "#e8dcc4", "#7f4f8f", "#3f7cac")


class Patch(NamedTuple):
    """A part of a picture in one colour, and the left, top, right and bottom of it."""

    colour: str
    region: Region
    edges: tuple[float, float, float, float]


class Picture(NamedTuple):
    """Patches from the lowest to the topmost."""

    width: float
    height: float
    patches: tuple[Patch, ...]

    def colour(self, spot: Spot) -> str:
        """What is seen at a place; of the lowest patch, which is everywhere, outside of the others."""
        x, y = spot
        for patch in reversed(self.patches):
            left, top, right, bottom = patch.edges
            if left <= x <= right and top <= y <= bottom and patch.region.holds(spot):
                return patch.colour
        return self.patches[0].colour

    def svg(self) -> str:
        """The whole picture with its corner at the origin."""
        return "".join(polygon(patch.region.corners, f'fill="{patch.colour}"') for patch in self.patches)

    def pattern(self, name: str, origin: Spot = (0.0, 0.0)) -> str:
        """A definition after which `fill="url(#NAME)"` shows the picture with its corner at a place."""
        x, y = origin
        return (
            f'<defs><pattern id="{name}" patternUnits="userSpaceOnUse" width="{self.width:g}" '
            f'height="{self.height:g}" patternTransform="translate({x:.2f} {y:.2f})">{self.svg()}</pattern></defs>'
        )


def again(name: str, pattern: str, origin: Spot) -> str:
    """A definition that shows the picture of another one from another place on."""
    x, y = origin
    return f'<defs><pattern id="{name}" href="#{pattern}" patternTransform="translate({x:.2f} {y:.2f})"/></defs>'


@cache
def unlike(one: str, other: str) -> bool:
    """Whether two colours (`#rrggbb`) are told apart by anybody who sees them side by side."""
    pairs = ((int(one[at : at + 2], 16), int(other[at : at + 2], 16)) for at in (1, 3, 5))
    return max(abs(left - right) for left, right in pairs) >= _VISIBLE


@lru_cache(maxsize=32)
def painted(number: int, width: float, height: float) -> Picture:
    """The picture of a number; the same for the same number and size."""
    rng = Random(f"picture {number}")
    theme = (_hills, _bay, _town)[number % 3]
    patches = [*_sky(rng, width, height), *theme(rng, width, height)]
    return Picture(width, height, tuple(Patch(colour, region, region.edges) for colour, region in patches))


_Painted = tuple[str, Region]


def _area(colour: str, corners: Sequence[Spot]) -> _Painted:
    return colour, Region(corners=[(round(x, 2), round(y, 2)) for x, y in corners])


def _box(colour: str, left: float, top: float, width: float, height: float) -> _Painted:
    return colour, rectangle(round(left, 2), round(top, 2), round(width, 2), round(height, 2))


def _disc(colour: str, spot: Spot, radius: float) -> _Painted:
    return _area(colour, regular(spot, radius, 28))


def _sky(rng: Random, width: float, height: float) -> Iterator[_Painted]:
    """Bands, the sun or moon, and clouds."""
    bands = rng.choice(_SKIES)
    tall = height * 0.7 / len(bands)
    yield _box(bands[0], 0, 0, width, height)
    for number, colour in enumerate(bands):
        yield _box(colour, 0, number * tall, width, height - number * tall)
    spot = (rng.uniform(0.15, 0.85) * width, rng.uniform(0.14, 0.3) * height)
    yield _disc("#fff3c4", spot, height * 0.11)
    yield _disc("#ffd257", spot, height * 0.085)
    for _ in range(2):
        x, y, size = rng.uniform(0.1, 0.9) * width, rng.uniform(0.1, 0.4) * height, height * rng.uniform(0.04, 0.06)
        for step, factor in ((-1.1, 0.8), (0.0, 1.2), (1.1, 0.9)):
            yield _disc("#ffffff", (x + step * size, y), size * factor)


def _ridge(rng: Random, width: float, base: float, swing: float, height: float) -> list[Spot]:
    """A rolling line across the picture, closed along its lower edge."""
    waves = [(swing * rng.uniform(0.4, 1) / turn, turn * rng.uniform(0.7, 1.2), rng.uniform(0, 7)) for turn in (1, 2)]
    line = [
        (width * step / 24, base + sum(a * math.sin(f * 2 * math.pi * step / 24 + p) for a, f, p in waves))
        for step in range(25)
    ]
    return [*line, (width, height), (0.0, height)]


def _hills(rng: Random, width: float, height: float) -> Iterator[_Painted]:
    for colour in ("#6f7f9c", "#56678a"):
        x, top, half = rng.uniform(0.1, 0.9) * width, rng.uniform(0.28, 0.4) * height, rng.uniform(0.25, 0.4) * width
        foot = height * 0.72
        yield _area(colour, [(x - half, foot), (x, top), (x + half, foot)])
        yield _area(
            "#f4f7fb", [(x - half / 4, top + (foot - top) / 4), (x, top), (x + half / 4, top + (foot - top) / 4)]
        )
    for number, colour in enumerate(rng.sample(_GREENS, 3)):
        yield _area(colour, _ridge(rng, width, height * (0.62 + 0.13 * number), height * 0.05, height))
    left = rng.uniform(0.12, 0.7) * width
    yield from _house(rng, left, height * 0.62, height * 0.2)
    for _ in range(3):
        yield from _tree(rng.uniform(0.05, 0.95) * width, height * rng.uniform(0.78, 0.96), height * 0.2)


def _house(rng: Random, left: float, top: float, size: float) -> Iterator[_Painted]:
    wall, roof = rng.sample(_WALLS, 2)
    yield _box(wall, left, top, size * 1.3, size)
    yield _area(roof, [(left - size * 0.15, top), (left + size * 0.65, top - size * 0.7), (left + size * 1.45, top)])
    yield _box("#3b2a20", left + size * 0.15, top + size * 0.4, size * 0.35, size * 0.6)
    yield _box("#fdf6d8", left + size * 0.75, top + size * 0.3, size * 0.35, size * 0.35)


def _tree(x: float, foot: float, size: float) -> Iterator[_Painted]:
    yield _box("#5b3a24", x - size * 0.07, foot - size * 0.3, size * 0.14, size * 0.3)
    for low, wide in ((0.25, 0.36), (0.5, 0.28)):
        base = foot - size * low
        yield _area("#16462f", [(x - size * wide, base), (x, base - size * 0.55), (x + size * wide, base)])


def _bay(rng: Random, width: float, height: float) -> Iterator[_Painted]:
    """The sea with islands, two boats and a beach."""
    shore = height * 0.55
    for colour in ("#5f7f78", "#3f6358"):
        x, wide = rng.uniform(0.0, 1.0) * width, rng.uniform(0.2, 0.35) * width
        top = shore - height * rng.uniform(0.1, 0.22)
        yield _area(colour, [(x - wide, shore), (x - wide * 0.3, top), (x + wide * 0.2, top), (x + wide, shore)])
    for number, colour in enumerate(("#1d6f9a", "#16587f", "#104463")):
        yield _area(colour, _ridge(rng, width, shore + number * height * 0.13, height * 0.015 * number, height))
    for at, size in ((rng.uniform(0.12, 0.4), 0.24), (rng.uniform(0.6, 0.88), 0.18)):
        yield from _boat(rng, at * width, shore + height * rng.uniform(0.12, 0.22), size * height)
    yield _area("#e6c98a", _ridge(rng, width, height * 0.9, height * 0.05, height))
    yield from _parasol(rng, rng.uniform(0.15, 0.85) * width, height * 0.96, height * 0.2)


def _boat(rng: Random, x: float, foot: float, size: float) -> Iterator[_Painted]:
    hull, sail = rng.choice(_WALLS[:2]), rng.choice(("#ffffff", "#f7e3b5", "#f2b8a0"))
    yield _area(
        hull,
        [
            (x - size * 0.6, foot - size * 0.25),
            (x + size * 0.6, foot - size * 0.25),
            (x + size * 0.4, foot),
            (x - size * 0.4, foot),
        ],
    )
    yield _box("#3b2a20", x - size * 0.03, foot - size * 1.2, size * 0.06, size * 0.95)
    yield _area(
        sail,
        [
            (x + size * 0.06, foot - size * 1.15),
            (x + size * 0.06, foot - size * 0.33),
            (x + size * 0.5, foot - size * 0.33),
        ],
    )
    yield _area(
        sail,
        [(x - size * 0.06, foot - size), (x - size * 0.06, foot - size * 0.33), (x - size * 0.4, foot - size * 0.33)],
    )


def _parasol(rng: Random, x: float, foot: float, size: float) -> Iterator[_Painted]:
    yield _box("#7a5230", x - size * 0.03, foot - size * 0.7, size * 0.06, size * 0.7)
    top = [
        (x + size * 0.5 * math.cos(turn / 12 * math.pi), foot - size * 0.6 - size * 0.4 * math.sin(turn / 12 * math.pi))
        for turn in range(13)
    ]
    yield _area(rng.choice(("#d1495b", "#edae49", "#00798c")), top)
    yield _area("#ffffff", [top[4], top[5], top[7], top[8], (x, foot - size * 0.6)])


def _town(rng: Random, width: float, height: float) -> Iterator[_Painted]:
    """Two rows of buildings, a street and trees."""
    x = 0.0
    while x < width:
        wide = rng.uniform(0.08, 0.16) * width
        yield _box(rng.choice(("#5d6b88", "#6d7b98")), x, height * rng.uniform(0.3, 0.5), wide, height)
        x += wide
    x = -rng.uniform(0, 0.06) * width
    before = ""
    while x < width:
        wide = rng.uniform(0.14, 0.2) * width
        before = rng.choice([colour for colour in _WALLS if colour != before])
        yield from _building(rng, before, x, height * rng.uniform(0.42, 0.62), wide, height * 0.86)
        x += wide
    yield _box("#4a4f57", 0, height * 0.86, width, height * 0.14)
    dash = width / 9
    for number in range(9):
        yield _box("#f3d36b", number * dash + dash * 0.2, height * 0.92, dash * 0.55, height * 0.025)
    for _ in range(2):
        yield from _tree(rng.uniform(0.08, 0.92) * width, height * 0.88, height * 0.24)


def _building(rng: Random, wall: str, left: float, top: float, width: float, foot: float) -> Iterator[_Painted]:
    yield _box(wall, left, top, width, foot - top)
    pane = width / 5
    y = top + pane * 0.8
    while y + pane * 1.2 < foot:
        for column in (0.9, 2.9):
            yield _box(rng.choice(("#fff4c2", "#2f3b52")), left + column * pane, y, pane * 1.2, pane * 1.2)
        y += pane * 2.2
