"""Emulators: command line, port pairs, console. A stub stands in for the emulator program; adb is real."""

import asyncio
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from pipeline.envs.device_leases import Leases
from pipeline.envs.devices import OwnDevice
from pipeline.envs.emulator import Emulator, arguments, find_emulator
from pipeline.errors import EnvError, SetupError
from pipeline.ports import LOOPBACK, free_port, is_taken
from pipeline.reaper import Scratch

ROOT = Path(__file__).resolve().parents[1]
TOKEN = "not-a-real-token"


@pytest.fixture(autouse=True)
def sdk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An SDK folder with the stub in it, and a home folder with the console's token."""
    program = tmp_path / "sdk" / "emulator" / "emulator"
    program.parent.mkdir(parents=True)
    program.write_text(f'#!/bin/sh\nexec env PYTHONPATH={ROOT} {sys.executable} -m tests.emulator_stub "$@"\n')
    program.chmod(0o755)
    (tmp_path / ".emulator_console_auth_token").write_text(TOKEN)
    monkeypatch.setenv("ANDROID_HOME", str(tmp_path / "sdk"))
    monkeypatch.setenv("STUB_FOLDER", str(tmp_path))
    monkeypatch.setenv("HOME", str(tmp_path))
    return program


@pytest.fixture
def scratch(tmp_path: Path) -> Iterator[Scratch]:
    with Scratch("emulator", tmp_path) as made:
        yield made


def _pair() -> int:
    """An even port that is free, as the next one is."""
    while True:
        port = free_port() & ~1
        if not is_taken(port) and not is_taken(port + 1):
            return port


def test_an_instance_writes_neither_device_nor_snapshot() -> None:
    words = arguments("Pixel", 5556, "clean")

    assert words[:5] == ["-avd", "Pixel", "-port", "5556", "-read-only"]
    assert "-no-snapshot-save" in words and words[-2:] == ["-snapshot", "clean"]
    assert arguments("Pixel", 5556, None)[-1] == "-no-snapshot-load"


async def test_it_is_a_device_that_goes_back_to_its_snapshot(scratch: Scratch, tmp_path: Path) -> None:
    port = _pair()
    emulator = Emulator(scratch, "Pixel", "good", leases=Leases(tmp_path / "leases"), ports=[port])
    fleet = OwnDevice(scratch, "avd", emulator, emulator.restore, boot_seconds=20.0)

    first = await fleet.take()
    await fleet.give_back(first, worked=True)
    second = await fleet.take()

    assert (tmp_path / "arguments").read_text() == " ".join(arguments("Pixel", port, "good"))
    assert first.name == second.name == f"emulator-{port}"
    assert (await first.device.run("ls", "/data/local/tmp/.pathproof-mark")).code == 1
    await fleet.close()
    assert not is_taken(port) and not is_taken(port + 1)
    assert Leases(tmp_path / "leases").claim(f"ports-{port}") is not None


async def test_ports_of_others_are_left_to_them(scratch: Scratch, tmp_path: Path) -> None:
    pairs = [_pair() for _ in range(3)]
    leases = Leases(tmp_path / "leases")
    reserved = leases.claim(f"ports-{pairs[0]}")
    foreign = await asyncio.start_server(lambda _, writer: writer.close(), LOOPBACK, pairs[1] + 1)
    with closing(foreign):
        emulator = Emulator(scratch, "Pixel", leases=leases, ports=pairs)

        await emulator.start()

        assert reserved is not None and emulator.serial == f"emulator-{pairs[2]}"
        assert leases.claim(f"ports-{pairs[1]}") is not None
        await emulator.close()


async def test_two_instances_of_a_device_run_at_a_time(scratch: Scratch, tmp_path: Path) -> None:
    pairs = [_pair(), _pair()]
    while pairs[0] == pairs[1]:
        pairs[1] = _pair()
    both = [Emulator(scratch, "Pixel", leases=Leases(tmp_path / "leases"), ports=pairs) for _ in range(2)]

    await asyncio.gather(*(emulator.start() for emulator in both))

    assert sorted(emulator.serial for emulator in both) == sorted(f"emulator-{port}" for port in pairs)
    for emulator in both:
        await emulator.close()


async def test_a_snapshot_that_is_not_there_is_said(scratch: Scratch, tmp_path: Path) -> None:
    emulator = Emulator(scratch, "Pixel", "gone", leases=Leases(tmp_path / "leases"), ports=[_pair()])
    await emulator.start()

    with pytest.raises(EnvError, match="KO: unknown command or snapshot"):
        await emulator.restore()

    await emulator.close()


async def test_an_emulator_that_ends_at_once_says_why(scratch: Scratch, tmp_path: Path) -> None:
    emulator = Emulator(scratch, "broken", leases=Leases(tmp_path / "leases"), ports=[_pair()])

    with pytest.raises(SetupError, match="Unknown AVD name") as caught:
        await emulator.start()

    assert caught.value.code == "emulator_not_started"


def test_without_an_sdk_the_fix_is_named(sdk: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    sdk.unlink()
    monkeypatch.setenv("PATH", "")

    with pytest.raises(SetupError, match="set ANDROID_HOME"):
        find_emulator()
