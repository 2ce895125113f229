"""Pieces of art: glyphs, shapes and backgrounds as SVG, and places for them. System fonts and own drawings only.

Everything is in the units of a scene. Knows nothing of types of puzzles.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from html import escape
from random import Random

from pipeline.puzzles.answers import Region, Spot
from pipeline.puzzles.scene import WIDTH

INKS = ("#1f2937", "#7c2d12", "#14532d", "#1e3a8a", "#581c87", "#831843")
"""Dark colours that are read on every paper."""
PAPERS = ("#f8fafc", "#fef9ec", "#eef6f0", "#eef2ff", "#fdf2f8", "#f1f5f9")
_BREADTHS = (("ijlI.,' ", 0.4), ("frst-", 0.6), ("abcdeghknopquvxyz0123456789", 0.73), ("mwMW", 1.11))
FONTS = ("DejaVu Sans, Noto Sans CJK SC, sans-serif", "DejaVu Serif, Noto Serif CJK SC, serif")


def scatter(
    rng: Random, count: int, size: float, height: float, gap: float = 6.0, taken: Sequence[tuple[Spot, float]] = ()
) -> list[Spot]:
    """Middles of so many squares that do not touch each other, the edges, nor the `taken` ones (middle, side).

    Fewer when they do not fit: the caller draws again.
    """
    spots: list[Spot] = []
    around = list(taken)
    for _ in range(count * 80):
        if len(spots) == count:
            break
        half = size / 2 + gap
        spot = (round(rng.uniform(half, WIDTH - half), 1), round(rng.uniform(half, height - half), 1))
        if all(max(abs(spot[0] - x), abs(spot[1] - y)) >= (size + side) / 2 + gap for (x, y), side in around):
            spots.append(spot)
            around.append((spot, size))
    return spots


def paper(variant: int, height: float) -> str:
    """A background: a tint with a faint pattern that differs from variant to variant."""
    rng = Random(f"paper {variant}")
    tint = rng.choice(PAPERS)
    lines = "".join(
        f'<path d="{_wave(rng, height)}" fill="none" stroke="{rng.choice(INKS)}" stroke-opacity="0.08" '
        f'stroke-width="{rng.uniform(1, 5):.1f}"/>'
        for _ in range(rng.randrange(2, 7))
    )
    return f'<rect width="{WIDTH:g}" height="{height:g}" fill="{tint}"/>{lines}'


def _wave(rng: Random, height: float) -> str:
    low, high = rng.uniform(0, height), rng.uniform(0, height)
    return (
        f"M0 {low:.0f}C{WIDTH / 3:.0f} {rng.uniform(0, height):.0f} {WIDTH * 2 / 3:.0f} "
        f"{rng.uniform(0, height):.0f} {WIDTH:g} {high:.0f}"
    )


def glyph(
    text: str,
    spot: Spot,
    size: float,
    *,
    fill: str = INKS[0],
    angle: float = 0.0,
    font: str = FONTS[0],
    bold: bool = True,
    outline: bool = False,
) -> str:
    """Letters whose middle is at a place, turned clockwise by so many degrees; `outline` leaves them hollow."""
    x, y = spot
    paint = f'fill="none" stroke="{fill}" stroke-width="{size / 24:.2f}"' if outline else f'fill="{fill}"'
    weight = ' font-weight="700"' if bold else ""
    turned = f' transform="rotate({angle:g} {x:g} {y:g})"' if angle else ""
    return (
        f'<text x="{x:g}" y="{y:g}" font-size="{size:g}" font-family="{font}"{weight} {paint} text-anchor="middle" '
        f'dominant-baseline="central"{turned}>{escape(text)}</text>'
    )


def letters_for(text: str, wide: float, most: float) -> float:
    """The size, `most` at the most, at which bold letters take up no more than so many units across."""
    return min(most, wide / sum(map(_breadth, text)))


def _breadth(letter: str) -> float:
    """How wide a bold letter of the fonts is at most, as a part of its size."""
    if letter > "\u2e80":
        return 1.0
    return next((wide for letters, wide in _BREADTHS if letter in letters), 0.86)


def polygon(corners: Sequence[Spot], attributes: str) -> str:
    """A closed shape."""
    return f'<path d="M{"L".join(f"{x:.2f} {y:.2f}" for x, y in corners)}Z" {attributes}/>'


def regular(spot: Spot, radius: float, sides: int, angle: float = 0.0) -> list[Spot]:
    """The corners of a regular polygon, the first one at the top, turned clockwise by so many degrees."""
    return [
        (
            spot[0] + radius * math.sin(math.radians(angle + 360 * side / sides)),
            spot[1] - radius * math.cos(math.radians(angle + 360 * side / sides)),
        )
        for side in range(sides)
    ]


def mark(name: str, *drawn: str) -> str:
    """What can be clicked or dropped on."""
    return f'<g data-mark="{name}">{"".join(drawn)}</g>'


def marks(drawn: Iterable[tuple[str, str]]) -> str:
    """What can be clicked or dropped on, by name, in an order that tells nothing: that of the names."""
    return "".join(mark(name, art) for name, art in sorted(drawn))


def part(name: str, *drawn: str) -> str:
    """What moves."""
    return f'<g data-part="{name}">{"".join(drawn)}</g>'


def shuffled_marks(rng: Random, count: int) -> list[str]:
    """Names of marks that tell nothing."""
    names = [f"m{number}" for number in range(count)]
    rng.shuffle(names)
    return names


def panel(region: Region, fill: str = "#ffffff") -> str:
    """A plate with rounded corners."""
    left, top, right, bottom = region.edges
    return (
        f'<rect x="{left:g}" y="{top:g}" width="{right - left:g}" height="{bottom - top:g}" rx="8" fill="{fill}" '
        'stroke="#94a3b8" stroke-width="1"/>'
    )
