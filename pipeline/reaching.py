"""Reaching the models of a run: one limiter for each address, and one probe of each model before any work begins.

What an endpoint cannot do is said here, in one line, not in the middle of the run. Knows nothing of what is asked.
"""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import MutableSequence
from typing import Any

from ray.exceptions import RayError, RayTaskError

from pipeline.clients import Access, place_of
from pipeline.clients import Place as ModelPlace
from pipeline.cluster import Place
from pipeline.config import BudgetConfig, RunConfig
from pipeline.errors import ModelError, RunError
from pipeline.llm import LocalLimiter, Spent, demand, probe
from pipeline.records import ModelCall
from pipeline.required import needs
from pipeline.supervision import actor

_AT_ONCE = 4000
"""Callers that may wait in one limiter."""


class LimiterActor:
    """The one limiter of an endpoint, in a process of its own.

    Callers name their leases, so that one who stops waiting can give back what may be granted to it only later.
    """

    def __init__(self, in_flight: int, lease_seconds: float, budget: BudgetConfig) -> None:
        self._limits = (in_flight, lease_seconds, budget)
        self._limiter: LocalLimiter | None = None
        self._held: dict[str, str] = {}
        self._given_up: set[str] = set()

    async def acquire(self, name: str) -> None:
        """Wait for a lease of this name; raises RunError when a budget is used up."""
        self._limiter = self._limiter or LocalLimiter(*self._limits)
        lease = await self._limiter.acquire()
        if name in self._given_up:
            self._given_up.remove(name)
            await self._limiter.release(lease, Spent())
        else:
            self._held[name] = lease

    async def release(self, name: str, spent: Spent) -> None:
        """Give a lease back, or the wait for it up."""
        lease = self._held.pop(name, None)
        if lease is None:
            self._given_up.add(name)
        elif self._limiter is not None:
            await self._limiter.release(lease, spent)


class RemoteLimiter:
    """An endpoint's limiter, wherever its actor is."""

    def __init__(self, actor: Any) -> None:
        self._actor = actor

    async def acquire(self) -> str:
        """A lease; raises RunError when a budget is used up, and ModelError when the limiter is gone."""
        lease = uuid.uuid4().hex
        try:
            await self._actor.acquire.remote(lease)
        except asyncio.CancelledError:
            await self.release(lease, Spent())
            raise
        except RayTaskError as error:
            if isinstance(error.cause, RunError):
                raise error.cause from None
            raise ModelError("limiter_broken", str(error.cause)) from error
        except RayError as error:
            raise ModelError("limiter_lost", str(error).splitlines()[0]) from error
        return lease

    async def release(self, lease: str, spent: Spent) -> None:
        """Give a lease back; nobody waits for it, and a limiter that is gone needs none."""
        self._actor.release.remote(lease, spent)


async def reach(config: RunConfig, ledger: MutableSequence[ModelCall], **options: Any) -> dict[ModelPlace, Access]:
    """How workers reach every model the run needs; `options` say where the limiters run.

    Raises ConfigError for what an endpoint cannot do, RunError when it does not work at all.
    """
    limiters: dict[str, RemoteLimiter] = {}
    found: dict[ModelPlace, Access] = {}
    for endpoint, images in needs(config):
        if endpoint.base_url not in limiters:
            made = actor(LimiterActor, Place(0, {}), max_concurrency=_AT_ONCE, **options)
            limiters[endpoint.base_url] = RemoteLimiter(
                made.remote(endpoint.in_flight, endpoint.lease_seconds, config.budget)
            )
        limiter = limiters[endpoint.base_url]
        abilities = await probe(endpoint, limiter, ledger, images)
        demand(endpoint, abilities, images)
        found[place_of(endpoint)] = Access(abilities, limiter)
    return found
