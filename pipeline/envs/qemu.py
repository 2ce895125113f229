"""A desktop in a virtual machine: a guest of a prepared image, put back by a snapshot that every worker has of its own.

From outside it is seen and touched as a screen, a keyboard and a tablet are; its files, programs and windows are asked
of the agent that its system ships with. Nothing of ours waits in the guest for orders.

A worker's machine goes on from the image's prepared state, on a disk of its own over the image's. Where that state
cannot be used, its system is started from the disk.
"""

from __future__ import annotations

import asyncio
import io
import json
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import PurePosixPath
from typing import NamedTuple

from PIL import Image as Pictures
from PIL import UnidentifiedImageError

from pipeline.actions import Pixel
from pipeline.envs.atspi import SCRIPT, answer_of, node_of, seen_of
from pipeline.envs.machine import NODES, TREE_SECONDS, Button, Machine, Ran, Seen, Window
from pipeline.envs.qemu_accel import HARDWARE
from pipeline.envs.qemu_agent import SECONDS, Agent
from pipeline.envs.qemu_files import listed, read
from pipeline.envs.qemu_image import MachineImage, layered, session_environment
from pipeline.envs.qemu_ready import Ready, ready_of, started
from pipeline.envs.qemu_rest import is_idle, settle
from pipeline.envs.qemu_typing import Keyboard
from pipeline.envs.qemu_vm import HEIGHT, WIDTH, VirtualMachine
from pipeline.envs.qemu_windows import windows
from pipeline.errors import CaptureError, EnvError, SetupError, TreeError
from pipeline.protocols import MOST_PATIENCE
from pipeline.reaper import Scratch
from pipeline.structs import Node
from pipeline.threads import to_end

_SNAPSHOT = "ready"
_BUTTONS: Mapping[Button, str] = {
    "left": "left",
    "middle": "middle",
    "right": "right",
    "scroll_up": "wheel-up",
    "scroll_down": "wheel-down",
    "scroll_left": "wheel-left",
    "scroll_right": "wheel-right",
}
_AXIS = 1 << 15
"""Positions of a tablet across its whole width or height."""
_HANDLED_SECONDS = 10.0
_PARKED = Pixel(x=WIDTH // 2, y=HEIGHT // 2)
_ELSEWHERE = Pixel(x=WIDTH // 4, y=HEIGHT // 4)
_MOVE_SECONDS, _POLL_SECONDS = 5.0, 0.03
_POINTER_PIXELS = 32
_CALL_MS, _GREET_MS = 800, 2000
"""What programs have for an answer to the reader of trees, and for their first one."""
_COMPRESSION = 1


class _Running(NamedTuple):
    """A machine that runs, and who is asked."""

    scratch: Scratch
    machine: VirtualMachine
    agent: Agent
    keyboard: Keyboard


class QemuMachine(Machine):
    """One virtual machine of a prepared image."""

    provider = "qemu"

    def __init__(self, name: str, image: MachineImage, find: Callable[[MachineImage], Ready] = ready_of) -> None:
        """Nothing is started yet; `find` tells where the image's prepared state lies."""
        self.name = name
        self.build = ""
        self.home = session_environment()["HOME"]
        self._reader = f"{session_environment()['XDG_RUNTIME_DIR']}/{SCRIPT.name}"
        self._image = image
        self._find = find
        self._running: _Running | None = None
        self._halted = False
        self.patience = MOST_PATIENCE  # unless guests are found not to be emulated
        self._pressed: list[Button] = []

    def clock(self) -> float:
        """A time that stands still while others leave the guest no room; raises EnvError."""
        return self._there().machine.clock()

    async def boot(self) -> None:
        """Start from the prepared state and keep a snapshot; raises SetupError, also when there is no such state."""
        ready = await asyncio.to_thread(self._find, self._image)
        if not ready.done:
            how = f"as root: pathproof apps up {self._image.machine_id}"
            raise SetupError("image_missing", f"the machine {self._image.machine_id} is not prepared here; {how}")
        self.patience = 1.0 if ready.hardware.acceleration == HARDWARE else MOST_PATIENCE
        scratch = Scratch("qemu")
        try:
            self._running = await _begun(ready, scratch)
            await self._running.keyboard.learn()
            # A script, not part of the image: an image need not be made anew when it changes.
            await self._running.agent.write(self._reader, await asyncio.to_thread(SCRIPT.read_bytes))
            await self._prove_pointer()
            await self._running.machine.snapshot(_SNAPSHOT)
        except (EnvError, OSError) as error:
            raise SetupError(getattr(error, "code", "machine_not_started"), str(error)) from error
        finally:
            if self._running is None:
                scratch.close()
        how = ready.hardware.acceleration.name
        self.build = f"{self._image.machine_id} {self._image.hash}, {ready.release}, {how}"

    async def speak(self, locale: str, layout: str) -> None:
        """Set language and layout; raises SetupError."""
        if locale not in self._image.locales:
            raise SetupError("no_locale", f"the image {self._image.machine_id} has no locale {locale}")
        running = await self._awake()
        name = f"{locale}.UTF-8"
        running.agent.environment.update(LANG=name, LC_ALL=name, LANGUAGE=locale)
        try:
            ran = await running.agent.run(["setxkbmap", "-layout", layout], seconds=SECONDS)
            if ran.code != 0:
                raise SetupError("no_layout", f"no keyboard layout {layout}: {ran.err.decode(errors='replace')}")
            await running.keyboard.learn()
        except EnvError as error:
            raise SetupError(error.code, error.message) from error

    async def revert(self) -> None:
        """Load the snapshot, and wait until the guest answers anew; raises SetupError."""
        try:
            _, machine, agent, keyboard = self._there()
            await machine.revert(_SNAPSHOT)
            self._halted = False
            await agent.sync()
            agent.environment = session_environment()
            await _set_clock(agent)
            keyboard.forget()
            self._pressed.clear()
        except EnvError as error:
            raise SetupError(error.code, error.message) from error

    async def leave(self) -> None:
        """Stop the machine where it is: nothing runs in it until it is put back, or asked; raises EnvError."""
        if self._running is not None:
            await self._running.machine.halt()
            self._halted = True

    async def close(self) -> None:
        """End the machine and remove its disk; raises EnvError when something stays."""
        running = self._running
        if running is None:
            return
        try:
            await to_end(running.machine.close)
        finally:
            await to_end(running.scratch.close)
        if running.scratch.path.exists():
            raise EnvError("not_torn_down", f"some files of {running.scratch.path} stay")
        self._running = None

    async def capture(self) -> bytes:
        """The screen, with the pointer that the guest draws; raises CaptureError or EnvError."""
        pixmap = await (await self._awake()).machine.screen()
        return await asyncio.to_thread(_png_of, pixmap)

    async def settle(self, most_seconds: float) -> bool:
        """Wait until the screen is at rest, longer where the guest is emulated; raises EnvError."""
        return await settle((await self._awake()).machine, most_seconds * self.patience)

    async def works(self) -> bool:
        """Whether the guest has something to do; raises EnvError."""
        return not await is_idle((await self._awake()).machine)

    async def tree(self) -> Seen:
        """The UI tree; raises TreeError."""
        request = {"op": "tree", "nodes": NODES, "seconds": TREE_SECONDS * self.patience}
        return seen_of(answer_of(await self._asked(request)))

    async def node_at(self, pixel: Pixel) -> Node | None:
        """What lies there; nothing where no program says."""
        try:
            answer = answer_of(await self._asked({"op": "at", "x": pixel.x, "y": pixel.y}))
            return None if answer.get("node") is None else node_of(answer["node"])
        except TreeError:
            return None

    async def windows(self) -> list[Window]:
        """The windows; raises EnvError."""
        return await windows((await self._awake()).agent)

    async def pointer(self, pixel: Pixel) -> None:
        """Move the pointer; raises EnvError."""
        running = await self._awake()
        places = (("x", pixel.x, WIDTH), ("y", pixel.y, HEIGHT))
        # The middle of the pixel, so that no rounding on the way leads to the next one.
        values = [(axis, int((place + 0.5) * _AXIS / size)) for axis, place, size in places]
        await running.machine.input([{"type": "abs", "data": {"axis": axis, "value": value}} for axis, value in values])

    async def button(self, button: Button, *, down: bool) -> None:
        """Press or release a button; raises EnvError."""
        running = await self._awake()
        await running.machine.input([{"type": "btn", "data": {"button": _BUTTONS[button], "down": down}}])
        if down:
            self._pressed.append(button)
        elif button in self._pressed:
            self._pressed.remove(button)
        await running.agent.sync()  # the guest takes a few events at a time

    async def key(self, name: str, *, down: bool) -> None:
        """Press or release a key; raises ActionError or EnvError."""
        await (await self._awake()).keyboard.press(name, down=down)

    async def type_text(self, text: str) -> None:
        """Enter text; raises ActionError or EnvError."""
        await (await self._awake()).keyboard.type(text)

    async def release_all(self) -> None:
        """Release everything; raises EnvError."""
        running = await self._awake()
        for button in list(self._pressed):
            await self.button(button, down=False)
        await running.keyboard.release_all()

    async def launch(self, argv: Sequence[str], environment: Mapping[str, str]) -> None:
        """Start a program; raises EnvError."""
        await (await self._awake()).agent.launch(argv, environment)

    async def run(self, argv: Sequence[str], *, seconds: float) -> Ran:
        """Run a program to its end; raises EnvError."""
        return await (await self._awake()).agent.run(argv, seconds=seconds)

    async def read(self, path: str) -> bytes:
        """The content of a file."""
        return await read((await self._awake()).agent, self._whole(path))

    async def write(self, path: str, content: bytes) -> None:
        """Make or replace a file."""
        await (await self._awake()).agent.write(self._whole(path), content)

    async def remove(self, path: str) -> None:
        """Remove a file or a folder."""
        await self._done(["rm", "-rf", "--", self._whole(path)])

    async def files(self, folder: str = "") -> dict[str, str]:
        """Fingerprints of the files below a folder."""
        found = await listed((await self._awake()).agent, self._whole(folder) if folder else self.home)
        return {path.removeprefix(f"{self.home}/"): value for path, value in found.items()}

    async def _asked(self, request: Mapping[str, object]) -> bytes:
        """What the reader of trees in the guest answers; raises TreeError."""
        patience = {"call_ms": round(_CALL_MS * self.patience), "greet_ms": round(_GREET_MS * self.patience)}
        whole = json.dumps({**request, **patience})
        seconds = TREE_SECONDS * self.patience + SECONDS
        try:
            ran = await self.run(["/usr/bin/python3", "-E", self._reader, whole], seconds=seconds)
        except EnvError as error:
            if error.code == "program_hangs":
                raise TreeError("timeout", error.message) from error
            raise TreeError("unavailable", error.message) from error
        if ran.code != 0:
            raise TreeError("unavailable", f"no tree reader in the guest: {ran.err.decode(errors='replace')[-300:]}")
        return ran.out

    async def _done(self, argv: Sequence[str]) -> None:
        ran = await self.run(argv, seconds=SECONDS)
        if ran.code != 0:
            raise OSError(ran.err.decode(errors="replace").strip())

    async def _awake(self) -> _Running:
        """The machine, which runs on when it had been stopped; raises EnvError when there is none."""
        running = self._there()
        if self._halted:
            self._halted = False
            await running.machine.run_on()
        return running

    def _there(self) -> _Running:
        if self._running is None:
            raise EnvError("machine_gone", f"{self.name} does not run")
        return self._running

    def _whole(self, path: str) -> str:
        """A path of the home folder as the guest spells it; raises ValueError when it leaves that folder."""
        inner = PurePosixPath(path)
        if inner.is_absolute() or ".." in inner.parts or not inner.parts or "\0" in path:
            raise ValueError(f"'{path}' is no path below the home folder")
        path.encode()  # names that are no text cannot be asked of the guest's agent: a ValueError too
        return f"{self.home}/{inner}"

    async def _prove_pointer(self) -> None:
        """Raise EnvError unless the guest takes the tablet: its pointer shows where it is put, and goes again."""
        machine, until = self._there().machine, self.clock() + _MOVE_SECONDS
        bare = _around(_ELSEWHERE, await machine.screen())
        for pixel, shows in ((_ELSEWHERE, True), (_PARKED, False)):
            await self.pointer(pixel)
            while (_around(_ELSEWHERE, await machine.screen()) != bare) != shows:
                if self.clock() > until:
                    raise EnvError("pointer_dead", "the guest's pointer does not follow the tablet")
                await asyncio.sleep(_POLL_SECONDS)


async def _begun(ready: Ready, scratch: Scratch) -> _Running:
    """A machine that goes on from the prepared state, or else is started anew; raises SetupError or EnvError."""
    disk = scratch.path / "disk"
    await asyncio.to_thread(layered, ready.disk, "qcow2", disk)
    machine = VirtualMachine(scratch, ready.hardware, disk, "qcow2")
    try:
        await machine.start(waiting=True)
        await machine.resume(ready.state)
        agent = Agent(machine.agent, session_environment(), machine.clock)
        await agent.sync()
    except EnvError:
        # It would stay in memory beside the next one.
        await asyncio.to_thread(machine.close)
        await asyncio.to_thread(layered, ready.built.disk, "raw", disk)
        machine = VirtualMachine(scratch, ready.hardware, disk, "qcow2")
        agent = await started(machine, scratch)
    await _set_clock(agent)
    return _Running(scratch, machine, agent, Keyboard(machine, agent, lambda: settle(machine, _HANDLED_SECONDS)))


async def _set_clock(agent: Agent) -> None:
    """A guest that goes on from a state has the time of that state."""
    ran = await agent.run(["date", "-s", f"@{time.time():.3f}"], seconds=SECONDS, root=True)
    if ran.code != 0:
        raise EnvError("clock", f"the guest's clock cannot be set: {ran.err.decode(errors='replace')}")


def _around(pixel: Pixel, pixmap: bytes) -> bytes:
    """The part of a pixmap that a pointer at a pixel covers."""
    with Pictures.open(io.BytesIO(pixmap)) as picture:
        return picture.crop((pixel.x, pixel.y, pixel.x + _POINTER_PIXELS, pixel.y + _POINTER_PIXELS)).tobytes()


def _png_of(pixmap: bytes) -> bytes:
    """The PNG of a pixmap; raises CaptureError."""
    try:
        with Pictures.open(io.BytesIO(pixmap)) as picture:
            out = io.BytesIO()
            picture.save(out, "PNG", compress_level=_COMPRESSION)
    except (UnidentifiedImageError, OSError, ValueError) as error:
        raise CaptureError("undecodable", f"the machine's picture cannot be read: {error}") from error
    return out.getvalue()
