"""Machines of the fake program for tests, and what a real one needs."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

import pytest

from pipeline.debian_install import missing
from pipeline.envs import fake_qemu
from pipeline.envs.qemu import QemuMachine
from pipeline.envs.qemu_accel import EMULATED
from pipeline.envs.qemu_image import BUILD_PACKAGES, Built, MachineImage, load_image, qemu_img
from pipeline.envs.qemu_ready import Ready
from pipeline.envs.qemu_vm import Hardware

needs_machine = pytest.mark.skipif(
    os.geteuid() != 0 or bool(missing(BUILD_PACKAGES)), reason="no machine's image can be made here"
)
IMAGE = load_image("debian-small")


def fake_ready(folder: Path, **faults: int) -> Ready:
    """A prepared state for the fake program, with what is to break and how often."""
    over = folder / "ready"
    over.mkdir(exist_ok=True)
    for form, disk in (("raw", folder / "disk"), ("qcow2", over / "disk")):
        qemu_img(["create", "-q", "-f", form, str(disk), "1M"])
    (over / "state").touch()
    (over / "ready.done").touch()
    program = (sys.executable, "-P", fake_qemu.__file__, json.dumps(faults))
    hardware = Hardware(folder / "kernel", folder / "initial", 256, EMULATED, program)
    return Ready(Built(IMAGE, folder), over, hardware, "fake 1")


def fake_machine(folder: Path, **faults: int) -> QemuMachine:
    """A machine of the fake program."""

    def find(_: MachineImage) -> Ready:
        return fake_ready(folder, **faults)

    return QemuMachine("fake", IMAGE, find)
