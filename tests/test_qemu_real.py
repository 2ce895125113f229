"""Real virtual machines: an image made, its state saved, a worker's machine restored, clicked, typed into, asked; two
at once."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
import time
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from typing import NamedTuple, TypeVar

import psutil
import pytest

from pipeline.actions import Pixel
from pipeline.envs.desktop import SETTLE_SECONDS
from pipeline.envs.machine import Window
from pipeline.envs.machine_restore import restore
from pipeline.envs.qemu import QemuMachine
from pipeline.envs.qemu_image import load_image
from pipeline.envs.qemu_ready import up
from pipeline.frames import frame_of
from tests.programs import TEXT
from tests.qemus import needs_machine

LIMIT_SECONDS = 600
WORK = 60_000
"""So many rounds take an emulated guest some seconds."""
_TAKERS = 9
"""They leave a guest a tenth of the processor that they share with it."""

T = TypeVar("T")


@needs_machine
@pytest.mark.slow
@pytest.mark.timeout(LIMIT_SECONDS)
def test_a_machine_is_made_put_back_clicked_typed_into_and_asked(capsys: pytest.CaptureFixture[str]) -> None:
    laps: dict[str, float] = {}
    image = load_image("debian-small")

    laps["image and prepared state"] = _timed(lambda: up(image, lambda _: None))
    began = time.monotonic()
    before, after, left = asyncio.run(_episode(QemuMachine("real", image), laps))
    laps["episode"] = time.monotonic() - began

    assert before == _Used(focus=["sleep 600", "cat > typed.txt"], size=(1280, 800), typed=f"{TEXT}\n".encode())
    assert (after.windows, after.networks) == ([], [b"lo"])
    assert "typed.txt" not in after.files
    assert after.seconds_off < 10
    assert left == []
    with capsys.disabled():
        told = ", ".join(f"{name} {seconds:.1f} s" for name, seconds in laps.items())
        sys.stderr.write(f"\nvirtual machine: {told}\n")


class _Used(NamedTuple):
    """What was seen of a machine that was clicked and typed into: windows in front, before and after the click."""

    focus: list[str]
    size: tuple[int, int]
    typed: bytes


class _PutBack(NamedTuple):
    """What was found on a machine that had been put back."""

    windows: list[Window]
    files: dict[str, str]
    networks: list[bytes]
    seconds_off: float
    """How far its clock is from ours."""


async def _episode(machine: QemuMachine, laps: dict[str, float]) -> tuple[_Used, _PutBack, list[str]]:
    """A machine before and after it is put back, and what is left of it in the end."""
    try:
        await machine.boot()
        await restore(machine, fresh=True)
        running = machine._there()
        pid, folder = running.machine._running().pid, running.scratch.path
        used = await _used(machine)
        laps["restore"] = (await restore(machine, fresh=False)).seconds
        put_back = await _put_back(machine)
    finally:
        await machine.close()
    left = [f"process {pid}"] * psutil.pid_exists(pid) + [str(folder)] * folder.exists()
    return used, put_back, left


async def _used(machine: QemuMachine) -> _Used:
    """Two terminals, of which the one that was opened first is clicked on and typed into."""
    for place, script in (("+0+0", "cat > typed.txt"), ("+640+0", "sleep 600")):
        argv = ["xterm", "-u8", "-fn", "fixed", "-T", script, "-geometry", f"80x24{place}", "-e", script]
        await machine.launch(argv, {})
        await _fitting(lambda: _titles(machine), {script}.issubset)
        await machine.settle(20)
    focus = await _in_front(machine)

    await machine.pointer(Pixel(x=200, y=150))
    await machine.button("left", down=True)
    await machine.button("left", down=False)
    await machine.settle(20)
    focus += await _in_front(machine)

    await machine.type_text(f"{TEXT}\n")
    typed = await _fitting(lambda: machine.read("typed.txt"), f"{TEXT}\n".encode().__eq__)
    frame = frame_of(await machine.capture())
    return _Used(focus, (frame.width, frame.height), typed)


async def _put_back(machine: QemuMachine) -> _PutBack:
    networks = (await machine.run(["ls", "/sys/class/net"], seconds=20)).out.split()
    said = int((await machine.run(["date", "+%s"], seconds=20)).out)
    return _PutBack(await machine.windows(), await machine.files(), networks, abs(said - time.time()))


async def _in_front(machine: QemuMachine) -> list[str]:
    return [window.title for window in await machine.windows() if window.active]


@needs_machine
@pytest.mark.slow
@pytest.mark.timeout(LIMIT_SECONDS)
def test_two_machines_at_once_share_nothing_that_is_written(capsys: pytest.CaptureFixture[str]) -> None:
    up(load_image("debian-small"), lambda _: None)

    began = time.monotonic()
    one, other, kept = asyncio.run(_pair())
    seconds = time.monotonic() - began

    for mine, theirs in ((one.written, other.written), (one.sockets, other.sockets)):
        assert mine
        assert theirs
        assert not mine & theirs
    assert (one.networks, other.networks) == (0, 0)
    assert kept == _Kept(here=b"one", there=False, answer=b"still here\n")
    with capsys.disabled():
        sys.stderr.write(f"\ntwo virtual machines: {seconds:.1f} s\n")


class _Holds(NamedTuple):
    """What the process of a machine holds: files to write into, sockets, connections to networks."""

    written: set[str]
    sockets: set[str]
    networks: int


class _Kept(NamedTuple):
    """Of two machines that had written the same file, and of which one was put back and then closed: the file of the
    other one, whether it is on the one put back, and what the other one answered in the end."""

    here: bytes
    there: bool
    answer: bytes


async def _pair() -> tuple[_Holds, _Holds, _Kept]:
    one, other = pair = [QemuMachine(name, load_image("debian-small")) for name in ("one", "other")]
    try:
        await asyncio.gather(*(machine.boot() for machine in pair))
        await asyncio.gather(*(restore(machine, fresh=True) for machine in pair))
        mine, theirs = (_holds(psutil.Process(machine._there().machine._running().pid)) for machine in pair)

        await asyncio.gather(*(machine.write("mine.txt", machine.name.encode()) for machine in pair))
        await restore(other, fresh=False)
        here, there = await one.read("mine.txt"), "mine.txt" in await other.files()

        await other.close()
        answer = (await one.run(["echo", "still here"], seconds=20)).out
        return mine, theirs, _Kept(here, there, answer)
    finally:
        await asyncio.gather(*(machine.close() for machine in pair))


def _holds(process: psutil.Process) -> _Holds:
    return _Holds(_written(process), _sockets(process), len(process.net_connections("inet")))


def _written(process: psutil.Process) -> set[str]:
    """Files that a process has opened to write into."""
    return {file.path for file in process.open_files() if file.mode != "r"}


def _sockets(process: psutil.Process) -> set[str]:
    """Sockets that it answers at."""
    return {str(at.laddr) for at in process.net_connections("unix") if at.laddr}


@needs_machine
@pytest.mark.slow
@pytest.mark.timeout(LIMIT_SECONDS)
def test_a_guest_that_others_leave_little_room_is_waited_for(capsys: pytest.CaptureFixture[str]) -> None:
    up(load_image("debian-small"), lambda _: None)

    alone, starved = asyncio.run(_starved())

    assert alone[:2] == starved[:2] == (True, b"line\n")
    with capsys.disabled():
        laps = f"{alone.seconds:.1f} s, {starved.seconds:.1f} s"
        sys.stderr.write(f"\nrest after {WORK} rounds of work: {laps}\n")


class _WaitedFor(NamedTuple):
    """Whether a machine came to rest, what its program had written then, and how long that took."""

    rested: bool
    done: bytes
    seconds: float


async def _starved() -> list[_WaitedFor]:
    """How a program's work is waited for: first beside nobody of ours, then beside who takes nearly all."""
    machine = QemuMachine("starved", load_image("debian-small"))
    try:
        await machine.boot()
        await restore(machine, fresh=True)
        laps = [await _works_and_is_waited_for(machine)]
        await restore(machine, fresh=False)
        with _greedy(machine._there().machine._running()):
            return [*laps, await _works_and_is_waited_for(machine)]
    finally:
        await machine.close()


@contextmanager
def _greedy(process: psutil.Process) -> Iterator[None]:
    """Programs that all want the one processor on which a process runs."""
    # Sessions of their own: some systems share processors out by session.
    argv = [sys.executable, "-c", "while True: pass"]
    takers = [subprocess.Popen(argv, start_new_session=True) for _ in range(_TAKERS)]
    place = {min(os.sched_getaffinity(0))}
    for task in [*(thread.id for thread in process.threads()), *(taker.pid for taker in takers)]:
        os.sched_setaffinity(task, place)
    try:
        yield
    finally:
        for taker in takers:
            taker.kill()
            taker.wait()


async def _works_and_is_waited_for(machine: QemuMachine) -> _WaitedFor:
    """A line makes a program compute before it writes: rest comes after that, or it was no rest."""
    work = f"read line; i=0; while [ $i -lt {WORK} ]; do i=$((i+1)); done; echo $line >done.txt; cat"
    await machine.launch(["xterm", "-fn", "fixed", "-T", "work", "-e", work], {})
    await _fitting(lambda: _titles(machine), {"work"}.issubset)
    await machine.settle(20)
    await machine.type_text("line\n")
    began = time.monotonic()
    rested = await machine.settle(SETTLE_SECONDS)
    seconds = time.monotonic() - began
    done = await machine.read("done.txt") if "done.txt" in await machine.files() else b""
    return _WaitedFor(rested, done, seconds)


async def _titles(machine: QemuMachine) -> set[str]:
    return {window.title for window in await machine.windows()}


async def _fitting(ask: Callable[[], Awaitable[T]], fits: Callable[[T], bool]) -> T:
    """An answer that fits; the last one when none does in time."""
    until, answer = time.monotonic() + 90, await ask()
    while not fits(answer) and time.monotonic() < until:
        await asyncio.sleep(0.2)
        answer = await ask()
    return answer


def _timed(work: Callable[[], object]) -> float:
    began = time.monotonic()
    work()
    return time.monotonic() - began
