"""How fast and how much an endpoint may be asked, by everybody together.

A limiter grants a lease per request: at most so many at once, none while the endpoint asked to wait, none beyond the
budget. `LocalLimiter` is a plain class on one event loop; to share it between processes, put it behind anything that
calls its two methods. A lease that is never given back expires. This module knows nothing of requests.
"""

from __future__ import annotations

import asyncio
import time
import uuid
from collections.abc import Callable
from contextlib import suppress
from typing import NamedTuple, Protocol

from pipeline.budget import exhausted
from pipeline.config import BudgetConfig
from pipeline.errors import RunError
from pipeline.structs import Usage


class Spent(NamedTuple):
    """What became of a leased request: finished calls (none when it will be tried again), their cost, and for how long
    the endpoint asked everybody to wait."""

    calls: int = 0
    cost_usd: float = 0.0
    pause_seconds: float = 0.0


class Limiter(Protocol):
    """Stands before every request to an endpoint."""

    async def acquire(self) -> str:
        """Wait for a turn and take a lease; raises RunError when a budget is used up."""
        ...

    async def release(self, lease: str, spent: Spent) -> None:
        """Give a lease back."""
        ...


class LocalLimiter:
    """The limiter itself; turns are taken in order of asking.

    A call in flight is reserved in `budget.calls`, so that it is met exactly. `budget.usd` may be exceeded by what the
    calls in flight cost, and `budget.seconds` counts from the limiter's making.
    """

    def __init__(
        self,
        in_flight: int,
        lease_seconds: float,
        budget: BudgetConfig | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._most = in_flight
        self._lease_seconds = lease_seconds
        self._budget = budget or BudgetConfig()
        self._clock = clock
        self._started = clock()
        self._leases: dict[str, float] = {}
        self._resume_at = 0.0
        self._usage = Usage()
        self._turn = asyncio.Lock()
        self._changed = asyncio.Event()

    async def acquire(self) -> str:
        """Wait for a turn and take a lease; raises RunError when a budget is used up."""
        async with self._turn:
            while (wait := self._wait()) > 0:
                self._changed.clear()
                with suppress(TimeoutError):
                    async with asyncio.timeout(wait):
                        await self._changed.wait()
            lease = uuid.uuid4().hex
            self._leases[lease] = self._clock() + self._lease_seconds
            return lease

    async def release(self, lease: str, spent: Spent) -> None:
        """Give a lease back; of one that has expired only the cost is new."""
        calls = spent.calls if self._leases.pop(lease, None) is not None else 0
        self._usage += Usage(calls=calls, cost_usd=spent.cost_usd)
        if spent.pause_seconds > 0:
            self._resume_at = max(self._resume_at, self._clock() + spent.pause_seconds)
        self._changed.set()

    def _wait(self) -> float:
        """Seconds until something may have changed; zero when a lease is to be had; raises RunError."""
        now = self._clock()
        self._expire(now)
        spent_seconds = now - self._started
        if reason := exhausted(self._budget, self._usage, spent_seconds):
            raise RunError(reason)
        wait = self._resume_at - now
        if self._full():
            wait = max(wait, min(self._leases.values()) - now)
        if wait > 0 and self._budget.seconds is not None:
            wait = min(wait, self._budget.seconds - spent_seconds)
        return wait

    def _full(self) -> bool:
        reserved = self._usage.calls + len(self._leases)
        return len(self._leases) >= self._most or (self._budget.calls is not None and reserved >= self._budget.calls)

    def _expire(self, now: float) -> None:
        """A holder that never came back may have made its call: it counts."""
        for lease in [lease for lease, until in self._leases.items() if until <= now]:
            del self._leases[lease]
            self._usage += Usage(calls=1)
