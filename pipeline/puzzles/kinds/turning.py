"""What puzzles have in common in which something is turned: curves of handles, their answers, dials.

Knows nothing of what is turned.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from functools import lru_cache
from random import Random
from typing import ClassVar, Literal

from pipeline.puzzles.answers import Reach, Slid, Spot, reach_of
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

SEEN = 5.0
"""Degrees by which something must be turned too far for it to be plain that it is."""
_FASTEST = 2.4
"""Degrees that a unit of a handle turns at most where it matters: two units, as canonical points miss, are not seen."""

Curve = list[tuple[float, float]]
"""What a handle does: from shifts to degrees, in straight pieces."""


class TurnPuzzle(PuzzleType[StateT]):
    """Whatever is turned."""

    kind: ClassVar[PuzzleKind] = "image_rotation"


def value(curve: Curve, shift: float) -> float:
    """The degrees at a shift."""
    return _motion(tuple(curve)).value(shift)


@lru_cache(maxsize=16)
def _motion(curve: tuple[tuple[float, float], ...]) -> Motion:
    return Motion(part="", how="turn", curve=list(curve))


def apart(one: float, other: float) -> float:
    """The angle between two directions, 0 to 180 degrees."""
    return abs((one - other + 180.0) % 360.0 - 180.0)


_BENDS: dict[Level, tuple[tuple[float, float], tuple[float, float]]] = {
    1: ((0.5, 0.5), (0.5, 0.5)),
    2: ((0.3, 0.45), (0.2, 0.28)),
    3: ((0.45, 0.6), (0.1, 0.18)),
}
"""Parts of the way to the answer after which a turn gets faster, and parts of the turn that are done by then."""


def turning(rng: Random, level: Level, target: float = 0.0) -> Curve:
    """A curve that comes to its target once; evenly on level 1, twice as fast in the end on level 2, and more on 3.

    Its third point is the answer. A twentieth of the way before and after it, the turn is off by five degrees or more.
    """
    meant = rng.randint(105, int(0.9 * REACH))
    rest = REACH - meant
    total = rng.uniform(120.0, min(270.0, 310.0 - 120.0 * rest / meant))
    bend, gone = (rng.uniform(*ends) for ends in _BENDS[level])
    half = round(bend * meant)
    total = min(total, _FASTEST * (meant - half) / (1 - gone))
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


def turned(*ways: tuple[Curve, int]) -> Slid:
    """The answer of one handle or two, each with its curve: as far as nobody sees that it is turned too far."""
    return slid(*((shift, _unseen(curve, shift)) for curve, shift in ways))


def slid(*shifts: tuple[int, Reach]) -> Slid:
    """The answer of one handle or two, each with the shifts that are right."""
    named = list(zip(HANDLES, shifts, strict=False))
    return Slid(
        shifts={name: float(shift) for name, (shift, _) in named}, ranges={name: right for name, (_, right) in named}
    )


def _unseen(curve: Curve, shift: int) -> Reach:
    home = value(curve, shift)
    return reach_of(shift, lambda other: abs(value(curve, other) - home) <= SEEN)


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
