"""Which split a task's rows belong to: decided by task, template or application, never by row.

Tasks that share what the split goes by stay together, and so do tasks of one contract: the same thing asked in another
language or in other words is the same task. The choice is a hash of its name and the seed, so it is the same
in every export, whatever else is in the dataset. A split that a task declares itself (other than `train`) stands, and
takes the tasks of its template along; an application is not moved by any task. A task whose applications fall into
different splits, or that declares another one than theirs, would straddle, so it belongs to none.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Literal

from pipeline.errors import ConfigError
from pipeline.records import digest
from pipeline.tasks import TaskSpec

SplitBy = Literal["task", "template", "app"]

TRAIN, TEST = "train", "test"


def assign_splits(tasks: Sequence[TaskSpec], by: SplitBy, test_share: float, seed: int = 0) -> dict[str, str]:
    """The split of each task that belongs to one, by id; of all names about `test_share` become `test`."""
    if not 0 <= test_share <= 1:
        raise ConfigError(f"test-share: {test_share:g} is not between 0 and 1")
    if by == "app":
        found = {task.task_id: _of_apps(task, test_share, seed) for task in tasks}
        return {task_id: split for task_id, split in found.items() if split}
    group = {task.task_id: _group(task, by) for task in tasks}
    declared = _declared(tasks, group)
    return {task_id: declared.get(key) or _drawn(key, test_share, seed) for task_id, key in group.items()}


def _of_apps(task: TaskSpec, test_share: float, seed: int) -> str | None:
    """The split of all of a task's applications; null when there is no such one."""
    keys = [f"app {app_id}" for app_id in task.app_ids] or [f"task {task.task_id}"]
    first, *others = {_drawn(key, test_share, seed) for key in keys}
    return None if others or task.split not in (TRAIN, first) else first


def _group(task: TaskSpec, by: SplitBy) -> str:
    """What a task is kept together by."""
    if by == "template" and task.template_id:
        return f"template {task.template_id}"
    return f"contract {contract_of(task)}" if task.checks or task.absence_checks else f"task {task.task_id}"


def contract_of(task: TaskSpec) -> str:
    """What is to be done and how it is proved, in whatever language and words it is asked."""
    parts = (task.start, *task.setup, *task.calls, *task.segments, *task.absence_checks)
    return digest("contract", *task.app_ids, *(part.model_dump_json() for part in parts), *task.expected_changes)


def _declared(tasks: Iterable[TaskSpec], group: dict[str, str]) -> dict[str, str]:
    """The split a group's tasks declare; the first by name when they disagree."""
    held_out = sorted((task.split, group[task.task_id]) for task in tasks if task.split != TRAIN)
    return {key: split for split, key in reversed(held_out)}


def _drawn(key: str, test_share: float, seed: int) -> str:
    drawn = int(digest("split", str(seed), key), 16) / 16**24
    return TEST if drawn < test_share else TRAIN
