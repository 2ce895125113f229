"""The machine of one worker: made when it is first needed, restored for every episode, replaced when it fails.

A machine that could not be torn down is in quarantine: it is left alone, and another one takes its place; after a few
of them no more are made, for whatever keeps them is not the machines. Knows nothing of what is done on them.
"""

from __future__ import annotations

from collections.abc import Callable

from pipeline.envs.machine import Machine
from pipeline.envs.machine_restore import TRIES, restore
from pipeline.errors import EnvError, SetupError

MOST_IN_QUARANTINE = 3

Make = Callable[[int], Machine]
"""Makes the machine of a number, not yet started; every number is another one."""


class Machines:
    """One machine at a time."""

    def __init__(self, make: Make, *, tries: int = TRIES, most_in_quarantine: int = MOST_IN_QUARANTINE) -> None:
        """`tries` is how often a restore may fail."""
        self._make = make
        self._tries = tries
        self._most = most_in_quarantine
        self._made = 0
        self._machine: Machine | None = None
        self._fresh = True
        self._broken = False
        """Whether the machine is not used again; it stays ours until it has been closed, or is in quarantine."""
        self.quarantined: list[str] = []
        """Names of machines that could not be torn down."""

    @property
    def patience(self) -> float:
        """That of the machine; it is made when there is none, which starts nothing."""
        return self._here().patience

    async def take(self) -> Machine:
        """The machine, restored and proved; raises SetupError."""
        if self._broken:
            await self._put_away()
        if len(self.quarantined) >= self._most:
            names = ", ".join(self.quarantined)
            raise SetupError("no_machine", f"too many machines could not be torn down and are left alone: {names}")
        machine = self._here()
        self._broken = True  # until it has been proved, also when nobody waits for that any more
        try:
            if self._fresh:
                await machine.boot()
            await restore(machine, fresh=self._fresh, tries=self._tries)
        except SetupError:
            await self._put_away()
            raise
        self._fresh, self._broken = False, False
        return machine

    async def give_back(self, *, worked: bool) -> None:
        """End the episode; a machine that did not work is replaced."""
        if self._machine is None:
            return
        self._broken = self._broken or not worked
        if not self._broken:
            try:
                await self._machine.leave()
            except EnvError:
                self._broken = True
        if self._broken:
            await self._put_away()

    async def close(self) -> None:
        """End the machine."""
        await self._put_away()

    def _here(self) -> Machine:
        if self._machine is None:
            self._machine = self._make(self._made)
            self._made, self._fresh = self._made + 1, True
        return self._machine

    async def _put_away(self) -> None:
        """Close the machine for good; one that cannot be closed is in quarantine."""
        if self._machine is None:
            return
        self._broken = True
        try:
            await self._machine.close()
        except EnvError:
            self.quarantined.append(self._machine.name)
        self._machine, self._broken = None, False
