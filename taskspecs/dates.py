"""Dates in instructions, English and Chinese, resolved against a stated day.

A date without a year is the next one to come. Where two readings are possible, the later counts, so that nothing is
called past that may lie ahead. Knows nothing of tasks.
"""

from __future__ import annotations

import calendar
import re
from collections.abc import Callable
from datetime import date, timedelta
from typing import NamedTuple

from taskspecs.numerals import HAN_DIGIT, ONES, han_number

_MONTHS = {name.lower(): number for number, name in enumerate(calendar.month_name) if name}
_MONTH = "|".join([*_MONTHS, *(f"{name[:3]}|{name[:4]}" for name in _MONTHS if len(name) > 4)])
_WEEKDAYS = {name.lower(): number for number, name in enumerate(calendar.day_name)}
_WEEKDAYS |= {name: number for number, name in enumerate("一二三四五六")} | {"日": 6, "天": 6}
_NUMBERS = ONES | {"a": 1, "an": 1, "a couple of": 2, "couple of": 2, "a few": 2, "several": 2, "几": 2, "数": 2}
"""Counts in words, those that leave it open with the fewest they may mean."""
_DAYS = {
    "today": 0, "tonight": 0, "this morning": 0, "this evening": 0, "tomorrow": 1, "the day after tomorrow": 2,
    "yesterday": -1, "last night": -1, "last evening": -1, "the day before yesterday": -2, "the other day": -2,
    "今天": 0, "今日": 0, "今晚": 0, "今早": 0, "明天": 1, "明日": 1, "明早": 1, "明晚": 1, "后天": 2, "大后天": 3,
    "昨天": -1, "昨日": -1, "昨晚": -1, "昨夜": -1, "前天": -2, "前日": -2, "前晚": -2, "大前天": -3,
}  # fmt: skip
_UNITS = {"day": 1, "night": 1, "week": 7, "fortnight": 14, "month": 30, "year": 365, "decade": 3650}
_UNITS |= {"天": 1, "日": 1, "周": 7, "星期": 7, "礼拜": 7, "月": 30, "个月": 30, "年": 365}
_HALF = frozenset({"half a", "半", "半个"})
_HAN_PART = r"[一二三]?十[一二三四五六七八九]?|[一二两三四五六七八九]"
"""Chinese numerals up to 39, which days and months are."""
_SIDES = {"last": -1, "previous": -1, "this": 0, "next": 1, "上": -1, "这": 0, "本": 0, "下": 1}
_YEARS = {"大前": -3, "前": -2, "去": -1, "上": -1, "今": 0, "本": 0, "明": 1, "后": 2, "大后": 3}


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
    signs = {sign for sign, spelled in _SIGNS.items() if any(map(lowered.__contains__, spelled))}
    for _, pattern, meaning in (form for form in _FORMS if form.sign in signs):
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
    return _day(_number(match["y"]), _month(match["m"]), _number(match["d"]))


def _slashed(match: re.Match[str], _: date) -> date | None:
    first, second, year = (int(match[name]) for name in ("a", "b", "y"))
    year += 2000 if year < 100 else 0
    readings = [day for day in (_day(year, first, second), _day(year, second, first)) if day]
    return max(readings, default=None)


def _without_year(match: re.Match[str], today: date) -> date | None:
    month, day = _month(match["m"]), _number(match["d"])
    coming = (_day(year, month, day) for year in range(today.year, today.year + 9))
    return next((found for found in coming if found and found >= today), None)


def _beside_year(match: re.Match[str], today: date) -> date | None:
    """A day of a year that is counted from this one."""
    return _day(today.year + _YEARS[match["s"]], _month(match["m"]), _number(match["d"]))


def _beside_month(match: re.Match[str], today: date) -> date | None:
    """A day of a month that is counted from this one."""
    month = _month_end(today, _SIDES[match["s"][0]] * len(match["s"]))
    return _day(month.year, month.month, _number(match["d"]))


def _whole_month(match: re.Match[str], today: date) -> date | None:
    year = today.year + _YEARS[match["s"]] if "s" in match.groupdict() else _number(match["y"])
    return _last_of(year, _month(match["m"]))


def _last_named_month(match: re.Match[str], today: date) -> date | None:
    """ "Last August" is the newest one that is over."""
    month = _month(match["m"])
    return _last_of(today.year - (month >= today.month), month)


def _last_of(year: int, month: int) -> date | None:
    return date(year, month, calendar.monthrange(year, month)[1]) if 1 <= month <= 12 else None


def _whole_year(match: re.Match[str], _: date) -> date | None:
    return date(_number(match["y"]), 12, 31)


def _named_day(match: re.Match[str], today: date) -> date | None:
    return today + timedelta(days=_DAYS[match[0]])


def _offset(match: re.Match[str], today: date) -> date | None:
    count, days = match["n"], _UNITS[match["u"].rstrip("s")]
    if count in _HALF:
        days //= 2
    else:
        days *= _NUMBERS[count] if count in _NUMBERS else _number(count)
    return _moved(today, -days if "ago" in match[0] or "前" in match[0] else days)


def _weekday(match: re.Match[str], today: date) -> date | None:
    side, wanted = match["s"] or "this", _WEEKDAYS[match["w"]]
    return _moved(today, wanted - today.weekday() + 7 * _side(side))


def _period(match: re.Match[str], today: date) -> date | None:
    """The last day of a week, month or year beside this one."""
    side, unit = _side(match["s"]), match["u"]
    if unit in ("week", "weekend", "fortnight", "周", "星期", "礼拜", "周末"):
        return _moved(today, 6 - today.weekday() + 7 * side)
    return date(today.year + side, 12, 31) if unit == "year" else _month_end(today, side)


def _period_before(match: re.Match[str], today: date) -> date | None:
    """ "The week before last" and "the week after next"."""
    side = -2 if "before" in match[0] else 2
    if match["u"] == "week":
        return _moved(today, 6 - today.weekday() + 7 * side)
    return date(today.year + side, 12, 31) if match["u"] == "year" else _month_end(today, side)


def _beside(match: re.Match[str], today: date) -> date | None:
    return date(today.year + _YEARS[match["s"]], 12, 31)


def _side(text: str) -> int:
    """How far a period is from this one; "上上" is two before."""
    return _SIDES[text] if text in _SIDES else _SIDES[text[0]] * len(text)


def _month_end(today: date, side: int) -> date:
    year, month = divmod(today.year * 12 + today.month - 1 + side, 12)
    return date(year, month + 1, calendar.monthrange(year, month + 1)[1])


def _moved(day: date, days: int) -> date | None:
    try:
        return day + timedelta(days=days)
    except OverflowError:
        return None


def _number(text: str) -> int:
    return int(text) if text.isdecimal() else han_number(text)


def _month(text: str) -> int:
    named = (number for name, number in _MONTHS.items() if name.startswith(text[:3]))
    return next(named) if text.isascii() and text.isalpha() else _number(text)


Meaning = Callable[[re.Match[str], date], date | None]
Forms = list[tuple[str, str, Meaning]]
_SIGNS = {
    "day": tuple(_DAYS),
    "weekday": ("day",),
    "month": tuple(name[:3] for name in _MONTHS),
    "year": ("19", "20"),
    "slash": ("/",),
    "月": ("月",),
    "年": ("年",),
    "unit": ("day", "night", "week", "month", "year", "decade"),
    "ago": ("ago",),
    "前后": ("前", "后"),
    "side": ("last", "this", "next", "previous"),
    "beyond": ("before", "after"),
    "周": ("周", "星期", "礼拜"),
    "周月": ("周", "星期", "礼拜", "月"),
}
"""One of which stands in every text that a form with that sign can match: most texts are spared most forms."""


def _calendar_forms() -> Forms:
    """Days, months and years of a calendar, the forms first that hold others."""
    year, day, ordinal = r"(?P<y>(?:19|20)\d\d)", r"(?P<d>\d{1,2})", r"(?:st|nd|rd|th)?"
    month, digits = rf"(?P<m>{_MONTH})\.?", r"(?P<m>\d{1,2})"
    part = r"(?:0?[1-9]|[12]\d|3[01])"
    han_year = rf"(?<!\d)(?P<y>(?:19|20)\d\d|(?:一九|二[〇零○]){HAN_DIGIT}{{2}})\s*年"
    han_month, han_day = rf"(?P<m>\d{{1,2}}|{_HAN_PART})\s*月", rf"(?P<d>\d{{1,2}}|{_HAN_PART})\s*[日号]"
    beside_year = rf"(?P<s>{'|'.join(sorted(_YEARS, key=len)[::-1])})年\s*(?:的\s*)?"
    return [
        ("年", rf"{han_year}\s*{han_month}\s*{han_day}", _ymd),
        ("年", rf"(?<!\d){year}\s*年\s*{digits}\s*月\s*{day}", _ymd),
        ("year", rf"(?<![\d.]){year}([-/.]){digits}\2{day}(?!\d)", _ymd),
        ("year", r"(?<![\w.-])(?P<y>20\d\d)(?P<m>0[1-9]|1[0-2])(?P<d>0[1-9]|[12]\d|3[01])(?![\w.-])", _ymd),
        ("month", rf"\b{day}{ordinal}\s+(?:of\s+)?{month},?\s+{year}\b", _ymd),
        ("month", rf"\b{day}-{month}-{year}\b", _ymd),
        ("month", rf"(?<!\d){year}(?:-|,?\s+){month}(?:-|\s+){day}{ordinal}\b(?![:.]\d)", _ymd),
        ("month", rf"\b{month}\s+{day}{ordinal},?\s+{year}\b", _ymd),
        ("year", rf"(?<![\d./])(?P<a>{part})([./-])(?P<b>{part})\2{year}(?!\d)", _slashed),
        ("slash", rf"(?<![\d./])(?P<a>{part})/(?P<b>{part})/(?P<y>\d\d)(?![\d./])", _slashed),
        ("年", rf"{beside_year}{han_month}\s*{han_day}", _beside_year),
        ("年", rf"{beside_year}{han_month}", _whole_month),
        ("月", rf"(?P<s>上+|这|本|下+)个?月\s*(?:的\s*)?{han_day}", _beside_month),
        ("年", rf"{han_year}\s*{han_month}", _whole_month),
        ("month", rf"\b{month},?\s+{year}\b", _whole_month),
        ("month", rf"\blast\s+{month}(?!\w|\s+\d)", _last_named_month),
        ("月", rf"(?<!\d){han_month}\s*{han_day}", _without_year),
        ("month", rf"\b{day}{ordinal}\s+(?:of\s+)?{month}(?!\w)", _without_year),
        ("month", rf"\b{month}\s+{day}{ordinal}\b(?![:.]\d)", _without_year),
        ("year", rf"\b(?:in|of|by|before|during|year)\s+{year}\b(?![-/.])", _whole_year),
        ("年", rf"{han_year}(?!\d)", _whole_year),
    ]


def _counted_forms() -> Forms:
    """Days and periods that are counted from today."""
    weekday, longest = "|".join(calendar.day_name).lower(), sorted(_DAYS, key=len)[::-1]
    count = rf"(?P<n>\d{{1,4}}|{'|'.join(sorted(filter(str.isascii, _NUMBERS), key=len)[::-1])}|half a)"
    units = r"(?P<u>(?:day|night|week|fortnight|month|year|decade)s?)"
    han_count = rf"(?P<n>\d{{1,4}}|半个?|[几数]|(?<!第)(?:{HAN_DIGIT}|[十百千])+)"
    return [
        ("day", "|".join(rf"\b{name}\b" if name.isascii() else name for name in longest), _named_day),
        ("unit", rf"\bin\s+{count}\s+{units}\b", _offset),
        ("ago", rf"\b{count}\s+{units}\s+ago\b", _offset),
        ("前后", rf"{han_count}\s*(?P<u>个月|星期|礼拜|[天日周年])(?:之?后|以后|之?前|以前)", _offset),
        ("前后", r"(?P<n>半个?)\s*(?P<u>月)(?:之?后|以后|之?前|以前)", _offset),
        ("weekday", rf"\b(?:(?P<s>last|this|next)\s+)(?P<w>{weekday})\b", _weekday),
        ("周", r"(?P<s>上+|这|本|下+)个?(?:周|星期|礼拜)(?P<w>[一二三四五六日天])", _weekday),
        ("beyond", r"\bthe\s+(?P<u>week|month|year)\s+(?:before\s+last|after\s+next)\b", _period_before),
        ("side", r"\b(?P<s>last|this|next|previous)\s+(?P<u>weekend|week|fortnight|month|year)\b", _period),
        (
            "年",
            rf"(?<![说证表声目以之此当提])(?P<s>{'|'.join(sorted(_YEARS, key=len)[::-1])})年(?![纪龄级轻])",
            _beside,
        ),
        ("周月", r"(?P<s>上+|这|本|下+)个?(?P<u>周末|周|星期|礼拜|月)(?![一二三四五六日天])", _period),
    ]


class _Form(NamedTuple):
    sign: str
    pattern: re.Pattern[str]
    meaning: Meaning


# A Han character beside a Latin word ends it: in ASCII mode it is none of a word's letters.
_FORMS = tuple(
    _Form(sign, re.compile(pattern, re.ASCII), meaning)
    for sign, pattern, meaning in (*_calendar_forms(), *_counted_forms())
)
_FIXED = frozenset({_ymd, _slashed, _without_year})
