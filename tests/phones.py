"""A scripted phone behind the wire, a private adb server, and the driver's device between them."""

from __future__ import annotations

import asyncio
import re
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import NamedTuple

from pipeline.envs.adb import AdbServer
from pipeline.envs.adb_device import AdbDevice
from pipeline.handset.wire import Device, DirEntry, FileStat, Output, WireServer, serve
from pipeline.ports import LOOPBACK
from pipeline.reaper import Scratch

Reply = bytes | str | int | Callable[[str, Output], Awaitable[int]]
"""What a command answers: standard output, an exit code, or whatever a function does."""


class ScriptedPhone(Device):
    """Answers each command of a line by the newest script whose pattern fits; keeps the lines with their times."""

    def __init__(self) -> None:
        self.banner = {"ro.product.name": "scripted", "ro.product.model": "Scripted", "ro.product.device": "s1"}
        self.scripts: list[tuple[re.Pattern[str], Reply]] = []
        self.asked: list[tuple[float, str]] = []
        self.files: dict[str, bytes] = {}
        self.hanging = asyncio.Event()
        self.lines: Callable[[str, Output], Awaitable[int]] | None = None
        """Takes whole lines in place of the scripts."""

    def renew(self) -> None:
        """As it was made, whatever a test has changed: one phone may serve a whole file of tests."""
        vars(self).clear()
        type(self).__init__(self)

    def on(self, pattern: str, reply: Reply) -> None:
        """Answer commands that begin with a pattern."""
        self.scripts.insert(0, (re.compile(pattern), reply))

    def count(self, pattern: str) -> int:
        """How many commands began with a pattern."""
        return sum(re.match(pattern, command) is not None for _, command in self.asked)

    async def hang(self, command: str, output: Output) -> int:
        """A reply that never comes."""
        del command, output
        self.hanging.set()
        await asyncio.Event().wait()
        return 0

    async def shell(self, line: str, stdin: AsyncIterator[bytes], output: Output) -> int:
        del stdin
        if self.lines is not None:
            self.asked.append((time.monotonic(), line))
            return await self.lines(line, output)
        code = 0
        for command in line.split("; "):
            self.asked.append((time.monotonic(), command))
            code = await self._answer(command, output)
        return code

    async def _answer(self, command: str, output: Output) -> int:
        reply = next((reply for pattern, reply in self.scripts if pattern.match(command)), None)
        match reply:
            case None:
                await output.err(f"/system/bin/sh: {command.split()[0]}: inaccessible or not found\n".encode())
                return 127
            case bytes():
                await output.out(reply)
            case str():
                await output.out(reply.encode())
            case int():
                return reply
            case _:
                return await reply(command, output)
        return 0

    async def stat(self, path: str) -> FileStat | None:
        return FileStat(0o100644, len(self.files[path]), 0) if path in self.files else None

    async def list(self, path: str) -> list[DirEntry]:
        del path
        return [DirEntry(name, FileStat(0o100644, len(self.files[name]), 0)) for name in self.files]

    async def read(self, path: str) -> bytes:
        if path not in self.files:
            raise FileNotFoundError(2, "No such file or directory")
        return self.files[path]

    async def write(self, path: str, mode: int, data: bytes) -> None:
        del mode
        if path.startswith("/system/"):
            raise OSError(30, "Read-only file system")
        self.files[path] = data


class Plugged(NamedTuple):
    """A phone, its wire, and the driver's two ends."""

    phone: ScriptedPhone
    wire: WireServer
    server: AdbServer
    device: AdbDevice


@asynccontextmanager
async def plugged(folder: Path, phone: ScriptedPhone | None = None) -> AsyncIterator[Plugged]:
    """A scripted phone on a private adb server of the real binary."""
    phone = phone or ScriptedPhone()
    wire = await serve(phone)
    with Scratch("phones", folder) as scratch:
        server = AdbServer(scratch)
        await server.start()
        device = AdbDevice(server, f"{LOOPBACK}:{wire.port}")
        try:
            await device.attach()
            yield Plugged(phone, wire, server, device)
        finally:
            await server.close()
            await wire.close()


async def until(is_true: Callable[[], Awaitable[bool]], seconds: float = 10.0) -> None:
    """Wait for something to become true."""
    end = time.monotonic() + seconds
    while not await is_true():
        assert time.monotonic() < end
        await asyncio.sleep(0.005)
