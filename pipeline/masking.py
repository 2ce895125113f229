"""Takes secrets and personal data out of rows: regions of pictures, nodes of trees, and the same texts elsewhere.

What is secret was decided when it was seen; here it is only carried through. Identities, hashes and closed words are
never touched, so every reference still holds. This module knows nothing of files.
"""

from __future__ import annotations

import hashlib
import io
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from typing import Any, Literal, TypeVar, get_args, get_origin

from PIL import Image as Pictures
from PIL import ImageDraw

from pipeline.actions import Model
from pipeline.errors import RunError
from pipeline.records import Frame, Tree, tree_of
from pipeline.structs import Box, Image, Node, Sensitive

MASK = "[redacted]"
SHORTEST = 4
"""Shorter texts are masked where they are flagged and nowhere else: they would be found in everything."""

_PAINT = "#303030"
_FIELDS = frozenset({"combobox", "searchbox", "spinbutton", "textbox"})
"""Roles whose name is a label and whose value is the content."""

Row = TypeVar("Row", bound=Model)


def hidden_nodes(tree: Tree, regions: Sequence[Sensitive]) -> list[Node]:
    """The nodes of a tree that lie in a region by half or more, so that the page around it is none of them."""
    return [node for node in tree.nodes if _hidden(node, regions)]


def secrets_of(nodes: Iterable[Node]) -> Iterator[str]:
    """The texts that hidden nodes show; labels of fields are none."""
    for node in nodes:
        text = node.value if node.value or node.role in _FIELDS else node.name
        if text.strip() and text != MASK:
            yield text


def focused_field(tree: Tree, regions: Sequence[Sensitive]) -> bool:
    """Whether what is typed now goes into a hidden field."""
    return any("focused" in node.states for node in hidden_nodes(tree, regions))


def masked_frame(frame: Frame, regions: Sequence[Sensitive]) -> Frame:
    """The frame with its regions painted over, under its new hash; raises RunError for one that does not decode."""
    if not regions:
        return frame
    try:
        with Pictures.open(io.BytesIO(frame.image.bytes), formats=["PNG"]) as opened:
            picture = opened.convert("RGB")
    except (OSError, SyntaxError) as error:
        raise RunError(f"picture {frame.sha256} cannot be masked, for it does not decode ({error})") from error
    brush = ImageDraw.Draw(picture)
    whole = Box(left=0, top=0, right=frame.width, bottom=frame.height)
    for region in regions:
        box = region.box or whole
        if box.right > box.left and box.bottom > box.top:
            brush.rectangle((box.left, box.top, box.right - 1, box.bottom - 1), fill=_PAINT)
    buffer = io.BytesIO()
    picture.save(buffer, "PNG")
    data = buffer.getvalue()
    name = hashlib.sha256(data).hexdigest()
    image = Image(bytes=data, path=f"{name}.png")
    return Frame(sha256=name, image=image, width=frame.width, height=frame.height, sensitive=list(regions))


class Texts:
    """Secret texts, and rows without them."""

    def __init__(self, secrets: Iterable[str]) -> None:
        # The longest first, so that no rest of a secret stays behind when another one is a part of it.
        self._secrets = sorted({text for text in secrets if len(text) >= SHORTEST}, key=lambda text: (-len(text), text))

    def within(self, text: str) -> bool:
        """Whether a secret stands in a text."""
        return any(secret in text for secret in self._secrets)

    def masked_tree(self, tree: Tree, regions: Sequence[Sensitive]) -> Tree:
        """The tree without the texts of its hidden nodes and without secrets, under its new hash."""
        nodes = [_blank(node) if _hidden(node, regions) else node for node in tree.nodes]
        made = tree_of(self.masked(node) for node in nodes)
        return made.model_copy(update={"sensitive": list(regions)})

    def masked(self, row: Row) -> Row:
        """The row with every secret in its free texts replaced."""
        if not self._secrets:
            return row
        changes = {}
        for name in _open_fields(type(row)):
            old = getattr(row, name)
            new = self._masked(old)
            if new != old:
                changes[name] = new
        return row.model_copy(update=changes) if changes else row

    def _masked(self, value: Any) -> Any:
        match value:
            case str():
                for secret in self._secrets:
                    value = value.replace(secret, MASK)
                return value
            case list():
                return [self._masked(inner) for inner in value]
            case Model():
                return self.masked(value)
            case _:
                return value


def _hidden(node: Node, regions: Sequence[Sensitive]) -> bool:
    return any(
        region.box is None or (node.box is not None and _half_within(node.box, region.box)) for region in regions
    )


def _half_within(box: Box, region: Box) -> bool:
    wide = min(box.right, region.right) - max(box.left, region.left)
    high = min(box.bottom, region.bottom) - max(box.top, region.top)
    area = (box.right - box.left) * (box.bottom - box.top)
    return wide > 0 and high > 0 and 2 * wide * high >= area


def _blank(node: Node) -> Node:
    name = node.name if node.role in _FIELDS or not node.name else MASK
    return node.model_copy(update={"name": name, "value": MASK if node.value else ""})


@cache
def _open_fields(kind: type[Model]) -> tuple[str, ...]:
    return tuple(
        name
        for name, info in kind.model_fields.items()
        if not name.endswith(("_id", "_ids", "sha256", "sha256s")) and not _closed(info.annotation)
    )


def _closed(annotation: Any) -> bool:
    """Whether a type allows only given words."""
    return get_origin(annotation) is Literal or any(_closed(inner) for inner in get_args(annotation))
