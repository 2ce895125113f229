"""From a command line to an exit code: one line per error, never a traceback for what a user can mend.

0 when the work is whole, 2 for wrong arguments or configuration, 1 for everything else that failed.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Mapping, Sequence
from typing import Annotated, NamedTuple

import typer
from typer.exceptions import TyperException

from pipeline.errors import ConfigError, PathproofError

Folder = Annotated[str, typer.Argument(metavar="DIR", help="The folder of a run, or its s3:// address.")]

_INTERRUPTED = 130
"""What typer makes of Ctrl-C."""


def group(about: str | None = None) -> typer.Typer:
    """An empty set of commands with plain help, whose errors `run` reports."""
    return typer.Typer(
        help=about,
        add_completion=False,
        rich_markup_mode=None,
        pretty_exceptions_enable=False,
    )


class Command(NamedTuple):
    """What a name on the command line does, and the examples of its help."""

    function: Callable[..., int]
    examples: str


def join(app: typer.Typer, commands: Mapping[str, Command]) -> None:
    """Add commands under their names."""
    for name, command in commands.items():
        app.command(name, epilog=command.examples)(command.function)


def run(app: typer.Typer, arguments: Sequence[str]) -> int:
    """Run a command line; the exit code. Errors go to standard error, one line each."""
    try:
        code = app(args=list(arguments), standalone_mode=False)
        sys.stdout.flush()
    except ConfigError as error:
        return _failed(str(error), 2)
    except PathproofError as error:
        return _failed(str(error), 1)
    except TyperException as error:
        return _failed(error.format_message(), 2)
    except BrokenPipeError:
        # The reader of our output has had enough. Python would complain once more when it flushes at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except OSError as error:
        return _failed(str(error), 1)
    if code == _INTERRUPTED:
        return _failed("interrupted", 1)
    return code if isinstance(code, int) else 0


def examples(*lines: str) -> str:
    """An epilog of `--help` that keeps its lines."""
    return "\b\nExamples:\n" + "\n".join(f"  {line}" for line in lines)


def _failed(message: str, code: int) -> int:
    lines = [line.strip() for line in message.splitlines() if line.strip()]
    typer.echo(f"error: {' '.join(lines)}", err=True)
    return code
