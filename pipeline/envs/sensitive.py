"""Where a look shows personal data: the smallest elements of its tree that say it, or lines read in its picture."""

from __future__ import annotations

from collections.abc import Iterable

from pipeline.ocr import Line
from pipeline.personal import Search
from pipeline.structs import Box, Node, Sensitive

_MOST_CHARACTERS = 1_000_000
"""Characters of one look that are searched, in some seconds at worst."""


def personal_regions(nodes: Iterable[Node]) -> list[Sensitive]:
    """The regions of personal data in a tree; what has no place in the picture has none."""
    search = Search(_MOST_CHARACTERS)
    boxes: dict[tuple[str, str], list[Box]] = {}
    for node in nodes:
        if node.box is not None:
            for kind, said in sorted(_said(node.name, search) | _said(node.value, search)):
                boxes.setdefault((kind, said), []).append(node.box)
    return _distinct(
        Sensitive(class_=kind, box=box) for (kind, _), around in boxes.items() for box in innermost(around)
    )


def personal_lines(lines: Iterable[Line]) -> list[Sensitive]:
    """The regions of personal data in what was read in a picture."""
    search = Search(_MOST_CHARACTERS)
    return _distinct(
        Sensitive(class_=kind, box=line.box) for line in lines for kind, _ in sorted(_said(line.text, search))
    )


def innermost(boxes: Iterable[Box]) -> list[Box]:
    """Boxes without those that lie around others of them: what shows in both shows in the inner one."""
    distinct = list(dict.fromkeys(boxes))
    return [box for box in distinct if not any(_around(box, other) for other in distinct if other != box)]


def _said(text: str, search: Search) -> set[tuple[str, str]]:
    return {(piece.kind, text[piece.start : piece.end]) for piece in search.find(text)}


def _distinct(regions: Iterable[Sensitive]) -> list[Sensitive]:
    return list(dict.fromkeys(regions))


def _around(box: Box, other: Box) -> bool:
    return box.left <= other.left and box.top <= other.top and box.right >= other.right and box.bottom >= other.bottom
