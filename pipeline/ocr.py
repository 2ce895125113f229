"""Text in pictures, read on the processor by the PP-OCR models that ship with rapidocr.

One engine per `PictureReader`, made at its first picture. Reading is plain computation and bounded: the engine shrinks
a picture whose longer side exceeds `MAX_SIDE`. This module knows nothing of what the text is wanted for.
"""

from __future__ import annotations

import io
from functools import cached_property
from typing import Any

import numpy as np
import rapidocr
from PIL import Image, UnidentifiedImageError

from pipeline.errors import CaptureError, WorkerError, boundary
from pipeline.records import Frame

MAX_SIDE = 2000
"""Longest side, in pixels, that is read as it is."""
_SETTINGS = {
    "Global.max_side_len": MAX_SIDE,
    "Global.log_level": "critical",
    "Global.use_cls": False,  # screens are upright
    "EngineConfig.onnxruntime.intra_op_num_threads": 1,  # several workers share the processor
    "EngineConfig.onnxruntime.inter_op_num_threads": 1,
}


class PictureReader:
    """Reads the lines of text in pictures."""

    def read(self, frame: Frame) -> list[str]:
        """The lines of text, top to bottom; raises CaptureError for bytes that are no picture."""
        pixels = _pixels(frame)
        with boundary(WorkerError, "ocr"):
            found = self._engine(pixels)
        return [str(text) for text in found.txts or ()]

    @cached_property
    def _engine(self) -> Any:
        """Loading takes a second or two, so it waits until a picture has to be read."""
        return rapidocr.RapidOCR(params=_SETTINGS)


def _pixels(frame: Frame) -> Any:
    try:
        with Image.open(io.BytesIO(frame.image.bytes)) as picture:
            return np.asarray(picture.convert("RGB"))
    except (UnidentifiedImageError, OSError, ValueError, Image.DecompressionBombError) as error:
        raise CaptureError("undecodable", f"picture {frame.sha256[:12]}: {error}") from error
