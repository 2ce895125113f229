"""A machine without a screen: one program, a pad whose text Control+s writes to a file; it can break on command.

It speaks as real machines do, so that what is built on them is tried in milliseconds, faults included.
"""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Mapping, Sequence

from pipeline.actions import Model, Pixel
from pipeline.envs.fake_picture import draw
from pipeline.envs.keysyms import keysym_of, keysym_of_character
from pipeline.envs.machine import Button, Machine, Ran, Seen, Window
from pipeline.envs.machine_restore import MARK
from pipeline.errors import ActionError, CaptureError, EnvError, SetupError, TreeError
from pipeline.structs import Box, Node

WIDTH, HEIGHT = 640, 400
PROGRAM, FILE = "pad", "Documents/pad.txt"

_FIELD = Box(left=10, top=40, right=630, bottom=390)


class MachineFaults(Model):
    """What breaks, and how often; -1 is always."""

    failing_reverts: int = 0
    stale_reverts: int = 0
    """Reverts that say they are done and leave the mark of before where it is."""
    failing_writes: int = 0
    failing_captures: int = 0
    failing_leaves: int = 0
    failing_closes: int = 0
    hanging_closes: int = 0
    """Ends that do not come by themselves."""
    no_window: bool = False
    """Programs are started and never show."""
    losing_text: bool = False
    """Typed text does not arrive."""
    slow_saves: int = 0
    """How often the pad is still at work on its file when it is looked at."""


class FakeMachine(Machine):
    """The pad, in memory."""

    provider = "fake"
    build = "1"
    home = "/home/user"

    def __init__(self, name: str = "fake-0", faults: MachineFaults | None = None) -> None:
        self.name = name
        self.boots, self.reverts, self.closes = 0, 0, 0
        self._left = (faults or MachineFaults()).model_dump()
        self._files: dict[str, bytes] = {}
        self._held: set[str] = set()
        self._open = False
        self._text = ""
        self._saving: bytes | None = None
        """What the pad is about to write."""

    async def boot(self) -> None:
        """Count."""
        self.boots += 1

    async def speak(self, locale: str, layout: str) -> None:
        """It has one language only."""

    async def revert(self) -> None:
        """Forget everything, or not."""
        self.reverts += 1
        if self._fails("failing_reverts"):
            raise SetupError("not_restored", "this machine does not come back")
        self._open, self._text, self._held, self._saving = False, "", set(), None
        stale = MARK in self._files and self._fails("stale_reverts")
        self._files = {MARK: self._files[MARK]} if stale else {}

    async def leave(self) -> None:
        """Close the pad, or not."""
        if self._fails("failing_leaves"):
            raise EnvError("not_torn_down", "a program does not end")
        self._open = False

    async def close(self) -> None:
        """End, or not, or never."""
        if self._fails("hanging_closes"):
            await asyncio.Event().wait()
        self.closes += 1
        if self._fails("failing_closes"):
            raise EnvError("not_torn_down", "the machine does not end")

    async def capture(self) -> bytes:
        """A drawing of the pad."""
        if self._fails("failing_captures"):
            raise CaptureError("empty", "the capture returned nothing")
        return draw(self._nodes(), WIDTH, HEIGHT).image.bytes

    async def settle(self, most_seconds: float) -> bool:
        """It is always at rest."""
        del most_seconds
        return True

    async def works(self) -> bool:
        """Whether a save is not done yet."""
        if self._saving is not None and not self._fails("slow_saves"):
            self._files[FILE], self._saving = self._saving, None
        return self._saving is not None

    async def tree(self) -> Seen:
        """The pad's nodes."""
        if not self._open:
            raise TreeError("unavailable", "no program tells what it shows")
        return Seen(self._nodes(), partial=False)

    async def node_at(self, pixel: Pixel) -> Node | None:
        """The pad's field, or nothing."""
        return next((node for node in self._nodes() if node.box is not None and node.box.contains(pixel)), None)

    async def windows(self) -> list[Window]:
        """The pad's window when it is open."""
        return [Window("Pad", "Pad", active=True)] if self._open else []

    async def pointer(self, pixel: Pixel) -> None:
        """Nothing follows it."""

    async def button(self, button: Button, *, down: bool) -> None:
        """Keep what is held."""
        self._hold(button, down)

    async def key(self, name: str, *, down: bool) -> None:
        """Keep what is held; Control+s writes the file."""
        if keysym_of(name) is None:
            raise ActionError("bad_arguments", f"there is no key '{name}'")
        self._hold(name, down)
        if {"Control_L", "s"} <= self._held:
            self._saving = self._text.encode()
            await self.works()

    async def type_text(self, text: str) -> None:
        """Add it to the pad's text."""
        missing = sorted({character for character in text if keysym_of_character(character) is None})
        if missing:
            raise ActionError("text_not_delivered", f"no key enters {', '.join(map(ascii, missing))}")
        if not self._left["losing_text"]:
            self._text += text

    async def release_all(self) -> None:
        """Let go of everything."""
        self._held.clear()

    async def launch(self, argv: Sequence[str], environment: Mapping[str, str]) -> None:
        """Open the pad; there is no other program."""
        del environment
        if argv[0] != PROGRAM:
            raise EnvError("program_missing", f"there is no program {argv[0]}")
        self._open = not self._left["no_window"]

    async def run(self, argv: Sequence[str], *, seconds: float) -> Ran:
        """`echo`, and `find`, which finds nothing."""
        del seconds
        if argv[0] == "find":
            return Ran(0, b"", b"")
        if argv[0] != "echo":
            raise EnvError("program_missing", f"there is no program {argv[0]}")
        return Ran(0, " ".join(argv[1:]).encode() + b"\n", b"")

    async def read(self, path: str) -> bytes:
        """The content of a file."""
        if path not in self._files:
            raise FileNotFoundError(path)
        return self._files[path]

    async def write(self, path: str, content: bytes) -> None:
        """Make or replace a file, or not."""
        if self._fails("failing_writes"):
            raise OSError(f"{path} cannot be written")
        self._files[path] = content

    async def remove(self, path: str) -> None:
        """Remove a file."""
        self._files.pop(path, None)

    async def files(self, folder: str = "") -> dict[str, str]:
        """Fingerprints of the files."""
        return {
            path: hashlib.sha256(content).hexdigest()
            for path, content in self._files.items()
            if path.startswith(f"{folder}/" if folder else "")
        }

    def _nodes(self) -> list[Node]:
        if not self._open:
            return []
        return [Node(role="textbox", name="", value=self._text, box=_FIELD, states=["editable", "focused"])]

    def _hold(self, name: str, down: bool) -> None:
        if down:
            self._held.add(name)
        else:
            self._held.discard(name)

    @property
    def held(self) -> frozenset[str]:
        """What is pressed now."""
        return frozenset(self._held)

    def _fails(self, fault: str) -> bool:
        """Whether it breaks this time; one time less is left."""
        left = self._left[fault]
        if left > 0:
            self._left[fault] = left - 1
        return bool(left)
