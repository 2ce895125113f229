"""Runs whose tasks are made round by round: on the application in memory, on a real Ray."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from pipeline.check import check
from pipeline.cluster import Cluster
from pipeline.dataset import Dataset
from pipeline.progress import Board
from pipeline.run import collect, resume
from pipeline.standing import rounds_of
from pipeline.tasks import Capability, TaskSpec
from tests.runs import InterruptingBoard, fake_config, fingerprint, one, rows

ROUNDS = 2
MADE = ("tasks=generate", "tasks.limit=6", f"rounds={ROUNDS}")


@pytest.fixture(scope="module")
def whole(ray_here: Cluster, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A finished run of two generated rounds."""
    folder = tmp_path_factory.mktemp("rounds") / "run"
    outcome = collect(fake_config(*MADE), "fake", str(folder), Board())
    assert outcome.reason is None
    return folder


pytestmark = [pytest.mark.slow, pytest.mark.timeout(600)]


@pytest.mark.core
def test_every_round_has_tasks_of_its_own_that_hold(whole: Path) -> None:
    by_round = rounds_of(fake_config(*MADE), Dataset(str(whole)).rows(TaskSpec))

    assert len(by_round) == ROUNDS and all(by_round)
    assert not {task.task_id for task in by_round[0]} & {task.task_id for task in by_round[1]}
    assert one(whole, "SELECT count(*) FROM tasks") == one(whole, "SELECT count(*) FROM validations WHERE held")
    assert one(whole, "SELECT count(*) FROM tasks") == one(whole, "SELECT count(*) FROM trajectories")
    assert rows(whole, "SELECT DISTINCT round, seed FROM attempts ORDER BY round") == [(0, 7), (1, 8)]


@pytest.mark.core
def test_every_round_is_written_back_into_the_next_catalog(whole: Path) -> None:
    by_round = {number: found for number, found in enumerate(_catalogs(whole))}

    assert [set(found) for found in by_round.values()] == [set(by_round[0])] * (ROUNDS + 1)
    assert {row.status for row in by_round[0].values()} == {"confirmed"}
    accepted = {
        name
        for (name,) in rows(whole, "SELECT DISTINCT unnest(capability_ids) FROM accepted JOIN tasks USING (task_id)")
    }
    grown = {name for name, row in by_round[ROUNDS].items() if row.success_count > by_round[0][name].success_count}
    assert accepted and grown == accepted
    assert all("trajectory:" in by_round[ROUNDS][name].evidence[-1].source for name in grown)


@pytest.mark.core
def test_resuming_a_whole_run_starts_nothing(whole: Path) -> None:
    before = fingerprint(whole)

    assert not resume(str(whole), Board()).started
    assert fingerprint(whole) == before


@pytest.mark.parametrize("bar", ["explored", "self-tested", "trajectories"])
def test_a_run_that_is_interrupted_while_it_makes_rounds_goes_on_where_it_was(
    bar: str, whole: Path, ray_here: Cluster, tmp_path: Path
) -> None:
    folder = tmp_path / "run"
    stopped = collect(fake_config(*MADE), "fake", str(folder), InterruptingBoard(after=1, bar=bar))
    assert stopped.reason == "interrupted"

    outcome = resume(str(folder), Board())

    assert outcome.reason is None
    assert _shape(folder) == _shape(whole)
    assert not resume(str(folder), Board()).started


def test_a_round_that_leaves_no_task_stores_why_and_ends_the_run(
    whole: Path, ray_here: Cluster, tmp_path: Path
) -> None:
    known = tmp_path / "known.txt"
    instructions = rows(whole, "SELECT instruction FROM tasks WHERE seed = 7 UNION SELECT instruction FROM rejections")
    known.write_text("\n".join(str(text) for (text,) in instructions), encoding="utf-8")
    folder = tmp_path / "run"

    ended = collect(fake_config(*MADE, f"tasks.contamination={known}"), "fake", str(folder), Board())
    again = resume(str(folder), Board())

    assert ended.reason is not None and ended.reason.startswith("tasks: no task of round 0 was left (6 contaminated)")
    assert again.reason == ended.reason
    assert rows(folder, "SELECT reason, count(*), count(DISTINCT candidate_id) FROM rejections GROUP BY ALL") == [
        ("contaminated", 6, 6)
    ]
    assert check(str(folder)) == []


def _catalogs(folder: Path) -> list[dict[str, Capability]]:
    """The catalog of every round, and the last one after them."""
    found = Dataset(str(folder)).rows(Capability)
    return [{row.capability_id: row for row in found if row.round == number} for number in range(ROUNDS + 1)]


def _shape(folder: Path) -> dict[str, object]:
    """What does not depend on when a run was interrupted: tasks, and how many rows of which kind."""
    graded = "SELECT task_id, v.grade FROM trace_grades v JOIN trajectories USING (attempt_id)"
    counted = Counter((row.round, row.capability_id) for row in Dataset(str(folder)).rows(Capability))
    return {
        "tasks": sorted(rows(folder, "SELECT task_id FROM tasks")),
        "grades": sorted(rows(folder, graded)),
        "validations": one(folder, "SELECT count(*) FROM validations"),
        "rejections": sorted(rows(folder, "SELECT candidate_id, reason FROM rejections")),
        "capabilities": counted,
    }
