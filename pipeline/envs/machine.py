"""The seam between the desktop environment and a machine: what can be seen, touched, asked for files and put back.

A machine is a private X display of this computer or a virtual machine; the environment knows only what stands here. All
pixels are those of the whole screen, whose size never changes. Files are named relative to the home folder of the
session's user, with `/` between parts. Every call ends within a time of its own: what does not answer in time raises
EnvError (SetupError from `boot` and `revert`), and the machine is then not used again.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from typing import Literal, NamedTuple, Protocol

from pipeline.actions import Pixel
from pipeline.structs import Node

Button = Literal["left", "middle", "right", "scroll_up", "scroll_down", "scroll_left", "scroll_right"]
"""A button of the pointer; one notch of a wheel is a press and a release of its own button."""

MODIFIERS = ("Shift_L", "Control_L", "Alt_L", "Super_L")
"""Keysym names of the modifiers that actions use."""

NODES = 1500
TREE_SECONDS = 3.0
"""What one look at a tree may take: so many nodes, so long."""


class Seen(NamedTuple):
    """A UI tree; `partial` when nodes or time ran out before all of it was read."""

    nodes: list[Node]
    partial: bool


class Window(NamedTuple):
    """A window of a program, from the bottom of the screen to its top; `kind` is its WM_CLASS."""

    title: str
    kind: str
    active: bool


class Ran(NamedTuple):
    """A program that has ended."""

    code: int
    out: bytes
    err: bytes


class Machine(Protocol):
    """A desktop that one worker owns."""

    name: str
    """Which one it is, among all of this computer."""
    provider: str
    build: str
    """What runs there: versions, or the hash of an image. Known after `revert`."""
    home: str
    """Where the home folder lies in the machine's own file system; known after `revert`."""
    patience: float = 1.0
    """How many times as long as on this computer itself everything may take; the most it may be, until `boot`."""

    def clock(self) -> float:
        """A time in seconds by which the machine may be waited for; raises EnvError when it is gone."""
        return time.monotonic()

    async def boot(self) -> None:
        """Make ready whatever is needed once; raises SetupError. No session may run yet."""
        ...

    async def speak(self, locale: str, layout: str) -> None:
        """The language (`en_US`) of programs that are launched from now on, and the keyboard's layout (`us`).

        Raises SetupError when the machine has none of them.
        """
        ...

    async def revert(self) -> None:
        """Back to the prepared state: no program of before runs, its files are gone, nothing is held.

        Raises SetupError. Whether it really is so is asked by `machine_restore.restore`, which is the one that calls.
        """
        ...

    async def leave(self) -> None:
        """End the episode: its programs run no longer. A machine that raises EnvError here is not used again."""
        ...

    async def close(self) -> None:
        """Leave nothing behind; raises EnvError when something could not be removed."""
        ...

    async def capture(self) -> bytes:
        """A PNG of the whole screen with the pointer on it; raises CaptureError, or EnvError when it is gone."""
        ...

    async def settle(self, most_seconds: float) -> bool:
        """Wait until the screen is at rest; whether it came to rest in time."""
        ...

    async def works(self) -> bool:
        """Whether a program has something to do at this moment, also one that others leave no processor for."""
        ...

    async def tree(self) -> Seen:
        """The UI tree of the windows that show, in reading order; raises TreeError with the reason when there is none.

        An empty tree is never returned: programs that show something and say nothing are `unavailable`.
        """
        ...

    async def node_at(self, pixel: Pixel) -> Node | None:
        """What the program in front says lies under a pixel; nothing where it does not say."""
        ...

    async def windows(self) -> list[Window]:
        """The windows of programs, none of the desktop's own."""
        ...

    async def pointer(self, pixel: Pixel) -> None:
        """Move the pointer there."""
        ...

    async def button(self, button: Button, *, down: bool) -> None:
        """Press or release a button where the pointer is."""
        ...

    async def key(self, name: str, *, down: bool) -> None:
        """Press or release a key by its X keysym name or its one character, as the layout's plain key where it has one.

        Raises ActionError `bad_arguments` when there is no such key.
        """
        ...

    async def type_text(self, text: str) -> None:
        """Enter text where the focus is, whatever the layout; a newline is Return, a tab is Tab.

        Raises ActionError `text_not_delivered`, which names the characters that cannot be entered, before any is.
        """
        ...

    async def release_all(self) -> None:
        """Release whatever is held: keys, buttons."""
        ...

    async def launch(self, argv: Sequence[str], environment: Mapping[str, str]) -> None:
        """Start a program in the session, in the home folder, and do not wait for it; raises EnvError."""
        ...

    async def run(self, argv: Sequence[str], *, seconds: float) -> Ran:
        """Run a program in the session to its end, without a shell; raises EnvError when it takes longer."""
        ...

    async def read(self, path: str) -> bytes:
        """The content of a file; raises FileNotFoundError, also for what is no file, or ValueError when the path leaves
        the home folder, or OSError when it cannot be read or is larger than anybody should look into."""
        ...

    async def write(self, path: str, content: bytes) -> None:
        """Make or replace a file, and the folders it lies in; raises ValueError as `read` does."""
        ...

    async def remove(self, path: str) -> None:
        """Remove a file or a folder with all in it; one that is not there is no error."""
        ...

    async def files(self, folder: str = "") -> dict[str, str]:
        """SHA-256 of every file below a folder by its path (relative to home), and `folder` for `path/` of folders.

        What cannot be hashed has another value, as in `found_files`. Links are not followed and not listed; a folder
        that is not there has no files.
        """
        ...
