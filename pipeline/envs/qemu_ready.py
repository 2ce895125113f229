"""The prepared state of a machine: its desktop is up and at rest, saved once, so that no worker starts a system anew.

    <image>/ready-<hash>/disk    what the start has written, over the image's disk
    <image>/ready-<hash>/state   memory and devices at that moment; `ready.done` is written last

The hash is that of what runs machines here, for a state is of no use to another version or processor. Knows nothing of
episodes.
"""

from __future__ import annotations

import asyncio
import os
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from pipeline.app_install import alone
from pipeline.debian_install import advice, missing
from pipeline.envs.qemu_accel import PACKAGES, PROGRAM, acceleration
from pipeline.envs.qemu_agent import Agent
from pipeline.envs.qemu_image import Built, MachineImage, build, built_of, layered, session_environment
from pipeline.envs.qemu_rest import settle
from pipeline.envs.qemu_vm import Hardware, VirtualMachine
from pipeline.errors import EnvError, SetupError
from pipeline.reaper import Scratch
from pipeline.records import digest

_LOOK_SECONDS = 20.0
_START_STALL_SECONDS = 120.0
"""How long a system that starts may say, read and write nothing, by a clock that counts what it is left to run."""
_ANSWER_SECONDS = 2.0
_ASK_SECONDS = 30.0
_REST_SECONDS = 60.0


class Ready(NamedTuple):
    """Where a prepared state lies, made or not, and what it runs on."""

    built: Built
    folder: Path
    hardware: Hardware
    release: str
    """What the program that runs machines says of itself."""

    @property
    def disk(self) -> Path:
        """A disk over the image's."""
        return self.folder / "disk"

    @property
    def state(self) -> Path:
        """Everything but the disk."""
        return self.folder / "state"

    @property
    def done(self) -> bool:
        """Whether it has been made."""
        return (self.folder / "ready.done").exists()


def ready_of(image: MachineImage) -> Ready:
    """Where the prepared state lies on this machine, whose acceleration is proved for it; raises SetupError."""
    absent = missing(PACKAGES)
    if absent:
        raise SetupError("packages_missing", f"virtual machines need more Debian packages; {advice(absent)}")
    built, how = built_of(image), acceleration()
    hardware = Hardware(built.kernel, built.initial, image.memory_mb, how)
    release = version()
    folder = built.folder / f"ready-{digest(release, how.name, how.cpu)[:12]}"
    return Ready(built, folder, hardware, release)


def version(program: str = PROGRAM) -> str:
    """What the program that runs machines says of itself; raises SetupError."""
    try:
        done = subprocess.run([program, "--version"], capture_output=True, timeout=_LOOK_SECONDS, check=True)
    except (OSError, subprocess.SubprocessError) as error:
        raise SetupError("machine_not_started", f"{program} cannot be run: {error}") from error
    return done.stdout.decode(errors="replace").partition("\n")[0]


def up(image: MachineImage, announce: Callable[[str], None]) -> Ready:
    """Make image and prepared state unless that is done; raises SetupError."""
    ready = ready_of(image)
    announce(f"{image.title}: {ready.hardware.acceleration.note}")
    if not ready.built.done:
        announce("making the image, which takes some minutes")
    build(image)
    with alone(ready.built.folder / "lock"):
        if not ready.done:
            announce("starting it once, to save its prepared state")
            asyncio.run(prepare(ready))
    announce(f"{image.title} is ready: {ready.folder}")
    return ready


async def prepare(ready: Ready) -> None:
    """Start the system and save the state its desktop begins with; raises SetupError."""
    ready.folder.mkdir(parents=True, exist_ok=True)
    with Scratch("machine") as scratch:
        layered(ready.built.disk, "raw", ready.disk)
        machine = VirtualMachine(scratch, ready.hardware, ready.disk, "qcow2")
        try:
            agent = await started(machine, scratch)
            await settle(machine, _REST_SECONDS)
            # What was read from the disk is not part of the state, which is smaller without.
            await agent.run(["sh", "-c", "sync; echo 3 >/proc/sys/vm/drop_caches"], seconds=_ASK_SECONDS, root=True)
            await machine.save(ready.state)
            await machine.quit()
        except EnvError as error:
            raise SetupError(error.code, error.message) from error
        finally:
            machine.close()
    for path in (ready.disk, ready.state):
        with path.open("rb") as file:
            os.fsync(file.fileno())
        path.chmod(0o444)
    (ready.folder / "ready.done").touch()


async def started(machine: VirtualMachine, scratch: Scratch) -> Agent:
    """Start a system from its disk, and wait until its desktop is up; its agent. Raises SetupError or EnvError."""
    await machine.start(waiting=False)
    agent = Agent(machine.agent, session_environment(), machine.clock)
    console = scratch.path / "console.log"
    moved, before = machine.clock(), (0, 0)
    while not await _is_up(agent):
        now = (console.stat().st_size, await machine.moved())
        if now != before:
            moved, before = machine.clock(), now
        elif machine.clock() - moved > _START_STALL_SECONDS:
            raise EnvError("machine_stalls", f"the guest's start: nothing has moved for {_START_STALL_SECONDS:g} s")
        await asyncio.sleep(_ANSWER_SECONDS / 4)
    return agent


async def _is_up(agent: Agent) -> bool:
    """Whether the guest answers and its desktop is managed."""
    try:
        await agent.sync(_ANSWER_SECONDS)
        said = await agent.run(["xprop", "-root", "_NET_SUPPORTING_WM_CHECK"], seconds=_ASK_SECONDS)
    except EnvError as error:
        if error.code in ("no_answer", "program_hangs"):
            return False
        raise
    return b"window id" in said.out
