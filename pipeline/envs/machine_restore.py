"""Puts a machine back to its prepared state and proves it: what a machine says of itself is not believed.

A restore counts when a mark was written before it and is gone, the machine answers a token that is new, and a picture
of its screen decodes. Knows nothing of kinds of machines.
"""

from __future__ import annotations

import time
import uuid
from typing import NamedTuple

from pipeline.envs.machine import Machine
from pipeline.errors import CaptureError, EnvError, SetupError
from pipeline.frames import frame_of

TRIES = 3
MARK = ".pathproof-mark"
"""A file in the home folder that no prepared state has."""

_ANSWER_SECONDS = 20.0


class Restored(NamedTuple):
    """How a restore went."""

    tries: int
    seconds: float


async def restore(machine: Machine, *, fresh: bool, tries: int = TRIES) -> Restored:
    """Put the machine back; raises SetupError `not_restored` after so many tries.

    A `fresh` machine has had no session yet in which a mark could be left.
    """
    began, problem = time.monotonic(), ""
    for number in range(1, tries + 1):
        try:
            marked = await _leave_mark(machine) if not fresh or number > 1 else True
            await machine.revert()
            if not marked:
                raise SetupError("not_restored", "no mark could be left before it, so that nothing shows that it took")
            await _prove(machine)
        except (SetupError, EnvError) as error:
            problem = error.message
        else:
            return Restored(number, round(time.monotonic() - began, 4))
    raise SetupError("not_restored", f"{machine.name} was not restored in {tries} tries: {problem}")


async def _leave_mark(machine: Machine) -> bool:
    """Whether a mark could be left: a machine too broken for that is put back first, and marked then."""
    try:
        await machine.remove(MARK)
        await machine.write(MARK, b"left before a restore\n")
    except (EnvError, OSError, ValueError):
        return False
    return True


async def _prove(machine: Machine) -> None:
    token = uuid.uuid4().hex
    answered = await machine.run(["echo", token], seconds=_ANSWER_SECONDS)
    if answered.out.decode(errors="replace").strip() != token:
        raise SetupError("not_restored", "the machine does not answer a new token")
    try:
        await machine.read(MARK)
    except FileNotFoundError:
        """As it should be."""
    else:
        raise SetupError("not_restored", "what was written before the restore is still there")
    try:
        frame_of(await machine.capture())
    except CaptureError as error:
        raise SetupError("not_restored", f"no picture after the restore: {error}") from error
