"""Where an environment's device comes from: shared ones that are leased for an episode, or one that we started.

A shared device (a phone on the bus, one at an address, a container) has one owner at a time; one that hangs costs its
own calls only, and after some failures it is left alone while its tasks go to others. A device of our own is ended and
started anew when it fails. Nothing here ends or restarts anybody's adb server.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Sequence
from contextlib import ExitStack
from typing import NamedTuple, Protocol

from pipeline.envs.adb import EVERY_USB, AdbServer
from pipeline.envs.adb_device import AdbDevice
from pipeline.envs.android import Fleet, Phone
from pipeline.envs.android_ready import identity, ready, set_mark
from pipeline.envs.device_leases import Lease, Leases
from pipeline.errors import EnvError, SetupError
from pipeline.reaper import Scratch

WAIT_SECONDS = 60.0
"""How long to wait for a device that others have."""
SHARED_READY_SECONDS = 15.0
BOOT_SECONDS = 110.0

_POLL_SECONDS = 0.2
_LIST_SECONDS = 3.0
_TRIES = 2


class _Ours(NamedTuple):
    """A shared device that we hold."""

    lease: Lease
    itself: Lease
    """That of the device whatever it is called: one device may be at several addresses."""
    server: AdbServer
    phone: Phone

    def release(self) -> None:
        """Let others have it."""
        self.itself.release()
        self.lease.release()


class SharedDevices(Fleet):
    """Devices by serial, each leased for as long as it is held."""

    def __init__(
        self,
        scratch: Scratch,
        serials: Sequence[str],
        leases: Leases | None = None,
        *,
        wait_seconds: float = WAIT_SECONDS,
        ready_seconds: float = SHARED_READY_SECONDS,
    ) -> None:
        """`serials` in the order of preference; none means every device on the bus."""
        self._scratch = scratch
        self._serials = list(serials)
        self._leases = leases or Leases()
        self._wait_seconds, self._ready_seconds = wait_seconds, ready_seconds
        self._devices: dict[str, tuple[AdbServer, AdbDevice]] = {}
        self._ours: dict[str, _Ours] = {}
        self._elsewhere: dict[str, str] = {}
        """Devices, by serial, that others had at another address when they were asked last: who they are."""

    async def take(self) -> Phone:
        """The first device that is free and ready; waits for those that others have. Raises SetupError `no_device`."""
        serials = self._serials = self._serials or await found_on_bus(self._scratch)
        if not serials:
            raise SetupError("no_device", "adb lists no device; connect one, or name it in `devices`")
        until, problems = time.monotonic() + self._wait_seconds, dict[str, str]()
        while True:
            for serial in list(serials):
                lease = self._leases.claim(serial)
                phone = await self._readied(serial, lease, problems) if lease is not None else None
                if phone is not None:
                    # The next episode finds its application already made ready here.
                    self._prefer(serial, 0)
                    return phone
            if time.monotonic() > until or all(map(self._leases.in_quarantine, serials)):
                raise SetupError("no_device", f"no device can be had: {self._reasons(problems)}")
            await asyncio.sleep(_POLL_SECONDS)

    async def give_back(self, phone: Phone, *, worked: bool) -> None:
        """Release the device; what it did counts for or against it."""
        ours = self._ours.pop(phone.device.serial)
        try:
            ours.lease.note(worked=worked)
            if not worked:
                self._prefer(phone.device.serial, len(self._serials))
            if not phone.device.over_tcp:
                # One server at a time can have a device on the bus.
                await ours.server.close()
        finally:
            ours.release()

    async def close(self) -> None:
        """Release everything, and end the adb servers."""
        for ours in self._ours.values():
            ours.release()
        for server in {id(server): server for server, _ in self._devices.values()}.values():
            await server.close()
        self._ours, self._devices = {}, {}

    def _prefer(self, serial: str, place: int) -> None:
        """Try a device at this place of the order from now on: the last one that worked first, one that failed last."""
        self._serials.remove(serial)
        self._serials.insert(place, serial)

    async def _readied(self, serial: str, lease: Lease, problems: dict[str, str]) -> Phone | None:
        """The device when it is ready; else it is released and has one failure more."""
        with ExitStack() as undo:
            undo.callback(lease.release)
            if self._is_elsewhere(serial):
                return None
            try:
                server, device = self._behind(serial)
                await server.start()
                life = await ready(device, self._ready_seconds)
                known_as = await identity(device, life)
            except (EnvError, SetupError) as error:
                problems[serial] = error.message
                lease.note(worked=False)
                self._prefer(serial, len(self._serials))
                return None
            itself = self._leases.claim(known_as)
            if itself is None:
                self._elsewhere[serial] = known_as
                problems[serial] = "others have it at another address"
                return None
            undo.pop_all()
        phone = Phone(device, serial, "adb", life.build)
        self._ours[serial] = _Ours(lease, itself, server, phone)
        return phone

    def _is_elsewhere(self, serial: str) -> bool:
        """Whether others still have it at another address; it is not asked as long as they do."""
        known_as = self._elsewhere.get(serial)
        free = self._leases.claim(known_as) if known_as is not None else None
        if free is not None:
            free.release()
            del self._elsewhere[serial]
        return serial in self._elsewhere

    def _behind(self, serial: str) -> tuple[AdbServer, AdbDevice]:
        """A device and its server; those that are not on the bus share one."""
        if serial not in self._devices:
            over_tcp = ":" in serial
            shared = [server for server, device in self._devices.values() if device.over_tcp]
            server = shared[0] if over_tcp and shared else AdbServer(self._scratch, usb=None if over_tcp else serial)
            self._devices[serial] = server, AdbDevice(server, serial)
        return self._devices[serial]

    def _reasons(self, problems: dict[str, str]) -> str:
        return "; ".join(f"{serial}: {problems.get(serial) or self._state(serial)}" for serial in self._serials)

    def _state(self, serial: str) -> str:
        return "left alone after failures" if self._leases.in_quarantine(serial) else "others have it"


async def found_on_bus(scratch: Scratch) -> list[str]:
    """Serials of the devices on the USB bus that nobody else's adb server has, sorted; raises SetupError."""
    server = AdbServer(scratch, usb=EVERY_USB)
    await server.start()
    try:
        until = time.monotonic() + _LIST_SECONDS
        listed = await server.listed()
        while not listed and time.monotonic() < until:
            await asyncio.sleep(_POLL_SECONDS)
            listed = await server.listed()
        return sorted(device.serial for device in listed if device.state == "device")
    except EnvError as error:
        raise SetupError("no_device", f"the devices on the bus cannot be listed: {error.message}") from error
    finally:
        await server.close()


class Program(Protocol):
    """A device that is a program of ours: a handset or an emulator."""

    serial: str
    """What adb calls it; set by `start`."""

    @property
    def alive(self) -> bool:
        """Whether it runs."""
        ...

    async def start(self) -> None:
        """Begin to boot; raises SetupError."""
        ...

    async def close(self) -> None:
        """End it with all it started."""
        ...


class OwnDevice(Fleet):
    """One device of ours for one worker; ended and started anew when it has failed."""

    def __init__(
        self,
        scratch: Scratch,
        provider: str,
        program: Program,
        restore: Callable[[], Awaitable[None]] | None = None,
        *,
        boot_seconds: float = BOOT_SECONDS,
    ) -> None:
        """`restore` puts a running device back to the snapshot it was started from; raises EnvError."""
        self._server = AdbServer(scratch)
        self._provider, self._program, self._restore = provider, program, restore
        self._boot_seconds = boot_seconds
        self._device: AdbDevice | None = None
        self._boot_id: str | None = None

    async def take(self) -> Phone:
        """The device, booted and ready, at its snapshot where it has one; raises SetupError."""
        for tries_left in reversed(range(_TRIES)):
            try:
                return await self._ready()
            except SetupError:
                await self._end()
                if not tries_left:
                    raise
        raise SetupError("no_device", "the device was not tried")

    async def give_back(self, phone: Phone, *, worked: bool) -> None:
        """Keep it for the next episode, unless it failed."""
        del phone
        if not worked:
            await self._end()

    async def close(self) -> None:
        """End the device and its adb server."""
        await self._end()
        await self._server.close()

    async def _ready(self) -> Phone:
        await self._server.start()
        if not self._program.alive:
            self._device = None
            await self._program.start()
        if self._device is not None:
            life = await ready(self._device, SHARED_READY_SECONDS, restored=await self._restored(self._device))
        else:
            # It may still be booting from a time when nobody wanted to wait any longer.
            device = AdbDevice(self._server, self._program.serial)
            # A snapshot brings the boot that it was made in back; without one, each boot is another.
            stale = self._boot_id if self._restore is None else None
            life = await ready(device, self._boot_seconds, stale=stale)
            self._device = device
        self._boot_id = life.boot_id
        return Phone(self._device, self._program.serial, self._provider, life.build)

    async def _restored(self, device: AdbDevice) -> bool:
        """Put it back to its snapshot where it has one; what is marked before must then be gone."""
        if self._restore is None:
            return False
        try:
            await set_mark(device)
            await self._restore()
        except EnvError as error:
            raise SetupError("not_restored", f"{device.serial} was not restored: {error.message}") from error
        return True

    async def _end(self) -> None:
        self._device = None
        await self._program.close()
