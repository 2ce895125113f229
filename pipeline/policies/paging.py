"""Moving over a screen's content: by the wheel, or on a phone by a finger, which pushes the content the other way."""

from __future__ import annotations

from typing import Literal, get_args

from pipeline.actions import Action, Point, Scroll, Swipe
from pipeline.words import Platform

Direction = Literal["up", "down", "left", "right"]
DIRECTIONS: tuple[Direction, ...] = get_args(Direction)

_REACH = 250
"""Half the way of a finger, in canonical units: a stroke moves the content by half a screen and stays off its edges."""
_EDGE = 100
_STROKES: dict[Direction, tuple[int, int]] = {"down": (0, -1), "up": (0, 1), "right": (-1, 0), "left": (1, 0)}


def page(platform: Platform, point: Point, direction: Direction) -> Scroll | Swipe:
    """What shows more of the content in a direction, at a point."""
    if platform != "mobile":
        return Scroll(point=point, direction=direction)
    across, along = _STROKES[direction]
    x, y = _within(point.x, across), _within(point.y, along)
    return Swipe(
        start=Point(x=x - across * _REACH, y=y - along * _REACH), end=Point(x=x + across * _REACH, y=y + along * _REACH)
    )


def direction_of(action: Action) -> Direction | None:
    """Where an action shows more of the content; nothing for other actions."""
    match action:
        case Scroll(direction=direction):
            return direction
        case Swipe(start=start, end=end):
            across, along = end.x - start.x, end.y - start.y
            if abs(along) >= abs(across):
                return "down" if along < 0 else "up"
            return "right" if across < 0 else "left"
        case _:
            return None


def _within(place: int, moving: int) -> int:
    """The middle of a stroke on one axis: moved in from the edges where the finger moves along it."""
    return min(max(place, _EDGE + _REACH), 999 - _EDGE - _REACH) if moving else place
