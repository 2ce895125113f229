"""Idioms, sayings and scripts of the character puzzles, from text_click_words.yaml."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from importlib import resources
from typing import Any

import yaml

from pipeline.puzzles.puzzle import Level


@cache
def _words() -> Any:
    text = (resources.files("pipeline.puzzles") / "kinds" / "text_click_words.yaml").read_text(encoding="utf-8")
    return yaml.safe_load(text)


@cache
def idioms() -> list[tuple[str, ...]]:
    """Chinese idioms, character by character."""
    return [tuple(one) for one in _words()["idioms"].split()]


@cache
def sayings() -> list[tuple[str, ...]]:
    """English sayings, word by word."""
    return [tuple(one.split()) for one in _words()["sayings"]]


@cache
def scripts() -> Mapping[str, str]:
    """Characters of each script."""
    return {name: said["characters"] for name, said in _words()["scripts"].items()}


@cache
def pairs(level: Level) -> Sequence[tuple[str, str]]:
    """Scripts of the many and of the one."""
    return [(many, few) for many, few in _words()["pairs"][level]]


@cache
def script_of(character: str) -> str:
    """The script of a character. Raises ValueError when it is of none of these."""
    for name, said in _words()["scripts"].items():
        first, last = said["range"]
        if first <= character <= last:
            return str(name)
    raise ValueError(f"no known script: {character!r}")
