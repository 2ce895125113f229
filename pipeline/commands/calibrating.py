"""The command that measures judges: calibrate."""

from __future__ import annotations

from typing import Annotated

import typer
from rich.console import Console

from pipeline.calibrating import calibrate_labels, tables_of, write_calibration
from pipeline.commands.shell import Command, examples
from pipeline.storage import local_path

CALIBRATE_EXAMPLES = examples(
    "pathproof calibrate --labels runs/second",
    "pathproof calibrate --labels labels.csv --judges judge-a,judge-b,screen --out judges.json",
    "pathproof calibrate --labels labels.parquet --precision 0.95",
    "pathproof judge runs/third panel.calibration=judges.json panel.rule=weighted",
)

_WIDTH = 200


def calibrate(
    labels: Annotated[
        str,
        typer.Option(metavar="FILE", help="A run that persons reviewed (DIR), or a .csv or .parquet file of labels."),
    ],
    judges: Annotated[
        str | None, typer.Option(metavar="NAMES", help="Measure these judges only, as if no other had been asked.")
    ] = None,
    precision: Annotated[
        float | None,
        typer.Option(metavar="P", help="The weighted rule accepts only as much as reaches this precision."),
    ] = None,
    out: Annotated[
        str, typer.Option(metavar="FILE", help="The local file the calibration goes to; its picture beside it.")
    ] = "calibration.json",
) -> int:
    """Measure judges and vote rules against labels; writes the file that panel.calibration names."""
    target = local_path("out", out)
    chosen = [name.strip() for name in judges.split(",") if name.strip()] if judges is not None else None
    file = calibrate_labels(labels, chosen, precision)
    picture = write_calibration(file, target)
    terminal = Console()
    console = terminal if terminal.is_terminal else Console(width=_WIDTH)
    for title, table in tables_of(file):
        console.print(title, style="bold", highlight=False)
        console.print(table)
    typer.echo(f"calibration={out} id={file.calibration_id} picture={picture}")
    return 0


COMMANDS = {"calibrate": Command(calibrate, CALIBRATE_EXAMPLES)}
