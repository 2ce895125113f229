"""The device side of the adb transport: a real adb server connects to it and takes what is behind it for a device.

It speaks messages, streams and reverse forwards; what a stream carries is in `wire_services`, what a command does is
the `Device`'s affair. Of Android this module knows nothing.
"""

from __future__ import annotations

import asyncio
import contextlib
import struct
from collections.abc import Coroutine
from functools import partial

from pipeline.handset.wire_services import (
    Device,
    DirEntry,
    Files,
    FileStat,
    Output,
    Stream,
    packed_shell,
    raw_shell,
)
from pipeline.ports import LOOPBACK

__all__ = ["Device", "DirEntry", "FileStat", "Output", "WireServer", "serve"]

_VERSION = 0x01000001
"""From this version on nobody looks at a message's checksum."""
_MOST_BYTES = 1 << 20
_HEADER = struct.Struct("<6I")
_FEATURES = "shell_v2,cmd,stat_v2"


def _word(name: str) -> int:
    return int.from_bytes(name.encode(), "little")


_CNXN, _OPEN, _OKAY, _CLSE, _WRTE = map(_word, ("CNXN", "OPEN", "OKAY", "CLSE", "WRTE"))


class WireServer:
    """A listening device; hosts may connect one after another, or several at once."""

    def __init__(self, device: Device) -> None:
        """Nothing listens yet: `serve` makes one that does."""
        self._device = device
        self._server: asyncio.Server | None = None
        self._hosts: dict[asyncio.Task[None], asyncio.StreamWriter] = {}
        self.silent = False
        """Take connections and bytes, and never answer."""

    @property
    def port(self) -> int:
        """Where it listens; 0 when it does not."""
        sockets = self._server.sockets if self._server is not None else ()
        return int(sockets[0].getsockname()[1]) if sockets else 0

    async def open(self, port: int) -> None:
        """Listen on loopback; 0 is any port."""
        self._server = await asyncio.start_server(self._accepted, LOOPBACK, port)

    def drop(self) -> None:
        """Cut every connection, as a pulled cable does."""
        for writer in self._hosts.values():
            writer.transport.abort()

    async def close(self) -> None:
        """Listen no longer, and cut every connection."""
        server, self._server = self._server, None
        if server is None:
            return
        server.close()
        self.drop()
        tasks = list(self._hosts)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        await server.wait_closed()

    async def _accepted(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._hosts[task] = writer
        try:
            # Only `close` cancels, and the loop would report that as a failure of the connection.
            with contextlib.suppress(asyncio.CancelledError):
                await _Connection(self, self._device, reader, writer).run()
        finally:
            del self._hosts[task]
            writer.transport.abort()


async def serve(device: Device, port: int = 0) -> WireServer:
    """A device that listens on loopback."""
    server = WireServer(device)
    await server.open(port)
    return server


class _Connection:
    """One host: its messages, and the streams it has opened."""

    def __init__(
        self, server: WireServer, device: Device, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        self._server, self._device, self._reader, self._writer = server, device, reader, writer
        self._streams: dict[int, Stream] = {}
        self._running: dict[int, asyncio.Task[None]] = {}
        self._opened = 0
        self._reversed: set[str] = set()
        self._most_bytes = _MOST_BYTES

    async def run(self) -> None:
        """Take messages until the host hangs up."""
        try:
            with contextlib.suppress(asyncio.IncompleteReadError, ConnectionError):
                while True:
                    command, first, second, length, _, _ = _HEADER.unpack(await self._reader.readexactly(_HEADER.size))
                    payload = await self._reader.readexactly(length)
                    if not self._server.silent:
                        await self._take(command, first, second, payload)
        finally:
            tasks = list(self._running.values())
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)

    async def send(self, command: int, first: int, second: int, payload: bytes = b"") -> None:
        """Write one message."""
        checksum = sum(payload) & 0xFFFFFFFF if command == _CNXN else 0
        self._writer.write(_HEADER.pack(command, first, second, len(payload), checksum, command ^ 0xFFFFFFFF) + payload)
        await self._writer.drain()

    async def _take(self, command: int, first: int, second: int, payload: bytes) -> None:
        if command == _CNXN:
            await self._greet(first, second)
        elif command == _OPEN:
            await self._open(first, payload.rstrip(b"\0").decode(errors="replace"))
        elif command == _OKAY and second in self._streams:
            self._streams[second].accepted.set()
        elif command == _WRTE and second in self._streams:
            self._streams[second].feed(payload)
            await self.send(_OKAY, second, first)
        elif command == _CLSE and second in self._running:
            # The host wants no more of it; its task says the last word.
            self._running[second].cancel()

    async def _greet(self, version: int, most_bytes: int) -> None:
        self._most_bytes = min(most_bytes, _MOST_BYTES)
        said = "".join(f"{key}={value};" for key, value in self._device.banner.items())
        banner = f"device::{said}features={_FEATURES}".encode()
        await self.send(_CNXN, min(version, _VERSION), _MOST_BYTES, banner)

    async def _open(self, remote: int, service: str) -> None:
        self._opened += 1
        local = self._opened
        stream = Stream(partial(self.send, _WRTE, local, remote), self._most_bytes)
        work = self._work(service, stream)
        if work is None:
            await self.send(_CLSE, 0, remote)
            return
        self._streams[local] = stream
        await self.send(_OKAY, local, remote)
        self._running[local] = asyncio.create_task(self._serve(work, local, remote))

    def _work(self, service: str, stream: Stream) -> Coroutine[None, None, None] | None:
        """What a service does; nothing for one that there is not."""
        name, _, rest = service.partition(":")
        kind, *options = name.split(",")
        if kind == "shell" and "v2" in options:
            return packed_shell(self._device, rest, stream)
        if kind in ("shell", "exec"):
            return raw_shell(self._device, rest, stream)
        if kind == "sync":
            return Files(self._device, stream).serve()
        if kind == "reverse":
            return self._reverse(rest, stream)
        return None

    async def _serve(self, work: Coroutine[None, None, None], local: int, remote: int) -> None:
        try:
            with contextlib.suppress(ConnectionError):
                await work
        finally:
            del self._streams[local], self._running[local]
            with contextlib.suppress(ConnectionError):
                await self.send(_CLSE, local, remote)

    async def _reverse(self, request: str, stream: Stream) -> None:
        """Forwards from the device to the host: both share this machine's loopback, so equal ports are all it takes."""
        verb, _, rest = request.partition(":")
        here, _, there = rest.removeprefix("norebind:").partition(";")
        if verb == "list-forward":
            said = "".join(f"host {port} {port}\n" for port in sorted(self._reversed)).encode()
            await stream.send(b"%04x" % len(said) + said)
        elif verb == "forward" and here == there and here.startswith("tcp:"):
            self._reversed.add(here)
            await stream.send(b"OKAY")
        elif verb == "killforward-all":
            self._reversed.clear()
            await stream.send(b"OKAY")
        elif verb == "killforward" and here in self._reversed:
            self._reversed.remove(here)
            await stream.send(b"OKAY")
        else:
            reason = f"cannot do '{request}': this device shares the host's loopback, both ports must be equal".encode()
            await stream.send(b"FAIL%04x" % len(reason) + reason)
