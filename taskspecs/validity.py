"""Until when tasks are valid: the rows that say so, and what they say together.

Knows nothing of where the rows are kept.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime, timedelta

from pipeline.records import Validation
from taskspecs.selftest import Trial

VALID_DAYS = 30
"""How long a task that holds is taken for valid: applications, dates and pages change."""


def validation_of(trial: Trial, at: datetime, days: int) -> Validation | None:
    """The row of a trial; nothing when the world broke. A task that does not hold expires at once."""
    if trial.fault is not None:
        return None
    return Validation(
        task_id=trial.task_id,
        validated_at=at,
        held=trial.held,
        reason=trial.reason,
        expires_at=at + timedelta(days=days) if trial.held else at,
    )


def expired_tasks(rows: Iterable[Validation], at: datetime) -> frozenset[str]:
    """Tasks whose newest validation has run out by then; one that was never validated does not expire."""
    newest: dict[str, Validation] = {}
    for row in sorted(rows, key=lambda row: row.validated_at):
        newest[row.task_id] = row
    return frozenset(row.task_id for row in newest.values() if row.expires_at is not None and row.expires_at <= at)
