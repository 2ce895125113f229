"""Opening applications of a device: those that a launcher would show, found by what people call them, and verified.

The system does not tell the names under its icons, so names come from catalogs; packages and parts of them always work.
"""

from __future__ import annotations

import asyncio
import re
import time
from collections.abc import Mapping, Sequence

from pipeline.envs.adb_device import AdbDevice
from pipeline.envs.android_display import Display, read_display
from pipeline.errors import ActionError, EnvError

LAUNCH_SECONDS = 10.0

_MAIN = ("-a", "android.intent.action.MAIN", "-c", "android.intent.category.LAUNCHER")
_COMPONENT = re.compile(r"^\s*([\w.]+/[\w.$]+)\s*$", re.MULTILINE)
_FRONT_SECONDS = 5.0
_POLL_SECONDS = 0.05
_MOST_NAMED = 60
_LOCALE = ("system", "system_locales")


class Launcher:
    """Opens applications on one device."""

    def __init__(self, device: AdbDevice, names: Mapping[str, str]) -> None:
        """`names` are packages by what people call them."""
        self._device = device
        self._packages = {_plain(name): package for name, package in names.items()}

    async def launchable(self) -> list[str]:
        """Activities that a launcher shows, system applications included; raises EnvError."""
        ran = await self._device.done("cmd", "package", "query-activities", "--brief", *_MAIN)
        return list(dict.fromkeys(_COMPONENT.findall(ran.text)))

    async def launch(self, name: str) -> None:
        """Bring an application to the front by name; raises ActionError `bad_arguments` for one that is not there."""
        component = find(name, await self.launchable(), self._packages)
        await self._start(component.partition("/")[0], *_MAIN, "-n", component)

    async def view(self, address: str, package: str) -> None:
        """Open an address in a package; raises ActionError."""
        await self._start(package, "-a", "android.intent.action.VIEW", "-d", address, package)

    async def _start(self, package: str, *intent: str) -> None:
        ran = await self._device.run("am", "start", "-W", *intent, seconds=LAUNCH_SECONDS)
        if ran.code != 0 or re.search(r"^Error\b", ran.complaint, re.MULTILINE):
            raise ActionError(None, f"{package} did not start: {ran.complaint}")
        display = await self._in_front(package)
        # One that does not respond has been started: the window over it is an event, and no failure of who opened it.
        if package not in (display.package, display.not_responding):
            raise ActionError(None, f"{package} did not come to the front; '{display.focus}' is there")

    async def _in_front(self, package: str) -> Display:
        """Wait for a package to have the focus; the screen as it is then, or as it is when the time is over."""
        until = time.monotonic() + _FRONT_SECONDS
        display = await read_display(self._device)
        while package not in (display.package, display.not_responding) and time.monotonic() < until:
            await asyncio.sleep(_POLL_SECONDS)
            display = await read_display(self._device)
        return display


def find(name: str, components: Sequence[str], packages: Mapping[str, str]) -> str:
    """The component that a name means: a package, a known name, or a word of just one package."""
    by_package = {component.partition("/")[0]: component for component in reversed(components)}
    known = packages.get(_plain(name))
    for package in (name, known):
        if package in by_package:
            return by_package[package]
    words = [package for package in by_package if _plain(name) in map(_plain, package.split("."))]
    if len(words) == 1:
        return by_package[words[0]]
    called = {package: called for called, package in packages.items()}
    there = sorted(called.get(package, package) for package in by_package)
    reason = "several applications" if words else "no application"
    raise ActionError("bad_arguments", f"there is {reason} '{name}'; there are: {', '.join(there[:_MOST_NAMED])}")


def _plain(name: str) -> str:
    return "".join(name.casefold().split())


async def speak(device: AdbDevice, locale: str | None) -> None:
    """Set the phone's language, if one is asked for; raises EnvError."""
    if locale and (await device.done("settings", "get", *_LOCALE)).text.strip() != locale:
        await device.done("settings", "put", *_LOCALE, locale)


async def go_home(device: AdbDevice) -> None:
    """Wake the screen, undo its turning, and show the launcher; raises EnvError."""
    ran = await device.run_all(
        ["input", "keyevent", "KEYCODE_WAKEUP"],
        ["wm", "dismiss-keyguard"],
        ["settings", "put", "system", "accelerometer_rotation", "0"],
        ["settings", "put", "system", "user_rotation", "0"],
        ["input", "keyevent", "KEYCODE_HOME"],
    )
    if ran.code != 0:
        raise EnvError("input_refused", f"the device takes no input: {ran.complaint}")


async def dismiss_stale(device: AdbDevice) -> None:
    """End an application that did not respond to somebody before, whose window lies over all else; raises EnvError."""
    display = await read_display(device)
    if display.not_responding:
        await device.done("am", "force-stop", display.not_responding)
