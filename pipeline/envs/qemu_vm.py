"""One virtual machine: its process, and what is asked of it from outside through its monitor.

    <scratch>/monitor, agent    sockets; no ports are used
    <scratch>/console.log       what the guest's kernel says
    <scratch>/program.log       what the program says that runs it
    <scratch>/screen            the last picture

It has no network. What may take long is waited for as long as the machine gets on with it. Knows nothing of what runs
in the guest.
"""

from __future__ import annotations

import asyncio
import os
import subprocess
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import psutil

from pipeline.app_install import tail
from pipeline.envs.qemu_accel import PROGRAM, Acceleration
from pipeline.envs.qemu_wire import Channel, RefusedError
from pipeline.errors import EnvError, SetupError
from pipeline.reaper import Scratch
from pipeline.room import Withheld, spent_by_threads

WIDTH, HEIGHT = 1280, 800
SNAPSHOT_FAILED = "snapshot_failed"

_SECONDS = 20.0
"""What the monitor has for one answer."""
_START_SECONDS = 20.0
_END_SECONDS = 5.0
_STALL_SECONDS = 30.0
"""How long a machine may do nothing of what it has to do."""
_POLL_SECONDS, _LOOK_SECONDS = 0.01, 0.1
_LONGEST_SECONDS = 1800.0
_ENDS = ("completed", "failed", "cancelled", "concluded", "null")
"""What is said of a move or of a job that has ended."""
_BANDWIDTH = 1 << 40
_A_KEY = "kp_enter"
"""What only the list of keys has: the lists themselves have numbers for names."""
_COMMAND_LINE = (
    "root=/dev/vda rw console=ttyS0 loglevel=4 mitigations=off net.ifnames=0 fsck.mode=skip "
    # Pages that nobody uses are zero, so that saved states are small.
    "init_on_free=1"
)


class Hardware(NamedTuple):
    """What a machine is made of."""

    kernel: Path
    initial: Path
    """The initial file system."""
    memory_mb: int
    acceleration: Acceleration
    program: tuple[str, ...] = (PROGRAM,)
    """What runs machines."""


class VirtualMachine:
    """One machine; it is started once and closed once."""

    def __init__(self, scratch: Scratch, hardware: Hardware, disk: Path, form: str) -> None:
        """`form` is the disk's format."""
        self._scratch = scratch
        self._hardware = hardware
        self._disk, self._form = disk, form
        self._monitor = Channel(scratch.path / "monitor", "the machine's monitor")
        self.agent = Channel(scratch.path / "agent", "the guest's agent")
        self._spawned: subprocess.Popen[bytes] | None = None
        self._process: psutil.Process | None = None
        self._jobs = 0
        self._processor = 0
        self._withheld = Withheld()
        self._screen = asyncio.Lock()

    async def start(self, *, waiting: bool) -> None:
        """Start it, or where `waiting`, make it wait for a saved state; raises SetupError."""
        self._spawned = self._scratch.spawn(self._command(waiting), log=self._scratch.path / "program.log")
        try:
            self._process = psutil.Process(self._spawned.pid)
            await self._while_it_runs(self._monitor.connect(_START_SECONDS))
            await self._monitor.greet(_START_SECONDS)
            await self.agent.connect(_START_SECONDS)
            self._processor = (await self._ask("query-cpus-fast"))[0]["thread-id"]
        except EnvError as error:
            raise SetupError("machine_not_started", error.message) from error
        except psutil.NoSuchProcess as error:
            raise SetupError("machine_not_started", self._said()) from error

    async def resume(self, state: Path) -> None:
        """Go on from a saved state; raises EnvError."""
        await self._transfer("migrate-incoming", state, os.O_RDONLY)
        await self.run_on()

    async def save(self, state: Path) -> None:
        """Stop, and write the state of everything but the disk into a file; raises EnvError."""
        await self.halt()
        await self._ask("migrate-set-parameters", {"max-bandwidth": _BANDWIDTH})
        await self._transfer("migrate", state, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)

    async def snapshot(self, tag: str) -> None:
        """Keep state and disk as they are, in the disk's own file; raises EnvError."""
        await self._job("snapshot-save", tag)

    async def revert(self, tag: str) -> None:
        """Back to a snapshot, and run on; raises EnvError."""
        try:
            await self._job("snapshot-load", tag)
        except EnvError as error:
            if error.code == SNAPSHOT_FAILED:
                # It leaves the machine stopped, and so it would be after every later one.
                await self.run_on()
            raise
        await self.run_on()

    async def run_on(self) -> None:
        """Let it run; again is harmless. Raises EnvError."""
        await self._ask("cont")

    async def halt(self) -> None:
        """Let it run no more, with everything as it is; again is harmless. Raises EnvError."""
        await self._ask("stop")

    async def input(self, events: Sequence[Mapping[str, Any]]) -> None:
        """Events of its keyboard and tablet, in order; raises EnvError."""
        await self._ask("input-send-event", {"events": list(events)})

    async def keys(self) -> frozenset[str]:
        """The names of the keys that it takes, which are more with every release; raises EnvError."""
        lists = [told for told in await self._ask("query-qmp-schema") if told["meta-type"] == "enum"]
        for told in lists:
            names = frozenset(told.get("values") or [member["name"] for member in told["members"]])
            if _A_KEY in names:
                return names
        raise EnvError("keyboard", "the machine does not tell which keys it takes")

    async def screen(self) -> bytes:
        """The screen as a portable pixmap; raises EnvError."""
        path = self._scratch.path / "screen"
        async with self._screen:
            await self._ask("screendump", {"filename": str(path)})
            return await asyncio.to_thread(path.read_bytes)

    async def moved(self) -> int:
        """Bytes that its guest has read from its disk and written to it; raises EnvError."""
        rows = await self._ask("query-blockstats")
        return sum(int(row["stats"]["rd_bytes"] + row["stats"]["wr_bytes"]) for row in rows)

    def demand(self) -> float:
        """Seconds that its processor has run, or would have if others had left it room; raises EnvError."""
        return sum(self._spent())

    def clock(self) -> float:
        """A time in seconds that stands still while others leave any of its threads no room; raises EnvError."""
        _, withheld = self._spent()
        return time.monotonic() - withheld

    def _spent(self) -> tuple[float, float]:
        """Seconds that its processor has run, and that were withheld from it, also by way of a thread that only draws
        the screen."""
        spent = spent_by_threads(self._running().pid)
        if self._processor not in spent:
            raise EnvError("machine_gone", self._said())
        self._withheld.hear(spent)
        return spent[self._processor].ran, self._withheld.seconds

    async def quit(self) -> None:
        """End it with everything written; raises EnvError when it takes too long."""
        await self._ask("quit")
        spawned = self._spawned
        if spawned is not None:
            try:
                await asyncio.to_thread(spawned.wait, _SECONDS)
            except subprocess.TimeoutExpired as error:
                raise EnvError("machine_stalls", "the machine does not end") from error

    def close(self) -> None:
        """End it, and wait for its end; again is harmless. Raises EnvError when it stays."""
        self._monitor.close()
        self.agent.close()
        if self._spawned is None:
            return
        self._spawned.kill()  # what it would write is thrown away
        try:
            self._spawned.wait(timeout=_END_SECONDS)
        except subprocess.TimeoutExpired as error:
            raise EnvError("not_torn_down", f"the process {self._spawned.pid} of a machine stays") from error

    async def _transfer(self, command: str, state: Path, flags: int) -> None:
        """Move the machine's state from or into a file, which is handed over: the program may open none itself."""
        file = await asyncio.to_thread(os.open, state, flags, 0o600)
        try:
            await self._ask("getfd", {"fdname": "state"}, file=file)
        finally:
            os.close(file)
        await self._patiently(command, {"uri": "fd:state"})
        found = await self._ended("query-migrate", lambda answer: answer)
        if found["status"] != "completed":
            raise EnvError(
                "state_unusable", f"the machine's state could not be moved: {found.get('error-desc', found)}"
            )

    async def _job(self, command: str, tag: str) -> None:
        self._jobs += 1
        job = f"job{self._jobs}"
        await self._patiently(command, {"job-id": job, "tag": tag, "vmstate": "disk", "devices": ["disk"]})
        found = await self._ended("query-jobs", lambda rows: next((row for row in rows if row["id"] == job), {}))
        await self._ask("job-dismiss", {"id": job})
        if "error" in found:
            raise EnvError(SNAPSHOT_FAILED, f"{command} {tag}: {found['error']}")

    async def _ended(self, query: str, pick: Callable[[Any], dict[str, Any]]) -> dict[str, Any]:
        """What is told of something once it has ended, which it may take long to as long as it gets on."""
        moved, before = time.monotonic(), None
        while True:
            row = pick(await self._patiently(query))
            if row.get("status") in _ENDS:
                return row
            now = (row.get("status"), row.get("current-progress"), row.get("ram"))
            if now != before:
                moved, before = time.monotonic(), now
            elif time.monotonic() - moved > _STALL_SECONDS:
                raise EnvError("machine_stalls", f"{query}: nothing has moved for {_STALL_SECONDS:g} s: {row}")
            await asyncio.sleep(_POLL_SECONDS)

    async def _patiently(self, command: str, arguments: Mapping[str, object] | None = None) -> Any:
        """Ask what is answered late: a machine that moves its state does nothing else. It stands still meanwhile, so
        what its process does is for that; it may take long as long as it does something."""
        asked = asyncio.ensure_future(self._ask(command, arguments, seconds=_LONGEST_SECONDS))
        moved, before = time.monotonic(), self._work()
        try:
            while not asked.done():
                await asyncio.wait([asked], timeout=_LOOK_SECONDS)
                now = self._work()
                if now != before:
                    moved, before = time.monotonic(), now
                elif time.monotonic() - moved > _STALL_SECONDS:
                    raise EnvError("machine_stalls", f"{command}: nothing has moved for {_STALL_SECONDS:g} s")
            return await asked
        finally:
            asked.cancel()

    def _work(self) -> tuple[float, ...]:
        """What its process has done so far: time of processors, bytes read and written; raises EnvError."""
        try:
            process = self._running()
            times, moved = process.cpu_times(), process.io_counters()
        except psutil.Error as error:
            raise EnvError("machine_gone", self._said()) from error
        return times.user, times.system, moved.read_chars, moved.write_chars

    async def _while_it_runs(self, step: Awaitable[None]) -> None:
        """Wait for a step, but not when the process has ended; raises EnvError."""
        task = asyncio.ensure_future(step)
        try:
            while not task.done():
                if self._spawned is None or self._spawned.poll() is not None:
                    raise EnvError("machine_gone", self._said())
                await asyncio.wait([task], timeout=_POLL_SECONDS)
            await task
        finally:
            task.cancel()

    async def _ask(
        self,
        command: str,
        arguments: Mapping[str, object] | None = None,
        *,
        file: int | None = None,
        seconds: float = _SECONDS,
    ) -> Any:
        try:
            return await self._monitor.ask(command, arguments, seconds=seconds, file=file)
        except RefusedError as error:
            raise EnvError("monitor_refuses", f"the machine refuses {command}: {error}") from error

    def _running(self) -> psutil.Process:
        if self._process is None:
            raise EnvError("machine_gone", "the machine was not started")
        return self._process

    def _said(self) -> str:
        log = self._scratch.path / "program.log"
        return f"the machine has ended: {tail(log) if log.exists() else ''}"

    def _command(self, waiting: bool) -> list[str]:
        kernel, initial, memory, how, program = self._hardware
        folder = self._scratch.path
        return [
            *(*program, "-nodefaults", "-no-user-config", "-display", "none"),
            *("-sandbox", "on,obsolete=deny,elevateprivileges=deny,spawn=deny"),
            *("-machine", "q35", "-accel", how.name, "-cpu", how.cpu, "-smp", "1", "-m", str(memory)),
            *("-kernel", str(kernel), "-initrd", str(initial), "-append", _COMMAND_LINE),
            *("-blockdev", _option(driver="file", **{"node-name": "file", "filename": str(self._disk)})),
            *("-blockdev", _option(driver=self._form, file="file", **{"node-name": "disk", "cache.no-flush": "on"})),
            *("-device", "virtio-blk-pci,drive=disk"),
            *("-device", f"VGA,xres={WIDTH},yres={HEIGHT},edid=on"),
            *("-device", "virtio-keyboard-pci", "-device", "virtio-tablet-pci"),
            *("-device", "virtio-serial-pci"),
            *("-chardev", f"socket,id=agent,path={folder / 'agent'},server=on,wait=off"),
            *("-device", "virtserialport,chardev=agent,name=org.qemu.guest_agent.0"),
            *("-serial", f"file:{folder / 'console.log'}"),
            *("-qmp", f"unix:{folder / 'monitor'},server=on,wait=off"),
            *("-rtc", "base=utc"),
            *(("-incoming", "defer") if waiting else ()),
        ]


def _option(**values: str) -> str:
    """An option of the program's own writing, in which commas of values are doubled."""
    return ",".join(f"{name}={value.replace(',', ',,')}" for name, value in values.items())
