"""A puzzle on its page with the actions that solve it: one row of the table `puzzles`.

Knows nothing of how puzzles are made.
"""

from __future__ import annotations

from typing import Literal

from pipeline.actions import Model, Point
from pipeline.structs import Box
from pipeline.words import Platform, PuzzleKind


class PuzzleMove(Model):
    """One action of a solution, in canonical coordinates."""

    type: Literal["Click", "Drag", "LongPress", "Type", "Wait"]
    point: Point | None
    """Where it points, or a drag begins."""
    end: Point | None
    """Where a drag ends."""
    content: str | None
    target: Box | None
    """Where the point must lie, in pixels of the picture: in or, where it is no rectangle, in the box around a mark, a
    handle, what is dragged, a field or a button."""
    end_target: Box | None
    """Where a drag must end, likewise; null where its end is judged by an angle, or a way leads on from there."""


class PuzzleRow(Model):
    """A puzzle that was drawn, proved, shown, solved by these actions, and found to refuse wrong answers."""

    row_id: str
    number: int
    """Which of the dataset's puzzles it is, from 0."""
    type: str
    kind: PuzzleKind
    seed: int
    level: int
    language: str
    platform: Platform
    width: int
    height: int
    device_ratio: float
    frame_sha256: str
    instruction: str
    """What the page asks for, as it stands on it."""
    moves: list[PuzzleMove]
    ordered: bool
    """Whether the moves are right in this order only."""
    tolerance: float | None
    """The part of its length by which each drag may at most be longer or shorter, `end_target` says what is right; null
    where ends need only lie in regions."""
    answer: str
    """The answer as JSON, in units of the art."""
    state: str
    """The latent state as JSON: all that decides the answer."""
    refused: int
    """Wrong answers that were given to the page and refused by it."""
    split: str
