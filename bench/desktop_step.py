"""What a step on a private X display costs beside the bare tools, and what a restore costs.

    python bench/desktop_step.py
    python bench/desktop_step.py --steps 40 --restores 8

Ours: click a calculator's key, settle, picture with the pointer, UI tree and windows, as a rollout does. Bare: the same
click by `xdotool`, then one picture with the pointer by `scrot`, both as programs, as scripts do it; nothing is waited
for and no tree is read. Its pictures that do not yet show the click are counted. All click the same keys in turn.

The last line has the medians in milliseconds, ours to bare, the parts of ours, the share of stale pictures of each, and
the median seconds of a restore.
"""

from __future__ import annotations

import argparse
import asyncio
import io
import random
import shutil
import statistics
import sys
import time
from collections.abc import Awaitable, Callable
from pathlib import Path

if not __package__:
    sys.path[0] = str(Path(__file__).resolve().parent.parent)

from PIL import Image as Pictures

from pipeline.actions import Click, canonical_point
from pipeline.app_entry import DebianInstall, ProgramEntry, WindowReady
from pipeline.entry_state import FilesState
from pipeline.envs.desktop import DesktopEnvironment
from pipeline.envs.machine_restore import restore
from pipeline.envs.machines import Machines
from pipeline.envs.xvfb import XvfbMachine
from pipeline.envs.xvfb_session import HEIGHT, WIDTH
from pipeline.structs import Box
from pipeline.tasks import Start, TaskSpec

APP = "galculator"
SECONDS = 30.0
KEYS = [str(digit) for digit in range(10)]
ENTRY = ProgramEntry(
    app_id=APP,
    title="Galculator",
    version="2",
    platform="desktop",
    licence="GPL-2.0-or-later",
    folder=Path(__file__).parent,
    prepared="none",
    install=DebianInstall(packages=[APP]),
    start=[APP],
    ready=WindowReady(kind="^Galculator$"),
    state=[FilesState(path=".config/galculator")],
)


class Bench:
    """The calculator on one machine, and both ways to press its keys."""

    def __init__(self, machine: XvfbMachine) -> None:
        self._machine = machine
        self._environment = DesktopEnvironment(Machines(lambda _: machine), lambda _: ENTRY)
        self._boxes: dict[str, Box] = {}
        self._shown = b""
        self.stale = {"ours": 0, "bare": 0}
        self.parts: dict[str, list[float]] = {"act": [], "look": []}

    async def open(self) -> None:
        """Start the calculator and find its keys."""
        await self._environment.start(_task())
        seen = await self._environment.observe()
        nodes = seen.tree.nodes if seen.tree is not None else []
        self._boxes = {node.name: node.box for node in nodes if node.role == "button" and node.box is not None}
        self._field = next(node.box for node in nodes if node.role == "textbox" and node.box is not None)

    async def close(self) -> None:
        """End it."""
        await self._environment.close()

    async def ours(self, key: str) -> bytes:
        """One step of ours; the picture's number field."""
        spot, began = self._boxes[key].centre, time.perf_counter()
        await self._environment.act(Click(point=canonical_point(spot, WIDTH, HEIGHT)), [spot])
        acted = time.perf_counter()
        seen = await self._environment.observe()
        if seen.frame is None or seen.tree is None:
            raise SystemExit(f"no whole look: {seen.capture_error} {seen.tree_error}")
        self.parts["act"].append(acted - began)
        self.parts["look"].append(time.perf_counter() - acted)
        return seen.frame.image.bytes

    async def bare(self, key: str) -> bytes:
        """One step by bare tools; the picture's number field."""
        spot = self._boxes[key].centre
        await self._said("xdotool", "mousemove", str(spot.x), str(spot.y), "click", "1")
        return await self._said("scrot", "--pointer", "-")

    async def clear(self) -> None:
        """Empty the number field, so that each key changes it."""
        await self.ours("AC")
        self._shown = self._number(await self._machine.capture())

    def note(self, kind: str, picture: bytes) -> None:
        """Count a picture that does not show the key."""
        if self._number(picture) == self._shown:
            self.stale[kind] += 1

    def _number(self, picture: bytes) -> bytes:
        box = self._field
        with Pictures.open(io.BytesIO(picture)) as image:
            return image.convert("RGB").crop((box.left, box.top, box.right, box.bottom)).tobytes()

    async def _said(self, *argv: str) -> bytes:
        ran = await self._machine.run(argv, seconds=SECONDS)
        if ran.code != 0:
            raise SystemExit(f"{argv[0]}: {ran.err.decode(errors='replace')}")
        return ran.out


async def measure(steps: int, restores: int, seed: int) -> tuple[dict[str, list[float]], Bench, list[float]]:
    """Seconds of steps by who made them, and of restores."""
    bench = Bench(machine := XvfbMachine())
    await bench.open()
    kinds: dict[str, Callable[[str], Awaitable[bytes]]] = {"ours": bench.ours, "bare": bench.bare}
    timings: dict[str, list[float]] = {name: [] for name in kinds}
    chance = random.Random(seed)
    try:
        for number in range(steps):
            for name in sorted(kinds, reverse=number % 2 == 1):
                await bench.clear()
                began = time.perf_counter()
                picture = await kinds[name](chance.choice(KEYS[1:]))
                timings[name].append(time.perf_counter() - began)
                bench.note(name, picture)
        spent = [(await restore(machine, fresh=False)).seconds for _ in range(restores)]
    finally:
        await bench.close()
    return timings, bench, spent


def _task() -> TaskSpec:
    return TaskSpec(
        task_id="bench",
        app_ids=[APP],
        platform="desktop",
        tier="single",
        instruction="press keys",
        language="en",
        capability_ids=[],
        start=Start(app_id=APP),
        contract_kind="state",
        segments=[],
        domain="Computer",
    )


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--steps", type=int, default=60)
    parser.add_argument("--restores", type=int, default=10)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    absent = [program for program in ("xdotool", "scrot", APP) if shutil.which(program) is None]
    if absent:
        raise SystemExit(f"needed and not there: {', '.join(absent)} (packages of these names)")
    timings, bench, spent = asyncio.run(measure(options.steps, options.restores, options.seed))
    for name, seconds in timings.items():
        ordered = sorted(seconds)
        slow = 1000 * ordered[len(ordered) * 9 // 10]
        print(f"{name:>5}: median {_ms(seconds)} ms, slowest tenth from {slow:.1f} ms")
    said = {
        **{f"{name}_ms": _ms(seconds) for name, seconds in timings.items()},
        "ratio": f"{statistics.median(timings['ours']) / statistics.median(timings['bare']):.2f}",
        **{f"{name}_ms": _ms(seconds[1:]) for name, seconds in bench.parts.items()},
        **{f"{name}_stale": f"{count / options.steps:.2f}" for name, count in bench.stale.items()},
        "steps": str(options.steps),
        "restore_s": f"{statistics.median(spent):.2f}",
    }
    print(" ".join(f"{key}={value}" for key, value in said.items()))


def _ms(seconds: list[float]) -> str:
    return f"{1000 * statistics.median(seconds):.1f}"


if __name__ == "__main__":
    main()
