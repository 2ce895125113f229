"""The commands for what a run has written: query, check, compact, report."""

from __future__ import annotations

import base64
import csv
import json
import math
import sys
from collections.abc import Iterable, Sequence
from datetime import datetime
from decimal import Decimal
from pathlib import Path
from typing import Annotated, Any, Literal

import pyarrow as pa
import pyarrow.parquet as pq
import typer
from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table

from pipeline.check import check as check_folder
from pipeline.commands.shell import Command, Folder, examples
from pipeline.compact import compact as compact_folder
from pipeline.errors import ConfigError
from pipeline.query import Damage, ask
from pipeline.report import write_report
from pipeline.storage import local_path

Format = Literal["table", "csv", "json", "parquet"]

QUERY_EXAMPLES = examples(
    'pathproof query runs/second "SELECT * FROM yield_by_app"',
    'pathproof query runs/first runs/second --format csv "SELECT app_id, count(*) FROM accepted GROUP BY ALL"',
    'pathproof query runs/second --format parquet "SELECT * FROM rl_steps" > steps.parquet',
)
CHECK_EXAMPLES = examples("pathproof check runs/second")
COMPACT_EXAMPLES = examples("pathproof compact runs/second", "pathproof compact s3://bucket/runs/second")
REPORT_EXAMPLES = examples("pathproof report runs/second", "pathproof report runs/second --out second.html")

_CELL = 60


def query(
    arguments: Annotated[list[str], typer.Argument(metavar='DIR... "SQL"', help="Folders of runs, then the SQL.")],
    format_: Annotated[Format, typer.Option("--format", help="How the rows are written to standard output.")] = "table",
) -> int:
    """Ask DuckDB over the sound, listed parts of one or more runs; tables and views go by their names."""
    *folders, sql = arguments
    if not folders or _is_run(sql):
        raise ConfigError('query: give one or more folders, then the SQL: pathproof query DIR "SELECT 1"')
    answer = ask(sql, folders)
    for damage in answer.damaged:
        typer.echo(f"note: {_told(damage)}; run `pathproof check {damage.address}`", err=True)
    _write(answer.rows, format_)
    return 0


def _told(damage: Damage) -> str:
    """What was left out of an answer, in words."""
    told = []
    if damage.parts:
        parts = "1 damaged part was" if damage.parts == 1 else f"{damage.parts} damaged parts were"
        told.append(f"{parts} left out ({', '.join(damage.tables)})")
    if damage.manifest_files:
        files = "1 file" if damage.manifest_files == 1 else f"{damage.manifest_files} files"
        told.append(
            f"{files} of the manifest cannot be read or trusted, or cannot be found, nor the parts listed there"
        )
    return "; ".join(told)


def _is_run(text: str) -> bool:
    try:
        return (Path(text) / "run.json").exists()
    except OSError:  # SQL may be longer than a file name can be
        return False


def check(folder: Folder) -> int:
    """Prove that a folder is sound: manifest, hashes, footers, schemas, time zones, references."""
    findings = check_folder(folder)
    errors = sum(finding.severity == "error" for finding in findings)
    for finding in findings:
        typer.echo(f"{finding.severity}\t{finding.kind}\t{finding.path}\t{finding.detail}")
    typer.echo(f"{errors} errors, {len(findings) - errors} leftovers", err=True)
    return 1 if errors else 0


def compact(folder: Folder) -> int:
    """Merge small parts: the same rows and the same guarantees in fewer files."""
    done = compact_folder(folder)
    typer.echo(f"parts: {done.before} before, {done.after} after")
    return 0


def report(
    folder: Folder,
    out: Annotated[
        str | None, typer.Option(metavar="FILE", help="The page, a local file; by default report.html in DIR.")
    ] = None,
) -> int:
    """Write one self-contained HTML page: yield, grades, faults, and trajectories with their pictures."""
    typer.echo(write_report(folder, None if out is None else local_path("out", out)))
    return 0


def _write(rows: pa.Table, format_: Format) -> None:
    match format_:
        case "table":
            _write_table(rows)
        case "csv":
            writer = csv.writer(sys.stdout, lineterminator="\n")
            writer.writerow(rows.column_names)
            writer.writerows([_flat(cell) for cell in row] for row in _plain(rows))
        case "json":
            names = _distinct(rows.column_names)
            for row in _plain(rows):
                typer.echo(json.dumps(dict(zip(names, row, strict=True)), ensure_ascii=False))
        case "parquet":
            if sys.stdout.isatty():
                raise ConfigError("query: --format parquet writes bytes; redirect them: ... > rows.parquet")
            pq.write_table(rows, sys.stdout.buffer, compression="zstd")


def _write_table(rows: pa.Table) -> None:
    console = Console()
    if not console.is_terminal:
        console = Console(width=200)
    table = Table(*rows.column_names, box=SIMPLE_HEAD, pad_edge=False)
    for row in zip(*map(_cells, rows.columns), strict=True):
        table.add_row(*map(_shown, row))
    console.print(table)


def _plain(rows: pa.Table) -> Iterable[list[Any]]:
    """Rows, cell by cell, as JSON can hold them: bytes in base64, times in ISO form.

    By place and not by name: an answer may have several columns of one name.
    """
    for batch in rows.to_batches(max_chunksize=1000):
        for row in zip(*map(_cells, batch.columns), strict=True):
            yield [_simple(cell) for cell in row]


def _cells(column: pa.Array | pa.ChunkedArray) -> list[Any]:
    """A column's values; times that Python has no value for, such as infinity, as text."""
    try:
        values: list[Any] = column.to_pylist(maps_as_pydicts="strict")
    except (OverflowError, ValueError):
        values = [_cell(scalar) for scalar in column]
    return values


def _cell(scalar: pa.Scalar) -> Any:
    match scalar:
        case _ if not scalar.is_valid:
            return None
        case pa.StructScalar():
            return {name: _cell(value) for name, value in scalar.items()}
        case pa.MapScalar():
            return {_cell(entry["key"]): _cell(entry["value"]) for entry in scalar.values}
        case pa.ListScalar():
            return [_cell(value) for value in scalar.values]
        case pa.TimestampScalar() | pa.Date32Scalar():
            return _time(scalar)
        case _:
            return scalar.as_py()


def _time(scalar: pa.TimestampScalar | pa.Date32Scalar) -> Any:
    bound = 2 ** (scalar.type.bit_width - 1) - 1
    if abs(scalar.value) == bound:
        return "infinity" if scalar.value > 0 else "-infinity"
    try:
        return scalar.as_py()
    except (OverflowError, ValueError):
        return str(scalar.cast(pa.string()))


def _distinct(names: Sequence[str]) -> list[str]:
    """The names, later ones of the same spelling numbered, so that an object can hold all of them."""
    earlier = [names[:place].count(name) for place, name in enumerate(names)]
    return [f"{name}:{number}" if number else name for name, number in zip(names, earlier, strict=True)]


def _simple(cell: Any) -> Any:
    match cell:
        case bytes():
            return base64.b64encode(cell).decode("ascii")
        case datetime():
            return cell.isoformat()
        case dict():
            return {str(_simple(name)): _simple(value) for name, value in cell.items()}
        case list():
            return [_simple(value) for value in cell]
        case Decimal():
            return int(cell) if cell == cell.to_integral_value() else float(cell)
        case float() if not math.isfinite(cell):
            return str(cell)  # JSON has no such number
        case None | bool() | int() | float() | str():
            return cell
        case _:
            return str(cell)


def _flat(cell: Any) -> Any:
    return json.dumps(cell, ensure_ascii=False) if isinstance(cell, dict | list) else cell


def _shown(cell: Any) -> str:
    match cell:
        case None:
            return ""
        case bytes():
            return f"<{len(cell)} bytes>"
        case float():
            return f"{cell:.4g}"
        case _:
            text = str(_flat(_simple(cell)))
            return text if len(text) <= _CELL else text[: _CELL - 1] + "…"


COMMANDS = {
    "check": Command(check, CHECK_EXAMPLES),
    "query": Command(query, QUERY_EXAMPLES),
    "compact": Command(compact, COMPACT_EXAMPLES),
    "report": Command(report, REPORT_EXAMPLES),
}
