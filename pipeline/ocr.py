"""Text in pictures, read on the processor by the PP-OCR models that ship with rapidocr.

One engine per `PictureReader`, made at its first picture. Reading is plain computation and bounded: the engine shrinks
a picture whose longer side exceeds `MAX_SIDE`. This module knows nothing of what the text is wanted for.
"""

from __future__ import annotations

import io
import math
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import rapidocr
from PIL import Image, UnidentifiedImageError

from pipeline.errors import CaptureError, WorkerError, boundary
from pipeline.records import Frame
from pipeline.structs import Box

MAX_SIDE = 2000
"""Longest side, in pixels, that is read as it is."""
_SETTINGS = {
    "Global.max_side_len": MAX_SIDE,
    "Global.log_level": "critical",
    "Global.use_cls": False,  # screens are upright
    "EngineConfig.onnxruntime.intra_op_num_threads": 1,  # several workers share the processor
    "EngineConfig.onnxruntime.inter_op_num_threads": 1,
}


class Line(NamedTuple):
    """A line of text in a picture, and where it stands."""

    text: str
    box: Box


class PictureReader:
    """Reads the lines of text in pictures."""

    def read(self, frame: Frame) -> list[str]:
        """The lines of text, top to bottom; raises CaptureError for bytes that are no picture."""
        return [line.text for line in self.lines(frame)]

    def lines(self, frame: Frame) -> list[Line]:
        """The lines of text with their places; raises as `read`."""
        pixels = _pixels(frame)
        with boundary(WorkerError, "ocr"):
            found = self._engine(pixels)
        if found.txts is None or found.boxes is None:
            return []
        return [Line(str(text), _box(corners)) for text, corners in zip(found.txts, found.boxes, strict=True)]

    @cached_property
    def _engine(self) -> Any:
        """Loading takes a second or two, so it waits until a picture has to be read."""
        return rapidocr.RapidOCR(params=_SETTINGS)


def _box(corners: Any) -> Box:
    """The upright rectangle around four corners."""
    across, down = [float(x) for x, _ in corners], [float(y) for _, y in corners]
    left, top, right, bottom = min(across), min(down), max(across), max(down)
    return Box(left=math.floor(left), top=math.floor(top), right=math.ceil(right), bottom=math.ceil(bottom))


def _pixels(frame: Frame) -> Any:
    try:
        with Image.open(io.BytesIO(frame.image.bytes)) as picture:
            return np.asarray(picture.convert("RGB"))
    except (UnidentifiedImageError, OSError, ValueError, Image.DecompressionBombError) as error:
        raise CaptureError("undecodable", f"picture {frame.sha256[:12]}: {error}") from error
