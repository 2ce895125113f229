"""Programs in networks of their own: they reach themselves, nobody else, and have no rights left over.

What they leave behind ends with them."""

from __future__ import annotations

import os
import subprocess
import sys
import time

import psutil
import pytest

from pipeline import apart
from pipeline.apart import ALONE, APART, before_command, can_end, can_part
from tests.elsewhere import second_server

pytestmark = pytest.mark.skipif(not can_part(), reason="no network of one's own is to be had here")


needs_processes = pytest.mark.skipif(not can_end(), reason="no processes of one's own are to be had here")


def inside(*command: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([*before_command(), *command], capture_output=True, text=True, timeout=30)


def hidden(seconds: str) -> list[str]:
    """A command that leaves a program behind which belongs to nobody, and says so."""
    return ["sh", "-c", f"cd /; env -i setsid -f sleep {seconds} >/dev/null 2>&1; echo left; cat"]


def sleeping(seconds: str) -> bool:
    return any(process.info["cmdline"] == ["sleep", seconds] for process in psutil.process_iter(["cmdline"]))


@needs_processes
@pytest.mark.parametrize("kill", [True, False], ids=["killed", "ends"])
def test_what_hides_ends_with_the_command_however_that_ends(kill: bool) -> None:
    seconds = f"9{os.getpid()}{int(kill)}"
    with subprocess.Popen([*ALONE, *hidden(seconds)], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as command:
        assert command.stdin is not None and command.stdout is not None
        assert command.stdout.readline() == b"left\n"
        assert sleeping(seconds)

        if kill:
            command.kill()
        command.stdin.close()
        command.wait(timeout=20)

    until = time.monotonic() + 20
    while sleeping(seconds):
        assert time.monotonic() < until
        time.sleep(0.02)


@needs_processes
def test_it_sees_no_process_but_its_own() -> None:
    assert len([word for word in inside("ls", "/proc").stdout.split() if word.isdecimal()]) <= 3


def test_where_processes_are_not_to_be_had_a_network_is(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(apart, "can_end", lambda: False)
    assert before_command() == APART
    monkeypatch.setattr(apart, "can_part", lambda: False)
    assert before_command() == ()


def test_it_has_loopback_and_nothing_else() -> None:
    assert inside("ls", "/sys/class/net").returncode == 0
    assert inside("cat", "/proc/net/dev").stdout.count(":") == 1


async def test_it_reaches_nobody_outside() -> None:
    script = "import socket, sys; print(socket.socket().connect_ex(('127.0.0.1', int(sys.argv[1]))))"
    async with second_server() as other:
        assert int(inside(sys.executable, "-c", script, str(other.port)).stdout) != 0
        assert other.connections == 0


def test_the_way_back_is_closed() -> None:
    back = [*APART, "nsenter", "--net=/proc/1/ns/net", "true"]

    assert subprocess.run(back, capture_output=True, timeout=30).returncode != 0


def test_it_is_the_same_user_with_the_exit_code_of_the_command() -> None:
    outside = subprocess.run(["id", "-u"], capture_output=True, text=True, timeout=10)

    assert inside("id", "-u").stdout == outside.stdout
    assert inside("sh", "-c", "exit 7").returncode == 7


def test_nothing_is_inherited_of_the_rights_that_it_took() -> None:
    said = inside("cat", "/proc/self/status").stdout

    assert "CapAmb:\t0000000000000000" in said
    assert "CapInh:\t0000000000000000" in said


def test_where_it_fails_it_is_not_to_be_had(monkeypatch: pytest.MonkeyPatch) -> None:
    for broken in (("false",), ("/nonexistent/unshare",)):
        monkeypatch.setattr(apart, "APART", broken)
        monkeypatch.setattr(apart, "ALONE", broken)
        assert not can_part.__wrapped__()
        assert not can_end.__wrapped__()
