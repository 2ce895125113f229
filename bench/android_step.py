"""What a step of the Android environment costs beside the bare adb calls it is made of, and what many steps leave.

    python bench/android_step.py
    python bench/android_step.py --steps 40 --long 100 --serial 127.0.0.1:5601

Ours: act, settle, tree, picture and the screen's state, as a rollout does. Bare: the same adb server asked for a tap, a
tree and a picture, and nothing looked at. Adbutils: the same three by that library as it is used. All touch the same
places of the same screen in turn. The phone is a handset (emulated, not Android), unless `--serial` names another one.

Then `--long` steps of ours are made, and child processes, sockets, other open files and files in the worker's folder
counted before and after. The last line has the medians in milliseconds, ours to bare, and what was left behind.
"""

from __future__ import annotations

import argparse
import asyncio
import random
import statistics
import sys
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import NamedTuple

if not __package__:
    sys.path[0] = str(Path(__file__).resolve().parent.parent)

import adbutils
import psutil

from pipeline.actions import Click, Pixel, canonical_point
from pipeline.app_entry import load_phone_app
from pipeline.envs.adb_device import AdbDevice, command_line
from pipeline.envs.android import AndroidEnvironment, Fleet, Phone
from pipeline.envs.android_installed import InstalledApp
from pipeline.envs.devices import OwnDevice, SharedDevices
from pipeline.envs.handset import HandsetProcess
from pipeline.reaper import Scratch
from pipeline.tasks import Start, TaskSpec

APP = "handset-notes"
SECONDS = 30.0
QUIET_AREA = (0.2, 0.62, 0.8, 0.8)
"""Shares of the screen where a touch changes nothing: left, top, right, bottom."""


class Left(NamedTuple):
    """What there is of something at a moment, or more of than before."""

    processes: int
    sockets: int
    others: int
    files: int


class Held(Fleet):
    """A fleet that shows which phone it has given."""

    def __init__(self, fleet: Fleet) -> None:
        self._fleet = fleet
        self.phone: Phone | None = None

    async def take(self) -> Phone:
        """As the other."""
        self.phone = await self._fleet.take()
        return self.phone

    async def give_back(self, phone: Phone, *, worked: bool) -> None:
        """As the other."""
        await self._fleet.give_back(phone, worked=worked)

    async def close(self) -> None:
        """As the other."""
        await self._fleet.close()


async def measure(serial: str | None, steps: int, long: int, seed: int) -> tuple[dict[str, list[float]], Left]:
    """Seconds of steps by who made them, and what many steps have left behind."""
    with Scratch("bench") as scratch:
        shared = SharedDevices(scratch, [serial]) if serial else None
        fleet = Held(shared or OwnDevice(scratch, "handset", HandsetProcess(scratch)))
        environment = AndroidEnvironment(fleet, lambda app_id, device: InstalledApp(load_phone_app(app_id), device))
        await environment.start(_task())
        first = await environment.observe()
        assert fleet.phone is not None and first.frame is not None
        device, size = fleet.phone.device, (first.frame.width, first.frame.height)
        kinds: dict[str, Callable[[Pixel], Awaitable[None]]] = {
            "ours": lambda point: _ours(environment, point, size),
            "bare": lambda point: _bare(device, point),
            "adbutils": lambda point: asyncio.to_thread(_adbutils, device, point),
        }
        timings = await _in_turn(kinds, _points(steps, seed, size))
        before = _counted(scratch)
        for point in _points(long, seed + 1, size):
            await _ours(environment, point, size)
        after = _counted(scratch)
        await environment.close()
    return timings, Left(*(late - early for early, late in zip(before, after, strict=True)))


async def _in_turn(kinds: dict[str, Callable[[Pixel], Awaitable[None]]], points: list[Pixel]) -> dict[str, list[float]]:
    """Time each kind at each point, whoever comes first changing."""
    timings: dict[str, list[float]] = {name: [] for name in kinds}
    names = list(kinds)
    for index, point in enumerate(points):
        shift = index % len(names)
        for name in names[shift:] + names[:shift]:
            began = time.perf_counter()
            await kinds[name](point)
            timings[name].append(time.perf_counter() - began)
    return timings


async def _ours(environment: AndroidEnvironment, point: Pixel, size: tuple[int, int]) -> None:
    await environment.act(Click(point=canonical_point(point, *size)), [point])
    seen = await environment.observe()
    if seen.frame is None or seen.tree is None:
        raise SystemExit(f"no whole look: {seen.capture_error} {seen.tree_error}")


async def _bare(device: AdbDevice, point: Pixel) -> None:
    """A new connection for each request, as adb wants it."""
    await _said(device, "shell,v2,raw:" + command_line(["input", "tap", str(point.x), str(point.y)]))
    await _said(device, "exec:" + command_line(["uiautomator", "dump", "--compressed", "/dev/tty"]))
    await _said(device, "exec:" + command_line(["screencap", "-p"]))


async def _said(device: AdbDevice, service: str) -> bytes:
    async with asyncio.timeout(SECONDS):
        reader, writer = await asyncio.open_connection("127.0.0.1", device.server_port)
        for request in (f"host:transport:{device.serial}", service):
            writer.write(b"%04x" % len(request) + request.encode())
            await reader.readexactly(4)
        data = await reader.read()
        writer.close()
        return data


def _adbutils(device: AdbDevice, point: Pixel) -> None:
    phone = adbutils.AdbClient(port=device.server_port, socket_timeout=SECONDS).device(device.serial)
    phone.click(point.x, point.y)
    phone.shell(["uiautomator", "dump", "--compressed", "/dev/tty"], timeout=SECONDS)
    phone.screenshot(error_ok=False)


def _counted(scratch: Scratch) -> Left:
    process = psutil.Process()
    sockets = len(process.net_connections(kind="all"))
    files = sum(1 for _ in scratch.path.rglob("*"))
    return Left(len(process.children()), sockets, process.num_fds() - sockets, files)


def _points(count: int, seed: int, size: tuple[int, int]) -> list[Pixel]:
    chance, (width, height) = random.Random(seed), size
    left, top, right, bottom = QUIET_AREA
    return [
        Pixel(x=round(width * chance.uniform(left, right)), y=round(height * chance.uniform(top, bottom)))
        for _ in range(count)
    ]


def _task() -> TaskSpec:
    return TaskSpec(
        task_id="bench",
        app_ids=[APP],
        platform="mobile",
        tier="single",
        instruction="tap",
        language="en",
        capability_ids=[],
        start=Start(app_id=APP),
        contract_kind="state",
        segments=[],
        domain="Mobile",
    )


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--steps", type=int, default=60)
    parser.add_argument("--long", type=int, default=500)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--serial")
    options = parser.parse_args()
    timings, left = asyncio.run(measure(options.serial, options.steps, options.long, options.seed))
    for name, seconds in timings.items():
        ordered = sorted(seconds)
        print(
            f"{name:>9}: median {_ms(seconds)} ms, slowest tenth from {1000 * ordered[len(ordered) * 9 // 10]:.1f} ms"
        )
    ratio = statistics.median(timings["ours"]) / statistics.median(timings["bare"])
    figures = {f"{name}_ms": _ms(seconds) for name, seconds in timings.items()}
    leaks = {f"left_{name}": str(value) for name, value in left._asdict().items()}
    said = {**figures, "ratio": f"{ratio:.2f}", "steps": str(options.steps), "long": str(options.long), **leaks}
    print(" ".join(f"{key}={value}" for key, value in said.items()))


def _ms(seconds: list[float]) -> str:
    return f"{1000 * statistics.median(seconds):.1f}"


if __name__ == "__main__":
    main()
