"""The verification side of a run: judges work through final attempts as they are published, batch by batch.

A judge that dies, or is late beyond all that its calls may take, is said so by name and replaced, and what it had not
judged is judged again; what a dead one had written never counted. What a verdict is, is not known here.
"""

from __future__ import annotations

import asyncio
from collections import Counter, deque
from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

from pipeline.cluster import Place
from pipeline.errors import EpisodeError, PathproofError, WorkerError
from pipeline.judging import longest
from pipeline.supervision import LOOK_SECONDS, PUBLISH_SECONDS, Agency, Employee, Halt, ask, stop_for, unless, watch
from pipeline.workers import Judgements, JudgeWorker, Post

_BATCH = 8
_MOST_STEPS = 1000
"""More than any trajectory has: a judge knows its own deadline better and keeps it; this one is for dead ones."""
_SPARE_SECONDS = 60.0


class Chamber(NamedTuple):
    """What a judge's seat needs to know of the run around it."""

    pass_id: str
    committer: Any
    agency: Agency
    place: Place
    halt: Halt
    post: Callable[[str], Post]
    judged: Callable[[Judgements], None]
    """Told of every batch once its rows count."""
    say: Callable[[str], None]
    """Told of every judge that failed."""


class Jury:
    """The attempts that wait for judgement, and the judges."""

    def __init__(self, chamber: Chamber) -> None:
        self._chamber = chamber
        self._waiting: deque[str] = deque()
        self._all_in = False
        self._in_hand = 0
        self._quiet = asyncio.Event()
        self._generation: Counter[int] = Counter()
        self._look_around()

    def add(self, attempt_ids: Iterable[str]) -> None:
        """These final attempts are published and wait."""
        self._waiting.extend(attempt_ids)
        self._look_around()

    def close(self) -> None:
        """No more will come."""
        self._all_in = True

    async def settled(self) -> None:
        """Wait until everything that was added is judged, or the run halts."""
        either = [asyncio.ensure_future(event.wait()) for event in (self._quiet, self._chamber.halt.called)]
        await asyncio.wait(either, return_when=asyncio.FIRST_COMPLETED)
        for waiting in either:
            waiting.cancel()

    async def sit(self, number: int) -> None:
        """One judge's seat: work until all are judged or the run halts; trouble that ends the run is called out."""
        employee: Employee | None = None
        try:
            while not self._chamber.halt.called.is_set() and (self._waiting or not self._all_in):
                if self._waiting:
                    employee = await self._judge(employee or await self._hire(number))
                else:
                    await asyncio.sleep(LOOK_SECONDS)
        except PathproofError as error:
            self._chamber.halt.call(stop_for(error))
        if employee is not None:
            await self._chamber.agency.retire(employee)

    def _look_around(self) -> None:
        if self._waiting or self._in_hand:
            self._quiet.clear()
        else:
            self._quiet.set()

    async def _hire(self, number: int) -> Employee | None:
        self._generation[number] += 1
        name = f"j{number}g{self._generation[number]}"
        chamber = self._chamber
        hiring = chamber.agency.hire(JudgeWorker, chamber.place, name, chamber.post(name), chamber.pass_id)
        try:
            return await unless(hiring, chamber.halt.called.is_set)
        except EpisodeError:
            return None

    async def _judge(self, employee: Employee | None) -> Employee | None:
        """Judge one batch; the judge, if it can go on."""
        if employee is None:
            return None
        batch = [self._waiting.popleft() for _ in range(min(_BATCH, len(self._waiting)))]
        worker, chamber = employee.worker, self._chamber
        left: Sequence[str] = batch
        self._in_hand += len(batch)
        try:
            done: Judgements = await watch(
                worker, worker.judge.remote(batch), self._limit(len(batch)), chamber.halt, worker.cancel.remote
            )
            if done.batch is not None:
                await ask(chamber.committer.publish.remote(done.batch), PUBLISH_SECONDS, "committer")
            left = done.left
            chamber.judged(done)
            if done.stop is not None:
                raise done.stop
        except WorkerError as error:
            chamber.agency.fire(employee, error)
            chamber.say(f"judge {employee.name} failed ({error.code}): {error.message}; {len(left)} to be judged again")
            return None
        finally:
            self._in_hand -= len(batch)
            self._waiting.extendleft(reversed(left))
            self._look_around()
        return employee

    def _limit(self, attempts: int) -> float:
        return longest(self._chamber.post("").config, [_MOST_STEPS] * attempts) + _SPARE_SECONDS
