"""The part of a reply that is reasoning, taken away before anything else is looked at.

Knows the tags that models put around their thoughts, and nothing of actions.
"""

from __future__ import annotations

import re
from typing import NamedTuple

_THINK = re.compile(r"<(/?)(?:think|thinking|grounding_think)\s*>", re.IGNORECASE)
_TAGS = re.compile(
    r"</?(?:think|thinking|grounding_think|action|answer|conclusion|tool_call)\s*>|```(?:json)?", re.IGNORECASE
)
_LABELS = re.compile(r"^[ \t]*(?:(?:Thought|Action)\s*[:：]\s*)+", re.IGNORECASE | re.MULTILINE)


class Parted(NamedTuple):
    """A reply without its reasoning, and the reasoning."""

    thought: str
    rest: str


def part_reasoning(text: str) -> Parted:
    """Take the reasoning away.

    It is what stands between tags, everything before a closing tag that was never opened, and everything after an
    opening tag that is never closed.
    """
    thoughts: list[str] = []
    kept: list[str] = []
    at, inside = 0, False
    for tag in _THINK.finditer(text):
        closes = bool(tag[1])
        piece = text[at : tag.start()]
        if closes and not inside:
            thoughts += [*kept, piece]
            kept.clear()
        elif inside and not closes:
            continue
        else:
            (thoughts if inside else kept).append(piece)
        at, inside = tag.end(), not closes
    (thoughts if inside else kept).append(text[at:])
    return Parted("".join(thoughts).strip(), "".join(kept))


def plain(thought: str) -> str:
    """A thought without the tags, fences and labels of replies, so that it can stand in one."""
    return _LABELS.sub("", _TAGS.sub(" ", thought).strip()).strip()
