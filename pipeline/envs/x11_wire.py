"""A connection to an X server, as the core protocol of version 11 spells it: requests, replies, errors, events.

It is our own so that a display of ours is reached by the cookie we made, and so that a server that hangs costs a
deadline and not a thread. Requests without an answer are sent in one batch before the next that has one. Knows nothing
of keyboards, pictures or windows.
"""

from __future__ import annotations

import socket
import struct
import threading
import time
from collections import deque
from typing import NamedTuple

from pipeline.errors import EnvError

CALL_SECONDS = 10.0
"""What the server has for one answer."""

_COOKIE = b"MIT-MAGIC-COOKIE-1"
_HEAD = 32
_REPLY, _ERROR, _GENERIC = 1, 0, 35
_SENT = 0x80
"""Set in the kind of events that a client has sent."""
_QUERY_EXTENSION = 98


class RefusedError(Exception):
    """The server refused a request, as of a window that has just gone."""

    def __init__(self, code: int, opcode: int) -> None:
        super().__init__(f"X error {code} to request {opcode}")
        self.code = code


class Screen(NamedTuple):
    """What the server said of itself."""

    root: int
    width: int
    height: int
    min_keycode: int
    max_keycode: int
    release: int


class Event(NamedTuple):
    """Something that happened, without the mark of events that clients send."""

    kind: int
    body: bytes


class Wire:
    """One client of one display."""

    def __init__(self, number: int, cookie: bytes) -> None:
        """Connect to display `:number`; raises EnvError."""
        self._socket = socket.socket(socket.AF_UNIX)
        self._socket.settimeout(CALL_SECONDS)
        self._out = bytearray()
        self._sequence = 0
        self._extensions: dict[str, tuple[int, int]] = {}
        self._refused: list[RefusedError] = []
        self.events: deque[Event] = deque()
        """What has happened and nobody has taken yet."""
        self.unwanted = threading.Event()
        """Set while nobody wants what is being asked for: the next answer is the last."""
        try:
            self._socket.connect(f"/tmp/.X11-unix/X{number}")
            self.screen = self._greet(cookie)
        except (OSError, EnvError) as error:
            self.close()
            raise EnvError("display_gone", f"no X server answers at :{number}: {error}") from error

    def close(self) -> None:
        """End the connection; again is harmless."""
        self._socket.close()

    def new_id(self) -> int:
        """A number for something that this client makes."""
        self._last_id += 1
        return self._base | self._last_id

    def extension(self, name: str) -> tuple[int, int]:
        """Opcode and first event of an extension; raises EnvError when the server has none of that name."""
        if name not in self._extensions:
            body = struct.pack("<HH", len(name), 0) + name.encode()
            there, opcode, first = struct.unpack_from("<xxxxxxxx?BB", self.ask(_QUERY_EXTENSION, 0, body))
            if not there:
                raise EnvError("display_gone", f"the X server has no extension {name}")
            self._extensions[name] = opcode, first
        return self._extensions[name]

    def send(self, opcode: int, data: int, body: bytes = b"") -> None:
        """A request without an answer; it leaves with the next one that has one."""
        padded = body + bytes(-len(body) % 4)
        self._out += struct.pack("<BBH", opcode, data, 1 + len(padded) // 4) + padded
        self._sequence = (self._sequence + 1) & 0xFFFF

    def hand(self, file: int, opcode: int, data: int, body: bytes) -> None:
        """A request that comes with an open file of ours; it leaves at once."""
        self._flush()
        self.send(opcode, data, body)
        out, self._out = self._out, bytearray()
        try:
            socket.send_fds(self._socket, [out], [file])
        except OSError as error:
            raise EnvError("display_gone", f"the X server takes nothing: {error}") from error

    def ask(self, opcode: int, data: int, body: bytes = b"") -> bytes:
        """The answer to a request, head and all; raises RefusedError, also of earlier ones, or EnvError."""
        self.send(opcode, data, body)
        mine = self._sequence
        self._flush()
        while True:
            head = self._read(_HEAD)
            kind, sequence = head[0], int.from_bytes(head[2:4], "little")
            if kind == _REPLY:
                answer = head + self._read(4 * int.from_bytes(head[4:8], "little"))
                if sequence == mine:
                    self._complain()
                    self._give_up()
                    return answer
            elif kind == _ERROR:
                self._refused.append(RefusedError(head[1], head[10]))
                if sequence == mine:
                    self._complain()
            else:
                self._note(head)

    def wait_for_event(self, seconds: float) -> bool:
        """Whether something happened in so many seconds, or had happened; it is in `events`."""
        self._give_up()
        self._flush()
        until = time.monotonic() + seconds
        while not self.events:
            left = until - time.monotonic()
            if left <= 0:
                return False
            self._socket.settimeout(left)
            try:
                first = self._socket.recv(1)
            except TimeoutError:
                return False
            except OSError as error:
                raise EnvError("display_gone", f"the X server is gone: {error}") from error
            finally:
                self._socket.settimeout(CALL_SECONDS)
            if not first:
                raise EnvError("display_gone", "the X server has ended")
            head = first + self._read(_HEAD - 1)
            if head[0] == _ERROR:
                self._refused.append(RefusedError(head[1], head[10]))
            elif head[0] != _REPLY:
                self._note(head)
        return True

    def _greet(self, cookie: bytes) -> Screen:
        name = _COOKIE + bytes(-len(_COOKIE) % 4)
        data = cookie + bytes(-len(cookie) % 4)
        self._socket.sendall(struct.pack("<BxHHHHxx", 0x6C, 11, 0, len(_COOKIE), len(cookie)) + name + data)
        head = self._read(8)
        body = self._read(4 * int.from_bytes(head[6:8], "little"))
        if head[0] != 1:
            raise EnvError("display_gone", f"refused: {body[: head[1]].decode(errors='replace')}")
        self._base, self._last_id = int.from_bytes(body[4:8], "little"), 0
        vendor, formats = struct.unpack_from("<16xHxxxB", body)
        at = 32 + vendor + (-vendor % 4) + 8 * formats
        root, width, height = struct.unpack_from("<I16xHH", body, at)
        release = int.from_bytes(body[:4], "little")
        return Screen(root, width, height, body[26], body[27], release)

    def _note(self, head: bytes) -> None:
        kind = head[0] & ~_SENT
        extra = self._read(4 * int.from_bytes(head[4:8], "little")) if kind == _GENERIC else b""
        self.events.append(Event(kind, head + extra))

    def _give_up(self) -> None:
        """Between two messages, so that the next one who asks finds an answer of their own."""
        if self.unwanted.is_set():
            raise EnvError("display_unwanted", "nobody waits any more for what is asked of the X server")

    def _complain(self) -> None:
        if self._refused:
            first = self._refused[0]
            self._refused.clear()
            raise first

    def _flush(self) -> None:
        out, self._out = self._out, bytearray()
        try:
            self._socket.sendall(out)
        except OSError as error:
            raise EnvError("display_gone", f"the X server takes nothing: {error}") from error

    def _read(self, count: int) -> bytes:
        answer = bytearray(count)
        view, done = memoryview(answer), 0
        try:
            while done < count:
                got = self._socket.recv_into(view[done:])
                if not got:
                    raise EnvError("display_gone", "the X server has ended")
                done += got
        except OSError as error:
            raise EnvError("display_gone", f"the X server does not answer: {error}") from error
        return bytes(answer)
