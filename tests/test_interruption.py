"""The main job as a person sees it end badly: Ctrl-C in a terminal, and a driver killed without warning."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from pipeline.check import check
from pipeline.tasks import identified
from tests.episodes import fake_task, with_faults
from tests.runs import busy_workers, one, progress_of, rows, soon, tasks_file

pytestmark = [pytest.mark.slow, pytest.mark.timeout(420)]

ROOT = Path(__file__).resolve().parents[1]
TASKS = 6


@contextmanager
def started(*arguments: str) -> Iterator[subprocess.Popen[str]]:
    """The console command in a process group of its own, as a shell would start it; nothing of it survives."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("RAY_")}
    process = subprocess.Popen(
        [sys.executable, "-m", "pipeline.cli", *arguments],
        cwd=ROOT,
        env=kept,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    try:
        yield process
    finally:
        if process.poll() is None:
            process.kill()
        process.communicate(timeout=60)


@pytest.fixture
def arguments(tmp_path: Path) -> list[str]:
    """A run of a few slow tasks."""
    slow = with_faults(fake_task(), "act_seconds: 0.5")
    tasks = [identified(slow.model_copy(update={"max_seconds": 60.0 + number})) for number in range(TASKS)]
    path = tasks_file(tmp_path / "tasks.jsonl", tasks)
    return ["collect", "--config", "fake", f"tasks={path}", "policy.mistakes=0", "--out", str(tmp_path / "run")]


def under_way(folder: Path) -> bool | None:
    """Whether a trajectory is published and another attempt has begun."""
    done = progress_of(folder)
    return (done.finished >= 1 and done.begun > done.finished) or None


def test_ctrl_c_in_a_terminal_ends_in_order_and_can_be_resumed(arguments: list[str], tmp_path: Path) -> None:
    folder = tmp_path / "run"
    with started(*arguments) as process:
        soon(lambda: under_way(folder), 200)
        os.killpg(process.pid, signal.SIGINT)  # a terminal sends it to every process of the group
        out, err = process.communicate(timeout=120)

    assert process.returncode == 1
    assert err.splitlines()[-1] == (
        f"error: interrupted; what is complete is kept, continue with: pathproof resume {folder}"
    )
    assert "Traceback" not in err
    assert f"data: {folder}" in out
    assert check(folder) == []

    with started("resume", str(folder)) as process:
        _, err = process.communicate(timeout=300)

    assert process.returncode == 0, err
    assert one(folder, "SELECT count(*) FROM trajectories") == TASKS
    assert one(folder, "SELECT count(*) FROM trace_grades") == TASKS
    assert check(folder) == []


def test_a_second_ctrl_c_ends_the_run_at_once(tmp_path: Path) -> None:
    folder = tmp_path / "run"
    slow = with_faults(fake_task(), "act_seconds: 20")
    path = tasks_file(tmp_path / "tasks.jsonl", [identified(slow.model_copy(update={"max_seconds": 60.0}))])
    with started("collect", "--config", "fake", f"tasks={path}", "--out", str(folder)) as process:
        soon(lambda: next(iter(busy_workers(folder, process.pid)), None), 200)
        os.killpg(process.pid, signal.SIGINT)
        assert process.stderr is not None
        told = ""
        while "interrupted" not in told:
            told = process.stderr.readline()
            assert told, "it ended at the first Ctrl-C"
        os.killpg(process.pid, signal.SIGINT)
        _, err = process.communicate(timeout=120)

    assert process.returncode == 1
    assert err.splitlines()[-1] == f"error: interrupted at once; continue with: pathproof resume {folder}"
    assert {finding.severity for finding in check(folder)} <= {"leftover"}


def test_a_killed_driver_leaves_a_sound_folder_and_resume_writes_down_what_was_lost(
    arguments: list[str], tmp_path: Path
) -> None:
    folder = tmp_path / "run"
    with started(*arguments) as process:
        soon(lambda: under_way(folder), 200)
        os.kill(process.pid, signal.SIGKILL)
        process.communicate(timeout=60)

    assert {finding.severity for finding in check(folder)} <= {"leftover"}

    with started("resume", str(folder)) as process:
        _, err = process.communicate(timeout=300)

    assert process.returncode == 0, err
    assert one(folder, "SELECT count(DISTINCT trajectory_id) FROM trajectories WHERE fault IS NULL") == TASKS
    assert rows(folder, "SELECT DISTINCT boundary, code FROM faults") == [("worker", "lost")]
    assert one(folder, "SELECT max(number) FROM attempts") == 2
    assert {finding.severity for finding in check(folder)} <= {"leftover"}
