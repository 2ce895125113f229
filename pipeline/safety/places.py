"""Where a path in a line of a shell leads: into the work, to all of it, or out of it.

The work is what lies below the session's home. The home itself, everything in it at once and whatever cannot be read
are never a part of it. Knows no programs.
"""

from __future__ import annotations

from typing import Literal, NamedTuple

UNKNOWN = "\0"
"""Stands in a word for what only the running shell knows."""
SOMEWHERE = "."
"""A folder within the work that is not known further."""

Place = Literal["inside", "whole", "outside", "sink", "starting"]
"""`sink` takes whatever is written and keeps nothing; `starting` is run when a session begins, or opens one."""

_SINKS = frozenset({"/dev/null", "/dev/stdout", "/dev/stderr", "/dev/tty"})
_STARTING = frozenset(
    {".bash_login", ".bash_logout", ".bash_profile", ".bashrc", ".gnupg", ".login", ".netrc", ".pam_environment"}
    | {".profile", ".ssh", ".vimrc", ".xinitrc", ".xprofile", ".xsession", ".zlogin", ".zprofile", ".zshenv", ".zshrc"}
)
"""What is run or trusted later, whoever uses the home then: to change it reaches beyond the work."""
_CLIMBING = frozenset({"..", ".*", ".?", ".??"})


class _Way(NamedTuple):
    """Parts below a root: the root of the machine, the home, or a folder within the work."""

    root: Literal["machine", "home", "work"]
    parts: list[str]


def place_of(path: str, folder: str = SOMEWHERE) -> Place:
    """Where a path leads for a shell that stands in a folder."""
    way = _way(joined(folder, path))
    if way is None:
        return "outside"
    if way.root != "machine":
        if _starts(way.parts):
            return "starting"
        return "whole" if _everything(way.parts) else "inside"
    if "/" + "/".join(way.parts) in _SINKS:
        return "sink"
    if len(way.parts) < 2 or way.parts[0] != "home" or set(way.parts[1]) & set("*?["):
        return "outside"
    if _starts(way.parts[2:]):
        return "starting"
    return "whole" if _everything(way.parts[2:]) else "inside"


def joined(folder: str, path: str) -> str:
    """A path as it is meant in a folder."""
    return path if path.startswith(("/", "~", UNKNOWN)) else f"{folder}/{path}"


def _way(path: str) -> _Way | None:
    """Root and parts without detours; nothing for what leads out of its root or cannot be read."""
    first, *rest = path.split("/")
    if first not in ("", "~", SOMEWHERE):
        return None
    parts: list[str] = []
    for part in rest:
        if part.startswith(UNKNOWN):
            return None
        if part in _CLIMBING:
            if not parts and first:
                return None
            del parts[-1:]
        elif part not in ("", "."):
            parts.append(part)
    return _Way("machine" if not first else "home" if first == "~" else "work", parts)


def _starts(parts: list[str]) -> bool:
    """Whether parts below a home lead to what is run when a session begins, or opens one."""
    return bool(parts) and (parts[0] in _STARTING or parts[:2] in ([".config", "autostart"], [".config", "systemd"]))


def _everything(parts: list[str]) -> bool:
    return not parts or (len(parts) == 1 and set(parts[0]) <= set("*?"))
