"""The main job as a user runs it: the quickstart configuration on this machine, into a folder that is removed again.

The last line says how long it took, what came out, and what `check` thinks of it.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
import time
from pathlib import Path

if not __package__:  # started by path: import from the repository root
    sys.path[0] = str(Path(__file__).resolve().parents[1])

from pipeline.check import check
from pipeline.query import query

ROOT = Path(__file__).resolve().parents[1]
DEADLINE_SECONDS = 1800.0


def main() -> None:
    """Run the job and print its figures."""
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch) / "run"
        started = time.monotonic()
        command = [sys.executable, str(ROOT / "pipeline" / "collect.py"), "--out", str(folder)]
        subprocess.run(command, check=True, timeout=DEADLINE_SECONDS)
        seconds = time.monotonic() - started
        print(_figures(folder, seconds))


def _figures(folder: Path, seconds: float) -> str:
    sql = """SELECT (SELECT count(*) FROM trajectories) AS trajectories,
        (SELECT count(DISTINCT app_id) FROM trajectories) AS apps,
        (SELECT count(DISTINCT grade) FROM trace_grades) AS trace_grades,
        (SELECT count(DISTINCT grade) FROM step_grades) AS step_grades,
        (SELECT count(*) FROM accepted) AS accepted"""
    counts = query(sql, [folder]).to_pylist()[0]
    return " ".join(
        [f"wall_s={seconds:.0f}", *(f"{name}={n}" for name, n in counts.items()), f"check_errors={len(check(folder))}"]
    )


if __name__ == "__main__":
    main()
