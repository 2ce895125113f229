"""How far a run has come: which tasks belong to which round, and which nobody should try any more."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

from catalogs.store import load_catalog
from pipeline.progress import Board
from pipeline.records import Validation, now
from pipeline.sinks import Committer
from pipeline.standing import Run, rounds_of, unexpired, unmade
from pipeline.storage import Storage, storage_of
from pipeline.tasks import Capability, TaskSpec, identified
from tests.episodes import fake_task
from tests.runs import fake_config

LOOP = fake_config("tasks=generate", "rounds=2")
DAY = timedelta(days=1)


def tasks(*seeds: int) -> list[TaskSpec]:
    task = fake_task()
    return [
        identified(task.model_copy(update={"seed": seed, "max_steps": task.max_steps + number}))
        for number, seed in enumerate(seeds)
    ]


def folder_with(path: Path, *rows: TaskSpec | Validation | Capability) -> Storage:
    committer = Committer.claim(path, "run", LOOP.model_dump(mode="json"))
    committer.record(rows)
    committer.finish()
    return storage_of(path)


def validated(task: TaskSpec, after: timedelta) -> Validation:
    return Validation(
        task_id=task.task_id, validated_at=now() - 9 * DAY, held=True, reason=None, expires_at=now() + after
    )


def test_a_fixed_set_has_the_same_tasks_in_every_round() -> None:
    given = tasks(0, 0)

    assert list(rounds_of(fake_config("rounds=3"), given)) == [given] * 3


def test_generated_tasks_come_by_the_seed_of_their_round() -> None:
    first, second, third = tasks(8, 7, 8)

    assert rounds_of(LOOP, [first, second, third]) == [[second], [first, third]]


def test_a_task_whose_validation_has_run_out_is_not_tried(tmp_path: Path) -> None:
    gone, good, never = tasks(7, 7, 8)
    folder = folder_with(tmp_path / "run", gone, good, never, validated(gone, -DAY), validated(good, DAY))

    assert unexpired(folder, [[gone, good], [never]]) == [[good], [never]]


def test_before_anything_is_written_nothing_has_expired(tmp_path: Path) -> None:
    given = [tasks(7)]

    assert unexpired(storage_of(tmp_path / "none"), given) == given


def test_a_loop_is_made_when_every_round_has_tasks_and_the_last_is_written_back(tmp_path: Path) -> None:
    made = rounds_of(LOOP, tasks(7, 8))
    last = load_catalog("fake-todo")[0].model_copy(update={"round": LOOP.rounds})
    board = Board()

    whole = Run(folder_with(tmp_path / "whole", last), "run", LOOP, board)
    open_ = Run(folder_with(tmp_path / "open"), "run", LOOP, board)

    assert not unmade(whole, made)
    assert unmade(open_, made)
    assert unmade(whole, rounds_of(LOOP, tasks(7)))
    assert not unmade(open_._replace(config=fake_config()), made)
