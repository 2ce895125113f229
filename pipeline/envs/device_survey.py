"""Which phones this machine can reach, and what can be said of each without touching it: for a person to read."""

from __future__ import annotations

import asyncio
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import adbutils

from pipeline.envs.adb import CALL_SECONDS, EVERY_USB, AdbServer
from pipeline.envs.adb_device import AdbDevice
from pipeline.envs.emulator import find_emulator
from pipeline.errors import EnvError, SetupError
from pipeline.reaper import Scratch

_LIST_SECONDS = 1.5
"""What the server needs to see the bus."""
_POLL_SECONDS = 0.1
_AVD_SECONDS = 15.0
_ASKED = ("ro.product.model", "ro.build.version.release", "ro.build.version.sdk")


class Seen(NamedTuple):
    """A device or a program, whether it can be used, and what it is or what to do about it."""

    name: str
    good: bool
    detail: str


async def survey_devices(addresses: Sequence[str]) -> list[Seen]:
    """The devices on the bus and those at the addresses; raises SetupError when adb itself does not run."""
    with Scratch("survey") as scratch:
        bus = has_bus()
        server = AdbServer(scratch, usb=EVERY_USB if bus else None)
        await server.start()
        try:
            listed = await _on_bus(server) if bus else []
            named = [address for address in addresses if ":" in address]
            return [await _device(server, serial) for serial in [*listed, *named]]
        finally:
            await server.close()


def has_bus() -> bool:
    """Whether there is a USB bus on which a phone may hang: containers have none, and looking takes seconds."""
    return sys.platform != "linux" or Path("/sys/bus/usb/devices").is_dir()


def emulators() -> Seen:
    """The emulator program and its virtual devices, or the fix for what is missing."""
    try:
        program = find_emulator()
        said = subprocess.run([program, "-list-avds"], capture_output=True, check=True, text=True, timeout=_AVD_SECONDS)
    except SetupError as error:
        return Seen("emulator", False, error.message)
    except (OSError, subprocess.SubprocessError) as error:
        return Seen("emulator", False, f"{program} does not run: {error}")
    devices = said.stdout.split()
    if not devices:
        return Seen("emulator", False, f"{program} has no virtual device; make one with `avdmanager create avd`")
    return Seen("emulator", True, f"{program} with {', '.join(devices)}")


def adb_version() -> Seen:
    """The adb binary that is used, and its version."""
    path = adbutils.adb_path()
    try:
        said = subprocess.run([path, "version"], capture_output=True, check=True, text=True, timeout=CALL_SECONDS)
    except (OSError, subprocess.SubprocessError) as error:
        return Seen("adb", False, f"{path} does not run: {error}")
    return Seen("adb", True, f"{said.stdout.splitlines()[0].rpartition(' ')[2]} at {path}")


async def _on_bus(server: AdbServer) -> list[str]:
    until = time.monotonic() + _LIST_SECONDS
    listed = await server.listed()
    while not listed and time.monotonic() < until:
        await asyncio.sleep(_POLL_SECONDS)
        listed = await server.listed()
    return sorted(one.serial for one in listed)


async def _device(server: AdbServer, serial: str) -> Seen:
    device = AdbDevice(server, serial)
    try:
        await device.attach(CALL_SECONDS)
        model, release, level = [(await device.done("getprop", name)).text.strip() for name in _ASKED]
    except EnvError as error:
        return Seen(serial, False, error.message)
    return Seen(serial, True, f"{model}, Android {release or 'unknown'} (level {level or 'unknown'})")
