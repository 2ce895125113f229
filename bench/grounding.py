"""How many labelled places a minute are made, of how many screens, and whether memory stays flat over thousands.

    python bench/grounding.py [--rows 5000]

`growth_mb` is what this process gained between a third of the rows and all of them; the browser, which is replaced as
it goes, is counted in `peak_mb`, the most that all processes together ever held.
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
from pipeline.grounding import Grounding
from pipeline.synth.making import Made, Order, make


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
        made = asyncio.run(make(out, Order(rows=wanted.rows, seed=wanted.seed), lambda made: _heard(memory, made)))
        seconds = time.monotonic() - began
        findings = check(out)
        for finding in findings:
            print(f"{finding.kind} {finding.path}: {finding.detail}")
        families = {row.family for row in Dataset(out).rows(Grounding)}
    print(
        f"rows={made.rows} screens={made.screens} families={len(families)} seconds={seconds:.0f} "
        f"rows_per_minute={60 * made.rows / seconds:.0f} growth_mb={memory.growth_mb(wanted.rows):.0f} "
        f"peak_mb={memory.peak_mb:.0f} findings={len(findings)}"
    )


def _heard(memory: Memory, made: Made) -> None:
    memory.read(made.rows)


if __name__ == "__main__":
    main()
