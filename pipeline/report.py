"""One self-contained HTML page about a dataset: yield, grades, faults, and a sample of trajectories to look at.

Figures come from the shipped views, so that the page says what a query says. Pictures are shrunk and embedded; the
action's point is drawn as a ring over them. This module judges nothing and knows nothing of how a run is made.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

import duckdb

from pipeline.dataset import Dataset
from pipeline.file_names import REPORT_FILE
from pipeline.page_templates import page_template
from pipeline.query import connect, sound_parts
from pipeline.report_pages import TrajectoryPage, rows, trajectory_page
from pipeline.storage import Address, storage_of

SAMPLES = 12
TRACE = ("complete", "partial", "infeasible", "fail")
STEP = ("correct", "explore", "invalid", "wrong")


class Part(NamedTuple):
    """One stretch of a bar: a grade and its share in percent."""

    grade: str
    percent: float


class Legend(NamedTuple):
    """One entry of a legend."""

    css: str
    label: str
    total: int


class Tile(NamedTuple):
    """A headline figure."""

    value: str
    label: str


class Application(NamedTuple):
    """One row of the yield table, as text."""

    app_id: str
    parts: list[Part]
    spoken: str
    trajectories: int
    accepted: int
    yield_text: str
    faults: int
    seconds: str
    cost: str


def write_report(address: Address, out: Path | None = None, samples: int = SAMPLES) -> str:
    """Write the report of a dataset (default `DIR/report.html`) and say where it is.

    Raises ConfigError when the address is of no dataset.
    """
    dataset = Dataset(address)
    target, name = (storage_of(out.parent), out.name) if out else (dataset.storage, REPORT_FILE)
    with connect({dataset.storage: sound_parts(dataset.storage)}) as views:
        target.replace(name, _render(dataset, views, samples).encode())
    return target.url(name)


def _render(dataset: Dataset, views: duckdb.DuckDBPyConnection, samples: int) -> str:
    apps = rows(views, "SELECT y.*, c.* EXCLUDE (app_id, accepted) FROM yield_by_app AS y LEFT JOIN "
                         "cost_per_accepted AS c USING (app_id) ORDER BY app_id")  # fmt: skip
    steps = _counts(views, "SELECT coalesce(grade, status) AS grade, count(*) AS n FROM step_grades GROUP BY ALL")
    total = sum(app["trajectories"] for app in apps)
    return page_template("report.html.j2").render(
        run=_run(dataset, views),
        tiles=_tiles(apps),
        calibration_note=_calibration_note(views),
        apps=[_application(app) for app in apps],
        trace_legend=_trace_legend(apps),
        step_parts=_parts(steps, STEP),
        step_legend=_legend(steps, STEP, "not graded"),
        faults=_faults(views),
        samples=_samples(dataset, views, samples),
        total=total,
    )


def _counts(views: duckdb.DuckDBPyConnection, sql: str) -> dict[str, int]:
    return {row["grade"]: row["n"] for row in rows(views, sql)}


def _run(dataset: Dataset, views: duckdb.DuckDBPyConnection) -> dict[str, str]:
    policies = rows(views, "SELECT DISTINCT policy FROM trajectories ORDER BY policy")
    judges = rows(views, "SELECT DISTINCT judge FROM votes ORDER BY judge")
    return {
        "run_id": dataset.run.run_id,
        "started": f"{dataset.run.started_at:%Y-%m-%d %H:%M} UTC",
        "policy": ", ".join(row["policy"] for row in policies) or "none",
        "judges": ", ".join(row["judge"] for row in judges) or "none",
    }


def _tiles(apps: list[dict[str, Any]]) -> list[Tile]:
    total = sum(app["trajectories"] for app in apps)
    accepted = sum(app["accepted"] for app in apps)
    scored = sum(app["graded"] + app["undecided"] for app in apps)
    seconds = sum(app["seconds"] or 0.0 for app in apps)
    cost = sum(app["cost_usd"] or 0.0 for app in apps)
    return [
        Tile(str(total), "trajectories"),
        Tile(str(accepted), "accepted"),
        Tile(_percent(accepted, scored), "yield of scored"),
        Tile(str(sum(app["accepted_refusals"] for app in apps)), "accepted refusals"),
        Tile(str(sum(app["faults"] for app in apps)), "faults (unscored)"),
        Tile(f"{_each(seconds, accepted, '{:.1f} s')} · {_each(cost, accepted, '${:.2f}')}", "per accepted"),
    ]


def _calibration_note(views: duckdb.DuckDBPyConnection) -> str:
    counts = rows(views, "SELECT count(*) AS n, count(calibration) AS known FROM trace_grades")[0]
    if counts["n"] and counts["known"] == counts["n"]:
        return "Every verdict cites the measured error rates of its judges."
    return (
        f"{counts['n'] - counts['known']} of {counts['n']} verdicts are uncalibrated: no error rate of this judge set "
        "has been measured on human labels for this domain."
    )


def _application(app: dict[str, Any]) -> Application:
    counts = {grade: app[grade] for grade in TRACE}
    counts["none"] = app["trajectories"] - sum(counts.values())
    return Application(
        app_id=app["app_id"],
        parts=_parts(counts, TRACE),
        spoken=", ".join(f"{grade} {n}" for grade, n in counts.items() if n),
        trajectories=app["trajectories"],
        accepted=app["accepted"],
        yield_text="–" if app["yield"] is None else f"{app['yield']:.0%}",
        faults=app["faults"],
        seconds=_each(app["seconds"] or 0.0, app["accepted"], "{:.1f}"),
        cost=_each(app["cost_usd"] or 0.0, app["accepted"], "${:.4f}"),
    )


def _trace_legend(apps: list[dict[str, Any]]) -> list[Legend]:
    counts = {grade: sum(app[grade] for app in apps) for grade in TRACE}
    counts["none"] = sum(app["trajectories"] for app in apps) - sum(counts.values())
    return _legend(counts, TRACE, "undecided or unscored")


def _parts(counts: dict[str, int], grades: tuple[str, ...]) -> list[Part]:
    total = sum(counts.values())
    if not total:
        return []
    known = [Part(grade, round(100 * counts.get(grade, 0) / total, 2)) for grade in grades]
    rest = total - sum(counts.get(grade, 0) for grade in grades)
    return [part for part in [*known, Part("none", round(100 * rest / total, 2))] if part.percent]


def _legend(counts: dict[str, int], grades: tuple[str, ...], rest_label: str) -> list[Legend]:
    known = [Legend(grade, grade, counts.get(grade, 0)) for grade in grades]
    rest = sum(counts.values()) - sum(entry.total for entry in known)
    return [*known, Legend("none", rest_label, rest)]


def _faults(views: duckdb.DuckDBPyConnection) -> list[dict[str, Any]]:
    return rows(
        views,
        "SELECT boundary, code, node, count(*) AS attempts, left(any_value(message), 200) AS message FROM faults "
        "GROUP BY boundary, code, node ORDER BY attempts DESC, boundary, code",
    )


def _samples(dataset: Dataset, views: duckdb.DuckDBPyConnection, samples: int) -> list[TrajectoryPage]:
    """Trajectories in turn from every (application, grade), so that a small sample shows the whole variety."""
    chosen = rows(
        views,
        "SELECT attempt_id FROM (SELECT t.attempt_id, row_number() OVER (PARTITION BY app_id, grade ORDER BY "
        "t.attempt_id) AS turn, row_number() OVER (PARTITION BY grade ORDER BY t.attempt_id) AS spread FROM "
        "trajectories AS t LEFT JOIN trace_grades AS g USING (run_id, attempt_id)) "
        "ORDER BY turn, spread, attempt_id LIMIT ?",
        samples,
    )
    return [trajectory_page(dataset, views, row["attempt_id"]) for row in chosen]


def _percent(part: int, whole: int) -> str:
    return f"{part / whole:.0%}" if whole else "–"


def _each(amount: float, count: int, form: str) -> str:
    return form.format(amount / count) if count else "–"
