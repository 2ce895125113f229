"""All types of puzzles, by name. Knows nothing of how they are shown."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pipeline.puzzles.kinds import icon_click, icon_forms, text_click
from pipeline.puzzles.puzzle import PuzzleType

TYPES: Mapping[str, PuzzleType[Any]] = {
    one.name: one for one in (*icon_click.TYPES, *icon_forms.TYPES, *text_click.TYPES)
}
