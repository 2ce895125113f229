"""The command that says what this machine can run."""

from __future__ import annotations

from typing import Annotated

import typer

from pipeline.commands.shell import Command, examples
from pipeline.config import override_config
from pipeline.doctor import EXPOSURE, examine

DOCTOR_EXAMPLES = examples(
    "pathproof doctor",
    "pathproof doctor platform=mobile provider=adb devices=192.168.1.20:5555",
    "pathproof doctor policy=chat model.base_url=http://127.0.0.1:8000/v1 model.name=my-model",
)


def doctor(
    assignments: Annotated[
        list[str] | None,
        typer.Argument(metavar="KEY=VALUE", help="Configuration keys; the models they name are probed."),
    ] = None,
) -> int:
    """What this machine can run, what is exposed, and the fix for what is missing."""
    findings = examine(override_config({}, assignments or []))
    width = max(len(finding.what) for finding in findings) + 2
    for finding in findings:
        if finding.what == EXPOSURE:
            typer.echo(f"{EXPOSURE}: {finding.detail}")
            continue
        typer.echo(f"{'ok' if finding.good else 'missing':8}{finding.what:{width}}{finding.detail}")
    return 0 if all(finding.good or not finding.needed for finding in findings) else 1


COMMANDS = {"doctor": Command(doctor, DOCTOR_EXAMPLES)}
