"""Chinese in one script: what is written in traditional characters reads as in simplified ones.

A character stays one character, so that places in a text stay the same. Knows nothing of what texts are compared for.
"""

from __future__ import annotations

from functools import cache

from opencc import OpenCC


def simplified(text: str) -> str:
    """The text in simplified characters."""
    return text if text.isascii() else str(_converter("tw2s").convert(text))


def same_words(text: str) -> str:
    """The text in simplified characters and in one region's words: 設定, 軟體 and 设置, 软件 are the same."""
    return text if text.isascii() else str(_converter("tw2sp").convert(text))


@cache
def _converter(name: str) -> OpenCC:
    return OpenCC(name)
