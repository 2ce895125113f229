"""A text in every spelling in which a row may hold it: as it is, or escaped in JSON, in an address, in markup; encoded.

One text may mix spellings, and may be escaped several times over, as a tool call's arguments are in a reply. Any white
space equals any other; where it is asked for, lines may break anywhere within the text. Short texts are found as whole
words only, for they are a part of everything. This module knows nothing of why a text is looked for.
"""

from __future__ import annotations

import base64
import re
import unicodedata
from functools import cache
from html.entities import html5

SHORTEST = 4
"""Shorter texts are found as whole words only."""

_URL_SAFE = str.maketrans("+/", "-_")
_BLANK = (
    r"(?:\s|\+|\\{1,16}[nrt]|\\{1,16}u00(?:20|a0|A0|0[9aAdD])|%(?:25)*(?:20|2[bB]|0[9aAdD])"
    r"|&(?:amp;)*(?:nbsp|#0*(?:9|10|13|32|160)|#[xX]0*(?:9|[aAdD]|20|[aA]0));)+"
)
_BREAK = r"(?:\s{1,8}|(?:\\{1,16}[nr]){1,2}|(?:&(?:amp;)*#0*1[03];){1,2})?"
"""Where a line may have been broken: breaks become spaces in names of a tree."""
_BEFORE = r"(?:(?<!\w)|(?<=\\[nrtbf])|(?<=\\u[0-9a-fA-F]{4})|(?<=%[0-9a-fA-F]{2}))"
_AFTER = r"(?!\w)"


def pattern_of(text: str, *, broken: bool = False) -> str:
    """The regular expression that finds a text, which is not blank, in every spelling; also `broken` into lines."""
    words = text.split()
    between = _BREAK if broken else ""
    found = _BLANK.join(between.join(map(_character, word)) for word in words)
    if sum(map(len, words)) >= SHORTEST:
        return found
    return f"{_edge(words[0][0], _BEFORE)}{found}{_edge(words[-1][-1], _AFTER)}"


def encoded_pattern_of(text: str) -> str:
    """The regular expression that finds a text encoded as a whole: in base64 of either kind, wherever it begins in what
    is encoded, and as the hexadecimal digits of its bytes, each of them escaped or not; broken into lines or not.
    """
    data = text.encode()
    escape = r"(?:\\{1,16}(?:x|u00)|%(?:25)*)?"
    digits = r"(?:[\s:-]{1,4}|\\{1,16}n)?".join(f"{escape}{_hex(f'{byte:02x}')}" for byte in data)
    cores = {core for start in range(3) for core in _base64_cores(data, start)}
    inexact = "[A-Za-z0-9+/_-]?"  # a character beside it may hold bits of the text and of what surrounds it
    found = "|".join(
        f"{inexact}{pattern_of(core, broken=True)}{_BREAK}{inexact}(?:=|%3[dD]){{0,2}}" for core in sorted(cores)
    )
    return f"{digits}|{found}"


def base64_of(text: str) -> list[str]:
    """What base64 always makes of a text, by where it begins in what is encoded."""
    return [_base64_cores(text.encode(), start)[0] for start in range(3)]


def _base64_cores(data: bytes, start: int) -> tuple[str, str]:
    """The characters that depend on these bytes alone, which begin at this place of three, in both alphabets."""
    whole = base64.b64encode(bytes(start) + data).decode()
    core = whole[(0, 2, 3)[start] : 8 * (start + len(data)) // 6]
    return core, core.translate(_URL_SAFE)


def _edge(character: str, border: str) -> str:
    """Where a word ends, in scripts that put something between words."""
    return "" if unicodedata.east_asian_width(character) in "WF" else border


@cache
def _character(character: str) -> str:
    unicode_escape = "".join(rf"\\{{1,16}}u{_hex(unit)}" for unit in _utf16(character))
    percent = "".join(rf"%(?:25)*{_hex(f'{byte:02x}')}" for byte in character.encode())
    code = ord(character)
    named = "".join(f"|{name.rstrip(';')}" for name, value in html5.items() if value == character)
    entity = rf"&(?:amp;)*(?:#0*{code}|#[xX]0*{_hex(f'{code:x}')}{named});"
    # What repeats without end where a match may begin takes the square of a text's length.
    raw = r"\\{1,16}" if character == "\\" else rf"\\{{0,16}}{re.escape(character)}"
    if character.isascii() and character.isalnum():
        raw = character  # an escape of its own would be a backslash before it
    return f"(?:{raw}|{unicode_escape}|{percent}|{entity})"


def _utf16(character: str) -> list[str]:
    """The four digits of each unit, as JSON writes it."""
    units = character.encode("utf-16-be", "surrogatepass").hex()
    return [units[place : place + 4] for place in range(0, len(units), 4)]


def _hex(digits: str) -> str:
    """Hexadecimal digits in either case."""
    return "".join(f"[{digit}{digit.upper()}]" if digit.isalpha() else digit for digit in digits)
