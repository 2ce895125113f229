"""Whether typed text arrived, by what the field that had the focus shows before and afterwards.

Knows nothing of how text is typed.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from pipeline.errors import ActionError
from pipeline.structs import Node

UNVERIFIED = "text_unverified"
"""Step flag: the text was given to something that does not show what it holds."""

_MOST_SHOWN = 2000
"""Longer values are cut where trees are read."""
_PAGES = ("document", "paragraph", "table")
"""What may have the focus while the text stands in a part of it."""


def field_of(nodes: Sequence[Node]) -> Node | None:
    """The field that has the focus and shows what is typed into it; None where none is known."""
    for node in nodes:
        if {"focused", "editable"} <= set(node.states) and node.role != "gridcell" and "protected" not in node.states:
            return node
    return None


def check_arrived(text: str, before: Sequence[Node] | None, after: Sequence[Node]) -> list[str]:
    """Flags of a typed text; raises ActionError when the field shows that the text did not arrive, or not as typed.

    `before` is nothing where nobody knows, and then nothing is seen to have arrived. Where no field has the focus, as
    in documents, tables and terminals, the text has arrived when more places show each of its lines than before.
    """
    field, shown = field_of(after), text.replace("\r\n", "\n")
    if field is None or field.role in _PAGES:
        return [] if before is not None and _stands(shown, before, after) else [UNVERIFIED]
    if not shown.strip() or "\t" in text or len(field.value) >= _MOST_SHOWN:
        return [UNVERIFIED]
    was = None if before is None else next((_told(node) for node in before if _same(node, field)), "")
    if was is not None and _entered(shown, was, _told(field)):
        return []
    if shown in _told(field) or _may_be_taken(shown, before, field):
        return [UNVERIFIED]
    if was != _told(field) and _letters(shown) and _letters(shown) in _letters(field.value):
        raise ActionError(
            "value_reverted", f"the program changed what was typed: the field holds '{field.value[:200]}'"
        )
    raise ActionError("text_not_delivered", f"the field now holds '{field.value[:200]}'")


def _entered(text: str, was: str, now: str) -> bool:
    """Whether a text has come into a value: there is more of it, or it stands where something else stood.

    A Return at the end has done its work when the field shows the rest.
    """
    body = text.rstrip("\n")
    if was == now or body not in now:
        return False
    starts = [at for at in range(len(now)) if now.startswith(body, at)]
    rests = [(now[:at], now[at + len(body) :]) for at in starts]
    return now.count(body) > was.count(body) or any(
        was.startswith(left) and was.endswith(right) and len(left) + len(right) <= len(was) for left, right in rests
    )


def _may_be_taken(text: str, before: Sequence[Node] | None, field: Node) -> bool:
    """Whether a text may have had its effect though the field does not show it.

    A Return makes single lines do what they are for, which may empty or close them. Fields of a few characters hand the
    focus on when they are full.
    """
    if "\n" in text and "\n" not in field.value:
        return True
    had = field_of(before) if before is not None else None
    return had is not None and had.role not in _PAGES and not _same(had, field)


def _same(one: Node, other: Node) -> bool:
    """Whether two looks show the same field: names may tell what it holds, and it may grow."""
    corners = [(node.box.left, node.box.top) if node.box is not None else None for node in (one, other)]
    return one.role == other.role and corners[0] == corners[1]


def _stands(text: str, before: Sequence[Node], after: Sequence[Node]) -> bool:
    """Whether so many more places show each line as there are such lines."""
    lines = Counter(line for line in text.split("\n") if line.strip())
    return bool(lines) and all(_places(line, after) - _places(line, before) >= n for line, n in lines.items())


def _told(node: Node) -> str:
    return node.value or node.name


def _places(text: str, nodes: Sequence[Node]) -> int:
    """How often fields show a text; terminals are fields that nobody may edit."""
    shown = [_told(node) for node in nodes if "editable" in node.states or node.role == "textbox"]
    return sum(told.count(text) for told in shown)


def _letters(text: str) -> str:
    return "".join(character for character in text if character.isalnum()).casefold()
