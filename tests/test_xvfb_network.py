"""What programs of a private display reach: nothing but themselves."""

from __future__ import annotations

import asyncio
import shutil
import time
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio

from pipeline.apart import can_part
from pipeline.envs.xvfb import XvfbMachine
from pipeline.envs.xvfb_session import Session
from pipeline.errors import SetupError
from tests.elsewhere import Elsewhere, second_server
from tests.programs import needs_desktop

pytestmark = [needs_desktop, pytest.mark.skipif(not can_part(), reason="no network of one's own is to be had here")]

_TRIES = """import socket, sys, urllib.request
opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
for host in sys.argv[2:]:
    with socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET, socket.SOCK_DGRAM) as out:
        out.sendto(b"datagram", (host, int(sys.argv[1])))
    try:
        opener.open(f"http://{'[::1]' if ':' in host else host}:{sys.argv[1]}/", timeout=5)
        print("arrived")
    except OSError as error:
        print(error)
"""
_ITSELF = """import socket
with socket.create_server(("127.0.0.1", 0)) as here, socket.create_connection(here.getsockname()):
    print("itself")
"""


HOST = str(Path("/proc/self/ns/net").readlink())
"""The network of this process."""


class _OpenSession(Session):
    """A session as it is where the system makes no networks."""

    def __init__(self, locales: Path) -> None:
        super().__init__(locales)
        self.apart = False


@pytest_asyncio.fixture
async def other() -> AsyncIterator[Elsewhere]:
    async with second_server() as listening:
        yield listening


@pytest_asyncio.fixture
async def machine() -> AsyncIterator[XvfbMachine]:
    made = XvfbMachine()
    await made.revert()
    yield made
    await made.close()


async def said(machine: XvfbMachine, script: str, *arguments: str) -> str:
    ran = await machine.run(["python3", "-c", script, *arguments], seconds=40)
    assert ran.code == 0, ran.err
    return ran.out.decode()


async def test_no_program_reaches_another_server(machine: XvfbMachine, other: Elsewhere) -> None:
    assert "arrived" not in await said(machine, _TRIES, str(other.port), *other.hosts)

    assert other.log == (0, 0, set())
    assert machine.build.endswith("no network")


async def test_a_program_reaches_itself(machine: XvfbMachine) -> None:
    assert await said(machine, _ITSELF) == "itself\n"


async def test_no_program_enters_the_network_of_its_host(machine: XvfbMachine) -> None:
    entered = ["nsenter", "--net=/proc/1/ns/net", "readlink", "/proc/self/ns/net"]

    ran = await machine.run(entered, seconds=10)

    assert ran.out.decode().strip() != HOST


@pytest.mark.skipif(shutil.which("xfce4-terminal") is None, reason="there is no terminal")
async def test_a_terminal_reaches_no_other_server(machine: XvfbMachine, other: Elsewhere) -> None:
    await machine.write("tries.py", _TRIES.encode())
    line = f"python3 tries.py {other.port} {' '.join(other.hosts)} > out.txt; echo ended >> out.txt"
    await machine.launch(["xfce4-terminal", "--disable-server", "-x", "sh", "-c", line], {})

    out = Path(machine.home) / "out.txt"
    deadline = time.monotonic() + 40
    while not (await asyncio.to_thread(out.exists) and (await machine.read("out.txt")).endswith(b"ended\n")):
        assert time.monotonic() < deadline
        await asyncio.sleep(0.1)

    assert b"arrived" not in await machine.read("out.txt")
    assert other.log == (0, 0, set())


async def test_a_desktop_that_has_a_network_is_refused_where_that_is_asked_for() -> None:
    machine = XvfbMachine(make=_OpenSession, isolated=True)

    with pytest.raises(SetupError, match="would have a network"):
        await machine.revert()

    await machine.close()


async def test_where_no_network_can_be_made_programs_reach_what_the_host_reaches_and_it_is_said(
    other: Elsewhere,
) -> None:
    machine = XvfbMachine(make=_OpenSession)
    await machine.revert()
    try:
        assert (await said(machine, _TRIES, str(other.port), *other.hosts)).count("arrived") == len(other.hosts)
    finally:
        await machine.close()

    assert other.connections == other.datagrams == len(other.hosts)
    assert machine.build.endswith("the network of its host")
