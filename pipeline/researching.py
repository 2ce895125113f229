"""The actor that reads what an application can do off its documents, with a model or without.

A plain class that works without Ray as well. What becomes of the catalog is not known here.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from catalogs.documents import read_sources
from catalogs.research import Built, build
from catalogs.sources import Absent, Source
from pipeline.clients import Access, Clients, Place, endpoint_of
from pipeline.config import RunConfig
from pipeline.records import ModelCall


class Research(NamedTuple):
    """What came of one application's sources: documents by language, what is not on the machine, and the catalog."""

    app_id: str
    documents: Mapping[str, int]
    absent: tuple[Absent, ...]
    built: Built
    calls: list[ModelCall]


class ResearchWorker:
    """Builds catalogs, one application at a time; a configured `model` reads the documents too."""

    def __init__(self, config: RunConfig, access: Mapping[Place, Access] | None = None) -> None:
        self._config, self._access = config, access or {}
        self._heard: list[str] = []

    async def ready(self) -> str:
        """The name of this machine."""
        return os.uname().nodename

    async def beat(self) -> None:
        """Answer, to show that the process and its loop are alive."""

    async def heard(self) -> list[str]:
        """What has been read since the last call."""
        lines, self._heard = self._heard, []
        return lines

    async def build(self, sources: Sequence[Source], language: str | None, most: int | None) -> Research:
        """The catalog of one application from its sources; raises ConfigError or ModelError."""
        # In a thread with a loop of its own: reading takes the processor for long, and the heart must go on beating.
        return await asyncio.to_thread(asyncio.run, self._build(sources, language, most))

    async def close(self) -> None:
        """Nothing is left behind."""

    async def _build(self, sources: Sequence[Source], language: str | None, most: int | None) -> Research:
        reading = read_sources(sources, language, most=most, tell=self._heard.append)
        languages = [document.language for document in reading.documents]
        counts = {one: languages.count(one) for one in sorted(set(languages))}
        calls: list[ModelCall] = []
        clients = Clients(self._config.llm, self._access)
        model = self._config.model
        try:
            client = clients.client(endpoint_of("model", model)) if model.name is not None else None
            built = await build(sources, reading, client, calls)
        finally:
            await clients.close()
        return Research(sources[0].app_id, counts, reading.absent, built, calls)
