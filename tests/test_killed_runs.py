"""Forty tasks, four workers, and a kill at every bad moment: nothing is lost, nothing counts twice.

The processes are those of the product, on a Ray of their own, and die by SIGKILL.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from pipeline import manifest
from pipeline.check import check
from pipeline.errors import ConfigError
from pipeline.query import query
from pipeline.storage import Storage
from pipeline.tasks import TaskSpec, identified
from tests.episodes import fake_task
from tests.objectstore import contents
from tests.runs import tasks_file

ROOT = Path(__file__).resolve().parents[1]
MOMENTS = ("a_part_is_open", "parts_are_closed", "the_object_is_published")
TASKS = 40

pytestmark = [pytest.mark.slow, pytest.mark.timeout(900)]


def forty_tasks() -> list[TaskSpec]:
    task = fake_task()
    return [identified(task.model_copy(update={"max_seconds": task.max_seconds + number})) for number in range(TASKS)]


class Product:
    """Runs commands of the product in processes that kill themselves at the moments that are left."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir()
        for moment in MOMENTS:
            (folder / moment).touch()
        kept = {name: value for name, value in os.environ.items() if not name.startswith("RAY_")}
        self._environment = kept | {"PYTHONPATH": f"{ROOT / 'tests' / 'killing'}:{ROOT}", "KILLING": str(folder)}
        self._folder = folder

    def start(self, *arguments: str) -> subprocess.Popen[str]:
        return subprocess.Popen(
            [sys.executable, "-m", "pipeline.cli", *arguments],
            cwd=ROOT,
            env=self._environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )

    def run(self, *arguments: str) -> tuple[int, str]:
        with self.start(*arguments) as process:
            output, _ = process.communicate(timeout=400)
        return process.returncode, output

    def moments_left(self) -> set[str]:
        return {path.name for path in self._folder.iterdir()}


def finished(storage: Storage) -> int:
    try:
        found = query("SELECT count(*) AS n FROM trajectories", [storage]).to_pylist()
    except ConfigError:
        return 0
    return int(found[0]["n"])


def until_more_than(storage: Storage, count: int, process: subprocess.Popen[str]) -> None:
    end = time.monotonic() + 300
    while finished(storage) <= count and process.poll() is None:
        assert time.monotonic() < end
        time.sleep(0.2)


def test_kills_at_every_moment_lose_nothing_and_count_nothing_twice(storage: Storage, tmp_path: Path) -> None:
    product = Product(tmp_path / "killing")
    tasks = tasks_file(tmp_path / "tasks.jsonl", forty_tasks())
    address = storage.address

    code, output = product.run(
        "collect", "--config", "fake", "--out", address, f"tasks={tasks}", "workers=4", "faults.stop_rate=1"
    )
    assert code == 1, output
    assert not product.moments_left(), output
    before = finished(storage)
    assert before < TASKS, output
    assert {finding.kind for finding in check(storage) if finding.severity == "error"} == set()

    with product.start("resume", address) as driver:
        until_more_than(storage, before, driver)
        driver.kill()
        driver.communicate()
    assert {finding.kind for finding in check(storage) if finding.severity == "error"} == set()

    code, output = product.run("resume", address)
    assert code == 0, output
    whole = contents(storage)
    assert_whole(storage)

    code, output = product.run("resume", address)
    assert (code, "nothing is missing" in output) == (0, True), output
    assert contents(storage) == whole


def assert_whole(storage: Storage) -> None:
    counts = query(
        """
        SELECT (SELECT count(*) FROM trajectories) AS trajectories,
               (SELECT count(DISTINCT trajectory_id) FROM trajectories) AS different,
               (SELECT count(*) FROM attempts) AS attempts,
               (SELECT max(n) FROM (SELECT count(*) AS n FROM attempts GROUP BY task_id)) AS most,
               (SELECT count(*) FROM attempts WHERE fault.code = 'lost') AS lost
        """,
        [storage],
    ).to_pylist()[0]
    assert (counts["trajectories"], counts["different"]) == (TASKS, TASKS)
    assert counts["attempts"] >= TASKS + 1 and counts["lost"] >= 1
    assert counts["most"] <= 3
    assert {finding.kind for finding in check(storage) if finding.severity == "error"} == set()
    for part in manifest.current_parts(manifest.survey(storage).lines).values():
        assert pq.read_table(part.path, filesystem=storage.files, partitioning=None).num_rows == part.rows
