"""Dates in instructions, English and Chinese, resolved against a stated day.

A date without a year is the next one to come. Where two readings are possible, the later counts, so that nothing is
called past that may lie ahead. Knows nothing of tasks.
"""

from __future__ import annotations

import calendar
import re
from collections.abc import Callable, Iterator
from datetime import date, timedelta
from typing import NamedTuple

_MONTHS = {name.lower(): number for number, name in enumerate(calendar.month_name) if name}
_MONTH = "|".join([*_MONTHS, *(f"{name[:3]}|{name[:4]}" for name in _MONTHS if len(name) > 4)])
_WEEKDAYS = {name.lower(): number for number, name in enumerate(calendar.day_name)}
_WEEKDAYS |= {name: number for number, name in enumerate("一二三四五六")} | {"日": 6, "天": 6}
_NUMBERS = {"one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "a": 1, "an": 1}
_NUMBERS |= {digit: number for number, digit in enumerate("一二三四五六七八九十", 1)} | {"两": 2}
_DAYS = {
    "today": 0, "tonight": 0, "tomorrow": 1, "yesterday": -1, "the day after tomorrow": 2,
    "今天": 0, "今日": 0, "今晚": 0, "明天": 1, "明日": 1, "后天": 2, "大后天": 3, "昨天": -1, "昨日": -1,
    "前天": -2, "大前天": -3,
}  # fmt: skip
_UNITS = {"day": 1, "week": 7, "month": 30, "year": 365, "天": 1, "日": 1, "周": 7, "星期": 7, "个月": 30, "年": 365}
_SIDES = {"last": -1, "this": 0, "next": 1, "上": -1, "这": 0, "本": 0, "下": 1, "去": -1, "今": 0, "明": 1}


class Dated(NamedTuple):
    """A date as written, and the last day it may mean; None when there is no such day. `fixed`: a day of a calendar,
    which is neither a whole month or year nor counted from today."""

    text: str
    day: date | None
    fixed: bool


def dates_in(text: str, today: date) -> list[Dated]:
    """The dates a text names, in the order they are written. The text must be in NFKC form."""
    lowered = text.lower()
    found: list[tuple[int, Dated]] = []
    taken: list[range] = []
    for pattern, meaning in _FORMS:
        for match in pattern.finditer(lowered):
            if not any(match.start() in span or match.end() - 1 in span for span in taken):
                taken.append(range(*match.span()))
                found.append(
                    (match.start(), Dated(text[slice(*match.span())], meaning(match, today), meaning in _FIXED))
                )
    return [dated for _, dated in sorted(found, key=lambda entry: entry[0])]


def _day(year: int, month: int, day: int) -> date | None:
    try:
        return date(year, month, day)
    except ValueError:
        return None


def _ymd(match: re.Match[str], _: date) -> date | None:
    return _day(int(match["y"]), _month(match["m"]), int(match["d"]))


def _slashed(match: re.Match[str], _: date) -> date | None:
    first, second, year = (int(match[name]) for name in ("a", "b", "y"))
    year += 2000 if year < 100 else 0
    readings = [day for day in (_day(year, first, second), _day(year, second, first)) if day]
    return max(readings, default=None)


def _without_year(match: re.Match[str], today: date) -> date | None:
    month, day = _month(match["m"]), int(match["d"])
    coming = (_day(year, month, day) for year in range(today.year, today.year + 9))
    return next((found for found in coming if found and found >= today), None)


def _whole_month(match: re.Match[str], _: date) -> date | None:
    year, month = int(match["y"]), _month(match["m"])
    return date(year, month, calendar.monthrange(year, month)[1]) if 1 <= month <= 12 else None


def _whole_year(match: re.Match[str], _: date) -> date | None:
    return date(int(match["y"]), 12, 31)


def _named_day(match: re.Match[str], today: date) -> date | None:
    return today + timedelta(days=_DAYS[match[0]])


def _offset(match: re.Match[str], today: date) -> date | None:
    count = match["n"]
    number = int(count) if count.isdecimal() else _NUMBERS[count]
    days = number * _UNITS[match["u"].rstrip("s")]
    return _moved(today, -days if "ago" in match[0] or "前" in match[0] else days)


def _weekday(match: re.Match[str], today: date) -> date | None:
    side, wanted = match["s"] or "this", _WEEKDAYS[match["w"]]
    return _moved(today, wanted - today.weekday() + 7 * _SIDES[side])


def _period(match: re.Match[str], today: date) -> date | None:
    """The last day of a week, month or year beside this one."""
    side, unit = _SIDES[match["s"]], match["u"]
    if unit in ("week", "周", "星期"):
        return _moved(today, 6 - today.weekday() + 7 * side)
    if unit in ("year", "年"):
        return date(today.year + side, 12, 31)
    month = today.year * 12 + today.month - 1 + side
    year, month = divmod(month, 12)
    return date(year, month + 1, calendar.monthrange(year, month + 1)[1])


def _moved(day: date, days: int) -> date | None:
    try:
        return day + timedelta(days=days)
    except OverflowError:
        return None


def _month(text: str) -> int:
    if text.isdecimal():
        return int(text)
    return next(number for name, number in _MONTHS.items() if name.startswith(text[:3]))


def _forms() -> Iterator[tuple[re.Pattern[str], Callable[[re.Match[str], date], date | None]]]:
    """The forms, those that hold others first."""
    year, day, ordinal = r"(?P<y>(?:19|20)\d\d)", r"(?P<d>\d{1,2})", r"(?:st|nd|rd|th)?"
    month = rf"(?P<m>{_MONTH})\.?"
    digits, weekday = r"(?P<m>\d{1,2})", "|".join(calendar.day_name).lower()
    part = r"(?:0?[1-9]|[12]\d|3[01])"
    count = rf"(?P<n>\d{{1,4}}|{'|'.join(_NUMBERS)})"
    forms: list[tuple[str, Callable[[re.Match[str], date], date | None]]] = [
        (rf"(?<!\d){year}\s*年\s*{digits}\s*月\s*{day}\s*[日号]?", _ymd),
        (rf"(?<![\d.]){year}([-/.]){digits}\2{day}(?!\d)", _ymd),
        (r"(?<![\w.-])(?P<y>20\d\d)(?P<m>0[1-9]|1[0-2])(?P<d>0[1-9]|[12]\d|3[01])(?![\w.-])", _ymd),
        (rf"\b{day}{ordinal}\s+(?:of\s+)?{month},?\s+{year}\b", _ymd),
        (rf"\b{day}-{month}-{year}\b", _ymd),
        (rf"(?<!\d){year}(?:-|,?\s+){month}(?:-|\s+){day}{ordinal}\b(?![:.]\d)", _ymd),
        (rf"\b{month}\s+{day}{ordinal},?\s+{year}\b", _ymd),
        (rf"(?<![\d./])(?P<a>{part})([./-])(?P<b>{part})\2{year}(?!\d)", _slashed),
        (rf"(?<![\d./])(?P<a>{part})/(?P<b>{part})/(?P<y>\d\d)(?![\d./])", _slashed),
        (rf"(?<!\d){year}\s*年\s*{digits}\s*月", _whole_month),
        (rf"\b{month},?\s+{year}\b", _whole_month),
        (rf"(?<!\d){digits}\s*月\s*{day}\s*[日号]", _without_year),
        (rf"\b{day}{ordinal}\s+(?:of\s+)?{month}(?!\w)", _without_year),
        (rf"\b{month}\s+{day}{ordinal}\b(?![:.]\d)", _without_year),
        (rf"\b(?:in|of|by|before|during|year)\s+{year}\b(?![-/.])", _whole_year),
        (rf"(?<!\d){year}\s*年(?!\d)", _whole_year),
        ("|".join(rf"\b{name}\b" if name.isascii() else name for name in sorted(_DAYS, key=len)[::-1]), _named_day),
        (rf"\bin\s+{count}\s+(?P<u>days?|weeks?|months?|years?)\b", _offset),
        (rf"\b{count}\s+(?P<u>days?|weeks?|months?|years?)\s+ago\b", _offset),
        (r"(?P<n>\d{1,4}|[一二两三四五六七八九十])\s*(?P<u>个月|星期|[天日周年])(?:之?后|以后|之?前|以前)", _offset),
        (rf"\b(?:(?P<s>last|this|next)\s+)(?P<w>{weekday})\b", _weekday),
        (r"(?P<s>[上这本下])个?(?:周|星期|礼拜)(?P<w>[一二三四五六日天])", _weekday),
        (r"\b(?P<s>last|this|next)\s+(?P<u>week|month|year)\b", _period),
        (r"(?<![说证表声])(?P<s>[去今明])(?P<u>年)", _period),
        (r"(?P<s>[上这本下])个?(?P<u>周|星期|月)(?![一二三四五六日天])", _period),
    ]
    # A Han character beside a Latin word ends it: in ASCII mode it is none of a word's letters.
    return ((re.compile(pattern, re.ASCII), meaning) for pattern, meaning in forms)


_FORMS = tuple(_forms())
_FIXED = frozenset({_ymd, _slashed, _without_year})
