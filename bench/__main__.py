"""Every benchmark in turn, and docs/figures.json: what each printed, by which command, at which commit, where.

    python -m bench

A benchmark's last line is `key=value` pairs; one that fails ends the whole with its name.
"""

from __future__ import annotations

import json
import os
import platform
import subprocess
import sys
from pathlib import Path

import psutil

ROOT = Path(__file__).resolve().parents[1]
BENCHMARKS = (
    "coverage",
    "dataset",
    "dialects",
    "driver_memory",
    "effect_truth",
    "gate",
    "judge",
    "llm",
    "main_job",
    "miniwob_truth",
    "votes",
    "web_step",
)
DEADLINE_SECONDS = 3600.0


def main() -> None:
    """Run them all and write the file."""
    found = [{"command": f"python bench/{name}.py", "figures": figures_of(_run(name))} for name in BENCHMARKS]
    told = {"commit": _commit(), "machine": _machine(), "benchmarks": found}
    (ROOT / "docs" / "figures.json").write_text(json.dumps(told, indent=2) + "\n", encoding="utf-8")


def figures_of(line: str) -> dict[str, float]:
    """The figures of a benchmark's last line; raises ValueError when it holds anything else."""
    pairs = [pair.partition("=") for pair in line.split()]
    if not pairs or not all(separator for _, separator, _ in pairs):
        raise ValueError(f"not key=value pairs: {line!r}")
    return {key: float(value) for key, _, value in pairs}


def _run(name: str) -> str:
    """The last line of a benchmark, which is shown while it runs."""
    command = [sys.executable, str(ROOT / "bench" / f"{name}.py")]
    print(f"bench/{name}.py", flush=True)
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) as running:
        line = ""
        for line in running.stdout or ():
            print(f"  {line}", end="", flush=True)
        if running.wait(DEADLINE_SECONDS):
            raise SystemExit(f"error: bench/{name}.py failed")
    return line


def _commit() -> str:
    command = ["git", "-C", str(ROOT), "rev-parse", "HEAD"]
    return subprocess.run(command, capture_output=True, text=True, check=True, timeout=10).stdout.strip()


def _machine() -> dict[str, object]:
    return {
        "cores": len(os.sched_getaffinity(0)),
        "memory_gb": round(psutil.virtual_memory().total / 1e9),
        "python": platform.python_version(),
        "system": platform.platform(),
    }


if __name__ == "__main__":
    main()
