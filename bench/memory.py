"""The memory of a benchmark and of what it starts, read as it goes."""

from __future__ import annotations

import contextlib

import psutil

_WARM = 0.35
"""The part of the work after which memory is read first."""


class Memory:
    """What is held, read whenever something has been made."""

    def __init__(self) -> None:
        self.own: dict[int, float] = {}
        self.peak_mb = 0.0

    def read(self, count: int) -> None:
        """Read, and say how far it has come."""
        process = psutil.Process()
        self.own[count] = resident_mb(process)
        together = self.own[count] + sum(map(resident_mb, process.children(recursive=True)))
        self.peak_mb = max(self.peak_mb, together)
        print(f"{count:6d}: {self.own[count]:.0f} MB, with the browser {together:.0f} MB", flush=True)

    def growth_mb(self, count: int) -> float:
        """Between the first part of so many and the last."""
        warm = next(size for done, size in sorted(self.own.items()) if done >= _WARM * count)
        return self.own[max(self.own)] - warm


def resident_mb(process: psutil.Process) -> float:
    """Resident memory of a process; nothing of one that has ended."""
    with contextlib.suppress(psutil.Error):
        return float(process.memory_info().rss) / 1e6
    return 0.0
