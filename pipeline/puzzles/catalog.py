"""All types of puzzles, by name. Knows nothing of how they are shown."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pipeline.puzzles.kinds import (
    drag_end,
    drag_grids,
    drag_maze,
    drag_things,
    drag_tiles,
    icon_click,
    icon_forms,
    image_rotation,
    ocr,
    ocr_lines,
    oneclick_login,
    rotation_dials,
    rotation_steps,
    slider_joining,
    slider_puzzle,
    slider_scales,
    text_click,
    visual_reasoning,
)
from pipeline.puzzles.puzzle import PuzzleType

_ALL: tuple[PuzzleType[Any], ...] = (
    *drag_end.TYPES,
    *drag_grids.TYPES,
    *drag_maze.TYPES,
    *drag_things.TYPES,
    *drag_tiles.TYPES,
    *icon_click.TYPES,
    *icon_forms.TYPES,
    *image_rotation.TYPES,
    *ocr.TYPES,
    *ocr_lines.TYPES,
    *oneclick_login.TYPES,
    *rotation_dials.TYPES,
    *rotation_steps.TYPES,
    *slider_joining.TYPES,
    *slider_puzzle.TYPES,
    *slider_scales.TYPES,
    *text_click.TYPES,
    *visual_reasoning.TYPES,
)

TYPES: Mapping[str, PuzzleType[Any]] = {one.name: one for one in _ALL}
