"""Takes secrets and personal data out of rows: regions of pictures, nodes of trees, and the same texts elsewhere.

What is secret was decided when it was seen; here it is only carried through. Identities, hashes and closed words are
never touched, so every reference still holds. This module knows nothing of files.
"""

from __future__ import annotations

import hashlib
import io
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache
from typing import Any, Literal, TypeVar, get_args, get_origin

from PIL import Image as Pictures
from PIL import ImageDraw

from pipeline.actions import Model
from pipeline.config import PLACEHOLDER
from pipeline.errors import RunError
from pipeline.personal import KINDS, find
from pipeline.records import Frame, Tree, tree_of
from pipeline.spelling import pattern_of
from pipeline.structs import Box, Image, Node, Sensitive

MASK = "[redacted]"
_PAINT = "#303030"
_FIELDS = frozenset({"combobox", "searchbox", "spinbutton", "textbox"})
"""Roles whose name is a label and whose value is the content."""
_ENTERED = frozenset({"searchbox", "spinbutton", "textbox"})
"""Fields whose content is no choice from a list that everybody sees."""
_CONTROLS = frozenset(
    {"button", "checkbox", "menuitem", "menuitemcheckbox", "menuitemradio", "radio", "slider", "switch", "tab"}
)
"""Roles whose name says what they do."""

_STRUCTURE = frozenset({"role", "states"})
"""What a node is, not what it says."""

Row = TypeVar("Row", bound=Model)


def secrets_of(tree: Tree, regions: Sequence[Sensitive]) -> Iterator[str]:
    """The texts that regions of a tree hide: of a region with a box all it shows, without one what was entered.

    Of personal data it is the data alone, without the sentence around it; a placeholder is no secret any more.
    """
    for region in regions:
        nodes = hidden_nodes(tree, [region])
        for text in _entered(nodes) if region.box is None else _shown(nodes):
            pieces = [text[piece.start : piece.end] for piece in find(text)] if region.class_ in KINDS else []
            yield from pieces or filter(says_more, [text])


def says_more(text: str) -> bool:
    """Whether a text holds anything but placeholders of secrets."""
    return bool(PLACEHOLDER.sub("", text).strip())


def _entered(nodes: Iterable[Node]) -> Iterator[str]:
    """What stands in fields; the rest of a page, its labels among it, stands there for everybody."""
    for node in nodes:
        if node.value and (node.role in _ENTERED or "editable" in node.states):
            yield node.value


def _shown(nodes: Sequence[Node]) -> Iterator[str]:
    """What nodes show; labels of fields are no secret, and those of buttons only where nothing else is there."""
    contents = [node for node in nodes if node.role not in _CONTROLS]
    for node in contents or nodes:
        text = node.value if node.value or node.role in _FIELDS else node.name
        if text:
            yield text


def hidden_nodes(tree: Tree, regions: Sequence[Sensitive]) -> list[Node]:
    """The nodes of a tree that lie in a region by half or more, so that the page around it is none of them."""
    return [node for node in tree.nodes if _hidden(node, regions)]


def told_apart(tree: Tree, regions: Sequence[Sensitive]) -> bool:
    """Whether a tree says in words what each region hides."""
    return all(region.box is not None and hidden_nodes(tree, [region]) for region in regions)


def typed_elsewhere(tree: Tree, regions: Sequence[Sensitive]) -> bool:
    """Whether what is typed now surely goes into none of the regions: something outside all of them has the focus."""
    focused = [node.box for node in tree.nodes if "focused" in node.states and node.box]
    return any(not any(region.box is None or _meet(box, region.box) for region in regions) for box in focused)


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
    """Secret texts in all their spellings, and rows without them."""

    def __init__(self, secrets: Iterable[str]) -> None:
        patterns = sorted({pattern_of(text) for text in secrets if text.strip() and text != MASK})
        # Matches may overlap, so each text is looked for at every place; all of what any of them covers is masked.
        self._each = [re.compile(f"(?=({pattern}))") for pattern in patterns]
        self._any = re.compile("|".join(patterns)) if patterns else None

    def within(self, text: str) -> bool:
        """Whether a secret stands in a text."""
        return self._any is not None and self._any.search(text) is not None

    def masked_tree(self, tree: Tree, regions: Sequence[Sensitive]) -> Tree:
        """The tree without the texts of its hidden nodes and without secrets, under its new hash."""
        nodes = [_blank(node) if _hidden(node, regions) else node for node in tree.nodes]
        made = tree_of(self.masked(node) for node in nodes)
        return made.model_copy(update={"sensitive": list(regions)})

    def masked(self, row: Row) -> Row:
        """The row with every secret in its free texts replaced."""
        return row if self._any is None else rewritten(row, self.masked_text)

    def masked_value(self, value: Any) -> Any:
        """A value with every secret in its texts replaced, at any depth."""
        return value if self._any is None else rewritten_value(value, self.masked_text)

    def masked_text(self, text: str) -> str:
        """A text with every secret in it replaced."""
        if not self.within(text):
            return text
        spans = sorted(found.span(1) for each in self._each for found in each.finditer(text))
        pieces, at = [], 0
        for start, end in spans:
            if start >= at:
                pieces += [text[at:start], MASK]
            at = max(at, end)
        return "".join([*pieces, text[at:]])


def rewritten(row: Row, text_of: Callable[[str], str]) -> Row:
    """The row with each of its free texts replaced by what `text_of` makes of it; itself when nothing changes."""
    changes = {}
    for name in _open_fields(type(row)):
        old = getattr(row, name)
        new = rewritten_value(old, text_of)
        if new != old:
            changes[name] = new
    return row.model_copy(update=changes) if changes else row


def rewritten_value(value: Any, text_of: Callable[[str], str]) -> Any:
    """A value with each of its texts replaced, at any depth."""
    match value:
        case str():
            return text_of(value)
        case list():
            return [rewritten_value(inner, text_of) for inner in value]
        case dict():
            return {name: rewritten_value(inner, text_of) for name, inner in value.items()}
        case Model():
            return rewritten(value, text_of)
        case _:
            return value


def _hidden(node: Node, regions: Sequence[Sensitive]) -> bool:
    return any(
        region.box is None or (node.box is not None and _half_within(node.box, region.box)) for region in regions
    )


def _meet(box: Box, region: Box) -> bool:
    return box.left < region.right and region.left < box.right and box.top < region.bottom and region.top < box.bottom


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
        if name not in _STRUCTURE
        and not name.endswith(("_id", "_ids", "sha256", "sha256s"))
        and not _closed(info.annotation)
    )


def _closed(annotation: Any) -> bool:
    """Whether a type allows only given words."""
    return get_origin(annotation) is Literal or any(_closed(inner) for inner in get_args(annotation))
