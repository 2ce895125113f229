"""What may be the answer to a puzzle, and whether what somebody did on its page is that answer.

Places and lengths are in units of the art, on which a page may show more or fewer pixels each. Knows nothing of how a
puzzle is drawn. Tolerances are those of the public benchmarks of such puzzles: points in regions, one to one and in
order where it matters; exact text; drags within a twentieth of their length, and no further than what the page asks
for is seen to hold.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Annotated, Literal, NamedTuple

from pydantic import Field

from pipeline.actions import Model

Spot = tuple[float, float]
"""A place in the art: across, down."""

_Length = Annotated[float, Field(ge=-2000.0, le=2000.0, allow_inf_nan=False)]
_Place = tuple[_Length, _Length]
"""What a page may say of a place: nothing that is far outside of any art."""

SHIFT_ERROR = 0.05
"""How far a drag may miss its length, as a part of it."""
RISE_ERROR = 5.0
"""How far a drag along a track may end above or below where it began."""
_FINE = 0.005
"""Units to which the ends of what is right are found."""
_SWEEP_STEP = 1.0
"""A path is looked at this often, at least, so that it cannot jump a wall between two of its points."""


class Region(Model):
    """A part of the art that can be meant: the polygon through its corners."""

    corners: list[Spot] = Field(min_length=3)

    @property
    def centre(self) -> Spot:
        """The middle of its corners; inside, for what is not hollow there."""
        return (
            sum(x for x, _ in self.corners) / len(self.corners),
            sum(y for _, y in self.corners) / len(self.corners),
        )

    def holds(self, spot: Spot) -> bool:
        """Whether a place is inside (even-odd rule)."""
        x, y = spot
        inside = False
        for (left, top), (right, bottom) in zip(self.corners, [*self.corners[1:], self.corners[0]], strict=True):
            if (top > y) != (bottom > y) and x < (right - left) * (y - top) / (bottom - top) + left:
                inside = not inside
        return inside

    @property
    def edges(self) -> tuple[float, float, float, float]:
        """Left, top, right, bottom."""
        across, down = [x for x, _ in self.corners], [y for _, y in self.corners]
        return min(across), min(down), max(across), max(down)


def rectangle(left: float, top: float, width: float, height: float) -> Region:
    """The region of a rectangle."""
    right, bottom = left + width, top + height
    return Region(corners=[(left, top), (right, top), (right, bottom), (left, bottom)])


def around(spot: Spot, width: float, height: float | None = None) -> Region:
    """The rectangle around a place."""
    tall = width if height is None else height
    return rectangle(spot[0] - width / 2, spot[1] - tall / 2, width, tall)


class Tap(Model):
    """A tap on a button, and for how many seconds it was held."""

    name: str
    held: float


class Given(Model):
    """What was done on a page, as the page says it; whatever a puzzle does not ask for is empty."""

    text: str = Field(default="", max_length=200)
    clicks: list[_Place] = Field(default_factory=list, max_length=64)
    shifts: dict[str, _Length] = Field(default_factory=dict, max_length=8)
    rises: dict[str, _Length] = Field(default_factory=dict, max_length=8)
    """How far below its beginning the pointer left each handle."""
    degrees: _Length | None = None
    presses: int = 0
    rests: dict[str, _Place] = Field(default_factory=dict, max_length=32)
    """Where items are that were moved: their middles."""
    order: list[str] = Field(default_factory=list, max_length=32)
    lines: list[tuple[_Place, _Place]] = Field(default_factory=list, max_length=32)
    paths: list[Annotated[list[_Place], Field(max_length=4000)]] = Field(default_factory=list, max_length=64)
    """The ways that the token went, one for each drag."""
    taps: list[Tap] = Field(default_factory=list, max_length=16)


class Ground(NamedTuple):
    """Where answers are given: the marks, by name, and the walls that a token cannot pass."""

    marks: Mapping[str, Region]
    walls: Sequence[Region] = ()

    def at(self, spot: Spot) -> str | None:
        """The mark at a place; marks do not overlap where that matters."""
        return next((name for name, region in self.marks.items() if region.holds(spot)), None)


class Typed(Model):
    """A text: one of those accepted, of which the first is the usual one."""

    kind: Literal["typed"] = "typed"
    accepted: list[str] = Field(min_length=1)

    def fits(self, given: Given, ground: Ground) -> bool:
        """Whether what was done is this answer."""
        return given.text.strip() in self.accepted


class Clicked(Model):
    """Marks, each clicked once, and nothing else; in this order where `ordered`."""

    kind: Literal["clicked"] = "clicked"
    marks: list[str] = Field(min_length=1)
    ordered: bool = False

    def fits(self, given: Given, ground: Ground) -> bool:
        """Whether what was done is this answer."""
        hit = [str(ground.at(spot)) for spot in given.clicks]
        return hit == self.marks if self.ordered else sorted(hit) == sorted(self.marks)


Reach = tuple[float, float]
"""The shortest and the longest shift of a handle that is right."""


class Slid(Model):
    """How far each handle is drawn along its track; which shifts are right, if not all within a twentieth."""

    kind: Literal["slid"] = "slid"
    shifts: dict[str, float] = Field(min_length=1)
    ranges: dict[str, Reach] = Field(default_factory=dict)

    def range_of(self, handle: str) -> Reach:
        """The shifts of a handle that are right; raises KeyError for a handle that the answer does not name."""
        return self.ranges.get(handle) or _twentieth(self.shifts[handle])

    def fits(self, given: Given, ground: Ground) -> bool:
        """Whether what was done is this answer."""
        if given.shifts.keys() != self.shifts.keys():
            return False
        ranges = {name: self.range_of(name) for name in self.shifts}
        right = all(low <= given.shifts[name] <= high for name, (low, high) in ranges.items())
        return right and all(abs(rise) < RISE_ERROR for rise in given.rises.values())


def reach_of(shift: float, passes: Callable[[float], bool]) -> Reach:
    """How far around a right shift everything passes, within a twentieth of it.

    What passes must be one run there: no shift may pass that lies beyond one that does not.
    """
    low, high = _twentieth(shift)
    return _last(shift, low, passes), _last(shift, high, passes)


def _twentieth(shift: float) -> Reach:
    return shift - SHIFT_ERROR * shift, shift + SHIFT_ERROR * shift


def _last(good: float, far: float, passes: Callable[[float], bool]) -> float:
    """The last shift that passes on the way to one that is far, to a hundredth of a unit, as pages say them."""
    if passes(far):
        return round(far, 2)
    while abs(far - good) > _FINE:
        middle = (good + far) / 2
        good, far = (middle, far) if passes(middle) else (good, middle)
    return round(good, 2)


class Pointed(Model):
    """The direction a hand is turned to: degrees clockwise from the top, within a tolerance."""

    kind: Literal["pointed"] = "pointed"
    degrees: float
    tolerance: float

    def fits(self, given: Given, ground: Ground) -> bool:
        """Whether what was done is this answer."""
        if given.degrees is None:
            return False
        return abs((given.degrees - self.degrees + 180.0) % 360.0 - 180.0) <= self.tolerance


class Stepped(Model):
    """How often the step button is pressed; so many presses lead back to the beginning."""

    kind: Literal["stepped"] = "stepped"
    presses: int = Field(ge=1)
    cycle: int = Field(ge=2)

    def fits(self, given: Given, ground: Ground) -> bool:
        """Whether what was done is this answer."""
        return (given.presses - self.presses) % self.cycle == 0


class Dropped(Model):
    """The mark that each item comes to rest on; items that are not named rest on none."""

    kind: Literal["dropped"] = "dropped"
    rests: dict[str, str] = Field(min_length=1)

    def fits(self, given: Given, ground: Ground) -> bool:
        """Whether what was done is this answer."""
        rests = {item: ground.at(spot) for item, spot in given.rests.items()}
        return {item: mark for item, mark in rests.items() if mark or item in self.rests} == self.rests


class Arranged(Model):
    """The items from the first place to the last, once pairs of them have changed places."""

    kind: Literal["arranged"] = "arranged"
    order: list[str] = Field(min_length=2)

    def fits(self, given: Given, ground: Ground) -> bool:
        """Whether what was done is this answer."""
        return given.order == self.order


class Joined(Model):
    """Pairs of marks with a line between them, whichever end it begins at; no others."""

    kind: Literal["joined"] = "joined"
    pairs: list[tuple[str, str]] = Field(min_length=1)

    def fits(self, given: Given, ground: Ground) -> bool:
        """Whether what was done is this answer."""
        drawn = [frozenset({str(ground.at(one)), str(ground.at(other))}) for one, other in given.lines]
        return len(drawn) == len(self.pairs) and set(drawn) == {frozenset(pair) for pair in self.pairs}


class Walked(Model):
    """A way for the token, by straight drags from corner to corner, to a mark, through no wall.

    Any way that keeps out of the walls will do; `way` is the one that is shown as the answer.
    """

    kind: Literal["walked"] = "walked"
    way: list[Spot] = Field(min_length=2)
    to: str

    def fits(self, given: Given, ground: Ground) -> bool:
        """Whether each drag goes on where the one before it ended, through no wall, and the last ends on the mark."""
        at = self.way[0]
        for path in given.paths:
            if not path or math.dist(path[0], at) > _SWEEP_STEP:
                return False
            for spot in path:
                if any(wall.holds(place) for place in _between(at, spot) for wall in ground.walls):
                    return False
                at = spot
        return bool(given.paths) and ground.marks[self.to].holds(at)


class Tapped(Model):
    """Buttons, and boxes that are ticked in the end, in the order of their taps; the last is held so many seconds."""

    kind: Literal["tapped"] = "tapped"
    taps: list[str] = Field(min_length=1)
    held: float = 0.0

    def fits(self, given: Given, ground: Ground) -> bool:
        """Whether what was done is this answer."""
        return [tap.name for tap in given.taps] == self.taps and given.taps[-1].held >= self.held


Answer = Annotated[
    Typed | Clicked | Slid | Pointed | Stepped | Dropped | Arranged | Joined | Walked | Tapped,
    Field(discriminator="kind"),
]


def _between(start: Spot, end: Spot) -> list[Spot]:
    pieces = max(1, math.ceil(math.dist(start, end) / _SWEEP_STEP))
    return [
        (start[0] + (end[0] - start[0]) * piece / pieces, start[1] + (end[1] - start[1]) * piece / pieces)
        for piece in range(pieces + 1)
    ]
