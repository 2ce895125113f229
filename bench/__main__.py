"""Every benchmark in turn, and docs/figures.json: what each printed, by which command, at which commit, where.

    python -m bench
    python -m bench dataset web_step

A benchmark's last line is `key=value` pairs; one that fails ends the whole with its name.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import subprocess
import sys
from pathlib import Path

import psutil

ROOT = Path(__file__).resolve().parents[1]
FIGURES = ROOT / "docs" / "figures.json"
BENCHMARKS = (
    "android_step",
    "coverage",
    "dataset",
    "desktop_step",
    "dialects",
    "driver_memory",
    "effect_truth",
    "gate",
    "grounding",
    "judge",
    "llm",
    "main_job",
    "miniwob_truth",
    "puzzles",
    "safety_gate",
    "vm_restore",
    "votes",
    "web_step",
)
DEADLINE_SECONDS = 3600.0


def main() -> None:
    """Run them all, or those that are named, and put what they print into the file."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"some of: {', '.join(BENCHMARKS)}")
    names = parser.parse_args().names or list(BENCHMARKS)
    if unknown := sorted(set(names) - set(BENCHMARKS)):
        parser.error(f"no benchmark '{unknown[0]}'; benchmarks: {', '.join(BENCHMARKS)}")
    told = json.loads(FIGURES.read_text(encoding="utf-8")) if FIGURES.exists() else {}
    for name in names:
        told[name] = {
            "command": f"python bench/{name}.py",
            "figures": figures_of(_run(name)),
            "commit": _commit(),
            "machine": _machine(),
        }
        # After each: what took an hour to measure must not be lost with the one that fails.
        FIGURES.write_text(json.dumps(told, indent=2, sort_keys=True) + "\n", encoding="utf-8")


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
