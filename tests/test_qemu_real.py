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
from typing import TypeVar

import psutil
import pytest

from pipeline.actions import Pixel
from pipeline.envs.desktop import SETTLE_SECONDS
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
    machine = QemuMachine("real", image)
    laps["episode"] = _timed(lambda: asyncio.run(_episode(machine, laps)))

    with capsys.disabled():
        told = ", ".join(f"{name} {seconds:.1f} s" for name, seconds in laps.items())
        sys.stderr.write(f"\nvirtual machine: {told}\n")


async def _episode(machine: QemuMachine, laps: dict[str, float]) -> None:
    try:
        await machine.boot()
        await restore(machine, fresh=True)
        running = machine._there()
        pid, folder = running.machine._running().pid, running.scratch.path

        await _a_click_gives_the_focus(machine)
        await machine.type_text(f"{TEXT}\n")
        typed = f"{TEXT}\n".encode()
        assert await _comes(lambda: machine.read("typed.txt"), typed.__eq__)

        laps["restore"] = (await restore(machine, fresh=False)).seconds
        assert await machine.windows() == []
        assert "typed.txt" not in await machine.files()
        assert (await machine.run(["ls", "/sys/class/net"], seconds=20)).out.split() == [b"lo"]
        said = await machine.run(["date", "+%s"], seconds=20)
        assert abs(int(said.out) - time.time()) < 10
    finally:
        await machine.close()
    assert not psutil.pid_exists(pid)
    assert not folder.exists()


async def _a_click_gives_the_focus(machine: QemuMachine) -> None:
    """Two terminals, of which the one that was opened first is clicked on."""
    for place, script in (("+0+0", "cat > typed.txt"), ("+640+0", "sleep 600")):
        argv = ["xterm", "-u8", "-fn", "fixed", "-T", script, "-geometry", f"80x24{place}", "-e", script]
        await machine.launch(argv, {})
        assert await _comes(lambda: _titles(machine), {script}.issubset)
        await machine.settle(20)
    assert [window.title for window in await machine.windows() if window.active] == ["sleep 600"]

    await machine.pointer(Pixel(x=200, y=150))
    await machine.button("left", down=True)
    await machine.button("left", down=False)
    await machine.settle(20)

    assert [window.title for window in await machine.windows() if window.active] == ["cat > typed.txt"]
    frame = frame_of(await machine.capture())
    assert (frame.width, frame.height) == (1280, 800)


@needs_machine
@pytest.mark.slow
@pytest.mark.timeout(LIMIT_SECONDS)
def test_two_machines_at_once_share_nothing_that_is_written(capsys: pytest.CaptureFixture[str]) -> None:
    up(load_image("debian-small"), lambda _: None)

    seconds = _timed(lambda: asyncio.run(_pair()))

    with capsys.disabled():
        sys.stderr.write(f"\ntwo virtual machines: {seconds:.1f} s\n")


async def _pair() -> None:
    one, other = pair = [QemuMachine(name, load_image("debian-small")) for name in ("one", "other")]
    try:
        await asyncio.gather(*(machine.boot() for machine in pair))
        await asyncio.gather(*(restore(machine, fresh=True) for machine in pair))
        mine, theirs = (psutil.Process(machine._there().machine._running().pid) for machine in pair)
        for held in (_written, _sockets):
            assert held(mine) and held(theirs) and not held(mine) & held(theirs)
        assert [*mine.net_connections("inet"), *theirs.net_connections("inet")] == []

        await asyncio.gather(*(machine.write("mine.txt", machine.name.encode()) for machine in pair))
        await restore(other, fresh=False)
        assert await one.read("mine.txt") == b"one"
        assert "mine.txt" not in await other.files()

        await other.close()
        assert (await one.run(["echo", "still here"], seconds=20)).out == b"still here\n"
    finally:
        await asyncio.gather(*(machine.close() for machine in pair))


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

    laps = asyncio.run(_starved())

    with capsys.disabled():
        sys.stderr.write(f"\nrest after {WORK} rounds of work: {', '.join(f'{seconds:.1f} s' for seconds in laps)}\n")


async def _starved() -> list[float]:
    """How long a program's work is waited for: first beside nobody of ours, then beside who takes nearly all."""
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


async def _works_and_is_waited_for(machine: QemuMachine) -> float:
    """A line makes a program compute before it writes: rest comes after that, or it was no rest."""
    work = f"read line; i=0; while [ $i -lt {WORK} ]; do i=$((i+1)); done; echo $line >done.txt; cat"
    await machine.launch(["xterm", "-fn", "fixed", "-T", "work", "-e", work], {})
    assert await _comes(lambda: _titles(machine), {"work"}.issubset)
    await machine.settle(20)
    await machine.type_text("line\n")
    began = time.monotonic()

    assert await machine.settle(SETTLE_SECONDS)

    seconds = time.monotonic() - began
    assert await machine.read("done.txt") == b"line\n"
    return seconds


async def _titles(machine: QemuMachine) -> set[str]:
    return {window.title for window in await machine.windows()}


async def _comes(ask: Callable[[], Awaitable[T]], fits: Callable[[T], bool]) -> bool:
    """Whether an answer comes to fit in time."""
    until = time.monotonic() + 90
    while not fits(await ask()):
        if time.monotonic() > until:
            return False
        await asyncio.sleep(0.2)
    return True


def _timed(work: Callable[[], object]) -> float:
    began = time.monotonic()
    work()
    return time.monotonic() - began
