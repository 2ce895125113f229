"""The commands that prove tasks: self-tests of their contracts, and the same again after a while."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Annotated

import typer

from pipeline.actions import Model
from pipeline.commands.shell import Command, examples
from pipeline.errors import ConfigError
from pipeline.progress import Board
from pipeline.revalidating import revalidate_folder, stored_tasks
from pipeline.tasks import TaskSpec
from pipeline.trials import Heard, configured, try_all
from taskspecs.selftest import Trial, rejections
from taskspecs.store import load_tasks
from taskspecs.validity import VALID_DAYS

SELFTEST_EXAMPLES = examples(
    "pathproof tasks selftest quickstart --apps trac",
    "pathproof tasks selftest mine.jsonl --workers 2 --out held.jsonl --rejected rejected.jsonl",
)
REVALIDATE_EXAMPLES = examples(
    "pathproof tasks revalidate runs/today",
    "pathproof tasks revalidate runs/today --days 7 --workers 4",
)

Workers = Annotated[int, typer.Option(min=1, help="So many tasks at once.")]


def selftest(
    source: Annotated[str, typer.Argument(metavar="SET|FILE", help="A shipped task set, a YAML file or JSON lines.")],
    apps: Annotated[str | None, typer.Option(metavar="APP,..", help="Only tasks on these applications.")] = None,
    workers: Workers = 2,
    out: Annotated[Path | None, typer.Option(metavar="FILE", help="Write the tasks that hold, as JSON lines.")] = None,
    rejected: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write why the others do not, as JSON lines.")
    ] = None,
) -> int:
    """Prove the contracts of tasks on the running applications: which do not hold, and why.

    Each task's oracle is carried out once. The contract must accept it, and nothing less: not an untouched state, a
    bare claim, a guess, a state written past the application, or anything that misses a criterion by a little.
    """
    tasks = _chosen(load_tasks(source), apps)
    found: dict[str, Trial] = {}
    try:
        with Board() as board:
            try_all(tasks, configured(tasks, workers), _hearing(board, found, len(tasks)))
    finally:
        if out is not None:
            _write(out, _held(tasks, found))
        if rejected is not None:
            _write(rejected, rejections(tasks, found))
        _tell(tasks, found)
    return _code(tasks, found)


def revalidate(
    folder: Annotated[str, typer.Argument(metavar="DIR", help="A dataset folder.")],
    days: Annotated[int, typer.Option(min=1, help="A task that holds expires after so many days.")] = VALID_DAYS,
    workers: Workers = 2,
) -> int:
    """Prove the contracts of stored tasks again, and write down until when each is valid.

    Every task gets a row in `validations`; one that no longer holds expires at once. Nothing is rewritten.
    """
    found: dict[str, Trial] = {}
    tasks = stored_tasks(folder)
    try:
        with Board() as board:
            revalidate_folder(folder, tasks, days, workers, _hearing(board, found, len(tasks)))
    finally:
        _tell(tasks, found)
    return _code(tasks, found)


def _hearing(board: Board, found: dict[str, Trial], total: int) -> Heard:
    """What keeps the trials and shows how far they are."""
    board.expect("tasks", total, 0)

    def hear(task: TaskSpec, trial: Trial) -> None:
        found[trial.task_id] = trial
        board.advance("tasks", 1, f"{task.start.app_id}, {sum(not one.held for one in found.values())} do not hold")
        if trial.fault is not None:
            message = trial.fault.message.partition("\n")[0]
            board.say(f"untested: {trial.task_id}: {trial.fault.boundary}/{trial.fault.code}: {message}")

    return hear


def _chosen(tasks: Sequence[TaskSpec], apps: str | None) -> list[TaskSpec]:
    """The tasks asked for, each once."""
    wanted = {name.strip() for name in apps.split(",")} if apps else None
    chosen = {task.task_id: task for task in tasks if wanted is None or wanted.issuperset(task.app_ids)}
    if not chosen:
        raise ConfigError(f"--apps: no task is on '{apps}' alone" if apps else "tasks: there are none")
    return list(chosen.values())


def _held(tasks: Sequence[TaskSpec], found: Mapping[str, Trial]) -> list[TaskSpec]:
    """The tasks that hold, each with the fingerprint of what it was proved on."""
    return [
        task.model_copy(update={"fixture_fingerprint": found[task.task_id].fixture_fingerprint})
        for task in tasks
        if task.task_id in found and found[task.task_id].held
    ]


def _tell(tasks: Sequence[TaskSpec], found: Mapping[str, Trial]) -> None:
    rows = rejections(tasks, found)
    for row in rows:
        typer.echo("\t".join((row.candidate_id, row.reason, row.detail, " ".join(row.instruction.split()))))
    held = len(_held(tasks, found))
    untested = len(tasks) - held - len(rows)
    typer.echo(f"tasks={len(tasks)} held={held} rejected={len(rows)}" + (f" untested={untested}" if untested else ""))


def _code(tasks: Sequence[TaskSpec], found: Mapping[str, Trial]) -> int:
    return 0 if len(_held(tasks, found)) == len(tasks) else 1


def _write(path: Path, rows: Iterable[Model]) -> None:
    path.write_text("".join(f"{row.model_dump_json()}\n" for row in rows), encoding="utf-8")


COMMANDS = {"selftest": Command(selftest, SELFTEST_EXAMPLES), "revalidate": Command(revalidate, REVALIDATE_EXAMPLES)}
