"""Pictures: PNG bytes from a capture tool become a `Frame`, or the reason why they are none.

Every driver takes its pictures through `frame_of`, so that no black, half or damaged picture is ever stored. It repairs
exactly two kinds of damage that lose nothing: text around the picture, and line feeds turned into CR LF on the way.
This module knows nothing of browsers, phones or machines.
"""

from __future__ import annotations

import hashlib
import io
import zlib

from PIL import Image as Pictures

from pipeline.errors import CaptureError
from pipeline.records import Frame, Image

SIGNATURE = b"\x89PNG\r\n\x1a\n"
MAX_PIXELS = 50_000_000
"""Larger pictures are refused before they are decoded."""

_END = b"IEND"
_CHUNK_OVERHEAD = 12
_DAMAGES = (b"\r\r\n", b"\r\n")
"""What a line feed may have become on a terminal on the way."""


def frame_of(data: bytes) -> Frame:
    """The frame of a capture's bytes; raises CaptureError `empty`, `truncated` or `undecodable`."""
    png = png_of(data)
    width, height = _decoded(png)
    digest = hashlib.sha256(png).hexdigest()
    return Frame(sha256=digest, image=Image(bytes=png, path=f"{digest}.png"), width=width, height=height)


def png_of(data: bytes) -> bytes:
    """The PNG inside a capture's bytes, from signature to end chunk, every chunk checked; raises CaptureError."""
    if not data.strip():
        raise CaptureError("empty", "the capture returned nothing")
    found = data.find(SIGNATURE)
    if found >= 0:
        return _whole(data[found:])
    for damage in _DAMAGES:
        found = data.find(SIGNATURE.replace(b"\n", damage))
        if found >= 0:
            return _whole(data[found:].replace(damage, b"\n"))
    if any(data.endswith(SIGNATURE[:length]) for length in range(4, len(SIGNATURE))):
        raise CaptureError("truncated", "the picture ends within its signature")
    raise CaptureError("undecodable", f"no PNG signature in {len(data)} bytes")


def _whole(data: bytes) -> bytes:
    """Walk the chunks up to the end chunk and cut there."""
    at = len(SIGNATURE)
    while at + _CHUNK_OVERHEAD <= len(data):
        length = int.from_bytes(data[at : at + 4], "big")
        end = at + _CHUNK_OVERHEAD + length
        if end > len(data):
            break
        kind, check = data[at + 4 : at + 8], int.from_bytes(data[end - 4 : end], "big")
        if zlib.crc32(data[at + 4 : end - 4]) != check:
            raise CaptureError("undecodable", f"chunk {kind!r} is damaged")
        if kind == _END:
            return data[:end]
        at = end
    raise CaptureError("truncated", f"the picture ends after {len(data)} bytes without its end chunk")


def _decoded(png: bytes) -> tuple[int, int]:
    """Size of a picture that decodes to the last pixel."""
    width, height = int.from_bytes(png[16:20], "big"), int.from_bytes(png[20:24], "big")
    if width * height > MAX_PIXELS:
        raise CaptureError("undecodable", f"{width}x{height} pixels are too many")
    try:
        with Pictures.open(io.BytesIO(png), formats=["PNG"]) as picture:
            picture.load()
            return picture.size
    except (OSError, SyntaxError, ValueError, zlib.error) as error:
        raise CaptureError("undecodable", f"{type(error).__name__}: {error}") from error
