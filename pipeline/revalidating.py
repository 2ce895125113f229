"""Proves the tasks of a dataset again and appends what came of it, in an epoch of its own.

What has been tested counts also when the rest could not be. Knows nothing of what a test consists of.
"""

from __future__ import annotations

from collections.abc import Sequence

from pipeline import manifest
from pipeline.config import parse_config
from pipeline.dataset import Dataset
from pipeline.errors import RunError
from pipeline.records import Validation, now
from pipeline.sinks import Committer
from pipeline.storage import Address, Storage, driver_lock, storage_of
from pipeline.tasks import TaskSpec
from pipeline.trials import Heard, try_all
from taskspecs.selftest import Trial
from taskspecs.validity import validation_of


def stored_tasks(address: Address) -> list[TaskSpec]:
    """The tasks of a dataset, each once; raises ConfigError when it is none, RunError when it has none."""
    tasks = {task.task_id: task for task in Dataset(address).rows(TaskSpec)}
    if not tasks:
        raise RunError(f"{storage_of(address).address} has no tasks")
    return list(tasks.values())


def revalidate_folder(address: Address, tasks: Sequence[TaskSpec], days: int, workers: int, heard: Heard) -> None:
    """Test tasks under the configuration of their run, and write down until when each is valid.

    Raises RunError when not all could be tested; those that were are written down nevertheless.
    """
    storage = storage_of(address)
    stored = manifest.read_run(storage)
    apps = sorted({app_id for task in tasks for app_id in task.app_ids})
    config = parse_config(stored.config).model_copy(update={"workers": workers, "apps": apps})
    rows: list[Validation] = []

    def hear(task: TaskSpec, trial: Trial) -> None:
        row = validation_of(trial, now(), days)
        rows.extend([row] if row is not None else [])
        heard(task, trial)

    with driver_lock(storage):
        try:
            try_all(tasks, config, hear)
        finally:
            if rows:
                _append(storage, rows)


def _append(storage: Storage, rows: Sequence[Validation]) -> None:
    run = manifest.read_run(storage)
    committer = Committer.claim(storage, run.run_id, run.config)
    committer.record(rows)
    committer.leave()
