"""What puzzles have in common in which things are drawn about: trays, grips, a marker, names that tell nothing."""

from __future__ import annotations

from random import Random
from typing import ClassVar

from pipeline.puzzles.answers import Spot
from pipeline.puzzles.art import part
from pipeline.puzzles.puzzle import PuzzleType, StateT
from pipeline.puzzles.scene import WIDTH
from pipeline.words import PuzzleKind

BRIGHT = ("#e11d48", "#2563eb", "#059669", "#d97706", "#7c3aed", "#0891b2")


class DragPuzzle(PuzzleType[StateT]):
    """Whatever is drawn about."""

    kind: ClassVar[PuzzleKind] = "drag_end"


def names(rng: Random, count: int, letter: str = "m") -> list[str]:
    """Names in any order."""
    found = [f"{letter}{number}" for number in range(count)]
    rng.shuffle(found)
    return found


def tray(top: float, height: float) -> str:
    """A panel across the art, in which things lie at the beginning."""
    return (
        f'<rect x="8" y="{top:g}" width="{WIDTH - 16:g}" height="{height:g}" rx="12" fill="#ffffff" '
        'fill-opacity="0.85" stroke="#cbd5e1"/>'
    )


def grip(spot: Spot, width: float, height: float | None = None) -> str:
    """Where a thing can be taken hold of, though it may be hollow there."""
    tall = width if height is None else height
    return (
        f'<rect x="{spot[0] - width / 2:g}" y="{spot[1] - tall / 2:g}" width="{width:g}" height="{tall:g}" '
        'fill="transparent"/>'
    )


def token(name: str, spot: Spot, colour: str, radius: float = 12.0) -> str:
    """A round marker that can be drawn about."""
    x, y = spot
    return part(
        name,
        f'<circle cx="{x:g}" cy="{y:g}" r="{radius:g}" fill="{colour}" stroke="#ffffff" stroke-width="2.5"/>'
        f'<circle cx="{x:g}" cy="{y:g}" r="{radius * 0.35:.1f}" fill="#ffffff"/>',
    )
