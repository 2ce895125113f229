"""What puzzles have in common in which something is turned: curves of handles, their answers, dials.

Knows nothing of what is turned.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from random import Random
from typing import ClassVar, Literal

from pipeline.puzzles.answers import Slid, Spot
from pipeline.puzzles.puzzle import Level, PuzzleType, StateT
from pipeline.puzzles.scene import WIDTH, Handle, Motion
from pipeline.words import PuzzleKind

HEIGHT = 208.0
MIDDLE: Spot = (WIDTH / 2, HEIGHT / 2)
RIM = 92.0
"""The radius of a dial."""
REACH = 260
"""How far a handle can be drawn."""
HANDLES: tuple[Literal["handle", "handle_2"], ...] = ("handle", "handle_2")

Curve = list[tuple[float, float]]
"""What a handle does: from shifts to degrees, in straight pieces."""


class TurnPuzzle(PuzzleType[StateT]):
    """Whatever is turned."""

    kind: ClassVar[PuzzleKind] = "image_rotation"


def value(curve: Curve, shift: float) -> float:
    """The degrees at a shift."""
    return Motion(part="", how="turn", curve=curve).value(shift)


def apart(one: float, other: float) -> float:
    """The angle between two directions, 0 to 180 degrees."""
    return abs((one - other + 180.0) % 360.0 - 180.0)


def turning(rng: Random, level: Level, target: float = 0.0) -> Curve:
    """A curve that comes to its target once; from level 2 on it does not go evenly.

    Its third point is the answer. A twentieth of the way before and after it, the turn is off by six degrees or more.
    """
    meant = rng.randint(105, int(0.9 * REACH))
    rest = REACH - meant
    total = rng.uniform(120.0, min(270.0, 310.0 - 120.0 * rest / meant))
    bend, gone = (0.5, 0.5) if level == 1 else (rng.uniform(0.3, 0.6), rng.uniform(0.15, 0.28))
    half = round(bend * meant)
    slope = (1 - gone) * total / (meant - half)
    after = min(slope * rest, 310.0 - total)
    way = rng.choice((-1, 1))
    return [
        (0.0, round(target - way * total, 2)),
        (float(half), round(target - way * total * (1 - gone), 2)),
        (float(meant), target),
        (float(REACH), round(target + way * after, 2)),
    ]


def best_of_runs(misfits: Sequence[float], limit: float, within: float = math.inf) -> Iterator[int]:
    """Of every run of shifts that would pass for right, as they miss by less than the limit, the one that misses least.

    Two runs are two answers that a person could give; one that ends where the handle does counts too. So does what
    passes in the same run, but is further from its best shift than `within`, a part of it.
    """
    run: list[int] = []
    for shift, misfit in enumerate([*misfits, limit]):
        if misfit < limit:
            run.append(shift)
        elif run:
            best = min(run, key=lambda one: misfits[one])
            yield best
            yield from (one for one in (run[0], run[-1]) if abs(one - best) > within * best)
            run = []


def slid(*shifts: int) -> Slid:
    """The answer of one handle or two."""
    return Slid(shifts={name: float(shift) for name, shift in zip(HANDLES, shifts, strict=False)})


def handle(name: str, curve: Curve, number: int = 0, pivot: Spot = MIDDLE) -> Handle:
    """A handle that turns a part."""
    return Handle(name=HANDLES[number], reach=REACH, motions=[Motion(part=name, how="turn", curve=curve, pivot=pivot)])


def dial(spot: Spot, radius: float) -> str:
    """What something is turned on: a white plate with ticks."""
    x, y = spot
    ticks = "".join(
        f'<path d="M{x:g} {y - radius + 3:g}v{6 if tick % 3 else 10}" stroke="#94a3b8" stroke-width="1.5" '
        f'transform="rotate({tick * 30} {x:g} {y:g})"/>'
        for tick in range(12)
    )
    return f'<circle cx="{x:g}" cy="{y:g}" r="{radius:g}" fill="#ffffff" stroke="#cbd5e1" stroke-width="2"/>{ticks}'
