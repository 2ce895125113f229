"""Applications on the device: put back by clearing or installing them, asked through content providers and settings.

A reset is proved: the state must be what it was when the application was first made ready. What stands in the entry is
all that is known of an application here.
"""

from __future__ import annotations

from collections.abc import Sequence
from fnmatch import fnmatchcase

from pipeline.app_entry import PhoneEntry
from pipeline.app_state import difference
from pipeline.entry_state import SettingState
from pipeline.envs.adb_device import AdbDevice
from pipeline.envs.android_apps import HostError, PhoneApp
from pipeline.envs.android_launch import Launcher, speak
from pipeline.envs.android_reinstall import clear, installed_files, reinstall
from pipeline.envs.phone_data import phone_state, read_phone
from pipeline.errors import EnvError, ProbeError, SetupError, boundary
from pipeline.tasks import Check, SetupOperation


class InstalledApp(PhoneApp):
    """One application of one device."""

    def __init__(self, entry: PhoneEntry, device: AdbDevice) -> None:
        """Nothing is asked yet."""
        self.title = entry.title
        self.package = entry.package
        self._entry = entry
        self._device = device
        self._launcher = Launcher(device, {})
        self._pristine: dict[str, str] = {}
        self._marked: dict[str, str] = {}

    @property
    def alive(self) -> bool:
        """It needs nothing beside the device."""
        return True

    async def start(self) -> None:
        """See that it is there, remove what an earlier run has left, and remember the state; raises SetupError."""
        if self._entry.apk is None and not await installed_files(self._device, self.package):
            raise SetupError("app_not_installed", f"{self._device.serial} has no package {self.package}")
        with boundary(SetupError, "app_not_ready"):
            await speak(self._device, self._entry.locale)
        await self._renew()
        with boundary(SetupError, "app_not_ready"):
            self._pristine = await self._state()

    async def reset(self) -> None:
        """Close it and make its state the first one again, and prove it; its data are left alone when they are.

        Of an application without a known state nobody can say that, so it is always put back.
        """
        with boundary(SetupError, "reset_failed"):
            await speak(self._device, self._entry.locale)
            await self._device.done("am", "force-stop", self.package)
            if self._entry.state and await self._state() == self._pristine:
                return
        await self._renew()
        with boundary(SetupError, "reset_failed"):
            await self._put_settings_back()
            changed = difference(self._pristine, await self._state())
        if changed:
            raise SetupError("reset_failed", f"{self._entry.app_id}: after a reset the state differs: {changed[:5]}")

    async def apply(self, operations: Sequence[SetupOperation]) -> None:
        """Write files of the device; raises SetupError, for every other operation too."""
        for operation in operations:
            if operation.kind != "write":
                raise HostError("setup_failed", f"'{operation.kind}' cannot be done on a device")
            with boundary(SetupError, "setup_failed"):
                await self._device.push(operation.content.encode(), operation.target)

    async def offer(self) -> None:
        """The launcher shows it anyway."""

    async def open(self, path: str) -> None:
        """Bring it to the front; a path other than `/` is an address that it opens. Raises ActionError."""
        if path != "/":
            await self._launcher.view(path, self.package)
        else:
            await self._launcher.launch(self.package)

    async def read(self, check: Check) -> list[list[str]]:
        """What the check's probe answers; raises ProbeError."""
        if check.probe not in self._entry.probes:
            raise ProbeError("unknown_probe", f"{self._entry.app_id} has no probe '{check.probe}'")
        args = {param.name: param.value for param in check.args}
        return await read_phone(self._device, self._entry.probes[check.probe], args)

    async def mark(self) -> None:
        """Remember the state as the one the episode begins with; raises SetupError."""
        with boundary(SetupError, "setup_failed"):
            self._marked = await self._state()

    async def changes(self) -> list[list[str]]:
        """Rows [key, added|removed|changed] since the mark, without the application's own bookkeeping."""
        rows = difference(self._marked, await self._state())
        return [row for row in rows if not any(fnmatchcase(row[0], kept) for kept in self._entry.bookkeeping)]

    async def leave(self) -> None:
        """Put settings back: they are the whole phone's, and the next episode may be another application's."""
        with boundary(EnvError, "reset_failed"):
            await self._put_settings_back()

    async def close(self) -> None:
        """It stays on the device."""

    async def _state(self) -> dict[str, str]:
        return await phone_state(self._device, self._entry.state)

    async def _renew(self) -> None:
        """As after its first installation; raises SetupError."""
        if self._entry.apk is not None:
            await reinstall(self._device, self.package, self._entry.folder, self._entry.apk)
            return
        await clear(self._device, self.package)

    async def _put_settings_back(self) -> None:
        """Clearing an application's data leaves the settings it has changed; raises EnvError or ProbeError."""
        for source in self._entry.state:
            if not isinstance(source, SettingState):
                continue
            now = await phone_state(self._device, [source])
            for name in source.names:
                value = self._pristine.get(f"{source.namespace}/{name}")
                if value != now.get(f"{source.namespace}/{name}"):
                    place = (source.namespace, name)
                    words = ("delete", *place) if value is None else ("put", *place, value)
                    await self._device.done("settings", *words)
