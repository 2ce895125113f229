"""Whether typed text arrived, by what the field that had the focus shows afterwards.

Knows nothing of how text is typed.
"""

from __future__ import annotations

from collections.abc import Sequence

from pipeline.errors import ActionError
from pipeline.structs import Node

UNVERIFIED = "text_unverified"
"""Step flag: the text was given to something that does not show what it holds."""

_MOST_SHOWN = 2000
"""Longer values are cut where trees are read."""


def field_of(nodes: Sequence[Node]) -> Node | None:
    """The field that has the focus and shows what is typed into it; None where none is known."""
    for node in nodes:
        if {"focused", "editable"} <= set(node.states) and node.role != "gridcell" and "protected" not in node.states:
            return node
    return None


def check_arrived(text: str, before: Sequence[Node], after: Sequence[Node]) -> list[str]:
    """Flags of a typed text; raises ActionError when the field shows that the text did not arrive, or not as typed.

    Where no field has the focus, as in documents, tables and terminals, the text has arrived when more places show it
    than before.
    """
    field, shown = field_of(after), text.replace("\r\n", "\n")
    if field is None or field.role in ("document", "paragraph", "table"):
        line = shown.strip("\n").rpartition("\n")[2]
        return [] if line.strip() and _places(line, after) > _places(line, before) else [UNVERIFIED]
    if not shown.strip() or "\t" in text or len(field.value) >= _MOST_SHOWN:
        return [UNVERIFIED]
    if shown in field.value or shown in field.name:
        return []
    if _letters(shown) and _letters(shown) in _letters(field.value):
        raise ActionError(
            "value_reverted", f"the program changed what was typed: the field holds '{field.value[:200]}'"
        )
    raise ActionError("text_not_delivered", f"the field now holds '{field.value[:200]}'")


def _places(text: str, nodes: Sequence[Node]) -> int:
    """How often fields show a text; terminals are fields that nobody may edit."""
    shown = [node.value or node.name for node in nodes if "editable" in node.states or node.role == "textbox"]
    return sum(told.count(text) for told in shown)


def _letters(text: str) -> str:
    return "".join(character for character in text if character.isalnum()).casefold()
