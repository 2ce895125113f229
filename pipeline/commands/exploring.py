"""The command that explores running applications."""

from __future__ import annotations

from typing import Annotated

import typer

from catalogs.explore import Budget, Line, Report
from catalogs.store import load_catalog
from pipeline.commands.shell import Command, examples
from pipeline.config import override_config
from pipeline.envs.fake_app import APP_ID as FAKE_APP
from pipeline.errors import ConfigError
from pipeline.expedition import Ended, explore_apps
from pipeline.exploring import Errand

EXPLORE_EXAMPLES = examples(
    "pathproof catalog explore trac",
    "pathproof catalog explore trac fava ihatemoney sqlite-web --out runs/catalog --seconds 120",
)


def explore(
    apps: Annotated[list[str], typer.Argument(metavar="APP...", help="Applications of `pathproof apps list`.")],
    out: Annotated[
        str | None, typer.Option(metavar="DIR", help="A dataset folder, new or not, that keeps what is found.")
    ] = None,
    seconds: Annotated[float, typer.Option(min=1.0, help="At most so long for each application.")] = 180.0,
    states: Annotated[int, typer.Option(min=1, help="At most so many screens are gone on from.")] = 60,
    edges: Annotated[int, typer.Option(min=0, help="At most so many things are tried beside the catalog.")] = 300,
    seed: Annotated[int, typer.Option(help="Decides which of equal things are tried.")] = 0,
    workers: Annotated[
        int, typer.Option(min=1, help="So many browsers at once, shared out among the applications.")
    ] = 2,
) -> int:
    """Try what the catalogs say, look for more, and say of every capability whether it holds.

    A capability that writes is confirmed only by a difference of the application's state.
    """
    for app_id in apps:
        load_catalog(app_id)
    fake = [f"provider={'fake' if FAKE_APP in apps else 'chromium'}"]
    if fake == ["provider=fake"] and set(apps) != {FAKE_APP}:
        raise ConfigError(f"apps: '{FAKE_APP}' has no browser and cannot be explored beside others")
    config = override_config({"apps": sorted(apps)}, [*fake, f"seed={seed}", f"workers={workers}"])
    errand = Errand("explorer", config, Budget(seconds, states, edges))
    ends: list[Ended] = []

    def ended(end: Ended) -> None:
        ends.append(end)
        _told(end)

    explore_apps(list(dict.fromkeys(apps)), errand, out, _heard, ended)
    return 0 if all(end.report is not None for end in ends) else 1


def _heard(app_id: str, line: Line) -> None:
    typer.echo(f"{app_id}: {line.capability_id} {line.status}", err=True)


def _told(end: Ended) -> None:
    if end.report is None:
        typer.echo(f"error: {end.app_id}: {end.reason}", err=True)
        return
    for line in end.report.lines:
        typer.echo("\t".join((line.capability_id, line.status, _kind(line), line.reason or "-")))
    for note in end.report.notes:
        typer.echo(f"{end.app_id}: {note}", err=True)
    typer.echo(_closing(end.report))


def _kind(line: Line) -> str:
    kind = "writes" if line.writes else ("navigation" if line.navigation else "reads")
    return f"{kind}, found" if line.found else kind


def _closing(report: Report) -> str:
    held = report.confirmed
    counts = {
        "app": report.app_id,
        "capabilities": len(report.lines),
        "confirmed": len(held),
        "writing": sum(line.writes for line in held),
        "navigation": sum(line.navigation for line in held),
        "states": report.states,
        "edges": report.edges,
        "seconds": f"{report.seconds:.0f}",
    }
    return " ".join(f"{name}={value}" for name, value in counts.items())


COMMANDS = {"explore": Command(explore, EXPLORE_EXAMPLES)}
