"""Keys of a virtual machine's keyboard: the names by which the machine knows them, by the numbers X knows them by.

Knows nothing of what keys mean in a guest.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

_X_OFFSET = 8
"""X counts keys from here where Linux counts from 0."""

_ROWS = (
    (1, "esc 1 2 3 4 5 6 7 8 9 0 minus equal backspace tab q w e r t y u i o p bracket_left bracket_right ret ctrl"),
    (30, "a s d f g h j k l semicolon apostrophe grave_accent shift backslash z x c v b n m comma dot slash shift_r"),
    (55, "kp_multiply alt spc caps_lock f1 f2 f3 f4 f5 f6 f7 f8 f9 f10 num_lock scroll_lock"),
    (71, "kp_7 kp_8 kp_9 kp_subtract kp_4 kp_5 kp_6 kp_add kp_1 kp_2 kp_3 kp_0 kp_decimal"),
    (86, "less f11 f12"),
    (96, "kp_enter ctrl_r kp_divide print alt_r"),
    (102, "home up pgup left right end down pgdn insert delete"),
    (119, "pause"),
    (125, "meta_l meta_r compose"),
)
_SPARE_ROWS = (
    (89, "ro"),
    (92, "henkan katakanahiragana muhenkan"),
    (122, "lang1 lang2 yen"),
    (128, "stop again props undo front copy open paste find cut help menu calculator"),
    (155, "mail ac_bookmarks computer ac_back ac_forward"),
    (163, "audionext audioplay audioprev audiostop"),
    (172, "ac_home ac_refresh"),
    (183, "f13 f14 f15 f16 f17 f18 f19 f20 f21 f22 f23 f24"),
    (226, "mediaselect"),
)


def _numbered(rows: tuple[tuple[int, str], ...]) -> Iterator[tuple[int, str]]:
    for first, names in rows:
        yield from enumerate(names.split(), first + _X_OFFSET)


KEYS: Mapping[int, str] = dict(_numbered(_ROWS))
"""Keys that layouts give a meaning, by X keycode."""

SPARE: Mapping[int, str] = dict(_numbered(_SPARE_ROWS))
"""Keys of other keyboards, of which programs here expect nothing; not every release takes them all."""
