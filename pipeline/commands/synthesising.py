"""The commands that make synthetic data."""

from __future__ import annotations

import asyncio
import time
from typing import Annotated

import typer

from pipeline.commands.shell import Command, examples
from pipeline.synth.making import Made, Order, make

GROUNDING_EXAMPLES = examples(
    "pathproof synth grounding --n 1000 --seed 7 --out data/grounding",
    'pathproof query data/grounding "SELECT kind, count(*) FROM grounding GROUP BY ALL"',
)


def grounding(
    out: Annotated[str, typer.Option(metavar="DIR", help="The dataset's folder, or its s3:// address.")],
    n: Annotated[int, typer.Option("--n", metavar="N", min=1, help="Labelled rows to make.")] = 1000,
    seed: Annotated[int, typer.Option(metavar="N", help="The same seed makes the same rows and pictures.")] = 0,
) -> int:
    """Make screens of everyday software with instructions and the exact places they mean; again to finish a folder."""
    began = time.monotonic()
    made = asyncio.run(make(out, Order(rows=n, seed=seed), _heard))
    typer.echo(f"rows={made.rows} screens={made.screens} seconds={time.monotonic() - began:.0f}")
    return 0


def _heard(made: Made) -> None:
    typer.echo(f"{made.rows} rows of {made.screens} screens", err=True)


COMMANDS = {"grounding": Command(grounding, GROUNDING_EXAMPLES)}
