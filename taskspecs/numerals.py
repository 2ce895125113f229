"""Numbers that are written in words, English and Chinese, as digits.

Knows nothing of what a number counts: "the second" is a place or a time, and reads alike in both.
"""

from __future__ import annotations

import re
from functools import lru_cache

from taskspecs.alternatives import by_first_sign

_HAN = {digit: number for number, digit in enumerate("零一二三四五六七八九")} | {"〇": 0, "○": 0, "两": 2}
_HAN_UNITS = {"十": 10, "百": 100, "千": 1000}
_HAN_GROUPS = {"万": 10**4, "亿": 10**8}
_FORMAL = str.maketrans("壹贰叁肆伍陆柒捌玖拾佰仟", "一二三四五六七八九十百千")
HAN_DIGIT = f"[{''.join(_HAN)}]"
"""One Chinese digit, as a pattern."""
_HAN_NUMBER = re.compile(
    # "统一" and "一下" hold the sign for one and count nothing.
    rf"(?:(?<![统唯])一(?![下些样起直定般旦致切共])|[{''.join(_HAN).replace('一', '')}{''.join(_HAN_UNITS)}])"
    rf"[{''.join(_HAN)}{''.join(_HAN_UNITS)}{''.join(_HAN_GROUPS)}]*"
)

ONES = {
    "zero": 0, "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8, "nine": 9,
    "ten": 10, "eleven": 11, "twelve": 12, "thirteen": 13, "fourteen": 14, "fifteen": 15, "sixteen": 16,
    "seventeen": 17, "eighteen": 18, "nineteen": 19,
}  # fmt: skip
"""The English numbers that are one word without parts."""
_TENS = {
    "twenty": 20, "thirty": 30, "forty": 40, "fifty": 50, "sixty": 60, "seventy": 70, "eighty": 80, "ninety": 90,
}  # fmt: skip
_PLACES = {
    "first": "1st", "second": "2nd", "third": "3rd", "fourth": "4th", "fifth": "5th", "sixth": "6th",
    "seventh": "7th", "eighth": "8th", "ninth": "9th", "tenth": "10th", "eleventh": "11th", "twelfth": "12th",
}  # fmt: skip
_BELOW_HUNDRED = rf"(?:(?:{'|'.join(_TENS)})(?:[ -](?:{'|'.join([*ONES][1:10])}))?|{'|'.join([*ONES][::-1])})"
_BELOW_THOUSAND = rf"(?:{_BELOW_HUNDRED} hundred(?: and {_BELOW_HUNDRED}| {_BELOW_HUNDRED})?|{_BELOW_HUNDRED})"
_INITIALS = "".join(sorted({name[0] for name in (*ONES, *_TENS)}))
_ENGLISH_NUMBER = re.compile(
    rf"\b(?=[{_INITIALS}]){_BELOW_THOUSAND}(?: thousand(?:(?: and)? {_BELOW_THOUSAND})?)?\b(?![’'])",
    re.IGNORECASE,
)
_PLACE = re.compile(rf"\b{by_first_sign(_PLACES)}\b", re.IGNORECASE)
_REMEMBERED = 256
"""Rules ask for the same text one after another."""
_GROUPED = re.compile(r"(?<![\d.,])\d{1,3}(?:,\d{3})+(?![\d,])")


def han_number(text: str) -> int:
    """The number that Chinese numerals spell; years are spelled digit by digit."""
    if all(sign in _HAN for sign in text):
        return int("".join(str(_HAN[sign]) for sign in text))
    total, group, digit = 0, 0, None
    for sign in text:
        if sign in _HAN:
            digit = _HAN[sign]
        elif sign in _HAN_UNITS:
            group += (1 if digit is None else digit) * _HAN_UNITS[sign]
            digit = None
        else:
            total = (total + group + (digit or 0)) * _HAN_GROUPS[sign]
            group, digit = 0, None
    return total + group + (digit or 0)


@lru_cache(maxsize=_REMEMBERED)
def in_digits(text: str) -> str:
    """A text with its numbers in digits: "twenty-one", "三百" and "1,000" are 21, 300 and 1000."""
    spelled = _GROUPED.sub(lambda found: found[0].replace(",", ""), text.translate(_FORMAL))
    spelled = _HAN_NUMBER.sub(lambda found: str(han_number(found[0])), spelled)
    spelled = _ENGLISH_NUMBER.sub(lambda found: str(_english(found[0])), spelled)
    return _PLACE.sub(lambda found: _PLACES[found[0].lower()], spelled)


def _english(text: str) -> int:
    total, group = 0, 0
    for word in re.split(r"[ -]", text.lower()):
        if word == "thousand":
            total, group = group * 1000, 0
        elif word == "hundred":
            group *= 100
        elif word != "and":
            group += ONES.get(word) or _TENS.get(word, 0)
    return total + group
