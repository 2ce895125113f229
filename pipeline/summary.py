"""The closing table: what became of a run's trajectories, by application and in all, and what an accepted one cost.

Reads what is published, through the shipped views; writes nothing.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from rich.box import SIMPLE_HEAD
from rich.table import Table

from pipeline.query import query
from pipeline.storage import Address

_SQL = """
SELECT app_id, trajectories, complete, partial, infeasible, fail, undecided, unscored, unjudged, faults,
       accepted, accepted_refusals, seconds, cost_usd
FROM yield_by_app LEFT JOIN cost_per_accepted USING (app_id, accepted) ORDER BY app_id
"""


_COUNTS = (
    "trajectories",
    "complete",
    "partial",
    "infeasible",
    "fail",
    "undecided",
    "unscored",
    "unjudged",
    "faults",
    "accepted",
)
"""The counted columns of the closing table; `unjudged` only shows where something waits for its verdict."""


class Tally(NamedTuple):
    """Counts of one application, or of all. `unscored` leaves out faults; both stand in no denominator."""

    app_id: str
    trajectories: int
    complete: int
    partial: int
    infeasible: int
    fail: int
    undecided: int
    unscored: int
    unjudged: int
    faults: int
    accepted: int
    accepted_refusals: int
    seconds: float
    cost_usd: float

    @property
    def scored(self) -> int:
        """The denominator of the yield: graded or undecided."""
        return self.complete + self.partial + self.infeasible + self.fail + self.undecided


_SILENCES = """
SELECT judge, count(*) AS asked, count(*) FILTER (status = 'graded') AS graded,
       count(*) FILTER (status = 'abstain') AS abstained, count(*) FILTER (status = 'error') AS failed,
       mode(reason) FILTER (status <> 'graded') AS why
FROM votes WHERE judge_kind = 'model' GROUP BY judge ORDER BY judge
"""

_CHANGES = """
WITH newest AS (SELECT pass_id FROM passes ORDER BY judged_at DESC LIMIT 1)
SELECT target, coalesce(before.grade, before.status) AS was, coalesce(grade, status) AS becomes, count(*) AS n
FROM verdict_changes SEMI JOIN newest USING (pass_id) GROUP BY ALL ORDER BY target DESC, n DESC, was, becomes
"""


def tallies(folder: Address) -> list[Tally]:
    """One per application, then the total."""
    rows = [Tally(*_plain(row)) for row in zip(*query(_SQL, [folder]).to_pydict().values(), strict=True)]
    sums = [sum(column) for column in list(zip(*rows, strict=True))[1:]] if rows else [0] * 13
    return [*rows, Tally("total", *sums)]


def table_of(rows: list[Tally]) -> Table:
    """The table a run ends with."""
    table = Table(box=SIMPLE_HEAD, pad_edge=False, padding=0)
    table.add_column("app", no_wrap=True)
    waiting = any(row.unjudged for row in rows)
    counted = [name for name in _COUNTS if name != "unjudged" or waiting]
    for heading in (*counted, "yield", "s/accepted", "$/accepted"):
        table.add_column(heading, justify="right", overflow="fold")
    for row in rows:
        if row.app_id == "total" and len(rows) > 1:
            table.add_section()
        counts = [str(getattr(row, name)) for name in counted]
        share = f"{row.accepted / row.scored:.0%}" if row.scored else "-"
        costs = (_per(row.seconds, row.accepted, ".1f"), _per(row.cost_usd, row.accepted, ".3g"))
        table.add_row(row.app_id, *counts, share, *costs)
    return table


def _plain(row: tuple[Any, ...]) -> list[Any]:
    return [0 if cell is None else cell for cell in row]


def _per(amount: float, count: int, form: str) -> str:
    return format(amount / count, form) if count else "-"


def silences_of(address: Address) -> list[str]:
    """One line for each judge that is a model: how often it was asked, and how often it gave no grade and why."""
    rows = query(_SILENCES, [address]).to_pylist()
    return [
        f"judge {row['judge']}: asked {row['asked']}, graded {row['graded']}, abstained {row['abstained']},"
        f" failed {row['failed']}" + (f" (for example: {row['why'][:120]})" if row["why"] else "")
        for row in rows
    ]


def changes_of(address: Address) -> list[str]:
    """What the newest pass changed, one line for each kind of change, the most frequent first."""
    rows = query(_CHANGES, [address]).to_pylist()
    return [f"{row['target']}: {row['was']} -> {row['becomes']}: {row['n']}" for row in rows]
