"""A labelled place on a synthetic screen: one row of the table `grounding`.

Knows nothing of how screens are made.
"""

from __future__ import annotations

from pipeline.actions import Model, Point
from pipeline.structs import Box
from pipeline.words import GroundingKind, Platform


class GroundingTarget(Model):
    """What an instruction means; the box of a text ends where its letters end."""

    role: str
    name: str
    text: str
    box: Box


class Grounding(Model):
    """An instruction and the place it means; a refusal means none, for nothing on the screen fits it."""

    row_id: str
    screen_id: str
    screen_number: int
    """Which of the dataset's screens it is, from 0; the same seed and number give the same screen."""
    family: str
    platform: Platform
    shell: str
    theme: str
    language: str
    width: int
    height: int
    device_ratio: float
    frame_sha256: str
    instruction: str
    instruction_language: str
    kind: GroundingKind
    target: GroundingTarget | None
    point: Point | None
    """The middle of the target's box, canonical."""
    refusal: bool
    seed: int
    split: str
    label_hash: str
    """Hash of what is asked for, apart from the words; with `phash` it occurs once."""
    phash: str
    """What the target looks like, in 64 bits; of a refusal, the whole picture."""
