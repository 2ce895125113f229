"""Pictures: PNG bytes from a capture tool become a `Frame`, or the reason why they are none.

Every driver takes its pictures through `frame_of`, so that no black, half or damaged picture is ever stored. It repairs
exactly two kinds of damage that lose nothing: text around the picture, and line feeds turned into CR LF on the way.
This module knows nothing of browsers, phones or machines.
"""

from __future__ import annotations

import hashlib
import io
import struct
import zlib
from typing import NamedTuple

from PIL import Image as Pictures

from pipeline.errors import CaptureError
from pipeline.records import Frame
from pipeline.structs import Image

SIGNATURE = b"\x89PNG\r\n\x1a\n"
MAX_PIXELS = 50_000_000
"""Larger pictures are refused before they are decoded."""

_CHUNK_OVERHEAD = 12
_HEADER_BYTES = 13
_CHANNELS = {0: 1, 2: 3, 4: 2, 6: 4}
"""Samples per pixel by colour type; palettes (3) are rare enough for a decoder."""
_LAST_FILTER = 4
"""Each row begins with the number of its filter, and there are five."""
_DAMAGES = (b"\r\r\n", b"\r\n")
"""What a line feed may have become on a terminal on the way."""


def frame_of(data: bytes) -> Frame:
    """The frame of a capture's bytes; raises CaptureError `empty`, `truncated` or `undecodable`."""
    parts = _parts_of(data)
    width, height = _decoded(parts)
    digest = hashlib.sha256(parts.png).hexdigest()
    return Frame(sha256=digest, image=Image(bytes=parts.png, path=f"{digest}.png"), width=width, height=height)


class _Parts(NamedTuple):
    """A PNG from its signature to its end chunk, and what it says of its pixels."""

    png: bytes
    header: bytes
    pixels: bytes
    followed: bool
    """Whether anything comes between the pixels, or between them and the end."""


def _parts_of(data: bytes) -> _Parts:
    """Find the picture among a capture's bytes; raises CaptureError."""
    if not data.strip():
        raise CaptureError("empty", "the capture returned nothing")
    found = data.find(SIGNATURE)
    if found >= 0:
        return _walked(data[found:])
    for damage in _DAMAGES:
        found = data.find(SIGNATURE.replace(b"\n", damage))
        if found >= 0:
            return _walked(data[found:].replace(damage, b"\n"))
    if any(data.endswith(SIGNATURE[:length]) for length in range(4, len(SIGNATURE))):
        raise CaptureError("truncated", "the picture ends within its signature")
    raise CaptureError("undecodable", f"no PNG signature in {len(data)} bytes")


def _walked(data: bytes) -> _Parts:
    """Check every chunk and cut after the end chunk."""
    at, header, pixels, followed = len(SIGNATURE), b"", list[bytes](), False
    while at + _CHUNK_OVERHEAD <= len(data):
        end = at + _CHUNK_OVERHEAD + int.from_bytes(data[at : at + 4], "big")
        if end > len(data):
            break
        kind, body = data[at + 4 : at + 8], data[at + 8 : end - 4]
        if zlib.crc32(data[at + 4 : end - 4]) != int.from_bytes(data[end - 4 : end], "big"):
            raise CaptureError("undecodable", f"chunk {kind!r} is damaged")
        if kind == b"IHDR":
            header = body
        elif kind == b"IDAT":
            pixels.append(body)
        elif kind == b"IEND":
            return _Parts(data[:end], header, b"".join(pixels), followed)
        followed = followed or (bool(pixels) and kind != b"IDAT")
        at = end
    raise CaptureError("truncated", f"the picture ends after {len(data)} bytes without its end chunk")


def _decoded(parts: _Parts) -> tuple[int, int]:
    """Width and height of a picture whose pixels are all there; raises CaptureError."""
    if len(parts.header) != _HEADER_BYTES:
        raise CaptureError("undecodable", "the picture has no header")
    width, height = int.from_bytes(parts.header[:4], "big"), int.from_bytes(parts.header[4:8], "big")
    depth, colours, interlaced = parts.header[8], parts.header[9], parts.header[12]
    if not 0 < width * height <= MAX_PIXELS:
        raise CaptureError("undecodable", f"a picture of {width}x{height} pixels")
    counted = colours in _CHANNELS and not interlaced
    try:
        with Pictures.open(io.BytesIO(parts.png), formats=["PNG"]) as picture:
            # That has read what comes before the pixels, and refused what no decoder knows.
            if parts.followed or not counted:
                picture.load()
        if not counted:
            return width, height
        # Decoders fill what is missing with black; so the rows are counted. To check how each begins is then all that
        # is left of decoding, and takes no time, where decoding would take as much again.
        row = (width * _CHANNELS[colours] * depth + 7) // 8 + 1
        rows = zlib.decompress(parts.pixels)
        if len(rows) != row * height:
            raise CaptureError("undecodable", f"{len(rows)} bytes of pixels where {row * height} belong")
        if max(rows[::row]) > _LAST_FILTER:
            raise CaptureError("undecodable", "a row of the picture has a filter that there is none of")
    except (IndexError, OSError, SyntaxError, ValueError, struct.error, zlib.error) as error:
        raise CaptureError("undecodable", f"{type(error).__name__}: {error}") from error
    return width, height
