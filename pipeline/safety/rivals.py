"""Things of which whoever asks for one does not want another: days of the week, halves of the day, sizes, places.

The words lie in `rivals.yaml`, English and Chinese together. Knows nothing of screens and consequences.
"""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path
from typing import NamedTuple

import yaml

from pipeline.safety.classes import HAN, plain


class Rival(NamedTuple):
    """One of some things that exclude each other."""

    name: str
    pattern: re.Pattern[str]

    def found_in(self, text: str) -> bool:
        """Whether a text names it."""
        return self.pattern.search(plain(text)) is not None


@cache
def alternatives() -> tuple[tuple[Rival, ...], ...]:
    """The groups of things that exclude each other."""
    groups: list[list[list[str]]] = yaml.safe_load(Path(__file__).with_name("rivals.yaml").read_text(encoding="utf-8"))
    return tuple(tuple(_rival(names) for names in group) for group in groups)


def _rival(names: list[str]) -> Rival:
    words = [re.escape(name) if HAN.search(name) else rf"\b{re.escape(name)}\b" for name in names]
    return Rival(names[0], re.compile("|".join(words)))
