"""`pathproof calibrate` without its command line: labels in, the calibration file, its picture and its tables out."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from rich.box import SIMPLE_HEAD
from rich.table import Table

from pipeline.curve_picture import draw_curve
from pipeline.errors import ConfigError
from pipeline.label_sets import read_labels
from pipeline.records import now
from verifiers.calibrate import calibrate
from verifiers.calibration import CalibrationFile, Cell, Measured
from verifiers.dependence import Dependence
from verifiers.metrics import Figures, Point, Rate
from verifiers.panel import BY_VOTES
from verifiers.weighing import Weighing

_RATES = ("coverage", "precision", "recall", "f1", "accuracy", "kappa", "fpr", "fnr", "found")
_ROWS_OF_CURVE = 12


class Titled(NamedTuple):
    """A table and the line above it."""

    title: str
    table: Table


def calibrate_labels(source: str, judges: Sequence[str] | None, precision: float | None) -> CalibrationFile:
    """Measure the judges of a labelled set, or some of them; raises ConfigError."""
    if precision is not None and not 0 < precision < 1:
        raise ConfigError(f"--precision: {precision} does not lie between 0 and 1")
    traces, steps = read_labels(source)
    if judges is not None:
        known = sorted({voter.name for voter in [*traces.voters, *steps.voters]})
        unknown = [name for name in judges if name not in known]
        if unknown:
            raise ConfigError(f"--judges: no votes of '{unknown[0]}'; judges: {', '.join(known)}")
        traces, steps = traces.only(*judges), steps.only(*judges)
    return calibrate(traces, now(), precision, steps)


def write_calibration(file: CalibrationFile, out: Path) -> Path:
    """Write the file, and the picture of its curve beside it; the picture's path. Raises ConfigError."""
    picture = out.with_suffix(".svg")
    try:
        out.parent.mkdir(parents=True, exist_ok=True)
        out.write_text(file.model_dump_json(indent=2) + "\n", encoding="utf-8")
        title = f"weighted rule on {file.source}, cross-validated by task"
        picture.write_text(draw_curve(file.curve, title), encoding="utf-8")
    except OSError as error:
        raise ConfigError(f"--out: '{out}' cannot be written ({error})") from error
    return picture


def tables_of(file: CalibrationFile) -> list[Titled]:
    """Everything measured, as it is shown to a person."""
    n, domains = file.measured[0].figures, ", ".join(file.domains)
    applies = f"applies to {domains}" if domains else "too few of one domain, so no verdict can cite it"
    title = f"{file.source}: {n.n} items of {n.tasks} tasks, {n.positives} right; {applies}"
    tables = [figures_table(title, [(_named(one), one.figures) for one in file.measured])]
    for apart in ("feasible", "infeasible"):
        some = [(_named(one), found) for one in file.measured if (found := getattr(one, apart)) is not None]
        if some:
            tables.append(figures_table(f"{some[0][1].n} items whose task is {apart}", some))
    if file.steps:
        steps = file.steps[0].figures
        title = f"{steps.n} steps of {steps.tasks} tasks, {steps.positives} right (correct or explore)"
        tables.append(figures_table(title, [(_named(one), one.figures) for one in file.steps]))
    tables.append(cells_table(file.cells))
    tables += [pairs_table(file.dependence), weights_table("the weighted rule", file.weighing)]
    if file.telemetry is not None:
        tables.append(weights_table("the telemetry judge", file.telemetry))
    return [*tables, curve_table(file.curve)]


def figures_table(title: str, rows: Sequence[tuple[str, Figures]]) -> Titled:
    """Rates with their 95 % intervals, one judge or rule a row."""
    table = _table("judge or rule", *_RATES)
    for name, figures in rows:
        table.add_row(name, *(_shown(getattr(figures, rate)) for rate in _RATES))
    return Titled(title, table)


def cells_table(cells: Sequence[Cell]) -> Titled:
    """What verdicts may cite: the panel's rules where enough was labelled."""
    table = _table("verdicts on", "domain", "checks", "rule", "n", "fpr", "fnr")
    for cell in cells:
        if cell.rule in BY_VOTES:
            checks = "hold" if cell.checked else "none"
            rates = [_shown(cell.figures.fpr), _shown(cell.figures.fnr)]
            table.add_row(cell.target, cell.domain, checks, cell.rule, str(cell.figures.n), *rates)
    return Titled(
        "what verdicts cite" if cells else "too little is labelled of any domain for a verdict to cite", table
    )


def pairs_table(dependence: Dependence) -> Titled:
    """How alike the judges are beyond what their accuracy explains."""
    effective = "unknown" if dependence.effective is None else f"{dependence.effective:.2f}"
    table = _table("pair", "n", "agreement", "expected", "excess", "correlation", "")
    for pair in dependence.pairs:
        numbers = (pair.agreement, pair.expected, pair.excess, pair.correlation)
        warning = "near-duplicates" if pair.duplicate else ""
        table.add_row(f"{pair.first}, {pair.second}", str(pair.n), *(f"{number:.3f}" for number in numbers), warning)
    return Titled(f"{dependence.voters} judges, effective votes {effective}", table)


def weights_table(name: str, weighing: Weighing) -> Titled:
    """What each feature adds to the log-odds."""
    table = _table("feature", "weight")
    table.add_row("(intercept)", f"{weighing.intercept:+.2f}")
    for one in weighing.weights:
        table.add_row(one.feature, f"{one.weight:+.2f}")
    return Titled(f"{name}: right from {weighing.accept:.3f}, wrong below {weighing.reject:.3f}", table)


def curve_table(points: Sequence[Point]) -> Titled:
    """A dozen points of the curve."""
    table = _table("accept from", "accepted", "wrong among them", "found", "fpr")
    for point in points[:: max(len(points) // _ROWS_OF_CURVE, 1)]:
        cells = (point.threshold, point.coverage, point.risk, point.recall, point.fpr)
        table.add_row(*(f"{cell:.3f}" for cell in cells))
    return Titled("risk and coverage of the weighted rule, cross-validated by task", table)


def _table(*columns: str) -> Table:
    return Table(*columns, box=SIMPLE_HEAD, pad_edge=False)


def _named(one: Measured) -> str:
    return one.name if one.kind == "judge" else f"rule: {one.name}"


def _shown(rate: Rate) -> str:
    if rate.value is None:
        return "-"
    return f"{rate.value:.3f}\n[{rate.low:.2f}, {rate.high:.2f}]"
