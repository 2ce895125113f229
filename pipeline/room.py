"""Time as far as others leave programs room: a clock that stands still while those have to wait for a processor.

Linux tells of every thread how long it has run and how long it had to wait to (`schedstat`); where nobody tells, time
passes as it does on the wall. Knows nothing of what is waited for.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import threading
import time
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import NamedTuple

import psutil

from pipeline.protocols import MOST_PATIENCE

_LOOK_SECONDS = 0.5
"""A look at all programs costs some milliseconds, so it is not taken more often."""


class Spent(NamedTuple):
    """Seconds that a thread has run, and that it had to wait to."""

    ran: float
    waited: float


class Withheld:
    """Seconds that others have withheld from threads since they were first told of.

    Threads wait for each other, so that all of them may stand still for the sake of one: the one that waited longest
    between two looks counts. A wait is told of when it has ended, perhaps of several at once; never is more withheld
    than has passed.
    """

    def __init__(self, processors: int | None = None) -> None:
        """Of so many `processors`, where there is a number, others can only have withheld what the threads themselves
        did not take between two looks."""
        self.seconds = 0.0
        self._processors = processors
        self._began = self._looked = time.monotonic()
        self._spent: Mapping[int, Spent] | None = None

    def hear(self, threads: Mapping[int, Spent]) -> None:
        """What all of them have spent by now."""
        before, self._spent = self._spent, dict(threads)
        looked, self._looked = self._looked, time.monotonic()
        if before is None:
            return
        since = [_less(spent, before.get(thread, Spent(0.0, 0.0))) for thread, spent in threads.items()]
        withheld = max((spent.waited for spent in since), default=0.0)
        if self._processors is not None:
            taken = sum(spent.ran for spent in since) / self._processors
            withheld = min(withheld, self._looked - looked - taken)
        self.seconds = min(self.seconds + max(withheld, 0.0), self._looked - self._began)


class FairClock:
    """A clock of this process and of all that it has started, in seconds; any thread may ask it.

    It does not stand still for what these take from each other, or a program could keep others waiting for it.
    """

    def __init__(self, look_seconds: float = _LOOK_SECONDS) -> None:
        """It looks at the programs no more often than that."""
        self._look_seconds = look_seconds
        self._withheld = Withheld(len(os.sched_getaffinity(0)))
        self._looked = float("-inf")
        self._lock = threading.Lock()

    def __call__(self) -> float:
        """What it shows now; only differences mean something."""
        with self._lock:
            if time.monotonic() - self._looked >= self._look_seconds:
                # The first thread of a program is the one that it is seen by.
                self._withheld.hear(spent_by(Path(f"/proc/{pid}") for pid in _family()))
                self._looked = time.monotonic()
            return time.monotonic() - self._withheld.seconds


async def let_pass(seconds: float, clock: Callable[[], float] | None = None) -> None:
    """Sleep so long by a clock, a fair one unless said; `MOST_PATIENCE` times as long on the wall's at most."""
    clock = clock or FairClock()
    until, latest = clock() + seconds, time.monotonic() + MOST_PATIENCE * seconds
    left = seconds
    while left > 0:
        await asyncio.sleep(left)
        left = min(until - clock(), latest - time.monotonic())


def spent_by_threads(pid: int) -> dict[int, Spent]:
    """What each thread of a process has spent, by number; those that end meanwhile are left out."""
    with contextlib.suppress(OSError):
        return spent_by(Path(f"/proc/{pid}/task").iterdir())
    return {}


def spent_by(folders: Iterable[Path]) -> dict[int, Spent]:
    """What threads have spent that the system tells of in these folders, by the folders' names."""
    spent: dict[int, Spent] = {}
    for folder in folders:
        with contextlib.suppress(OSError):
            ran, waited, _ = map(int, (folder / "schedstat").read_text(encoding="ascii").split())
            spent[int(folder.name)] = Spent(ran / 1e9, waited / 1e9)
    return spent


def _less(spent: Spent, before: Spent) -> Spent:
    return Spent(spent.ran - before.ran, spent.waited - before.waited)


def _family() -> list[int]:
    me = psutil.Process()
    return [me.pid, *(child.pid for child in me.children(recursive=True))]
