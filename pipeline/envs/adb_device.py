"""One device behind a private adb server: commands, files and forwards, each with a deadline and a typed failure.

Every argument that reaches the device's shell is quoted by `command_line`, the one function that does so. A device that
was cut off is connected to again before anything is asked of it. Knows nothing of screens.
"""

from __future__ import annotations

import asyncio
import itertools
import re
import shlex
import struct
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import NamedTuple

from pipeline.envs.adb import CALL_SECONDS, CONNECT_SECONDS, AdbServer, Channel
from pipeline.errors import EnvError

FILE_SECONDS = 120.0

_SHELL_FEATURE = "shell_v2"
_PACKET = struct.Struct("<BI")
_STDOUT, _STDERR, _EXIT = 1, 2, 3
_SYNC = struct.Struct("<4sI")
_FILE_CHUNK = 64 * 1024
_POLL_SECONDS = 0.05
_EMULATOR = re.compile(r"emulator-(\d+)")
"""A serial that names the console's port; adb has the next one."""


class Ran(NamedTuple):
    """What a command on the device did: its exit code and its two outputs."""

    code: int
    out: bytes
    err: bytes

    @property
    def text(self) -> str:
        """Standard output as text, with plain line ends."""
        return self.out.decode(errors="replace").replace("\r\n", "\n")

    @property
    def complaint(self) -> str:
        """What it said last, wherever it said it."""
        said = (self.err + b"\n" + self.out).decode(errors="replace").strip()
        return said[-500:] or f"exit code {self.code}"


def command_line(*commands: Sequence[str]) -> str:
    """Commands, one after the other, as one line for the device's shell: every word arrives as it is."""
    for word in itertools.chain.from_iterable(commands):
        if "\0" in word or not is_well_formed(word):
            raise EnvError("bad_command", "a word of a command holds what no command can hold: NUL or half a character")
    return "; ".join(shlex.join(command) for command in commands)


def is_well_formed(text: str) -> bool:
    """Whether every character is whole: half of a surrogate pair has no bytes."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


class AdbDevice:
    """A device by its serial: `host:port` over TCP, `emulator-PORT` on this machine, what the bus says for others."""

    def __init__(self, server: AdbServer, serial: str) -> None:
        """Nothing is asked yet: `attach` it first."""
        self._server = server
        self.serial = serial

    @property
    def over_tcp(self) -> bool:
        """Whether it is at an address."""
        return ":" in self.serial

    @property
    def server_port(self) -> int:
        """Where the adb server behind it listens."""
        return self._server.port

    async def attach(self, seconds: float = CONNECT_SECONDS) -> None:
        """Connect, and wait until it can be spoken to; raises EnvError."""
        until = time.monotonic() + seconds
        if self.over_tcp:
            await self._server.disconnect(self.serial)
            await self._server.connect(self.serial)
        state = await self.state()
        while state != "device" and time.monotonic() < until:
            if not state:
                await self._look_for()
            await asyncio.sleep(_POLL_SECONDS)
            state = await self.state()
        if state != "device":
            raise EnvError("device_offline", f"{self.serial} is '{state or 'not connected'}'{_ADVICE.get(state, '')}")
        if _SHELL_FEATURE not in (await self._server.ask(f"host-serial:{self.serial}:features")).split(","):
            raise EnvError("device_too_old", f"{self.serial} has no second shell; Android 7 or later is needed")

    async def _look_for(self) -> None:
        """Have the server look for a device that it does not list."""
        emulator = _EMULATOR.fullmatch(self.serial)
        if emulator is not None:
            await self._server.find_emulator(int(emulator[1]) + 1)
        elif self.over_tcp:
            # It may have taken the new connection for the old one, whose end it has just noticed.
            await self._server.connect(self.serial)

    async def state(self) -> str:
        """How the server lists it; empty when it does not."""
        return next((found.state for found in await self._server.listed() if found.serial == self.serial), "")

    async def run(self, *words: str, seconds: float = CALL_SECONDS) -> Ran:
        """Run one command; its exit code is the caller's affair. Raises EnvError when the device does not answer."""
        return await self.run_all(words, seconds=seconds)

    async def ask(self, *words: str, seconds: float = CALL_SECONDS) -> str:
        """What a command that changes nothing prints; raises EnvError when the device does not answer."""
        return (await self.run_all(words, seconds=seconds, reading=True)).text

    async def run_all(self, *commands: Sequence[str], seconds: float = CALL_SECONDS, reading: bool = False) -> Ran:
        """Run commands one after the other in one go; the exit code is the last one's.

        Commands that only read are begun again when the connection breaks before the device has answered at all.
        """
        async with self._service(f"shell,v2,raw:{command_line(*commands)}", seconds, reading=reading) as channel:
            outputs: dict[int, list[bytes]] = {_STDOUT: [], _STDERR: []}
            while True:
                kind, length = _PACKET.unpack(await channel.exactly(_PACKET.size))
                data = await channel.exactly(length)
                if kind == _EXIT:
                    if not data:
                        raise EnvError("adb_protocol", "the device ends a command without a code")
                    return Ran(data[0], b"".join(outputs[_STDOUT]), b"".join(outputs[_STDERR]))
                outputs.setdefault(kind, []).append(data)

    async def done(self, *words: str, seconds: float = CALL_SECONDS) -> Ran:
        """Run one command that must succeed; raises EnvError `command_failed`."""
        ran = await self.run(*words, seconds=seconds)
        if ran.code != 0:
            raise EnvError("command_failed", f"{words[0]}: {ran.complaint}")
        return ran

    async def raw(self, *words: str, seconds: float = CALL_SECONDS) -> bytes:
        """What a command that only reads prints, byte for byte; raises EnvError when the device does not answer."""
        async with self._service(f"exec:{command_line(words)}", seconds, reading=True) as channel:
            return await channel.rest()

    async def push(self, data: bytes, path: str, mode: int = 0o644) -> None:
        """Write a file on the device; raises EnvError."""
        async with self._service("sync:", FILE_SECONDS) as channel:
            target = f"{path},{0o100000 | mode}".encode()
            await channel.write(_SYNC.pack(b"SEND", len(target)) + target)
            for at in range(0, len(data), _FILE_CHUNK):
                part = data[at : at + _FILE_CHUNK]
                await channel.write(_SYNC.pack(b"DATA", len(part)) + part)
            await channel.write(_SYNC.pack(b"DONE", int(time.time())))
            kind, length = _SYNC.unpack(await channel.exactly(_SYNC.size))
            if kind != b"OKAY":
                reason = (await channel.exactly(length)).decode(errors="replace")
                raise EnvError("file_not_written", f"{path}: {reason}")

    async def reverse(self, port: int) -> None:
        """Let the device reach a port of this machine under the same number; raises EnvError."""
        async with self._service(f"reverse:forward:tcp:{port};tcp:{port}", CALL_SECONDS) as channel:
            await channel.status()

    async def unreverse(self) -> None:
        """Take back every forward to this machine; raises EnvError."""
        async with self._service("reverse:killforward-all", CALL_SECONDS) as channel:
            await channel.status()

    @asynccontextmanager
    async def _service(self, service: str, seconds: float, *, reading: bool = False) -> AsyncIterator[Channel]:
        """A stream to the device. One that is not there is connected to again, as long as nothing has been asked.

        When the connection breaks while the device is asked, nobody knows whether it has heard: only a reading service
        is then asked for again.
        """
        for tries_left in (2, 1, 0):
            async with self._server.channel(seconds) as channel:
                asked = False
                try:
                    await channel.request(f"host:transport:{self.serial}")
                    asked = True
                    await channel.request(service)
                except EnvError as error:
                    if error.code != "device_offline" or not tries_left or (asked and not reading):
                        raise
                else:
                    yield channel
                    return
            await self.attach()


_ADVICE = {
    "unauthorized": "; allow USB debugging on its screen",
    "no permissions": "; this user may not use the USB device",
}
"""What a person can do about a state."""
