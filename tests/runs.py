"""Runs on the application in memory, as tests want them: which tasks, which faults, who interrupts."""

from __future__ import annotations

import hashlib
import os
import signal
from collections.abc import Sequence
from pathlib import Path

from pipeline.config import RunConfig, load_config
from pipeline.progress import Board
from pipeline.query import query
from pipeline.tasks import TaskSpec


def fake_config(*changes: str) -> RunConfig:
    """The shipped `fake` configuration, changed as `key=value`."""
    return load_config("fake", list(changes))


def tasks_file(path: Path, tasks: Sequence[TaskSpec]) -> Path:
    """A file of tasks to give as `tasks=FILE`."""
    path.write_text("".join(f"{task.model_dump_json()}\n" for task in tasks), encoding="utf-8")
    return path


def rows(folder: Path, sql: str) -> list[tuple[object, ...]]:
    """What the folder answers, as tuples."""
    return [tuple(row.values()) for row in query(sql, [folder]).to_pylist()]


def one(folder: Path, sql: str) -> object:
    """The one cell of the answer."""
    ((cell,),) = rows(folder, sql)
    return cell


def fingerprint(folder: Path) -> dict[str, str]:
    """Every file of the folder by content."""
    return {
        str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


class InterruptingBoard(Board):
    """Presses Ctrl-C as soon as so many trajectories are done."""

    def __init__(self, after: int) -> None:
        super().__init__()
        self._left = after

    def advance(self, name: str, count: int, note: str) -> None:
        """Count, and interrupt once."""
        super().advance(name, count, note)
        if name == "trajectories" and self._left > 0:
            self._left -= count
            if self._left <= 0:
                os.kill(os.getpid(), signal.SIGINT)
