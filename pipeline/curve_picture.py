"""The curve of a calibration as an SVG picture: how much is accepted, how much of that is wrong, how much is found.

Knows nothing of how a curve is measured.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from html import escape

from verifiers.metrics import Point

_WIDTH, _HEIGHT, _LEFT, _TOP, _SIDE = 640, 440, 60, 40, 340
_TICKS = 5


def draw_curve(points: Sequence[Point], title: str) -> str:
    """A self-contained picture; legible in black and white."""
    lines = [
        _line(points, lambda point: point.risk, "#b03030", "", "wrong among the accepted", 0),
        _line(points, lambda point: point.recall, "#2050a0", "6 4", "found of all that is right", 1),
    ]
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" width="{_WIDTH}" height="{_HEIGHT}"'
            ' font-family="sans-serif" font-size="12">',
            '<rect width="100%" height="100%" fill="white"/>',
            f'<text x="{_LEFT}" y="22" font-size="14">{escape(title)}</text>',
            *_axes(),
            *lines,
            "</svg>\n",
        ]
    )


def _axes() -> list[str]:
    drawn = [f'<rect x="{_LEFT}" y="{_TOP}" width="{_SIDE}" height="{_SIDE}" fill="none" stroke="#888"/>']
    for tick in range(_TICKS + 1):
        share = tick / _TICKS
        drawn.append(f'<text x="{_x(share):.0f}" y="{_TOP + _SIDE + 18}" text-anchor="middle">{share:.1f}</text>')
        drawn.append(f'<text x="{_LEFT - 8}" y="{_y(share) + 4:.0f}" text-anchor="end">{share:.1f}</text>')
    middle = _LEFT + _SIDE // 2
    return [*drawn, f'<text x="{middle}" y="{_HEIGHT - 20}" text-anchor="middle">share that is accepted</text>']


def _line(
    points: Sequence[Point], height: Callable[[Point], float], colour: str, dashes: str, label: str, place: int
) -> str:
    way = " ".join(f"{_x(point.coverage):.1f},{_y(height(point)):.1f}" for point in points)
    stroke = f'fill="none" stroke="{colour}" stroke-width="2" stroke-dasharray="{dashes}"'
    left, top = _LEFT + _SIDE + 12, _TOP + 20 + 22 * place
    return (
        f'<polyline points="{way}" {stroke}/>'
        f'<line x1="{left}" y1="{top}" x2="{left + 26}" y2="{top}" {stroke}/>'
        f'<text x="{left + 32}" y="{top + 4}">{escape(label)}</text>'
    )


def _x(share: float) -> float:
    return _LEFT + share * _SIDE


def _y(share: float) -> float:
    return _TOP + (1 - share) * _SIDE
