"""Programs of a private display's session, looked at from outside: whether they are at work."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator

import pytest

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


async def comes(machine: XvfbMachine, *, works: bool) -> None:
    end = time.monotonic() + 20
    while await machine.works() != works:
        assert time.monotonic() < end
        await asyncio.sleep(0.02)
