"""The commands about this machine: its applications, and what it can run."""

from __future__ import annotations

from typing import Annotated

import typer

from pipeline import apps as applications
from pipeline.commands.shell import examples, group
from pipeline.config import override_config
from pipeline.doctor import examine

AppId = Annotated[str, typer.Argument(metavar="APP", help="An application of `pathproof apps list`.")]

DOCTOR_EXAMPLES = examples(
    "pathproof doctor",
    "pathproof doctor policy=chat model.base_url=http://127.0.0.1:8000/v1 model.name=my-model",
)

apps = group("The real applications that run on this machine.")


@apps.command("list", epilog=examples("pathproof apps list"))
def list_() -> int:
    """Every application, its version and licence, and whether it is installed."""
    for app in applications.list_apps():
        state = "installed" if app.installed else "not installed"
        typer.echo(f"{app.app_id}\t{app.version}\t{app.licence}\t{state}\t{app.title}")
    return 0


@apps.command(epilog=examples("pathproof apps up fava"))
def up(app_id: AppId) -> int:
    """Run an application in the foreground, on loopback, until Ctrl-C; prints its address."""
    applications.up(app_id, typer.echo)
    return 0


@apps.command(epilog=examples("pathproof apps down fava"))
def down(app_id: AppId) -> int:
    """End what `pathproof apps up` runs of an application."""
    return _told(app_id, applications.down(app_id), "ended")


@apps.command(epilog=examples("pathproof apps reset fava"))
def reset(app_id: AppId) -> int:
    """Put what `pathproof apps up` runs of an application back to its first state."""
    return _told(app_id, applications.reset(app_id), "reset")


def doctor(
    assignments: Annotated[
        list[str] | None,
        typer.Argument(metavar="KEY=VALUE", help="Configuration keys; the models they name are probed."),
    ] = None,
) -> int:
    """What this machine can run, what is exposed, and the fix for what is missing."""
    findings = examine(override_config({}, assignments or []))
    for finding in findings:
        typer.echo(f"{'ok' if finding.good else 'missing':8}{finding.what:14}{finding.detail}")
    return 0 if all(finding.good or not finding.needed for finding in findings) else 1


def _told(app_id: str, count: int, done: str) -> int:
    none = "no instance is running; start one with: pathproof apps up " + app_id
    typer.echo(f"{app_id}: {f'{count} {done}' if count else none}", err=True)
    return 0 if count else 1
