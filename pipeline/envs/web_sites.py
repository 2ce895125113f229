"""What a web environment needs of an application, and the plain pages that need nothing.

`pipeline.apps.Instance` is a `Site`; so is `StaticSite`, for pages that somebody else serves. `Sites` starts each
application when a task first needs it and keeps it for the environment's life.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import Protocol

from pipeline.errors import EnvError, ProbeError, boundary
from pipeline.records import ProbeRead
from pipeline.tasks import CHANGES, RESERVED_PROBES, Check, SetupOperation, TaskSpec

PageEval = Callable[[str], Awaitable[object]]
"""Evaluates a script in the open page."""


class Site(Protocol):
    """Something served over HTTP that can be put back to its first state and asked about it."""

    @property
    def base_url(self) -> str:
        """Where it is; a reset may change its port."""
        ...

    @property
    def alive(self) -> bool:
        """Whether it still serves."""
        ...

    async def start(self) -> None:
        """Serve; raises SetupError."""
        ...

    async def reset(self) -> None:
        """Put the state back; raises SetupError."""
        ...

    async def apply(self, operations: Sequence[SetupOperation]) -> None:
        """Carry out a task's set-up; raises SetupError."""
        ...

    async def read(self, check: Check, page_eval: PageEval | None = None) -> list[list[str]]:
        """What a check's probe answers; raises ProbeError."""
        ...

    def mark(self) -> None:
        """Remember the state as the one the episode begins with."""
        ...

    def changes(self) -> list[list[str]]:
        """Rows [key, added|removed|changed] since the mark; raises ProbeError."""
        ...

    async def close(self) -> None:
        """Stop, and remove its data."""
        ...


class StaticSite:
    """Pages without a state of their own, served by somebody else."""

    def __init__(self, base_url: str) -> None:
        self.base_url = base_url
        self.alive = True

    async def start(self) -> None:
        """Nothing is started."""

    async def reset(self) -> None:
        """There is no state."""

    async def apply(self, operations: Sequence[SetupOperation]) -> None:
        """There is no state to set up."""

    async def read(self, check: Check, page_eval: PageEval | None = None) -> list[list[str]]:
        """No probes."""
        del page_eval
        raise ProbeError("unknown_probe", f"plain pages have no probe '{check.probe}'")

    def mark(self) -> None:
        """There is no state."""

    def changes(self) -> list[list[str]]:
        """Nothing changes."""
        return []

    async def close(self) -> None:
        """Nothing was started."""


class Sites:
    """The applications of one worker, by id."""

    def __init__(self, provide: Callable[[str], Site]) -> None:
        """`provide` makes the site of an application id, not yet started; it raises ConfigError for an unknown one."""
        self._provide = provide
        self._started: dict[str, Site] = {}
        self._episode: dict[str, Site] = {}
        self._home = ""

    async def prepare(self, task: TaskSpec) -> None:
        """Reset and set up the task's applications; raises SetupError."""
        self._home = task.start.app_id
        self._episode = {}
        for app_id in dict.fromkeys([task.start.app_id, *task.app_ids]):
            site = self._started.get(app_id)
            if site is None:
                site = self._provide(app_id)
                await site.start()
                self._started[app_id] = site
            await site.reset()
            await site.apply([operation for operation in task.setup if operation.app_id == app_id])
            self._episode[app_id] = site

    def url(self, app_id: str, path: str) -> str:
        """The full address of an application's path."""
        return self._episode[app_id].base_url + path

    def app_at(self, url: str) -> str | None:
        """The application of the episode that serves an address."""
        served = ((app_id, site.base_url.rstrip("/")) for app_id, site in self._episode.items())
        return next((app_id for app_id, base in served if url == base or url.startswith(f"{base}/")), None)

    def addresses(self) -> list[str]:
        """`host:port` of every application of the episode."""
        return [site.base_url.partition("://")[2].rstrip("/") for site in self._episode.values()]

    def check(self) -> None:
        """Raise EnvError when an application of the episode has ended: what follows would be the world's fault."""
        for app_id, site in self._episode.items():
            if not site.alive:
                raise EnvError("app_gone", f"{app_id} has ended")

    async def mark(self) -> None:
        """Remember the states the episode begins with; raises SetupError."""
        for site in self._episode.values():
            await asyncio.to_thread(site.mark)

    async def read(self, checks: Sequence[Check], index: int, page_eval: PageEval | None) -> list[ProbeRead]:
        """Each distinct question once, then the changes of every application."""
        calls = {(check.app_id or self._home, check.call): check for check in checks}
        reads = [
            await self._ask(app_id, check, index, page_eval)
            for (app_id, _), check in calls.items()
            if check.probe not in RESERVED_PROBES
        ]
        return [*reads, *[await self._changes(app_id, index) for app_id in self._episode]]

    async def close(self) -> None:
        """Stop every application."""
        for site in self._started.values():
            await site.close()
        self._started, self._episode = {}, {}

    async def _ask(self, app_id: str, check: Check, index: int, page_eval: PageEval | None) -> ProbeRead:
        try:
            with boundary(ProbeError, "unreadable"):
                value = await self._episode[app_id].read(check, page_eval)
        except ProbeError as error:
            return _read(app_id, check.call, index, None, error.message)
        return _read(app_id, check.call, index, value, None)

    async def _changes(self, app_id: str, index: int) -> ProbeRead:
        try:
            with boundary(ProbeError, "unreadable"):
                rows = await asyncio.to_thread(self._episode[app_id].changes)
        except ProbeError as error:
            return _read(app_id, CHANGES, index, None, error.message)
        return _read(app_id, CHANGES, index, rows, None)


def _read(app_id: str, probe: str, index: int, value: list[list[str]] | None, error: str | None) -> ProbeRead:
    return ProbeRead(attempt_id="", observation_index=index, app_id=app_id, probe=probe, value=value, error=error)
