"""How many labelled places a minute are made, of how many screens, and whether memory stays flat meanwhile.

    python bench/grounding.py --rows 1000

Memory is that of this process alone, after a first part of the rows and at the end; the browser is replaced as it goes.
"""

from __future__ import annotations

import argparse
import asyncio
import tempfile
import time
from pathlib import Path

import psutil

from pipeline.check import check
from pipeline.dataset import Dataset
from pipeline.grounding import Grounding
from pipeline.synth.making import Made, Order, make

_WARM = 0.35
"""The part of the rows after which memory is read first."""


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=1)
    wanted = parser.parse_args()
    memory: dict[int, int] = {}

    def heard(made: Made) -> None:
        memory[made.rows] = psutil.Process().memory_info().rss

    with tempfile.TemporaryDirectory() as folder:
        out = str(Path(folder) / "data")
        began = time.monotonic()
        made = asyncio.run(make(out, Order(rows=wanted.rows, seed=wanted.seed), heard))
        seconds = time.monotonic() - began
        findings = check(out)
        families = {row.family for row in Dataset(out).rows(Grounding)}
    warm = next(size for rows, size in sorted(memory.items()) if rows >= _WARM * wanted.rows)
    print(
        f"rows={made.rows} screens={made.screens} families={len(families)} seconds={seconds:.0f} "
        f"rows_per_minute={60 * made.rows / seconds:.0f} growth_mb={(memory[max(memory)] - warm) / 2**20:.0f} "
        f"findings={len(findings)}"
    )


if __name__ == "__main__":
    main()
