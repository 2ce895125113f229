"""Programs that run another one: which words of theirs come before it, and whether it gets rights it had not.

Knows nothing of what the program that is run would do.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from pipeline.safety.places import UNKNOWN
from pipeline.safety.shell_words import Unreadable


class _Wrapper(NamedTuple):
    """Options before the program that is run."""

    flags: str = ""
    """Letters without a value."""
    valued: str = ""
    """Letters with one."""
    names: frozenset[str] = frozenset()
    """Long options whose value is a word of its own."""
    leading: int = 0
    """Words before the program that are no options."""
    privileged: bool = False


class Unwrapped(NamedTuple):
    """A program and its arguments, without what runs it."""

    words: tuple[str, ...]
    privileged: bool = False
    items: bool = False
    """Whether more arguments come from what it reads."""


_SUDO = frozenset({"--user", "--group", "--chdir", "--prompt", "--host", "--role", "--type", "--chroot"})
_WRAPPERS = {
    "sudo": _Wrapper("AbEHklnPSv", "CDghpRrTtUu", _SUDO, privileged=True),
    "doas": _Wrapper("Ln", "Cu", privileged=True),
    "pkexec": _Wrapper("", "", frozenset({"--user"}), privileged=True),
    "nsenter": _Wrapper("aFmuinpCUTrwZ", "tSG", frozenset({"--target", "--setuid", "--setgid"}), privileged=True),
    "chroot": _Wrapper(leading=1, privileged=True),
    "unshare": _Wrapper("fimnpruCTU", "RwSG"),
    "busybox": _Wrapper(),
    "toybox": _Wrapper(),
    "builtin": _Wrapper(),
    "command": _Wrapper("p"),
    "exec": _Wrapper("cl", "a"),
    "env": _Wrapper("0iv", "u", frozenset({"--unset"})),
    "nice": _Wrapper("0123456789", "n", frozenset({"--adjustment"})),
    "ionice": _Wrapper("t", "cnpPu", frozenset({"--class", "--classdata"})),
    "chrt": _Wrapper("abdfimorRv", "TPD", leading=1),
    "taskset": _Wrapper("ac", leading=1),
    "nohup": _Wrapper(),
    "setsid": _Wrapper("cfw"),
    "stdbuf": _Wrapper("", "ioe", frozenset({"--input", "--output", "--error"})),
    "time": _Wrapper("apqv", "f", frozenset({"--format"})),
    "timeout": _Wrapper("fpv", "ks", frozenset({"--kill-after", "--signal"}), leading=1),
    "flock": _Wrapper("FnosuxeV", "Ew", frozenset({"--timeout", "--wait"}), leading=1),
    "strace": _Wrapper("cCfFiqrtTvVwyzZ", "abeEIkOpPsSuUX"),
    "ltrace": _Wrapper("bcCfiLrStTV", "adeFlnpsux"),
    "xvfb-run": _Wrapper("al", "efnspw", frozenset({"--server-args", "--server-num"})),
    "dbus-run-session": _Wrapper(),
    "fakeroot": _Wrapper(),
    "setpriv": _Wrapper(privileged=True),
    "start-stop-daemon": _Wrapper(privileged=True),
    "systemd-run": _Wrapper(privileged=True),
    "xargs": _Wrapper("0oprtx", "dEIiLnPs", frozenset({"--delimiter", "--max-args", "--max-procs"})),
}
_ASSIGNMENT = re.compile(r"[A-Za-z_]\w*\+?=.*", re.DOTALL)
_LOADED = re.compile(
    r"(?:LD_\w+|BASH_ENV|ENV|PROMPT_COMMAND|HOME|GIT_(?:SSH\w*|EXTERNAL_DIFF|ASKPASS|EXEC_PATH|PROXY_COMMAND|CONFIG\w*)"
    r"|(?:\w*PAGER|\w*EDITOR|VISUAL|BROWSER)(?!=(?:cat|code|emacs|less|more|nano|nvim|vi|vim)$))\+?="
)
"""Variables that make another program run, or put the home elsewhere."""
_SETTING = frozenset({"declare", "export", "local", "readonly", "typeset"})
_GRAMMAR = frozenset({"!", "{", "[[", "case", "for", "if", "select", "until", "while"})
_LOOKING = {"command": {"-v", "-V"}, "sudo": {"-l", "-k", "-v", "--list", "--validate"}}


def unwrapped(words: Sequence[str]) -> Unwrapped:
    """What a command comes to; raises Unreadable where the options of what runs it are not known."""
    left, privileged, items = list(words), False, False
    while left:
        if _ASSIGNMENT.fullmatch(left[0]):
            if _LOADED.match(left[0]):
                raise Unreadable("a variable that runs something")
            left = left[1:]
            continue
        name = left[0].rsplit("/", 1)[-1]
        wrapper = _WRAPPERS.get(name)
        if wrapper is None:
            break
        if set(left[1:2]) <= _LOOKING.get(name, set()) and left[1:]:
            return Unwrapped(())
        left = _after(left[1:], wrapper)
        privileged, items = privileged or wrapper.privileged, items or name == "xargs"
    if set(left[:1]) & _SETTING and any(map(_LOADED.match, left)):
        raise Unreadable("a variable that runs something")
    if left and left[0].startswith("-"):
        raise Unreadable("an option in the place of a program")
    return Unwrapped(tuple(left), privileged, items)


def _after(words: list[str], wrapper: _Wrapper) -> list[str]:
    """What comes after the options of a wrapper and its own words."""
    if set(words[:1]) & _GRAMMAR:
        raise Unreadable("grammar after a program")
    at = 0
    while at < len(words) and words[at].startswith("-"):
        word = words[at]
        at += 1
        if word == "--":
            break
        at += _taken(word, wrapper)
    return words[at + wrapper.leading :]


def _taken(word: str, wrapper: _Wrapper) -> int:
    """How many words after an option are its value."""
    if UNKNOWN in word:
        raise Unreadable("an option that is not known")
    if word.startswith("--"):
        if "=" not in word and word not in wrapper.names and not _is_flag(word):
            raise Unreadable(f"{word} may have a value")
        return int(word in wrapper.names)
    for place, letter in enumerate(word[1:], start=1):
        if letter in wrapper.valued:
            return int(place == len(word) - 1)
        if letter not in wrapper.flags:
            raise Unreadable(f"{word} may have a value")
    return 0


def _is_flag(word: str) -> bool:
    return word in (
        "--foreground",
        "--null",
        "--preserve-status",
        "--verbose",
        "--non-interactive",
        "--no-run-if-empty",
    )
