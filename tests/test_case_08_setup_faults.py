"""CASE-8: set-up that fails always, never and twice, in one run whose policy is a model; machines of it are in
test_machines."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import pytest

from pipeline.check import check
from pipeline.cluster import Cluster
from pipeline.progress import Board
from pipeline.report import write_report
from pipeline.run import collect
from pipeline.scripted_endpoint import Asked
from pipeline.tasks import TaskSpec
from tests.endpoints import says, serving
from tests.episodes import fake_task, with_faults
from tests.runs import fake_config, one, rows, tasks_file

pytestmark = [pytest.mark.slow, pytest.mark.timeout(300)]

TRIES = 4


def three_tasks() -> tuple[TaskSpec, TaskSpec, TaskSpec]:
    """One whose set-up always fails, one that works, and one whose set-up fails twice."""
    return (
        with_faults(fake_task("Delete the to-do"), "failing_starts: -1"),
        fake_task("How many to-dos have"),
        with_faults(fake_task("What do the notes"), "failing_starts: 2"),
    )


def test_only_what_was_set_up_is_asked_of_the_model_and_counted(ray_here: Cluster, tmp_path: Path) -> None:
    never, works, third = three_tasks()
    path, folder = tasks_file(tmp_path / "tasks.jsonl", [never, works, third]), tmp_path / "run"
    replies = [
        says('{"type": "Finished", "content": "3"}', when=works.instruction, times=None),
        says('{"type": "Finished", "content": "nothing"}', when=third.instruction, times=None),
    ]

    with serving(*replies) as server:
        settings = ["policy=chat", f"model.base_url={server.base_url}", "model.name=scripted"]
        limits = [f"attempts={TRIES}", "workers=1", "faults.stop_rate=1"]
        outcome = collect(fake_config(f"tasks={path}", *settings, *limits), "fake", folder, Board())

    assert outcome.reason is None
    assert check(folder) == []
    found = "SELECT number, final, fault.boundary FROM attempts WHERE task_id = '{}' ORDER BY number"
    assert rows(folder, found.format(never.task_id)) == [(n, n == TRIES, "setup") for n in range(1, TRIES + 1)]
    assert rows(folder, found.format(works.task_id)) == [(1, True, None)]
    assert rows(folder, found.format(third.task_id)) == [(1, False, "setup"), (2, False, "setup"), (3, True, None)]
    assert rows(folder, "SELECT task_id, termination FROM trajectories WHERE fault IS NULL ORDER BY termination") == [
        (task.task_id, "finished") for task in (works, third)
    ]
    assert [len(_about(task, server.requests)) for task in (never, works, third)] == [0, 1, 1]
    assert one(folder, "SELECT count(*) FROM model_calls WHERE stage <> 'probe'") == 2
    counted = "SELECT trajectories, faults, graded + undecided, accepted, yield FROM yield_by_app"
    assert rows(folder, counted) == [(3, 1, 2, 1, 0.5)]
    assert "<b>50%</b><span>yield of scored</span>" in Path(write_report(folder)).read_text(encoding="utf-8")


def _about(task: TaskSpec, requests: Sequence[Asked]) -> list[Asked]:
    """Requests that tell of a task."""
    told = json.dumps(task.instruction).strip('"')
    return [request for request in requests if told in json.dumps(request.body)]
