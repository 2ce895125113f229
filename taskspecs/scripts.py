"""Chinese in one script: what is written in traditional characters reads as in simplified ones.

Knows nothing of what texts are compared for.
"""

from __future__ import annotations

import re
from functools import cache, lru_cache

from opencc import OpenCC

_HAN = re.compile(r"[⺀-鿿豈-﫿\U00020000-\U000323af]+")
"""What is converted: the converter looks at every character, and most texts have few that can change."""


def simplified(text: str) -> str:
    """The text in simplified characters; one stays one, so that places in the text stay the same."""
    return _converted("tw2s", text)


def same_words(text: str) -> str:
    """The text in simplified characters and in one region's words: 設定, 軟體 and 设置, 软件 are the same."""
    return _converted("tw2sp", text)


def _converted(name: str, text: str) -> str:
    return _HAN.sub(lambda found: _run_of(name, found[0]), text)


@lru_cache(maxsize=1 << 16)
def _run_of(name: str, characters: str) -> str:
    """A run of characters, converted: candidates of one template have most of theirs in common."""
    return str(_converter(name).convert(characters))


@cache
def _converter(name: str) -> OpenCC:
    return OpenCC(name)
