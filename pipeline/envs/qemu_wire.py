"""A connection to a virtual machine's monitor or to the agent in its guest: JSON objects, one a line, over a socket.

Both speak the same language; they differ in how a talk begins. It is our own because the agent's connection outlives a
restore: what was asked before is then never answered, and half an answer may lie in the way until a token comes back.
Knows nothing of what is asked.
"""

from __future__ import annotations

import asyncio
import json
import secrets
import socket
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pipeline.errors import EnvError

_CHUNK = 1 << 18
_RETRY_SECONDS = 0.02
_SENTINEL = b"\xff"
"""Clears what the other side has of a half sent request, and comes back before the answer to a token."""
_MOST_BYTES = 256 << 20


class RefusedError(Exception):
    """The other side answered that it will not or cannot; the message is its own."""


class Channel:
    """One connection, used by one call at a time."""

    def __init__(self, path: Path, name: str) -> None:
        """`name` says in messages who does not answer."""
        self._path = path
        self._name = name
        self._socket: socket.socket | None = None
        self._buffer = bytearray()
        self._number = 0
        self._lock = asyncio.Lock()

    async def connect(self, seconds: float) -> None:
        """Connect once the socket is there; raises EnvError."""
        until = time.monotonic() + seconds
        while True:
            made = socket.socket(socket.AF_UNIX)
            made.setblocking(False)
            try:
                await asyncio.get_running_loop().sock_connect(made, str(self._path))
            except OSError as error:
                made.close()
                if time.monotonic() > until:
                    raise EnvError("machine_gone", f"{self._name} is not there: {error}") from error
                await asyncio.sleep(_RETRY_SECONDS)
            else:
                self._socket = made
                return

    async def greet(self, seconds: float) -> None:
        """Begin the talk with a monitor; raises EnvError."""
        async with self._lock, _Deadline(self._name, seconds):
            await self._line()
        await self.ask("qmp_capabilities", seconds=seconds)

    async def sync(self, seconds: float) -> None:
        """Begin the talk with an agent, or begin anew: a new token has come back. Raises EnvError."""
        token = secrets.randbits(48)
        request = json.dumps({"execute": "guest-sync-delimited", "arguments": {"id": token}})
        async with self._lock, _Deadline(self._name, seconds):
            await self._send(_SENTINEL + request.encode() + b"\n", None)
            while True:
                _, found, answer = (await self._line()).rpartition(_SENTINEL)
                if found and _loaded(answer, self._name).get("return") == token:
                    return

    async def ask(
        self, command: str, arguments: Mapping[str, object] | None = None, *, seconds: float, file: int | None = None
    ) -> Any:
        """The answer to a command, which may come with an open file; raises RefusedError or EnvError."""
        async with self._lock, _Deadline(f"{self._name} ({command})", seconds):
            self._number += 1
            request = {"execute": command, "arguments": arguments or {}, "id": self._number}
            await self._send(json.dumps(request).encode() + b"\n", file)
            while True:
                answer = _loaded(await self._line(), self._name)
                if answer.get("id") == self._number:
                    break
        if "error" in answer:
            raise RefusedError(str(answer["error"].get("desc", answer["error"])))
        return answer.get("return")

    def close(self) -> None:
        """End the connection; again is harmless."""
        if self._socket is not None:
            self._socket.close()
            self._socket = None

    async def _send(self, data: bytes, file: int | None) -> None:
        connection = self._connected()
        try:
            if file is not None:
                socket.send_fds(connection, [data], [file])
            else:
                await asyncio.get_running_loop().sock_sendall(connection, data)
        except OSError as error:
            raise EnvError("machine_gone", f"{self._name} takes nothing: {error}") from error

    async def _line(self) -> bytes:
        connection, searched = self._connected(), 0
        while (end := self._buffer.find(b"\n", searched)) < 0:
            searched = len(self._buffer)
            try:
                chunk = await asyncio.get_running_loop().sock_recv(connection, _CHUNK)
            except OSError as error:
                raise EnvError("machine_gone", f"{self._name} is gone: {error}") from error
            if not chunk or searched > _MOST_BYTES:
                raise EnvError("machine_gone", f"{self._name} has ended the talk")
            self._buffer += chunk
        line = bytes(self._buffer[:end])
        del self._buffer[: end + 1]
        return line

    def _connected(self) -> socket.socket:
        if self._socket is None:
            raise EnvError("machine_gone", f"{self._name} is not connected")
        return self._socket


class _Deadline:
    """Turns the end of a time into EnvError `no_answer`."""

    def __init__(self, name: str, seconds: float) -> None:
        self._name, self._seconds = name, seconds
        self._timeout = asyncio.timeout(seconds)

    async def __aenter__(self) -> None:
        await self._timeout.__aenter__()

    async def __aexit__(self, *error: Any) -> None:
        try:
            await self._timeout.__aexit__(*error)
        except TimeoutError as late:
            raise EnvError("no_answer", f"{self._name} did not answer in {self._seconds:g} s") from late


def _loaded(line: bytes, name: str) -> dict[str, Any]:
    try:
        answer = json.loads(line)
    except ValueError as error:
        raise EnvError("no_answer", f"{name} said {line[:200]!r}") from error
    if not isinstance(answer, dict):
        raise EnvError("no_answer", f"{name} said {line[:200]!r}")
    return answer
