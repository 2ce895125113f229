"""The phone behind the adb transport: command lines and files, with the faults that concern the connection.

Also what starts all parts of one handset and stops them again.
"""

from __future__ import annotations

import asyncio
import contextlib
import re
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from functools import partial

from playwright.async_api import Error as PlaywrightError

from pipeline.envs.browser import Browser
from pipeline.handset.commandline import RefusedError, parse
from pipeline.handset.commands import COMMANDS, SERVICES
from pipeline.handset.commands.call import NOT_FOUND, Call
from pipeline.handset.commands.package_commands import package_file
from pipeline.handset.phone import Build, Phone
from pipeline.handset.server import PageServer
from pipeline.handset.wire import Device, DirEntry, FileStat, Output, WireServer, serve
from pipeline.ports import LOOPBACK
from pipeline.reaper import Scratch

_REFUSED = 2
_NO_SERVICE = 20
_CRASHED = 134
_OFFLINE_SECONDS = 5.0
_LINE_END = re.compile(rb"\r\n|\r|\n")


class Handset(Device):
    """One phone as a device of the adb server."""

    def __init__(self, phone: Phone) -> None:
        """Nothing listens: `running` starts it."""
        self.phone = phone
        self.banner: Mapping[str, str] = {
            # A colon would end the banner.
            name: phone.properties.get(name).replace(":", ",")
            for name in ("ro.product.name", "ro.product.model", "ro.product.device")
        }
        self._wire: WireServer | None = None
        self._reboots = False
        phone.files.made.update(
            {
                "/proc/sys/kernel/random/boot_id": lambda: f"{phone.boot.boot_id}\n".encode(),
                "/proc/uptime": lambda: f"{phone.boot.seconds:.2f} {phone.boot.seconds:.2f}\n".encode(),
                **{package.path: partial(package_file, package) for package in phone.packages.installed()},
            }
        )

    @property
    def serial(self) -> str:
        """What `adb connect` takes."""
        return f"{LOOPBACK}:{self._wire.port if self._wire else 0}"

    async def open(self, port: int = 0) -> None:
        """Listen, and watch for what cuts the connection."""
        self._wire = await serve(self, port)

    async def close(self) -> None:
        """Listen no longer."""
        if self._wire is not None:
            await self._wire.close()

    async def shell(self, line: str, stdin: AsyncIterator[bytes], output: Output) -> int:
        """Carry out a command line; without one, the lines that are sent."""
        if line.strip():
            return await self._carry_out(line, stdin, output)
        code, begun = 0, b""
        async for part in stdin:
            *typed, begun = _LINE_END.split(begun + part)
            for whole in typed:
                code = await self._carry_out(whole.decode(errors="replace"), stdin, output)
        return await self._carry_out(begun.decode(errors="replace"), stdin, output) if begun else code

    async def stat(self, path: str) -> FileStat | None:
        """What is known of a file or folder."""
        return self.phone.files.stat(path)

    async def read(self, path: str) -> bytes:
        """A file's bytes; raises FileNotFoundError."""
        return self.phone.files.read(path)

    async def write(self, path: str, mode: int, data: bytes) -> None:
        """Write a file, and its folder."""
        del mode
        self.phone.files.write(path, data)

    async def list(self, path: str) -> list[DirEntry]:
        """What a folder holds."""
        return self.phone.files.list(path)

    async def _carry_out(self, line: str, stdin: AsyncIterator[bytes], output: Output) -> int:
        try:
            commands = parse(line)
        except RefusedError as error:
            await output.err(f"/system/bin/sh: {error}\n".encode())
            return _REFUSED
        code = 0
        for command in commands:
            if command.condition == "always" or (command.condition == "succeeded") == (code == 0):
                argv = command.argv(code)
                code = await self._run(argv[0].removeprefix("/system/bin/"), argv[1:], stdin, output)
        return code

    async def _run(self, name: str, words: Sequence[str], stdin: AsyncIterator[bytes], output: Output) -> int:
        phone = self.phone
        command = COMMANDS.get(name)
        if command is None:
            await output.err(f"/system/bin/sh: {name}: inaccessible or not found\n".encode())
            return NOT_FOUND
        if phone.faults.take("hang", name):
            await asyncio.Event().wait()
        if name in SERVICES and not phone.booted:
            await output.err(f"cmd: Can't find service: {name}\n".encode())
            return _NO_SERVICE
        try:
            code = await command(Call(phone, name, [*words], stdin, output))
        except (PlaywrightError, TimeoutError) as error:
            await output.err(f"{name}: the screen does not answer: {type(error).__name__}: {error}\n".encode())
            code = _CRASHED
            with contextlib.suppress(PlaywrightError, TimeoutError):
                await phone.mend()
        self._cut()
        return code

    def _cut(self) -> None:
        """Faults that a command has ordered and that end the connection it came by."""
        if self._reboots or self._wire is None or self._wire.silent:
            # One after the other: two at once would end each other.
            return
        if self.phone.reboot_asked.is_set() or self.phone.faults.take("reboot"):
            self._reboots = True
            self.phone.later(self._rebooted(self._wire))
        elif (offline := self.phone.faults.take("offline")) is not None:
            self._wire.silent = True
            self.phone.later(self._gone(self._wire, float(offline.argument or _OFFLINE_SECONDS)))

    async def _rebooted(self, wire: WireServer) -> None:
        await asyncio.sleep(0)
        wire.drop()
        try:
            await self.phone.reboot()
        finally:
            self.phone.reboot_asked.clear()
            self._reboots = False

    async def _gone(self, wire: WireServer, seconds: float) -> None:
        wire.drop()
        try:
            await asyncio.sleep(seconds)
        finally:
            wire.silent = False
            # Whoever connected meanwhile was never answered.
            wire.drop()


@asynccontextmanager
async def running(build: Build, scratch: Scratch, port: int = 0) -> AsyncIterator[Handset]:
    """A booted handset inside the block; raises SetupError or RunError."""
    browser = Browser(scratch, episodes=1_000_000)
    phone = Phone(build, browser)
    server, handset = PageServer(phone), Handset(phone)
    try:
        await server.open()
        await phone.boot_up()
        await phone.order_faults(build.faults)
        await handset.open(port)
        yield handset
    finally:
        await handset.close()
        await phone.close()
        await server.close()
        with contextlib.suppress(PlaywrightError, TimeoutError):
            await browser.close()
