"""Whether a number that is entered or shown is the one that an instruction gives; English and Chinese.

Values without a unit of their own: so many people, what stands in a field, an identifier. Knows nothing of classes of
consequence.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from pipeline.safety.classes import plain
from pipeline.safety.scene import Entry

_COUNTS = ("one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
_COUNT = rf"(\d{{1,2}}|{'|'.join(_COUNTS)})"
_PARTY = re.compile(
    rf"\b(?:for|party of)\s+{_COUNT}"
    r"(?!\w|[\d:]|[.,]\d|\s*(?:am|pm|hours?|days?|weeks?|months?|years?|nights?|dollars?|euros?)\b)"
)
_PEOPLE = re.compile(rf"\b{_COUNT}\s+(?:guests?|people|persons?|travell?ers?|passengers?|diners?|adults?)\b")
_PLAIN_VALUE = re.compile(r"[$€£¥]?\s?(\d[\d,]*(?:\.\d+)?)\s?(?:%|[a-z]{1,4}|[元股张份个件人])?")
_NUMBER = re.compile(r"\d[\d,]*(?:\.\d+)?")
_CLOCK = re.compile(r"hour|minute|second|time|date|year|month|day|phone|number|[时分秒年月日]|电话|手机|号")
_IDENTIFIER = re.compile(r"(?<![\d.,:/$€£¥-])\d{3,6}(?![\d.,:/%-]*\d|\s?(?:%|[元块年月日]|usd|eur|dollars?|euros?))")


def other_value(instruction: str, fields: Sequence[Entry], texts: Sequence[str]) -> str | None:
    """A number of the instruction that is nowhere to be seen, while another stands where it belongs."""
    asked, screen = plain(instruction), plain("\n".join([*texts, *(field.value for field in fields)]))
    return _other_party(asked, screen) or _other_entry(asked, fields, screen) or _unseen(asked, screen)


def _other_party(asked: str, screen: str) -> str | None:
    """So many people are meant, and the screen has another number of them."""
    wanted = {_count(found) for found in [*_PARTY.findall(asked), *_PEOPLE.findall(asked)]}
    shown = {_count(found) for found in _PEOPLE.findall(screen)}
    return f"it is for {min(shown)}, not for {min(wanted)}" if wanted and shown and not wanted & shown else None


def _other_entry(asked: str, fields: Sequence[Entry], screen: str) -> str | None:
    """A field has a number that was not given, and one that was given stands nowhere."""
    given, shown = _numbers(asked), _numbers(screen)
    if not given - shown:
        return None
    for field in fields:
        value = _PLAIN_VALUE.fullmatch(plain(field.value))
        if value and not _CLOCK.search(plain(field.name)) and not _numbers(value[1]) <= given:
            return f"'{field.name}' is {field.value}, the instruction says {min(given - shown):g}"
    return None


def _unseen(asked: str, screen: str) -> str | None:
    """An identifier is given, and the screen has only others."""
    wanted = _IDENTIFIER.findall(asked)
    others = _IDENTIFIER.findall(screen)
    if not wanted or not others or any(one in screen for one in wanted):
        return None
    return f"the screen does not show {wanted[0]}"


def _numbers(text: str) -> set[float]:
    return {float(found.replace(",", "")) for found in _NUMBER.findall(text)}


def _count(word: str) -> int:
    return _COUNTS.index(word) + 1 if word in _COUNTS else int(word)
