"""Until when tasks are valid: the rows that say so, and what they say together.

Knows nothing of where the rows are kept.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, date, datetime, time, timedelta

from pipeline.records import Validation
from taskspecs.selftest import Trial

VALID_DAYS = 30
"""How long a task that holds is taken for valid: applications, dates and pages change."""


def validation_of(trial: Trial, at: datetime, days: int, last_day: date | None = None) -> Validation | None:
    """The row of a trial; nothing when the world broke.

    A task that does not hold expires at once, one that names a day to come at the latest when that day is over.
    """
    if trial.fault is not None:
        return None
    until = at + timedelta(days=days)
    if last_day is not None:
        until = min(until, datetime.combine(last_day + timedelta(days=1), time(), tzinfo=UTC))
    return Validation(
        task_id=trial.task_id,
        validated_at=at,
        held=trial.held,
        reason=trial.reason,
        expires_at=until if trial.held else at,
    )


def expired_tasks(rows: Iterable[Validation], at: datetime) -> frozenset[str]:
    """Tasks whose newest validation has run out by then; one that was never validated does not expire."""
    newest: dict[str, Validation] = {}
    for row in sorted(rows, key=lambda row: row.validated_at):
        newest[row.task_id] = row
    return frozenset(row.task_id for row in newest.values() if row.expires_at is not None and row.expires_at <= at)
