"""Runs on the application in memory, as tests want them: which tasks, which faults, who interrupts."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import signal
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple, TypeVar

import psutil

from pipeline.config import RunConfig, load_config
from pipeline.guardian import owner_of
from pipeline.progress import Board
from pipeline.query import query
from pipeline.reaper import PREFIX
from pipeline.tasks import TaskSpec

Found = TypeVar("Found")


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


def soon(look: Callable[[], Found | None], seconds: float = 120) -> Found:
    """What `look` finds, as soon as it finds something."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        found = look()
        if found is not None:
            return found
        time.sleep(0.05)
    raise AssertionError("what was awaited did not come")


class Progressed(NamedTuple):
    """How far a run has come, by its manifest."""

    finished: int
    begun: int
    workers: set[str]


def progress_of(folder: Path) -> Progressed:
    """Read the manifest as it grows."""
    lines = [json.loads(line) for path in folder.glob("manifest/*.jsonl") for line in path.read_text().splitlines()]
    assigned = [line for line in lines if line["kind"] == "assigned"]
    finished = sum(line["rows"] for line in lines if line["kind"] == "part" and line["table"] == "trajectories")
    return Progressed(finished, len(assigned), {line["worker"] for line in assigned})


class Busy(NamedTuple):
    """A rollout worker that has been given an attempt."""

    pid: int
    scratch: Path


def busy_workers(folder: Path, root: int | None = None) -> list[Busy]:
    """The workers of this run among the descendants of a process, found as the owners of their scratch folders."""
    family = {child.pid for child in psutil.Process(root).children(recursive=True)}
    found = []
    for name in sorted(progress_of(folder).workers):
        for scratch in Path(tempfile.gettempdir()).glob(f"{PREFIX}{name}-*"):
            with contextlib.suppress(LookupError):
                owner = owner_of(scratch)
                if owner in family:
                    found.append(Busy(owner, scratch))
    return found


class InterruptingBoard(Board):
    """Presses Ctrl-C as soon as a bar has moved so far."""

    def __init__(self, after: int, bar: str = "trajectories") -> None:
        super().__init__()
        self._left, self._bar = after, bar

    def advance(self, name: str, count: int, note: str) -> None:
        """Count, and interrupt once."""
        super().advance(name, count, note)
        if name == self._bar and self._left > 0:
            self._left -= count
            if self._left <= 0:
                os.kill(os.getpid(), signal.SIGINT)
