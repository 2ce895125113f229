"""One self-contained HTML page about coverage: a square for every capability, by application and platform.

Figures come from `catalogs.coverage`; this module only decides how they look, and knows nothing of how they were made.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from itertools import groupby
from typing import NamedTuple

from catalogs.coverage import AppCoverage, Covered, State, by_app
from pipeline.page_templates import page_template
from pipeline.words import CapabilityStatus

STATES: dict[State, str] = {
    "accepted": "accepted",
    "failed": "tried, only failed",
    "other": "tried, not decided",
    "untried": "untried",
}
"""Every state with its words in the legend, the best first."""

MARKS: dict[CapabilityStatus, str] = {
    "unsupported": "U",
    "renamed": "R",
    "needs_login": "L",
    "flaky": "F",
    "outdated": "O",
}
"""The letter in a square whose capability is not as its catalog says."""


class Cell(NamedTuple):
    """One capability: what its square shows, and what it says when pointed at."""

    state: State
    mark: str
    strength: float
    told: str


class Row(NamedTuple):
    """One capability in the table of its application, as text."""

    name: str
    state: State
    status: str
    tasks: int
    accepted: int
    failed: int
    other: int
    seen: str


class Panel(NamedTuple):
    """One application on one platform: its squares in groups, its bar, its table."""

    app: AppCoverage
    groups: list[list[Cell]]
    rows: list[Row]
    seen: str
    share: str


def coverage_page(rows: Sequence[Covered], source: str) -> str:
    """The page; `source` says where the figures come from."""
    covered = sum(row.state == "accepted" for row in rows)
    counts = {state: sum(row.state == state for row in rows) for state in STATES}
    return page_template("coverage.html.j2").render(
        source=source,
        total=len(rows),
        covered=covered,
        share=f"{covered / len(rows):.0%}" if rows else "–",
        apps=len({row.app_id for row in rows}),
        broken=sum(row.status in MARKS for row in rows),
        legend=[(state, label, counts[state]) for state, label in STATES.items()],
        marks=[(mark, status) for status, mark in MARKS.items() if any(row.status == status for row in rows)],
        panels=_panels(rows),
    )


def _panels(rows: Sequence[Covered]) -> list[Panel]:
    panels = []
    for app in by_app(rows):
        own = [row for row in rows if (row.app_id, row.platform) == (app.app_id, app.platform)]
        own.sort(key=lambda row: row.capability_id)
        groups = [[_cell(row) for row in group] for _, group in groupby(own, _group)]
        share = f"{app.states['accepted']} of {app.capabilities}"
        panels.append(Panel(app, groups, [_row(row) for row in own], _day(app.last_seen), share))
    return panels


def _cell(row: Covered) -> Cell:
    """The fuller the square of what is covered, the more of its trajectories are accepted."""
    decided = row.accepted + row.failed
    strength = 0.45 + 0.55 * row.accepted / decided if row.accepted else 1.0
    told = (
        f"{row.capability_id} · {row.status} · {row.accepted} accepted, {row.failed} failed, {row.other} other"
        f" · last seen {_day(row.last_seen)}"
    )
    return Cell(row.state, MARKS.get(row.status, ""), round(strength, 2), told)


def _row(row: Covered) -> Row:
    return Row(
        row.capability_id,
        row.state,
        row.status,
        row.tasks,
        row.accepted,
        row.failed,
        row.other,
        _day(row.last_seen),
    )


def _group(row: Covered) -> str:
    """What comes between the application and the last word of an id."""
    return row.capability_id.rpartition(".")[0]


def _day(moment: datetime | None) -> str:
    return f"{moment:%Y-%m-%d}" if moment else "never"
