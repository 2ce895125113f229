"""The commands that give data away: export, redact."""

from __future__ import annotations

from collections import Counter
from typing import Annotated

import typer
from pydantic import ValidationError

from pipeline.commands.shell import Command, Folder, examples
from pipeline.errors import ConfigError, first_problem
from pipeline.export import ExportOptions
from pipeline.export import export as export_rows
from pipeline.exports.trainers import renderer_for
from pipeline.redact import redact as redact_folder
from pipeline.storage import local_path, storage_of
from pipeline.synth.giving import give

EXPORT_EXAMPLES = examples(
    "pathproof export runs/second --to sft --out sets/sft",
    "pathproof export runs/second --to rl-step --for verl --split-by app --test-share 0.2 --out sets/verl",
    "pathproof export runs/second --to prm --for trl --explore exclude --out sets/prm",
    "pathproof export data/grounding --to grounding --for ms-swift --out sets/grounding",
)

REDACT_EXAMPLES = examples(
    "pathproof redact runs/second --out runs/second-public",
    "pathproof redact s3://bucket/runs/second --out s3://bucket/public/second",
)


def export(
    context: typer.Context,
    folder: Folder,
    shape: Annotated[str, typer.Option("--to", metavar="SHAPE", help="sft, rl-step, prm, kto, mopd; or grounding.")],
    out: Annotated[str, typer.Option(metavar="PATH", help="The local folder to write; must not be there yet.")],
    trainer: Annotated[
        str,
        typer.Option(
            "--for", metavar="TRAINER", help="hf, verl, trl, llama-factory or ms-swift; ui-venus-2 for grounding."
        ),
    ] = "hf",
    split_by: Annotated[
        str, typer.Option(metavar="KEY", help="task, template or app: what never straddles two splits.")
    ] = "template",
    test_share: Annotated[float, typer.Option(help="Share of tasks, templates or applications held out.")] = 0.1,
    seed: Annotated[int, typer.Option(help="Draws other splits.")] = 0,
    explore: Annotated[
        str, typer.Option(metavar="POLICY", help="prm: steps graded explore are positive, negative or exclude.")
    ] = "positive",
    max_tokens: Annotated[int, typer.Option(help="Rows estimated longer than this are rejected.")] = 65_536,
    licence: Annotated[str, typer.Option(help="Licence identifier for the dataset card.")] = "unknown",
    keep_personal_data: Annotated[
        bool, typer.Option("--keep-personal-data", help="Leave personal data as it is, in pictures and in words.")
    ] = False,
) -> int:
    """Write rows for a trainer, each checked; those that fail go to rejected.parquet with their reasons.

    Labelled places (--to grounding) are given as they are, in the splits they have: only --for hf, ms-swift,
    ui-venus-2 or verl applies to them, any other option is refused.
    """
    if shape == "grounding":
        _refuse_idle(context)
        counts = give(folder, local_path("out", out), trainer)
        typer.echo(f"rows={counts.total()} splits={_counted(counts)} out={out}")
        return 0
    renderer_for(shape, trainer)
    wanted = {
        "shape": shape,
        "trainer": trainer,
        "split_by": split_by,
        "test_share": test_share,
        "seed": seed,
        "explore": explore,
        "max_tokens": max_tokens,
        "licence": licence,
        "keep_personal_data": keep_personal_data,
    }
    try:
        options = ExportOptions.model_validate(wanted)
    except ValidationError as error:
        raise ConfigError(f"export: {first_problem(error)}") from error
    outcome = export_rows(folder, local_path("out", out), options)
    account = outcome.account
    for title, found in (
        ("rows", account.rows),
        ("rejected", account.rejected),
        ("steps removed", account.removed),
        ("trajectories left out", account.left_out),
        ("personal data masked in", account.masked),
    ):
        typer.echo(f"{title}: {_counted(found)}", err=True)
    typer.echo(f"rows={account.rows.total()} rejected={account.rejected_rows} out={outcome.out}")
    return 0


def _refuse_idle(context: typer.Context) -> None:
    """Raises ConfigError for options that do nothing for labelled places."""
    given = [
        name
        for name in context.params
        if (source := context.get_parameter_source(name)) and source.name == "COMMANDLINE"
    ]
    idle = [f"--{name.replace('_', '-')}" for name in given if name not in ("folder", "shape", "out", "trainer")]
    if idle:
        raise ConfigError(f"export: --to grounding takes no {', '.join(idle)}: labelled places are given as they are")


def redact(
    folder: Folder,
    out: Annotated[
        str, typer.Option(metavar="DIR2", help="The folder or s3:// address to write; nothing may be there yet.")
    ],
) -> int:
    """Copy a dataset with flagged secrets and personal data masked in pictures and text; a sound dataset again.

    What is not proved to be masked everywhere keeps its marks, and is counted.
    """
    masked = redact_folder(folder, out)
    if masked.marked:
        typer.echo(
            f"note: marks kept on looks and steps: {masked.marked}; nothing says in words what they show, so it may "
            "stand elsewhere too; export refuses their rows",
            err=True,
        )
    counts = f"pictures={masked.frames} trees={masked.trees} rows={masked.rows} marked={masked.marked}"
    typer.echo(f"{counts} out={storage_of(out).address}")
    return 0


def _counted(found: Counter[str]) -> str:
    return ", ".join(f"{name} {number}" for name, number in sorted(found.items())) or "none"


COMMANDS = {"export": Command(export, EXPORT_EXAMPLES), "redact": Command(redact, REDACT_EXAMPLES)}
