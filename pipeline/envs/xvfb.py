"""A machine on a private X display of this computer: a new session for every episode, in about a second.

Its prepared state is a home folder in which only the session's own settings lie. Programs run as the user we are.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import shutil
import signal
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Concatenate, ParamSpec, TypeVar

from pipeline.actions import Pixel
from pipeline.apart import NO_NETWORKS
from pipeline.app_state import inside
from pipeline.debian_install import DESKTOP, demand
from pipeline.envs import locales
from pipeline.envs.atspi import COMMAND, TreeReader
from pipeline.envs.home_files import fingerprints
from pipeline.envs.machine import Button, Machine, Ran, Seen, Window
from pipeline.envs.screen_png import png_of
from pipeline.envs.x11_display import BUTTON_PRESS, BUTTON_RELEASE, MOTION, Display
from pipeline.envs.x11_rest import settle
from pipeline.envs.x11_typing import Keyboard
from pipeline.envs.x11_wire import RefusedError
from pipeline.envs.xvfb_session import Session
from pipeline.errors import EnvError, SetupError, TreeError
from pipeline.found_files import clear, read
from pipeline.room import FairClock
from pipeline.structs import Node
from pipeline.threads import to_end

_BUTTONS: Mapping[Button, int] = {
    "left": 1,
    "middle": 2,
    "right": 3,
    "scroll_up": 4,
    "scroll_down": 5,
    "scroll_left": 6,
    "scroll_right": 7,
}
_LAYOUT_SECONDS = 10.0
_LONGEST_LINE = 16_000_000

_P = ParamSpec("_P")
_T = TypeVar("_T")


class XvfbMachine(Machine):
    """One desktop of this computer."""

    provider = "xvfb"

    def __init__(
        self, name: str = "xvfb", make: Callable[[Path], Session] = Session, *, isolated: bool = False
    ) -> None:
        """Nothing is started yet; `make` makes a session that finds compiled locales in a folder.

        Where its programs must be `isolated`, one that has a network is refused.
        """
        self.name = name
        self.build = ""
        self.home = ""
        self._make = make
        self._isolated = isolated
        self._session: Session | None = None
        self._keyboard: Keyboard | None = None
        self._trees: TreeReader | None = None
        self._lock = asyncio.Lock()
        self._clock = FairClock()

    def clock(self) -> float:
        """A time that stands still while others leave us and the session's programs no room."""
        return self._clock()

    async def boot(self) -> None:
        """See that what a session is made of is there; raises SetupError that names the packages."""
        await asyncio.to_thread(demand, DESKTOP, "a desktop")

    async def revert(self) -> None:
        """End the session, and begin another one; raises SetupError."""
        try:
            await self.leave()
        except EnvError as error:
            raise SetupError(error.code, error.message) from error
        session = await self._begun()
        if self._isolated and not session.apart:
            raise SetupError("network_open", f"programs of a desktop would have a network: {NO_NETWORKS}")
        await session.start()
        self.home = str(session.home)
        try:
            network = "no network" if session.apart else "the network of its host"
            self.build = f"x.org {session.display.screen.release}, {network}"
            self._keyboard = await self._on_display(Keyboard, self._clock)
        except EnvError as error:
            raise SetupError("session_not_started", error.message) from error
        self._trees = TreeReader(lambda: self._piped(session, COMMAND))
        try:
            await self._trees.check()
        except TreeError:
            # Said again when a tree is asked for. Programs are told to look for no bus.
            session.environment |= {"NO_AT_BRIDGE": "1", "GTK_MODULES": ""}

    async def speak(self, locale: str, layout: str) -> None:
        """Set language and layout; raises SetupError."""
        name = await asyncio.to_thread(locales.provide, locale)
        session = self._running()
        session.environment |= {"LANG": name, "LC_ALL": name, "LANGUAGE": locale}
        try:
            ran = await self.run(["setxkbmap", "-layout", layout], seconds=_LAYOUT_SECONDS)
            if ran.code != 0:
                raise SetupError("no_layout", f"no keyboard layout {layout}: {ran.err.decode(errors='replace')}")
            self._keyboard = await self._on_display(Keyboard, self._clock)
        except EnvError as error:
            raise SetupError(error.code, error.message) from error

    async def leave(self) -> None:
        """End the session with everything in it; raises EnvError when something stays, which is tried again then."""
        if self._trees is not None:
            await self._trees.close()
        if self._session is not None:
            async with self._lock:
                await to_end(self._session.close)
        self._session, self._keyboard, self._trees = None, None, None

    async def close(self) -> None:
        """As `leave`: nothing outlives a session."""
        await self.leave()

    async def capture(self) -> bytes:
        """The screen with the pointer; raises EnvError."""
        return await self._on_display(_pictured)

    async def settle(self, most_seconds: float) -> bool:
        """Wait until the screen is at rest; raises EnvError."""
        return await self._on_display(settle, most_seconds, self._clock)

    async def works(self) -> bool:
        """Whether a program has something to do; raises EnvError."""
        return await asyncio.to_thread(self._running().works)

    async def tree(self) -> Seen:
        """The UI tree; raises TreeError."""
        return await self._reader().tree()

    async def node_at(self, pixel: Pixel) -> Node | None:
        """What lies there; nothing where no program says."""
        try:
            return await self._reader().node_at(pixel)
        except TreeError:
            return None

    async def windows(self) -> list[Window]:
        """The windows; raises EnvError."""
        return await self._on_display(Display.windows)

    async def pointer(self, pixel: Pixel) -> None:
        """Move the pointer; raises EnvError."""
        await self._on_display(_faked, MOTION, 0, pixel)

    async def button(self, button: Button, *, down: bool) -> None:
        """Press or release a button; raises EnvError."""
        await self._on_display(_faked, BUTTON_PRESS if down else BUTTON_RELEASE, _BUTTONS[button], None)

    async def key(self, name: str, *, down: bool) -> None:
        """Press or release a key; raises ActionError or EnvError."""
        keyboard = self._keys()
        await self._on_display(lambda _: keyboard.press(name, down=down))

    async def type_text(self, text: str) -> None:
        """Enter text; raises ActionError or EnvError."""
        keyboard = self._keys()
        await self._on_display(lambda _: keyboard.type(text))

    async def release_all(self) -> None:
        """Release everything; raises EnvError."""
        keyboard = self._keys()
        await self._on_display(lambda _: keyboard.release_all())

    async def launch(self, argv: Sequence[str], environment: Mapping[str, str]) -> None:
        """Start a program; raises EnvError."""
        session = self._running()
        if shutil.which(argv[0], path=session.environment["PATH"]) is None:
            raise EnvError("program_missing", f"there is no program {argv[0]}")
        try:
            async with self._lock:
                await to_end(lambda: session.spawn(Path(argv[0]).name, argv, environment))
        except SetupError as error:
            raise EnvError(error.code, error.message) from error

    async def run(self, argv: Sequence[str], *, seconds: float) -> Ran:
        """Run a program to its end; raises EnvError."""
        try:
            process = await self._piped(self._running(), argv)
        except OSError as error:
            raise EnvError("program_missing", f"{argv[0]} cannot be run: {error}") from error
        try:
            async with asyncio.timeout(seconds):
                out, err = await process.communicate()
        except TimeoutError as error:
            raise EnvError("program_hangs", f"{argv[0]} took longer than {seconds:g} s") from error
        finally:
            if process.returncode is None:
                with contextlib.suppress(ProcessLookupError):
                    os.killpg(process.pid, signal.SIGKILL)
                await process.communicate()
        return Ran(process.returncode or 0, out, err)

    async def read(self, path: str) -> bytes:
        """The content of a file."""
        return await asyncio.to_thread(read, inside(self._folder(), path))

    async def write(self, path: str, content: bytes) -> None:
        """Make or replace a file."""
        target = inside(self._folder(), path)
        target.parent.mkdir(parents=True, exist_ok=True)
        clear(target)
        await asyncio.to_thread(target.write_bytes, content)

    async def remove(self, path: str) -> None:
        """Remove a file or a folder."""
        target = inside(self._folder(), path)
        if target.is_dir():
            await asyncio.to_thread(shutil.rmtree, target)
        else:
            target.unlink(missing_ok=True)

    async def files(self, folder: str = "") -> dict[str, str]:
        """Fingerprints of the files below a folder."""
        return await asyncio.to_thread(fingerprints, self._folder(), folder)

    async def _on_display(
        self, call: Callable[Concatenate[Display, _P], _T], *arguments: _P.args, **more: _P.kwargs
    ) -> _T:
        """Make a call of the display, one at a time: they share a connection."""
        session = self._running()
        async with self._lock:
            display = session.display
            display.unwanted.clear()
            try:
                return await to_end(lambda: call(display, *arguments, **more), display.unwanted.set)
            except RefusedError as error:
                raise EnvError("display_refused", str(error)) from error

    async def _begun(self) -> Session:
        """Make a session, not yet started; it is ours, to be closed, also when nobody waits for it any more."""

        def begin() -> Session:
            self._session = self._make(folder)
            return self._session

        folder = locales.folder()
        return await to_end(begin)

    async def _piped(self, session: Session, argv: Sequence[str]) -> asyncio.subprocess.Process:
        return await asyncio.create_subprocess_exec(
            *session.inside(argv),
            cwd=session.home,
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
            limit=_LONGEST_LINE,
            start_new_session=True,
        )

    def _running(self) -> Session:
        if self._session is None:
            raise EnvError("display_gone", f"{self.name} has no session")
        return self._session

    def _reader(self) -> TreeReader:
        if self._trees is None:
            raise TreeError("unavailable", f"{self.name} has no session")
        return self._trees

    def _keys(self) -> Keyboard:
        if self._keyboard is None:
            raise EnvError("display_gone", f"{self.name} has no session")
        return self._keyboard

    def _folder(self) -> Path:
        return self._running().home


def _faked(display: Display, kind: int, detail: int, pixel: Pixel | None) -> None:
    display.fake(kind, detail, pixel)
    display.sync()


def _pictured(display: Display) -> bytes:
    screen = display.screen
    return png_of(display.image(), screen.width, screen.height, display.cursor())
