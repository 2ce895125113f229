"""Machines on private X displays: restored, several at once, killed; text on every layout; a whole episode."""

from __future__ import annotations

import asyncio
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import psutil
import pytest

from pipeline.actions import (
    Action,
    Click,
    Drag,
    Finished,
    Hotkey,
    KeyDown,
    Pixel,
    Point,
    TripleClick,
    Type,
    canonical_point,
)
from pipeline.envs.desktop import DesktopEnvironment
from pipeline.envs.desktop_programs import Programs
from pipeline.envs.machine_restore import MARK, restore
from pipeline.envs.machines import Machines
from pipeline.envs.xvfb import XvfbMachine
from pipeline.envs.xvfb_session import HEIGHT, WIDTH, Session
from pipeline.errors import ActionError, EnvError, SetupError, TreeError
from pipeline.frames import frame_of
from pipeline.tasks import Check, Start
from tests.episodes import play
from tests.programs import MOUSEPAD, NOTE, TEXT, desktop_task, needs_desktop

pytestmark = needs_desktop


@pytest.fixture
async def machine() -> AsyncIterator[XvfbMachine]:
    made = XvfbMachine()
    await made.boot()
    await made.revert()
    yield made
    await made.close()


@pytest.fixture
async def desktop() -> AsyncIterator[DesktopEnvironment]:
    environment = DesktopEnvironment(Machines(lambda number: XvfbMachine(f"xvfb-{number}")), lambda _: MOUSEPAD)
    yield environment
    await environment.close()


@pytest.fixture
async def other() -> AsyncIterator[XvfbMachine]:
    made = XvfbMachine("other")
    yield made
    await made.close()


@contextmanager
def stranger_at(display: int) -> Iterator[None]:
    """Somebody who listens where an X server would, without being one."""
    path = Path(f"/tmp/.X11-unix/X{display}")
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(path))
        listener.listen()
        try:
            yield
        finally:
            path.unlink()


def exists(path: str) -> bool:
    return Path(path).exists()


def programs(home: str, name: str) -> list[psutil.Process]:
    """Programs of a name, in a home folder."""
    return [p for p in psutil.process_iter(["name", "cwd"]) if p.info["cwd"] == home and p.info["name"] == name]


async def footprint(machine: XvfbMachine) -> set[Path]:
    """The folder and the socket of a machine's session; others have theirs beside."""
    display = (await machine.run(["printenv", "DISPLAY"], seconds=5)).out.decode().strip(":\n")
    return {Path(machine.home).parent, Path(f"/tmp/.X11-unix/X{display}")}


async def until(there: Callable[[], Awaitable[object]]) -> None:
    end = time.monotonic() + 20
    while not await there():
        assert time.monotonic() < end
        await asyncio.sleep(0.02)


async def shows(machine: XvfbMachine, kind: str) -> bool:
    return any(window.kind == kind and window.active for window in await machine.windows())


async def open_pad(machine: XvfbMachine, *argv: str) -> None:
    await machine.launch(["mousepad", *argv], {})
    await until(lambda: shows(machine, "Mousepad"))
    await machine.settle(5.0)


async def save(machine: XvfbMachine) -> None:
    for name, down in (("Control_L", True), ("s", True), ("s", False), ("Control_L", False)):
        await machine.key(name, down=down)


async def test_a_restore_ends_programs_and_puts_the_home_back(machine: XvfbMachine) -> None:
    await machine.write("Documents/left.txt", b"left")
    await machine.launch(["sleep", "600"], {})
    home = machine.home
    await until(lambda: asyncio.to_thread(programs, home, "sleep"))
    sleeping = programs(home, "sleep")

    restored = await restore(machine, fresh=False)

    assert restored.tries == 1
    assert not any(name.startswith("Documents") for name in await machine.files())
    assert not sleeping[0].is_running()
    assert not exists(home)
    frame = frame_of(await machine.capture())
    assert (frame.width, frame.height) == (WIDTH, HEIGHT)
    with pytest.raises(FileNotFoundError):
        await machine.read(MARK)


async def test_files_do_not_lead_out_of_the_home_folder(machine: XvfbMachine) -> None:
    (Path(machine.home) / "way").symlink_to("/etc")

    for path in ("../out", "way/hostname", "/etc/hostname"):
        with pytest.raises(ValueError, match="leaves the data folder"):
            await machine.read(path)
        with pytest.raises(ValueError, match="leaves the data folder"):
            await machine.write(path, b"")
    assert not any(name.startswith("way") for name in await machine.files())


async def test_a_pipe_in_the_place_of_a_file_is_no_file_and_makes_room_for_one(machine: XvfbMachine) -> None:
    await machine.write(NOTE, b"")
    await machine.remove(NOTE)
    await machine.run(["mkfifo", NOTE], seconds=10)

    async with asyncio.timeout(5):
        assert (await machine.files())[NOTE] == "special"
        with pytest.raises(FileNotFoundError):
            await machine.read(NOTE)
        await machine.write(NOTE, b"text")
        assert await machine.read(NOTE) == b"text"


async def test_a_program_that_others_leave_no_room_is_waited_for(
    machine: XvfbMachine, monkeypatch: pytest.MonkeyPatch
) -> None:
    await open_pad(machine)
    (pad,) = programs(machine.home, "mousepad")
    monkeypatch.setattr(machine, "_clock", lambda: 7.0)
    pad.suspend()

    settling = asyncio.create_task(machine.settle(0.5))
    await asyncio.sleep(1.0)
    pad.resume()

    assert await settling
    assert machine.clock() == 7.0


async def test_changed_modes_and_links_are_told_as_changes(machine: XvfbMachine) -> None:
    episode = Programs(machine, lambda _: MOUSEPAD)
    await episode.prepare(desktop_task(MOUSEPAD))
    await machine.run(["ln", "-s", "/etc", "Documents/turned"], seconds=10)
    await episode.mark()

    for argv in (["chmod", "+x", NOTE], ["ln", "-sfn", "/", "Documents/turned"], ["ln", "-s", "x", "Documents/way"]):
        await machine.run(argv, seconds=10)

    [changes] = await episode.read([], 0)
    assert changes.value == [[NOTE, "changed"], ["Documents/turned", "changed"], ["Documents/way", "added"]]


async def test_a_program_of_the_session_sees_nothing_of_our_environment(
    machine: XvfbMachine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-secret")

    seen = (await machine.run(["env"], seconds=10)).out.decode()

    assert "sk-secret" not in seen
    assert f"HOME={machine.home}" in seen


async def test_a_program_that_takes_too_long_is_ended(machine: XvfbMachine) -> None:
    with pytest.raises(EnvError, match=r"sleep took longer than 0\.2 s"):
        await machine.run(["sleep", "600"], seconds=0.2)


async def test_where_nothing_shows_there_is_no_tree_and_the_reason_is_said(machine: XvfbMachine) -> None:
    with pytest.raises(TreeError) as caught:
        await machine.tree()

    assert caught.value.code == "unavailable"


@pytest.mark.slow
async def test_what_a_program_does_not_answer_in_time_is_no_tree_and_makes_another_ones_a_part(
    machine: XvfbMachine,
) -> None:
    await open_pad(machine)
    (pad,) = programs(machine.home, "mousepad")
    assert not (await machine.tree()).partial

    pad.suspend()
    with pytest.raises(TreeError) as caught:
        await machine.tree()
    await machine.launch(["galculator"], {})
    await until(lambda: shows(machine, "Galculator"))
    beside = await machine.tree()
    pad.resume()
    await until(lambda: whole(machine))

    assert caught.value.code == "timeout"
    assert beside.partial and [node for node in beside.nodes if node.role == "window"]


async def whole(machine: XvfbMachine) -> bool:
    return not (await machine.tree()).partial


async def test_without_a_tree_reader_programs_look_for_no_bus_and_the_packages_are_named(
    machine: XvfbMachine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("pipeline.envs.xvfb.COMMAND", ("false",))

    await machine.revert()

    assert b"NO_AT_BRIDGE=1" in (await machine.run(["env"], seconds=10)).out
    with pytest.raises(TreeError, match="python3-gi"):
        await machine.tree()


async def test_a_layout_or_language_that_is_none_is_a_failed_set_up(machine: XvfbMachine) -> None:
    with pytest.raises(SetupError, match="no keyboard layout zz"):
        await machine.speak("en_US", "zz")
    with pytest.raises(SetupError, match="no locale xx_YY"):
        await machine.speak("xx_YY", "us")


async def test_who_is_cancelled_leaves_the_display_to_the_next_one(machine: XvfbMachine) -> None:
    for number in range(6):
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.02 + 0.04 * number):
                await machine.settle(5.0)

        async with asyncio.timeout(2.0):
            assert frame_of(await machine.capture()).width == WIDTH
            assert await machine.windows() == []


async def test_a_session_that_nobody_waits_for_any_more_is_closed_with_its_machine() -> None:
    made: list[Session] = []

    def make(folder: Path) -> Session:
        time.sleep(0.3)
        made.append(Session(folder))
        return made[0]

    machine = XvfbMachine(make=make)
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0.05):
            await machine.revert()

    await machine.close()

    assert not made[0].home.exists()


async def test_a_machine_without_a_session_says_so() -> None:
    machine = XvfbMachine()

    with pytest.raises(EnvError, match="xvfb has no session"):
        await machine.capture()
    await machine.close()


@pytest.mark.slow
@pytest.mark.parametrize("layout", ["us", "de", "fr"])
async def test_text_is_delivered_exactly_on_every_layout(machine: XvfbMachine, layout: str) -> None:
    await machine.speak("en_US", layout)
    await machine.write(NOTE, b"")
    await open_pad(machine, NOTE)

    await machine.type_text(f"{TEXT}\n{TEXT * 5}")
    await save(machine)

    await until(lambda: machine.read(NOTE))
    assert (await machine.read(NOTE)).decode() == f"{TEXT}\n{TEXT * 5}"


@pytest.mark.slow
async def test_characters_that_cannot_be_entered_are_named_and_nothing_is(machine: XvfbMachine) -> None:
    await machine.write(NOTE, b"")
    await open_pad(machine, NOTE)

    with pytest.raises(ActionError, match=r"no key enters '\\x01', '\\x1b'") as caught:
        await machine.type_text("a\x01b\x1b")

    assert caught.value.code == "text_not_delivered"
    assert "" in [node.value for node in (await machine.tree()).nodes if node.role == "textbox"]


@pytest.mark.slow
async def test_eight_in_turn_and_two_at_once_leave_nothing_behind() -> None:
    ours = set(psutil.Process().children(recursive=True))
    machine, pair = XvfbMachine("turn"), [XvfbMachine("one"), XvfbMachine("other")]
    left: list[set[Path]] = []
    for number in range(8):
        await restore(machine, fresh=number == 0)
        await machine.launch(["mousepad"], {})
        left.append(await footprint(machine))
    await machine.close()
    await asyncio.gather(*(restore(one, fresh=True) for one in pair))
    for one in pair:
        await open_pad(one)
        left.append(await footprint(one))
    assert all(path.exists() for path in left[-1] | left[-2]) and not left[-1] & left[-2]
    await asyncio.gather(*(one.close() for one in pair))

    assert [path for paths in left for path in paths if path.exists()] == []
    assert set(psutil.Process().children(recursive=True)) <= ours


@pytest.mark.slow
async def test_a_display_that_a_stranger_has_is_left_alone(machine: XvfbMachine, other: XvfbMachine) -> None:
    taken = int((await machine.run(["printenv", "DISPLAY"], seconds=5)).out.decode().strip(":\n")) + 1
    with stranger_at(taken):
        await other.revert()
        mine = (await other.run(["printenv", "DISPLAY"], seconds=5)).out.decode().strip(":\n")

    assert int(mine) not in (taken, taken - 1)


WORKER = """
import asyncio, sys, time
from pipeline.envs.xvfb import XvfbMachine

async def main():
    machine = XvfbMachine()
    await machine.revert()
    await machine.launch(["sleep", "600"], {})
    await machine.key("Shift_L", down=True)
    await machine.button("left", down=True)
    print(machine.home, flush=True)
    time.sleep(600)

asyncio.run(main())
"""


def killed_worker() -> Path:
    """The home folder that a worker had when it was killed."""
    with subprocess.Popen([sys.executable, "-c", WORKER], stdout=subprocess.PIPE, text=True) as worker:
        assert worker.stdout is not None
        home = Path(worker.stdout.readline().strip())
        assert home.is_dir()
        os.kill(worker.pid, signal.SIGKILL)
        worker.wait(timeout=10)
    return home


@pytest.mark.slow
async def test_a_worker_killed_with_shift_held_down_leaves_the_next_session_clean() -> None:
    home = await asyncio.to_thread(killed_worker)
    machine = XvfbMachine()
    await machine.revert()
    try:
        await machine.write(NOTE, b"")
        await open_pad(machine, NOTE)
        await machine.type_text("a")
        await machine.key("b", down=True)
        await machine.key("b", down=False)
        await save(machine)
        await until(lambda: machine.read(NOTE))
        assert await machine.read(NOTE) == b"ab"
    finally:
        await machine.close()
    await until(lambda: asyncio.to_thread(lambda: not home.parent.exists()))


def at(pixel: Pixel) -> Point:
    return canonical_point(pixel, WIDTH, HEIGHT)


@pytest.mark.core
@pytest.mark.slow
async def test_an_episode_in_a_real_program(desktop: DesktopEnvironment) -> None:
    task = desktop_task(MOUSEPAD, start=Start(app_id="mousepad", path=f"/{NOTE}"))
    await desktop.start(task)
    seen = await desktop.observe()
    assert seen.frame is not None
    assert seen.tree is not None
    field = next(node for node in seen.tree.nodes if node.role == "textbox" and node.box is not None)
    assert (field.value, seen.location) == ("first line\n", "Mousepad")
    assert field.box is not None
    first_line = Pixel(x=field.box.left + 20, y=field.box.top + 12)

    moves: list[tuple[Action, list[Pixel]]] = [
        (TripleClick(point=at(first_line)), [first_line]),
        (Type(content="naïve “你好”"), []),
        (KeyDown(keys=["Shift"]), []),
        (Hotkey(keys=["Home"]), []),
    ]
    for action, points in moves:
        await desktop.act(action, points)
    await desktop.finish()

    await desktop.start(task)
    await desktop.observe()
    target = await desktop.target(first_line)
    assert target is not None
    assert (target.role, target.states) == ("textbox", ["editable", "focused"])
    await desktop.act(Hotkey(keys=["Control", "a"]), [])
    await desktop.observe()
    flags = (await desktop.act(Type(content="naïve “你好”"), [])).flags
    await desktop.act(Hotkey(keys=["Control", "s"]), [])
    reads = {
        read.probe: read.value
        for read in await desktop.probe([Check(name="n", verifier="equals", probe="note", app_id="mousepad")], 3)
    }

    assert flags == []
    assert reads == {"note": [["naïve “你好”"]], "changes": [[NOTE, "changed"]]}


@pytest.mark.slow
async def test_a_rollout_of_a_real_program_has_pictures_trees_and_targets(desktop: DesktopEnvironment) -> None:
    menu = Pixel(x=340, y=180)
    record = await play([Click(point=at(menu)), Finished()], desktop_task(MOUSEPAD), desktop)

    assert record.attempt.termination == "finished"
    assert record.steps[0].target is not None
    assert record.steps[0].target.name == "File"
    assert [row.tree_error for row in record.observations] == [None] * 3
    assert record.observations[0].frame_sha256 != record.observations[1].frame_sha256


@pytest.mark.slow
async def test_a_drag_marks_text(machine: XvfbMachine) -> None:
    environment = DesktopEnvironment(Machines(lambda _: machine), lambda _: MOUSEPAD)
    await environment.start(desktop_task(MOUSEPAD, start=Start(app_id="mousepad", path=f"/{NOTE}")))
    tree = (await environment.observe()).tree
    assert tree is not None
    box = next(node.box for node in tree.nodes if node.role == "textbox" and node.box is not None)
    start, end = Pixel(x=box.left + 3, y=box.top + 12), Pixel(x=box.left + 300, y=box.top + 12)

    await environment.act(Drag(start=at(start), end=at(end)), [start, end])
    await environment.act(Type(content="gone"), [])

    tree = (await environment.observe()).tree
    assert tree is not None
    assert [node.value for node in tree.nodes if node.role == "textbox"] == ["gone\n"]
