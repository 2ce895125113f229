"""The command by which persons answer: review."""

from __future__ import annotations

from typing import Annotated

import typer

from pipeline.commands.shell import Command, Folder, examples
from pipeline.review import review as review_folder
from pipeline.review_session import Selection

REVIEW_EXAMPLES = examples(
    "pathproof review runs/second",
    "pathproof review runs/second --name ann --limit 30",
    "pathproof review runs/second --name ann --limit 0 --audit 50 --seed 7",
)


def review(
    folder: Folder,
    audit: Annotated[int, typer.Option(min=0, metavar="N", help="Add N accepted trajectories, drawn by lot.")] = 0,
    seed: Annotated[int, typer.Option(metavar="S", help="Draws others, and another order.")] = 0,
    port: Annotated[int, typer.Option(min=0, max=65535, metavar="P", help="Port on loopback; 0 takes a free one.")] = 0,
    name: Annotated[
        str | None, typer.Option(metavar="NAME", help="Who answers; by default the page asks for it.")
    ] = None,
    limit: Annotated[
        int | None, typer.Option(min=0, metavar="K", help="At most K of those that wait for a person.")
    ] = None,
) -> int:
    """Show what waits for a person in a page on loopback, and store the answers; Ctrl-C ends it."""
    done = review_folder(folder, Selection(audit, seed, limit), typer.echo, port=port, name=name)
    typer.echo(f"{done.answered} of {done.total} answered", err=True)
    return 0


COMMANDS = {"review": Command(review, REVIEW_EXAMPLES)}
