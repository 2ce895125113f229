"""The one retry policy."""

from __future__ import annotations

import random
from datetime import UTC, datetime

import pytest

from pipeline.retry import RetryRules, TransientError, asked_wait, is_transient, retrying

NOON = datetime(2026, 11, 29, 12, 0, 0, tzinfo=UTC)


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({}, None),
        ({"retry-after": "7"}, 7.0),
        ({"retry-after": "0.5"}, 0.5),
        ({"retry-after": "-3"}, 0.0),
        ({"retry-after": "soon"}, None),
        ({"retry-after": "nan"}, None),
        ({"retry-after": "inf"}, None),
        ({"retry-after": "Sun, 29 Nov 2026 12:01:30 GMT"}, 90.0),
        ({"retry-after": "Sun, 29 Nov 2026 11:00:00 GMT"}, 0.0),
        ({"retry-after": "Sunday, 29-Nov-26 12:01:30 GMT"}, 90.0),
        ({"retry-after": "Sun, 29 Nov 2026 12:01:30 GMT", "date": "Sun, 29 Nov 2026 12:01:00 GMT"}, 30.0),
        ({"retry-after-ms": "250", "retry-after": "1"}, 0.25),
        ({"retry-after-ms": "x", "retry-after": "1"}, 1.0),
    ],
)
def test_the_wait_an_answer_asks_for(headers: dict[str, str], seconds: float | None) -> None:
    assert asked_wait(headers, NOON) == seconds


@pytest.mark.parametrize(("status", "passes"), [(408, True), (409, True), (429, True), (500, True), (400, False)])
def test_which_statuses_pass(status: int, passes: bool) -> None:
    assert is_transient(status) is passes


def test_own_waits_grow_up_to_their_cap_and_are_spread() -> None:
    rules = RetryRules(first_seconds=1.0, most_seconds=10.0)
    chance = random.Random(1)

    waits = [[rules.own_wait(failures, chance) for _ in range(50)] for failures in (1, 2, 3, 9)]

    for longest, found in zip((1.0, 2.0, 4.0, 10.0), waits, strict=True):
        assert longest / 2 <= min(found) < max(found) <= longest


async def test_it_waits_as_told_and_gives_up_after_its_tries() -> None:
    slept: list[float] = []

    async def sleep(seconds: float) -> None:
        slept.append(seconds)

    tries = 0
    with pytest.raises(TransientError, match="try 3"):
        async for attempt in retrying(RetryRules(tries=3), sleep):
            with attempt:
                tries += 1
                raise TransientError("busy", f"try {tries}", wait_seconds=float(tries))

    assert slept == [1.0, 2.0]


async def test_other_errors_are_not_tried_again() -> None:
    tries = 0
    with pytest.raises(ValueError, match="no"):
        async for attempt in retrying(RetryRules(tries=3)):
            with attempt:
                tries += 1
                raise ValueError("no")

    assert tries == 1
