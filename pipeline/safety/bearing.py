"""What a text is about: the words it does not share with every other text, and the days it names; English and Chinese.

Two texts bear on each other when they have such a word in common. Crude on purpose: words without their endings, pairs
of Chinese characters. Knows nothing of screens or consequences.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from pipeline.safety.classes import plain, words_for

_WORD = re.compile(r"[a-z][a-z\d'-]*|\d[\d.,]*\d|\d")
_SAME = {
    "mail": "email",
    "e-mail": "email",
    "photo": "picture",
    "pic": "picture",
    "doc": "document",
    "phone": "call",
    "cookie": "privacy",
    "camera": "video",
}
_HAN_RUN = re.compile(r"[\u3400-\u9fff]+")
_DIGITS_ZH = {"一": 1, "二": 2, "两": 2, "三": 3, "四": 4, "五": 5, "六": 6, "七": 7, "八": 8, "九": 9, "十": 10}
_COUNTED_ZH = re.compile(r"([一二两三四五六七八九十]|\d+)\s?([天周月年个小号日点分件张份封位条次晚间台部股])")
_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_MONTH = rf"({'|'.join(_MONTHS)})[a-z]*\.?"
_DAY = r"(\d{1,2})(?:st|nd|rd|th)?"
_DAYS = (
    (re.compile(rf"\b{_DAY}\s+(?:of\s+)?{_MONTH}\b"), (2, 1)),
    (re.compile(rf"\b{_MONTH}\s+{_DAY}\b(?!:)"), (1, 2)),
    (re.compile(r"(\d{1,2})\s?月\s?(\d{1,2})\s?[日号]"), (1, 2)),
    (re.compile(r"\b\d{4}[-/.](\d{1,2})[-/.](\d{1,2})\b"), (1, 2)),
)


def content(text: str) -> frozenset[str]:
    """The words of a text that bear on something: without endings, pairs of Chinese characters, counted things."""
    line, common = plain(text), words_for("everywhere")
    words = {_stem(word) for word in _WORD.findall(line) if word not in common and len(word) > 1}
    for count, unit in _COUNTED_ZH.findall(line):
        words.add(f"{_DIGITS_ZH.get(count, count)}{unit}")
    for run in _HAN_RUN.findall(line):
        words |= {run[at : at + 2] for at in range(len(run) - 1) if not set(run[at : at + 2]) & common}
    return frozenset(words)


def bears_on(instruction: str, texts: Iterable[str]) -> bool:
    """Whether any of some texts is about something that the instruction is about."""
    wanted = content(instruction)
    return any(_alike(wanted, content(text)) for text in texts)


def days(text: str) -> set[tuple[int, int]]:
    """The days (month, day of the month) that a text names."""
    line = plain(text)
    return {
        (_month(found[month - 1]), int(found[day - 1]))
        for pattern, (month, day) in _DAYS
        for found in pattern.findall(line)
    }


def _alike(wanted: frozenset[str], shown: frozenset[str]) -> bool:
    """Whether two sets have a word in common, or one that the other begins with, as "physio" in "physiotherapy"."""
    if wanted & shown:
        return True
    long = [word for word in wanted if len(word) > 4 and word[0].isalpha()]
    return any(a.startswith(b) or b.startswith(a) for a in long for b in shown if len(b) > 4)


def weight(wanted: frozenset[str], name: frozenset[str]) -> int:
    """How many words of a name an instruction's words hold, beginnings of long ones too."""
    return sum(_alike(wanted, frozenset({word})) for word in name)


def _month(text: str) -> int:
    return int(text) if text.isdigit() else _MONTHS.index(text[:3]) + 1


def _stem(word: str) -> str:
    bare = word.removesuffix("'s").strip("'-")
    for ending, instead in (("ies", "y"), ("ing", ""), ("ed", ""), ("es", ""), ("s", "")):
        if bare.endswith(ending) and len(bare) - len(ending) >= 3:
            bare = bare[: -len(ending)] + instead
            break
    return _SAME.get(bare, bare)
