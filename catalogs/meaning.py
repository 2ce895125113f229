"""What a control's words say will happen when it is pressed: a guess, in English and Chinese, from a list of words.

The words of a page are data: they choose a class here and nothing else. What really happened is for the state to say.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cache
from importlib import resources

import yaml

from pipeline.actions import Model


class _Words(Model):
    senses: dict[str, list[str]]
    consequences: list[str]
    avoided: list[str]


def senses(name: str) -> frozenset[str]:
    """Every class of meaning that a word of the name belongs to."""
    return frozenset(sense for sense, pattern in _patterns().items() if pattern.search(name))


def consequence_of(name: str) -> str:
    """The kind of lasting effect that the name announces, `none` when it announces nothing.

    The worst one counts: a name that speaks of deleting and saving may delete.
    """
    found = senses(name)
    return next((kind for kind in ("pay", "delete", "send", "create", "edit") if kind in found), "none")


def to_be_avoided(name: str) -> bool:
    """Whether pressing it would end the session, spend money or ask for an account."""
    return not senses(name).isdisjoint(_words().avoided)


def consequence_shown(changes: Iterable[list[str]]) -> str:
    """The kind of effect that rows [key, added|removed|changed] show; `none` without rows."""
    kinds = {row[1] for row in changes}
    if "added" in kinds:
        return "create" if "removed" not in kinds else "edit"
    return "delete" if kinds == {"removed"} else ("edit" if kinds else "none")


@cache
def _words() -> _Words:
    text = (resources.files("catalogs") / "meaning.yaml").read_text(encoding="utf-8")
    return _Words.model_validate(yaml.safe_load(text))


@cache
def _patterns() -> dict[str, re.Pattern[str]]:
    return {
        sense: re.compile("|".join(_spelled(word) for word in words), re.IGNORECASE)
        for sense, words in _words().senses.items()
    }


def _spelled(word: str) -> str:
    return rf"\b{re.escape(word)}\b" if word.isascii() else re.escape(word)
