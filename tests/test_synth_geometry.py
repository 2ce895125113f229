"""Boxes, pixels and paint, by numbers: what is whole, which pixels a box means, what is drawn in it, what is alike."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from pipeline.actions import device_pixel
from pipeline.frames import frame_of
from pipeline.structs import Box
from pipeline.synth.elements import Edges
from pipeline.synth.making import _point
from pipeline.synth.recording import Pixels, Sighting, fingerprint, painted
from tests.synthetic import element, png_of, shown

BOX: Edges = (10, 10, 30, 20)


def sighting(pixels: Pixels, bare: Pixels | None = None, ratio: float = 1.0) -> Sighting:
    """A picture, and what it looks like without its controls: the same unless something else is given."""
    return Sighting(
        shown([]).model_copy(update={"ratio": ratio}),
        frame_of(png_of(pixels)),
        pixels,
        pixels if bare is None else bare,
    )


def canvas(shade: int = 200, width: int = 60, height: int = 40) -> Pixels:
    return np.full((height, width, 3), shade, dtype=np.uint8)


def marked(pixels: Pixels, left: int, top: int, width: int, height: int, shade: int = 0) -> Pixels:
    changed = pixels.copy()
    changed[top : top + height, left : left + width] = shade
    return changed


def test_a_box_means_the_pixels_that_are_wholly_in_it() -> None:
    seen = sighting(canvas(), ratio=1.25)

    assert seen.pixels_of((10.1, 10, 30, 20.3)) == Box(left=13, top=13, right=37, bottom=25)


def test_what_is_drawn_is_what_is_missing_without_it() -> None:
    background = canvas()

    assert painted(sighting(marked(background, 12, 12, 5, 3), background), BOX)
    assert not painted(sighting(background), BOX)


def test_a_busy_background_is_not_the_element_s_own_paint() -> None:
    photo = np.random.default_rng(3).integers(0, 255, (40, 60, 3), dtype=np.uint8)

    assert not painted(sighting(photo), BOX)


def test_paint_beside_the_box_does_not_count() -> None:
    background = canvas()

    assert not painted(sighting(marked(background, 30, 20, 9, 9), background), BOX)


def test_a_shade_that_nobody_sees_is_no_paint() -> None:
    background = canvas(200)

    assert not painted(sighting(marked(background, 12, 12, 9, 6, shade=196), background), BOX)


def test_a_box_outside_the_picture_is_not_painted() -> None:
    assert not painted(sighting(canvas(), canvas(0)), (80, 10, 95, 20))


@pytest.mark.parametrize(
    "given",
    [
        {"seen": (0, 0, 78, 20)},
        {"shown": False},
        {"hits": [False] + [True] * 8},
        {"box": (0, 0, 8, 20), "seen": (0, 0, 8, 20)},
        {"box": (0, 0, 80, 8), "seen": (0, 0, 80, 8)},
    ],
    ids=["cut off", "hidden", "a corner is another's", "too narrow", "too low"],
)
def test_what_cannot_be_pointed_at_is_not_whole(given: dict[str, Any]) -> None:
    assert element("A").whole
    assert not element("A", **given).whole


@pytest.mark.parametrize(("width", "height"), [(360, 740), (1366, 768), (3840, 2160)])
def test_the_point_of_a_box_leads_back_into_it(width: int, height: int) -> None:
    seen = sighting(canvas(width=width, height=height))
    boxes = [
        Box(left=left, top=top, right=left + wide, bottom=top + high)
        for left in range(3, width - 40, 97)
        for top in range(2, height - 40, 71)
        for wide, high in ((9, 9), (31, 12))
    ]

    found = [(box, _point(seen, box)) for box in boxes]

    inside = [(box, device_pixel(point, width, height)) for box, point in found if point]
    assert len(inside) > len(boxes) * 0.6
    assert all(box.left <= at.x < box.right and box.top <= at.y < box.bottom for box, at in inside)


def test_a_box_that_no_point_means_has_none() -> None:
    seen = sighting(canvas(width=3840, height=20))

    assert {_point(seen, Box(left=left, top=2, right=left + 1, bottom=12)) is None for left in range(100, 104)} == {
        True,
        False,
    }


def test_likeness_is_of_the_box_alone() -> None:
    face = marked(canvas(), 14, 12, 4, 6)
    elsewhere = marked(face, 45, 30, 8, 8)

    assert fingerprint(sighting(face), BOX) == fingerprint(sighting(elsewhere), BOX)
    assert fingerprint(sighting(face), BOX) != fingerprint(sighting(marked(face, 22, 12, 6, 6)), BOX)
    assert fingerprint(sighting(face), None) != fingerprint(sighting(elsewhere), None)
