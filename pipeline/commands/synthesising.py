"""The commands that make synthetic data."""

from __future__ import annotations

import asyncio
import time
from pathlib import Path
from typing import Annotated

import typer

from pipeline.commands.shell import Command, Folder, examples
from pipeline.synth.making import Made, Order, make
from pipeline.synth.showing import gallery as draw_gallery

GROUNDING_EXAMPLES = examples(
    "pathproof synth grounding --n 1000 --seed 7 --out data/grounding",
    'pathproof query data/grounding "SELECT kind, count(*) FROM grounding GROUP BY ALL"',
)
GALLERY_EXAMPLES = examples("pathproof synth gallery data/grounding --screens 60 --out gallery.html")


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


def gallery(
    folder: Folder,
    out: Annotated[Path, typer.Option(metavar="FILE", help="The page to write.")] = Path("gallery.html"),
    screens: Annotated[int, typer.Option(metavar="N", min=1, help="Screens to show, drawn by lot.")] = 40,
    seed: Annotated[int, typer.Option(metavar="N", help="Draws other screens.")] = 0,
) -> int:
    """Write one page with screens, their labels drawn on them, and how the rows are spread."""
    out.write_text(draw_gallery(folder, screens, seed), encoding="utf-8")
    typer.echo(str(out))
    return 0


def _heard(made: Made) -> None:
    typer.echo(f"{made.rows} rows of {made.screens} screens", err=True)


COMMANDS = {
    "grounding": Command(grounding, GROUNDING_EXAMPLES),
    "gallery": Command(gallery, GALLERY_EXAMPLES),
}
