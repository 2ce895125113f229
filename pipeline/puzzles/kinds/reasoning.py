"""What puzzles of reasoning have in common: pictures on tiles, of which one is clicked.

Knows nothing of single types.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import ClassVar, TypeVar

from pipeline.puzzles.answers import Clicked, Region, Spot, rectangle
from pipeline.puzzles.art import mark, panel, paper
from pipeline.puzzles.puzzle import Language, PuzzleType, State
from pipeline.puzzles.scene import WIDTH, Pointer, Scene
from pipeline.words import PuzzleKind

GAP = 8.0
DARK = "#1e293b"


class Options(State):
    """The marks of the tiles, row by row, and the one that was meant."""

    marks: list[str]
    meant: str


OptionsT = TypeVar("OptionsT", bound=Options)


class OptionPuzzle(PuzzleType[OptionsT]):
    """One of several pictures on tiles is clicked."""

    kind: ClassVar[PuzzleKind] = "visual_reasoning"

    def picked(
        self,
        state: OptionsT,
        language: Language,
        regions: Mapping[str, Region],
        drawn: Sequence[str],
        *,
        height: float,
        above: str = "",
        **slots: object,
    ) -> Scene:
        """The scene of tiles with what is drawn on each, below what is drawn above them."""
        return Scene(
            ask=self.ask(state, language, **slots),
            art=paper(state.variant, height)
            + above
            + "".join(tile(name, regions[name], picture) for name, picture in zip(state.marks, drawn, strict=True)),
            height=height,
            control=Pointer(single=True),
            answer=Clicked(marks=[state.meant]),
            marks=dict(regions),
        )


def tiles(marks: Sequence[str], top: float, height: float, columns: int) -> dict[str, Region]:
    """Equal tiles in rows below a height of the art; a last row that is not full stands in the middle."""
    rows = math.ceil(len(marks) / columns)
    width, tall = (WIDTH - GAP * (columns + 1)) / columns, (height - GAP * (rows + 1)) / rows
    regions = {}
    for place, name in enumerate(marks):
        row, column = divmod(place, columns)
        missing = columns - min(columns, len(marks) - row * columns)
        left = GAP + (width + GAP) * (column + missing / 2)
        regions[name] = rectangle(
            round(left, 2), round(top + GAP + (tall + GAP) * row, 2), round(width, 2), round(tall, 2)
        )
    return regions


def land(region: Region, high: float, fill: str, rise: float = 0.0) -> str:
    """The lower part of a plate, up to a height in the art, with a hill in the middle."""
    left, _, right, bottom = region.edges
    left, right, bottom = left + 1, right - 1, bottom - 1
    return (
        f'<path d="M{left:g} {high:.1f}Q{(left + right) / 2:g} {high - rise:.1f} {right:g} {high:.1f}V{bottom - 7:g}'
        f'Q{right:g} {bottom:g} {right - 7:g} {bottom:g}H{left + 7:g}Q{left:g} {bottom:g} {left:g} {bottom - 7:g}Z" '
        f'fill="{fill}"/>'
    )


def area(corners: Sequence[Spot]) -> float:
    """What a polygon covers, in square units."""
    following = [*corners[1:], corners[0]]
    return abs(sum(x * b - a * y for (x, y), (a, b) in zip(corners, following, strict=True))) / 2


def tile(name: str, region: Region, *drawn: str) -> str:
    """A plate that can be clicked."""
    return mark(name, panel(region), *drawn)


PIPS: Mapping[int, Sequence[Spot]] = {
    1: [(0, 0)],
    2: [(-1, -1), (1, 1)],
    3: [(-1, -1), (0, 0), (1, 1)],
    4: [(-1, -1), (1, -1), (-1, 1), (1, 1)],
    5: [(-1, -1), (1, -1), (0, 0), (-1, 1), (1, 1)],
    6: [(-1, -1), (1, -1), (-1, 0), (1, 0), (-1, 1), (1, 1)],
}
"""Where the dots of a die's face are, in quarters of its side from its middle."""


def die_face(spot: Spot, side: float, pips: int, fill: str = "#ffffff", angle: float = 0.0) -> str:
    """The face of a die, seen from straight above."""
    x, y = spot
    ink = "#ffffff" if fill != "#ffffff" else DARK
    dots = "".join(
        f'<circle cx="{x + across * side / 4:g}" cy="{y + down * side / 4:g}" r="{side / 10:g}" fill="{ink}"/>'
        for across, down in PIPS[pips]
    )
    return (
        f'<g transform="rotate({angle:g} {x:g} {y:g})"><rect x="{x - side / 2:g}" y="{y - side / 2:g}" '
        f'width="{side:g}" height="{side:g}" rx="{side / 6:g}" fill="{fill}" stroke="{DARK}" stroke-width="1.2"/>'
        f"{dots}</g>"
    )
