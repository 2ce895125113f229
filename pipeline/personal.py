"""Personal data in a text: addresses of mail, telephone numbers, payment cards, bank accounts, national numbers.

Only what is checked by more than its looks is found: check digits, numbering plans, domains that can exist. What is
reserved for examples is nobody's. Names and street addresses are not found. A text may be anything, so a search takes a
bounded time, and what is beyond that is taken for personal data. Knows nothing of rows and pictures.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Literal, NamedTuple

from phonenumbers import Leniency, PhoneNumber, PhoneNumberMatcher, PhoneNumberType, number_type
from stdnum import iban, luhn
from stdnum.cn import ric
from stdnum.us import ssn

Kind = Literal["email", "phone", "card", "iban", "national_id"]

KINDS: frozenset[str] = frozenset({"email", "phone", "card", "iban", "national_id"})

_WORTH_READING = re.compile(r"@|\d(?:[ ().-]{0,2}\d){8}")
"""What every text with personal data has: an at sign, or nine digits close together."""

_MAIL = re.compile(r"(?<![\w.+%-])[\w.+%-]{1,64}@((?:[\w-]{1,63}\.){1,8}[^\W\d_]{2,24})")
_NOBODYS_DOMAINS = re.compile(
    r"(?:^|\.)(?:example\.(?:com|net|org)|example|invalid|localhost|test|local|internal)$", re.IGNORECASE
)
_CARD = re.compile(r"(?<![\w.-])\d(?:[ -]?\d){12,18}(?![\w-])")
_ISSUERS = re.compile(
    r"4\d{12}(?:\d{3}){0,2}|(?:5[1-5]|2[2-7])\d{14}|3[47]\d{13}|3528\d{12}|35[3-8]\d{13}|6(?:011|5\d\d)\d{12}|62\d{14,17}"
)
_NOBODYS_CARDS = frozenset(
    {
        "4111111111111111",
        "4242424242424242",
        "4000056655665556",
        "4012888888881881",
        "5105105105105100",
        "5555555555554444",
        "378282246310005",
        "371449635398431",
        "6011111111111117",
        "3530111333300000",
    }
)
"""Numbers that payment services publish for trying out."""
_ACCOUNT = re.compile(r"(?<!\w)[A-Z]{2}\d{2}(?: ?[A-Z0-9]{4}){2,7}(?: ?[A-Z0-9]{1,3})?(?!\w)")
_RESIDENT = re.compile(r"(?<![\w.-])\d{17}[\dXx](?![\w-])")
_SOCIAL = re.compile(r"(?<![\w.-])\d{3}-\d{2}-\d{4}(?![\w-])")
_NOBODYS_PHONES = re.compile(r"1\d{3}55501\d{2}|44(?:\d{3}4960|2079460|1632960|7700900)\d{3}")
"""What North America and Britain keep for films and books."""
_NUMBER = re.compile(r"(?<![\w.,])[+\N{FULLWIDTH PLUS SIGN}(]{0,2}\d(?:[ ().-]{0,3}\d){8,16}(?!\w)")
"""What a telephone number may be in: looking into each of these is quick, into a long text it is not."""
_WHEN = re.compile(r"(?<!\d)(?:\d{4}([-./])\d{1,2}\1\d{1,2}|\d{1,2}([-./])\d{1,2}\2\d{4}|\d{1,2}:\d{2})(?!\d)")
_PLUS = ("+", "\N{FULLWIDTH PLUS SIGN}")
_GROUPED = re.compile(r"\d[ ).-]+\d")
_DOTTED = re.compile(r"\d+(?:\.\d+)+")
_MOBILE = re.compile(r"1[3-9]\d{9}")
"""What a number is that is written without anything between its digits."""
_MOST_NUMBERS = 500
"""So many different numbers of one search are looked up in the numbering plans, at about a millisecond each."""
_REGIONS = ("CN", "US")
"""Where a number without a country's code may be from: English and Chinese screens are read."""


class Found(NamedTuple):
    """A piece of personal data in a text."""

    kind: Kind
    start: int
    end: int


class Search:
    """A search of texts that belong together, such as those of a look, in a bounded time.

    Beyond `characters`, texts that may hold personal data are taken for it as a whole; beyond the numbers that are
    looked up, what is written like a telephone number is taken for one.
    """

    def __init__(self, characters: int | None = None) -> None:
        self._left = characters
        self._numbers: dict[str, list[tuple[int, int]]] = {}

    def find(self, text: str) -> list[Found]:
        """Personal data in a text, from left to right; pieces never overlap."""
        worth = _WORTH_READING.search(text)
        if worth is None:
            return []
        if self._left is not None:
            self._left -= len(text)
            if self._left < 0:
                return [Found("email" if worth[0] == "@" else "phone", 0, len(text))]
        found: list[Found] = []
        taken = bytearray(len(text))
        for piece in self._candidates(text):
            if not any(taken[piece.start : piece.end]):
                taken[piece.start : piece.end] = b"x" * (piece.end - piece.start)
                found.append(piece)
        return sorted(found, key=lambda piece: piece.start)

    def _candidates(self, text: str) -> Iterator[Found]:
        """Pieces that are sound by themselves, those of the strictest rules first."""
        for kind, pattern, sound in _RULES:
            for match in pattern.finditer(text):
                if sound(match):
                    yield Found(kind, *match.span())
        timeless = _WHEN.sub(lambda when: "#" * len(when[0]), text)
        for around in _NUMBER.finditer(timeless):
            for start, end in self._phones(around[0]):
                yield Found("phone", around.start() + start, around.start() + end)

    def _phones(self, around: str) -> list[tuple[int, int]]:
        """Where telephone numbers are in what may hold one."""
        if not (any(plus in around for plus in _PLUS) or _GROUPED.search(around) or _MOBILE.search(around)):
            return []
        if around not in self._numbers:
            if len(self._numbers) >= _MOST_NUMBERS:
                return [(0, len(around))]
            self._numbers[around] = list(_phones_in(around))
        return self._numbers[around]


def find(text: str) -> list[Found]:
    """Personal data in a text, from left to right; pieces never overlap."""
    return Search().find(text)


def without_personal_data(text: str, mask: str) -> str:
    """The text with a mask in place of every piece; itself when there is none."""
    found = find(text)
    if not found:
        return text
    ends = [0, *(piece.end for piece in found)]
    kept = (text[end : piece.start] for end, piece in zip(ends, found, strict=False))
    return mask.join([*kept, text[ends[-1] :]])


def _somebodys_mail(match: re.Match[str]) -> bool:
    return not _NOBODYS_DOMAINS.search(match[1])


def _somebodys_card(match: re.Match[str]) -> bool:
    digits = re.sub(r"\D", "", match[0])
    known = _ISSUERS.fullmatch(digits) and digits not in _NOBODYS_CARDS
    return bool(known and luhn.is_valid(digits))


_RULES: tuple[tuple[Kind, re.Pattern[str], Callable[[re.Match[str]], bool]], ...] = (
    ("email", _MAIL, _somebodys_mail),
    ("national_id", _RESIDENT, lambda match: ric.is_valid(match[0])),
    ("national_id", _SOCIAL, lambda match: ssn.is_valid(match[0])),
    ("iban", _ACCOUNT, lambda match: iban.is_valid(match[0])),
    ("card", _CARD, _somebodys_card),
)


def _phones_in(around: str) -> Iterator[tuple[int, int]]:
    for region in _REGIONS:
        for match in PhoneNumberMatcher(around, region, leniency=Leniency.VALID):
            if _written_as_phone(match.raw_string, match.number) and not _fictitious(match.number):
                yield match.start, match.end


def _written_as_phone(raw: str, number: PhoneNumber) -> bool:
    """Whether it looks like one too: any ten digits in a row are a valid number somewhere."""
    if _DOTTED.fullmatch(raw):
        return False
    if raw.startswith(_PLUS) or _GROUPED.search(raw):
        return True
    return number.country_code == 86 and number_type(number) == PhoneNumberType.MOBILE


def _fictitious(number: PhoneNumber) -> bool:
    return bool(_NOBODYS_PHONES.fullmatch(f"{number.country_code}{number.national_number}"))
