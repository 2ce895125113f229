"""What controls of a purpose are called, and whether a page has anything of that purpose, in whatever words.

Knows nothing of elements and sentences.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from importlib import resources
from typing import NamedTuple

import yaml

from pipeline.synth.wording import alike


class Meaning(NamedTuple):
    """What a control of a purpose is called, and by what else people would know it."""

    named: re.Pattern[str]
    hinted: re.Pattern[str]


@cache
def meanings() -> Mapping[str, Meaning]:
    """The meaning of every purpose: of all icons, and of all acts."""
    text = (resources.files("pipeline.synth") / "meanings.yaml").read_text(encoding="utf-8")
    return {name: _meaning(*map(str, words)) for name, words in yaml.safe_load(text).items()}


def fits(purpose: str, name: str) -> bool:
    """Whether a control of this name is for the purpose; one without a name may be."""
    return not name or bool(meanings()[purpose].named.search(name.rstrip("…. ")))


def hinted(purpose: str, said: str) -> bool:
    """Whether anything of what is said, in either language, is a name for the purpose or for what is taken for it."""
    found = (meanings().get(name) for name in alike(purpose))
    return any(meaning.hinted.search(said) for meaning in found if meaning)


def serves(purpose: str, said: str, act: str) -> bool:
    """Whether people would use a control that says this for the purpose, or take it for one that is for it.

    Of a control that is known to be for something else, `act`, only the purpose's own names tell.
    """
    likely = (meanings().get(name) for name in alike(purpose))
    if any(meaning.named.search(said.rstrip("…. ")) for meaning in likely if meaning):
        return True
    explained = act in meanings() and fits(act, said)
    return not explained and bool(meanings()[purpose].hinted.search(said))


def _meaning(en: str, zh: str, more_en: str = "", more_zh: str = "") -> Meaning:
    hints = _words("|".join(filter(None, (en, more_en))), "|".join(filter(None, (zh, more_zh))))
    return Meaning(_words(en, zh), hints)


def _words(en: str, zh: str) -> re.Pattern[str]:
    return re.compile(rf"\b(?:{en})|(?:{zh})", re.IGNORECASE | re.MULTILINE)
