"""A second server that nobody may reach: it counts every connection and every datagram that arrives, on IPv4 and IPv6.

It answers web requests and socket handshakes, so that what does reach it goes on as it would anywhere.
"""

from __future__ import annotations

import asyncio
import base64
import contextlib
import hashlib
import socket
from collections.abc import AsyncIterator

_HOSTS = ("127.0.0.1", "127.0.0.2", "::1")
_TRIES = 10
_ACCEPT = b"258EAFA5-E914-47DA-95CA-C5AB0DC85B11"
_TYPES = {"script": "text/javascript", "module": "text/javascript", "css": "text/css", "xml-css": "text/css"}


class Elsewhere(asyncio.DatagramProtocol):
    """What has arrived: connections, datagrams, and the paths that were asked for."""

    def __init__(self) -> None:
        self.port = 0
        self.hosts: list[str] = []
        self.connections = 0
        self.datagrams = 0
        self.paths: set[str] = set()
        self._stops = contextlib.AsyncExitStack()

    @property
    def address(self) -> str:
        return f"127.0.0.1:{self.port}"

    @property
    def url(self) -> str:
        return f"http://{self.address}"

    @property
    def log(self) -> tuple[int, int, set[str]]:
        """All that has arrived; empty is (0, 0, set())."""
        return self.connections, self.datagrams, self.paths

    def datagram_received(self, data: bytes, addr: object) -> None:
        del data, addr
        self.datagrams += 1

    async def listen(self) -> None:
        """Listen for connections and datagrams at one port of every loopback address that there is."""
        self.hosts = [host for host in _HOSTS if _is_here(host)]
        for tries_left in reversed(range(_TRIES)):
            self.port = _free_port()
            try:
                await self._listen_here()
            except OSError:  # somebody has that port at another of the addresses
                await self.close()
                if not tries_left:
                    raise
            else:
                return

    async def _listen_here(self) -> None:
        loop = asyncio.get_running_loop()
        for host in self.hosts:
            await self._stops.enter_async_context(await asyncio.start_server(self._serve, host, self.port))
            transport, _ = await loop.create_datagram_endpoint(lambda: self, local_addr=(host, self.port))
            self._stops.callback(transport.close)

    async def close(self) -> None:
        await self._stops.aclose()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        with contextlib.suppress(OSError, EOFError, asyncio.LimitOverrunError):
            head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
            path = head.split(" ")[1]
            self.paths.add(path.lstrip("/").partition("?")[0])
            writer.write(_answer(path.lstrip("/"), head))
            await writer.drain()
        writer.close()


def _answer(name: str, head: str) -> bytes:
    fields = {name.lower(): value for name, _, value in (line.partition(": ") for line in head.split("\r\n")[1:])}
    if key := fields.get("sec-websocket-key"):
        accept = base64.b64encode(hashlib.sha1(key.encode() + _ACCEPT).digest()).decode()
        return (
            "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
            f"Sec-WebSocket-Accept: {accept}\r\n\r\n"
        ).encode()
    kind = _TYPES.get(name, "text/html")
    return (
        f"HTTP/1.1 200 OK\r\nContent-Type: {kind}\r\nContent-Length: 0\r\nConnection: close\r\n"
        "Access-Control-Allow-Origin: *\r\nAccess-Control-Allow-Headers: *\r\n\r\n"
    ).encode()


def _is_here(host: str) -> bool:
    """Whether this machine has an address: not every one has IPv6."""
    try:
        with socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET) as probe:
            probe.bind((host, 0))
    except OSError:
        return False
    return True


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@contextlib.asynccontextmanager
async def second_server() -> AsyncIterator[Elsewhere]:
    made = Elsewhere()
    try:
        await made.listen()
        yield made
    finally:
        await made.close()
