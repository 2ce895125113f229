"""Waiting for actors: dead, silent, slow and failing ones, and how many are started."""

from __future__ import annotations

import asyncio
import os
import signal
import time
from collections.abc import Iterator
from typing import Any

import pytest

from pipeline import supervision
from pipeline.cluster import Cluster, Place
from pipeline.errors import ConfigError, RunError, SetupError, SinkError, WorkerError
from pipeline.supervision import Agency, Halt, actor, ask, dismiss, stop_for, unless, watch

NOWHERE = Place(0, {})

pytestmark = pytest.mark.timeout(300)  # the first of them starts Ray


class Puppet:
    """An actor that does what it is told, also what it should not."""

    def __init__(self, start: str = "well") -> None:
        self._start = start
        self._stop = asyncio.Event()

    async def ready(self) -> str:
        if self._start == "badly":
            raise SetupError("no_guardian", "cannot start here")
        if self._start == "never":
            await asyncio.sleep(60)
        return "here"

    async def beat(self) -> None:
        pass

    async def close(self) -> None:
        pass

    async def pid(self) -> int:
        return os.getpid()

    async def answer(self) -> str:
        return "done"

    async def work(self) -> str:
        self._stop = asyncio.Event()
        await asyncio.wait_for(self._stop.wait(), 60)
        return "cancelled in order"

    async def cancel(self) -> None:
        self._stop.set()

    async def freeze(self) -> None:
        time.sleep(60)  # noqa: ASYNC251 - a frozen loop is the point

    async def fail(self, kind: str) -> None:
        if kind == "ours":
            raise SinkError("disk_full", "no space left")
        raise ZeroDivisionError("a bug")


@pytest.fixture(scope="module")
def puppet(ray_here: Cluster) -> Iterator[Any]:
    """One that the tests leave alive."""
    made = actor(Puppet, NOWHERE).remote()
    yield made
    dismiss(made)


@pytest.fixture
def victim(ray_here: Cluster) -> Iterator[Any]:
    """One that does not survive the test."""
    made = actor(Puppet, NOWHERE).remote()
    yield made
    dismiss(made)


async def test_an_answer_comes_back(puppet: Any) -> None:
    assert await ask(puppet.answer.remote(), 60, "answer") == "done"


async def test_our_own_errors_come_back_as_they_were_raised(puppet: Any) -> None:
    with pytest.raises(SinkError) as caught:
        await ask(puppet.fail.remote("ours"), 30, "fail")

    assert (caught.value.code, caught.value.message) == ("disk_full", "no space left")


async def test_a_bug_in_a_worker_is_a_worker_error(puppet: Any) -> None:
    with pytest.raises(WorkerError, match="ZeroDivisionError: a bug") as caught:
        await ask(puppet.fail.remote("bug"), 30, "fail")

    assert caught.value.code == "broken"


async def test_no_answer_in_time_is_a_worker_error(puppet: Any) -> None:
    with pytest.raises(WorkerError) as caught:
        await ask(puppet.work.remote(), 0.2, "work")

    assert caught.value.code == "no_answer"


async def test_a_killed_worker_is_lost(victim: Any) -> None:
    pid = await ask(victim.pid.remote(), 60, "pid")
    answer = victim.work.remote()
    os.kill(pid, signal.SIGKILL)

    with pytest.raises(WorkerError) as caught:
        await ask(answer, 30, "work")

    assert caught.value.code == "lost"


async def test_a_frozen_worker_is_noticed_by_its_heart(victim: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(supervision, "BEAT_SECONDS", 0.1)
    monkeypatch.setattr(supervision, "SILENCE_SECONDS", 0.5)
    await ask(victim.answer.remote(), 60, "answer")
    begun = time.monotonic()

    with pytest.raises(WorkerError, match="heartbeat: no answer"):
        await watch(victim, victim.freeze.remote(), 60, Halt(), victim.cancel.remote)

    assert time.monotonic() - begun < 10


async def test_a_halt_cancels_and_still_takes_the_answer(puppet: Any) -> None:
    halt = Halt()
    watching = asyncio.create_task(watch(puppet, puppet.work.remote(), 60, halt, puppet.cancel.remote))
    halt.call(RunError("interrupted"))

    assert await watching == "cancelled in order"


async def test_a_halt_does_not_wait_for_a_worker_that_ignores_it(puppet: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(supervision, "CANCEL_SECONDS", 0.5)
    halt = Halt()
    halt.call(RunError("interrupted"))

    with pytest.raises(WorkerError, match="cancelled attempt"):
        await watch(puppet, puppet.work.remote(), 60, halt, puppet.answer.remote)


def test_the_first_reason_to_halt_stands() -> None:
    halt = Halt()

    halt.call(RunError("first"))
    halt.call(RunError("second"))

    assert str(halt.reason) == "first"


async def test_a_worker_that_cannot_start_says_why_until_starts_run_out(ray_here: Cluster) -> None:
    agency = Agency(starts=1, start_seconds=60)

    with pytest.raises(SetupError, match="cannot start here"):
        await agency.hire(Puppet, NOWHERE, "w0", "badly")
    with pytest.raises(RunError, match="workers keep dying, the last one: cannot start here"):
        await agency.hire(Puppet, NOWHERE, "w0", "well")


async def test_a_place_that_no_node_offers_is_named(ray_here: Cluster) -> None:
    agency = Agency(starts=2, start_seconds=0.3)

    with pytest.raises(RunError, match="no node of the cluster offers 1 phone"):
        await agency.hire(Puppet, Place(0, {"phone": 1}), "w0")


async def test_a_start_has_a_deadline(ray_here: Cluster) -> None:
    agency = Agency(starts=1, start_seconds=0.5)

    with pytest.raises(WorkerError, match="w0 starting: no answer"):
        await agency.hire(Puppet, NOWHERE, "w0", "never")


async def test_work_that_is_not_worth_it_any_more_is_given_up(puppet: Any) -> None:
    never = ask(puppet.work.remote(), 60, "work")
    soon = ask(puppet.answer.remote(), 60, "answer")

    assert await unless(never, lambda: True) is None
    assert await unless(soon, lambda: False) == "done"


async def test_a_retired_worker_is_gone(ray_here: Cluster) -> None:
    agency = Agency(starts=1, start_seconds=60)
    employee = await agency.hire(Puppet, NOWHERE, "w0")

    await agency.retire(employee)

    with pytest.raises(WorkerError):
        await ask(employee.worker.answer.remote(), 30, "answer")


def test_what_ends_a_run_says_what_to_do() -> None:
    assert "free space" in str(stop_for(SinkError("disk_full", "no space left on device")))
    assert str(stop_for(WorkerError("lost", "committer: died"))) == "worker/lost: committer: died"
    given = ConfigError("seed: wrong")
    assert stop_for(given) is given
