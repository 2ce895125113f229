"""Puzzles whose piece is slid into a hole: at any rate, among other holes, or along two axes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import product
from random import Random
from typing import ClassVar, Literal

from pydantic import Field

from pipeline.actions import Model
from pipeline.puzzles.answers import Answer, Reach, Slid, Spot, reach_of
from pipeline.puzzles.art import part
from pipeline.puzzles.backdrops import landscape
from pipeline.puzzles.puzzle import Language, Level, PuzzleType, State
from pipeline.puzzles.scene import WIDTH, Handle, Motion, Scene, Sliders
from pipeline.words import PuzzleKind

REACH = 270
"""Units that a handle can be drawn."""
SHORTEST, LONGEST = 76, 256
"""Shifts that are asked for: long enough that a twentieth is seen and can be hit, and not to the end."""
FITS = 0.2
"""Units by which a piece may miss its place and still fit. A whole unit of a handle moves every piece by more."""

JOINS = 3.0
"""Units by which a piece may be drawn beside its place before it is plain that it does not fit."""

Curve = list[tuple[float, float]]
"""How far a piece is for how far a handle is, in straight pieces."""

_HEIGHT = 180.0
_SIDE = 40.0
_KNOB = 7.0
_LEFT = 32.0
_ROW = 8.0
"""A piece looks too high or low for a hole from so many units on."""

Bumps = tuple[int, int, int, int]
"""The sides of a piece from the top clockwise: a knob (1), a notch (-1), or straight (0)."""

_BUMPS: tuple[Bumps, ...] = ((1, 0, 0, 0), (1, 1, 0, 0), (0, 1, -1, 0), (-1, 0, 1, 0), (-1, 1, 0, 1), (0, 0, -1, -1))


class Hole(Model):
    """A hole in the picture: its middle and its sides."""

    spot: Spot
    bumps: Bumps


class Gaps(State):
    """A piece at its beginning, the curves of its ways across and down, and the holes in the picture."""

    start: Spot
    bumps: Bumps
    across: Curve
    down: Curve = Field(default_factory=list)
    holes: list[Hole]
    meant: list[int]
    """How far the handles were meant to be drawn."""


def value(curve: Curve, shift: float) -> float:
    """How far something is that follows a handle."""
    return _motion(tuple(curve)).value(shift)


@lru_cache(maxsize=16)
def _motion(curve: tuple[tuple[float, float], ...]) -> Motion:
    return Motion(part="piece", how="across", curve=list(curve))


def slid(shifts: Sequence[float], ranges: Sequence[Reach]) -> Slid:
    """The answer of one handle or two, and which of their shifts are right."""
    names: tuple[Literal["handle", "handle_2"], ...] = ("handle", "handle_2")
    return Slid(
        shifts={name: float(shift) for name, shift in zip(names, shifts, strict=False)},
        ranges=dict(zip(names, ranges, strict=False)),
    )


def joining(curve: Curve, shift: float) -> Reach:
    """The shifts at which a piece is seen to be where it is at a right one."""
    home = value(curve, shift)
    return reach_of(shift, lambda other: abs(value(curve, other) - home) <= JOINS)


class GapPuzzle(PuzzleType[Gaps]):
    """A piece that was cut out of a picture, and a handle that draws it along."""

    kind: ClassVar[PuzzleKind] = "slider_puzzle"

    def solve(self, state: Gaps) -> Iterator[Answer]:
        """Every whole shift that brings the piece into a hole of its form."""
        x, y = state.start
        for hole in state.holes:
            if hole.bumps != state.bumps:
                continue
            across = [one for one in range(1, REACH + 1) if abs(x + value(state.across, one) - hole.spot[0]) <= FITS]
            if state.down:
                downs = [one for one in range(1, REACH + 1) if abs(y + value(state.down, one) - hole.spot[1]) <= FITS]
                yield from (self._answer(state, shifts) for shifts in product(across, downs))
            elif abs(y - hole.spot[1]) < _ROW:
                yield from (self._answer(state, [shift]) for shift in across)

    def scene(self, state: Gaps, language: Language) -> Scene:
        """The picture with its holes, and the piece with what is missing in the first of them."""
        picture = landscape(state.variant, _HEIGHT)
        holes = "".join(
            f'<path d="{outline(one.spot, one.bumps)}" fill="#0f172a" fill-opacity="0.62" stroke="#fff" '
            'stroke-opacity="0.9" stroke-width="1.7"/>'
            for one in Random(f"holes {state.variant}").sample(state.holes, len(state.holes))
        )
        true, shape = state.holes[0].spot, outline(state.holes[0].spot, state.bumps)
        clip = f"piece{state.variant}"
        piece = (
            f'<clipPath id="{clip}"><path d="{shape}"/></clipPath>'
            f'<g transform="translate({state.start[0] - true[0]:.2f} {state.start[1] - true[1]:.2f})">'
            f'<path d="{shape}" fill="#0f172a" fill-opacity="0.4" transform="translate(1.5 2.5)"/>'
            f'<g clip-path="url(#{clip})">{picture}</g>'
            f'<path d="{shape}" fill="none" stroke="#fff" stroke-width="2"/></g>'
        )
        handles = [Handle(reach=REACH, motions=[Motion(part="piece", how="across", curve=state.across)])]
        if state.down:
            down = Motion(part="piece", how="down", curve=state.down)
            handles.append(Handle(name="handle_2", reach=REACH, motions=[down]))
        return Scene(
            ask=self.ask(state, language),
            art=picture + holes + part("piece", piece),
            height=_HEIGHT,
            control=Sliders(handles=handles),
            answer=self._answer(state, state.meant),
        )

    def _answer(self, state: Gaps, shifts: Sequence[int]) -> Slid:
        curves = (state.across, state.down)
        return slid(shifts, [joining(curve, shift) for curve, shift in zip(curves, shifts, strict=False)])


def outline(spot: Spot, bumps: Bumps) -> str:
    """The path around a piece whose square has its middle at a place."""
    third = (_SIDE - 2 * _KNOB) / 2
    d = f"M{spot[0] - _SIDE / 2:.2f} {spot[1] - _SIDE / 2:.2f}"
    for bump, (dx, dy) in zip(bumps, ((1, 0), (0, 1), (-1, 0), (0, -1)), strict=True):
        if bump:
            arc = f"a{_KNOB} {_KNOB} 0 0 {int(bump > 0)} {dx * 2 * _KNOB} {dy * 2 * _KNOB}"
            d += f"l{dx * third:g} {dy * third:g}{arc}l{dx * third:g} {dy * third:g}"
        else:
            d += f"l{dx * _SIDE:g} {dy * _SIDE:g}"
    return d + "Z"


def straight(rate: float) -> Curve:
    """A curve of one rate."""
    return [(0.0, 0.0), (float(REACH), round(REACH * rate, 2))]


def _apart(spot: Spot, others: Sequence[Spot]) -> bool:
    return all(max(abs(spot[0] - x), abs(spot[1] - y)) >= _SIDE + 2 * _KNOB + 4 for x, y in others)


def _row(rng: Random) -> float:
    return round(rng.uniform(40, _HEIGHT - 40), 1)


def _places(rng: Random, true: Spot, count: int, rows: Sequence[float] = ()) -> list[Spot]:
    """So many places for holes, in any row or one of these, that touch neither each other nor the true one."""
    while True:  # what is drawn first may leave no room, but there is always room for all
        spots = [true]
        for _ in range(60):
            spot = (round(rng.uniform(_LEFT + 62, WIDTH - 30), 1), rng.choice((*rows, _row(rng))))
            if len(spots) <= count and _apart(spot, spots):
                spots.append(spot)
        if len(spots) > count:
            return spots[1:]


def _hole(start: Spot, curve: Curve, shift: int) -> Spot:
    return round(start[0] + value(curve, shift), 2), start[1]


class Gap(GapPuzzle):
    """Slide the piece into the only hole."""

    name: ClassVar[str] = "sl_gap"

    def draw(self, rng: Random, level: Level, language: Language) -> Gaps:
        """The piece goes nearly as far as the handle, or less far where it is hard."""
        slower = 0.08 * (level - 1) + rng.uniform(0.0, 0.06)
        start, curve = (_LEFT, _row(rng)), straight(round(1.0 - slower, 2))
        shift, bumps = rng.randint(SHORTEST, LONGEST), rng.choice(_BUMPS)
        hole = Hole(spot=_hole(start, curve, shift), bumps=bumps)
        return Gaps(variant=rng.randrange(10_000), start=start, bumps=bumps, across=curve, holes=[hole], meant=[shift])


class GapDecoy(GapPuzzle):
    """Slide the piece into the hole of its form and height, among others."""

    name: ClassVar[str] = "sl_gap_decoy"

    def draw(self, rng: Random, level: Level, language: Language) -> Gaps:
        """One to three other holes: of another form, or too high or too low by half of a piece."""
        start, curve = (_LEFT, _row(rng)), straight(round(rng.uniform(0.9, 1.0), 2))
        shift, bumps = rng.randint(SHORTEST, LONGEST), rng.choice(_BUMPS)
        holes = [Hole(spot=_hole(start, curve, shift), bumps=bumps)]
        for spot in _places(rng, holes[0].spot, level, rows=(start[1],)):
            other = rng.choice([one for one in _BUMPS if one != bumps])
            same_row = abs(spot[1] - start[1]) < _SIDE / 2
            if len(holes) <= level and _apart(spot, [one.spot for one in holes]):
                holes.append(Hole(spot=spot, bumps=other if same_row else rng.choice((bumps, other))))
        return Gaps(variant=rng.randrange(10_000), start=start, bumps=bumps, across=curve, holes=holes, meant=[shift])


class GapNonlinear(GapPuzzle):
    """Slide the piece into the hole, though it goes now slower, now faster than the handle."""

    name: ClassVar[str] = "sl_gap_nonlinear"

    def draw(self, rng: Random, level: Level, language: Language) -> Gaps:
        """Three rates one after the other; the more difficult, the more they differ."""
        curve: Curve = [(0.0, 0.0)]
        spread = 0.15 * level
        for rate in rng.sample((0.95 - spread, 0.95, 0.95 + spread), 3):
            curve.append((curve[-1][0] + REACH / 3, round(curve[-1][1] + rate * REACH / 3, 2)))
        start = (_LEFT, _row(rng))
        shift, bumps = rng.randint(SHORTEST, LONGEST), rng.choice(_BUMPS)
        hole = Hole(spot=_hole(start, curve, shift), bumps=bumps)
        return Gaps(variant=rng.randrange(10_000), start=start, bumps=bumps, across=curve, holes=[hole], meant=[shift])


class GapTwoAxis(GapPuzzle):
    """Bring the piece into the hole by two handles, one for across and one for down."""

    name: ClassVar[str] = "sl_two_axis"

    def draw(self, rng: Random, level: Level, language: Language) -> Gaps:
        """Up to two other holes of other forms."""
        start = (_LEFT, 34.0)
        across, down = straight(round(rng.uniform(0.9, 1.0), 2)), straight(round(rng.uniform(0.4, 0.42), 2))
        shifts, bumps = [rng.randint(SHORTEST, LONGEST), rng.randint(SHORTEST, LONGEST)], rng.choice(_BUMPS)
        spot = (round(start[0] + value(across, shifts[0]), 2), round(start[1] + value(down, shifts[1]), 2))
        holes = [Hole(spot=spot, bumps=bumps)]
        for other in _places(rng, spot, level - 1):
            holes.append(Hole(spot=other, bumps=rng.choice([one for one in _BUMPS if one != bumps])))
        return Gaps(
            variant=rng.randrange(10_000),
            start=start,
            bumps=bumps,
            across=across,
            down=down,
            holes=holes,
            meant=shifts,
        )


TYPES: tuple[PuzzleType[Gaps], ...] = (Gap(), GapDecoy(), GapNonlinear(), GapTwoAxis())
