"""Parts of virtual machines without any: the wire, keys, windows, images, the proof of acceleration."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from pipeline.app_entry import ProgramEntry, entry_names, load_entry
from pipeline.commands import applications
from pipeline.config import parse_config
from pipeline.debian_install import missing
from pipeline.envs import build, qemu_image
from pipeline.envs.machine import Window
from pipeline.envs.qemu_accel import EMULATED, HARDWARE, PACKAGES, acceleration, proof
from pipeline.envs.qemu_image import built_of, image_names, load_image, session_environment
from pipeline.envs.qemu_keys import KEYS, SPARE
from pipeline.envs.qemu_typing import Stroke, strokes_of
from pipeline.envs.qemu_windows import windows_of
from pipeline.envs.qemu_wire import Channel, RefusedError
from pipeline.errors import ConfigError, EnvError, SetupError
from pipeline.reaper import Scratch

Answer = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]


@asynccontextmanager
async def talking(folder: Path, answer: Answer) -> AsyncIterator[Channel]:
    """A channel to a server that answers as it is told."""
    path, ended = folder / "socket", asyncio.Event()

    async def answering(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await answer(reader, writer)
        await writer.drain()
        writer.close()
        ended.set()

    server = await asyncio.start_unix_server(answering, path)
    channel = Channel(path, "it")
    await channel.connect(5)
    try:
        yield channel
    finally:
        channel.close()
        async with asyncio.timeout(5):
            await ended.wait()
        server.close()


async def test_answers_to_other_requests_and_events_are_passed_over(tmp_path: Path) -> None:
    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        request = json.loads(await reader.readline())
        for row in ({"event": "STOP"}, {"return": "old", "id": 99}, {"return": "mine", "id": request["id"]}):
            writer.write(json.dumps(row).encode() + b"\n")

    async with talking(tmp_path, answer) as channel:
        assert await channel.ask("query", seconds=5) == "mine"


async def test_a_token_is_found_behind_half_an_answer_of_before(tmp_path: Path) -> None:
    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        line = await reader.readline()
        assert line[:1] == b"\xff"
        token = json.loads(line[1:])["arguments"]["id"]
        writer.write(b'{"return": {"buf-b6\xff{"return": %d}\n' % token)

    async with talking(tmp_path, answer) as channel:
        await channel.sync(5)


async def test_a_token_of_somebody_else_is_none(tmp_path: Path) -> None:
    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readline()
        writer.write(b'\xff{"return": 1}\n')
        await writer.drain()
        await reader.read()

    async with talking(tmp_path, answer) as channel:
        with pytest.raises(EnvError, match=r"did not answer in 0\.2 s"):
            await channel.sync(0.2)


async def test_a_refusal_is_told_in_its_own_words(tmp_path: Path) -> None:
    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        number = json.loads(await reader.readline())["id"]
        row = {"error": {"class": "GenericError", "desc": "not today"}, "id": number}
        writer.write(json.dumps(row).encode() + b"\n")

    async with talking(tmp_path, answer) as channel:
        with pytest.raises(RefusedError, match="not today"):
            await channel.ask("command", seconds=5)


@pytest.mark.parametrize("said", [b"", b"nonsense\n", b"[]\n"])
async def test_an_end_or_nonsense_is_an_environment_error(tmp_path: Path, said: bytes) -> None:
    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readline()
        writer.write(said)

    async with talking(tmp_path, answer) as channel:
        with pytest.raises(EnvError):
            await channel.ask("command", seconds=5)


async def test_a_socket_that_does_not_come_is_an_environment_error(tmp_path: Path) -> None:
    with pytest.raises(EnvError, match="is not there"):
        await Channel(tmp_path / "none", "it").connect(0.1)


def test_keys_are_taken_bare_before_with_shift_and_columns_of_other_groups_not_at_all() -> None:
    table = (
        "     38    \t0x0061 (a)\t0x0041 (A)\t0x0061 (a)\t0x0041 (A)\t0x00e6 (ae)\n"
        "     60    \t0x002e (period)\t0x003a (colon)\n"
        "     47    \t0x003a (colon)\t0x00d6 (Odiaeresis)\n"
        "    190    \t0x0078 (x)\n"
        "      8    \t\n"
    )
    strokes = strokes_of(table)
    assert strokes[ord("a")] == Stroke("a", shifted=False)
    assert strokes[ord("A")] == Stroke("a", shifted=True)
    assert strokes[ord(":")] == Stroke("semicolon", shifted=False)
    assert 0xE6 not in strokes
    assert ord("x") not in strokes  # a spare key


def test_no_key_is_both_a_layouts_own_and_spare() -> None:
    assert not KEYS.keys() & SPARE.keys()
    names = [*KEYS.values(), *SPARE.values()]
    assert len(names) == len(set(names))
    assert max(SPARE) <= 255


def test_windows_are_read_with_quotes_titles_of_any_script_and_without_those_that_went() -> None:
    said = (
        "_NET_ACTIVE_WINDOW(WINDOW): window id # 0xa00003\n"
        "_NET_CLIENT_LIST_STACKING(WINDOW): window id # 0x800003, 0xa00003, 0xc00003\n"
        'window 0x800003\n_NET_WM_NAME = "笔记 \\"a\\""\nWM_NAME = "x"\nWM_CLASS = "pad", "Pad"\n'
        'window 0xa00003\n_NET_WM_NAME:  not found.\nWM_NAME = "terminal"\nWM_CLASS = "xterm", "XTerm"\n'
        "window 0xc00003\n"
    )
    assert windows_of(said) == [
        Window('笔记 "a"', "Pad", active=False),
        Window("terminal", "XTerm", active=True),
    ]


def test_a_desktop_without_windows_has_none() -> None:
    said = "_NET_ACTIVE_WINDOW(WINDOW): window id # 0x0\n_NET_CLIENT_LIST_STACKING(WINDOW): window id # \n"
    assert windows_of(said) == []


def test_acceleration_is_not_believed_by_a_device_file(tmp_path: Path) -> None:
    device = tmp_path / "kvm"
    device.touch()
    stopped = tmp_path / "program"
    stopped.write_text("#!/bin/sh\nexit 134\n", encoding="ascii")
    stopped.chmod(0o755)

    found = acceleration(str(stopped), device)

    assert found.name == EMULATED.name
    assert "ends with 134" in found.note


def test_acceleration_is_believed_when_a_guest_ends_itself(tmp_path: Path) -> None:
    program = tmp_path / "program"
    program.write_text("#!/bin/sh\nexit 33\n", encoding="ascii")
    program.chmod(0o755)
    assert acceleration(str(program), tmp_path) == HARDWARE


def test_without_a_device_nothing_is_tried(tmp_path: Path) -> None:
    assert "is not there" in acceleration("no such program", tmp_path / "none").note


def test_a_guest_that_hangs_is_no_proof(tmp_path: Path) -> None:
    program = tmp_path / "program"
    program.write_text("#!/bin/sh\nexec sleep 20\n", encoding="ascii")
    program.chmod(0o755)
    assert "first instruction" in proof(HARDWARE, str(program), seconds=0.2)


@pytest.mark.skipif(bool(missing(PACKAGES)), reason="no machines run here")
def test_the_sector_ends_an_emulated_guest() -> None:
    assert proof(EMULATED, seconds=20) == ""


def test_images_that_ship_are_sound_and_tell_their_hash() -> None:
    hashes = {load_image(name).hash for name in image_names()}
    assert len(hashes) == len(image_names()) >= 2
    assert load_image("debian-desktop").locales == ["en_US", "zh_CN"]


def test_the_desktop_image_has_every_program_of_the_catalog() -> None:
    entries = [entry for entry in map(load_entry, entry_names()) if isinstance(entry, ProgramEntry)]
    needed = {package for entry in entries for package in entry.install.packages}
    locales = {entry.locale for entry in entries}
    image = load_image("debian-desktop")
    assert needed <= set(image.packages)
    assert locales <= set(image.locales)


def test_another_package_is_another_image() -> None:
    image = load_image("debian-small")
    assert image.model_copy(update={"packages": [*image.packages, "sl"]}).hash != image.hash


def test_an_unknown_image_is_said_so_with_the_known_ones() -> None:
    with pytest.raises(ConfigError, match="known: debian-desktop, debian-small"):
        load_image("windows")


def test_a_session_of_a_guest_finds_display_and_bus() -> None:
    assert {"DISPLAY", "DBUS_SESSION_BUS_ADDRESS", "HOME"} <= session_environment().keys()


def test_an_image_that_cannot_be_made_says_which_packages_are_missing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATHPROOF_HOME", str(tmp_path))
    monkeypatch.setattr(qemu_image, "missing", lambda _: ["mmdebstrap"])
    with pytest.raises(SetupError, match="apt-get install --no-install-recommends mmdebstrap"):
        qemu_image.build(load_image("debian-small"))


def test_only_root_makes_an_image(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATHPROOF_HOME", str(tmp_path))
    monkeypatch.setattr(qemu_image, "missing", lambda _: [])
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    with pytest.raises(SetupError, match="only root"):
        qemu_image.build(load_image("debian-small"))
    assert not built_of(load_image("debian-small")).done


def test_an_image_whose_making_fails_is_not_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    programs = tmp_path / "bin"
    programs.mkdir()
    (programs / "mmdebstrap").write_text("#!/bin/sh\necho no mirror\nexit 25\n", encoding="ascii")
    (programs / "mmdebstrap").chmod(0o755)
    monkeypatch.setenv("PATH", f"{programs}:/usr/bin:/bin")
    monkeypatch.setenv("PATHPROOF_HOME", str(tmp_path / "home"))
    monkeypatch.setattr(qemu_image, "missing", lambda _: [])
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    image = load_image("debian-small")
    with pytest.raises(SetupError, match="failed with code 25: no mirror"):
        qemu_image.build(image)
    assert not built_of(image).done
    assert sorted(path.name for path in built_of(image).folder.iterdir()) == ["lock"]


@pytest.fixture
def old_image(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of an image of other packages, beside the one that is up to date and that of another machine."""
    monkeypatch.setenv("PATHPROOF_HOME", str(tmp_path))
    old = tmp_path / "machines" / "debian-small-0123456789ab"
    others = (built_of(load_image(name)).folder for name in ("debian-small", "debian-desktop"))
    for folder in (old, *others):
        folder.mkdir(parents=True)
        (folder / "disk").write_bytes(b"x" * 3_000_000)
    return old


def test_an_outdated_image_is_told_with_its_size_and_how_to_remove_it(
    old_image: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(applications, "prepare_machine", lambda *_: None)

    assert applications.up("debian-small") == 0

    told = capsys.readouterr().out
    assert f"{old_image} is outdated and takes 3 MB; remove it with: pathproof apps down debian-small" in told
    assert old_image.exists()


def test_only_outdated_images_that_nobody_uses_are_removed(old_image: Path, capsys: pytest.CaptureFixture[str]) -> None:
    before = set(old_image.parent.iterdir())
    with (old_image / "disk").open("rb") as disk, subprocess.Popen(["sleep", "600"], stdin=disk) as machine:
        disk.close()
        assert applications.down("debian-small") == 0
        assert set(old_image.parent.iterdir()) == before
        machine.kill()

    assert applications.down("debian-small") == 0

    assert set(old_image.parent.iterdir()) == before - {old_image}
    assert capsys.readouterr().out == f"{old_image} is in use, and stays\n{old_image} is removed\n"


def test_machines_are_listed_with_the_applications(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("PATHPROOF_HOME", str(tmp_path))
    assert applications.list_() == 0
    assert "debian-desktop\tbookworm\tmany\tnot made" in capsys.readouterr().out


def test_a_configuration_names_the_image(tmp_path: Path) -> None:
    wrong = parse_config({"platform": "desktop", "provider": "qemu", "devices": ["nothing"]})
    with Scratch("test", tmp_path) as scratch:
        with pytest.raises(ConfigError, match="unknown machine 'nothing'"):
            build(wrong, scratch)
        build(parse_config({"platform": "desktop", "provider": "qemu"}), scratch)
