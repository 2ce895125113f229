"""Fuzz what reads the data of others: `python -m tests.fuzz [SECONDS]`, by default for a minute.

Anything but a typed error is a crash, and so is a case that takes more than ten seconds. Crashes are printed with the
smallest data that shows them; the last line counts: `cases=... seconds=... crashes=...`. The exit code is 1 when there
was a crash.
"""

from __future__ import annotations

import contextlib
import signal
import sys
import time
import traceback
from collections.abc import Iterator
from types import FrameType
from typing import Any, NamedTuple

from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis.errors import FlakyFailure

from pipeline.errors import PathproofError
from tests.fuzz_targets import Target, targets

_CASE_SECONDS = 10
_SHOWN = 300


class Crash(NamedTuple):
    """A target, where in it an error of another type came from, and the data."""

    target: str
    place: str
    data: str


class TooSlowError(Exception):
    """A case that takes too long."""


def fuzz(seconds: float, first_seed: int = 0) -> tuple[int, list[Crash]]:
    """Take the targets in turn until the time is over; the number of cases, and the crashes, each place once."""
    cases, crashes, number = 0, dict[tuple[str, str], Crash](), first_seed
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        for name, target in targets().items():
            if time.monotonic() >= until:
                break
            done, crash = batch(name, target, number, until)
            cases += done
            if crash is not None:
                crashes.setdefault(crash[:2], crash)
        number += 1
    return cases, list(crashes.values())


def batch(name: str, target: Target, number: int, until: float) -> tuple[int, Crash | None]:
    """Some cases of one target: how many there were, and the first crash."""
    count = 0
    last: Any = None

    @seed(number)
    @settings(
        max_examples=target.cases,
        database=None,
        deadline=None,
        phases=[Phase.generate, Phase.shrink],
        suppress_health_check=list(HealthCheck),
        report_multiple_bugs=False,
        print_blob=False,
    )
    @given(target.data)
    def run(data: Any) -> None:
        nonlocal count, last
        if time.monotonic() >= until:
            return
        count += 1
        last = data
        with contextlib.suppress(PathproofError), _limit():
            target.read(data)

    kept = _Kept()
    with kept:
        run()
    # The smallest data of a crash is tried last.
    crash = None if kept.error is None else Crash(name, _place(kept.error), repr(last)[:_SHOWN])
    return count, crash


class _Kept:
    """Keeps the error that a block ends with."""

    error: BaseException | None = None

    def __enter__(self) -> None:
        """Nothing is kept yet."""

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: object) -> bool:
        self.error = error
        return isinstance(error, Exception)


def _place(error: BaseException) -> str:
    """The error's type, and the last line of ours that it went through."""
    if isinstance(error, FlakyFailure):  # what depends on time or on the depth of calls
        error = error.exceptions[0]
    frames = [frame for frame in traceback.extract_tb(error.__traceback__) if "/site-packages/" not in frame.filename]
    ours = [frame for frame in frames if "/pipeline/" in frame.filename or "/taskspecs/" in frame.filename]
    last = (ours or frames)[-1]
    return f"{type(error).__name__} at {last.filename.rpartition('/')[2]}:{last.lineno}: {str(error)[:_SHOWN]}"


@contextlib.contextmanager
def _limit() -> Iterator[None]:
    """Interrupt what takes too long."""

    def expire(number: int, frame: FrameType | None) -> None:
        raise TooSlowError(f"more than {_CASE_SECONDS} s")

    before = signal.signal(signal.SIGALRM, expire)
    signal.alarm(_CASE_SECONDS)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


def main() -> int:
    """Fuzz for as long as the command line says."""
    seconds = float(sys.argv[1]) if len(sys.argv) > 1 else 60.0
    began = time.monotonic()
    cases, crashes = fuzz(seconds)
    for crash in crashes:
        sys.stdout.write(f"crash: {crash.target}: {crash.place}\n  {crash.data}\n")
    sys.stdout.write(f"cases={cases} seconds={time.monotonic() - began:.1f} crashes={len(crashes)}\n")
    return 1 if crashes else 0


if __name__ == "__main__":
    sys.exit(main())
