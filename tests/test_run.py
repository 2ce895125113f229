"""Whole runs on the application in memory: what comes out, what is resumed, what stops, what is judged again."""

from __future__ import annotations

import os
import subprocess
import threading
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from pipeline.check import check
from pipeline.cluster import Cluster
from pipeline.config import RunConfig, override_config
from pipeline.drive import Outcome
from pipeline.errors import ConfigError, RunError
from pipeline.manifest import read_run
from pipeline.progress import Board
from pipeline.repeat import repeating_rows
from pipeline.run import collect, rejudge, resume, useful_workers
from pipeline.schema import TABLES
from pipeline.storage import driver_lock
from pipeline.tasks import TaskSpec, identified
from tests.episodes import fake_task, with_faults
from tests.runs import InterruptingBoard, busy_workers, fake_config, fingerprint, one, rows, soon, tasks_file

pytestmark = [pytest.mark.core, pytest.mark.slow, pytest.mark.timeout(300)]


def run_of(folder: Path, config: RunConfig) -> Outcome:
    return collect(config, "fake", folder, Board())


def variants(task: TaskSpec, count: int) -> list[TaskSpec]:
    """As many tasks that differ in nothing but their identity."""
    return [identified(task.model_copy(update={"max_seconds": task.max_seconds + number})) for number in range(count)]


@pytest.fixture(scope="module")
def whole(ray_here: Cluster, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A finished run of the whole fake set with mistakes."""
    folder = tmp_path_factory.mktemp("runs") / "whole"
    outcome = run_of(folder, fake_config())
    assert outcome.reason is None
    return folder


def test_a_run_is_whole_sound_and_judged(whole: Path) -> None:
    tasks = one(whole, "SELECT count(*) FROM tasks")

    assert check(whole) == []
    assert one(whole, "SELECT count(DISTINCT trajectory_id) FROM trajectories") == tasks
    assert one(whole, "SELECT count(*) FROM trace_grades") == tasks
    of_trajectories = "SELECT count(*) FROM steps SEMI JOIN trajectories USING (attempt_id)"
    assert one(whole, "SELECT count(*) FROM step_grades") == one(whole, of_trajectories)
    assert read_run(whole).state == "finished"


def test_every_grade_occurs(whole: Path) -> None:
    traces = rows(whole, "SELECT DISTINCT grade FROM trace_grades WHERE status = 'graded' ORDER BY 1")
    steps = rows(whole, "SELECT DISTINCT grade FROM step_grades WHERE status = 'graded' ORDER BY 1")

    assert [grade for (grade,) in traces] == ["complete", "fail", "infeasible", "partial"]
    assert [grade for (grade,) in steps] == ["correct", "explore", "invalid", "wrong"]


def test_every_table_has_a_part_and_the_opening_rows_are_there_once(whole: Path) -> None:
    assert {path.parent.name for path in whole.glob("*/part-*.parquet")} == set(TABLES)
    assert one(whole, "SELECT count(*) FROM runs") == 1
    assert rows(whole, "SELECT kind, judge_set FROM passes") == [("collect", ["screen", "effect"])]
    assert one(whole, "SELECT count(*) FROM tasks") == one(whole, "SELECT count(DISTINCT task_id) FROM tasks")


def test_resuming_a_whole_run_starts_nothing_and_changes_nothing(whole: Path) -> None:
    before = fingerprint(whole)

    outcome = resume(whole, Board())

    assert (outcome.reason, outcome.started) == (None, False)
    assert fingerprint(whole) == before


def test_the_same_configuration_gives_the_same_rows(whole: Path, tmp_path: Path) -> None:
    run_of(tmp_path / "again", fake_config("workers=1"))

    assert repeating_rows(tmp_path / "again", live=False) == repeating_rows(whole, live=False)


def test_judging_again_adds_a_pass_and_rewrites_nothing(whole: Path) -> None:
    before = fingerprint(whole)
    old = one(whole, "SELECT count(*) FROM verdicts")

    outcome = rejudge(whole, fake_config("judges=screen"), Board())

    assert outcome.reason is None
    kept = fingerprint(whole)
    assert {name: kept.get(name) for name in before if "/part-" in name or name.startswith("manifest/")} == {
        name: mark for name, mark in before.items() if "/part-" in name or name.startswith("manifest/")
    }
    assert rows(whole, "SELECT kind, judge_set FROM passes ORDER BY judged_at") == [
        ("collect", ["screen", "effect"]),
        ("rejudge", ["screen"]),
    ]
    trajectories = one(whole, "SELECT count(*) FROM trajectories")
    assert one(whole, "SELECT count(*) FROM verdicts") == int(str(old)) + int(str(trajectories))
    assert rows(whole, "SELECT DISTINCT pass_kind FROM trace_grades") == [("rejudge",)]
    assert check(whole) == []
    assert resume(whole, Board()).started is False


def test_rounds_repeat_every_task_with_another_seed(ray_here: Cluster, tmp_path: Path) -> None:
    folder = tmp_path / "run"

    outcome = run_of(folder, fake_config("tasks.limit=2", "rounds=3", "policy=noop"))

    assert outcome.reason is None
    assert rows(folder, "SELECT seed, round, count(*) FROM attempts GROUP BY ALL ORDER BY 1") == [
        (7, 0, 2),
        (8, 1, 2),
        (9, 2, 2),
    ]


def test_a_fault_is_tried_again_and_final_after_the_last_attempt(ray_here: Cluster, tmp_path: Path) -> None:
    recovers = with_faults(fake_task(), "failing_starts: 1")
    broken = with_faults(fake_task("Delete the to-do"), "failing_starts: -1")
    path = tasks_file(tmp_path / "tasks.jsonl", [recovers, broken])
    folder = tmp_path / "run"

    outcome = run_of(folder, fake_config(f"tasks={path}", "workers=1", "policy.mistakes=0", "faults.stop_rate=1"))

    assert outcome.reason is None
    found = f"""
        SELECT task_id = '{broken.task_id}', number, final, fault.boundary, status, rule
        FROM attempts LEFT JOIN verdicts USING (attempt_id) WHERE target = 'trace' OR target IS NULL ORDER BY 1, 2
    """
    assert rows(folder, found) == [
        (False, 1, False, "setup", None, None),
        (False, 2, True, None, "graded", "contract_only"),
        (True, 1, False, "setup", None, None),
        (True, 2, False, "setup", None, None),
        (True, 3, True, "setup", "unscored", "fault"),
    ]
    assert check(folder) == []


def test_a_killed_worker_is_replaced_and_its_task_attempted_again(ray_here: Cluster, tmp_path: Path) -> None:
    slow = with_faults(fake_task(), "act_seconds: 0.3")
    path = tasks_file(tmp_path / "tasks.jsonl", variants(slow, 6))
    folder = tmp_path / "run"
    killed: list[Path] = []

    def strike() -> None:
        victim = soon(lambda: next(iter(busy_workers(folder)), None))
        psutil.Process(victim.pid).kill()
        killed.append(victim.scratch)

    thread = threading.Thread(target=strike)
    thread.start()
    outcome = run_of(folder, fake_config(f"tasks={path}", "policy.mistakes=0"))
    thread.join()

    assert outcome.reason is None
    soon(lambda: None if killed[0].exists() else True, seconds=10)
    assert one(folder, "SELECT count(*) FROM trajectories") == 6
    assert one(folder, "SELECT count(DISTINCT trajectory_id) FROM trajectories WHERE fault IS NULL") == 6
    lost = rows(folder, "SELECT DISTINCT boundary, code, number, final FROM faults")
    assert lost == [("worker", "lost", 1, False)]
    assert one(folder, "SELECT max(number) FROM attempts") == 2
    assert one(folder, "SELECT count(DISTINCT worker) FROM attempts") == 3
    assert check(folder) == []


def test_ctrl_c_keeps_what_is_complete_and_resume_finishes_it(ray_here: Cluster, tmp_path: Path) -> None:
    path = tasks_file(tmp_path / "tasks.jsonl", variants(with_faults(fake_task(), "act_seconds: 0.2"), 8))
    folder = tmp_path / "run"
    config = fake_config(f"tasks={path}", "policy.mistakes=0")

    stopped = collect(config, "fake", folder, InterruptingBoard(after=2))

    assert str(stopped.reason) == "interrupted"
    assert check(folder) == []
    done = int(str(one(folder, "SELECT count(*) FROM trajectories")))
    assert 2 <= done < 8
    assert rows(folder, "SELECT DISTINCT final FROM attempts WHERE termination = 'cancelled'") in ([], [(False,)])

    finished = resume(folder, Board())

    assert finished.reason is None
    assert one(folder, "SELECT count(*) FROM trajectories") == 8
    assert one(folder, "SELECT count(*) FROM trace_grades") == 8
    assert one(folder, "SELECT count(*) FROM runs") == 1
    assert check(folder) == []
    assert resume(folder, Board()).started is False


def test_too_many_faults_pause_the_run(ray_here: Cluster, tmp_path: Path) -> None:
    path = tasks_file(tmp_path / "tasks.jsonl", variants(with_faults(fake_task(), "failing_starts: -1"), 30))
    folder = tmp_path / "run"

    outcome = run_of(folder, fake_config(f"tasks={path}"))

    assert str(outcome.reason).startswith("faults.stop_rate: ")
    assert "setup/" in str(outcome.reason)
    assert int(str(one(folder, "SELECT count(*) FROM attempts"))) < 30
    assert check(folder) == []


def test_a_time_budget_ends_the_run_in_order(ray_here: Cluster, tmp_path: Path) -> None:
    path = tasks_file(tmp_path / "tasks.jsonl", variants(with_faults(fake_task(), "act_seconds: 1"), 30))
    folder = tmp_path / "run"

    outcome = run_of(folder, fake_config(f"tasks={path}", "budget.seconds=5"))

    assert outcome.reason == "budget.seconds: 5 s are used up"
    assert int(str(one(folder, "SELECT count(*) FROM trajectories"))) < 30
    assert check(folder) == []


@pytest.fixture
def tiny_disk(tmp_path: Path) -> Iterator[Path]:
    """A disk of its own with little room; needs the right to mount one."""
    disk = tmp_path / "disk"
    disk.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=600k", "tmpfs", str(disk)], capture_output=True, timeout=30, check=False
    )
    if mounted.returncode:
        pytest.skip("no right to mount a small disk")
    yield disk
    subprocess.run(["umount", str(disk)], timeout=30, check=True)


def test_a_full_disk_ends_the_run_with_what_to_do(ray_here: Cluster, tiny_disk: Path) -> None:
    folder = tiny_disk / "run"

    outcome = run_of(folder, fake_config("rounds=20"))

    assert str(outcome.reason).startswith("rows cannot be written (")
    assert "No space left" in str(outcome.reason)
    assert "free space" in str(outcome.reason)
    assert {finding.severity for finding in check(folder)} <= {"leftover"}


def test_a_folder_in_use_is_refused(ray_here: Cluster, tmp_path: Path) -> None:
    with driver_lock(tmp_path), pytest.raises(RunError, match=f"in use by another driver .process {os.getpid()}"):
        run_of(tmp_path, fake_config())


def test_a_folder_with_a_run_or_anything_else_is_refused(whole: Path, tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("mine")

    with pytest.raises(ConfigError, match="holds a run; use `pathproof resume"):
        run_of(whole, fake_config())
    with pytest.raises(ConfigError, match="not an empty folder"):
        run_of(tmp_path, fake_config())


@pytest.mark.parametrize(
    ("settings", "workers"),
    [
        (["provider=adb", "devices=a,b", "workers=3"], 2),
        (["provider=adb", "devices=a,b", "workers=1"], 1),
        (["provider=adb", "workers=3"], 3),
        (["provider=avd", "devices=Pixel@clean", "workers=3"], 3),
    ],
)
def test_no_more_workers_are_started_than_there_are_devices(settings: list[str], workers: int) -> None:
    assert useful_workers(override_config({}, ["platform=mobile", *settings])) == workers
