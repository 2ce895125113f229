"""All puzzles that are thought about, from the modules that they are written in."""

from __future__ import annotations

from typing import Any

from pipeline.puzzles.kinds import (
    reasoning_counts,
    reasoning_cubes,
    reasoning_light,
    reasoning_numbers,
    reasoning_patterns,
    reasoning_scenes,
    reasoning_solids,
)
from pipeline.puzzles.puzzle import PuzzleType

TYPES: tuple[PuzzleType[Any], ...] = (
    *reasoning_counts.TYPES,
    *reasoning_cubes.TYPES,
    *reasoning_light.TYPES,
    *reasoning_numbers.TYPES,
    *reasoning_patterns.TYPES,
    *reasoning_scenes.TYPES,
    *reasoning_solids.TYPES,
)
