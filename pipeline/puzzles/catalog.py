"""All types of puzzles, by name. Knows nothing of how they are shown."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pipeline.puzzles.kinds import text_click
from pipeline.puzzles.puzzle import PuzzleType

TYPES: Mapping[str, PuzzleType[Any]] = {one.name: one for one in (*text_click.TYPES,)}
