"""When a machine's screen has come to rest, told from outside: its processor has nothing to do, and the picture stays.

A processor that would run if others left it room counts as one that runs, and while they leave it or another thread of
the machine none, no time passes.
Knows nothing of what was done.
"""

from __future__ import annotations

import asyncio
import hashlib
import time

from pipeline.envs.qemu_vm import VirtualMachine

_POLL_SECONDS = 0.06
_IDLE_SHARE = 0.2
"""Of the time between two looks that a processor with nothing to do may take: clocks and pictures cost some."""
_LOOKS = 3
"""So many in a row have to find it at rest."""


async def settle(machine: VirtualMachine, most_seconds: float) -> bool:
    """Wait until the screen is at rest; whether it came to rest in time, by the machine's clock.

    Raises EnvError when the machine is gone.
    """
    until = machine.clock() + most_seconds
    picture, calm = b"", 0
    while machine.clock() < until:
        idle = await is_idle(machine)
        now = hashlib.blake2b(await machine.screen()).digest()
        calm = calm + 1 if idle and now == picture else 0
        picture = now
        if calm >= _LOOKS:
            return True
    return False


async def is_idle(machine: VirtualMachine) -> bool:
    """Whether its processor has nothing to do for a moment; raises EnvError when the machine is gone."""
    began, before = time.monotonic(), machine.demand()
    await asyncio.sleep(_POLL_SECONDS)
    return (machine.demand() - before) / (time.monotonic() - began) <= _IDLE_SHARE
