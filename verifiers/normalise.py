"""Answers in one form: text, numbers, dates and quantities as people write them in English and Chinese.

Every function takes a string and returns the value it stands for, or nothing when it does not stand for exactly one.
What cannot be read unambiguously is not guessed. This module knows nothing of checks or records.
"""

from __future__ import annotations

import re
import unicodedata
from decimal import Decimal
from functools import lru_cache
from typing import NamedTuple

_DASHES = str.maketrans({"−": "-", "–": "-", "—": "-", "‐": "-", "‑": "-", "﹣": "-"})
_QUOTES = str.maketrans({"“": '"', "”": '"', "„": '"', "「": '"', "」": '"', "『": '"', "』": '"', "‘": "'", "’": "'"})
_SPACES = re.compile(r"\s+")
_EDGES = " \t\n\"'`.,;:!?。、·…《》<>()[]"
_CJK = r"\u2e80-\u9fff\uf900-\ufaff"
_CJK_SPACE = re.compile(rf"(?<=[{_CJK}])\s+(?=[{_CJK}])")


def folded(text: str) -> str:
    """The text with width, case, quotation marks, dashes and runs of white space made equal."""
    plain = unicodedata.normalize("NFKC", text).translate(_DASHES).translate(_QUOTES)
    return _CJK_SPACE.sub("", _SPACES.sub(" ", plain)).strip().casefold()


def text_of(answer: str) -> str:
    """The folded text without marks at its edges, so that `"Open".` and `open` are the same answer."""
    return folded(answer).strip(_EDGES)


def stands_in(part: str, text: str) -> bool:
    """Whether a folded text holds a folded part, not as a piece of a longer Latin word or number."""
    return bool(part) and _whole(part).search(text) is not None


@lru_cache(maxsize=1024)
def _whole(part: str) -> re.Pattern[str]:
    before = r"(?<![a-z0-9])" if part[0].isascii() and part[0].isalnum() else ""
    after = r"(?![a-z0-9])" if part[-1].isascii() and part[-1].isalnum() else ""
    return re.compile(before + re.escape(part) + after)


# --- numbers -----------------------------------------------------------------------------------------------------

_NUMBER = re.compile(
    r"(?<![\w.,])(?P<sign>[+-]?)\s?(?:[$€£¥]\s?)?(?P<inner>[+-]?)"
    r"(?P<body>\d{1,3}(?: \d{3})+(?![\d])(?:[.,]\d+)?|\d+(?:[.,']\d+)*)(?:\s?(?P<scale>[万亿]))?"
)
_THOUSANDS = re.compile(r"\d{1,3}(?:,\d{3})+(?:\.\d+)?")
_CONTINENTAL = re.compile(r"\d{1,3}(?:\.\d{3})+,\d+|\d{1,3}(?:\.\d{3}){2,}")
_SCALE = {"万": Decimal(10**4), "亿": Decimal(10**8)}
_WORDS = {
    word: Decimal(value)
    for value, word in enumerate(
        ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve")
    )
}
_WORD = re.compile(rf"\b({'|'.join(_WORDS)})\b")
_HAN_DIGITS = {mark: value for value, mark in enumerate("零一二三四五六七八九")} | {"〇": 0, "两": 2}
_HAN_UNITS = {"十": 10, "百": 100, "千": 1000}
_HAN = re.compile(r"[零〇一二两三四五六七八九十百千万亿]+")


def numbers_of(answer: str) -> list[Decimal]:
    """Every number the text names, in digits or words, left to right within each way of writing."""
    text = folded(answer)
    digits = [found for match in _NUMBER.finditer(text) if (found := _digits(match)) is not None]
    if digits:
        return digits
    words = [_WORDS[match[1]] for match in _WORD.finditer(text)]
    return words or [_han(match[0]) for match in _HAN.finditer(text)]


def number_of(answer: str) -> Decimal | None:
    """The one number the text names; nothing when it names none or several different ones."""
    found = set(numbers_of(answer))
    return found.pop() if len(found) == 1 else None


def _digits(match: re.Match[str]) -> Decimal | None:
    plain = _plain(match["body"])
    if plain is None:
        return None
    sign = -1 if "-" in (match["sign"], match["inner"]) else 1
    return sign * plain * _SCALE.get(match["scale"] or "", Decimal(1))


def _plain(part: str) -> Decimal | None:
    """A digit string with separators: groups of three are thousands, one other separator is the decimal mark."""
    digits = part.replace("'", "").replace(" ", "")
    if _THOUSANDS.fullmatch(digits):
        digits = digits.replace(",", "")
    elif _CONTINENTAL.fullmatch(digits):
        digits = digits.replace(".", "")
    digits = digits.replace(",", ".")
    return Decimal(digits) if re.fullmatch(r"\d+(\.\d+)?", digits) else None


def _han(marks: str) -> Decimal:
    total, section, digit = 0, 0, 0
    for mark in marks:
        if mark in _HAN_DIGITS:
            digit = _HAN_DIGITS[mark]
        elif mark in _HAN_UNITS:
            section, digit = section + (digit or 1) * _HAN_UNITS[mark], 0
        else:
            total, section, digit = (total + section + digit) * int(_SCALE[mark]), 0, 0
    return Decimal(total + section + digit)


# --- dates -------------------------------------------------------------------------------------------------------


class Day(NamedTuple):
    """A calendar day; the year may be unsaid."""

    year: int | None
    month: int
    day: int


_MONTHS = {
    name: number
    for number, name in enumerate(
        ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"), 1
    )
}
_MONTH = r"(?P<name>jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*\.?"
_ORDINAL = r"(?P<d>\d{1,2})(?:st|nd|rd|th)?"
_DATES = (
    re.compile(r"(?<!\d)(?P<y>\d{4})\s?[-/.年]\s?(?P<m>\d{1,2})\s?[-/.月]\s?(?P<d>\d{1,2})(?!\d)"),
    re.compile(rf"\b{_MONTH}\s+{_ORDINAL}(?:,?\s+(?P<y>\d{{4}}))?\b"),
    re.compile(rf"\b{_ORDINAL}(?:\s+of)?\s+{_MONTH}(?:,?\s+(?P<y>\d{{4}}))?\b"),
    re.compile(r"(?<!\d)(?P<m>\d{1,2})月(?P<d>\d{1,2})[日号]"),
)
_SHORT_DATE = re.compile(r"(?<![\d/.-])(\d{1,2})([/.-])(\d{1,2})\2(\d{4})(?!\d)")


def days_of(answer: str) -> frozenset[Day]:
    """The days a text may mean: one, or both readings of a date such as 03/04/2026; empty when it names none."""
    text = folded(answer)
    for pattern in _DATES:
        found = {day for match in pattern.finditer(text) if (day := _day(match.groupdict()))}
        if found:
            return frozenset(found) if len(found) == 1 else frozenset()
    short = [_both(match) for match in _SHORT_DATE.finditer(text)]
    return short[0] if len(short) == 1 else frozenset()


def _day(parts: dict[str, str | None]) -> Day | None:
    name, year = parts.get("name"), parts.get("y")
    month = _MONTHS[name] if name else int(parts["m"] or 0)
    return _valid(int(year) if year else None, month, int(parts["d"] or 0))


def _valid(year: int | None, month: int, day: int) -> Day | None:
    return Day(year, month, day) if 1 <= month <= 12 and 1 <= day <= 31 else None


def _both(match: re.Match[str]) -> frozenset[Day]:
    first, second, year = int(match[1]), int(match[3]), int(match[4])
    readings = [_valid(year, second, first)]  # a dot means day first everywhere it is used
    if match[2] != ".":
        readings.append(_valid(year, first, second))
    return frozenset(day for day in readings if day)


# --- quantities --------------------------------------------------------------------------------------------------


class Quantity(NamedTuple):
    """An amount in the base unit of its dimension."""

    amount: Decimal
    dimension: str


_UNITS = {
    "length:mm": ("0.001", "mm millimeter millimeters millimetre millimetres 毫米"),
    "length:cm": ("0.01", "cm centimeter centimeters centimetre centimetres 厘米"),
    "length:m": ("1", "m meter meters metre metres 米"),
    "length:km": ("1000", "km kilometer kilometers kilometre kilometres 公里 千米"),
    "length:in": ("0.0254", 'in inch inches " 英寸'),
    "length:ft": ("0.3048", "ft foot feet 英尺"),
    "mass:g": ("1", "g gram grams 克"),
    "mass:kg": ("1000", "kg kgs kilogram kilograms 公斤 千克"),
    "mass:lb": ("453.59237", "lb lbs pound pounds 磅"),
    "time:s": ("1", "s sec secs second seconds 秒"),
    "time:min": ("60", "min mins minute minutes 分钟 分"),
    "time:h": ("3600", "h hr hrs hour hours 小时"),
    "time:d": ("86400", "d day days 天 日"),
    "data:b": ("1", "b byte bytes 字节"),
    "data:kb": ("1000", "kb"),
    "data:mb": ("1000000", "mb"),
    "data:gb": ("1000000000", "gb"),
    "share:%": ("1", "% percent 百分点"),
    "usd": ("1", "$ usd dollar dollars 美元"),
    "eur": ("1", "€ eur euro euros 欧元"),
    "gbp": ("1", "£ gbp 英镑"),
    "cny": ("1", "¥ cny rmb yuan 元 人民币"),
}
_UNIT_OF = {
    name: Quantity(Decimal(factor), key.split(":")[0])
    for key, (factor, names) in _UNITS.items()
    for name in names.split()
}
_NAMES = "|".join(sorted((re.escape(name) for name in _UNIT_OF), key=len, reverse=True))
_AMOUNT = r"[+-]?\d(?:[\d.,']*\d)?"
_QUANTITY = re.compile(
    rf"(?P<prefix>[$€£¥])\s?(?P<after>{_AMOUNT})|(?P<amount>{_AMOUNT})\s?(?P<unit>{_NAMES})(?![a-z])"
    rf"|百分之\s?(?P<share>{_AMOUNT})"
)


def quantity_of(answer: str) -> Quantity | None:
    """The one quantity the text names, parts of one dimension added up (`1 h 30 min`); else nothing."""
    found = [_quantity(match) for match in _QUANTITY.finditer(folded(answer))]
    dimensions = {quantity.dimension for quantity in found}
    if len(dimensions) != 1 or len(numbers_of(_QUANTITY.sub(" ", folded(answer)))) > 0:
        return None
    if len(found) > 1 and "time" not in dimensions and "length" not in dimensions:
        return found[0] if len(set(found)) == 1 else None
    return Quantity(sum((quantity.amount for quantity in found), Decimal(0)), dimensions.pop())


def _quantity(match: re.Match[str]) -> Quantity:
    text = match["after"] or match["share"] or match["amount"]
    unit = _UNIT_OF[match["prefix"] or ("%" if match["share"] else match["unit"])]
    amount = number_of(text) or Decimal(0)
    return Quantity(amount * unit.amount, unit.dimension)
