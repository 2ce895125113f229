"""Sockets of killed programs: found while the programs run, and gone with the session that they ran in."""

from __future__ import annotations

import socket
import subprocess
import sys
import time
from pathlib import Path

import psutil

from pipeline.envs.left_sockets import sockets_of
from pipeline.envs.xvfb import XvfbMachine
from tests.programs import needs_desktop

LISTENER = """
import socket, sys, time
with socket.socket(socket.AF_UNIX) as listener:
    listener.bind(sys.argv[1])
    listener.listen()
    time.sleep(600)
"""


def test_only_sockets_that_the_programs_are_bound_to_are_theirs(tmp_path: Path) -> None:
    theirs, ours = tmp_path / "their socket", tmp_path / "ours"
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(ours))
        listener.listen()
        with subprocess.Popen([sys.executable, "-c", LISTENER, str(theirs)]) as program:
            wait_for(theirs)
            found = sockets_of([psutil.Process(program.pid)])
            program.kill()

    assert found == {theirs}
    assert sockets_of([psutil.Process()]) & {theirs, ours} == set()


@needs_desktop
async def test_a_session_takes_along_the_sockets_that_its_programs_made_elsewhere(tmp_path: Path) -> None:
    made, machine = tmp_path / "elsewhere", XvfbMachine()
    await machine.revert()
    await machine.launch(["/usr/bin/python3", "-c", LISTENER, str(made)], {})
    wait_for(made)

    await machine.close()

    assert not made.exists()


def wait_for(path: Path) -> None:
    end = time.monotonic() + 20
    while not path.is_socket():
        assert time.monotonic() < end
        time.sleep(0.01)
