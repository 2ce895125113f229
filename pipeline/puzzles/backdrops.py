"""Pictures behind and inside puzzles: landscapes in flat layers, different from variant to variant.

Everything is in the units of a scene. Knows nothing of types of puzzles.
"""

from __future__ import annotations

import math
from random import Random
from typing import NamedTuple

from pipeline.puzzles.scene import WIDTH


class _Palette(NamedTuple):
    """From the top of the sky to the meadow in front; what shines, what grows, what stands about."""

    sky: tuple[str, str, str]
    hills: tuple[str, str, str]
    light: str
    tree: str
    house: str


_PALETTES = (
    _Palette(("#7cc4f4", "#a9daf8", "#d6eefb"), ("#8fb8a8", "#5f9f7a", "#3f7d54"), "#fff3b0", "#255c3a", "#e76f51"),
    _Palette(("#f7b267", "#f9c784", "#fbe0b0"), ("#c97b84", "#a85d7a", "#6d3b63"), "#fffaf0", "#4a2545", "#ffd6a5"),
    _Palette(("#27305f", "#3b4a86", "#5a6bab"), ("#3f4e7c", "#2b3860", "#1b2442"), "#f4f1de", "#131a33", "#e9c46a"),
    _Palette(("#9bd4d0", "#bfe5df", "#e3f4ee"), ("#5bb0b3", "#3a8e9c", "#e7cf9f"), "#fffbe0", "#2f6f5e", "#d1495b"),
    _Palette(("#f2d0a9", "#f6dfc4", "#faefe0"), ("#dca46a", "#c4804a", "#99592f"), "#fff6e3", "#5c6b3c", "#7b3f20"),
    _Palette(("#c3b8ea", "#d9d0f3", "#efe9fb"), ("#9d8cd0", "#7662b3", "#4b3c87"), "#ffe9f3", "#32265f", "#f28ab2"),
)


def landscape(variant: int, height: float, left: float = 0.0, right: float = WIDTH) -> str:
    """Sky, sun, clouds, three ranges of hills, trees and houses between two edges; nothing in it repeats."""
    rng = Random(f"landscape {variant}")
    colours = rng.choice(_PALETTES)
    third = height / 3
    sky = "".join(
        f'<rect x="{left:g}" y="{number * third:.1f}" width="{right - left:g}" height="{third + 1:.1f}" fill="{tint}"/>'
        for number, tint in enumerate(colours.sky)
    )
    sun = (
        f'<circle cx="{rng.uniform(40, WIDTH - 40):.0f}" cy="{rng.uniform(0.12, 0.3) * height:.0f}" '
        f'r="{rng.uniform(14, 24):.0f}" fill="{colours.light}"/>'
    )
    clouds = "".join(_cloud(rng, left, right, height) for _ in range(round((right - left) / 90)))
    return sky + sun + clouds + "".join(_range(rng, colours, level, height, left, right) for level in range(3))


def pale(variant: int, height: float) -> str:
    """A landscape so faint that letters of every dark colour are read on it."""
    white = f'<rect width="{WIDTH:g}" height="{height:g}" fill="#fff"/>'
    return f'{white}<g opacity="0.32">{landscape(variant, height)}</g>'


def _cloud(rng: Random, left: float, right: float, height: float) -> str:
    x, y, size = rng.uniform(left, right), rng.uniform(0.08, 0.4) * height, rng.uniform(10, 20)
    return (
        f'<path fill="#fff" fill-opacity="0.7" d="M{x:.0f} {y:.0f}a{size:.1f} {size * 0.6:.1f} 0 0 1 {size * 1.2:.1f} '
        f"{-size * 0.5:.1f}a{size:.1f} {size * 0.7:.1f} 0 0 1 {size * 1.7:.1f} {size * 0.2:.1f}"
        f'a{size * 0.6:.1f} {size * 0.4:.1f} 0 0 1 {size * 0.3:.1f} {size * 0.3:.1f}z"/>'
    )


def _range(rng: Random, colours: _Palette, level: int, height: float, left: float, right: float) -> str:
    """A range of hills and what stands on it; nearer ones are lower and darker."""
    base = height * (0.5 + 0.17 * level)
    waves = [(height * rng.uniform(0.03, 0.09), rng.uniform(40, 130), rng.uniform(0, math.tau)) for _ in range(3)]

    def top(x: float) -> float:
        return base + sum(rise * math.sin(x / length + phase) for rise, length, phase in waves)

    steps = range(int(left), int(right) + 8, 8)
    crest = "L".join(f"{x} {top(x):.1f}" for x in steps)
    hills = f'<path fill="{colours.hills[level]}" d="M{left:g} {height:g}L{crest}V{height:g}Z"/>'
    things = []
    x = left + rng.uniform(0, 20)
    while x < right:
        draw = rng.choice((_fir, _tree, _house) if level else (_fir, _fir, _tree))
        things.append(draw(colours, x, top(x) + 2, (0.11 + 0.05 * level) * height * rng.uniform(0.7, 1.2)))
        x += rng.uniform(14, 70)
    return "".join(things) + hills


def _fir(colours: _Palette, x: float, y: float, size: float) -> str:
    wide, narrow, half = size * 0.22, size * 0.12, size * 0.5
    left = f"l{wide:.1f} {half:.1f}h{-2 * (wide + wide - narrow / 2):.1f}l{wide:.1f} {-half:.1f}h{-narrow:.1f}z"
    return f'<path fill="{colours.tree}" d="M{x:.1f} {y - size:.1f}l{size * 0.28:.1f} {half:.1f}h{-narrow:.1f}{left}"/>'


def _tree(colours: _Palette, x: float, y: float, size: float) -> str:
    return (
        f'<path stroke="{colours.tree}" stroke-width="{size * 0.12:.1f}" d="M{x:.1f} {y:.1f}v{-size * 0.6:.1f}"/>'
        f'<circle cx="{x:.1f}" cy="{y - size * 0.68:.1f}" r="{size * 0.32:.1f}" fill="{colours.tree}" '
        'fill-opacity="0.9"/>'
    )


def _house(colours: _Palette, x: float, y: float, size: float) -> str:
    side = size * 0.7
    return (
        f'<path fill="#fdf6ec" d="M{x:.1f} {y:.1f}v{-side:.1f}h{side:.1f}v{side:.1f}z"/>'
        f'<path fill="{colours.house}" d="M{x - side * 0.15:.1f} {y - side:.1f}l{side * 0.65:.1f} {-side * 0.5:.1f}'
        f'l{side * 0.65:.1f} {side * 0.5:.1f}z"/>'
        f'<path fill="{colours.tree}" d="M{x + side * 0.38:.1f} {y:.1f}v{-side * 0.45:.1f}h{side * 0.24:.1f}'
        f'v{side * 0.45:.1f}z"/>'
    )
