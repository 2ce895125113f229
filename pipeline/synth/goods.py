"""What the products on the screens look like: outlines by name, in either language.

Knows nothing of where on a screen a product stands.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from importlib import resources

import yaml

from pipeline.synth.content import pool

Outline = tuple[str, str]
"""A part (`main`, `dark`, `pale` or `line`) and its path on a canvas of 120 by 90."""


def goods(name: str) -> Sequence[Outline] | None:
    """The parts of a product by what it is called on the screen; null for what is no product of ours."""
    return next((parts for start, parts in _by_name().items() if name.startswith(start)), None)


@cache
def _by_name() -> Mapping[str, Sequence[Outline]]:
    text = (resources.files("pipeline.synth") / "goods.yaml").read_text(encoding="utf-8")
    drawn = {name: [(part, path) for part, path in parts] for name, parts in yaml.safe_load(text).items()}
    found: dict[str, Sequence[Outline]] = {}
    for english, chinese in pool("products"):
        parts = next((parts for start, parts in drawn.items() if english.startswith(start)), None)
        if parts is not None:
            found[english.partition("{")[0]] = found[chinese.partition("{")[0]] = parts
    return found
