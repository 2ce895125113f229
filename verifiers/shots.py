"""Which pictures of a trajectory a judge is shown: the distinct ones, in order, in windows that overlap.

Neighbouring pictures that are the same, or differ in nothing one could see, count as one; what was done on them stays
together. The first and the last picture are always kept; where there are too many, those that changed most stay.
"""

from __future__ import annotations

import io
from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from PIL import Image as Pictures

from pipeline.actions import Pixel
from pipeline.records import Frame, Record, Step
from pipeline.structs import Box

_CELLS = (64, 36)
"""Pictures are compared by the mean brightness of so many cells across and down."""
_SEEN = 6.0
"""How far the mean of one cell must move, of 255, for the change to be one that could be seen."""


class Shot(NamedTuple):
    """One distinct picture, the look it was first seen at, and the steps that acted on it, in order."""

    look: int
    frame: Frame
    steps: tuple[Step, ...]

    @property
    def points(self) -> list[Pixel]:
        """Where the first step that points at something points."""
        for step in self.steps:
            found = [point for point in (step.device_point, step.device_point_end) if point is not None]
            if found:
                return found
        return []

    @property
    def box(self) -> Box | None:
        """What the first step that points at something had under its point."""
        return next((step.target.box for step in self.steps if step.device_point and step.target), None)


def shots_of(record: Record) -> list[Shot]:
    """The distinct pictures of a trajectory, in order; looks without a picture have none."""
    found: list[Shot] = []
    for row in record.observations:
        frame = record.frames.get(row.frame_sha256 or "")
        steps = tuple(step for step in record.steps if step.step_index == row.observation_index)
        if frame is None:
            continue
        if found and change(found[-1].frame, frame) < _SEEN:
            found[-1] = found[-1]._replace(steps=found[-1].steps + steps)
        else:
            found.append(Shot(row.observation_index, frame, steps))
    return found


def chosen(shots: Sequence[Shot], most: int) -> list[Shot]:
    """At most `most` (two or more) of them: the first, the last, and those that changed most from their neighbour."""
    if len(shots) <= most:
        return list(shots)
    inner = range(1, len(shots) - 1)
    by_change = sorted(inner, key=lambda place: -change(shots[place - 1].frame, shots[place].frame))
    kept = {0, len(shots) - 1, *by_change[: most - 2]}
    return [shots[place] for place in sorted(kept)]


def windows_of(shots: Sequence[Shot], size: int, overlap: int = 1) -> list[list[Shot]]:
    """Runs of `size` shots; each begins with the last `overlap` of the one before."""
    if len(shots) <= size:
        return [list(shots)] if shots else []
    return [list(shots[start : start + size]) for start in range(0, len(shots) - overlap, size - overlap)]


def change(before: Frame, after: Frame) -> float:
    """How far the cell that moved most has moved, of 255; beyond that for another size."""
    if before.sha256 == after.sha256:
        return 0.0
    if (before.width, before.height) != (after.width, after.height):
        return 256.0
    return float(np.abs(_cells(_Keyed(before)) - _cells(_Keyed(after))).max())


class _Keyed:
    """A frame that is told from others by its hash alone, so that its cells are computed once."""

    def __init__(self, frame: Frame) -> None:
        self.frame = frame

    def __hash__(self) -> int:
        return hash(self.frame.sha256)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Keyed) and self.frame.sha256 == other.frame.sha256


@lru_cache(maxsize=64)
def _cells(keyed: _Keyed) -> NDArray[np.float32]:
    with Pictures.open(io.BytesIO(keyed.frame.image.bytes), formats=["PNG"]) as stored:
        small = stored.convert("L").resize(_CELLS, Pictures.Resampling.BOX)
    return np.asarray(small, dtype=np.float32)
