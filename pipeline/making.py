"""The actor that drafts tasks: it starts the applications it is asked about and reads what exists in them.

A plain class that works without Ray as well. What becomes of the drafts is not known here.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Iterable

from pipeline.config import RunConfig
from pipeline.envs.fake import FakeEnvironment
from pipeline.errors import RunError
from pipeline.reaper import Scratch, sweep
from pipeline.tasks import Capability
from taskspecs.facts import EnvironmentFacts, LiveFacts
from taskspecs.generate import Ask, Drafts, generate


class DraftWorker:
    """Drafts tasks; the applications that were started for it stay up until `close`."""

    def __init__(self, name: str, config: RunConfig) -> None:
        self._name, self._config = name, config
        self._scratch: Scratch | None = None
        self._facts: LiveFacts | EnvironmentFacts | None = None

    async def ready(self) -> str:
        """Make the scratch folder; the name of this machine."""
        if self._config.provider == "fake":
            self._facts = EnvironmentFacts(FakeEnvironment())
        else:
            await asyncio.to_thread(sweep)
            self._scratch = await asyncio.to_thread(Scratch, self._name)
            self._facts = LiveFacts(self._scratch)
        return os.uname().nodename

    async def beat(self) -> None:
        """Answer, to show that the process and its loop are alive."""

    async def draft(self, ask: Ask, known: Iterable[Capability] = ()) -> Drafts:
        """Draft tasks from the templates of the applications; raises ConfigError, SetupError or ProbeError."""
        if self._facts is None:
            raise RunError(f"worker {self._name} was not made ready")
        return await generate(ask, self._facts, known={capability.capability_id: capability for capability in known})

    async def close(self) -> None:
        """Leave nothing behind."""
        if isinstance(self._facts, LiveFacts):
            await self._facts.close()
        if self._scratch is not None:
            await asyncio.to_thread(self._scratch.close)
