"""Faults the phone can be told to have, and which of them is due.

    settings put global pathproof_fault "torn*2,hang:uiautomator"

orders a list of `KIND[:ARGUMENT][*TIMES]`; without a number the fault stays until the setting is changed, but those
that cut the connection, `offline` and `reboot`, happen once. What each one does is carried out where it shows: here
they are only counted.

    hang:COMMAND        the command never answers
    offline:SECONDS     the connection is cut, and nobody answers for so long
    torn                half the bytes of a picture
    unended             a picture without its end chunk
    empty               no bytes of a picture
    prefixed            a warning line in front of a picture
    trailing            four bytes behind a picture
    crlf                every line feed of a picture as carriage return and line feed
    black               a picture that is black though nothing hides
    secure              a secure window: its picture is black, and it says so
    rotate:N            the display turns to rotation N, 0 to 3
    tree_slow:SECONDS   the UI tree comes so much later
    tree_never:SECONDS  the UI tree tool waits so long (2 s) and then says that the screen is never idle
    tree_null           the UI tree tool finds no root
    broadcast_lost      a broadcast is completed, and nobody got it
    broadcast_failed    a broadcast ends with an error result
    anr:PACKAGE         the application does not respond, and a window says so
    anr_hidden:PACKAGE  the same without a window: while it is in front, the UI tree tool finds no root
    reboot              the phone boots again
"""

from __future__ import annotations

import re
from typing import NamedTuple

KINDS = frozenset(
    [
        "anr",
        "anr_hidden",
        "black",
        "broadcast_failed",
        "broadcast_lost",
        "crlf",
        "empty",
        "hang",
        "offline",
        "prefixed",
        "reboot",
        "rotate",
        "secure",
        "torn",
        "trailing",
        "tree_never",
        "tree_null",
        "tree_slow",
        "unended",
    ]
)
_ONCE = frozenset({"offline", "reboot"})
"""Whoever suffered from these at every command could never be told to end it."""
_ORDER = re.compile(r"(?P<kind>[a-z_]+)(?::(?P<argument>[^*,]+))?(?:\*(?P<times>[0-9]+))?")


class Fault(NamedTuple):
    """One fault."""

    kind: str
    argument: str = ""
    times: int | None = None


class Faults:
    """Those that are still due."""

    def __init__(self, text: str = "") -> None:
        """The first order."""
        self._due: list[Fault] = []
        self.order(text)

    def order(self, text: str) -> None:
        """Replace what is due; raises ValueError naming what cannot be read, and changes nothing then."""
        self._due = [_fault(part.strip()) for part in text.split(",") if part.strip()]

    def peek(self, kind: str, argument: str | None = None) -> Fault | None:
        """A due fault of a kind and, where one is given, with this argument."""
        for fault in self._due:
            if fault.kind == kind and argument in (None, fault.argument):
                return fault
        return None

    def take(self, kind: str, argument: str | None = None) -> Fault | None:
        """The same, counted as having happened."""
        fault = self.peek(kind, argument)
        if fault is not None and fault.times is not None:
            at = self._due.index(fault)
            left = fault.times - 1
            self._due[at : at + 1] = [fault._replace(times=left)] if left else []
        return fault


def damaged(picture: bytes, faults: Faults) -> bytes:
    """The bytes of a picture as the faults that are due leave them."""
    if faults.take("empty"):
        return b""
    if faults.take("torn"):
        return picture[: len(picture) // 2]
    if faults.take("unended"):
        return picture[:-12]
    if faults.take("crlf"):
        return picture.replace(b"\n", b"\r\n")
    if faults.take("trailing"):
        return picture + b"\0\0\0\0"
    if faults.take("prefixed"):
        return (
            b"[Warning] Multiple displays were found, but no display id was specified! Defaulting to the first\n"
            + picture
        )
    return picture


def _fault(text: str) -> Fault:
    read = _ORDER.fullmatch(text)
    if read is None or read["kind"] not in KINDS:
        raise ValueError(f"'{text}' is no fault; known: {', '.join(sorted(KINDS))}")
    times = int(read["times"]) if read["times"] else 1 if read["kind"] in _ONCE else None
    return Fault(read["kind"], read["argument"] or "", times)
