"""Plain forms with names in both languages.

Knows nothing of types of puzzles.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cache

from pipeline.puzzles.answers import Region, Spot
from pipeline.puzzles.art import polygon, regular
from pipeline.puzzles.icons import turned

FORMS: dict[str, tuple[str, str]] = {
    "circle": ("circle", "圆形"),
    "square": ("square", "正方形"),
    "triangle": ("triangle", "三角形"),
    "star": ("star", "五角星"),
    "heart": ("heart", "心形"),
    "cross": ("cross", "十字形"),
    "hexagon": ("hexagon", "六边形"),
    "moon": ("crescent moon", "月牙形"),
}
"""Forms that nobody takes for each other: English, Chinese."""


def _arc(centre: Spot, radius: float, start: int, end: int) -> list[Spot]:
    """Places on a circle, in degrees clockwise from the top."""
    step = 6 if end > start else -6
    return [
        (centre[0] + radius * math.sin(math.radians(angle)), centre[1] - radius * math.cos(math.radians(angle)))
        for angle in range(start, end + 1 if step > 0 else end - 1, step)
    ]


def _star() -> list[Spot]:
    outer, inner = regular((0, 0), 1, 5), regular((0, 0), 0.42, 5, 36)
    return [corner for pair in zip(outer, inner, strict=True) for corner in pair]


def _heart() -> list[Spot]:
    rounds = [math.radians(angle) for angle in range(0, 360, 8)]
    return [
        (16 * math.sin(t) ** 3, -(13 * math.cos(t) - 5 * math.cos(2 * t) - 2 * math.cos(3 * t) - math.cos(4 * t)))
        for t in rounds
    ]


def _cross() -> list[Spot]:
    arm, end = 1.0, 3.0
    corner = [(-arm, -end), (arm, -end), (arm, -arm)]
    return [turned(spot, (0, 0), 90 * quarter) for quarter in range(4) for spot in corner]


_OUTLINES: dict[str, Callable[[], list[Spot]]] = {
    "circle": lambda: regular((0, 0), 1, 60),
    "square": lambda: regular((0, 0), 1, 4, 45),
    "triangle": lambda: regular((0, 0), 1, 3),
    "star": _star,
    "heart": _heart,
    "cross": _cross,
    "hexagon": lambda: regular((0, 0), 1, 6),
    "moon": lambda: _arc((0, 0), 1, 150, 390) + _arc((0.45, 0), 0.867, 3, -177),
}


@cache
def _outline(name: str) -> tuple[Spot, ...]:
    """The corners of a form around 0, 0, whose longer side is 1."""
    corners = _OUTLINES[name]()
    across, down = [x for x, _ in corners], [y for _, y in corners]
    side = max(max(across) - min(across), max(down) - min(down))
    middle = ((max(across) + min(across)) / 2, (max(down) + min(down)) / 2)
    return tuple(((x - middle[0]) / side, (y - middle[1]) / side) for x, y in corners)


def form_outline(name: str, spot: Spot, size: float, angle: float = 0.0) -> Region:
    """A form whose box has its middle at a place and is `size` along its longer side, turned clockwise."""
    corners = [(spot[0] + x * size, spot[1] + y * size) for x, y in _outline(name)]
    return Region(corners=[turned(corner, spot, angle) for corner in corners])


def form(name: str, spot: Spot, size: float, attributes: str, angle: float = 0.0) -> str:
    """A form as it is drawn."""
    return polygon(form_outline(name, spot, size, angle).corners, f'stroke-linejoin="round" {attributes}')
