"""Until when tasks are valid."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from pipeline.records import Validation
from pipeline.structs import Fault
from taskspecs.selftest import Trial
from taskspecs.validity import expired_tasks, validation_of

NOON = datetime(2026, 11, 30, 12, tzinfo=UTC)
DAY = timedelta(days=1)
HELD = Trial(task_id="t", held=True)
LOST = Trial(task_id="t", held=False, reason="oracle_fails", detail="no link")


def validated(task_id: str, at: datetime, expires: datetime | None) -> Validation:
    return Validation(task_id=task_id, validated_at=at, held=True, reason=None, expires_at=expires)


def test_a_task_that_holds_expires_after_its_days() -> None:
    row = validation_of(HELD, NOON, 7)

    assert row == Validation(task_id="t", validated_at=NOON, held=True, reason=None, expires_at=NOON + 7 * DAY)


def test_one_that_does_not_expires_at_once_with_the_reason() -> None:
    row = validation_of(LOST, NOON, 7)

    assert row == Validation(task_id="t", validated_at=NOON, held=False, reason="oracle_fails", expires_at=NOON)


def test_a_task_about_a_day_to_come_expires_when_that_day_is_over() -> None:
    soon = validation_of(HELD, NOON, 7, NOON.date() + DAY)
    late = validation_of(HELD, NOON, 7, NOON.date() + 30 * DAY)

    assert soon is not None and late is not None
    assert soon.expires_at == NOON.replace(hour=0) + 2 * DAY
    assert late.expires_at == NOON + 7 * DAY


def test_a_broken_world_says_nothing_of_a_task() -> None:
    fault = Fault(boundary="env", code="browser_gone", message="gone")

    assert validation_of(Trial(task_id="t", held=False, fault=fault), NOON, 7) is None


def test_the_newest_validation_counts_in_any_order() -> None:
    rows = [
        validated("renewed", NOON - 9 * DAY, NOON - 2 * DAY),
        validated("renewed", NOON - DAY, NOON + DAY),
        validated("withdrawn", NOON - DAY, NOON - DAY),
        validated("withdrawn", NOON - 9 * DAY, NOON + DAY),
        validated("for ever", NOON - DAY, None),
        validated("just now", NOON - DAY, NOON),
    ]

    assert expired_tasks(rows, NOON) == expired_tasks(reversed(rows), NOON) == {"withdrawn", "just now"}
    assert expired_tasks([], NOON) == frozenset()
