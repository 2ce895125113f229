"""Names for what an exploration finds, made of the names on the screens: short, plain, and the same every time.

What a screen says becomes part of a name and nothing else, cut to a length that leaves no room for a message.
"""

from __future__ import annotations

import re
from collections.abc import Collection

from pipeline.records import digest

_LONGEST_SLUG = 32
_LONGEST_LABEL = 48


def slug(text: str, otherwise: str) -> str:
    """Letters and digits of a text, joined by hyphens; a hash of it when it has none of the Latin alphabet."""
    words = re.findall(r"[a-z0-9]+", text.casefold())
    if words:
        return "-".join(words)[:_LONGEST_SLUG].strip("-")
    return f"{otherwise}-{digest(text)[:6]}" if text.strip() else otherwise


def label(text: str) -> str:
    """A text as it may stand in a row that people read: one line, cut."""
    plain = " ".join("".join(char for char in text if char.isprintable()).split()).rstrip(" :：…")
    return plain if len(plain) <= _LONGEST_LABEL else f"{plain[: _LONGEST_LABEL - 1]}…"


def unused(name: str, taken: Collection[str]) -> str:
    """The name, with a number where it is taken."""
    if name not in taken:
        return name
    number = 2
    while f"{name}-{number}" in taken:
        number += 1
    return f"{name}-{number}"
