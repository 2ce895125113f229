"""Machines in virtual machines, of a program that breaks on command: restores, fallbacks, files, keys, deadlines."""

from __future__ import annotations

import asyncio
import re
import subprocess
import sys
import time
from collections.abc import AsyncIterator
from pathlib import Path

import psutil
import pytest

from pipeline.actions import Pixel
from pipeline.debian_install import missing
from pipeline.envs import qemu, qemu_files, qemu_rest, qemu_vm
from pipeline.envs.fake_qemu import CUT, PRESSED, TORN
from pipeline.envs.machine import Machine
from pipeline.envs.machine_restore import MARK, restore
from pipeline.envs.machines import Machines
from pipeline.envs.qemu import QemuMachine
from pipeline.envs.qemu_accel import PACKAGES
from pipeline.envs.qemu_vm import VirtualMachine
from pipeline.errors import ActionError, CaptureError, EnvError, SetupError, TreeError
from pipeline.found_files import SPECIAL
from pipeline.frames import frame_of
from tests.qemus import IMAGE, fake_machine, fake_ready

pytestmark = pytest.mark.skipif(bool(missing(PACKAGES)), reason="there is no qemu-img on this machine")


@pytest.fixture
async def machine(tmp_path: Path) -> AsyncIterator[Machine]:
    made: Machine = fake_machine(tmp_path)
    await made.boot()
    yield made
    await made.close()


async def broken(folder: Path, **faults: int) -> QemuMachine:
    made = fake_machine(folder, **faults)
    await made.boot()
    return made


async def test_a_restore_takes_back_what_was_written_and_proves_it(machine: Machine) -> None:
    await restore(machine, fresh=True)
    await machine.write("Documents/a.txt", b"kept?")

    restored = await restore(machine, fresh=False)

    assert restored.tries == 1
    assert await machine.files() == {}


async def test_a_restore_that_only_says_it_is_done_is_tried_again(tmp_path: Path) -> None:
    machine = await broken(tmp_path, stale_loads=2)
    try:
        restored = await restore(machine, fresh=False)
        assert restored.tries == 3
        with pytest.raises(FileNotFoundError):
            await machine.read(MARK)
    finally:
        await machine.close()


async def test_a_machine_whose_snapshot_fails_runs_on_and_is_restored_by_the_next_try(tmp_path: Path) -> None:
    machine = await broken(tmp_path, failing_loads=1)
    try:
        with pytest.raises(SetupError, match="Error -22") as caught:
            await machine.revert()
        assert caught.value.code == "snapshot_failed"
        ran = await machine.run(["echo", "alive"], seconds=5)
        assert ran.out == b"alive\n"
        assert (await restore(machine, fresh=False)).tries == 1
    finally:
        await machine.close()


async def test_a_guest_that_does_not_answer_after_a_restore_is_not_restored(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    machine = await broken(tmp_path, silent_loads=-1)
    try:
        running = machine._there()
        monkeypatch.setattr(running.agent, "sync", lambda: running.machine.agent.sync(0.3))
        with pytest.raises(SetupError, match="did not answer"):
            await machine.revert()
    finally:
        await machine.close()


async def test_a_state_that_cannot_be_used_is_replaced_by_a_start_from_the_disk_with_the_first_one_ended(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    started: list[int] = []
    start = qemu_vm.VirtualMachine.start

    async def watched(self: qemu_vm.VirtualMachine, *, waiting: bool) -> None:
        assert not any(psutil.pid_exists(pid) for pid in started)
        if not waiting:
            self._hardware = fake_ready(tmp_path / "second").hardware
        await start(self, waiting=waiting)
        assert self._process is not None
        started.append(self._process.pid)

    (tmp_path / "second").mkdir()
    monkeypatch.setattr(qemu_vm.VirtualMachine, "start", watched)

    machine = await broken(tmp_path, failing_states=-1)
    await restore(machine, fresh=True)
    await machine.close()

    assert len(started) == 2
    assert not any(psutil.pid_exists(pid) for pid in started)


async def test_an_image_that_is_not_prepared_is_said_so_with_what_to_type(tmp_path: Path) -> None:
    ready = fake_ready(tmp_path)
    (ready.folder / "ready.done").unlink()
    machine = QemuMachine("fake", IMAGE, lambda _: ready)

    with pytest.raises(SetupError, match="pathproof apps up debian-small") as caught:
        await machine.boot()

    assert caught.value.code == "image_missing"


async def test_a_pointer_that_does_not_follow_the_tablet_is_no_machine(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(qemu, "_MOVE_SECONDS", 0.2)
    machine = fake_machine(tmp_path, deaf_tablets=-1)
    try:
        with pytest.raises(SetupError, match="tablet"):
            await machine.boot()
    finally:
        await machine.close()


async def test_a_machine_that_was_left_stands_still_until_it_is_asked(machine: Machine) -> None:
    await machine.leave()
    await machine.write("later.txt", b"1")
    assert await machine.read("later.txt") == b"1"


async def test_files_are_written_read_listed_and_removed_within_the_home_folder_only(machine: Machine) -> None:
    await machine.write("a b/é.txt", b"1")
    await machine.write("a b/empty", b"")

    assert await machine.read("a b/é.txt") == b"1"
    assert sorted(await machine.files()) == ["a b/", "a b/empty", "a b/é.txt"]
    assert sorted(await machine.files("a b")) == ["a b/empty", "a b/é.txt"]
    await machine.remove("a b")
    await machine.remove("never there")
    assert await machine.files() == {}
    assert await machine.files("never there") == {}
    for path in ("../x", "/etc/passwd", "a/../../x", "", "no text \udcff"):
        with pytest.raises(ValueError, match=r"no path below|surrogates"):
            await machine.read(path)


async def test_what_is_no_file_is_listed_as_such_and_not_read(machine: Machine) -> None:
    await machine.run(["sh", "-c", "mkfifo pipe; truncate -s 65M large; ln -s pipe link"], seconds=5)

    found = await machine.files()

    assert (found["pipe"], found["large"].split()[:2]) == (SPECIAL, ["large", str(65 << 20)])
    assert "link" not in found
    for path in ("pipe", "link"):
        with pytest.raises(FileNotFoundError):
            await machine.read(path)
    with pytest.raises(OSError, match="more than"):
        await machine.read("large")
    await machine.write("pipe", b"1")
    assert await machine.read("pipe") == b"1"


async def test_links_lead_within_the_home_folder_only(machine: Machine) -> None:
    await machine.write("inside", b"1")
    await machine.run(["sh", "-c", "ln -s inside near; ln -s /etc/hostname far; ln -s / top"], seconds=5)

    assert await machine.read("near") == b"1"
    for path in ("far", "top/etc/hostname"):
        with pytest.raises(ValueError, match="leads out"):
            await machine.read(path)
    await machine.write("far", b"2")
    assert await machine.read("far") == b"2"


async def test_a_listing_that_was_cut_or_failed_is_none(machine: QemuMachine, monkeypatch: pytest.MonkeyPatch) -> None:
    cut = machine._there().scratch.path / "home" / CUT
    cut.touch()
    with pytest.raises(EnvError, match="more than the guest's agent keeps"):
        await machine.files()
    cut.unlink()

    monkeypatch.setattr(qemu_files, "_LIST", "echo 'find: x: Input/output error' >&2; exit 1")
    with pytest.raises(EnvError, match="Input/output error"):
        await machine.files()
    monkeypatch.setattr(qemu_files, "_LIST", "echo 'find: x: No such file or directory' >&2; exit 1")
    assert await machine.files() == {}


async def test_a_large_file_comes_whole(machine: Machine) -> None:
    content = bytes(range(256)) * 40_000
    await machine.write("large", content)
    assert await machine.read("large") == content


async def test_a_program_that_takes_too_long_is_ended(machine: Machine) -> None:
    began = time.monotonic()
    with pytest.raises(EnvError, match="longer than") as caught:
        await machine.run(["sleep", "60"], seconds=0.2)
    assert caught.value.code == "program_hangs"
    assert time.monotonic() - began < 5


async def test_a_program_that_is_not_in_the_image_is_missing(machine: Machine) -> None:
    with pytest.raises(EnvError, match="no program nothing-like-that") as caught:
        await machine.launch(["nothing-like-that"], {})
    assert caught.value.code == "program_missing"


async def test_a_torn_picture_is_no_picture(machine: QemuMachine) -> None:
    await machine.run(["true"], seconds=5)
    (machine._there().scratch.path / "home" / TORN).touch()
    with pytest.raises(CaptureError) as caught:
        await machine.capture()
    assert caught.value.code == "undecodable"


async def test_text_is_entered_with_shift_and_with_keys_that_are_given_a_meaning(machine: Machine) -> None:
    await machine.type_text("aAé\n")
    pressed = (await machine.read(PRESSED)).decode().split()
    assert pressed == ["+a", "-a", "+shift", "+a", "-a", "-shift", "+ro", "-ro", "+ret", "-ret"]


async def test_characters_that_office_suites_take_by_another_way_go_apart(
    machine: QemuMachine, monkeypatch: pytest.MonkeyPatch
) -> None:
    keyboard = machine._there().keyboard
    pressed: list[str] = []

    async def rest() -> None:
        pressed.append((await machine.read(PRESSED)).decode())

    monkeypatch.setattr(keyboard, "_rest", rest)
    await machine.type_text("a🙂a")

    assert pressed == ["+a -a ", "+a -a +ro -ro "]


async def test_more_characters_than_there_are_spare_keys_use_them_again_and_none_that_the_machine_refuses(
    machine: QemuMachine,
) -> None:
    text = "".join(map(chr, range(0x4E00, 0x4E00 + 60)))

    await machine.type_text(f"{text}a")

    pressed = re.findall(r"\+(\w+)", (await machine.read(PRESSED)).decode())
    assert len(pressed) == 61
    assert set(pressed) <= await machine._there().machine.keys()


async def test_text_with_what_no_key_enters_is_refused_before_any_is(machine: Machine) -> None:
    with pytest.raises(ActionError, match="x07"):
        await machine.type_text("a\x07")
    with pytest.raises(FileNotFoundError):
        await machine.read(PRESSED)


async def test_what_is_held_is_released(machine: Machine) -> None:
    await machine.key("é", down=True)
    await machine.button("left", down=True)
    await machine.release_all()
    pressed = (await machine.read(PRESSED)).decode().split()
    assert pressed[0] == "+ro"
    assert {"-ro", "-shift", "-ctrl", "-alt", "-meta_l"} <= set(pressed)


async def test_an_unknown_key_is_a_bad_argument(machine: Machine) -> None:
    with pytest.raises(ActionError, match="no key 'Nope'"):
        await machine.key("Nope", down=True)


async def test_trees_come_from_the_reader_in_the_guest(machine: Machine) -> None:
    seen = await machine.tree()
    assert [(node.role, node.name) for node in seen.nodes] == [("button", "Save")]


async def test_a_tree_of_a_machine_that_is_gone_has_a_reason(tmp_path: Path) -> None:
    with pytest.raises(TreeError) as caught:
        await fake_machine(tmp_path).tree()
    assert caught.value.code == "unavailable"


async def test_a_language_that_the_image_has_not_is_refused(machine: Machine) -> None:
    with pytest.raises(SetupError, match="no locale zh_CN"):
        await machine.speak("zh_CN", "us")


async def test_a_machine_that_dies_is_an_environment_error_and_is_replaced(tmp_path: Path) -> None:
    machines = Machines(lambda _: fake_machine(tmp_path))
    machine = await machines.take()
    assert isinstance(machine, QemuMachine)
    process = machine._there().machine._running()
    process.kill()

    with pytest.raises(EnvError, match="machine"):
        await machine.capture()
    await machines.give_back(worked=False)
    assert await machines.take() is not machine
    await machines.close()

    assert machines.quarantined == []


async def test_a_monitor_that_hangs_costs_a_deadline(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(qemu_vm, "_STALL_SECONDS", 0.5)
    machine = await broken(tmp_path, **{"hanging snapshot-load": 1})
    try:
        with pytest.raises(SetupError) as caught:
            async with asyncio.timeout(20):
                await machine.revert()
        assert caught.value.code in ("machine_stalls", "no_answer")
    finally:
        await machine.close()


async def test_nothing_is_left_behind(tmp_path: Path) -> None:
    machine = await broken(tmp_path)
    running = machine._there()
    pid, folder = running.machine._running().pid, running.scratch.path

    await machine.close()

    assert not psutil.pid_exists(pid)
    assert not folder.exists()


async def test_a_screen_at_rest_is_told_from_outside_and_without_time_there_is_no_rest(machine: Machine) -> None:
    assert await machine.settle(20)
    assert not await machine.settle(0)


class Starved(VirtualMachine):
    """At work while others leave it no room, and then at rest."""

    def __init__(self, seconds: float) -> None:
        """There is no process."""
        self._until = time.monotonic() + seconds

    def _spent(self) -> tuple[float, float]:
        return 0.0, min(time.monotonic(), self._until)

    async def screen(self) -> bytes:
        return b""


async def test_no_time_passes_for_a_machine_while_others_leave_it_no_room() -> None:
    machine = Starved(2.5)
    began = time.monotonic()

    assert await qemu_rest.settle(machine, 2.0)

    assert time.monotonic() - began > 2.5


def test_a_machine_ends_with_its_worker_even_when_that_is_killed(tmp_path: Path) -> None:
    code = (
        "import asyncio, pathlib, sys\n"
        "from tests.qemus import fake_machine\n"
        "async def main():\n"
        "    machine = fake_machine(pathlib.Path(sys.argv[1]))\n"
        "    await machine.boot()\n"
        "    there = machine._there()\n"
        "    print(there.machine._running().pid, there.scratch.path, flush=True)\n"
        "    await asyncio.Event().wait()\n"
        "asyncio.run(main())\n"
    )
    command = [sys.executable, "-c", code, str(tmp_path)]
    with subprocess.Popen(command, cwd=Path(__file__).parents[1], stdout=subprocess.PIPE, text=True) as worker:
        assert worker.stdout is not None
        pid, folder = worker.stdout.readline().split()
        assert psutil.pid_exists(int(pid))
        worker.kill()

    until = time.monotonic() + 30
    while psutil.pid_exists(int(pid)) or Path(folder).exists():
        assert time.monotonic() < until
        time.sleep(0.05)


async def test_the_pointer_is_put_into_the_middle_of_a_pixel(machine: QemuMachine) -> None:
    await machine.pointer(Pixel(x=1279, y=799))
    frame = frame_of(await machine.capture())
    assert (frame.width, frame.height) == (qemu_vm.WIDTH, qemu_vm.HEIGHT)
    assert (await machine._there().machine.screen())[-3:] == b"\0\0\0"
