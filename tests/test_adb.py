"""The private adb server and the devices behind it: the real binary, and a scripted phone on the wire."""

import asyncio
import os
import signal
import subprocess
import time
from collections.abc import AsyncIterator
from pathlib import Path

import adbutils
import psutil
import pytest

from pipeline.envs.adb import AdbServer, Listed
from pipeline.envs.adb_device import AdbDevice, Ran, command_line
from pipeline.errors import EnvError, SetupError
from pipeline.handset.wire import Output, serve
from pipeline.ports import LOOPBACK, free_port, is_taken, listening
from pipeline.reaper import Scratch
from tests.phones import Plugged, ScriptedPhone, plugged, until

HARD_WORDS = ["", "a b", "it's", '"q"', "$(touch x)", "`id`", "a;b", "<b>&", "你好 🙂", "%s", "\\", "two\nlines", "*"]

USUAL_PORT = 5037


def servers_at(port: int) -> list[psutil.Process]:
    """Servers that this process has started for a port; a session's handset has one of its own beside them."""
    children = psutil.Process().children(recursive=True)
    return [child for child in children if child.name() == "adb" and str(port) in child.cmdline()]


@pytest.fixture
async def there(tmp_path: Path) -> AsyncIterator[Plugged]:
    async with plugged(tmp_path) as found:
        yield found


async def test_the_server_is_ours_alone_and_listens_on_loopback(there: Plugged) -> None:
    ours = servers_at(there.server.port)

    assert [listening(process.pid) for process in ours] == [[(LOOPBACK, there.server.port)]]
    assert there.server.port != USUAL_PORT


async def test_close_ends_the_server_and_leaves_others_alone(tmp_path: Path) -> None:
    with Scratch("one", tmp_path) as one, Scratch("other", tmp_path) as other:
        first, second = AdbServer(one), AdbServer(other)
        await first.start()
        await second.start()

        await first.close()

        assert not is_taken(first.port)
        assert await second.listed() == []


async def test_nobody_ends_the_server_by_telling_it_so(there: Plugged) -> None:
    command = [adbutils.adb_path(), "-P", str(there.server.port), "kill-server"]
    await asyncio.to_thread(subprocess.run, command, timeout=20, capture_output=True)

    assert (await there.device.run("true")).code == 127
    assert await there.device.state() == "device"


async def test_a_server_that_was_lost_comes_back_and_finds_the_device(there: Plugged) -> None:
    there.phone.on("true", 0)
    (process,) = servers_at(there.server.port)

    os.kill(process.pid, signal.SIGKILL)

    async def gone() -> bool:
        return not is_taken(there.server.port)

    await until(gone)
    assert (await there.device.run("true")).code == 0


async def test_another_version_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pipeline.envs.adb._client_version", lambda: 40)
    with Scratch("old", tmp_path) as scratch:
        server = AdbServer(scratch)
        with pytest.raises(SetupError, match="the adb server speaks version 41"):
            await server.start()


async def test_a_port_that_is_taken_meanwhile_is_left_to_its_owner(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def ignore(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.close()

    foreign = await asyncio.start_server(ignore, LOOPBACK, 0)
    taken = foreign.sockets[0].getsockname()[1]
    ports = iter([taken])
    free = free_port
    monkeypatch.setattr("pipeline.envs.adb.free_port", lambda: next(ports, None) or free())

    with Scratch("port", tmp_path) as scratch:
        server = AdbServer(scratch)
        await server.start()

        assert server.port != taken
        assert await server.listed() == []
    foreign.close()


@pytest.mark.parametrize("word", HARD_WORDS)
def test_every_word_reaches_a_shell_as_it_is(word: str) -> None:
    said = subprocess.run(
        ["sh", "-c", command_line(["printf", "%s|", "first", word], ["printf", "%s", word])],
        capture_output=True,
        check=True,
        timeout=10,
    )

    assert said.stdout.decode() == f"first|{word}|{word}"


@pytest.mark.parametrize("word", ["a\0b", "a\ud83d"])
def test_a_word_that_no_command_can_hold_is_refused(word: str) -> None:
    with pytest.raises(EnvError, match="NUL or half a character") as caught:
        command_line(["echo", word])

    assert caught.value.code == "bad_command"


async def test_outputs_and_exit_code_arrive(there: Plugged) -> None:
    async def both(command: str, output: Output) -> int:
        await output.out(b"out\r\n")
        await output.err(b"err\n")
        return 3

    there.phone.on("both", both)

    ran = await there.device.run("both", "a b")

    assert ran == Ran(3, b"out\r\n", b"err\n")
    assert (ran.text, ran.complaint) == ("out\n", "err\n\nout")
    assert there.phone.asked[-1][1] == "both 'a b'"


async def test_a_command_that_must_succeed_and_does_not_is_an_error(there: Plugged) -> None:
    with pytest.raises(EnvError, match=r"nothing: .*not found") as caught:
        await there.device.done("nothing")

    assert caught.value.code == "command_failed"


async def test_raw_output_keeps_every_byte(there: Plugged) -> None:
    data = bytes(range(256)) * 5000
    there.phone.on("noise", data)

    assert await there.device.raw("noise") == data


async def test_files_arrive_and_a_refusal_is_told(there: Plugged) -> None:
    data = os.urandom(200_000)

    await there.device.push(data, "/data/local/tmp/a b")

    assert there.phone.files == {"/data/local/tmp/a b": data}
    with pytest.raises(EnvError, match="Read-only file system") as caught:
        await there.device.push(b"x", "/system/x")
    assert caught.value.code == "file_not_written"


async def forwarded(there: Plugged) -> str:
    """The forwards that the device has, as it lists them itself."""
    async with there.server.channel(5.0) as channel:
        await channel.request(f"host:transport:{there.device.serial}")
        await channel.request("reverse:list-forward")
        return await channel.text()


async def test_a_port_of_this_machine_is_reached_and_given_back(there: Plugged) -> None:
    await there.device.reverse(4711)
    reached = await forwarded(there)
    await there.device.unreverse()

    assert reached == "host tcp:4711 tcp:4711\n"
    assert await forwarded(there) == ""


async def test_a_call_that_hangs_ends_at_its_deadline_and_the_next_one_works(there: Plugged) -> None:
    there.phone.on("hang", there.phone.hang)
    there.phone.on("true", 0)
    began = time.monotonic()

    with pytest.raises(EnvError) as caught:
        await there.device.run("hang", seconds=0.4)

    assert caught.value.code == "adb_timeout"
    assert time.monotonic() - began < 2
    assert (await there.device.run("true")).code == 0


async def test_a_connection_that_breaks_in_a_command_is_an_error_and_not_asked_again(there: Plugged) -> None:
    there.phone.on("hang", there.phone.hang)
    asking = asyncio.create_task(there.device.run("hang"))
    await there.phone.hanging.wait()

    there.wire.drop()

    with pytest.raises(EnvError) as caught:
        await asking
    assert caught.value.code == "device_offline"
    assert there.phone.count("hang") == 1


async def test_a_device_that_was_cut_off_is_connected_to_again(there: Plugged) -> None:
    there.phone.on("true", 0)

    async def cut_off() -> bool:
        return await there.device.state() != "device"

    for _ in range(3):
        there.wire.drop()
        await until(cut_off)
        assert (await there.device.run("true")).code == 0

    assert there.phone.count("true") == 3


async def test_a_device_that_is_gone_is_said_to_be(there: Plugged) -> None:
    await there.wire.close()

    with pytest.raises(EnvError) as caught:
        await there.device.run("true")

    assert caught.value.code == "device_offline"


async def test_a_device_that_never_greets_does_not_hold_up_another(there: Plugged, tmp_path: Path) -> None:
    silent = ScriptedPhone()
    there.phone.on("true", 0)

    async with plugged(tmp_path, silent) as other:
        other.wire.silent = True
        hung = asyncio.create_task(other.device.run("true", seconds=3.0))
        began = time.monotonic()
        assert (await there.device.run("true")).code == 0
        assert time.monotonic() - began < 1
        with pytest.raises(EnvError, match="no answer"):
            await hung


async def test_two_devices_of_one_server_are_told_apart(there: Plugged, tmp_path: Path) -> None:
    other = ScriptedPhone()
    there.phone.on("name", "first")
    other.on("name", "second")
    wire = await serve(other)
    second = AdbDevice(there.server, f"{LOOPBACK}:{wire.port}")
    await second.attach()

    said = [(await device.run("name")).text for device in (there.device, second)]

    assert said == ["first", "second"]
    assert sorted(await there.server.listed()) == sorted(
        Listed(device.serial, "device") for device in (there.device, second)
    )
    await wire.close()


async def test_a_device_without_the_second_shell_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pipeline.handset.wire._FEATURES", "cmd")

    with pytest.raises(EnvError, match="Android 7 or later"):
        async with plugged(tmp_path):
            pass


async def test_a_serial_that_is_not_there_is_not_connected(there: Plugged) -> None:
    with pytest.raises(EnvError, match="'not connected'"):
        await AdbDevice(there.server, "emulator-5554").attach(seconds=0.1)
