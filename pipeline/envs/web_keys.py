"""Names of keys: what policies call them, and what they are called in the browser."""

from __future__ import annotations

import string
from collections.abc import Sequence

from pipeline.errors import ActionError

MODIFIERS = ("Control", "Alt", "Meta", "Shift")

_NAMED = (
    *MODIFIERS,
    "ArrowDown",
    "ArrowLeft",
    "ArrowRight",
    "ArrowUp",
    "Backspace",
    "CapsLock",
    "ContextMenu",
    "Delete",
    "End",
    "Enter",
    "Escape",
    "Home",
    "Insert",
    "PageDown",
    "PageUp",
    "Space",
    "Tab",
    *(f"F{number}" for number in range(1, 13)),
)
_OTHER_NAMES = {
    " ": "Space",
    "cmd": "Meta",
    "command": "Meta",
    "ctrl": "Control",
    "del": "Delete",
    "down": "ArrowDown",
    "esc": "Escape",
    "ins": "Insert",
    "left": "ArrowLeft",
    "menu": "ContextMenu",
    "option": "Alt",
    "pgdn": "PageDown",
    "pgup": "PageUp",
    "return": "Enter",
    "right": "ArrowRight",
    "super": "Meta",
    "up": "ArrowUp",
    "win": "Meta",
    "windows": "Meta",
}
_NAMES = {name.lower(): name for name in _NAMED} | _OTHER_NAMES
_CHARACTERS = frozenset(string.ascii_letters + string.digits + string.punctuation)


def key_names(keys: Sequence[str]) -> list[str]:
    """The browser's names of keys to be pressed together, modifiers first; raises ActionError `bad_arguments`."""
    named = [_name(key) for key in keys]
    modifiers = [key for key in MODIFIERS if key in named]
    others = [key for key in named if key not in MODIFIERS]
    if modifiers:
        # A capital letter stands for Shift, and Shift for capital letters.
        others = [_cased(key, "Shift" in modifiers) for key in others]
    return [*modifiers, *dict.fromkeys(others)]


def _cased(key: str, shifted: bool) -> str:
    if len(key) != 1:
        return key
    return key.upper() if shifted else key.lower()


def _name(key: str) -> str:
    if key in _CHARACTERS:
        return key
    name = _NAMES.get(key if key == " " else key.strip().lower().replace("_", "").replace(" ", ""))
    if name is None:
        raise ActionError("bad_arguments", f"there is no key '{key}'")
    return name
