"""Keysyms: the numbers by which X names what a key means.

A key is named as X names it (`Return`, `Shift_L`) or by its one character. Knows nothing of keyboards.
"""

from __future__ import annotations

NAMED = {
    "BackSpace": 0xFF08,
    "Tab": 0xFF09,
    "Return": 0xFF0D,
    "Pause": 0xFF13,
    "Scroll_Lock": 0xFF14,
    "Escape": 0xFF1B,
    "Home": 0xFF50,
    "Left": 0xFF51,
    "Up": 0xFF52,
    "Right": 0xFF53,
    "Down": 0xFF54,
    "Prior": 0xFF55,
    "Next": 0xFF56,
    "End": 0xFF57,
    "Print": 0xFF61,
    "Insert": 0xFF63,
    "Menu": 0xFF67,
    "Num_Lock": 0xFF7F,
    "Shift_L": 0xFFE1,
    "Shift_R": 0xFFE2,
    "Control_L": 0xFFE3,
    "Control_R": 0xFFE4,
    "Caps_Lock": 0xFFE5,
    "Alt_L": 0xFFE9,
    "Alt_R": 0xFFEA,
    "Super_L": 0xFFEB,
    "Super_R": 0xFFEC,
    "Delete": 0xFFFF,
    "space": 0x20,
    **{f"F{number}": 0xFFBD + number for number in range(1, 13)},
}
"""Keys that have a name of their own."""

_UNICODE = 0x0100_0000
_KEYED = {"\n": NAMED["Return"], "\t": NAMED["Tab"]}
_LAST_LATIN = 0xFF
_DELETE, _FIRST_PRINTABLE, _FIRST_LATIN = 0x7F, 0x20, 0xA0


def keysym_of(name: str) -> int | None:
    """The keysym of a named key or of a character; None where there is none."""
    if name in NAMED:
        return NAMED[name]
    return keysym_of_character(name) if len(name) == 1 else None


def keysym_of_character(character: str) -> int | None:
    """The keysym that enters a character; None for one that no key can enter: controls, halves of pairs."""
    if character in _KEYED:
        return _KEYED[character]
    code = ord(character)
    if code < _FIRST_PRINTABLE or _DELETE <= code < _FIRST_LATIN or 0xD800 <= code <= 0xDFFF:
        return None
    if code & 0xFFFE == 0xFFFE or 0xFDD0 <= code <= 0xFDEF:
        return None
    return code if code <= _LAST_LATIN else _UNICODE | code
