"""The commands that make interaction puzzles: as a dataset, and as tasks of the application `puzzles`."""

from __future__ import annotations

import asyncio
import time
from pathlib import Path
from typing import Annotated

import typer

from pipeline.commands.shell import Command, examples
from pipeline.errors import ConfigError
from pipeline.puzzles.making import Made, Order, make
from pipeline.puzzles.puzzle import LEVELS, Level
from pipeline.puzzles.tasking import every_type, puzzle_tasks

PUZZLES_EXAMPLES = examples(
    "pathproof synth puzzles --n 1000 --seed 7 --out data/puzzles",
    "pathproof synth puzzles --n 200 --types sl_gap,rot_ring --level 3 --out data/hard",
    'pathproof query data/puzzles "SELECT kind, type, count(*) FROM puzzles GROUP BY ALL"',
)
TASKS_EXAMPLES = examples(
    "pathproof synth tasks --rounds 2 --out puzzles.jsonl",
    "pathproof collect --config puzzles tasks.set=puzzles.jsonl policy.name=noop",
)

Types = Annotated[str, typer.Option(metavar="A,B", help="Types to take, by name; all of them unless said.")]


def puzzles(
    out: Annotated[str, typer.Option(metavar="DIR", help="The dataset's folder, or its s3:// address.")],
    n: Annotated[int, typer.Option("--n", metavar="N", min=1, help="Puzzles to make.")] = 1000,
    seed: Annotated[int, typer.Option(metavar="N", help="The same seed makes the same rows.")] = 0,
    types: Types = "",
    level: Annotated[int | None, typer.Option(metavar="1|2|3", help="How hard; all levels unless said.")] = None,
) -> int:
    """Make puzzles with the actions that solve them, each proved and tried in a browser; again to finish a folder."""
    began = time.monotonic()
    order = Order(puzzles=n, seed=seed, types=_named(types), level=_level(level))
    made = asyncio.run(make(out, order, _heard))
    for fault in made.left_out:
        typer.echo(f"left out: {fault}", err=True)
    seconds = time.monotonic() - began
    typer.echo(f"puzzles={made.puzzles} left_out={len(made.left_out)} seconds={seconds:.0f}")
    return 0


def tasks(
    out: Annotated[Path, typer.Option(metavar="FILE", help="The tasks, as JSON lines.")],
    rounds: Annotated[int, typer.Option(metavar="N", min=1, help="Puzzles of each type.")] = 2,
    seed: Annotated[int, typer.Option(metavar="N", min=0, help="Of the first puzzle of each type.")] = 0,
    types: Types = "",
) -> int:
    """Write tasks of the application `puzzles`, whose contract is the first verdict of the puzzle's own page."""
    made = puzzle_tasks(_named(types) or every_type(), rounds, seed)
    out.write_text("".join(f"{task.model_dump_json()}\n" for task in made), encoding="utf-8")
    typer.echo(f"tasks={len(made)}")
    return 0


def _named(types: str) -> list[str]:
    names = sorted({name.strip() for name in types.split(",") if name.strip()})
    unknown = [name for name in names if name not in every_type()]
    if unknown:
        raise ConfigError(f"--types: there is no {', '.join(unknown)}; there are {', '.join(every_type())}")
    return names


def _level(level: int | None) -> Level | None:
    if level is None:
        return None
    found = next((one for one in LEVELS if one == level), None)
    if found is None:
        raise ConfigError(f"--level: {level} is none of 1, 2, 3")
    return found


def _heard(made: Made) -> None:
    typer.echo(f"{made.puzzles} puzzles", err=True)


COMMANDS = {
    "puzzles": Command(puzzles, PUZZLES_EXAMPLES),
    "tasks": Command(tasks, TASKS_EXAMPLES),
}
