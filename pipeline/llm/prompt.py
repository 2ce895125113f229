"""What a model is shown: messages of text and pictures, and the pictures' encoding.

A frame is resized and encoded at most once per size while it is remembered. This module knows nothing of what the
messages say.
"""

from __future__ import annotations

import base64
import io
from collections import OrderedDict
from collections.abc import Sequence
from typing import Literal, NamedTuple

from PIL import Image as Pictures

from pipeline.records import Frame

_PNG_LEVEL = 3
"""Beyond it, time grows much faster than size shrinks."""


class Picture(NamedTuple):
    """A PNG by the hash of its bytes, and the size it is to be shown in."""

    sha256: str
    png: bytes
    width: int
    height: int


class Message(NamedTuple):
    """One turn of a conversation, its parts in order."""

    role: Literal["system", "user", "assistant"]
    parts: tuple[str | Picture, ...]


Prompt = Sequence[Message]


def picture_of(frame: Frame, width: int | None = None, height: int | None = None) -> Picture:
    """The stored frame as a picture, in its own size unless another is wanted."""
    return Picture(frame.sha256, frame.image.bytes, width or frame.width, height or frame.height)


def pictures_in(prompt: Prompt) -> int:
    """How many pictures a prompt shows."""
    return sum(isinstance(part, Picture) for message in prompt for part in message.parts)


class PictureEncoder:
    """Data URLs of pictures, remembered up to `most_characters` in all, the least recently used forgotten first."""

    def __init__(self, most_characters: int = 128_000_000) -> None:
        self._most = most_characters
        self._size = 0
        self._urls: OrderedDict[tuple[str, int, int], str] = OrderedDict()
        self.encoded = 0
        """How many pictures have been encoded so far."""

    def data_url(self, picture: Picture) -> str:
        """The picture in its wanted size as a data URL."""
        name = (picture.sha256, picture.width, picture.height)
        url = self._urls.get(name)
        if url is not None:
            self._urls.move_to_end(name)
            return url
        url = f"data:image/png;base64,{base64.b64encode(_resized(picture)).decode('ascii')}"
        self.encoded += 1
        self._remember(name, url)
        return url

    def _remember(self, name: tuple[str, int, int], url: str) -> None:
        self._urls[name] = url
        self._size += len(url)
        while self._size > self._most:
            _, forgotten = self._urls.popitem(last=False)
            self._size -= len(forgotten)


def _resized(picture: Picture) -> bytes:
    wanted = (picture.width, picture.height)
    with Pictures.open(io.BytesIO(picture.png), formats=["PNG"]) as stored:
        if stored.size == wanted:
            return picture.png
        out = io.BytesIO()
        stored.convert("RGB").resize(wanted, Pictures.Resampling.LANCZOS).save(out, "PNG", compress_level=_PNG_LEVEL)
    return out.getvalue()
