"""The limiter that all workers of an endpoint share."""

from __future__ import annotations

import asyncio

import pytest

from pipeline.config import BudgetConfig
from pipeline.errors import RunError
from pipeline.llm import Client, Limiter, LocalLimiter, Spent
from pipeline.records import ModelCall
from pipeline.scripted_endpoint import ScriptedReply
from tests.endpoints import QUICK, client_of, endpoint_of, says, serving, user

WORKERS = 8


class Clock:
    """Time that passes when told to."""

    def __init__(self) -> None:
        self.seconds = 100.0

    def __call__(self) -> float:
        return self.seconds


async def taken(limiter: Limiter) -> str | None:
    """A lease if one is to be had at once."""
    try:
        async with asyncio.timeout(0.05):
            return await limiter.acquire()
    except TimeoutError:
        return None


async def test_no_more_leases_than_slots_until_one_is_given_back() -> None:
    limiter: Limiter = LocalLimiter(2, 60.0)
    first = await limiter.acquire()
    await limiter.acquire()

    assert await taken(limiter) is None
    await limiter.release(first, Spent())
    assert await taken(limiter) is not None


async def test_a_waiting_holder_is_woken_by_a_release() -> None:
    limiter = LocalLimiter(1, 60.0)
    first = await limiter.acquire()
    waiting = asyncio.create_task(limiter.acquire())
    await asyncio.sleep(0)

    await limiter.release(first, Spent())

    async with asyncio.timeout(1.0):
        assert await waiting != first


async def test_a_holder_that_dies_loses_its_slot_in_time() -> None:
    clock = Clock()
    limiter = LocalLimiter(1, 60.0, clock=clock)
    await limiter.acquire()

    clock.seconds += 59.9
    before = await taken(limiter)
    clock.seconds += 0.2
    after = await taken(limiter)

    assert (before is None, after is None) == (True, False)


async def test_a_cancelled_wait_leaves_the_turn_to_others() -> None:
    limiter = LocalLimiter(1, 60.0)
    first = await limiter.acquire()
    assert await taken(limiter) is None

    await limiter.release(first, Spent())

    assert await taken(limiter) is not None


async def test_everybody_waits_while_the_endpoint_asked_to() -> None:
    clock = Clock()
    limiter = LocalLimiter(5, 60.0, clock=clock)
    await limiter.release(await limiter.acquire(), Spent(pause_seconds=30.0))
    await limiter.release("unknown", Spent(pause_seconds=10.0))

    clock.seconds += 29.9
    during = await taken(limiter)
    clock.seconds += 0.2
    after = await taken(limiter)

    assert (during is None, after is None) == (True, False)


async def test_parallel_calls_meet_their_budget_exactly() -> None:
    limiter = LocalLimiter(8, 60.0, BudgetConfig(calls=3))
    held = [await limiter.acquire() for _ in range(3)]

    assert await taken(limiter) is None
    await limiter.release(held[0], Spent(calls=0))
    again = await taken(limiter)
    assert again is not None
    for lease in (again, held[1], held[2]):
        await limiter.release(lease, Spent(calls=1))
    with pytest.raises(RunError, match=r"budget\.calls: 3 of 3"):
        await limiter.acquire()


async def test_an_expired_lease_counts_as_one_call_once() -> None:
    clock = Clock()
    limiter = LocalLimiter(1, 60.0, BudgetConfig(calls=2), clock)
    late = await limiter.acquire()
    clock.seconds += 61
    second = await limiter.acquire()
    await limiter.release(late, Spent(calls=1))
    assert await taken(limiter) is None

    await limiter.release(second, Spent(calls=1))

    with pytest.raises(RunError, match=r"budget\.calls"):
        await limiter.acquire()


async def test_dollars_stop_everybody() -> None:
    limiter = LocalLimiter(8, 60.0, BudgetConfig(usd=1.0))
    lease = await limiter.acquire()
    await limiter.release(lease, Spent(calls=1, cost_usd=1.25))

    with pytest.raises(RunError, match=r"budget\.usd: 1\.25 of 1\.00"):
        await limiter.acquire()


async def test_time_runs_out_even_while_waiting() -> None:
    limiter = LocalLimiter(1, 60.0, BudgetConfig(seconds=0.1))
    await limiter.acquire()

    async with asyncio.timeout(2.0):
        with pytest.raises(RunError, match=r"budget\.seconds"):
            await limiter.acquire()


async def test_a_run_of_calls_makes_no_more_requests_than_its_budget() -> None:
    limiter = LocalLimiter(WORKERS, 60.0, BudgetConfig(calls=10))
    with serving(says(times=None, delay_seconds=0.01)) as server:
        async with client_of(endpoint_of(server), limiter) as client:

            async def work() -> int:
                done = 0
                while True:
                    try:
                        await client.ask(user("hi"), stage="act", ledger=[])
                    except RunError:
                        return done
                    done += 1

            done = await asyncio.gather(*(work() for _ in range(WORKERS)))

    assert sum(done) == 10
    assert len(server.requests) == 10


@pytest.mark.parametrize(
    ("limited", "least"),
    [
        (says("slow down", status=429, retry_after_seconds=1), 1.0),
        (says("slow down", status=429, retry_after_seconds=1.0, retry_after_form="date"), 1.0),
        (says("slow down", status=429, retry_after_seconds=0.4, retry_after_form="milliseconds"), 0.4),
        (says("overloaded", status=503, retry_after_seconds=0.4), 0.4),
    ],
)
async def test_during_a_wait_no_request_of_eight_workers_arrives(limited: ScriptedReply, least: float) -> None:
    ledger: list[ModelCall] = []
    first = [says(times=20, delay_seconds=0.02), limited]
    with serving(*first, says(times=None, delay_seconds=0.02)) as server:
        endpoint = endpoint_of(server, in_flight=WORKERS)
        limiter = LocalLimiter(WORKERS, endpoint.lease_seconds)

        async def work() -> None:
            async with Client(endpoint, limiter, rules=QUICK) as client:
                for _ in range(6):
                    await client.ask(user("hi"), stage="act", ledger=ledger)

        await asyncio.gather(*(work() for _ in range(WORKERS)))

    told = next(request for request in server.requests if request.status != 200)
    early = [request for request in server.requests if told.at < request.at < told.at + least]
    assert len(early) < WORKERS, "only requests that were under way may arrive during the wait"
    assert len(server.requests) == WORKERS * 6 + 1
    assert sum(row.retries for row in ledger) == 1


async def test_without_a_header_everybody_backs_off_for_the_policys_own_wait() -> None:
    ledger: list[ModelCall] = []
    slow = QUICK.model_copy(update={"first_seconds": 0.8, "most_seconds": 0.8})
    with serving(says("slow down", status=429), says(times=None)) as server:
        endpoint = endpoint_of(server, in_flight=1)
        async with Client(endpoint, LocalLimiter(1, 60.0), rules=slow) as client:
            calls = [client.ask(user("hi"), stage="act", ledger=ledger) for _ in range(2)]
            await asyncio.gather(*calls)

    times = [request.at for request in server.requests]
    assert times[1] - times[0] >= 0.4
    assert sorted(row.retries for row in ledger) == [0, 1]
