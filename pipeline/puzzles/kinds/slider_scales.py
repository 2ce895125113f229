"""Puzzles whose slider sets a value, matches a colour or shows an object."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from itertools import groupby
from random import Random
from typing import Any, ClassVar, Literal

from pydantic import Field

from pipeline.puzzles.answers import SHIFT_ERROR, Answer, Reach, reach_of
from pipeline.puzzles.art import INKS, glyph, part
from pipeline.puzzles.backdrops import landscape, pale
from pipeline.puzzles.forms import FORMS, form
from pipeline.puzzles.icons import PAINTS, icon, icon_names, icons
from pipeline.puzzles.kinds.slider_joining import Drawn, SliderPuzzle
from pipeline.puzzles.kinds.slider_puzzle import SHORTEST, Curve, slid, value
from pipeline.puzzles.puzzle import Language, Level, PuzzleType, State
from pipeline.puzzles.scene import WIDTH, Motion, Scene


class Dial(State):
    """A scale from one number to another, on which the handle sets what is asked."""

    look: Literal["ruler", "gauge", "bar"]
    low: int
    high: int
    asked: int
    label_every: int
    tick_every: int
    meant: int


_LONG = 250
"""Units of a handle from one end of a scale to the other."""


class SetValue(SliderPuzzle[Dial]):
    """Set the value that the page names on a scale."""

    name: ClassVar[str] = "sl_value"
    reach: ClassVar[int] = _LONG

    def draw(self, rng: Random, level: Level, language: Language) -> Dial:
        """A number with a label; where it is hard one between labels, then on a scale that does not begin at zero.

        Ticks are so far from each other that a shift which is right for one is not for the next.
        """
        span, label, tick = rng.choice(((50, 10, 5), (100, 20, 10), (20, 4, 2)))
        low = rng.choice((span // 5, span * 2, span * 3)) if level == 3 else 0
        steps = range(low, low + span + 1, label) if level == 1 else range(low + tick, low + span, label)
        shifts = {asked: (asked - low) * _LONG // span for asked in steps}
        asked = rng.choice([one for one, shift in shifts.items() if SHORTEST <= shift <= 0.95 * _LONG])
        return Dial(
            variant=rng.randrange(10_000),
            look=rng.choice(("ruler", "gauge", "bar")),
            low=low,
            high=low + span,
            asked=asked,
            label_every=label,
            tick_every=tick,
            meant=shifts[asked],
        )

    def fits(self, state: Dial, shift: int) -> bool:
        """Whether the scale shows what is asked."""
        return abs(state.low + (state.high - state.low) * shift / _LONG - state.asked) < 0.001

    def right(self, state: Dial, shift: int) -> Reach:
        """The shifts that are read as the number: an eighth of a tick more or less."""
        most = _LONG * state.tick_every / (state.high - state.low) / 8
        return reach_of(shift, lambda other: abs(other - shift) <= most)

    def ask(self, state: Dial, language: Language, **slots: object) -> str:
        """The number is what is asked for."""
        return super().ask(state, language, asked=state.asked)

    def scene(self, state: Dial, language: Language) -> Scene:
        """A ruler with a pointer, a gauge with a needle, or a bar that grows."""
        paint = PAINTS[state.variant % len(PAINTS)]
        whole = (0.0, float(_LONG))
        if state.look == "gauge":
            art, height = pale(state.variant, 170.0) + _gauge(state, paint.main), 170.0
            curve = list(zip(whole, (-_SWEEP, _SWEEP), strict=True))
            motion = Motion(part="hand", how="turn", curve=curve, pivot=_PIVOT)
        else:
            art, height = pale(state.variant, 120.0) + _ruler(state, paint.main), 120.0
            if state.look == "ruler":
                motion = Motion(part="hand", how="across", curve=list(zip(whole, whole, strict=True)))
            else:
                curve = [(0.0, 0.004), (float(_LONG), 1.0)]
                motion = Motion(part="hand", how="length", curve=curve, pivot=(_BEGIN, 60.0))
        return self.shown(state, language, Drawn(art, height, motion), state.meant)


_BEGIN = 35.0
_PIVOT = (160.0, 112.0)
_SWEEP = 110.0


def _ticks(state: Dial) -> Iterator[tuple[int, float, bool]]:
    """Numbers on a scale, what part of the way they are, and whether they have labels."""
    for number in range(state.low, state.high + 1, state.tick_every):
        yield number, (number - state.low) / (state.high - state.low), (number - state.low) % state.label_every == 0


def _ruler(state: Dial, colour: str) -> str:
    card = '<rect x="14" y="18" width="292" height="84" rx="12" fill="#fff" fill-opacity="0.92"/>'
    drawn = []
    for number, along, labelled in _ticks(state):
        x = _BEGIN + along * _LONG
        drawn.append(f'<path stroke="#334155" stroke-width="1.3" d="M{x:g} 66v{12 if labelled else 7}"/>')
        if labelled:
            drawn.append(glyph(str(number), (x, 88), 12, fill="#334155"))
    if state.look == "bar":
        trough = f'<rect x="{_BEGIN:g}" y="42" width="{_LONG}" height="20" rx="3" fill="#e2e8f0"/>'
        hand = f'<rect x="{_BEGIN:g}" y="42" width="{_LONG}" height="20" fill="{colour}"/>'
        return card + trough + "".join(drawn) + part("hand", hand)
    rail = f'<path stroke="#94a3b8" stroke-width="3" d="M{_BEGIN:g} 64h{_LONG}"/>'
    hand = f'<path fill="{colour}" d="M{_BEGIN:g} 64l-9 -20a4 4 0 0 1 4 -6h10a4 4 0 0 1 4 6Z"/>'
    return card + rail + "".join(drawn) + part("hand", hand)


def _around(along: float, radius: float) -> tuple[float, float]:
    angle = math.radians(-_SWEEP + 2 * _SWEEP * along)
    return round(_PIVOT[0] + radius * math.sin(angle), 2), round(_PIVOT[1] - radius * math.cos(angle), 2)


def _gauge(state: Dial, colour: str) -> str:
    x, y = _PIVOT
    rim = f'stroke="{colour}" stroke-width="4"'
    drawn = [f'<circle cx="{x:g}" cy="{y:g}" r="104" fill="#fff" fill-opacity="0.92" {rim}/>']
    for number, along, labelled in _ticks(state):
        (x1, y1), (x2, y2) = _around(along, 92), _around(along, 80 if labelled else 85)
        drawn.append(f'<path stroke="#334155" stroke-width="1.6" d="M{x1} {y1}L{x2} {y2}"/>')
        if labelled:
            drawn.append(glyph(str(number), _around(along, 67), 13, fill="#334155"))
    needle = (
        f'<path fill="{colour}" d="M{x - 4:g} {y:g}L{x:g} {y - 86:g}L{x + 4:g} {y:g}Z"/>'
        f'<circle cx="{x:g}" cy="{y:g}" r="8" fill="#1f2937"/>'
    )
    return "".join(drawn) + part("hand", needle)


_STRIPES = 8


class Shade(State):
    """A form in the colours of its ground, but for a light or a hue that follows the handle."""

    how: Literal["light", "hue"]
    colours: list[tuple[int, int, int]]
    """Red, green and blue of stripes that take turns, before they are changed."""
    form: str
    curve: Curve
    ground: float
    """What the ground is changed by."""
    meant: int


class Match(SliderPuzzle[Shade]):
    """Slide until a form has the colours of its ground."""

    name: ClassVar[str] = "sl_brightness"
    reach: ClassVar[int] = 280

    def draw(self, rng: Random, level: Level, language: Language) -> Shade:
        """Light on one colour, hue on two, or either on three."""
        hows: Sequence[Sequence[Literal["light", "hue"]]] = (["light"], ["hue"], ["light", "hue"])
        how = rng.choice(hows[level - 1])
        most = 128 if how == "light" else 190
        colours = [_colour(rng, most) for _ in range(level)]
        curve: Curve = [(0.0, 0.2), (280.0, 1.95)] if how == "light" else [(0.0, 20.0), (280.0, 220.0)]
        shift = rng.randint(120, 262)
        return Shade(
            variant=rng.randrange(10_000),
            how=how,
            colours=colours,
            form=rng.choice(sorted(FORMS)),
            curve=curve,
            ground=round(value(curve, shift), 4),
            meant=shift,
        )

    def fits(self, state: Shade, shift: int) -> bool:
        """Whether no stripe of the form differs from the ground; a handle's unit changes either by more."""
        changed = value(state.curve, shift)
        return abs(changed - state.ground) < (0.002 if state.how == "light" else 0.3)

    def right(self, state: Shade, shift: int) -> Reach:
        """The shifts at which the form cannot be seen."""
        return reach_of(shift, lambda other: contrast(state, other) <= UNSEEN)

    def scene(self, state: Shade, language: Language) -> Scene:
        """Stripes, and the same stripes in the form."""
        tall = 150.0
        ground = _stripes([_changed(state, one, state.ground) for one in state.colours], tall)
        clip = f"shade{state.variant}"
        inside = f'<clipPath id="{clip}">{form(state.form, (160, 75), 92, "")}</clipPath>'
        drawn = f'{inside}<g clip-path="url(#{clip})">{_stripes(state.colours, tall)}</g>'
        motion = Motion(part="shape", how=state.how, curve=state.curve)
        return self.shown(state, language, Drawn(ground + part("shape", drawn), tall, motion), state.meant)


UNSEEN = 4.0
"""Levels, of 255, by which a channel may differ between neighbouring areas before their border is seen."""


def contrast(state: Shade, shift: float) -> float:
    """The most, in levels of 255, by which a channel of the form differs from its ground at a shift."""
    changed = value(state.curve, shift)
    return max(
        abs(one - other)
        for colour in state.colours
        for one, other in zip(_changed(state, colour, changed), _changed(state, colour, state.ground), strict=True)
    )


def _changed(state: Shade, colour: tuple[int, int, int], by: float) -> tuple[float, float, float]:
    return lit(colour, by) if state.how == "light" else turned_hue(colour, by)


def _colour(rng: Random, most: int) -> tuple[int, int, int]:
    """A colour that is not grey: one channel high, one low."""
    channels = [most, rng.randint(most // 2, most * 3 // 4), most // 3]
    rng.shuffle(channels)
    return channels[0], channels[1], channels[2]


def _stripes(colours: Sequence[tuple[float, float, float]], tall: float) -> str:
    wide = WIDTH / _STRIPES
    return "".join(
        f'<rect x="{place * wide - 0.5:.1f}" width="{wide + 1:.1f}" height="{tall:g}" '
        f'fill="rgb({red:.0f} {green:.0f} {blue:.0f})"/>'
        for place, (red, green, blue) in enumerate((*colours,) * _STRIPES)
        if place < _STRIPES
    )


def lit(colour: tuple[int, int, int], factor: float) -> tuple[float, float, float]:
    """A colour as the filter `brightness()` of CSS makes it."""
    red, green, blue = (min(255.0, channel * factor) for channel in colour)
    return red, green, blue


def turned_hue(colour: tuple[int, int, int], degrees: float) -> tuple[float, float, float]:
    """A colour as the filter `hue-rotate()` of CSS makes it (W3C Filter Effects, the matrix of hueRotate)."""
    cos, sin = math.cos(math.radians(degrees)), math.sin(math.radians(degrees))
    weights = (0.213, 0.715, 0.072)
    turns = ((-0.213, -0.715, 0.928), (0.143, 0.140, -0.283), (-0.787, 0.715, 0.072))
    red, green, blue = (
        min(
            255.0,
            max(
                0.0,
                sum(
                    channel * (weight + cos * ((row == column) - weight) + sin * turn)
                    for column, (channel, weight, turn) in enumerate(zip(colour, weights, turns[row], strict=True))
                ),
            ),
        )
        for row in range(3)
    )
    return red, green, blue


class Film(State):
    """Objects that a window shows one after the other, and where the handle goes from each to the next."""

    frames: list[str]
    paints: list[int]
    ends: list[float] = Field(min_length=1)
    """Shifts at which each object but the last gives way to the next."""
    asked: str
    meant: int


_HIDDEN = ' hidden=""'


_NEARLY = 0.6
"""Units by which an object shows longer than a shift to it is right, so that whole units end on it."""


def _ends() -> list[float]:
    """Where objects give way to each other, so that each shows for as long as a shift to it is right."""
    ends = [68.0]
    while ends[-1] < 245:
        ends.append(round((ends[-1] + 2 * _NEARLY) * (1 + SHIFT_ERROR) / (1 - SHIFT_ERROR), 2))
    return ends


_INSTANT = 0.01
"""Units before its end at which an object still shows."""


def _frame(state: Film, shift: float) -> int:
    return sum(end <= shift for end in state.ends)


def _middle(shifts: Sequence[int]) -> int:
    return round((shifts[0] + shifts[-1]) / 2)


class SelectFrame(SliderPuzzle[Film]):
    """Slide until the window shows what the page names."""

    name: ClassVar[str] = "sl_select_frame"
    reach: ClassVar[int] = 280

    def draw(self, rng: Random, level: Level, language: Language) -> Film:
        """Objects of any group; of the group of the asked one where it is hard, as far as there are."""
        ends = _ends()
        asked = rng.choice([name for name, one in icons().items() if one.group != "thing"])
        others = [one for one in icon_names() if one != asked]
        near = [one for one in icon_names(icons()[asked].group) if one != asked]
        frames = rng.sample(others, len(ends) + 1)
        if level > 1:
            frames = [near[place % len(near)] if place % 4 < level else one for place, one in enumerate(frames)]
        place = rng.randrange(1, len(ends))
        frames[place] = asked
        return Film(
            variant=rng.randrange(10_000),
            frames=frames,
            paints=[rng.randrange(len(PAINTS)) for _ in frames],
            ends=ends,
            asked=asked,
            meant=_middle(range(math.ceil(ends[place - 1]), math.ceil(ends[place]))),
        )

    def solve(self, state: Film) -> Iterator[Answer]:
        """The middle of every run of shifts that show the object."""
        for shows, run in groupby(range(self.reach + 1), key=lambda shift: self.fits(state, shift)):
            if shows:
                middle = _middle(list(run))
                yield slid([middle], [self.right(state, middle)])

    def right(self, state: Film, shift: int) -> Reach:
        """All shifts that show what this one shows, even beyond a twentieth: that is all that is asked for."""
        place = _frame(state, shift)
        begins, end = [0.0, *state.ends][place], [*state.ends, self.reach + _INSTANT][place]
        return begins, round(end - _INSTANT, 2)

    def fits(self, state: Film, shift: int) -> bool:
        """Whether the window shows the object."""
        return state.frames[_frame(state, shift)] == state.asked

    def ask(self, state: Film, language: Language, **slots: object) -> str:
        """The object is what is asked for."""
        one = icons()[state.asked]
        return super().ask(state, language, asked=one.zh if language == "zh" else one.en)

    def scene(self, state: Film, language: Language) -> Scene:
        """A strip of film with a window in its middle."""
        tall = 140.0
        ink = INKS[state.variant % len(INKS)]
        holes = "".join(
            f'<rect x="{x}" y="{y}" width="10" height="8" rx="2" fill="#fff" fill-opacity="0.8"/>'
            for x in range(7, 320, 22)
            for y in (12, 120)
        )
        band = f'<rect y="6" width="{WIDTH:g}" height="128" fill="{ink}"/>{holes}'
        sides = "".join(
            f'<rect x="{x}" y="28" width="90" height="84" rx="6" fill="#fff" fill-opacity="0.18"/>' for x in (8, 222)
        )
        window = '<rect x="108" y="26" width="104" height="88" rx="8" fill="#fff" stroke="#facc15" stroke-width="4"/>'
        frames = "".join(
            f"<g{_HIDDEN if place else ''}>{icon(name, (160, 70), 72, PAINTS[paint])}</g>"
            for place, (name, paint) in enumerate(zip(state.frames, state.paints, strict=True))
        )
        curve: Curve = [(0.0, 0.0)]
        for place, end in enumerate(state.ends):
            curve += [(end - _INSTANT, float(place)), (end, float(place + 1))]
        motion = Motion(part="frame", how="frame", curve=curve)
        art = landscape(state.variant, tall) + band + sides + window + part("frame", frames)
        return self.shown(state, language, Drawn(art, tall, motion), state.meant)


TYPES: tuple[PuzzleType[Any], ...] = (SetValue(), Match(), SelectFrame())
