"""The words of instructions: many sentences for each way of asking, in each language.

Knows nothing of what is on a screen.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from importlib import resources
from typing import Any

import yaml

LANGUAGES = ("en", "zh")
"""The languages of instructions, in the order of the word lists."""

_ORDINALS = ("first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth")


@cache
def _words() -> Mapping[str, Any]:
    text = (resources.files("pipeline.synth") / "words.yaml").read_text(encoding="utf-8")
    words: Mapping[str, Any] = yaml.safe_load(text)
    return words


def sentences(way: str, language: str) -> Sequence[str]:
    """The sentences for one way of asking."""
    found: Sequence[str] = _words()["asks"][way][language]
    return found


def word(kind: str, name: str, language: str, at: int = 0) -> str:
    """A word of a list; the list may hold several pairs, of which `at` chooses one."""
    return str(_words()[kind][name][2 * at + LANGUAGES.index(language)])


def known(kind: str) -> Mapping[str, Sequence[str]]:
    """A whole list of words, by name."""
    found: Mapping[str, Sequence[str]] = _words()[kind]
    return found


def pairs(kind: str) -> Sequence[Sequence[str]]:
    """A whole list of words that have no names."""
    found: Sequence[Sequence[str]] = _words()[kind]
    return found


@cache
def alike(name: str) -> frozenset[str]:
    """What people would confuse with this icon or act by its purpose, itself among them."""
    groups = [set(group) for group in pairs("alike") if name in group]
    return frozenset({name}.union(*groups))


def ordinal(number: int, language: str) -> str:
    """The place in a list, counted from one."""
    return str(number) if language == "zh" else _ORDINALS[number - 1]


def colour(name: str, language: str) -> str:
    """A colour that a screen names in its language, in the language that is asked in; as it is where none is known."""
    found = next((pair for pair in pairs("colours") if name.casefold() in pair), None)
    return found[LANGUAGES.index(language)] if found else name


def measure(noun: str) -> str:
    """What Chinese counts such things by; other languages have no place for it in their sentences."""
    return str(_words()["measures"].get(noun, "个"))


def ordinals() -> int:
    """How far one can count."""
    return len(_ORDINALS)
