"""Coordinate spaces: from a model's numbers to pixels of the stored picture, and back.

A space is declared, never guessed from how large a number is. A number n of a space with divisor d stands for pixel
floor(n * W / d) of a picture of width W; in the canonical grid for floor((n + 0.5) * W / 1000), the middle of its cell.
Pixel spaces have no divisor: there the picture as it was sent takes its place. Only a number equal to the divisor is
mapped to the last pixel; nothing else outside is.
"""

from __future__ import annotations

import math
import re
from typing import NamedTuple

from pipeline.actions import SPACE, Pixel, Point, canonical_point
from pipeline.dialects.base import Picture
from pipeline.errors import ActionError

FACTOR = 28
"""Sides of resized pictures are multiples of this."""
MOST_PIXELS = 1280 * FACTOR * FACTOR
_LEAST_PIXELS = 4 * FACTOR * FACTOR

_NUMBER = r"-?\d+(?:\.\d+)?"
_PAIR_TEXT = re.compile(
    rf"\s*(?:<point>|<\|box_start\|>)?\s*[\[(]?\s*({_NUMBER}(?:(?:\s*,\s*|\s+){_NUMBER}){{0,3}})\s*[\])]?"
    r"\s*(?:</point>|<\|box_end\|>)?\s*"
)
_LONGEST = 100
_SEPARATOR = re.compile(r"\s*,\s*|\s+")

Number = int | float


class Spot(NamedTuple):
    """A pixel of the stored picture with its canonical point; `edge` when the divisor itself was named."""

    pixel: Pixel
    point: Point
    edge: bool = False


class Space(NamedTuple):
    """A coordinate space."""

    name: str
    divisor: int | None
    resized: bool = False
    """Whether pictures are resized before they are sent."""
    y_first: bool = False
    canonical: bool = False
    """Whether the numbers are canonical points already."""

    def described(self, language: str) -> str:
        """One line about the numbers, for a prompt."""
        order = "y, x" if self.y_first else "x, y"
        if self.divisor is None:
            what = ("pixels of the picture you are shown", "你所看到的图片的像素")
        elif self.divisor == 1:
            what = ("fractions of the picture's width and height, from 0 to 1", "占图片宽和高的比例，从 0 到 1")
        else:
            most = min(self.divisor, SPACE - 1)
            what = (
                f"whole numbers from 0 to {most} across the picture, whatever its size",
                f"从 0 到 {most} 的整数，与图片大小无关",
            )
        if language == "zh":
            return f"坐标（{order}）是{what[1]}，原点在左上角。"
        return f"Coordinates ({order}) are {what[0]}; the origin is the top left corner."

    def sent_size(self, picture: Picture) -> Picture:
        """The size a picture has when it is sent."""
        return resized(picture) if self.resized else picture

    def spot(self, value: object, picture: Picture, *, boxes: bool) -> Spot:
        """Where a pair of numbers lies, or the middle of a box where those are allowed; raises ActionError."""
        numbers = _numbers(value, y_first=self.y_first)
        if len(numbers) == 4 and boxes:
            return _middle(self._spot(*numbers[:2], picture), self._spot(*numbers[2:], picture), picture)
        if len(numbers) != 2:
            raise ActionError("bad_arguments", f"a point is a pair of numbers, not {shown(value)}")
        return self._spot(numbers[0], numbers[1], picture)

    def numbers(self, spot: Spot, picture: Picture) -> tuple[Number, Number]:
        """The numbers that stand for a spot, in the order of the space: the inverse of `spot`."""
        x: Number
        y: Number
        sent = self.sent_size(picture)
        if self.canonical:
            x = SPACE if spot.edge and spot.pixel.x == picture.width - 1 else spot.point.x
            y = SPACE if spot.edge and spot.pixel.y == picture.height - 1 else spot.point.y
            return x, y
        x = self._number(spot.pixel.x, picture.width, sent.width, edge=spot.edge)
        y = self._number(spot.pixel.y, picture.height, sent.height, edge=spot.edge)
        return (y, x) if self.y_first else (x, y)

    def _spot(self, first: object, second: object, picture: Picture) -> Spot:
        sent = self.sent_size(picture)
        x, y = _finite(first), _finite(second)
        if self.y_first:
            x, y = y, x
        across, x_edge = self._pixel("x", x, picture.width, sent.width)
        down, y_edge = self._pixel("y", y, picture.height, sent.height)
        pixel = Pixel(x=across, y=down)
        if self.canonical:
            point = Point(x=min(int(x), SPACE - 1), y=min(int(y), SPACE - 1))
        else:
            point = canonical_point(pixel, picture.width, picture.height)
        return Spot(pixel, point, x_edge or y_edge)

    def _pixel(self, axis: str, number: Number, size: int, sent: int) -> tuple[int, bool]:
        extent = self.divisor or sent
        if self.divisor != 1 and isinstance(number, float):
            if 0 < number < 1:
                detail = f"{axis} {number} may be a fraction or a position; the space is {self.name}"
                raise ActionError("ambiguous_coordinates", detail)
            if self.canonical:
                raise ActionError("bad_arguments", f"{axis} {number} is not a whole number")
        if number == self.divisor:
            return size - 1, True
        if not 0 <= number < extent:
            raise ActionError("out_of_range", f"{axis} {shown(number)} is outside 0..{extent}")
        if self.canonical:
            return (2 * int(number) + 1) * size // (2 * SPACE), False
        if isinstance(number, int):
            return number * size // extent, False
        # The product of a number just below the extent may round up to the size.
        return min(math.floor(number * size / extent), size - 1), False

    def _number(self, pixel: int, size: int, sent: int, *, edge: bool) -> Number:
        """The number of a pixel: the smallest that stands for it, or for its nearest neighbour where none does."""
        if self.divisor == 1:
            return 1 if edge and pixel == size - 1 else round((pixel + 0.5) / size, 6)
        extent = self.divisor or sent
        if edge and self.divisor and pixel == size - 1:
            return extent
        number = -(-pixel * extent // size)
        reached = number * size // extent
        if reached != pixel and number > 0:
            below = (number - 1) * size // extent
            if number >= extent or pixel - below < reached - pixel:
                return number - 1
        return number


def resized(picture: Picture) -> Picture:
    """The size nearest to a picture's whose sides are multiples of the factor, within the bounds on its area."""
    width, height = (max(FACTOR, round(side / FACTOR) * FACTOR) for side in picture)
    area = picture.width * picture.height
    if width * height > MOST_PIXELS:
        shrink = math.sqrt(area / MOST_PIXELS)
        width, height = (max(FACTOR, math.floor(side / shrink / FACTOR) * FACTOR) for side in picture)
    elif width * height < _LEAST_PIXELS:
        grow = math.sqrt(_LEAST_PIXELS / area)
        width, height = (math.ceil(side * grow / FACTOR) * FACTOR for side in picture)
    return Picture(width, height)


def _middle(first: Spot, second: Spot, picture: Picture) -> Spot:
    pixel = Pixel(x=(first.pixel.x + second.pixel.x) // 2, y=(first.pixel.y + second.pixel.y) // 2)
    return Spot(pixel, canonical_point(pixel, picture.width, picture.height))


def _numbers(value: object, *, y_first: bool) -> tuple[object, ...]:
    """What a list, a tuple, an object with x and y, or a text holds, in the order of the space."""
    match value:
        case list() | tuple():
            return tuple(value)
        case dict() if value.keys() == {"x", "y"}:
            return (value["y"], value["x"]) if y_first else (value["x"], value["y"])
        case str() if len(value) <= _LONGEST and (matched := _PAIR_TEXT.fullmatch(value)):
            return tuple(float(text) if "." in text else int(text) for text in _SEPARATOR.split(matched[1]))
        case _:
            raise ActionError("bad_arguments", f"a point is a pair of numbers, not {shown(value)}")


def _finite(value: object) -> Number:
    match value:
        case bool():
            pass
        case int():
            return value
        case float() if math.isfinite(value):
            return int(value) if value.is_integer() else value
    raise ActionError("bad_arguments", f"not a number: {shown(value)}")


def shown(value: object) -> str:
    """A short form of a value of a reply, for a message: texts and numbers as they are, else the kind of thing."""
    if isinstance(value, str):
        return repr(value[:40])
    if isinstance(value, dict | list | tuple):
        return f"something with {len(value)} parts"
    if isinstance(value, int) and abs(value) >= 10**12:
        return "a very long number"
    return str(value) if isinstance(value, int | float | None) else type(value).__name__


CANONICAL = Space("canonical", SPACE, canonical=True)
RELATIVE_999 = Space("relative_999", 999)
RELATIVE_1000 = Space("relative_1000", 1000)
RELATIVE_1000_YX = Space("relative_1000_yx", 1000, y_first=True)
UNIT = Space("unit", 1)
PIXELS = Space("pixels", None)
RESIZED_PIXELS = Space("resized_pixels", None, resized=True)
