"""A picture of a screen as PNG, of its pixels and the pointer's. Knows nothing of where they come from."""

from __future__ import annotations

import io

from PIL import Image as Pictures
from PIL import ImageChops

from pipeline.envs.x11_display import Cursor

_COMPRESSION = 1
"""Fast, and screens compress well."""


def png_of(pixels: bytes, width: int, height: int, cursor: Cursor) -> bytes:
    """The PNG of BGRX pixels with the pointer drawn on them."""
    screen = Pictures.frombuffer("RGB", (width, height), pixels, "raw", "BGRX")
    if cursor.width and cursor.height:
        # The pointer's colours are premultiplied, so it is laid over with what it covers taken off.
        pointer = Pictures.frombytes("RGBA", (cursor.width, cursor.height), cursor.pixels, "raw", "BGRA")
        spot = (cursor.left, cursor.top)
        screen = screen.copy()
        screen.paste(_over(screen, pointer, spot), spot)
    out = io.BytesIO()
    screen.save(out, "PNG", compress_level=_COMPRESSION)
    return out.getvalue()


def _over(screen: Pictures.Image, pointer: Pictures.Image, spot: tuple[int, int]) -> Pictures.Image:
    left, top = spot
    under = screen.crop((left, top, left + pointer.width, top + pointer.height))
    *colours, alpha = pointer.split()
    bands = []
    for below, above in zip(under.split(), colours, strict=True):
        covered = Pictures.composite(Pictures.new("L", below.size, 0), below, alpha)
        bands.append(ImageChops.add(covered, above))
    return Pictures.merge("RGB", bands)
