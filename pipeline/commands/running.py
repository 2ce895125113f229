"""The commands that make a run go: collect, resume, judge."""

from __future__ import annotations

from typing import Annotated

import typer
from rich.console import Console

from pipeline.apart import NO_NETWORKS, can_part
from pipeline.commands.shell import Command, Folder, examples
from pipeline.config import JUDGING_PARTS, RunConfig, load_config, override_config
from pipeline.drive import Outcome
from pipeline.envs import check_devices
from pipeline.errors import ConfigError
from pipeline.exposure import exposed
from pipeline.judging import calibration_of
from pipeline.manifest import read_run
from pipeline.progress import Board
from pipeline.run import collect as collect_run
from pipeline.run import rejudge as rejudge_run
from pipeline.run import resume as resume_run
from pipeline.summary import changes_of, silences_of, table_of, tallies

_WIDTH = 140

Assignments = Annotated[
    list[str] | None, typer.Argument(metavar="KEY=VALUE", help="Configuration keys, for example seed=3 workers=4.")
]
JudgingAssignments = Annotated[
    list[str] | None,
    typer.Argument(metavar="KEY=VALUE", help=f"Keys of {', '.join(JUDGING_PARTS)}, for example panel.rule=single."),
]

COLLECT_EXAMPLES = examples(
    "pathproof collect",
    "pathproof collect workers=4 rounds=2 --out runs/second",
    "pathproof collect --config my.yaml apps=fava,trac policy=noop",
    "ray job submit --working-dir . -- python pipeline/collect.py out=/mnt/shared/runs/first",
)
RESUME_EXAMPLES = examples("pathproof resume runs/20261130-quickstart-1f0c2a9b")
JUDGE_EXAMPLES = examples(
    "pathproof judge runs/second",
    "pathproof judge runs/second 'judges=[screen, effect, {base_url: http://127.0.0.1:8000/v1, name: my-judge}]'",
    "pathproof judge runs/second judges=screen,telemetry panel.calibration=judges.json panel.rule=weighted",
)


def collect(
    assignments: Assignments = None,
    config: Annotated[str, typer.Option(metavar="NAME|FILE", help="A configuration by name, or a YAML file.")] = (
        "quickstart"
    ),
    out: Annotated[
        str | None,
        typer.Option(metavar="DIR", help="Folder or s3:// address of the new run; by default one under runs/."),
    ] = None,
) -> int:
    """Roll out tasks, verify what came of them, and write all of it to a new folder."""
    settings = load_config(config, assignments or [])
    check_devices(settings)
    _announce(settings)
    with Board() as board:
        outcome = collect_run(settings, config, out, board)
    return _close(outcome)


def resume(folder: Folder) -> int:
    """Finish a run that was interrupted; starts nothing when nothing is missing."""
    with Board() as board:
        outcome = resume_run(folder, board)
    if not outcome.started:
        typer.echo("nothing is missing", err=True)
    return _close(outcome)


def judge(
    folder: Folder,
    assignments: JudgingAssignments = None,
    config: Annotated[
        str | None,
        typer.Option(metavar="NAME|FILE", help="Source of judges and panel; by default the run's own."),
    ] = None,
) -> int:
    """Judge the stored trajectories again: a new pass is added, nothing is rewritten."""
    changes = assignments or []
    for change in changes:
        if change.partition("=")[0].partition(".")[0] not in JUDGING_PARTS:
            raise ConfigError(f"{change.partition('=')[0]}: judging again takes only {', '.join(JUDGING_PARTS)} keys")
    settings = override_config(read_run(folder).config, changes) if config is None else load_config(config, changes)
    _announce(settings)
    with Board() as board:
        outcome = rejudge_run(folder, settings, board)
    code = _close(outcome)
    for line in changes_of(outcome.folder) or ["none"]:
        typer.echo(f"changed verdicts: {line}")
    return code


def _announce(settings: RunConfig) -> None:
    """Say before anything runs what a person may not expect of it; raises ConfigError."""
    if listeners := exposed():
        typer.echo(f"note: other machines can reach {', '.join(listeners)}; see `pathproof doctor`", err=True)
    if settings.provider == "xvfb" and not can_part():
        typer.echo(f"note: programs of desktops reach what this machine reaches: {NO_NETWORKS}", err=True)
    if calibration_of(settings) is None and settings.panel.calibration is not None:
        typer.echo("note: panel.calibration was measured for other judges, so verdicts are uncalibrated", err=True)


def _close(outcome: Outcome) -> int:
    """The closing table, where the data is, and what to do next."""
    terminal = Console()
    console = terminal if terminal.is_terminal else Console(width=_WIDTH)
    console.print(table_of(tallies(outcome.folder)))
    for line in silences_of(outcome.folder):
        typer.echo(line)
    typer.echo(f"data: {outcome.folder}")
    if outcome.reason is not None:
        typer.echo(
            f"error: {outcome.reason}; what is complete is kept, continue with: pathproof resume {outcome.folder}",
            err=True,
        )
        return 1
    typer.echo(f"next: pathproof report {outcome.folder}")
    typer.echo(f'      pathproof query {outcome.folder} "SELECT * FROM yield_by_app"')
    return 0


COMMANDS = {
    "collect": Command(collect, COLLECT_EXAMPLES),
    "resume": Command(resume, RESUME_EXAMPLES),
    "judge": Command(judge, JUDGE_EXAMPLES),
}
