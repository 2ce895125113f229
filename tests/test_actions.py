"""Coordinates and the action union."""

from __future__ import annotations

import json
from math import ceil, floor

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from pipeline.actions import (
    ACTION,
    SPACE,
    Action,
    Click,
    Drag,
    Finished,
    Pixel,
    Point,
    Scroll,
    canonical_point,
    device_pixel,
    points_of,
    render,
)

SIZES = st.integers(min_value=1, max_value=8000)
VALUES = st.integers(min_value=0, max_value=SPACE - 1)


@given(value=VALUES, size=SIZES)
def test_pixel_is_the_middle_of_the_canonical_cell(value: int, size: int) -> None:
    assert device_pixel(Point(x=value, y=0), size, 1).x == floor((value + 0.5) * size / SPACE)


@given(x=VALUES, y=VALUES, width=SIZES, height=SIZES)
def test_every_canonical_point_lies_in_the_picture(x: int, y: int, width: int, height: int) -> None:
    pixel = device_pixel(Point(x=x, y=y), width, height)
    assert 0 <= pixel.x < width and 0 <= pixel.y < height


@given(data=st.data(), width=SIZES, height=SIZES)
def test_every_pixel_has_a_canonical_point_close_by(data: st.DataObject, width: int, height: int) -> None:
    pixel = Pixel(x=data.draw(st.integers(0, width - 1)), y=data.draw(st.integers(0, height - 1)))
    back = device_pixel(canonical_point(pixel, width, height), width, height)
    assert abs(back.x - pixel.x) <= max(1, ceil(width / (2 * SPACE)))
    assert abs(back.y - pixel.y) <= max(1, ceil(height / (2 * SPACE)))


@given(value=VALUES, size=SIZES)
def test_a_canonical_point_survives_the_way_to_pixels_and_back(value: int, size: int) -> None:
    back = canonical_point(Pixel(x=device_pixel(Point(x=value, y=0), size, 1).x, y=0), size, 1).x
    assert back <= value
    assert value - back <= ceil(SPACE / size), "off by no more than the cells one pixel covers"


@given(value=VALUES, scale=st.integers(min_value=2, max_value=8))
def test_it_survives_unchanged_when_a_cell_has_two_pixels_and_more(value: int, scale: int) -> None:
    size = scale * SPACE
    assert canonical_point(device_pixel(Point(x=value, y=value), size, size), size, size) == Point(x=value, y=value)


@given(pair=st.tuples(VALUES, VALUES), size=SIZES)
def test_order_is_kept(pair: tuple[int, int], size: int) -> None:
    low, high = sorted(pair)
    assert device_pixel(Point(x=low, y=0), size, 1).x <= device_pixel(Point(x=high, y=0), size, 1).x


def test_axes_use_their_own_size() -> None:
    assert device_pixel(Point(x=500, y=500), 640, 400) == Pixel(x=320, y=200)
    assert canonical_point(Pixel(x=320, y=200), 640, 400) == Point(x=500, y=500)


@pytest.mark.parametrize("pixel", [Pixel(x=640, y=0), Pixel(x=0, y=400), Pixel(x=-1, y=0)])
def test_a_pixel_outside_the_picture_has_no_canonical_point(pixel: Pixel) -> None:
    with pytest.raises(ValidationError):
        canonical_point(pixel, 640, 400)


@pytest.mark.parametrize("value", [-1, SPACE, 0.5])
def test_a_point_outside_the_space_is_refused(value: float) -> None:
    with pytest.raises(ValidationError):
        Point.model_validate({"x": value, "y": 0})


def test_points_of_an_action() -> None:
    one, other = Point(x=1, y=2), Point(x=3, y=4)
    assert points_of(Click(point=one)) == [one]
    assert points_of(Drag(start=one, end=other)) == [one, other]
    assert points_of(Finished()) == []


@pytest.mark.parametrize(
    "action", [Click(point=Point(x=1, y=2)), Scroll(point=Point(x=0, y=0), direction="up"), Finished(content="你好")]
)
def test_what_is_rendered_is_read_back(action: Action) -> None:
    assert ACTION.validate_json(render(action)) == action
    assert json.loads(render(action))["type"] == action.type


@pytest.mark.parametrize(
    "text", ['{"type": "Fly"}', '{"type": "Click"}', '{"type": "Wait", "point": {"x": 1, "y": 1}}']
)
def test_an_unknown_or_malformed_action_is_refused(text: str) -> None:
    with pytest.raises(ValidationError):
        ACTION.validate_json(text)
