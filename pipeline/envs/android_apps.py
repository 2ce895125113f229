"""What an Android environment needs of an application, and pages of this machine that the phone opens.

`WrappedSite` is a web application that runs on this machine and shows in a package of the phone, a browser for example.
`PhoneApps` are the applications of one device: made when a task first needs them, kept until the device is given back.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Protocol

from pipeline.addresses import parts_of
from pipeline.app_entry import PhoneEntry
from pipeline.envs.adb_device import AdbDevice
from pipeline.envs.android_launch import Launcher, speak
from pipeline.envs.android_reinstall import clear, installed_files
from pipeline.envs.android_settings import KeptSettings
from pipeline.envs.web_sites import Site
from pipeline.errors import ActionError, EnvError, ProbeError, SetupError, boundary
from pipeline.records import ProbeRead
from pipeline.tasks import CHANGES, RESERVED_PROBES, Check, SetupOperation, TaskSpec


class HostError(SetupError):
    """What this machine or the task kept from being prepared: no device is to blame for it."""


class PhoneApp(Protocol):
    """An application of one device, that can be put back to its first state and asked about it."""

    title: str
    """What people call it."""
    package: str
    """The package that is in front when it shows."""

    @property
    def alive(self) -> bool:
        """Whether what it needs beside the device still runs."""
        ...

    async def start(self) -> None:
        """Make it ready, once; raises SetupError."""
        ...

    async def reset(self) -> None:
        """Put the state back and prove it; raises SetupError, or EnvError when the device does not answer."""
        ...

    async def apply(self, operations: Sequence[SetupOperation]) -> None:
        """Carry out a task's set-up; raises SetupError."""
        ...

    async def offer(self) -> None:
        """Let whoever opens it from the launcher find it; raises SetupError or ActionError."""
        ...

    async def open(self, path: str) -> None:
        """Bring it to the front at a path of its own; raises SetupError or ActionError."""
        ...

    async def read(self, check: Check) -> list[list[str]]:
        """What a check's probe answers; raises ProbeError."""
        ...

    async def mark(self) -> None:
        """Remember the state as the one the episode begins with; raises SetupError."""
        ...

    async def changes(self) -> list[list[str]]:
        """Rows [key, added|removed|changed] since the mark; raises ProbeError."""
        ...

    async def leave(self) -> None:
        """Undo what other applications of the device would notice; raises EnvError."""
        ...

    async def close(self) -> None:
        """Stop what was started for it."""
        ...


class WrappedSite(PhoneApp):
    """A site of this machine in a package of the phone, which reaches it under the same port."""

    def __init__(self, entry: PhoneEntry, site: Site, device: AdbDevice, *, only: bool = True) -> None:
        """`only`: the package shows nothing but this site, so that all it has stored is the site's."""
        self.title = entry.title
        self.package = entry.package
        self._locale = entry.locale
        self._only = only
        self._site = site
        self._device = device
        self._launcher = Launcher(device, {})

    @property
    def alive(self) -> bool:
        """Whether the site serves."""
        return self._site.alive

    async def start(self) -> None:
        """See that the package is there, and serve; raises SetupError."""
        if not await installed_files(self._device, self.package):
            raise SetupError("app_not_installed", f"{self._device.serial} has no package {self.package}")
        with _here():
            await self._site.start()

    async def reset(self) -> None:
        """Put the site's state back, and let the phone reach it where it is now; raises SetupError or EnvError.

        Its package is closed. One that shows nothing else forgets the site's cookies as well; a browser keeps them.
        """
        await speak(self._device, self._locale)
        await self._device.done("am", "force-stop", self.package)
        if self._only:
            await clear(self._device, self.package)
        with _here():
            await self._site.reset()
        port = parts_of(self._site.base_url).port
        if port is None:
            raise HostError("no_port", f"{self._site.base_url} names no port that the phone could reach")
        await self._device.reverse(port)

    async def apply(self, operations: Sequence[SetupOperation]) -> None:
        """As the site does."""
        with _here():
            await self._site.apply(operations)

    async def offer(self) -> None:
        """The package comes to know the address by opening it; then it is closed again."""
        await self.open("/")
        await self._device.done("am", "force-stop", self.package)

    async def open(self, path: str) -> None:
        """Open the page."""
        await self._launcher.view(self._site.base_url + path, self.package)

    async def read(self, check: Check) -> list[list[str]]:
        """As the site answers; scripts cannot be run in a page of the phone."""
        return await self._site.read(check)

    async def mark(self) -> None:
        """As the site does."""
        with _here():
            await asyncio.to_thread(self._site.mark)

    async def changes(self) -> list[list[str]]:
        """As the site tells."""
        return await asyncio.to_thread(self._site.changes)

    async def leave(self) -> None:
        """Other applications notice nothing of a site."""

    async def close(self) -> None:
        """Stop serving."""
        await self._site.close()


@contextmanager
def _here() -> Iterator[None]:
    """What fails in the block fails on this machine; raises HostError."""
    try:
        yield
    except SetupError as error:
        raise HostError(error.code, error.message) from error


Provide = Callable[[str, AdbDevice], PhoneApp]
"""Makes the application of an id for a device, not yet started; raises ConfigError for an unknown one."""


class PhoneApps:
    """The applications of one device, by id."""

    def __init__(self, provide: Provide, device: AdbDevice, kept: KeptSettings | None = None) -> None:
        """`kept` are the device's settings that no episode leaves changed."""
        self._provide = provide
        self._kept = kept or KeptSettings(device, {})
        self.device = device
        self._started: dict[str, PhoneApp] = {}
        self._episode: dict[str, PhoneApp] = {}
        self._home = ""

    async def prepare(self, task: TaskSpec) -> None:
        """Reset and set up the task's applications; raises SetupError."""
        await self._kept.keep()
        self._home, self._episode = task.start.app_id, {}
        for app_id in dict.fromkeys([task.start.app_id, *task.app_ids]):
            app = self._started.get(app_id)
            if app is None:
                app = self._provide(app_id, self.device)
                await app.start()
                self._started[app_id] = app
            await app.reset()
            await app.apply([operation for operation in task.setup if operation.app_id == app_id])
            self._episode[app_id] = app

    async def open(self, app_id: str, path: str) -> None:
        """Bring an application of the episode to the front, and let the others be found; raises SetupError."""
        shown = self._episode[app_id]
        for app in [*(app for app in self._episode.values() if app is not shown), shown]:
            try:
                await (app.open(path) if app is shown else app.offer())
            except ActionError as error:
                raise SetupError("app_not_opened", f"{app.title}: {error.detail}") from error

    @property
    def titles(self) -> dict[str, str]:
        """Packages of the episode by what people call them."""
        return {app.title: app.package for app in self._episode.values()}

    def check(self) -> None:
        """Raise EnvError when what an application needs has ended."""
        for app_id, app in self._episode.items():
            if not app.alive:
                raise EnvError("app_gone", f"{app_id} has ended")

    async def mark(self) -> None:
        """Remember the states the episode begins with; raises SetupError."""
        for app in self._episode.values():
            await app.mark()

    async def read(self, checks: Sequence[Check], index: int) -> list[ProbeRead]:
        """Each distinct question once, then the changes of every application; raises EnvError."""
        calls = {(check.app_id or self._home, check.call): check for check in checks}
        reads = [
            await self._ask(app_id, check, index)
            for (app_id, _), check in calls.items()
            if check.probe not in RESERVED_PROBES
        ]
        return [*reads, *[await self._changes(app_id, index) for app_id in self._episode]]

    async def leave(self) -> None:
        """Leave the device to other applications as the episode's found it; raises EnvError when one cannot be left."""
        trouble: EnvError | None = None
        for app in self._episode.values():
            try:
                await app.leave()
            except EnvError as error:
                trouble = trouble or error
        await self._kept.leave()
        if trouble is not None:
            raise trouble

    async def close(self) -> None:
        """Stop every application."""
        for app in self._started.values():
            await app.close()
        self._started, self._episode = {}, {}

    async def _ask(self, app_id: str, check: Check, index: int) -> ProbeRead:
        value, problem = None, None
        try:
            with boundary(ProbeError, "unreadable"):
                value = await self._episode[app_id].read(check)
        except ProbeError as error:
            problem = error.message
        return _read(app_id, check.call, index, value, problem)

    async def _changes(self, app_id: str, index: int) -> ProbeRead:
        value, problem = None, None
        try:
            with boundary(ProbeError, "unreadable"):
                value = await self._episode[app_id].changes()
        except ProbeError as error:
            problem = error.message
        return _read(app_id, CHANGES, index, value, problem)


def _read(app_id: str, probe: str, index: int, value: list[list[str]] | None, error: str | None) -> ProbeRead:
    return ProbeRead(attempt_id="", observation_index=index, app_id=app_id, probe=probe, value=value, error=error)
