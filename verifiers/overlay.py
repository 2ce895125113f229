"""Where an action happens, drawn on the picture it was decided on, without hiding what is there.

A press is a ring around the point, a stroke a line from ring to ring that stops short of both; each is drawn in two
colours so that it shows on any ground. The pixels inside a ring stay as they were. Of a small target there is a copy
without a mark, enlarged.
"""

from __future__ import annotations

import hashlib
import io
import math
from collections.abc import Sequence

from PIL import Image as Pictures
from PIL import ImageDraw

from pipeline.actions import Pixel
from pipeline.records import Frame
from pipeline.structs import Box, Image

_RADIUS_SHARE = 0.02
_LEAST_RADIUS = 14
_OUTER, _INNER = (255, 255, 255), (230, 0, 60)
_PNG_LEVEL = 3
_SMALL = 24
"""Pixels of the shorter side below which a target is small."""
_AROUND, _ENLARGED = 160, 2


def marked(frame: Frame, points: Sequence[Pixel]) -> Frame:
    """A copy of the picture with rings at the points (in its pixels; a second point is where a stroke ends)."""
    if not points:
        return frame
    with Pictures.open(io.BytesIO(frame.image.bytes), formats=["PNG"]) as stored:
        picture = stored.convert("RGB")
    radius = max(_LEAST_RADIUS, round(_RADIUS_SHARE * max(picture.size)))
    draw = ImageDraw.Draw(picture)
    for colour, width in ((_OUTER, 6), (_INNER, 3)):
        if len(points) > 1:
            _line(draw, points[0], points[-1], radius, colour, width)
        for point in points:
            around = (point.x - radius, point.y - radius, point.x + radius, point.y + radius)
            draw.ellipse(around, outline=colour, width=width)
    return _frame(picture)


def close_up(frame: Frame, point: Pixel, box: Box | None) -> Frame | None:
    """The surroundings of a small target, enlarged and without a mark; null where the target is large enough."""
    if box is not None and min(box.right - box.left, box.bottom - box.top) >= _SMALL:
        return None
    with Pictures.open(io.BytesIO(frame.image.bytes), formats=["PNG"]) as stored:
        width, height = min(_AROUND, stored.width), min(_AROUND, stored.height)
        left = min(max(point.x - width // 2, 0), stored.width - width)
        top = min(max(point.y - height // 2, 0), stored.height - height)
        cut = stored.convert("RGB").crop((left, top, left + width, top + height))
    return _frame(cut.resize((width * _ENLARGED, height * _ENLARGED), Pictures.Resampling.LANCZOS))


def _line(
    draw: ImageDraw.ImageDraw, start: Pixel, end: Pixel, radius: int, colour: tuple[int, int, int], width: int
) -> None:
    """From the edge of one ring to that of the other."""
    length = math.hypot(end.x - start.x, end.y - start.y)
    if length <= 2 * radius:
        return
    dx, dy = (end.x - start.x) * radius / length, (end.y - start.y) * radius / length
    draw.line((start.x + dx, start.y + dy, end.x - dx, end.y - dy), fill=colour, width=width)


def _frame(picture: Pictures.Image) -> Frame:
    out = io.BytesIO()
    picture.save(out, "PNG", compress_level=_PNG_LEVEL)
    png = out.getvalue()
    return Frame(
        sha256=hashlib.sha256(png).hexdigest(), image=Image(bytes=png), width=picture.width, height=picture.height
    )
