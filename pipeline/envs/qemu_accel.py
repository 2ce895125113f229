"""Whether virtual machines are accelerated here: a guest is run, as nothing less proves it.

The device file of the kernel's accelerator may be there, open and even make a machine while no guest comes to its
first instruction, as within other virtual machines. Knows nothing of what guests are for.
"""

from __future__ import annotations

import subprocess
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

PROGRAM = "qemu-system-x86_64"
PACKAGES = ("qemu-system-x86", "qemu-utils")
"""Debian packages that machines are run by."""

_PROOF_SECONDS = 1.0
"""A sector runs in a tenth of it where acceleration is real."""
_DONE = 33
"""What the program ends with when the sector has written 16 to the port that ends it."""
_SECTOR = bytes.fromhex("baf400b010eef4ebfd").ljust(510, b"\0") + b"\x55\xaa"
_DEVICE = Path("/dev/kvm")


class Acceleration(NamedTuple):
    """How guests are run: an accelerator of the program, and the processor that guests see."""

    name: str
    cpu: str
    note: str


EMULATED = Acceleration("tcg", "max", "no acceleration: guests are emulated, which is slow")
HARDWARE = Acceleration("kvm", "host", "hardware acceleration, proved by running a guest")


def acceleration(program: str = PROGRAM, device: Path = _DEVICE) -> Acceleration:
    """What guests can be run with here."""
    if not device.exists():
        return EMULATED._replace(note=f"{EMULATED.note} ({device} is not there)")
    problem = proof(HARDWARE, program)
    if problem:
        return EMULATED._replace(note=f"{EMULATED.note} ({device} is there, and {problem})")
    return HARDWARE


def proof(how: Acceleration, program: str = PROGRAM, seconds: float = _PROOF_SECONDS) -> str:
    """Run a boot sector on the processor that guests would see; what went wrong, empty for nothing."""
    with tempfile.NamedTemporaryFile(prefix="pathproof-sector-") as sector:
        sector.write(_SECTOR)
        sector.flush()
        began = time.monotonic()
        try:
            done = subprocess.run(
                _command(how, program, sector.name), capture_output=True, timeout=seconds, check=False
            )
        except subprocess.TimeoutExpired:
            return f"a guest does not come to its first instruction in {seconds:g} s"
        except OSError as error:
            return f"{program} cannot be run: {error}"
    if done.returncode != _DONE:
        return f"a guest ends with {done.returncode} after {time.monotonic() - began:.2f} s"
    return ""


def _command(how: Acceleration, program: str, sector: str) -> Sequence[str]:
    return [
        *(program, "-nodefaults", "-no-user-config", "-display", "none"),
        *("-machine", "pc", "-accel", how.name, "-cpu", how.cpu, "-m", "32"),
        *("-device", "isa-debug-exit,iobase=0xf4,iosize=0x04"),
        *("-drive", f"file={sector.replace(',', ',,')},format=raw,if=ide,snapshot=on"),
    ]
