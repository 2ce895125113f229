"""The wire under the real adb server: what its own client sends arrives, and what the device says comes back."""

import asyncio
import contextlib
import os
import random
import time
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import NamedTuple

import adbutils
import pytest

from pipeline.handset.wire import Device, DirEntry, FileStat, Output, WireServer, serve
from pipeline.ports import LOOPBACK, free_port, listening
from pipeline.reaper import Scratch

NOISE = random.Random(7).randbytes(3_000_000)
FILE_MODE = 0o100644


class ScriptedDevice(Device):
    """Carries out a few commands; remembers the lines and files it was given."""

    def __init__(self) -> None:
        self.banner = {"ro.product.name": "scripted", "ro.product.model": "S1", "ro.product.device": "s1"}
        self.lines: list[str] = []
        self.files: dict[str, bytes] = {}
        self.begun = asyncio.Event()
        self.cancelled = asyncio.Event()

    async def shell(self, line: str, stdin: AsyncIterator[bytes], output: Output) -> int:
        self.lines.append(line)
        match line.split(" ", 1)[0]:
            case "noise":
                await output.out(NOISE)
            case "both":
                await output.out(b"to out\n")
                await output.err(b"to err\n")
                return 7
            case "upper":
                async for data in stdin:
                    await output.out(data.upper())
            case "hang":
                await self._hang()
            case "broken":
                raise OSError("the device is upset")
        return 0

    async def stat(self, path: str) -> FileStat | None:
        return FileStat(FILE_MODE, len(self.files[path]), 1_700_000_000) if path in self.files else None

    async def list(self, path: str) -> list[DirEntry]:
        return [
            DirEntry(name.removeprefix(path), FileStat(FILE_MODE, len(data), 0))
            for name, data in self.files.items()
            if name.startswith(path)
        ]

    async def read(self, path: str) -> bytes:
        if path not in self.files:
            raise FileNotFoundError(2, "No such file or directory")
        return self.files[path]

    async def write(self, path: str, mode: int, data: bytes) -> None:
        del mode
        self.files[path] = data

    async def _hang(self) -> None:
        self.begun.set()
        try:
            await asyncio.Event().wait()
        finally:
            self.cancelled.set()


class Said(NamedTuple):
    """What an adb client printed, and its exit code."""

    code: int
    out: bytes
    err: bytes


class Adb:
    """The real client, bound to one private server and one device."""

    def __init__(self, host: Path, port: int, serial: str) -> None:
        self._host, self._port, self._serial = host, port, serial

    async def __call__(self, *arguments: str, stdin: bytes = b"", seconds: float = 20.0) -> Said:
        process = await asyncio.create_subprocess_exec(
            *(adbutils.adb_path(), "-P", str(self._port), "-s", self._serial, *arguments),
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
            env={**os.environ, "HOME": str(self._host)},
        )
        try:
            async with asyncio.timeout(seconds):
                out, err = await process.communicate(stdin)
        finally:
            with contextlib.suppress(ProcessLookupError):
                process.kill()
            await process.wait()
        return Said(process.returncode or 0, out, err)


@pytest.fixture(scope="module")
def host() -> Iterator[tuple[Path, int]]:
    """A private adb server of the real binary: its folder and its port."""
    port = free_port()
    with Scratch("wire") as scratch:
        variables = {"ADB_USB": "0", "ADB_EMU": "0", "ADB_MDNS": "0", "HOME": str(scratch.path)}
        command = [adbutils.adb_path(), "-P", str(port), "nodaemon", "server"]
        process = scratch.spawn(command, log=scratch.path / "adb.log", environment=variables)
        until = time.monotonic() + 10
        while (LOOPBACK, port) not in listening(process.pid):
            assert process.poll() is None and time.monotonic() < until, (scratch.path / "adb.log").read_text()
        yield scratch.path, port


@pytest.fixture
def device() -> ScriptedDevice:
    return ScriptedDevice()


@pytest.fixture
async def wire(device: ScriptedDevice) -> AsyncIterator[WireServer]:
    server = await serve(device)
    yield server
    await server.close()


@pytest.fixture
async def adb(wire: WireServer, host: tuple[Path, int]) -> AsyncIterator[Adb]:
    """A client whose server is connected to the device."""
    serial = f"{LOOPBACK}:{wire.port}"
    client = Adb(*host, serial)
    said = await client("connect", serial)
    assert said.out == f"connected to {serial}\n".encode()
    yield client
    await client("disconnect", serial)


async def test_it_is_listed_with_what_it_says_of_itself(adb: Adb) -> None:
    said = await adb("devices", "-l")

    assert b"device product:scripted model:S1 device:s1" in said.out


async def test_outputs_and_exit_code_arrive_apart(adb: Adb, device: ScriptedDevice) -> None:
    said = await adb("shell", "both ' a'")

    assert said == Said(7, b"to out\n", b"to err\n")
    assert device.lines == ["both ' a'"]


async def test_the_old_shell_has_one_output_and_no_exit_code(adb: Adb) -> None:
    said = await adb("shell", "-x", "both")

    assert said == Said(0, b"to out\nto err\n", b"")


async def test_raw_bytes_come_back_unchanged(adb: Adb) -> None:
    said = await adb("exec-out", "noise")

    assert said.out == NOISE


@pytest.mark.parametrize("way", ["shell", "exec-in"])
async def test_standard_input_reaches_the_command(adb: Adb, way: str, device: ScriptedDevice) -> None:
    text = "à la carte\n" * 50_000

    said = await adb(way, "upper", stdin=text.encode())

    assert device.lines == ["upper"]
    if way == "shell":
        assert said.out == text.encode().upper()


async def test_a_device_that_cannot_is_told(adb: Adb) -> None:
    said = await adb("shell", "broken")

    assert said == Said(1, b"", b"the device is upset\n")


async def test_files_go_there_and_back(adb: Adb, device: ScriptedDevice, tmp_path: Path) -> None:
    (tmp_path / "up").write_bytes(NOISE)

    pushed = await adb("push", str(tmp_path / "up"), "/sdcard/noise")
    pulled = await adb("pull", "/sdcard/noise", str(tmp_path / "down"))
    listed = await adb("ls", "/sdcard/")

    assert (pushed.code, pulled.code) == (0, 0), (pushed, pulled)
    assert device.files["/sdcard/noise"] == (tmp_path / "down").read_bytes() == NOISE
    assert listed.out.split() == [b"000081a4", b"002dc6c0", b"00000000", b"noise"]


async def test_a_file_that_is_not_there_is_said_to_be(adb: Adb, tmp_path: Path) -> None:
    said = await adb("pull", "/sdcard/nothing", str(tmp_path / "down"))

    assert said.code == 1
    assert b"No such file or directory" in said.out + said.err


async def test_a_forward_to_the_same_port_is_all_there_is(adb: Adb) -> None:
    same = await adb("reverse", "tcp:4711", "tcp:4711")
    other = await adb("reverse", "tcp:4711", "tcp:4712")
    listed = await adb("reverse", "--list")
    removed = await adb("reverse", "--remove", "tcp:4711")
    again = await adb("reverse", "--remove", "tcp:4711")

    assert (same.code, removed.code) == (0, 0), (same, removed)
    assert (other.code, again.code) == (1, 1)
    assert b"both ports must be equal" in other.err
    assert listed.out.split() == [b"host", b"tcp:4711", b"tcp:4711"]


async def test_an_unknown_service_is_closed(adb: Adb) -> None:
    said = await adb("root")

    assert said.code == 1


async def test_many_commands_share_a_connection(adb: Adb) -> None:
    many = await asyncio.gather(*(adb("exec-out", "noise") for _ in range(4)), adb("shell", "both"))

    assert [said.out for said in many] == [NOISE] * 4 + [b"to out\n"]


async def test_a_host_that_hangs_up_ends_its_command(adb: Adb, device: ScriptedDevice) -> None:
    with pytest.raises(TimeoutError):
        await adb("shell", "hang", seconds=1.0)

    async with asyncio.timeout(5):
        await device.cancelled.wait()
    assert (await adb("shell", "both")).code == 7


async def test_dropped_connections_end_commands_and_come_back(
    adb: Adb, wire: WireServer, device: ScriptedDevice
) -> None:
    hung = asyncio.create_task(adb("shell", "hang"))
    await device.begun.wait()

    wire.drop()

    assert (await hung).code != 0
    await adb("wait-for-device")
    assert (await adb("shell", "both")).code == 7


async def test_a_silent_device_answers_nothing(adb: Adb, wire: WireServer, device: ScriptedDevice) -> None:
    wire.silent = True

    with pytest.raises(TimeoutError):
        await adb("shell", "both", seconds=0.5)

    assert device.lines == []


async def test_nothing_listens_after_close(device: ScriptedDevice) -> None:
    server = await serve(device)
    port = server.port

    await server.close()

    assert server.port == 0
    with pytest.raises(ConnectionRefusedError):
        await asyncio.open_connection(LOOPBACK, port)
