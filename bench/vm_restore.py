"""What putting a virtual machine back costs beside starting its system anew, in the same run.

    python bench/vm_restore.py
    python bench/vm_restore.py --machine debian-desktop --restores 8

Anew: a fresh disk over the image's, until the guest answers and its desktop is managed. Begun: a worker's machine from
the prepared state, snapshot included. Back: the snapshot is loaded, until the guest answers a new token and has the
time. Proved: as environments do it, with a mark written before, a token, and a picture.

The image is made first where it is not (as root). The last line has the medians in seconds, and anew to back.
"""

from __future__ import annotations

import argparse
import asyncio
import statistics
import sys
import time
from collections.abc import Awaitable
from pathlib import Path

if not __package__:
    sys.path[0] = str(Path(__file__).resolve().parent.parent)

from pipeline.envs.machine_restore import restore
from pipeline.envs.qemu import QemuMachine
from pipeline.envs.qemu_image import image_names, layered, load_image
from pipeline.envs.qemu_ready import Ready, started, up
from pipeline.envs.qemu_vm import VirtualMachine
from pipeline.reaper import Scratch


async def main(machine_id: str, restores: int) -> None:
    """Measure, and print."""
    image = load_image(machine_id)
    ready = await asyncio.to_thread(up, image, print)
    anew = await _seconds(_anew(ready))
    print(f"  anew: {anew:.2f} s")
    machine = QemuMachine("bench", image)
    try:
        begun = await _seconds(machine.boot())
        print(f" begun: {begun:.2f} s")
        back = [await _seconds(machine.revert()) for _ in range(restores)]
        print(f"  back: {' '.join(f'{seconds:.2f}' for seconds in back)} s")
        proved = [(await restore(machine, fresh=False)).seconds for _ in range(restores)]
        print(f"proved: {' '.join(f'{seconds:.2f}' for seconds in proved)} s")
    finally:
        await machine.close()
    median = statistics.median(back)
    said = {
        "machine": machine_id,
        "acceleration": ready.hardware.acceleration.name,
        "anew_s": f"{anew:.2f}",
        "begun_s": f"{begun:.2f}",
        "back_s": f"{median:.2f}",
        "proved_s": f"{statistics.median(proved):.2f}",
        "ratio": f"{anew / median:.1f}",
    }
    print(" ".join(f"{key}={value}" for key, value in said.items()))


async def _anew(ready: Ready) -> None:
    with Scratch("bench") as scratch:
        disk = scratch.path / "disk"
        await asyncio.to_thread(layered, ready.built.disk, "raw", disk)
        machine = VirtualMachine(scratch, ready.hardware, disk, "qcow2")
        try:
            await started(machine, scratch)
        finally:
            machine.close()


async def _seconds(work: Awaitable[object]) -> float:
    began = time.monotonic()
    await work
    return time.monotonic() - began


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--machine", default="debian-small", choices=image_names())
    parser.add_argument("--restores", type=int, default=5)
    chosen = parser.parse_args()
    asyncio.run(main(chosen.machine, chosen.restores))
