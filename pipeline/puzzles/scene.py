"""What the page of a puzzle shows: art, marks in it, what can be done, and the answer.

The art is SVG of a size in units of its own. What can be clicked or dropped on is a mark: `<g data-mark="NAME">` in the
art, whose region is also here, so that the two can be compared once a browser has drawn it. What moves is a part:
`<g data-part="NAME">`. Names tell nothing about the answer. Knows nothing of types of puzzles.
"""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from pipeline.actions import Model
from pipeline.puzzles.answers import Answer, Region, Spot

WIDTH = 320.0
"""Units across every art. At least as many CSS pixels are shown for them, and a phone's panel shows no more."""
TALLEST = 300.0
"""No art is higher, so that page, art and controls fit on every screen."""
HANDLE = 40.0
"""Units across the handle of a slider."""
SMALLEST_MARK = 16.0
"""No mark is narrower or lower, so that it can be pointed at by canonical coordinates."""


class Motion(Model):
    """How a part follows a handle, a hand or a stepper: a curve of straight pieces from its position to a value.

    Values: units `across` and `down`, degrees of `turn` clockwise around the pivot, a factor of `light`, degrees of
    `hue`, a `length` as a factor of the part's width from its pivot, the number of the one child of the part that shows
    as `frame`.
    """

    part: str
    how: Literal["across", "down", "turn", "light", "hue", "length", "frame"]
    curve: list[tuple[float, float]] = Field(min_length=2)
    pivot: Spot = (0.0, 0.0)

    def value(self, position: float) -> float:
        """The value at a position; beyond the ends of the curve, that of the end."""
        if position <= self.curve[0][0]:
            return self.curve[0][1]
        for (left, low), (right, high) in zip(self.curve, self.curve[1:], strict=False):
            if position <= right:
                return low + (high - low) * (position - left) / (right - left)
        return self.curve[-1][1]


class TextField(Model):
    """A field for text, and a button that confirms it."""

    kind: Literal["field"] = "field"


class Pointer(Model):
    """Clicks into the art; a `single` one is the answer at once, more of them are confirmed."""

    kind: Literal["pointer"] = "pointer"
    single: bool = False


class Handle(Model):
    """A handle on a track of its own below the art, which can be drawn so far; parts follow it."""

    name: Literal["handle", "handle_2"] = "handle"
    reach: float = Field(gt=0, le=WIDTH - HANDLE)
    motions: list[Motion] = Field(min_length=1)


class Sliders(Model):
    """One handle, which answers when it is let go of, or two, which are confirmed."""

    kind: Literal["sliders"] = "sliders"
    handles: list[Handle] = Field(min_length=1, max_length=2)

    def reach_of(self, name: str) -> float:
        """How far a handle can be drawn, in units; raises KeyError for one that is not there."""
        reaches: dict[str, float] = {handle.name: handle.reach for handle in self.handles}
        return reaches[name]


class Hand(Model):
    """A part that turns around a pivot as its tip is drawn, and answers when it is let go of; it points to `start`."""

    kind: Literal["hand"] = "hand"
    part: str
    pivot: Spot
    tip: Spot
    """Where the tip is at the beginning."""
    start: float
    """The direction at the beginning: degrees clockwise from the top."""


class Stepper(Model):
    """A button that goes one step further each time, then around, and one that confirms; parts follow the steps."""

    kind: Literal["stepper"] = "stepper"
    motions: list[Motion] = Field(min_length=1)
    cycle: int


class Items(Model):
    """Parts that are drawn about freely: the middle of each at the beginning.

    Where they `swap`, one that is dropped on another changes places with it, and one that is not goes back. A single
    one answers when it is let go of, more of them are confirmed.
    """

    kind: Literal["items"] = "items"
    spots: dict[str, Spot] = Field(min_length=1)
    swap: bool = False
    radius: float = 20.0
    """How near to the middle of another item the pointer must be to swap with it."""


class Lines(Model):
    """Straight lines that are drawn in the art, and a button that confirms them."""

    kind: Literal["lines"] = "lines"


class Token(Model):
    """A part that goes where it is drawn, again and again, and a button that confirms."""

    kind: Literal["token"] = "token"
    part: str
    start: Spot


class Button(Model):
    """A button, or a `box` to tick; one that `ends` is the last tap."""

    name: str
    label: str
    look: Literal["main", "plain", "link", "box"] = "plain"
    ends: bool = True
    wait: float = 0.0
    """It is off for so many seconds."""
    hold: float = 0.0
    """Its bar is full after so many seconds of holding."""


class Buttons(Model):
    """Buttons below the art, in this order."""

    kind: Literal["buttons"] = "buttons"
    buttons: list[Button] = Field(min_length=1)


Control = Annotated[
    TextField | Pointer | Sliders | Hand | Stepper | Items | Lines | Token | Buttons, Field(discriminator="kind")
]


class Scene(Model):
    """A puzzle as it is shown, with its answer."""

    ask: str
    """What the page asks for, in its language."""
    art: str
    """What stands between `<svg>` and `</svg>`."""
    height: float = Field(gt=0, le=TALLEST)
    control: Control
    answer: Answer
    marks: dict[str, Region] = Field(default_factory=dict)
    walls: list[Region] = Field(default_factory=list)
