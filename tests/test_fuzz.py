"""A short fuzz of what reads the data of others; `python -m tests.fuzz` is the long one."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import strategies as st

from pipeline.envs.android_display import is_secure, read_display
from pipeline.errors import EnvError, PathproofError
from tests import fuzz
from tests.fuzz_targets import Target, shell, targets

_FOCUS = b"  mCurrentFocus=Window{1a2b u0 com.app/com.app.Main}"
_LONG = b"9" * 5000


def test_nothing_but_typed_errors_comes_of_any_data() -> None:
    cases, crashes = fuzz.fuzz(8.0)

    assert crashes == []
    assert cases > 50


@pytest.mark.parametrize("name", targets())
def test_sound_data_is_read(name: str) -> None:
    """Each target takes some data that it has been given, so that what is fuzzed lies behind its first check."""
    read: list[object] = []

    def reading(data: Any) -> None:
        targets()[name].read(data)
        read.append(data)

    for number in range(20):
        if not read:
            fuzz.batch(name, targets()[name]._replace(read=reading, cases=10), number, float("inf"))

    assert read, f"{name} takes nothing"


def test_a_crash_is_told_with_the_smallest_data_and_its_place() -> None:
    def read(data: int) -> None:
        if data > 100:
            raise IndexError("too far")
        raise EnvError("typed", "any other")

    _, crash = fuzz.batch("numbers", Target(st.integers(0, 10_000), read), 0, float("inf"))

    assert crash is not None
    assert (crash.target, crash.data) == ("numbers", "101")
    assert crash.place.startswith("IndexError at test_fuzz.py:")


def test_a_case_that_takes_too_long_is_a_crash(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fuzz, "_CASE_SECONDS", 1)

    def read(data: object) -> None:
        while True:
            pass

    _, crash = fuzz.batch("endless", Target(st.none(), read, 1), 0, float("inf"))

    assert crash is not None and crash.place.startswith("TooSlowError")


@pytest.mark.parametrize(
    ("name", "data", "outcome"),
    [
        ("android tree", b'<hierarchy rotation="0"><node text="a" bounds="[0,0][%s,1]"/></hierarchy>' % _LONG, "read"),
        ("android tree", b'<hierarchy rotation="%s"><node text="a"/></hierarchy>' % _LONG, "read"),
        ("adb", (read_display, [shell(b"cur=%sx1 mRotation=ROTATION_0" % _LONG, 0)]), "EnvError"),
        ("adb", (read_display, [b"OKAYOKAY\x03\x00\x00\x00\x00"]), "EnvError"),
        ("adb", (is_secure, [shell(_FOCUS, 0), shell(b"", 0)]), "read"),
    ],
    ids=["box", "rotation", "size", "no exit code", "no window"],
)
def test_what_was_found_stays_mended(name: str, data: Any, outcome: str) -> None:
    assert outcome_of(name, data) == outcome


def outcome_of(name: str, data: Any) -> str:
    """`read`, or the kind of the typed error."""
    try:
        targets()[name].read(data)
    except PathproofError as error:
        return type(error).__name__
    return "read"
