"""The commands that prove tasks: self-tests of their contracts, once and again."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from pipeline.commands.shell import examples
from pipeline.errors import ConfigError
from pipeline.records import Rejection
from pipeline.tasks import TaskSpec
from pipeline.trials import TrialWorker, configured
from taskspecs.selftest import Trial
from taskspecs.store import load_tasks

SELFTEST_EXAMPLES = examples(
    "pathproof tasks selftest quickstart --apps trac",
    "pathproof tasks selftest mine.jsonl --workers 2 --out held.jsonl --rejected rejected.jsonl",
)


def selftest(
    source: Annotated[str, typer.Argument(metavar="SET|FILE", help="A shipped task set, a YAML file or JSON lines.")],
    apps: Annotated[str | None, typer.Option(metavar="APP,..", help="Only tasks on these applications.")] = None,
    out: Annotated[Path | None, typer.Option(metavar="FILE", help="Write the tasks that hold, as JSON lines.")] = None,
    rejected: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write why the others do not, as JSON lines.")
    ] = None,
) -> int:
    """Prove the contracts of tasks on the real applications: which do not hold, and why."""
    tasks = _chosen(load_tasks(source), apps)
    trials = asyncio.run(_alone(tasks))
    by_id = {trial.task_id: trial for trial in trials}
    held = [
        task.model_copy(update={"fixture_fingerprint": by_id[task.task_id].fixture_fingerprint})
        for task in tasks
        if by_id[task.task_id].held
    ]
    rows = [_rejection(task, by_id[task.task_id]) for task in tasks if by_id[task.task_id].reason]
    if out is not None:
        out.write_text("".join(f"{task.model_dump_json()}\n" for task in held), encoding="utf-8")
    if rejected is not None:
        rejected.write_text("".join(f"{row.model_dump_json()}\n" for row in rows), encoding="utf-8")
    for row in rows:
        typer.echo("\t".join((row.candidate_id, row.reason, row.detail, " ".join(row.instruction.split()))))
    typer.echo(f"tasks={len(tasks)} held={len(held)} rejected={len(rows)}")
    return 0 if len(held) == len(tasks) else 1


def _chosen(tasks: Sequence[TaskSpec], apps: str | None) -> list[TaskSpec]:
    wanted = {name.strip() for name in apps.split(",")} if apps else None
    chosen = [task for task in tasks if wanted is None or wanted.issuperset(task.app_ids)]
    if not chosen:
        raise ConfigError(f"--apps: no task is on {apps} alone" if apps else "tasks: there are none")
    return chosen


async def _alone(tasks: Sequence[TaskSpec]) -> list[Trial]:
    worker = TrialWorker("selftest", configured(tasks, 1))
    trials = []
    try:
        await worker.ready()
        for task in sorted(tasks, key=lambda task: task.start.app_id):
            trial = await worker.run(task)
            trials.append(trial)
            said = trial.reason or (f"fault {trial.fault.code}: {trial.fault.message}" if trial.fault else "holds")
            typer.echo(f"{len(trials)}/{len(tasks)} {task.start.app_id} {trial.seconds:.1f} s {said}", err=True)
    finally:
        await worker.close()
    return trials


def _rejection(task: TaskSpec, trial: Trial) -> Rejection:
    return Rejection(
        candidate_id=task.task_id,
        app_ids=task.app_ids,
        instruction=task.instruction,
        reason=trial.reason or "",
        detail=trial.detail,
        duplicate_of=None,
        origin=task.generator,
    )
