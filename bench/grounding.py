"""How many labelled places a minute are made, of how many screens, and whether memory stays flat over thousands.

    python bench/grounding.py [--rows 5000]

`growth_mb` is what this process gained between a third of the rows and all of them; the browser, which is replaced as
it goes, is counted in `peak_mb`, the most that all processes together ever held.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import sys
import tempfile
import time
from pathlib import Path

import psutil

if not __package__:  # started by path: import from the repository root
    sys.path[0] = str(Path(__file__).resolve().parents[1])

from pipeline.check import check
from pipeline.dataset import Dataset
from pipeline.grounding import Grounding
from pipeline.synth.making import Made, Order, make

_WARM = 0.35
"""The part of the rows after which memory is read first."""


class Memory:
    """What is held, read whenever rows have been written."""

    def __init__(self) -> None:
        self.own: dict[int, float] = {}
        self.peak_mb = 0.0

    def heard(self, made: Made) -> None:
        """Read, and say how far it has come."""
        process = psutil.Process()
        self.own[made.rows] = resident_mb(process)
        together = self.own[made.rows] + sum(map(resident_mb, process.children(recursive=True)))
        self.peak_mb = max(self.peak_mb, together)
        print(f"{made.rows:6d} rows: {self.own[made.rows]:.0f} MB, with the browser {together:.0f} MB", flush=True)

    def growth_mb(self, rows: int) -> float:
        """Between the first part of so many rows and the last."""
        warm = next(size for count, size in sorted(self.own.items()) if count >= _WARM * rows)
        return self.own[max(self.own)] - warm


def resident_mb(process: psutil.Process) -> float:
    """Resident memory of a process; nothing of one that has ended."""
    with contextlib.suppress(psutil.Error):
        return float(process.memory_info().rss) / 1e6
    return 0.0


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=5000)
    parser.add_argument("--seed", type=int, default=1)
    wanted = parser.parse_args()
    memory = Memory()
    with tempfile.TemporaryDirectory(prefix="pathproof-bench-") as folder:
        out = str(Path(folder) / "data")
        began = time.monotonic()
        made = asyncio.run(make(out, Order(rows=wanted.rows, seed=wanted.seed), memory.heard))
        seconds = time.monotonic() - began
        findings = check(out)
        families = {row.family for row in Dataset(out).rows(Grounding)}
    print(
        f"rows={made.rows} screens={made.screens} families={len(families)} seconds={seconds:.0f} "
        f"rows_per_minute={60 * made.rows / seconds:.0f} growth_mb={memory.growth_mb(wanted.rows):.0f} "
        f"peak_mb={memory.peak_mb:.0f} findings={len(findings)}"
    )


if __name__ == "__main__":
    main()
