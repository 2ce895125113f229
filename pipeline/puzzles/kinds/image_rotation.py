"""Puzzles in which handles turn parts of a picture, until it stands or fits together.

Those of hands, arrows and things that are turned are in rotation_dials and rotation_steps.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache
from random import Random
from typing import Any, ClassVar

import numpy as np

from pipeline.puzzles.answers import Answer
from pipeline.puzzles.art import paper, part, regular
from pipeline.puzzles.kinds.turning import (
    HEIGHT,
    MIDDLE,
    REACH,
    RIM,
    Curve,
    TurnPuzzle,
    apart,
    best_of_runs,
    handle,
    turned,
    turning,
    value,
)
from pipeline.puzzles.pictures import Picture, painted, unlike
from pipeline.puzzles.puzzle import Language, Level, PuzzleType, State
from pipeline.puzzles.scene import Scene, Sliders

_PASSES = 0.2
"""The share of a seam that may disagree before anybody sees that it does not fit."""
_SHARP = 0.06
"""Further from the answer, as a part of it, no seam may pass: just more than what a page accepts."""


class TurnedPicture(State):
    """A picture by its number, of which a disc is turned, or a ring and then a disc; the shifts that were meant."""

    picture: int
    curves: list[Curve]
    meant: list[int]


def turned_picture(rng: Random, level: Level, handles: int) -> TurnedPicture:
    """Any picture, and a curve for each handle."""
    curves = [turning(rng, level) for _ in range(handles)]
    return TurnedPicture(
        variant=rng.randrange(10_000),
        picture=rng.randrange(100_000),
        curves=curves,
        meant=[int(curve[2][0]) for curve in curves],
    )


def discs(state: TurnedPicture, radii: Sequence[float], fixed: bool) -> str:
    """The picture in discs one over the other, of which the first one may be fixed, and the others are p0, p1 ..."""
    x, y = MIDDLE
    name = f"turned-{state.picture}"
    circles = [
        f'<circle cx="{x:g}" cy="{y:g}" r="{radius:g}" fill="url(#{name})" stroke="#ffffff" stroke-width="{wide}"/>'
        for radius, wide in zip(radii, (4, 1.6, 1.6), strict=False)
    ]
    still, turned = (circles[:1], circles[1:]) if fixed else ([], circles)
    frame = f'<circle cx="{x:g}" cy="{y:g}" r="{RIM + 4:g}" fill="#ffffff" stroke="#cbd5e1"/>'
    return "".join(
        (
            paper(state.variant, HEIGHT),
            painted(state.picture, 2 * RIM, 2 * RIM).pattern(name, (x - RIM, y - RIM)),
            frame,
            *still,
            *(part(f"p{number}", circle) for number, circle in enumerate(turned)),
        )
    )


class Seam:
    """The colours along a circle in a picture, by which it is seen how far what is inside has been turned."""

    _STEPS = 720
    """Places on the circle: two for each degree, less than any handle turns in a unit at its answer."""

    def __init__(self, picture: Picture, radius: float) -> None:
        spots = regular((picture.width / 2, picture.height / 2), radius, self._STEPS)
        colours = [picture.colour(spot) for spot in spots]
        palette = sorted(set(colours))
        self._codes = np.array([palette.index(colour) for colour in colours])
        self._unlike = np.array([[unlike(one, other) for other in palette] for one in palette])

    def misfits(self, turns: Sequence[float]) -> list[float]:
        """The share of the seam where both sides differ visibly, once the inside is turned by so many degrees each."""
        steps = np.rint(np.array(turns) * self._STEPS / 360.0).astype(int)
        inside = self._codes[(np.arange(self._STEPS) - steps[:, None]) % self._STEPS]
        shares: list[float] = self._unlike[self._codes, inside].mean(axis=1).tolist()
        return shares


@lru_cache(maxsize=64)
def seam(number: int, radius: float) -> Seam:
    """A circle around the middle of the picture of a number."""
    return Seam(painted(number, 2 * RIM, 2 * RIM), radius)


def turns(curve: Curve) -> list[float]:
    """The degrees at every shift from 0 on."""
    return [value(curve, shift) for shift in range(REACH + 1)]


class Upright(TurnPuzzle[TurnedPicture]):
    """Turn a round picture until it stands upright."""

    name: ClassVar[str] = "rot_upright"

    def draw(self, rng: Random, level: Level, language: Language) -> TurnedPicture:
        """Any picture."""
        return turned_picture(rng, level, 1)

    def solve(self, state: TurnedPicture) -> Iterator[Answer]:
        """All shifts that bring the top of the picture to the top."""
        tilts = [apart(degrees, 0.0) for degrees in turns(state.curves[0])]
        yield from (turned((state.curves[0], shift)) for shift in best_of_runs(tilts, 40.0))

    def scene(self, state: TurnedPicture, language: Language) -> Scene:
        """One disc."""
        return Scene(
            ask=self.ask(state, language),
            art=discs(state, (RIM,), fixed=False),
            height=HEIGHT,
            control=Sliders(handles=[handle("p0", state.curves[0])]),
            answer=turned(*zip(state.curves, state.meant, strict=True)),
        )


class Ring(TurnPuzzle[TurnedPicture]):
    """Turn the inner disc of a picture until it meets the ring around it."""

    name: ClassVar[str] = "rot_ring"
    seams: ClassVar[tuple[float, ...]] = (58.0,)

    def draw(self, rng: Random, level: Level, language: Language) -> TurnedPicture:
        """Any picture."""
        return turned_picture(rng, level, 1)

    def solve(self, state: TurnedPicture) -> Iterator[Answer]:
        """All shifts at which the colours on both sides of the seam agree."""
        misfits = seam(state.picture, self.seams[0]).misfits(turns(state.curves[0]))
        yield from (turned((state.curves[0], shift)) for shift in best_of_runs(misfits, _PASSES, _SHARP))

    def scene(self, state: TurnedPicture, language: Language) -> Scene:
        """A disc on a fixed picture."""
        return Scene(
            ask=self.ask(state, language),
            art=discs(state, (RIM, *self.seams), fixed=True),
            height=HEIGHT,
            control=Sliders(handles=[handle("p0", state.curves[0])]),
            answer=turned(*zip(state.curves, state.meant, strict=True)),
        )


class TwoRings(TurnPuzzle[TurnedPicture]):
    """Turn a ring and the disc inside it until both meet the picture around them."""

    name: ClassVar[str] = "rot_two_rings"
    seams: ClassVar[tuple[float, ...]] = (68.0, 42.0)

    def draw(self, rng: Random, level: Level, language: Language) -> TurnedPicture:
        """Any picture."""
        return turned_picture(rng, level, 2)

    def solve(self, state: TurnedPicture) -> Iterator[Answer]:
        """All pairs of shifts at which both seams agree; the inner one lies between what both handles have turned."""
        outer, inner = (seam(state.picture, radius) for radius in self.seams)
        ring, disc = (turns(curve) for curve in state.curves)
        for shift in best_of_runs(outer.misfits(ring), _PASSES, _SHARP):
            between = inner.misfits([angle - ring[shift] for angle in disc])
            for other in best_of_runs(between, _PASSES, _SHARP):
                yield turned((state.curves[0], shift), (state.curves[1], other))

    def scene(self, state: TurnedPicture, language: Language) -> Scene:
        """A ring, drawn as a disc, and a disc on it, on a fixed picture."""
        return Scene(
            ask=self.ask(state, language),
            art=discs(state, (RIM, *self.seams), fixed=True),
            height=HEIGHT,
            control=Sliders(handles=[handle(f"p{number}", curve, number) for number, curve in enumerate(state.curves)]),
            answer=turned(*zip(state.curves, state.meant, strict=True)),
        )


TYPES: tuple[PuzzleType[Any], ...] = (Upright(), Ring(), TwoRings())
