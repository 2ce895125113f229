"""Names of keys: from what models call them to the names our actions use, and back.

Knows nothing of which keys a platform has.
"""

from __future__ import annotations

from collections.abc import Sequence

from pipeline.dialects.spaces import shown
from pipeline.errors import ActionError

MOST_KEYS = 3

_LOWER = {
    "Control": "ctrl",
    "Alt": "alt",
    "Meta": "win",
    "Shift": "shift",
    "ArrowDown": "down",
    "ArrowLeft": "left",
    "ArrowRight": "right",
    "ArrowUp": "up",
    "Backspace": "backspace",
    "CapsLock": "capslock",
    "ContextMenu": "menu",
    "Delete": "delete",
    "End": "end",
    "Enter": "enter",
    "Escape": "esc",
    "Home": "home",
    "Insert": "insert",
    "PageDown": "pagedown",
    "PageUp": "pageup",
    "Space": "space",
    "Tab": "tab",
    "+": "plus",
    **{f"F{number}": f"f{number}" for number in range(1, 13)},
}
"""Our names, and the lower-case ones that desktop grammars use."""
_OTHERS = {
    "caps_lock": "CapsLock",
    "cmd": "Meta",
    "command": "Meta",
    "control": "Control",
    "ctl": "Control",
    "del": "Delete",
    "escape": "Escape",
    "ins": "Insert",
    "option": "Alt",
    "page_down": "PageDown",
    "page_up": "PageUp",
    "pgdn": "PageDown",
    "pgup": "PageUp",
    "return": "Enter",
    "spacebar": "Space",
    "super": "Meta",
    "windows": "Meta",
    " ": "Space",
}
_NAMES = (
    {name.lower(): name for name in _LOWER}
    | {lower: name for name, lower in _LOWER.items()}
    | {f"arrow_{way}": f"Arrow{way.capitalize()}" for way in ("down", "left", "right", "up")}
    | _OTHERS
)


def key_names(spelled: Sequence[object]) -> list[str]:
    """Our names of keys that a model spells; raises ActionError `bad_arguments`."""
    if not 1 <= len(spelled) <= MOST_KEYS:
        raise ActionError("bad_arguments", f"one to {MOST_KEYS} keys are pressed together, not {len(spelled)}")
    return [_name(key) for key in spelled]


def lower_names(keys: Sequence[str]) -> list[str]:
    """The lower-case names of keys, as desktop grammars spell them."""
    return [_LOWER.get(key, key) for key in keys]


def split_keys(text: str) -> list[str]:
    """The keys of a text that separates them by space or by plus signs."""
    keys = [key for key in text.split() if key != "+" or text.strip() == "+"]
    if len(keys) == 1 and len(keys[0]) > 1:
        return [key for key in keys[0].split("+") if key]
    return keys


def _name(key: object) -> str:
    if isinstance(key, str):
        if name := _NAMES.get(key.lower()):
            return name
        if len(key) == 1 and key.isprintable():
            return key
    raise ActionError("bad_arguments", f"there is no key {shown(key)}")
