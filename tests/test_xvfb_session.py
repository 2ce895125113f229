"""Programs of a private display's session, looked at from outside: whether they are at work, and gone with it."""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import AsyncIterator

import psutil
import pytest

from pipeline.apart import can_end
from pipeline.envs.xvfb import XvfbMachine
from tests.programs import needs_desktop

pytestmark = needs_desktop


@pytest.fixture
async def machine() -> AsyncIterator[XvfbMachine]:
    made = XvfbMachine()
    await made.revert()
    yield made
    await made.close()


async def test_a_program_that_computes_is_at_work_and_one_that_waits_is_not(machine: XvfbMachine) -> None:
    await machine.launch(["sleep", "600"], {})
    await comes(machine, works=False)

    await machine.launch(["sh", "-c", "while :; do :; done"], {})

    await comes(machine, works=True)


@pytest.mark.skipif(not can_end(), reason="no processes of one's own are to be had here")
async def test_a_program_that_hides_ends_with_the_session(machine: XvfbMachine) -> None:
    seconds = f"8{os.getpid()}"
    leaves = f"cd /; env -i setsid -f sleep {seconds}; exec sleep 600"
    await machine.launch(["sh", "-c", leaves], {})
    end = time.monotonic() + 20
    while not (hidden := sleeping(seconds)):
        assert time.monotonic() < end
        await asyncio.sleep(0.02)

    await machine.leave()

    assert not hidden[0].is_running()


def sleeping(seconds: str) -> list[psutil.Process]:
    return [one for one in psutil.process_iter(["cmdline"]) if one.info["cmdline"] == ["sleep", seconds]]


async def comes(machine: XvfbMachine, *, works: bool) -> None:
    end = time.monotonic() + 20
    while await machine.works() != works:
        assert time.monotonic() < end
        await asyncio.sleep(0.02)
