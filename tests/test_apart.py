"""Programs in networks of their own: they reach themselves, nobody else, and have no rights left over."""

from __future__ import annotations

import subprocess
import sys

import pytest

from pipeline import apart
from pipeline.apart import APART, can_part
from tests.elsewhere import second_server

pytestmark = pytest.mark.skipif(not can_part(), reason="no network of one's own is to be had here")


def inside(*command: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([*APART, *command], capture_output=True, text=True, timeout=30)


def test_it_has_loopback_and_nothing_else() -> None:
    assert inside("ls", "/sys/class/net").returncode == 0
    assert inside("cat", "/proc/net/dev").stdout.count(":") == 1


async def test_it_reaches_nobody_outside() -> None:
    script = "import socket, sys; print(socket.socket().connect_ex(('127.0.0.1', int(sys.argv[1]))))"
    async with second_server() as other:
        assert int(inside(sys.executable, "-c", script, str(other.port)).stdout) != 0
        assert other.connections == 0


def test_the_way_back_is_closed() -> None:
    assert inside("nsenter", "--net=/proc/1/ns/net", "true").returncode != 0


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
        assert not can_part.__wrapped__()
