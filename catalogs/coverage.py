"""How far trajectories cover what applications can do, and which capabilities the next round should draw.

What counts as accepted or failed is said by the view `coverage` alone; here its rows are completed by capabilities that
no dataset has met yet, weighed, drawn and summed up. Knows nothing of tasks, rounds or how anything is drawn on paper.
"""

from __future__ import annotations

import hashlib
from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime
from itertools import accumulate
from typing import Literal, NamedTuple

from pipeline.query import query
from pipeline.storage import Address
from pipeline.tasks import Capability
from pipeline.words import CapabilityStatus, Platform

State = Literal["accepted", "failed", "other", "untried"]
"""The best that is known of a capability: an accepted trajectory, else a failed one, else any, else none."""

TRUST: Mapping[CapabilityStatus, float] = {
    "confirmed": 1.0,
    "documented": 0.5,
    "flaky": 0.25,
    "unsupported": 0.0,
    "renamed": 0.0,
    "needs_login": 0.0,
    "outdated": 0.0,
}
"""How much a draw is worth by what is known of the capability; nothing until those that broke are explored again."""

_LEAST_HOLE = 1 / 20
_MOST_COVERED = 1 / 40
_MANY = 25

_COLUMNS = "capability_id, app_id, platform, status, tasks, accepted, failed, other, faults, last_seen"


class Covered(NamedTuple):
    """One capability: the tasks that use it, and what became of their trajectories; `faults` are among `other`."""

    capability_id: str
    app_id: str
    platform: Platform
    status: CapabilityStatus
    tasks: int = 0
    accepted: int = 0
    failed: int = 0
    other: int = 0
    faults: int = 0
    last_seen: datetime | None = None

    @property
    def state(self) -> State:
        """The best that is known of it."""
        if self.accepted:
            return "accepted"
        if self.failed:
            return "failed"
        return "other" if self.other else "untried"


class AppCoverage(NamedTuple):
    """The capabilities of an application by the best that is known of each."""

    app_id: str
    platform: Platform
    capabilities: int
    states: Counter[State]
    last_seen: datetime | None


def covered(folders: Sequence[Address], catalog: Iterable[Capability] = ()) -> list[Covered]:
    """Every capability that the datasets or the catalog know, by application and id; the datasets' word on one counts.

    Raises ConfigError when a folder is no dataset.
    """
    rows = query(f"SELECT {_COLUMNS} FROM coverage", folders).to_pylist() if folders else []
    found = {row.capability_id: row for row in (Covered(**plain) for plain in rows)}
    for known in catalog:
        found.setdefault(known.capability_id, untried(known))
    return sorted(found.values(), key=lambda row: (row.app_id, row.capability_id))


def untried(capability: Capability) -> Covered:
    """A capability that no task has used."""
    return Covered(
        capability_id=capability.capability_id,
        app_id=capability.app_id,
        platform=capability.platform,
        status=capability.status,
        last_seen=capability.updated_at,
    )


def weights(rows: Iterable[Covered]) -> dict[str, float]:
    """How much each capability is wanted in the next round: `trust(status) * need`, never negative.

    `trust` is 1 for confirmed, 1/2 for documented, 1/4 for flaky, and 0 for unsupported, renamed, needs_login and
    outdated, which are explored again first. `need` of a hole (no accepted trajectory) is `1 / (1 + failed) ** 2` and
    at least 1/20: 1 when it never failed, less the more often it did. `need` of what has been accepted is
    `1/40 * (1 - accepted / (accepted + failed + 1))`: the lower its yield and the fewer its trajectories, the more.
    So at equal status every hole comes before everything that is covered.
    """
    return {row.capability_id: TRUST[row.status] * _need(row) for row in rows}


def equal_weights(rows: Iterable[Covered]) -> dict[str, float]:
    """Every capability alike, whatever is known of it: what the weights are measured against."""
    return dict.fromkeys((row.capability_id for row in rows), 1.0)


SAMPLING: Mapping[str, Callable[[Iterable[Covered]], dict[str, float]]] = {"need": weights, "uniform": equal_weights}
"""The ways of weighing, by what `tasks.sampling` calls them."""


def drawn(weights: Mapping[str, float], count: int, seed: int) -> list[str]:
    """So many draws by weight, the same ones for the same seed however the weights are ordered.

    Each capability is drawn as often as its share of the weights says, rounded up or down: nobody has luck twice.
    """
    wanted = sorted((name for name, weight in weights.items() if weight > 0), key=lambda name: _chance(seed, name))
    if not wanted:
        return []
    ends = list(accumulate(weights[name] for name in wanted))
    marks = ((_chance(seed) + place) * ends[-1] / count for place in range(count))
    return [wanted[min(bisect_right(ends, mark), len(wanted) - 1)] for mark in marks]


def by_app(rows: Iterable[Covered]) -> list[AppCoverage]:
    """The rows summed up per application and platform, by application."""
    groups: dict[tuple[str, Platform], list[Covered]] = {}
    for row in rows:
        groups.setdefault((row.app_id, row.platform), []).append(row)
    return [
        AppCoverage(
            app_id,
            platform,
            len(group),
            Counter(row.state for row in group),
            max((row.last_seen for row in group if row.last_seen), default=None),
        )
        for (app_id, platform), group in sorted(groups.items())
    ]


def many_sided(rows: Iterable[Covered]) -> int:
    """How many applications have 25 capabilities or more."""
    return sum(count >= _MANY for count in Counter(row.app_id for row in rows).values())


def _need(row: Covered) -> float:
    if not row.accepted:
        return max(_LEAST_HOLE, 1 / (1 + row.failed) ** 2)
    return _MOST_COVERED * (1 - row.accepted / (row.accepted + row.failed + 1))


def _chance(seed: int, name: str = "") -> float:
    """A number from 0 to below 1, fixed by seed and name."""
    return int.from_bytes(hashlib.sha256(f"{seed}/{name}".encode()).digest()[:6]) / 2**48
