"""The closing table of a run."""

from __future__ import annotations

import io
from pathlib import Path

from rich.console import Console

from pipeline.summary import Tally, table_of, tallies
from tests.datasets import attempt, collected, faulty, judging, verdict


def test_counts_are_those_of_the_views_with_a_total(tmp_path: Path) -> None:
    good, bad, broken = attempt("a" * 24), attempt("b" * 24), faulty("c" * 24)
    verdicts = [verdict(good.attempt.attempt_id), verdict(bad.attempt.attempt_id, "fail")]
    folder = collected(tmp_path / "run", [good, bad, broken], [judging(), *verdicts])

    app, total = tallies(folder)

    assert (app.trajectories, app.complete, app.fail, app.faults, app.accepted) == (3, 1, 1, 1, 1)
    assert (app.scored, app.unscored) == (2, 0)
    assert app.cost_usd == 0.75
    assert total == app._replace(app_id="total")


def test_an_empty_run_has_a_total_of_nothing(tmp_path: Path) -> None:
    (total,) = tallies(collected(tmp_path / "run", []))

    assert set(total[1:]) == {0}


def test_yield_and_costs_are_per_accepted_trajectory() -> None:
    out = io.StringIO()
    rows = [
        Tally("one", 10, 4, 1, 1, 2, 0, 1, 0, 1, 4, 1, 50.0, 2.0),
        Tally("two", 2, 0, 0, 0, 0, 0, 0, 0, 2, 0, 0, 9.0, 0.0),
    ]

    Console(file=out, width=140).print(table_of(rows))

    lines = [line.split() for line in out.getvalue().splitlines()]
    assert ["one", "10", "4", "1", "1", "2", "0", "1", "1", "4", "50%", "12.5", "0.5"] in lines
    assert ["two", "2", "0", "0", "0", "0", "0", "0", "2", "0", "-", "-", "-"] in lines


def test_what_waits_for_its_verdict_is_not_called_unscored() -> None:
    out = io.StringIO()

    Console(file=out, width=140).print(table_of([Tally("one", 3, 1, 0, 0, 0, 0, 0, 2, 0, 1, 0, 9.0, 0.0)]))

    heading, row = (line.split() for line in out.getvalue().splitlines() if "─" not in line and line.strip())
    assert dict(zip(heading, row, strict=True))["unjudged"] == "2"
    assert dict(zip(heading, row, strict=True))["unscored"] == "0"
