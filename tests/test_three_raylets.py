"""Three raylets, one killed in the middle of a run: its work is done by the others."""

from __future__ import annotations

import json
import os
import secrets
import subprocess
import sys
from pathlib import Path

import pytest

from pipeline.check import check
from tests.runs import one, rows
from tests.three_raylets import TASKS


@pytest.mark.slow
@pytest.mark.timeout(420)
def test_a_run_survives_the_loss_of_a_node(tmp_path: Path) -> None:
    kept = {name: value for name, value in os.environ.items() if not name.startswith("RAY_")}
    ours = {"RAY_AUTH_MODE": "token", "RAY_AUTH_TOKEN": secrets.token_hex(16), "RAY_USAGE_STATS_ENABLED": "0"}
    ours |= {"RAY_raylet_start_wait_time_s": "120"}

    done = subprocess.run(
        [sys.executable, "-m", "tests.three_raylets", str(tmp_path)],
        capture_output=True,
        text=True,
        timeout=400,
        env=kept | ours,
        check=False,
    )

    assert done.returncode == 0, done.stderr[-3000:]
    assert json.loads(done.stdout.splitlines()[-1]) == {"reason": None}
    folder = tmp_path / "run"
    assert check(folder) == []
    assert one(folder, "SELECT count(DISTINCT trajectory_id) FROM trajectories WHERE fault IS NULL") == TASKS
    assert one(folder, "SELECT count(*) FROM trajectories") == TASKS
    assert rows(folder, "SELECT DISTINCT boundary, code, final FROM faults") == [("worker", "lost", False)]
    assert one(folder, "SELECT max(number) FROM attempts") == 2
    assert one(folder, "SELECT count(*) FROM trace_grades") == TASKS
