"""The icons of the screens: their strokes, and what a person does with each.

Knows nothing of where on a screen an icon stands.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from importlib import resources
from typing import NamedTuple

import yaml


class Icon(NamedTuple):
    """Strokes on a grid of 24, and what the icon is for, as a phrase in each language."""

    path: str
    en: str
    zh: str

    def purpose(self, language: str) -> str:
        """What one does with it."""
        return self.zh if language == "zh" else self.en


@cache
def icons() -> Mapping[str, Icon]:
    """Every icon by its name."""
    text = (resources.files("pipeline.synth") / "icons.yaml").read_text(encoding="utf-8")
    return {name: Icon(*map(str, fields)) for name, fields in yaml.safe_load(text).items()}
