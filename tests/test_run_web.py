"""Runs with real browsers on a real application: a worker killed in mid-episode leaves nothing behind."""

from __future__ import annotations

import contextlib
import threading
import time
from pathlib import Path
from typing import NamedTuple

import psutil
import pytest

from pipeline.apps import install, load_app
from pipeline.check import check
from pipeline.cluster import Cluster
from pipeline.config import load_config
from pipeline.progress import Board
from pipeline.run import collect
from tests.runs import busy_workers, one, rows, soon

pytestmark = [pytest.mark.core, pytest.mark.slow, pytest.mark.timeout(420)]

TASKS = 6


class Browsing(NamedTuple):
    """A rollout worker whose browser is up."""

    pid: int
    scratch: Path
    browsers: set[int]


class Strike(NamedTuple):
    """What was seen when a worker was killed, and after."""

    victim: Browsing
    other: Browsing
    seconds: float
    untouched: bool


def test_a_killed_worker_leaves_no_browser_behind(ray_here: Cluster, tmp_path: Path) -> None:
    install(load_app("sqlite-web"))
    folder = tmp_path / "run"
    strikes: list[Strike] = []
    striker = threading.Thread(target=lambda: strikes.append(_strike(folder)))
    config = load_config("quickstart", ["apps=sqlite-web", f"tasks.limit={TASKS}", "policy=scripted"])

    striker.start()
    outcome = collect(config, "quickstart", folder, Board())
    striker.join()

    (strike,) = strikes
    assert strike.seconds < 10
    assert strike.untouched
    assert not strike.victim.scratch.exists()
    assert outcome.reason is None
    assert one(folder, "SELECT count(DISTINCT trajectory_id) FROM trajectories WHERE fault IS NULL") == TASKS
    assert one(folder, "SELECT count(*) FROM trajectories") == TASKS
    assert rows(folder, "SELECT DISTINCT boundary, code, number, final FROM faults") == [("worker", "lost", 1, False)]
    assert rows(folder, "SELECT DISTINCT grade FROM trace_grades WHERE grade = 'complete'") == [("complete",)]
    assert check(folder) == []


def _strike(folder: Path) -> Strike:
    """Kill one of two workers by its pid once both browse, and wait until its browser is gone."""
    victim, other = soon(lambda: _two(folder), 300)
    killed_at = time.monotonic()
    psutil.Process(victim.pid).kill()
    soon(lambda: True if not _marked(victim.scratch) and not victim.scratch.exists() else None, 30)
    seconds = time.monotonic() - killed_at
    return Strike(victim, other, seconds, all(map(psutil.pid_exists, other.browsers)))


def _two(folder: Path) -> tuple[Browsing, Browsing] | None:
    """Two workers of this run that have an attempt and a browser."""
    busy = [Browsing(pid, scratch, _browsers(scratch)) for pid, scratch in busy_workers(folder)]
    browsing = [worker for worker in busy if worker.browsers]
    return (browsing[0], browsing[1]) if len(browsing) == 2 else None


def _browsers(scratch: Path) -> set[int]:
    """The browsers whose profile lies in the folder: those that no other browser process started.

    A child looks like its parent until it has become what it was started for, so that parents are looked at as well.
    """
    found = {pid for pid, line in _marked(scratch).items() if "--user-data-dir=" in line and "--type=" not in line}
    return {pid for pid in found if _parent(pid) not in found}


def _parent(pid: int) -> int | None:
    with contextlib.suppress(psutil.Error):
        return psutil.Process(pid).ppid()
    return None


def _marked(scratch: Path) -> dict[int, str]:
    """Processes with the folder in their command line."""
    lines = {}
    for process in psutil.process_iter():
        with contextlib.suppress(psutil.Error):
            lines[process.pid] = " ".join(process.cmdline())
    return {pid: line for pid, line in lines.items() if str(scratch) in line}
