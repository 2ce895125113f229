"""Memory of the driver process against the number of trajectories, on the application in memory.

    python bench/driver_memory.py [TRAJECTORIES]

Prints the driver's resident memory as trajectories are finished; the last line is `key=value` pairs. `growth_mb` is
what the driver gained between a tenth of the trajectories and all of them.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from pathlib import Path

import psutil

if not __package__:  # started by path: import from the repository root
    sys.path[0] = str(Path(__file__).resolve().parents[1])

from pipeline.config import load_config
from pipeline.progress import Board
from pipeline.run import collect
from pipeline.selection import select_tasks

TRAJECTORIES = 2000


class MeasuringBoard(Board):
    """Reads the memory of this process whenever another tenth is done."""

    def __init__(self, total: int) -> None:
        super().__init__()
        self.readings: list[tuple[int, float]] = []
        self._total, self._done = total, 0

    def advance(self, name: str, count: int, note: str) -> None:
        """Count, and read at every tenth."""
        super().advance(name, count, note)
        self._done += count if name == "trajectories" else 0
        if self._done * 10 // self._total > len(self.readings):
            self.readings.append((self._done, resident_mb()))
            print(f"{self._done:6d} trajectories: {self.readings[-1][1]:.1f} MB", flush=True)


def resident_mb() -> float:
    """Resident memory of this process."""
    return float(psutil.Process().memory_info().rss) / 1e6


def main() -> None:
    """Run and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("trajectories", nargs="?", type=int, default=TRAJECTORIES)
    wanted = parser.parse_args().trajectories
    tasks = len(select_tasks(load_config("fake", [])))
    rounds = max(1, -(-wanted // tasks))
    started = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="pathproof-bench-") as folder, MeasuringBoard(tasks * rounds) as board:
        outcome = collect(load_config("fake", [f"rounds={rounds}"]), "fake", Path(folder) / "run", board)
    if outcome.reason is not None:
        sys.exit(f"error: {outcome.reason}")
    (_, early), (done, late) = board.readings[0], board.readings[-1]
    seconds = time.monotonic() - started
    print(
        f"trajectories={done} seconds={seconds:.1f} early_mb={early:.1f} late_mb={late:.1f} "
        f"growth_mb={late - early:.1f}"
    )


if __name__ == "__main__":
    main()
