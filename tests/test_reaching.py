"""The limiter that all workers of an endpoint share, behind Ray."""

from __future__ import annotations

import asyncio

import pytest

from pipeline.cluster import Cluster, Place
from pipeline.config import BudgetConfig
from pipeline.errors import ModelError, RunError
from pipeline.llm import Spent
from pipeline.reaching import LimiterActor, RemoteLimiter
from pipeline.supervision import actor, dismiss

pytestmark = pytest.mark.timeout(300)  # the first of them starts Ray


def limiter(in_flight: int = 1, **budget: int) -> RemoteLimiter:
    made = actor(LimiterActor, Place(0, {}), max_concurrency=100)
    return RemoteLimiter(made.remote(in_flight, 600.0, BudgetConfig.model_validate(budget)))


async def test_a_lease_is_had_by_one_after_the_other(ray_here: Cluster) -> None:
    shared = limiter()
    first = await shared.acquire()
    waiting = asyncio.ensure_future(shared.acquire())

    await shared.release(first, Spent(calls=1))

    assert await waiting != first


async def test_who_stops_waiting_takes_no_lease_along(ray_here: Cluster) -> None:
    shared = limiter()
    first = await shared.acquire()
    gone = [asyncio.ensure_future(shared.acquire()) for _ in range(5)]
    await asyncio.sleep(0)
    for one in gone:
        one.cancel()
    await asyncio.gather(*gone, return_exceptions=True)

    await shared.release(first, Spent())

    async with asyncio.timeout(60):
        assert await shared.acquire()


async def test_a_budget_that_is_used_up_stops_the_run(ray_here: Cluster) -> None:
    shared = limiter(calls=1)
    await shared.release(await shared.acquire(), Spent(calls=1))

    with pytest.raises(RunError, match=r"budget\.calls"):
        await shared.acquire()


async def test_a_limiter_that_is_gone_is_a_fault_of_the_model(ray_here: Cluster) -> None:
    shared = limiter()
    await shared.acquire()
    dismiss(shared._actor)

    with pytest.raises(ModelError):
        await shared.acquire()
