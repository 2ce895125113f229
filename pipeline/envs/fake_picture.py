"""Draws a UI tree as a picture: plain boxes and text, the same bytes for the same tree."""

from __future__ import annotations

import hashlib
import io
from collections.abc import Sequence

from PIL import Image as Pillow
from PIL import ImageDraw, ImageFont

from pipeline.records import Frame
from pipeline.structs import Box, Image, Node

_PAPER, _INK, _LINK, _FACE, _EDGE, _FOCUS = "#ffffff", "#202020", "#1a4fb4", "#e8e8ee", "#8a8a94", "#d06000"


def draw(nodes: Sequence[Node], width: int, height: int) -> Frame:
    """The picture of a tree, as a PNG frame."""
    picture = Pillow.new("RGB", (width, height), _PAPER)
    brush = ImageDraw.Draw(picture)
    font = ImageFont.load_default(size=13)
    for node in nodes:
        if node.box is not None and node.box.within(width, height):
            _element(brush, node, node.box, font)
    buffer = io.BytesIO()
    picture.save(buffer, "PNG", compress_level=1)
    data = buffer.getvalue()
    return Frame(sha256=hashlib.sha256(data).hexdigest(), image=Image(bytes=data), width=width, height=height)


def _element(
    brush: ImageDraw.ImageDraw, node: Node, box: Box, font: ImageFont.FreeTypeFont | ImageFont.ImageFont
) -> None:
    corners = (box.left, box.top, box.right - 1, box.bottom - 1)
    edge = _FOCUS if "focused" in node.states else _EDGE
    match node.role:
        case "button":
            brush.rectangle(corners, fill=_FACE, outline=edge)
            brush.text((box.left + 12, box.top + 5), node.name, fill=_INK, font=font)
        case "textbox" | "combobox":
            brush.rectangle(corners, fill=_PAPER, outline=edge)
            text = node.value or node.name
            brush.text((box.left + 6, box.top + 5), text, fill=_INK if node.value else _EDGE, font=font)
        case "checkbox":
            brush.rectangle(corners, fill=_INK if "checked" in node.states else _PAPER, outline=edge)
        case "link":
            brush.text((box.left, box.top + 4), node.name, fill=_LINK, font=font)
        case _:
            brush.text((box.left, box.top + 4), node.name, fill=_INK, font=font)
