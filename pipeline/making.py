"""The actor that drafts tasks: it starts the applications it is asked about and reads what exists in them.

Where the run has an acting model (`model.name`), that model writes the tasks that can be done.

A plain class that works without Ray as well. What becomes of the drafts is not known here.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Iterable, Mapping

from catalogs.library import library_for
from pipeline.clients import Access, Clients, Place, endpoint_of
from pipeline.config import RunConfig
from pipeline.envs.fake import FakeEnvironment
from pipeline.errors import RunError
from pipeline.reaper import Scratch, sweep
from pipeline.required import writes_tasks
from pipeline.tasks import Capability
from taskspecs.authors import Author, Written, past_tasks, write
from taskspecs.facts import EnvironmentFacts, LiveFacts
from taskspecs.generate import Ask


class DraftWorker:
    """Drafts tasks; the applications that were started for it stay up until `close`."""

    def __init__(self, name: str, config: RunConfig, access: Mapping[Place, Access] | None = None) -> None:
        self._name, self._config = name, config
        self._clients = Clients(config.llm, access or {})
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

    async def draft(self, ask: Ask, known: Iterable[Capability] = ()) -> Written:
        """Draft tasks for the applications; raises ConfigError, RunError, SetupError or ProbeError."""
        if self._facts is None:
            raise RunError(f"worker {self._name} was not made ready")
        author = await self._author(ask) if writes_tasks(self._config) else None
        return await write(ask, self._facts, author, {one.capability_id: one for one in known})

    async def _author(self, ask: Ask) -> Author:
        client = self._clients.client(endpoint_of("model", self._config.model))
        library = await asyncio.to_thread(library_for, ask.app_ids)
        return Author(client, library, past_tasks(ask.app_ids))

    async def close(self) -> None:
        """Leave nothing behind."""
        await self._clients.close()
        if isinstance(self._facts, LiveFacts):
            await self._facts.close()
        if self._scratch is not None:
            await asyncio.to_thread(self._scratch.close)
