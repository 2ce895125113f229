"""Which split a task's rows belong to: decided by task, template or application, never by row.

Tasks that share what the split goes by stay together, also when they share it only through a third one. The choice
depends on names alone, so the same tasks fall into the same splits in every export. A split that a task declares itself
(other than `train`) stands, and takes its whole group along.
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
    """The split of each task, by id; about `test_share` of the groups become `test`."""
    if not 0 <= test_share <= 1:
        raise ConfigError(f"test-share: {test_share:g} is not between 0 and 1")
    home: dict[str, str] = {}
    for task in tasks:
        first, *others = (_root(home, key) for key in _keys(task, by))
        for other in others:
            home[max(_root(home, first), _root(home, other))] = min(_root(home, first), _root(home, other))
    group = {task.task_id: _root(home, _keys(task, by)[0]) for task in tasks}
    declared = _declared(tasks, group)
    return {task_id: declared.get(key) or _drawn(key, test_share, seed) for task_id, key in group.items()}


def _keys(task: TaskSpec, by: SplitBy) -> list[str]:
    """What a task is kept together by."""
    match by:
        case "task":
            return [f"task {task.task_id}"]
        case "template":
            return [f"template {task.template_id}"] if task.template_id else [f"task {task.task_id}"]
        case "app":
            return [f"app {app_id}" for app_id in sorted(task.app_ids)] or [f"task {task.task_id}"]


def _root(home: dict[str, str], key: str) -> str:
    while home.setdefault(key, key) != key:
        key = home[key]
    return key


def _declared(tasks: Iterable[TaskSpec], group: dict[str, str]) -> dict[str, str]:
    """The split a group's tasks declare; the first by name when they disagree."""
    held_out = sorted((task.split, group[task.task_id]) for task in tasks if task.split != TRAIN)
    return {key: split for split, key in reversed(held_out)}


def _drawn(key: str, test_share: float, seed: int) -> str:
    drawn = int(digest("split", str(seed), key), 16) / 16**24
    return TEST if drawn < test_share else TRAIN
