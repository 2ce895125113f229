"""The network policy of a worker: a forward proxy on loopback that lets through only what is on its allow-list.

It stands outside the browser, so that redirects, sub-requests and sockets are covered alike: what counts is the address
asked for, and the machine it resolves to, at every hop. Plain HTTP, CONNECT tunnels and protocol upgrades pass;
everything else is refused with a short page and written down. Since all traffic runs through it, it also knows whether
a page still waits for an answer. It knows nothing of browsers, episodes or rows.
"""

from __future__ import annotations

import asyncio
import contextlib
import html
import ipaddress
import itertools
import socket
import time
from collections.abc import Coroutine, Iterator
from typing import Any, NamedTuple

from pipeline.addresses import parts_of
from pipeline.allowlist import Address, AllowList, IpAddress, address_of, may_reach, parse_address
from pipeline.errors import ConfigError, PathproofError, SetupError

REFUSED_HEADER = "x-egress-refused"
"""Header of the page that is given in place of what must not be reached."""

UNREACHED_HEADER = "x-egress-unreached"
"""Header of the page that is given in place of what does not answer."""

_HEAD_BYTES = 64 * 1024
_CHUNK_BYTES = 64 * 1024
_CONNECT_SECONDS = 10.0
_CLOSE_SECONDS = 5.0
_MOST_REFUSED = 1000
_HEAD_END = b"\r\n\r\n"
_HOP_HEADERS = frozenset({"connection", "keep-alive", "proxy-authorization", "proxy-connection", "te", "trailer"})
_BACKGROUND = frozenset({"audio", "font", "image", "manifest", "track", "video"})
"""What a browser fetches (Sec-Fetch-Dest) without the page's text and controls waiting for it."""


class _Refusal(PathproofError):
    """A request that must not go out, or cannot: how it is answered."""

    def __init__(self, status: str, detail: str) -> None:
        super().__init__(detail)
        self.status = status
        self.detail = detail


class _Request(NamedTuple):
    method: str
    url: str
    address: Address
    headers: list[tuple[str, str]]

    def header(self, name: str) -> str:
        return next((value for key, value in self.headers if key.lower() == name), "").lower()

    @property
    def upgrades(self) -> bool:
        return "upgrade" in self.header("connection")

    @property
    def awaited(self) -> bool:
        """Whether a page waits for the answer's end: not for streams, upgrades, pictures and the like."""
        streams = self.upgrades or "text/event-stream" in self.header("accept")
        return not streams and self.header("sec-fetch-dest") not in _BACKGROUND


class _Side(NamedTuple):
    """One end of a connection."""

    reader: asyncio.StreamReader
    writer: asyncio.StreamWriter


class Proxy:
    """The proxy; lives on the running event loop from `start` to `close`. `allow_list` may be replaced at any time."""

    def __init__(self, allow_list: AllowList | None = None) -> None:
        self.allow_list = allow_list or AllowList()
        self._server: asyncio.Server | None = None
        self._connections: set[asyncio.Task[None]] = set()
        self._awaited: dict[int, float] = {}
        self._numbers = itertools.count()
        self._answered = asyncio.Event()
        self._answered_at = 0.0
        self._refused: dict[str, None] = {}

    @property
    def port(self) -> int:
        """Where it listens on 127.0.0.1; raises SetupError before `start`."""
        if self._server is None:
            raise SetupError("no_proxy", "the egress proxy has not been started")
        return int(self._server.sockets[0].getsockname()[1])

    async def start(self) -> None:
        """Listen on a free loopback port; again is harmless."""
        if self._server is not None:
            return
        try:
            self._server = await asyncio.start_server(self._accept, "127.0.0.1", 0, limit=_HEAD_BYTES)
        except OSError as error:
            raise SetupError("no_proxy", f"the egress proxy cannot listen: {error}") from error

    async def close(self) -> None:
        """Stop listening and drop every connection; again is harmless."""
        server, self._server = self._server, None
        if server is None:
            return
        server.close()
        for connection in self._connections:
            connection.cancel()
        await asyncio.gather(*self._connections, return_exceptions=True)
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(server.wait_closed(), _CLOSE_SECONDS)

    def drain_refused(self) -> list[str]:
        """Addresses refused since the last call, each once, in order."""
        refused, self._refused = list(self._refused), {}
        return refused

    def busy(self, since: float, grace: float = 0.0) -> bool:
        """Whether a plain request that began at or after `since` (monotonic clock) still waits for its answer.

        With a grace, also whether one was answered less than so many seconds ago.
        """
        recent = self._answered_at >= since and time.monotonic() - self._answered_at < grace
        return recent or any(began >= since for began in self._awaited.values())

    async def idle(self, since: float, seconds: float) -> bool:
        """Wait until no such request is left; whether that came true in time. Tunnels cannot be looked into."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                while self.busy(since):
                    self._answered.clear()
                    await self._answered.wait()
        return not self.busy(since)

    async def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        if task is not None:
            self._connections.add(task)
            task.add_done_callback(self._connections.discard)
        try:
            with contextlib.suppress(OSError, EOFError, asyncio.LimitOverrunError, asyncio.CancelledError):
                await self._serve(_Side(reader, writer))
        finally:
            writer.close()

    async def _serve(self, client: _Side) -> None:
        """One connection carries one request: both sides are told to close, so that no framing must be kept."""
        try:
            request = _request_of(await client.reader.readuntil(_HEAD_END))
            upstream = await self._connect(request)
        except _Refusal as refusal:
            client.writer.write(_page(refusal))
            await client.writer.drain()
            return
        try:
            if request.method == "CONNECT":
                client.writer.write(b"HTTP/1.1 200 Connection established" + _HEAD_END)
                await _tunnel(client, upstream)
                return
            with self._exchange(request):
                upstream.writer.write(_request_head(request))
                await _first(_upward(client, upstream, request), _downward(client, upstream))
        finally:
            upstream.writer.close()

    @contextlib.contextmanager
    def _exchange(self, request: _Request) -> Iterator[None]:
        """Count a request as waited for until its answer has ended."""
        number = next(self._numbers)
        if request.awaited:
            self._awaited[number] = time.monotonic()
        try:
            yield
        finally:
            if self._awaited.pop(number, None) is not None:
                self._answered_at = time.monotonic()
                self._answered.set()

    async def _connect(self, request: _Request) -> _Side:
        """A connection to where the request goes, if it may go there; raises _Refusal."""
        address = request.address
        if not self.allow_list.permits(address):
            raise self._refusal(request, "is not on the allow-list")
        try:
            async with asyncio.timeout(_CONNECT_SECONDS):
                machines = await _machines(address)
                for machine in machines:
                    if not may_reach(address.host, machine):
                        raise self._refusal(request, f"leads to {machine}, which may not be reached")
                return await _connected(machines, address.port)
        except (OSError, TimeoutError) as error:
            raise _Refusal("502 Bad Gateway", f"{address} cannot be reached: {error or 'no answer'}") from error

    def _refusal(self, request: _Request, reason: str) -> _Refusal:
        if len(self._refused) < _MOST_REFUSED:
            self._refused[request.url.partition("?")[0]] = None
        return _Refusal("403 Forbidden", f"{request.address} {reason}")


def _request_of(head: bytes) -> _Request:
    """The request of a head as sent to a proxy; raises _Refusal when it is none."""
    first, *lines = head[: -len(_HEAD_END)].decode("latin-1").split("\r\n")
    try:
        method, target, version = first.split(" ")
        headers = [(key.strip(), value.strip()) for key, value in (line.split(":", 1) for line in lines)]
        address = parse_address(target) if method == "CONNECT" else address_of(target)
    except (ValueError, ConfigError) as error:
        raise _Refusal("400 Bad Request", f"not a request to a proxy: {first[:200]}") from error
    if not version.startswith("HTTP/1.") or address.port is None or (method != "CONNECT" and target[:5] != "http:"):
        raise _Refusal("400 Bad Request", f"not a request to a proxy: {first[:200]}")
    return _Request(method, target, address, headers)


def _request_head(request: _Request) -> bytes:
    """The head as the server expects it: origin form, its own host, and the end of the connection announced."""
    parts = parts_of(request.url)
    target = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
    port = "" if parts.port is None else f":{parts.port}"
    kept = [(key, value) for key, value in request.headers if key.lower() not in {*_HOP_HEADERS, "host"}]
    fields = [("Host", f"{Address(request.address.host, None)}{port}"), *kept]
    fields.append(("Connection", "Upgrade" if request.upgrades else "close"))
    lines = [f"{request.method} {target} HTTP/1.1", *(f"{key}: {value}" for key, value in fields)]
    return "\r\n".join(lines).encode("latin-1") + _HEAD_END


def _answer_head(head: bytes) -> bytes:
    """The server's head with the end of the connection announced, so that the browser does not use it again."""
    first, *lines = head[: -len(_HEAD_END)].decode("latin-1").split("\r\n")
    kept = [line for line in lines if line.split(":", 1)[0].strip().lower() not in _HOP_HEADERS]
    return "\r\n".join([first, *kept, "Connection: close"]).encode("latin-1") + _HEAD_END


async def _upward(client: _Side, upstream: _Side, request: _Request) -> None:
    """Carry the request's body to the server; ends when the client is gone."""
    length = request.header("content-length")
    if request.upgrades or request.header("transfer-encoding"):
        await _pump(client, upstream)
    elif length.isdigit():
        await _pump(client, upstream, int(length))
    # Whatever else a client sends belongs to no request; its end must be noticed all the same.
    while await client.reader.read(_CHUNK_BYTES):
        pass


async def _downward(client: _Side, upstream: _Side) -> None:
    """Carry the server's answer to the client, interim answers first."""
    while True:
        head = await upstream.reader.readuntil(_HEAD_END)
        status = head[9:12]
        interim = status.startswith(b"1")
        client.writer.write(head if interim else _answer_head(head))
        if not interim or status == b"101":
            break
    await _pump(upstream, client)


async def _pump(source: _Side, sink: _Side, limit: int | None = None) -> None:
    """Carry bytes until the source ends, or so many have been carried."""
    left = limit
    while left is None or left > 0:
        data = await source.reader.read(_CHUNK_BYTES if left is None else min(left, _CHUNK_BYTES))
        if not data:
            return
        sink.writer.write(data)
        await sink.writer.drain()
        left = None if left is None else left - len(data)


async def _tunnel(client: _Side, upstream: _Side) -> None:
    """Carry bytes both ways until both have ended."""

    async def one_way(source: _Side, sink: _Side) -> None:
        await _pump(source, sink)
        if sink.writer.can_write_eof():
            sink.writer.write_eof()

    await asyncio.gather(one_way(client, upstream), one_way(upstream, client))


async def _first(*works: Coroutine[Any, Any, None]) -> None:
    """Run until one of them ends, then stop the others; an error of the first to end is raised."""
    tasks = [asyncio.ensure_future(work) for work in works]
    try:
        done, _ = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        for task in done:
            task.result()
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


async def _machines(address: Address) -> list[IpAddress]:
    """The machines a host stands for; raises OSError."""
    loop = asyncio.get_running_loop()
    found = await loop.getaddrinfo(address.host, address.port, type=socket.SOCK_STREAM)
    return [ipaddress.ip_address(str(entry[4][0]).split("%")[0]) for entry in found]


async def _connected(machines: list[IpAddress], port: int | None) -> _Side:
    """A connection to the first machine that answers; raises the last OSError."""
    failure = OSError("no machine")
    for machine in machines:
        try:
            return _Side(*await asyncio.open_connection(str(machine), port, limit=_HEAD_BYTES))
        except OSError as error:
            failure = error
    raise failure


def _page(refusal: _Refusal) -> bytes:
    # An icon of its own, lest the browser ask the refused host for one.
    top = f'<!doctype html><link rel="icon" href="data:,"><title>{refusal.status}</title>'
    data = f"{top}<h1>{refusal.status}</h1><p>{html.escape(refusal.detail)}</p>".encode()
    fields = {"Content-Type": "text/html; charset=utf-8", "Content-Length": str(len(data)), "Connection": "close"}
    if refusal.status.startswith("403"):
        fields[REFUSED_HEADER] = "1"
    if refusal.status.startswith("502"):
        fields[UNREACHED_HEADER] = "1"
    lines = [f"HTTP/1.1 {refusal.status}", *(f"{name}: {value}" for name, value in fields.items())]
    return "\r\n".join(lines).encode() + _HEAD_END + data
