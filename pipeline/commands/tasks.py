"""The commands about tasks."""

from __future__ import annotations

from collections import Counter
from datetime import date
from pathlib import Path
from typing import Annotated

import typer

from pipeline.commands.shell import Command, examples
from pipeline.errors import ConfigError
from pipeline.records import now
from taskspecs.gate import TEMPLATE_SHARE, gate
from taskspecs.gate_cases import Candidate
from taskspecs.gate_sets import load_contamination
from taskspecs.store import load_tasks
from taskspecs.surroundings import around_tasks

CHECK_EXAMPLES = examples(
    "pathproof tasks check quickstart",
    "pathproof tasks check mine.jsonl --contamination benchmarks.txt --today 2027-01-31",
)


def check(
    source: Annotated[str, typer.Argument(metavar="SET|FILE", help="A shipped task set, a YAML file or JSON lines.")],
    contamination: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Texts of benchmarks that no task may meet.")
    ] = None,
    today: Annotated[str | None, typer.Option(metavar="DATE", help="The day by which dates are past.")] = None,
    allow: Annotated[list[str] | None, typer.Option(metavar="HOST", help="An address tasks may name.")] = None,
    share: Annotated[
        float, typer.Option(min=0.0, max=1.0, help="The largest part of the tasks that one template may give.")
    ] = TEMPLATE_SHARE,
) -> int:
    """Put tasks through the gate: which are not admitted, and why."""
    found = load_tasks(source)
    gated = gate(
        [Candidate(task.task_id, task, task.generator) for task in found],
        around_tasks(found, day_of(today), allow or ()),
        contamination=load_contamination(contamination) if contamination else None,
        template_share=share,
    )
    for row in gated.rejections:
        typer.echo("\t".join((row.candidate_id, row.reason, row.detail, " ".join(row.instruction.split()))))
    for reason, count in sorted(Counter(row.reason for row in gated.rejections).items()):
        typer.echo(f"{reason}: {count}", err=True)
    typer.echo(f"tasks={len(found)} admitted={len(gated.passed)} rejected={len(gated.rejections)}")
    return 1 if gated.rejections else 0


def day_of(text: str | None) -> date:
    """The day that is stated, today where none is; raises ConfigError."""
    if text is None:
        return now().date()
    try:
        return date.fromisoformat(text)
    except ValueError as error:
        raise ConfigError(f"--today: '{text}' is not a date like 2027-01-31") from error


COMMANDS = {"check": Command(check, CHECK_EXAMPLES)}
