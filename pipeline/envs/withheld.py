"""An environment whose applications nobody can ask, as most sites and phone applications are.

What was withheld is as if it had never been read: contracts see addresses and trees only. Knows nothing of platforms.
"""

from __future__ import annotations

from collections.abc import Sequence

from pipeline.actions import Action, Pixel
from pipeline.protocols import ActResult, Environment, Observation, leading_in, patience_of
from pipeline.records import Event, ProbeRead
from pipeline.structs import EnvironmentInfo, LeadingTarget, TargetUnderPoint
from pipeline.tasks import Check, TaskSpec


class WithheldEnvironment(Environment):
    """Another environment, without its probes."""

    def __init__(self, environment: Environment) -> None:
        self._environment = environment

    @property
    def patience(self) -> float:
        """As the other's."""
        return patience_of(self._environment)

    async def start(self, task: TaskSpec) -> EnvironmentInfo:
        """As the other."""
        return await self._environment.start(task)

    async def observe(self) -> Observation:
        """As the other."""
        return await self._environment.observe()

    async def target(self, pixel: Pixel) -> TargetUnderPoint | None:
        """As the other."""
        return await self._environment.target(pixel)

    async def leading(self) -> LeadingTarget | None:
        """As the other."""
        return await leading_in(self._environment)

    async def act(self, action: Action, points: Sequence[Pixel]) -> ActResult:
        """As the other."""
        return await self._environment.act(action, points)

    async def probe(self, checks: Sequence[Check], observation_index: int) -> list[ProbeRead]:
        """Nothing is read."""
        del checks, observation_index
        return []

    def drain_events(self) -> list[Event]:
        """As the other."""
        return self._environment.drain_events()

    async def finish(self) -> None:
        """As the other."""
        await self._environment.finish()

    async def close(self) -> None:
        """As the other."""
        await self._environment.close()
