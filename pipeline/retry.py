"""The one retry policy: what is tried again, how long to wait before it, and when to give up.

Whoever makes a call says that a failure will pass by raising `TransientError` with the wait; nothing else is tried
again, and no client below retries by itself. This module knows nothing of models or browsers.
"""

from __future__ import annotations

import asyncio
import math
import random
from collections.abc import Awaitable, Callable, Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

from pydantic import Field
from tenacity import AsyncRetrying, RetryCallState, retry_if_exception_type, stop_after_attempt

from pipeline.actions import Model
from pipeline.errors import PathproofError

RETRIED_STATUSES = frozenset({408, 409, 429})
"""Besides every status from 500 on."""


class TransientError(PathproofError):
    """A failure that passes: `wait_seconds` from now the same call may succeed."""

    def __init__(self, code: str, message: str, wait_seconds: float) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.wait_seconds = wait_seconds


class RetryRules(Model):
    """How patient: number of tries, and the waits of its own where the other side names none."""

    tries: int = Field(default=8, ge=1)
    first_seconds: float = Field(default=1.0, ge=0)
    most_seconds: float = Field(default=60.0, ge=0)

    def own_wait(self, failures: int, chance: random.Random) -> float:
        """Seconds to wait after so many failures: doubled each time, capped, and spread over the upper half."""
        longest = min(self.most_seconds, self.first_seconds * 2.0 ** (failures - 1))
        return longest * chance.uniform(0.5, 1.0)


def retrying(rules: RetryRules, sleep: Callable[[float], Awaitable[None]] = asyncio.sleep) -> AsyncRetrying:
    """The policy as an iterator of tries; the last TransientError escapes when they are used up."""
    return AsyncRetrying(
        retry=retry_if_exception_type(TransientError),
        stop=stop_after_attempt(rules.tries),
        wait=_wait,
        sleep=sleep,
        reraise=True,
    )


def is_transient(status: int) -> bool:
    """Whether an HTTP status says that the same request may succeed later."""
    return status in RETRIED_STATUSES or status >= 500


def asked_wait(headers: Mapping[str, str], now: datetime) -> float | None:
    """Seconds an answer asks to wait: `retry-after-ms`, or `Retry-After` in seconds or as a date; null if it does not.

    A date is compared with the answer's own `Date`, so that clocks need not agree. `headers` has lower-case names.
    """
    milliseconds = _number(headers.get("retry-after-ms", ""))
    if milliseconds is not None:
        return milliseconds / 1000.0
    text = headers.get("retry-after", "")
    seconds = _number(text)
    if seconds is not None:
        return seconds
    until = _date(text)
    if until is None:
        return None
    return max(0.0, (until - (_date(headers.get("date", "")) or now)).total_seconds())


def _wait(state: RetryCallState) -> float:
    error = state.outcome.exception() if state.outcome else None
    return error.wait_seconds if isinstance(error, TransientError) else 0.0


def _number(text: str) -> float | None:
    try:
        number = float(text)
    except ValueError:
        return None
    return max(0.0, number) if math.isfinite(number) else None


def _date(text: str) -> datetime | None:
    try:
        moment = parsedate_to_datetime(text)
    except ValueError:
        return None
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)
