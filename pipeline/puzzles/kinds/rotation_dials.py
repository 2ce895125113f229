"""Puzzles of an arrow, a bar with a ball, and a clock, which a handle or their own hand turns."""

from __future__ import annotations

import math
from collections.abc import Iterator
from random import Random
from typing import Any, ClassVar

from pipeline.actions import Model
from pipeline.puzzles.answers import Answer, Pointed, Reach, Spot, reach_of
from pipeline.puzzles.art import INKS, glyph, paper, part, polygon
from pipeline.puzzles.kinds.turning import (
    HANDLES,
    HEIGHT,
    MIDDLE,
    REACH,
    RIM,
    Curve,
    TurnPuzzle,
    apart,
    best_of_runs,
    dial,
    handle,
    slid,
    turned,
    turning,
    value,
)
from pipeline.puzzles.puzzle import Language, Level, PuzzleType, State
from pipeline.puzzles.scene import Hand, Handle, Motion, Scene, Sliders

_VIVID = ("#dc2626", "#2563eb", "#16a34a", "#d97706", "#7c3aed")
_GRIP = 80.0
"""From the middle of a clock to where its minute hand is taken hold of: far out, where points name fine degrees."""
_READS = 2.9
"""Degrees by which the minute hand may miss its minute: less than half of one, which would show the next."""


class Pointing(Model):
    """A small arrow: its colour, and the direction in degrees clockwise from the top."""

    colour: str
    degrees: float


class Arrows(State):
    """A big arrow in one colour, which a handle turns, and small ones."""

    colour: str
    small: list[Pointing]
    curve: Curve
    meant: int


class Arrow(TurnPuzzle[Arrows]):
    """Turn the big arrow until it points as the small one of the same colour does."""

    name: ClassVar[str] = "rot_arrow"

    def draw(self, rng: Random, level: Level, language: Language) -> Arrows:
        """A small arrow for each level, in directions that are well apart."""
        colours = rng.sample(_VIVID, level)
        first = rng.randrange(360)
        directions = [(first + 360 // level * number + rng.randrange(-25, 26)) % 360 for number in range(level)]
        small = [Pointing(colour=one, degrees=degrees) for one, degrees in zip(colours, directions, strict=True)]
        curve = turning(rng, level, small[0].degrees)
        rng.shuffle(small)
        return Arrows(
            variant=rng.randrange(10_000), colour=colours[0], small=small, curve=curve, meant=int(curve[2][0])
        )

    def solve(self, state: Arrows) -> Iterator[Answer]:
        """All shifts at which the big arrow points as one of its colour does."""
        wanted = [one.degrees for one in state.small if one.colour == state.colour]
        misfits = [
            min((apart(value(state.curve, shift), degrees) for degrees in wanted), default=180.0)
            for shift in range(REACH + 1)
        ]
        yield from (turned((state.curve, shift)) for shift in best_of_runs(misfits, 40.0))

    def scene(self, state: Arrows, language: Language) -> Scene:
        """The small arrows beside the dial of the big one."""
        middle = (212.0, HEIGHT / 2)
        drawn = [paper(state.variant, HEIGHT), dial(middle, RIM)]
        for number, one in enumerate(state.small):
            spot = (60.0, HEIGHT / 2 + 62.0 * (number - (len(state.small) - 1) / 2))
            drawn.append(f'<circle cx="{spot[0]:g}" cy="{spot[1]:g}" r="28" fill="#ffffff" stroke="#cbd5e1"/>')
            drawn.append(arrow(spot, 22.0, one.colour, one.degrees))
        return Scene(
            ask=self.ask(state, language),
            art="".join((*drawn, part("p0", arrow(middle, RIM - 18, state.colour)))),
            height=HEIGHT,
            control=Sliders(handles=[handle("p0", state.curve, pivot=middle)]),
            answer=turned((state.curve, state.meant)),
        )


def arrow(spot: Spot, radius: float, colour: str, degrees: float = 0.0) -> str:
    """An arrow whose middle is at a place."""
    x, y = spot
    outline = ((0, -1), (0.5, -0.32), (0.18, -0.32), (0.18, 0.9), (-0.18, 0.9), (-0.18, -0.32), (-0.5, -0.32))
    corners = [(x + across * radius, y + down * radius) for across, down in outline]
    return polygon(corners, f'fill="{colour}" stroke-linejoin="round" transform="rotate({degrees:g} {x:g} {y:g})"')


_BALL, _PEGS = 12.0, 22.0
"""The radius of the ball on a bar, and how far from the bar's middle the pegs begin."""


class Tilt(State):
    """A bar that a handle tilts, by a curve; the shift that was meant."""

    curve: Curve
    meant: int


class Levelled(TurnPuzzle[Tilt]):
    """Tilt the bar until it is level and the ball rests in the middle."""

    name: ClassVar[str] = "rot_level"
    _FLATTER: ClassVar[float] = 0.085
    """Of what other handles turn: a bar tilts by 9 to 23 degrees."""

    def draw(self, rng: Random, level: Level, language: Language) -> Tilt:
        """Tilted to either side."""
        curve = [(shift, round(degrees * self._FLATTER, 3)) for shift, degrees in turning(rng, level)]
        return Tilt(variant=rng.randrange(10_000), curve=curve, meant=int(curve[2][0]))

    def solve(self, state: Tilt) -> Iterator[Answer]:
        """All shifts at which the bar does not tilt."""
        tilts = [abs(value(state.curve, shift)) for shift in range(REACH + 1)]
        yield from (slid((shift, self._between(state, shift))) for shift in best_of_runs(tilts, 3.0))

    def scene(self, state: Tilt, language: Language) -> Scene:
        """The bar turns; the ball on it rolls to the lower end unless it is nearly level."""
        rng = Random(f"bar {state.variant}")
        (x, y), colour, ball = (MIDDLE[0], 128.0), rng.choice(INKS), rng.choice(_VIVID)
        stand = polygon([(x, y + 4), (x - 26, y + 58), (x + 26, y + 58)], 'fill="#94a3b8" stroke-linejoin="round"')
        bar = (
            f'<rect x="{x - 134:g}" y="{y - 5:g}" width="268" height="10" rx="5" fill="{colour}"/>'
            f'<path d="M{x - _PEGS - 1.5:g} {y - 5:g}v-9M{x + _PEGS + 1.5:g} {y - 5:g}v-9" stroke="{colour}" '
            'stroke-width="3"/>'
        )
        rolling = (
            f'<circle cx="{x:g}" cy="{y - 17:g}" r="{_BALL:g}" fill="{ball}"/>'
            f'<circle cx="{x - 4:g}" cy="{y - 21:g}" r="3" fill="#ffffff" fill-opacity="0.6"/>'
        )
        ground = f'<rect x="{x - 70:g}" y="{y + 58:g}" width="140" height="8" rx="4" fill="#64748b"/>'
        motions = [
            Motion(part="p0", how="turn", curve=state.curve, pivot=(x, y)),
            Motion(part="p1", how="across", curve=self._rolls(state)),
        ]
        return Scene(
            ask=self.ask(state, language),
            art="".join((paper(state.variant, HEIGHT), stand, ground, part("p0", bar, part("p1", rolling)))),
            height=HEIGHT,
            control=Sliders(handles=[Handle(name=HANDLES[0], reach=REACH, motions=motions)]),
            answer=slid((state.meant, self._between(state, state.meant))),
        )

    def _between(self, state: Tilt, shift: int) -> Reach:
        """The shifts at which no part of the ball is beyond a peg."""
        rolls = self._rolls(state)
        return reach_of(shift, lambda other: abs(value(rolls, other)) <= _PEGS - _BALL)

    def _rolls(self, state: Tilt) -> Curve:
        """From shifts to how far right of the middle the ball is."""
        low = math.copysign(1.0, state.curve[0][1])
        near = min(0.2 * state.meant, (REACH - state.meant) * 0.9)
        return [
            (0.0, 118.0 * low),
            (round(state.meant - near, 2), 85.0 * low),
            (float(state.meant), 0.0),
            (round(state.meant + near, 2), -85.0 * low),
            (float(REACH), -118.0 * low),
        ]


class Time(State):
    """A time from 1:00 to 12:59, where the two hands of a clock are, and whether the hours are written."""

    hour: int
    minute: int
    meant: float
    """The direction of the minute hand, in degrees clockwise from the top."""
    start: float
    """Where it is at the beginning."""
    short: float
    """The direction of the hour hand."""
    numerals: bool
    late: bool
    """Whether the page names the time in the afternoon, by 24 hours."""
    tolerance: float


class Clock(TurnPuzzle[Time]):
    """Turn the minute hand until the clock shows the time."""

    name: ClassVar[str] = "rot_clock"

    def draw(self, rng: Random, level: Level, language: Language) -> Time:
        """Five minutes at a time; without numerals from level 2 on; every minute on the highest level."""
        hour, minute = rng.randint(1, 12), rng.randrange(60) if level == 3 else 5 * rng.randrange(12)
        return Time(
            variant=rng.randrange(10_000),
            hour=hour,
            minute=minute,
            meant=6.0 * minute,
            start=float((6 * minute + rng.randrange(45, 316)) % 360),
            short=hour % 12 * 30 + minute / 2,
            numerals=level == 1,
            late=level == 3,
            tolerance=_READS,
        )

    def solve(self, state: Time) -> Iterator[Answer]:
        """All minutes at which both hands together show the time."""
        for minute in range(60):
            hour = (state.short - minute / 2) / 30 % 12
            if minute == state.minute and apart(30 * hour, 30.0 * state.hour) < 1:
                yield Pointed(degrees=6.0 * minute, tolerance=state.tolerance)

    def scene(self, state: Time, language: Language) -> Scene:
        """The hour hand already stands where it belongs."""
        x, y = MIDDLE
        colour = Random(f"clock {state.variant}").choice(_VIVID)
        tip = (x + _GRIP * math.sin(math.radians(state.start)), y - _GRIP * math.cos(math.radians(state.start)))
        short = arm(36.0, 9.0, INKS[0], state.short)
        knob = f'<circle cx="{x:g}" cy="{y - _GRIP:g}" r="8" fill="#ffffff" stroke="{colour}" stroke-width="4"/>'
        minute_hand = f'<g transform="rotate({state.start:g} {x:g} {y:g})">{arm(_GRIP, 6.0, colour, 0.0)}{knob}</g>'
        hour = state.hour % 12 + 12 if state.late else state.hour
        return Scene(
            ask=self.ask(state, language, hour=hour, minute=f"{state.minute:02}"),
            art="".join(
                (
                    paper(state.variant, HEIGHT),
                    clock_face(state.numerals),
                    short,
                    part("p0", minute_hand),
                    f'<circle cx="{x:g}" cy="{y:g}" r="6" fill="{INKS[0]}"/>',
                )
            ),
            height=HEIGHT,
            control=Hand(part="p0", pivot=MIDDLE, tip=(round(tip[0], 2), round(tip[1], 2)), start=state.start),
            answer=Pointed(degrees=state.meant, tolerance=state.tolerance),
        )


def arm(length: float, width: float, colour: str, degrees: float) -> str:
    """A hand of a clock."""
    x, y = MIDDLE
    corners = [
        (x - width / 2, y + 12),
        (x - width / 3, y - length),
        (x + width / 3, y - length),
        (x + width / 2, y + 12),
    ]
    return polygon(
        corners,
        f'fill="{colour}" stroke="{colour}" stroke-width="2" stroke-linejoin="round" '
        f'transform="rotate({degrees:g} {x:g} {y:g})"',
    )


def clock_face(numerals: bool) -> str:
    """A white face with a tick for each minute and, where they are asked for, the hours."""
    x, y = MIDDLE
    drawn = [f'<circle cx="{x:g}" cy="{y:g}" r="98" fill="#ffffff" stroke="#334155" stroke-width="5"/>']
    for tick in range(60):
        long, wide = (9, 2.5) if tick % 5 == 0 else (4, 1)
        drawn.append(
            f'<path d="M{x:g} {y - 92:g}v{long}" stroke="#334155" stroke-width="{wide}" '
            f'transform="rotate({tick * 6} {x:g} {y:g})"/>'
        )
    for hour in range(1, 13) if numerals else ():
        angle = math.radians(30 * hour)
        drawn.append(glyph(str(hour), (round(x + 62 * math.sin(angle), 1), round(y - 62 * math.cos(angle), 1)), 15.0))
    return "".join(drawn)


TYPES: tuple[PuzzleType[Any], ...] = (Arrow(), Levelled(), Clock())
