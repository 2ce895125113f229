"""Forty tasks, four workers, kills: a worker, the committer and the driver die one after the other; nothing is lost."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import psutil
import pytest

from pipeline.check import check
from pipeline.dataset import Dataset
from pipeline.schema import TABLES
from pipeline.tasks import identified
from tests.episodes import fake_task, with_faults
from tests.runs import busy_workers, fingerprint, one, progress_of, rows, soon, tasks_file

ROOT = Path(__file__).resolve().parents[1]
TASKS = 40


@contextmanager
def started(*arguments: str) -> Iterator[subprocess.Popen[str]]:
    """The console command; nothing of it survives the block."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("RAY_")}
    command = [sys.executable, "-m", "pipeline.cli", *arguments]
    with subprocess.Popen(
        command, cwd=ROOT, env=kept, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True
    ) as process:
        try:
            yield process
        finally:
            if process.poll() is None:
                process.kill()


def kill_a_worker(folder: Path, driver: int) -> None:
    psutil.Process(busy_workers(folder, driver)[0].pid).kill()


def kill_the_committer(folder: Path, driver: int) -> None:
    (committer,) = [
        child
        for child in psutil.Process(driver).children(recursive=True)
        if child.cmdline()[:1] and child.cmdline()[0].startswith("ray::CommitterActor")
    ]
    committer.kill()


def kill_the_driver(folder: Path, driver: int) -> None:
    psutil.Process(driver).kill()


def struck(folder: Path, arguments: list[str], blows: list[tuple[int, Callable[[Path, int], None]]]) -> tuple[int, str]:
    """Run the command and strike when so many trajectories are published; its exit code and standard error."""
    with started(*arguments) as process:
        for finished, blow in blows:
            soon(lambda finished=finished: progress_of(folder).finished >= finished or None, 200)  # type: ignore[misc]
            blow(folder, process.pid)
        _, err = process.communicate(timeout=300)
    return process.returncode, err


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_forty_tasks_end_once_each_whoever_is_killed(tmp_path: Path) -> None:
    folder = tmp_path / "run"
    slow = with_faults(fake_task(), "act_seconds: 0.2")
    tasks = [identified(slow.model_copy(update={"max_seconds": 60.0 + number})) for number in range(TASKS)]
    path = tasks_file(tmp_path / "tasks.jsonl", tasks)
    first = ["collect", "--config", "fake", f"tasks={path}", "policy.mistakes=0", "workers=4", "--out", str(folder)]
    again = ["resume", str(folder)]

    code, err = struck(folder, first, [(5, kill_a_worker), (10, kill_the_committer)])
    assert (code, f"pathproof resume {folder}" in err.splitlines()[-1]) == (1, True), err
    assert not errors_of(folder)
    code, err = struck(folder, again, [(20, kill_the_driver)])
    assert code == -9
    assert not errors_of(folder)
    code, err = struck(folder, again, [])
    assert code == 0, err
    before = fingerprint(folder)
    code, err = struck(folder, again, [])

    assert (code, fingerprint(folder)) == (0, before)
    assert not errors_of(folder)
    assert one(folder, "SELECT count(*) FROM trajectories") == TASKS
    assert one(folder, "SELECT count(DISTINCT trajectory_id) FROM trajectories WHERE fault IS NULL") == TASKS
    assert int(str(one(folder, "SELECT count(*) FROM attempts"))) > TASKS
    assert (
        int(str(one(folder, "SELECT max(tries) FROM (SELECT count(*) AS tries FROM attempts GROUP BY task_id)"))) <= 3
    )
    assert rows(folder, "SELECT DISTINCT fault.code FROM attempts WHERE fault IS NOT NULL") == [("lost",)]
    assert one(folder, "SELECT count(*) FROM trace_grades") == TASKS
    dataset = Dataset(folder)
    for table in TABLES:
        assert sum(part.rows for part in dataset.parts(table)) == len(dataset.table(table))


def errors_of(folder: Path) -> list[str]:
    return [finding.detail for finding in check(folder) if finding.severity == "error"]
