"""What exists in the applications before a task begins, read from the running ones or from an environment.

Nothing is changed, so an answer holds until the end. Knows nothing of what is made of the answers.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping

from pipeline.app_entry import AppEntry
from pipeline.app_instance import Instance
from pipeline.apps import load_app
from pipeline.errors import EpisodeError, ProbeError
from pipeline.protocols import Environment, Facts
from pipeline.reaper import Scratch
from pipeline.structs import Param
from pipeline.tasks import Check, Start, TaskSpec, probe_call


class LiveFacts(Facts):
    """Reads of applications that run in a scratch folder, each started when it is first asked; `close` ends them.

    Pages are not opened: a probe that needs one cannot be read here.
    """

    def __init__(self, scratch: Scratch, entries: Mapping[str, AppEntry] | None = None) -> None:
        """Nothing is started yet; `entries` stand in the place of those that ship."""
        self._scratch = scratch
        self._entries = entries or {}
        self._running: dict[str, Instance] = {}
        self._failed: dict[str, EpisodeError] = {}
        self._known: dict[tuple[str, str], list[list[str]]] = {}
        self._starting = asyncio.Lock()

    async def read(self, app_id: str, probe: str, args: Mapping[str, str]) -> list[list[str]]:
        """The rows of a probe; an application that did not start is not started again."""
        key = (app_id, probe_call(probe, dict(args)))
        if key not in self._known:
            self._known[key] = await (await self._instance(app_id)).read(_question(probe, args))
        return self._known[key]

    async def close(self) -> None:
        """End what was started."""
        for instance in self._running.values():
            await instance.close()
        self._running.clear()

    async def _instance(self, app_id: str) -> Instance:
        async with self._starting:
            if app_id not in self._running:
                self._running[app_id] = await self._started(app_id)
        return self._running[app_id]

    async def _started(self, app_id: str) -> Instance:
        if app_id in self._failed:
            raise self._failed[app_id]
        instance = Instance(self._entries.get(app_id) or load_app(app_id), self._scratch)
        try:
            await instance.start()
        except EpisodeError as error:
            self._failed[app_id] = error
            raise
        return instance


class EnvironmentFacts(Facts):
    """Reads through an environment, opened at the application's start; whoever gave it closes it."""

    def __init__(self, environment: Environment, home: str = "/") -> None:
        """Nothing is opened yet."""
        self._environment = environment
        self._home = home
        self._open: str | None = None

    async def read(self, app_id: str, probe: str, args: Mapping[str, str]) -> list[list[str]]:
        """The rows of a probe, as the environment reads it."""
        if self._open != app_id:
            await self._environment.start(_visit(app_id, self._home))
            self._open = app_id
        question = _question(probe, args)
        reads = await self._environment.probe([question], 0)
        found = next((read for read in reads if read.probe == question.call), None)
        if found is None or found.value is None:
            raise ProbeError("unreadable", (found.error if found else None) or f"'{question.call}' was not read")
        return found.value


def _question(probe: str, args: Mapping[str, str]) -> Check:
    params = [Param(name=name, value=args[name]) for name in sorted(args)]
    return Check(name=probe, verifier="equals", probe=probe, args=params)


def _visit(app_id: str, home: str) -> TaskSpec:
    """A task that asks for nothing."""
    return TaskSpec(
        task_id="",
        app_ids=[app_id],
        platform="web",
        tier="single",
        instruction="",
        language="en",
        capability_ids=[],
        start=Start(app_id=app_id, path=home),
        contract_kind="state",
        segments=[],
        domain="Web",
    )
