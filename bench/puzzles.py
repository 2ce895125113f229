"""How many puzzles a minute are drawn, proved, shown, solved and tried with a wrong answer; whether memory stays flat.

    python bench/puzzles.py [--puzzles 5000]

`growth_mb` is what this process gained between a third of the puzzles and all of them; the browser, which is replaced
as it goes, is counted in `peak_mb`, the most that all processes together ever held.
"""

from __future__ import annotations

import argparse
import asyncio
import sys
import tempfile
import time
from pathlib import Path

if not __package__:  # started by path: import from the repository root
    sys.path[0] = str(Path(__file__).resolve().parents[1])

from bench.memory import Memory
from pipeline.check import check
from pipeline.dataset import Dataset
from pipeline.puzzle_rows import PuzzleRow
from pipeline.puzzles.making import Made, Order, make


def main() -> None:
    """Make a dataset in a temporary folder, check it, and print the figures."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--puzzles", type=int, default=5000)
    wanted = parser.parse_args().puzzles
    memory = Memory()
    with tempfile.TemporaryDirectory() as folder:
        began = time.monotonic()
        made = asyncio.run(make(folder, Order(puzzles=wanted, seed=0), lambda made: _heard(memory, made)))
        minutes = (time.monotonic() - began) / 60
        errors = [finding for finding in check(folder) if finding.severity == "error"]
        types = len({row.type for row in Dataset(folder).rows(PuzzleRow)})
    for wrong in errors:
        print(f"{wrong.kind} {wrong.path}: {wrong.detail}")
    print(
        f"puzzles_per_minute={made.puzzles / minutes:.0f} puzzles={made.puzzles} types={types} "
        f"left_out={len(made.left_out)} growth_mb={memory.growth_mb(made.puzzles):.1f} peak_mb={memory.peak_mb:.0f} "
        f"check_errors={len(errors)}"
    )


def _heard(memory: Memory, made: Made) -> None:
    memory.read(made.puzzles)


if __name__ == "__main__":
    main()
