"""Coordinate spaces: one target, five ways to name it, and what is no place at all."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.actions import Click, Pixel, Point
from pipeline.dialects import Picture, Said, load_dialect
from pipeline.dialects.spaces import (
    CANONICAL,
    MOST_PIXELS,
    PIXELS,
    RELATIVE_999,
    RELATIVE_1000,
    RELATIVE_1000_YX,
    RESIZED_PIXELS,
    UNIT,
    Space,
    Spot,
    resized,
)
from pipeline.errors import ActionError

SCREEN = Picture(1280, 800)
"""A view of 640 x 400 at a device ratio of 2; the target lies at pixels (200..239, 100..139)."""
SPACES = [CANONICAL, PIXELS, RELATIVE_999, RELATIVE_1000, RELATIVE_1000_YX, RESIZED_PIXELS, UNIT]
SIZES = st.builds(Picture, st.integers(28, 4000), st.integers(28, 4000))


def refusal(space: Space, value: object) -> str | None:
    with pytest.raises(ActionError) as caught:
        space.spot(value, SCREEN, boxes=False)
    return caught.value.code


@pytest.mark.parametrize(
    ("name", "reply"),
    [
        ("canonical-pixels", '{"type": "Click", "point": [220, 120]}'),
        ("canonical-pixels", '{"type": "Click", "point": {"x": 220, "y": 120}}'),
        ("canonical", '{"type": "Click", "point": {"x": 172, "y": 150}}'),
        ("ui-venus-2-browser", "<action>Click(point=(172,150))</action>"),
        ("canonical-unit", '{"type": "Click", "point": [0.172, 0.15]}'),
        ("canonical-yx", '{"type": "Click", "point": [150, 172]}'),
        ("canonical-yx", '{"type": "Click", "point": {"x": 172, "y": 150}}'),
        ("ui-tars-1.5", "Action: click(start_box='(217,118)')"),
        (
            "fara",
            '<tool_call>{"name": "computer_use", "arguments": {"action": "left_click", "coordinate": [217, 118]}}',
        ),
    ],
)
def test_every_space_names_the_same_pixel(name: str, reply: str) -> None:
    [move] = load_dialect(name).read(Said(reply), SCREEN).moves
    assert move.points == (Pixel(x=220, y=120),)
    assert move.flags == ()
    assert isinstance(move.action, Click)


@pytest.mark.parametrize(
    ("name", "reply", "code"),
    [
        ("ui-venus-2-browser", "<action>Click(point=(1200,150))</action>", "out_of_range"),
        ("canonical", '{"type": "Click", "point": {"x": 1200, "y": 150}}', "out_of_range"),
        ("canonical-pixels", '{"type": "Click", "point": [0.172, 0.15]}', "ambiguous_coordinates"),
        ("canonical-pixels", '{"type": "Click", "point": [NaN, 120]}', "bad_arguments"),
        ("canonical-pixels", '{"type": "Click", "point": [220]}', "bad_arguments"),
        ("canonical-pixels", '{"type": "Click", "point": {"x": 220}}', "bad_arguments"),
    ],
)
def test_what_is_no_place_is_refused(name: str, reply: str, code: str) -> None:
    with pytest.raises(ActionError) as caught:
        load_dialect(name).read(Said(reply), SCREEN)
    assert caught.value.code == code


def test_the_canonical_number_is_the_middle_of_its_cell_and_kept() -> None:
    spot = CANONICAL.spot([412, 733], SCREEN, boxes=False)
    assert spot == Spot(Pixel(x=528, y=586), Point(x=412, y=733))


def test_the_divisor_is_the_last_pixel_on_its_axis_only() -> None:
    assert RELATIVE_1000.spot([1000, 150], SCREEN, boxes=False) == Spot(Pixel(x=1279, y=120), Point(x=999, y=150), True)
    assert RELATIVE_999.spot([0, 999], SCREEN, boxes=False).pixel == Pixel(x=0, y=799)
    assert CANONICAL.spot([1000, 733], SCREEN, boxes=False) == Spot(Pixel(x=1279, y=586), Point(x=999, y=733), True)
    assert UNIT.spot([1, 1.0], SCREEN, boxes=False) == Spot(Pixel(x=1279, y=799), Point(x=999, y=998), True)


@pytest.mark.parametrize(
    ("value", "code"),
    [
        ([1001, 0], "out_of_range"),
        ([0, -1], "out_of_range"),
        ([0, -0.5], "out_of_range"),
        ([1000.5, 0], "out_of_range"),
        ([10**500, 0], "out_of_range"),
        ([0.999, 500], "ambiguous_coordinates"),
        ([float("nan"), 0], "bad_arguments"),
        ([0, float("inf")], "bad_arguments"),
        ([True, 0], "bad_arguments"),
        (["1", "2"], "bad_arguments"),
        ([1, 2, 3], "bad_arguments"),
        ([1, 2, 3, 4], "bad_arguments"),
        ([], "bad_arguments"),
        ({"x": 1, "y": 2, "z": 3}, "bad_arguments"),
        ("1 2 3", "bad_arguments"),
        ("about (1,2)", "bad_arguments"),
        ("(1,2" + "0" * 200 + ")", "bad_arguments"),
        (None, "bad_arguments"),
        (7, "bad_arguments"),
    ],
)
def test_numbers_that_are_no_point_are_refused(value: object, code: str) -> None:
    assert refusal(RELATIVE_1000, value) == code


def test_canonical_numbers_are_whole() -> None:
    assert refusal(CANONICAL, [17.5, 20]) == "bad_arguments"
    assert CANONICAL.spot([17.0, 20], SCREEN, boxes=False).point == Point(x=17, y=20)


def test_decimals_are_read_as_one_number() -> None:
    assert RELATIVE_1000.spot("(500.5, 20)", SCREEN, boxes=False).pixel == Pixel(x=640, y=16)
    assert UNIT.spot("0.4518 0.5", SCREEN, boxes=False).pixel == Pixel(x=578, y=400)


@pytest.mark.parametrize(
    "text", ["(172,150)", "[172, 150]", "172 150", "<point>172 150</point>", "<|box_start|>(172,150)<|box_end|>"]
)
def test_points_in_text(text: str) -> None:
    assert RELATIVE_1000.spot(text, SCREEN, boxes=False).pixel == Pixel(x=220, y=120)


def test_a_box_stands_for_its_middle_where_boxes_are_allowed() -> None:
    assert RELATIVE_1000.spot([100, 100, 200, 300], SCREEN, boxes=True).pixel == Pixel(x=192, y=160)
    assert RELATIVE_1000.spot("[0, 0, 1000, 1000]", SCREEN, boxes=True).edge is False
    with pytest.raises(ActionError, match="outside"):
        RELATIVE_1000.spot([100, 100, 200, 1300], SCREEN, boxes=True)


@pytest.mark.parametrize("space", SPACES, ids=lambda space: space.name)
@given(data=st.data(), picture=SIZES)
def test_numbers_and_spots_are_inverse(space: Space, data: st.DataObject, picture: Picture) -> None:
    extents = space.sent_size(picture) if space.divisor is None else (space.divisor,) * 2
    value = [
        data.draw(st.floats(0, 1) if space is UNIT else st.integers(0, extent - (space.divisor is None)))
        for extent in extents
    ]
    spot = space.spot(value[::-1] if space.y_first else value, picture, boxes=False)
    assert space.spot(list(space.numbers(spot, picture)), picture, boxes=False) == spot


@given(data=st.data(), picture=SIZES)
def test_a_pixel_without_a_number_gets_its_neighbours(data: st.DataObject, picture: Picture) -> None:
    x = data.draw(st.integers(0, picture.width - 1))
    spot = Spot(Pixel(x=x, y=0), Point(x=0, y=0))
    back = RELATIVE_1000.spot(RELATIVE_1000.numbers(spot, picture), picture, boxes=False)
    assert abs(back.pixel.x - x) <= picture.width // 1000 + 1
    assert not back.edge


def test_an_edge_of_another_space_is_written_as_the_last_pixel() -> None:
    spot = Spot(Pixel(x=1279, y=799), Point(x=999, y=998), edge=True)
    assert PIXELS.numbers(spot, SCREEN) == (1279, 799)
    assert RELATIVE_999.spot(RELATIVE_999.numbers(spot, SCREEN), SCREEN, boxes=False) == Spot(*spot[:2], True)


@pytest.mark.parametrize(
    ("picture", "sent"),
    [
        (Picture(1280, 800), Picture(1260, 784)),
        (Picture(640, 400), Picture(644, 392)),
        (Picture(1920, 1080), Picture(1316, 728)),
        (Picture(10, 10), Picture(56, 56)),
        (Picture(56, 56), Picture(56, 56)),
    ],
)
def test_resizing(picture: Picture, sent: Picture) -> None:
    assert resized(picture) == sent


@given(picture=SIZES)
def test_resized_sides_are_multiples_within_the_bound(picture: Picture) -> None:
    sent = resized(picture)
    assert sent.width % 28 == 0 == sent.height % 28
    assert sent.width * sent.height <= MOST_PIXELS
    assert resized(sent) == sent
