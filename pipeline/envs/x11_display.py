"""What is asked of an X server: pictures with the pointer, input as of real devices, keyboards, windows.

Extensions used are XTEST, XFIXES, DAMAGE and MIT-SHM. Knows nothing of sessions or of what is shown.
"""

from __future__ import annotations

import mmap
import os
import struct
from typing import NamedTuple

from pipeline.actions import Pixel
from pipeline.envs.machine import Window
from pipeline.envs.x11_wire import RefusedError, Wire

KEY_PRESS, KEY_RELEASE, BUTTON_PRESS, BUTTON_RELEASE, MOTION = 2, 3, 4, 5, 6
CLIENT_MESSAGE = 33

_CHANGE_ATTRIBUTES, _INTERN_ATOM, _GET_PROPERTY, _SEND_EVENT = 2, 16, 20, 25
_QUERY_POINTER, _GET_INPUT_FOCUS, _QUERY_KEYMAP = 38, 43, 44
_CHANGE_MAPPING, _GET_MAPPING, _GET_MODIFIERS = 100, 101, 119
_FAKE_INPUT = 2
_SHM_GET_IMAGE, _SHM_ATTACH_FILE = 4, 6
_CURSOR_IMAGE, _FIXES_VERSION = 4, (5, 0)
_DAMAGE_CREATE, _DAMAGE_SUBTRACT, _DAMAGE_VERSION = 1, 3, (1, 1)
_NON_EMPTY = 3
_BACK_PIXEL, _CLEAR_AREA = 2, 61
_PIXMAP, _ALL_PLANES = 2, 0xFFFF_FFFF
_EVENT_MASK_VALUE, _SUBSTRUCTURE = 0x800, 0x0008_0000
_LONGEST_PROPERTY = 4096


class Cursor(NamedTuple):
    """The pointer's picture: where its top left corner is, and its pixels (premultiplied BGRA)."""

    left: int
    top: int
    width: int
    height: int
    pixels: bytes


class Keymap(NamedTuple):
    """Keysyms by keycode, as many columns for each; the first column is what a bare press means."""

    first: int
    columns: int
    keysyms: tuple[int, ...]

    def row(self, keycode: int) -> tuple[int, ...]:
        """The keysyms of a key."""
        at = (keycode - self.first) * self.columns
        return self.keysyms[at : at + self.columns]


class Held(NamedTuple):
    """What is pressed now."""

    keycodes: list[int]
    buttons: list[int]
    caps: bool


class Display:
    """One display, seen by one client."""

    def __init__(self, number: int, cookie: bytes) -> None:
        """Connect; raises EnvError."""
        self._wire = Wire(number, cookie)
        self._atoms: dict[str, int] = {}
        self.screen = self._wire.screen
        self.unwanted = self._wire.unwanted
        """Set, it ends a call that is being made at its next answer."""
        self._xtest, _ = self._wire.extension("XTEST")
        self._fixes, _ = self._wire.extension("XFIXES")
        self._damage, self._damaged = self._wire.extension("DAMAGE")
        self._wire.ask(self._fixes, 0, struct.pack("<II", *_FIXES_VERSION))
        self._wire.ask(self._damage, 0, struct.pack("<II", *_DAMAGE_VERSION))
        self._watch = self._wire.new_id()
        self._wire.send(self._damage, _DAMAGE_CREATE, struct.pack("<IIBxxx", self._watch, self.screen.root, _NON_EMPTY))
        self._wire.send(_CHANGE_ATTRIBUTES, 0, struct.pack("<III", self.screen.root, _EVENT_MASK_VALUE, _SUBSTRUCTURE))
        self._shm, _ = self._wire.extension("MIT-SHM")
        self._segment = self._wire.new_id()
        self._pixels = self._shared()
        self.sync()

    def close(self) -> None:
        """End the connection."""
        self._wire.close()
        self._pixels.close()

    def sync(self) -> None:
        """Return when everything sent before has been done; raises RefusedError or EnvError."""
        self._wire.ask(_GET_INPUT_FOCUS, 0)

    def fake(self, kind: int, detail: int, spot: Pixel | None = None) -> None:
        """Input as of a real device: a key or button pressed or released, or the pointer moved; sent by `sync`."""
        x, y = (spot.x, spot.y) if spot is not None else (0, 0)
        body = struct.pack("<BBxxII8xhh8x", kind, detail, 0, self.screen.root if kind == MOTION else 0, x, y)
        self._wire.send(self._xtest, _FAKE_INPUT, body)

    def image(self) -> bytes:
        """The pixels of the whole screen, BGRX."""
        screen = self.screen
        body = struct.pack(
            "<IhhHHIBxxxII", screen.root, 0, 0, screen.width, screen.height, _ALL_PLANES, _PIXMAP, self._segment, 0
        )
        self._wire.ask(self._shm, _SHM_GET_IMAGE, body)
        return self._pixels[:]

    def cursor(self) -> Cursor:
        """The pointer's picture."""
        answer = self._wire.ask(self._fixes, _CURSOR_IMAGE)
        x, y, width, height, hot_x, hot_y = struct.unpack_from("<8xhhHHHH", answer)
        return Cursor(x - hot_x, y - hot_y, width, height, answer[32 : 32 + 4 * width * height])

    def keymap(self) -> Keymap:
        """What the keys mean now."""
        first, count = self.screen.min_keycode, self.screen.max_keycode - self.screen.min_keycode + 1
        answer = self._wire.ask(_GET_MAPPING, 0, struct.pack("<BBxx", first, count))
        return Keymap(first, answer[1], struct.unpack_from(f"<{count * answer[1]}I", answer, 32))

    def remap(self, keysyms: dict[int, int], columns: int) -> None:
        """Give keys a meaning that no modifier changes."""
        for keycode, keysym in keysyms.items():
            row = struct.pack(f"<{columns}I", *[keysym] * columns)
            self._wire.send(_CHANGE_MAPPING, 1, struct.pack("<BBxx", keycode, columns) + row)
        self.sync()

    def modifier_keys(self) -> set[int]:
        """Keycodes that are modifiers."""
        return set(self._wire.ask(_GET_MODIFIERS, 0)[32:]) - {0}

    def held(self) -> Held:
        """What is pressed now, and whether Caps Lock is on."""
        bits = self._wire.ask(_QUERY_KEYMAP, 0)[8:40]
        keycodes = [code for code in range(256) if bits[code // 8] >> (code % 8) & 1]
        (mask,) = struct.unpack_from("<24xH", self._wire.ask(_QUERY_POINTER, 0, struct.pack("<I", self.screen.root)))
        buttons = [number for number in range(1, 6) if mask >> (7 + number) & 1]
        return Held(keycodes, buttons, bool(mask & 2))

    def paint(self, colour: int) -> None:
        """Give the desktop itself a colour, 0xRRGGBB."""
        root = self.screen.root
        self._wire.send(_CHANGE_ATTRIBUTES, 0, struct.pack("<III", root, _BACK_PIXEL, colour))
        self._wire.send(_CLEAR_AREA, 0, struct.pack("<IhhHH", root, 0, 0, 0, 0))
        self.sync()

    def is_managed(self) -> bool:
        """Whether a window manager has taken over."""
        return bool(self._numbers(self.screen.root, "_NET_SUPPORTING_WM_CHECK"))

    def windows(self) -> list[Window]:
        """Windows of programs as the window manager lists them, from the bottom to the top."""
        active, found = self.active_window(), []
        for window in self._numbers(self.screen.root, "_NET_CLIENT_LIST_STACKING"):
            try:
                title = self._property(window, "_NET_WM_NAME") or self._property(window, "WM_NAME")
                kind = self._property(window, "WM_CLASS").split(b"\0")
            except RefusedError:
                continue  # it went meanwhile
            name = kind[1] if len(kind) > 1 else kind[0]
            found.append(Window(title.decode(errors="replace"), name.decode(errors="replace"), window == active))
        return found

    def active_window(self) -> int:
        """The window that has the focus; 0 where there is none."""
        return next(iter(self._numbers(self.screen.root, "_NET_ACTIVE_WINDOW")), 0)

    def answers_pings(self, window: int) -> bool:
        """Whether a window's program says that it tells when it has come so far."""
        try:
            return self._atom("_NET_WM_PING") in self._numbers(window, "WM_PROTOCOLS")
        except RefusedError:
            return False

    def ping(self, window: int, token: int) -> None:
        """Ask a window's program to tell when it has come so far; the answer is a `pong`."""
        numbers = (self._atom("_NET_WM_PING"), token, window, 0, 0)
        event = struct.pack("<BBHII5I", CLIENT_MESSAGE, 32, 0, window, self._atom("WM_PROTOCOLS"), *numbers)
        self._wire.send(_SEND_EVENT, 0, struct.pack("<II", window, 0) + event)

    def take(self, seconds: float) -> tuple[bool, list[int]]:
        """What happened by now, or else within so many seconds: whether anything was drawn, and tokens answered."""
        drawn, pongs = False, []
        if self._wire.wait_for_event(seconds):
            while self._wire.events:
                event = self._wire.events.popleft()
                if event.kind == self._damaged:
                    drawn = True
                elif event.kind == CLIENT_MESSAGE and self._is_ping(event.body):
                    pongs.append(int.from_bytes(event.body[16:20], "little"))
        if drawn:
            self._wire.send(self._damage, _DAMAGE_SUBTRACT, struct.pack("<III", self._watch, 0, 0))
        return drawn, pongs

    def _shared(self) -> mmap.mmap:
        """Memory into which the server writes pictures, as large as the screen."""
        size = 4 * self.screen.width * self.screen.height
        file = os.memfd_create("pathproof-screen")
        try:
            os.truncate(file, size)
            self._wire.hand(file, self._shm, _SHM_ATTACH_FILE, struct.pack("<I?xxx", self._segment, False))
            return mmap.mmap(file, size)
        finally:
            os.close(file)

    def _is_ping(self, body: bytes) -> bool:
        return int.from_bytes(body[12:16], "little") == self._atom("_NET_WM_PING")

    def _atom(self, name: str) -> int:
        if name not in self._atoms:
            answer = self._wire.ask(_INTERN_ATOM, 0, struct.pack("<HH", len(name), 0) + name.encode())
            self._atoms[name] = int.from_bytes(answer[8:12], "little")
        return self._atoms[name]

    def _property(self, window: int, name: str) -> bytes:
        body = struct.pack("<IIIII", window, self._atom(name), 0, 0, _LONGEST_PROPERTY)
        answer = self._wire.ask(_GET_PROPERTY, 0, body)
        width, count = answer[1] // 8, int.from_bytes(answer[16:20], "little")
        return answer[32 : 32 + width * count]

    def _numbers(self, window: int, name: str) -> tuple[int, ...]:
        value = self._property(window, name)
        return struct.unpack(f"<{len(value) // 4}I", value[: len(value) // 4 * 4])
