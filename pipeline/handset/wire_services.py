"""What a host can ask of a device over one stream of the adb transport: shells, raw execution and file transfer.

What a command does and what files there are is the `Device`'s affair; how streams share a connection is the wire's.
"""

from __future__ import annotations

import asyncio
import struct
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from typing import NamedTuple, Protocol

_PACKET = struct.Struct("<BI")
_REQUEST = struct.Struct("<4sI")
_STAT = struct.Struct("<4s3I")
_STAT_V2 = struct.Struct("<4sI2Q4IQ3q")
_ENTRY = struct.Struct("<4s4I")
_STDIN, _STDOUT, _STDERR, _EXIT, _STDIN_ENDS = 0, 1, 2, 3, 4
_FILE_CHUNK = 64 * 1024
_NO_SUCH_FILE = 2


class FileStat(NamedTuple):
    """What is known of a file: mode as `st_mode`, size in bytes, time of change in whole seconds."""

    mode: int
    size: int
    mtime: int


class DirEntry(NamedTuple):
    """One name in a folder."""

    name: str
    stat: FileStat


class Output(Protocol):
    """Where a command writes."""

    async def out(self, data: bytes) -> None:
        """To standard output."""
        ...

    async def err(self, data: bytes) -> None:
        """To standard error; over the old shell both arrive as one."""
        ...


class Device(Protocol):
    """What the wire needs of the device behind it. One that cannot carry something out raises OSError."""

    banner: Mapping[str, str]
    """What it says of itself: `ro.product.name`, `ro.product.model`, `ro.product.device`."""

    async def shell(self, line: str, stdin: AsyncIterator[bytes], output: Output) -> int:
        """Carry out a command line; its exit code. Cancelled when the host hangs up."""
        ...

    async def stat(self, path: str) -> FileStat | None:
        """What is known of a file or folder; nothing where there is none."""
        ...

    async def list(self, path: str) -> list[DirEntry]:
        """What a folder holds; nothing where there is none."""
        ...

    async def read(self, path: str) -> bytes:
        """A file's bytes; raises FileNotFoundError."""
        ...

    async def write(self, path: str, mode: int, data: bytes) -> None:
        """Write a file, its folder as well."""
        ...


class Stream:
    """One stream of a connection: bytes in, bytes out, one message under way at a time."""

    def __init__(self, write: Callable[[bytes], Awaitable[None]], most_bytes: int) -> None:
        """`write` puts one message of at most `most_bytes` on the connection."""
        self._write, self._most_bytes = write, most_bytes
        self._incoming: asyncio.Queue[bytes] = asyncio.Queue()
        self._left = b""
        self.accepted = asyncio.Event()
        """Set when the host has taken the newest message."""

    def feed(self, data: bytes) -> None:
        """What the host has sent."""
        self._incoming.put_nowait(data)

    async def send(self, data: bytes) -> None:
        """Write, and wait until the host has taken it."""
        for at in range(0, len(data), self._most_bytes):
            self.accepted.clear()
            await self._write(data[at : at + self._most_bytes])
            await self.accepted.wait()

    async def take(self) -> bytes:
        """The next bytes, as many as came together."""
        if self._left:
            left, self._left = self._left, b""
            return left
        return await self._incoming.get()

    async def exactly(self, count: int) -> bytes:
        """So many bytes."""
        parts, missing = [], count
        while missing > 0:
            part = await self.take()
            parts.append(part[:missing])
            self._left = part[missing:]
            missing -= len(parts[-1])
        return b"".join(parts)


class _RawOutput(Output):
    """Both outputs as one stream of bytes."""

    def __init__(self, stream: Stream) -> None:
        self._stream = stream

    async def out(self, data: bytes) -> None:
        await self._stream.send(data)

    async def err(self, data: bytes) -> None:
        await self._stream.send(data)


class _PackedOutput(Output):
    """Each output in packets of its own."""

    def __init__(self, stream: Stream) -> None:
        self._stream = stream

    async def out(self, data: bytes) -> None:
        await self.packet(_STDOUT, data)

    async def err(self, data: bytes) -> None:
        await self.packet(_STDERR, data)

    async def packet(self, kind: int, data: bytes) -> None:
        if data:
            await self._stream.send(_PACKET.pack(kind, len(data)) + data)


async def raw_shell(device: Device, line: str, stream: Stream) -> None:
    """The old shell, and raw execution: bytes in, bytes out, no exit code."""

    async def stdin() -> AsyncIterator[bytes]:
        while True:
            yield await stream.take()

    output = _RawOutput(stream)
    try:
        await device.shell(line, stdin(), output)
    except OSError as error:
        await output.err(f"{error}\n".encode())


async def packed_shell(device: Device, line: str, stream: Stream) -> None:
    """The second shell: both outputs apart, and an exit code."""

    async def stdin() -> AsyncIterator[bytes]:
        while True:
            kind, length = _PACKET.unpack(await stream.exactly(_PACKET.size))
            data = await stream.exactly(length)
            if kind == _STDIN_ENDS:
                return
            if kind == _STDIN:
                yield data

    output = _PackedOutput(stream)
    try:
        code = await device.shell(line, stdin(), output)
    except OSError as error:
        await output.err(f"{error}\n".encode())
        code = 1
    await output.packet(_EXIT, bytes([code & 0xFF]))


class Files:
    """The file service of one stream."""

    def __init__(self, device: Device, stream: Stream) -> None:
        self._device, self._stream = device, stream

    async def serve(self) -> None:
        """Answer requests until the host quits."""
        while True:
            kind, length = _REQUEST.unpack(await self._stream.exactly(_REQUEST.size))
            if kind == b"QUIT":
                return
            argument = (await self._stream.exactly(length)).decode(errors="replace")
            try:
                await self._answer(kind, argument)
            except OSError as error:
                reason = (error.strerror or str(error)).encode()
                await self._stream.send(_REQUEST.pack(b"FAIL", len(reason)) + reason)

    async def _answer(self, kind: bytes, argument: str) -> None:
        match kind:
            case b"STAT":
                stat = await self._device.stat(argument) or FileStat(0, 0, 0)
                await self._stream.send(_STAT.pack(b"STAT", *stat))
            case b"STA2" | b"LST2":
                await self._stream.send(_stat_v2(kind, await self._device.stat(argument)))
            case b"LIST":
                await self._list(argument)
            case b"RECV":
                await self._receive(argument)
            case b"SEND":
                await self._send(argument)
            case _:
                raise OSError(f"there is no request {kind!r}")

    async def _list(self, path: str) -> None:
        for entry in await self._device.list(path):
            name = entry.name.encode()
            await self._stream.send(_ENTRY.pack(b"DENT", *entry.stat, len(name)) + name)
        await self._stream.send(_ENTRY.pack(b"DONE", 0, 0, 0, 0))

    async def _receive(self, path: str) -> None:
        """The host receives a file."""
        data = await self._device.read(path)
        for at in range(0, len(data), _FILE_CHUNK):
            part = data[at : at + _FILE_CHUNK]
            await self._stream.send(_REQUEST.pack(b"DATA", len(part)) + part)
        await self._stream.send(_REQUEST.pack(b"DONE", 0))

    async def _send(self, argument: str) -> None:
        """The host sends a file; all of it is taken before anything is answered."""
        path, _, mode = argument.rpartition(",")
        parts: list[bytes] = []
        while True:
            kind, number = _REQUEST.unpack(await self._stream.exactly(_REQUEST.size))
            if kind == b"DONE":
                break
            parts.append(await self._stream.exactly(number))
        await self._device.write(path, int(mode) if mode.isdecimal() else 0o644, b"".join(parts))
        await self._stream.send(_REQUEST.pack(b"OKAY", 0))


def _stat_v2(kind: bytes, stat: FileStat | None) -> bytes:
    if stat is None:
        return _STAT_V2.pack(kind, _NO_SUCH_FILE, *(0,) * 10)
    return _STAT_V2.pack(kind, 0, 0, 0, stat.mode, 1, 0, 0, stat.size, *(stat.mtime,) * 3)
