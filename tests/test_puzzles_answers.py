"""What counts as an answer: regions, order, tolerances, ways through walls."""

from __future__ import annotations

import math
import re
from itertools import islice
from random import Random
from typing import Any

import pytest

from pipeline.puzzles.answers import (
    Arranged,
    Clicked,
    Dropped,
    Given,
    Ground,
    Joined,
    Pointed,
    Slid,
    Stepped,
    Tap,
    Tapped,
    Typed,
    Walked,
    around,
    reach_of,
    rectangle,
)
from pipeline.puzzles.catalog import TYPES
from pipeline.puzzles.kinds.slider_scales import SetValue
from pipeline.puzzles.puzzle import LEVELS, Key
from pipeline.puzzles.scene import HANDLE, WIDTH, Hand
from pipeline.puzzles.serving import puzzle_of
from pipeline.puzzles.wrong import wrong_plans

MARKS = {"a": around((50, 50), 20), "b": around((100, 50), 20), "c": around((150, 50), 20)}
WALL = rectangle(90, 0, 5, 40)
GROUND = Ground(MARKS, [WALL])
A, B, C, NOWHERE = (50, 50), (100, 50), (150, 50), (10, 10)


@pytest.mark.parametrize(
    ("answer", "right", "wrong"),
    [
        (Typed(accepted=["aB3", "ab3"]), {"text": " aB3 "}, {"text": "AB3"}),
        (Clicked(marks=["a", "b"]), {"clicks": [B, A]}, {"clicks": [A]}),
        (Clicked(marks=["a", "b"]), {"clicks": [A, B]}, {"clicks": [A, B, B]}),
        (Clicked(marks=["a", "b"]), {"clicks": [A, B]}, {"clicks": [A, B, NOWHERE]}),
        (Clicked(marks=["a", "b"], ordered=True), {"clicks": [A, B]}, {"clicks": [B, A]}),
        (Slid(shifts={"handle": 100}), {"shifts": {"handle": 105}}, {"shifts": {"handle": 105.1}}),
        (
            Slid(shifts={"handle": 100}),
            {"shifts": {"handle": 95}, "rises": {"handle": -4.9}},
            {"shifts": {"handle": 100}, "rises": {"handle": 5}},
        ),
        (
            Slid(shifts={"handle": 80, "handle_2": 90}),
            {"shifts": {"handle_2": 90, "handle": 80}},
            {"shifts": {"handle": 80}},
        ),
        (
            Slid(shifts={"handle": 100}, ranges={"handle": (98, 108)}),
            {"shifts": {"handle": 108}},
            {"shifts": {"handle": 97.9}},
        ),
        (Pointed(degrees=2, tolerance=3), {"degrees": 359}, {"degrees": 358.9}),
        (Pointed(degrees=2, tolerance=3), {"degrees": 5}, {}),
        (Stepped(presses=3, cycle=8), {"presses": 11}, {"presses": 4}),
        (Dropped(rests={"p": "a"}), {"rests": {"p": A}}, {"rests": {"p": B}}),
        (Dropped(rests={"p": "a"}), {"rests": {"p": A, "spare": NOWHERE}}, {"rests": {"p": A, "spare": B}}),
        (Dropped(rests={"p": "a"}), {"rests": {"p": A}}, {"rests": {"p": NOWHERE}}),
        (Arranged(order=["x", "y"]), {"order": ["x", "y"]}, {"order": ["y", "x"]}),
        (Joined(pairs=[("a", "b")]), {"lines": [(B, A)]}, {"lines": [(A, B), (A, B)]}),
        (Joined(pairs=[("a", "b")]), {"lines": [(A, B)]}, {"lines": [(A, C)]}),
        (Walked(way=[A, B], to="b"), {"paths": [[A, B]]}, {"paths": [[A, (50, 20), (100, 20), B]]}),
        (Walked(way=[A, B], to="b"), {"paths": [[A, (60, 50)], [(60, 50), B]]}, {"paths": [[A, (60, 50)], [C, B]]}),
        (Walked(way=[A, B], to="b"), {"paths": [[A, B]]}, {"paths": [[A, B], [B, C]]}),
        (Walked(way=[A, B], to="b"), {"paths": [[A, B]]}, {}),
        (Tapped(taps=["x"], held=0.5), {"taps": [Tap(name="x", held=0.5)]}, {"taps": [Tap(name="x", held=0.4)]}),
        (Tapped(taps=["x"]), {"taps": [Tap(name="x", held=0)]}, {"taps": []}),
    ],
)
def test_the_answer_is_told_from_what_is_near_it(answer: Any, right: dict[str, Any], wrong: dict[str, Any]) -> None:
    assert answer.fits(Given(**right), GROUND)
    assert not answer.fits(Given(**wrong), GROUND)


def test_a_shift_is_right_as_far_as_it_passes_and_within_a_twentieth() -> None:
    assert reach_of(100, lambda shift: 98 <= shift <= 103) == pytest.approx((98, 103), abs=0.02)
    assert reach_of(100, lambda _: True) == (95, 105)


@pytest.mark.parametrize("name", ["rot_level", "rot_two_rings", "sl_brightness", "sl_gap", "sl_select_frame"])
def test_wrong_shifts_are_tried_right_beside_what_is_taken_and_right_ones_up_to_it(name: str) -> None:
    near = 0
    for seed in range(10):
        scene = puzzle_of(Key(name, seed, LEVELS[seed % 3], "en")).scene
        answer = scene.answer
        assert isinstance(answer, Slid)
        for handle, end in [(one, end) for one in answer.shifts for end in answer.range_of(one)]:
            assert answer.fits(Given(shifts=answer.shifts | {handle: end}), GROUND)
        for acts in islice(wrong_plans(scene, Random(seed)), 20):
            shifts = {act.control: (act.to.across - 0.5) * HANDLE for act in acts if act.to}
            assert not answer.fits(Given(shifts=shifts), GROUND)
            moved = next(one for one in shifts if abs(shifts[one] - answer.shifts[one]) > 0.01)
            near += min(abs(shifts[moved] - end) for end in answer.range_of(moved)) < 6.1
    assert near > 40


def test_wrong_directions_are_tried_right_beside_what_is_taken() -> None:
    answer = Pointed(degrees=90, tolerance=2.5)
    scene = puzzle_of(Key("rot_clock", 1, 2, "en")).scene.model_copy(update={"answer": answer})
    offs = []
    for acts in islice(wrong_plans(scene, Random(1)), 40):
        assert acts[0].to is not None and isinstance(scene.control, Hand)
        (x, y), to = scene.control.pivot, acts[0].to
        degrees = math.degrees(math.atan2(to.across * WIDTH - x, y - to.down * scene.height))
        assert not answer.fits(Given(degrees=degrees), GROUND)
        offs.append(abs(degrees - 90))
    assert sum(off < 2.5 + 6.1 for off in offs) > 10


@pytest.mark.parametrize("name", sorted(TYPES))
def test_the_order_in_which_marks_stand_in_the_page_tells_nothing(name: str) -> None:
    places = []
    for seed in range(12):
        scene = puzzle_of(Key(name, seed, 3, "en")).scene
        drawn = re.findall(r'data-mark="(\w+)"', scene.art)
        if not isinstance(scene.answer, Clicked) or len(drawn) == len(scene.answer.marks):
            return
        places.append(tuple(sorted(drawn.index(mark) for mark in scene.answer.marks)))

    assert len(set(places)) > 1
    assert any(place != tuple(range(len(place))) for place in places)


def test_no_other_tick_of_a_scale_is_as_good_as_the_one_asked_for() -> None:
    for seed in range(40):
        puzzle = puzzle_of(Key(SetValue.name, seed, (1, 2, 3)[seed % 3], "en"))
        state: Any = puzzle.state
        reach = SetValue.reach
        ticks = range(state.low, state.high + 1, state.tick_every)
        shifts = {tick: (tick - state.low) * reach / (state.high - state.low) for tick in ticks}
        taken = [tick for tick, at in shifts.items() if puzzle.scene.answer.fits(Given(shifts={"handle": at}), GROUND)]

        assert taken == [state.asked]


def test_the_whole_marker_must_stay_out_of_the_walls_of_a_maze() -> None:
    scene = puzzle_of(Key("dr_maze", 5, 2, "en")).scene
    answer = scene.answer
    assert isinstance(answer, Walked)
    ground = Ground(scene.marks, scene.walls)

    def walked(aside: float) -> bool:
        way = [answer.way[0], *((x - aside, y - aside) for x, y in answer.way[1:])]
        return answer.fits(Given(paths=[way]), ground)

    assert walked(0) and walked(3)
    assert not walked(20)
