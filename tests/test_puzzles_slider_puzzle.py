from __future__ import annotations

from typing import Any

import pytest

from pipeline.puzzles.answers import SHIFT_ERROR, Given, Ground, Slid
from pipeline.puzzles.kinds import slider_joining, slider_puzzle, slider_scales
from pipeline.puzzles.kinds.slider_joining import AlignHalves, Halves, Lock, Thing, Unlock
from pipeline.puzzles.kinds.slider_puzzle import REACH, Bumps, Gap, GapDecoy, Gaps, GapTwoAxis, Hole, straight, value
from pipeline.puzzles.kinds.slider_scales import Film, Match, SelectFrame, SetValue, contrast, lit, turned_hue
from pipeline.puzzles.puzzle import Puzzle, PuzzleType, State
from pipeline.puzzles.scene import Sliders
from tests.puzzle_laws import broken_laws, levels_alike, puzzles

TYPES = (*slider_puzzle.TYPES, *slider_joining.TYPES, *slider_scales.TYPES)
KNOB: Bumps = (1, 0, 0, 0)
NOTCH: Bumps = (-1, 0, 0, 0)


def gaps(*holes: tuple[float, float, Bumps]) -> Gaps:
    return Gaps(
        variant=0,
        start=(32.0, 90.0),
        bumps=KNOB,
        across=straight(1.0),
        holes=[Hole(spot=(x, y), bumps=bumps) for x, y, bumps in holes],
        meant=[1],
    )


def halves(uppers: str, lowers: str) -> Halves:
    """Things named by letters, 40 units apart; the lower ones begin 100 units to the left."""
    return Halves(
        variant=0,
        uppers=[Thing(name=name, x=60.0 + 40 * place, paint=0) for place, name in enumerate(uppers)],
        lowers=[Thing(name=name, x=-40.0 + 40 * place, paint=0) for place, name in enumerate(lowers)],
        curve=straight(1.0),
        meant=100,
    )


def found(puzzle_type: PuzzleType[Any], state: State) -> list[list[float]]:
    return [list(answer.shifts.values()) for answer in puzzle_type.solve(state) if isinstance(answer, Slid)]


def ends(puzzle: Puzzle) -> list[float]:
    """The shortest and the longest shift of the only handle that are right."""
    answer = puzzle.scene.answer
    assert isinstance(answer, Slid)
    return list(answer.range_of("handle"))


def moved(puzzle: Puzzle, off: float) -> list[float]:
    """How far the parts are from where they should be when each handle misses by a part of its length."""
    answer, control = puzzle.scene.answer, puzzle.scene.control
    assert isinstance(answer, Slid) and isinstance(control, Sliders)
    return [
        abs(motion.value(answer.shifts[handle.name] * (1 + off)) - motion.value(answer.shifts[handle.name]))
        for handle in control.handles
        for motion in handle.motions
    ]


@pytest.mark.parametrize("puzzle_type", TYPES, ids=lambda one: one.name)
def test_every_type_keeps_the_laws(puzzle_type: PuzzleType[Any]) -> None:
    assert broken_laws(puzzle_type) == []


@pytest.mark.parametrize("puzzle_type", TYPES, ids=lambda one: one.name)
def test_every_level_of_a_type_is_another_one(puzzle_type: PuzzleType[Any]) -> None:
    assert levels_alike(puzzle_type) == []


@pytest.mark.parametrize("puzzle_type", slider_puzzle.TYPES, ids=lambda one: one.name)
def test_a_piece_that_is_refused_is_seen_to_miss_its_hole(puzzle_type: PuzzleType[Any]) -> None:
    for puzzle in puzzles(puzzle_type):
        assert min(moved(puzzle, -SHIFT_ERROR) + moved(puzzle, SHIFT_ERROR)) > 1.5


def test_a_second_hole_of_the_form_in_the_row_is_a_second_answer() -> None:
    assert found(Gap(), gaps((132, 90, KNOB))) == [[100.0]]
    assert found(GapDecoy(), gaps((132, 90, KNOB), (232, 94, KNOB))) == [[100.0], [200.0]]


def test_holes_of_another_form_or_height_are_none() -> None:
    assert found(GapDecoy(), gaps((132, 90, KNOB), (232, 90, NOTCH), (182, 112, KNOB))) == [[100.0]]


def test_holes_do_not_touch_each_other_and_others_differ_from_the_true_one() -> None:
    for puzzle in puzzles(GapDecoy()):
        assert isinstance(puzzle.state, Gaps)
        true, *others = puzzle.state.holes
        assert others
        assert all(one.bumps != true.bumps or abs(one.spot[1] - true.spot[1]) >= 20 for one in others)


def test_two_handles_bring_the_piece_across_and_down() -> None:
    state = gaps((132, 140, KNOB)).model_copy(update={"down": straight(0.5)})

    assert found(GapTwoAxis(), state) == [[100.0, 100.0]]


def test_halves_join_where_every_thing_is_whole() -> None:
    assert found(AlignHalves(), halves("ab", "ab")) == [[100.0]]
    assert found(AlignHalves(), halves("ab", "aab")) == [[60.0]]
    assert found(AlignHalves(), halves("a", "aa")) == [[60.0], [100.0]]


def test_the_key_is_in_the_lock_at_the_end_of_the_track_alone() -> None:
    assert found(Unlock(), Lock(variant=0, gates=[150.0], lock=250.0, key=70.0)) == [[float(Unlock.reach)]]


def test_values_are_set_between_labels_where_it_is_hard() -> None:
    for puzzle in puzzles(SetValue()):
        state: Any = puzzle.state
        assert (state.asked - state.low) % state.tick_every == 0
        assert (puzzle.key.level == 1) == ((state.asked - state.low) % state.label_every == 0)


def test_colours_change_as_the_filters_of_a_browser_change_them() -> None:
    assert lit((100, 50, 200), 1.5) == (150.0, 75.0, 255.0)
    assert [round(channel) for channel in turned_hue((100, 100, 100), 90)] == [100, 100, 100]
    assert [round(channel) for channel in turned_hue((190, 60, 90), 360)] == [190, 60, 90]


def test_a_form_that_is_refused_is_seen_on_its_ground() -> None:
    for puzzle in puzzles(Match()):
        state: Any = puzzle.state
        change = lit if state.how == "light" else turned_hue
        right, wrong = (change(state.colours[0], value(state.curve, state.meant * off)) for off in (1, 1 - SHIFT_ERROR))
        assert max(abs(one - other) for one, other in zip(right, wrong, strict=True)) > 4


def test_a_form_that_is_taken_is_not_seen_on_its_ground() -> None:
    for puzzle in puzzles(Match()):
        state: Any = puzzle.state
        for end in ends(puzzle):
            assert contrast(state, end) < 4.1


@pytest.mark.parametrize("puzzle_type", [*slider_puzzle.TYPES, AlignHalves()], ids=lambda one: one.name)
def test_a_piece_that_is_taken_is_hardly_beside_its_place(puzzle_type: PuzzleType[Any]) -> None:
    for puzzle in puzzles(puzzle_type):
        control, answer = puzzle.scene.control, puzzle.scene.answer
        assert isinstance(control, Sliders) and isinstance(answer, Slid)
        for handle in control.handles:
            low, high = map(handle.motions[0].value, answer.range_of(handle.name))
            assert high - low < 6.1


def test_only_the_end_of_the_track_unlocks() -> None:
    for puzzle in puzzles(Unlock()):
        assert ends(puzzle) == [277.5, 280.0]


def test_a_value_that_is_taken_is_an_eighth_of_a_tick_off_at_most() -> None:
    for puzzle in puzzles(SetValue()):
        state: Any = puzzle.state
        shown = [state.low + (state.high - state.low) * end / SetValue.reach for end in ends(puzzle)]
        assert max(abs(one - state.asked) for one in shown) < state.tick_every / 7.9


def film(frames: list[str], ends: list[float]) -> Film:
    return Film(variant=0, frames=frames, paints=[0] * len(frames), ends=ends, asked="cat", meant=1)


def test_an_object_that_is_shown_twice_has_two_answers() -> None:
    assert found(SelectFrame(), film(["owl", "cat", "pig"], [95.0, 105.1])) == [[100.0]]
    assert len(found(SelectFrame(), film(["owl", "cat", "pig", "cat"], [95.0, 105.1, 150.0]))) == 2


def test_a_shift_is_right_whenever_the_window_shows_the_object() -> None:
    for puzzle in puzzles(SelectFrame()):
        state, control, answer = puzzle.state, puzzle.scene.control, puzzle.scene.answer
        assert isinstance(state, Film) and isinstance(control, Sliders)
        window = control.handles[0].motions[0]
        for shift in (tenth / 10 for tenth in range(2801)):
            shows = state.frames[round(window.value(shift))] == state.asked
            assert answer.fits(Given(shifts={"handle": shift}), Ground({})) == shows


def test_curves_end_within_the_reach_of_their_handles() -> None:
    assert value(straight(0.9), REACH + 50) == value(straight(0.9), REACH) == 243.0
