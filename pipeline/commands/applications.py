"""The commands about the real applications that run on this machine."""

from __future__ import annotations

from typing import Annotated

import typer

from pipeline import apps as applications
from pipeline.commands.shell import Command, examples

AppId = Annotated[str, typer.Argument(metavar="APP", help="An application of `pathproof apps list`.")]


def list_() -> int:
    """Every application, its version and licence, and whether it is installed."""
    for app in applications.list_apps():
        state = "installed" if app.installed else "not installed"
        typer.echo(f"{app.app_id}\t{app.version}\t{app.licence}\t{state}\t{app.title}")
    return 0


def up(app_id: AppId) -> int:
    """Run an application in the foreground, on loopback, until Ctrl-C; prints its address."""
    applications.up(app_id, typer.echo)
    return 0


def down(app_id: AppId) -> int:
    """End what `pathproof apps up` runs of an application."""
    return _told(app_id, applications.down(app_id), "ended")


def reset(app_id: AppId) -> int:
    """Put what `pathproof apps up` runs of an application back to its first state."""
    return _told(app_id, applications.reset(app_id), "reset")


def _told(app_id: str, count: int, done: str) -> int:
    none = "no instance is running; start one with: pathproof apps up " + app_id
    typer.echo(f"{app_id}: {f'{count} {done}' if count else none}", err=True)
    return 0 if count else 1


COMMANDS = {
    "list": Command(list_, examples("pathproof apps list")),
    "up": Command(up, examples("pathproof apps up fava")),
    "down": Command(down, examples("pathproof apps down fava")),
    "reset": Command(reset, examples("pathproof apps reset fava")),
}
