"""Whether a device can be used: a fresh boot where one is expected, its services answer, and a picture decodes.

A device says that it has booted long before it can be used, and a restored snapshot says so at once; so nothing is
believed that has not been asked of the services themselves.
"""

from __future__ import annotations

import asyncio
import time
from typing import NamedTuple

from pipeline.envs.adb_device import AdbDevice
from pipeline.envs.android_capture import capture
from pipeline.envs.android_display import read_display
from pipeline.errors import CaptureError, EnvError, SetupError
from pipeline.records import digest

READY_SECONDS = 20.0

_BOOT_ID = "/proc/sys/kernel/random/boot_id"
_HOST = "/proc/sys/kernel/hostname"
_MARK = "/data/local/tmp/.pathproof-mark"
_POLL_SECONDS = 0.2
_TRY_SECONDS = 10.0
_ATTACH_SECONDS = 5.0
_SECURE = "secure_screen"


class Incarnation(NamedTuple):
    """Which life of a device this is, and what it runs."""

    boot_id: str
    build: str


async def ready(
    device: AdbDevice, seconds: float = READY_SECONDS, *, stale: str | None = None, restored: bool = False
) -> Incarnation:
    """Wait until a device can be used; raises SetupError `device_not_ready` with what was missing.

    After a boot `stale` is the id of the one before; after a snapshot was `restored`, the mark set before must be gone.
    """
    until, missing = time.monotonic() + seconds, ""
    while (left := until - time.monotonic()) > 0:
        given = min(left, _TRY_SECONDS)
        try:
            async with asyncio.timeout(given):
                return await _examined(device, stale, restored)
        except TimeoutError:
            if given == _TRY_SECONDS or not missing:
                missing = f"no answer in {given:.1f} s"
        except (EnvError, CaptureError) as error:
            missing = str(error)
        await asyncio.sleep(min(_POLL_SECONDS, max(0.0, until - time.monotonic())))
    raise SetupError("device_not_ready", f"{device.serial} is not ready after {seconds:g} s: {missing}")


async def boot_id(device: AdbDevice) -> str:
    """The id of the device's present boot; raises EnvError."""
    ran = await device.run_all(["cat", _BOOT_ID], reading=True)
    if ran.code != 0:
        raise EnvError("command_failed", f"the id of its boot cannot be read: {ran.complaint}")
    return ran.text.strip()


async def identity(device: AdbDevice, life: Incarnation) -> str:
    """Which device this is, at whatever address; raises EnvError.

    None of what is asked is enough by itself: emulators share a serial number, containers of one machine a boot.
    """
    number = await device.ask("getprop", "ro.serialno")
    host = await device.ask("cat", _HOST)
    return digest("device", life.boot_id, life.build, number.strip(), host.strip())


async def set_mark(device: AdbDevice) -> None:
    """Leave something behind that no earlier snapshot holds; raises EnvError."""
    await device.push(b"", _MARK)


async def _examined(device: AdbDevice, stale: str | None, restored: bool) -> Incarnation:
    """The device's life; raises EnvError or CaptureError for what is missing."""
    if await device.state() != "device":
        await device.attach(_ATTACH_SECONDS)
    found = await boot_id(device)
    if found == stale:
        raise EnvError("stale_boot", "it has not booted again yet")
    if restored and (await device.run("ls", _MARK)).code == 0:
        raise EnvError("stale_snapshot", "what was written after the snapshot is still there")
    if (await device.run("getprop", "sys.boot_completed")).text.strip() != "1":
        raise EnvError("booting", "it has not booted to the end")
    if "package:" not in (await device.done("pm", "list", "packages")).text:
        raise EnvError("no_packages", "its package service lists nothing")
    await read_display(device)
    try:
        await capture(device)
    except CaptureError as error:
        if error.code != _SECURE:
            raise
    build = (await device.run("getprop", "ro.build.fingerprint")).text.strip()
    return Incarnation(found, build or (await device.run("getprop", "ro.product.model")).text.strip())
