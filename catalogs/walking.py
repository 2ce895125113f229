"""Walks through a running application: opens it, follows steps, goes back, and asks what has changed.

Steps are grounded by the same code as a recorded procedure is. Every call to the environment has a deadline. What is
worth trying is not decided here.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import NamedTuple

from catalogs.subject import Subject, visit
from pipeline.actions import Action, Launch, Pixel, Terminal, Wait
from pipeline.addresses import parts_of
from pipeline.errors import ActionError, EnvError, EpisodeError, SetupError, boundary
from pipeline.policies.script import Missing, Planned, Script, decision_of
from pipeline.protocols import Environment, Observation, Turn
from pipeline.records import Event
from pipeline.safety import sandbox_gate
from pipeline.tasks import CHANGES, ProcedureStep

_CALL_SECONDS = 30.0
_START_SECONDS = 120.0


class Stride(NamedTuple):
    """One action, and the looks before and after it."""

    before: Observation
    action: Action
    after: Observation


class Walked(NamedTuple):
    """What came of following some steps: the strides made, what stopped it, and what happened meanwhile."""

    strides: list[Stride]
    problem: str | None
    events: list[Event]


class Walker:
    """One visit after the other to one application."""

    def __init__(self, environment: Environment, subject: Subject) -> None:
        self._environment, self._subject = environment, subject
        self._gate = sandbox_gate()
        self._host = ""
        self._seen: Observation | None = None

    @property
    def seen(self) -> Observation:
        """The last look."""
        if self._seen is None:
            raise EnvError("not_started", "the application has not been opened")
        return self._seen

    async def restart(self) -> Observation:
        """Reset the application and open its home; raises SetupError."""
        async with _bounded(_START_SECONDS, SetupError, "start"):
            await self._environment.start(visit(self._subject))
        seen = await self._look()
        self._host = parts_of(seen.location).netloc
        return seen

    async def open(self, location: str) -> Observation:
        """Go to an address seen before; where that is refused, nothing is different."""
        try:
            await self._act(Launch(url=location), [])
        except ActionError:
            return self.seen
        return await self._look()

    async def follow(self, steps: Sequence[ProcedureStep]) -> Walked:
        """Carry out steps one after another, until something is missing or fails."""
        script = Script([Planned(step) for step in steps], self._subject.language, self._subject.platform)
        strides: list[Stride] = []
        problem: str | None = None
        self._environment.drain_events()
        while True:
            before = self.seen
            move = script.propose(Turn(len(strides), before, None, None))
            if isinstance(move, Missing) or isinstance(move.action, Terminal):
                problem = move.detail if isinstance(move, Missing) else None
                break
            script.take(move)
            try:
                await self._act(move.action, decision_of(move.action, "", before).device_points)
            except ActionError as error:
                problem = error.detail
                break
            after = await self._look()
            if not isinstance(move.action, Wait):
                strides.append(Stride(before, move.action, after))
        return Walked(strides, problem, self._environment.drain_events())

    async def changes(self) -> list[list[str]]:
        """Rows [key, added|removed|changed] since the restart; none when that cannot be read."""
        async with _bounded(_CALL_SECONDS, EnvError, "probe"):
            reads = await self._environment.probe([], 0)
        return [row for read in reads if read.probe == CHANGES for row in read.value or []]

    def is_inside(self, seen: Observation) -> bool:
        """Whether a look is at the application itself, not at another host or an error of the browser."""
        return parts_of(seen.location).netloc == self._host

    async def leave(self) -> None:
        """End the visit."""
        async with _bounded(_CALL_SECONDS, EnvError, "finish"):
            await self._environment.finish()

    async def _act(self, action: Action, points: Sequence[Pixel]) -> None:
        async with _bounded(_CALL_SECONDS, EnvError, "target"):
            target = await self._environment.target(points[0]) if points else None
        ruling = self._gate.rule(visit(self._subject), self.seen, action, target)
        if ruling.decision != "allow":
            raise ActionError("blocked_by_gate", ruling.reason)
        async with _bounded(_CALL_SECONDS, EnvError, "act"):
            await self._environment.act(action, points)

    async def _look(self) -> Observation:
        async with _bounded(_CALL_SECONDS, EnvError, "observe"):
            self._seen = await self._environment.observe()
        return self._seen


@asynccontextmanager
async def _bounded(seconds: float, error: type[EpisodeError], what: str) -> AsyncIterator[None]:
    try:
        async with asyncio.timeout(seconds):
            with boundary(error, f"{what}_failed"):
                yield
    except TimeoutError as late:
        raise error(f"{what}_timeout", f"{what} took longer than {seconds:g} s") from late
