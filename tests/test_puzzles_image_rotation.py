from __future__ import annotations

import re
from itertools import pairwise
from typing import Any

import pytest

from pipeline.puzzles.answers import Pointed, Slid, Stepped
from pipeline.puzzles.kinds import image_rotation, rotation_dials, rotation_steps
from pipeline.puzzles.kinds.image_rotation import Ring, TurnedPicture, TwoRings, Upright, seam
from pipeline.puzzles.kinds.rotation_dials import Arrow, Arrows, Clock, Levelled, Pointing, Tilt, Time
from pipeline.puzzles.kinds.rotation_steps import Blocks, Step
from pipeline.puzzles.kinds.turning import MIDDLE, REACH, best_of_runs, turned, value
from pipeline.puzzles.pictures import painted, unlike
from pipeline.puzzles.puzzle import Puzzle, PuzzleType, make_puzzle
from pipeline.puzzles.scene import Handle, Sliders
from tests.puzzle_laws import broken_laws, levels_alike, puzzles

TYPES: tuple[PuzzleType[Any], ...] = (*image_rotation.TYPES, *rotation_dials.TYPES, *rotation_steps.TYPES)


@pytest.mark.parametrize("puzzle_type", TYPES, ids=lambda one: one.name)
def test_every_type_keeps_the_laws(puzzle_type: PuzzleType[Any]) -> None:
    assert broken_laws(puzzle_type) == []


@pytest.mark.parametrize("puzzle_type", TYPES, ids=lambda one: one.name)
def test_every_level_of_a_type_is_another_one(puzzle_type: PuzzleType[Any]) -> None:
    assert levels_alike(puzzle_type) == []


def test_shifts_that_fit_in_two_places_are_two_answers() -> None:
    assert list(best_of_runs([9, 3, 1, 3, 9, 9, 4, 2], limit=5)) == [2, 7]


def test_a_shift_that_passes_far_from_the_best_one_is_an_answer_too() -> None:
    misfits = [9.0] * 90 + [4.0] * 10 + [1.0] + [9.0] * 50

    assert list(best_of_runs(misfits, limit=5, within=0.2)) == [100]
    assert list(best_of_runs(misfits, limit=5, within=0.05)) == [100, 90]


def test_a_picture_that_comes_upright_twice_has_two_answers() -> None:
    latent = TurnedPicture(variant=0, picture=4, curves=[[(0.0, -300.0), (REACH, 480.0)]], meant=[100])

    assert list(Upright().solve(latent)) == [
        turned((latent.curves[0], 100)),
        turned((latent.curves[0], 220)),
    ]


def test_a_seam_fits_where_nothing_is_turned_and_nowhere_else() -> None:
    found = seam(4, 58.0)

    assert found.misfits([0.0, 360.0, -720.0]) == [0.0, 0.0, 0.0]
    assert min(found.misfits(range(5, 356))) > 0.1


@pytest.mark.parametrize("puzzle_type", [Ring(), TwoRings()], ids=lambda one: one.name)
def test_just_beyond_the_tolerance_a_fifth_of_the_seam_is_broken(puzzle_type: Ring | TwoRings) -> None:
    for puzzle in puzzles(puzzle_type, seeds=3):
        state = puzzle.state
        assert isinstance(state, TurnedPicture)
        for curve, meant, radius in zip(state.curves, state.meant, puzzle_type.seams, strict=True):
            beyond = [value(curve, meant * factor) for factor in (0.93, 1.07)]
            assert min(seam(state.picture, radius).misfits(beyond)) > 0.2


def test_rings_of_which_one_never_fits_have_no_answer() -> None:
    state = make_puzzle(TwoRings(), 3, 2, "en").state
    assert isinstance(state, TurnedPicture)
    ring, disc = state.curves
    never = [(0.0, 100.0), (float(REACH), 140.0)]

    assert list(TwoRings().solve(state.model_copy(update={"curves": [never, disc]}))) == []
    assert list(TwoRings().solve(state.model_copy(update={"curves": [ring, never]}))) == []


def test_an_arrow_of_the_same_colour_too_many_leaves_two_answers() -> None:
    small = [Pointing(colour="#dc2626", degrees=90.0), Pointing(colour="#2563eb", degrees=200.0)]
    latent = Arrows(variant=0, colour="#dc2626", small=small, curve=[(0.0, 0.0), (REACH, 260.0)], meant=90)
    doubled = latent.model_copy(update={"small": [*small, Pointing(colour="#dc2626", degrees=200.0)]})

    assert list(Arrow().solve(latent)) == [turned((latent.curve, 90))]
    assert len(list(Arrow().solve(doubled))) == 2


def test_a_bar_that_is_level_twice_has_two_answers() -> None:
    latent = Tilt(variant=0, curve=[(0.0, -20.0), (100.0, 5.0), (200.0, -5.0)], meant=80)

    assert len(list(Levelled().solve(latent))) == 2


def test_the_ball_rolls_off_before_a_twentieth_of_the_way_is_missed() -> None:
    for puzzle in puzzles(Levelled()):
        control, meant = puzzle.scene.control, puzzle.state.meant  # type: ignore[attr-defined]
        assert isinstance(control, Sliders)
        ball = next(motion for motion in control.handles[0].motions if motion.how == "across")
        assert ball.value(meant) == pytest.approx(0.0)
        assert min(abs(ball.value(meant * factor)) for factor in (0.95, 1.05)) > 12


def ends(puzzle: Puzzle) -> list[tuple[Handle, float, float]]:
    """For each handle, the shift that was meant, and the shortest and the longest that is right."""
    answer, control = puzzle.scene.answer, puzzle.scene.control
    assert isinstance(answer, Slid) and isinstance(control, Sliders)
    return [(one, answer.shifts[one.name], end) for one in control.handles for end in answer.range_of(one.name)]


@pytest.mark.parametrize("puzzle_type", [Upright(), Ring(), TwoRings(), Arrow()], ids=lambda one: one.name)
def test_nothing_that_is_taken_is_seen_to_be_turned_too_far(puzzle_type: PuzzleType[Any]) -> None:
    for puzzle in puzzles(puzzle_type):
        for handle, meant, end in ends(puzzle):
            turn = handle.motions[0]
            assert abs(turn.value(end) - turn.value(meant)) < 5.1


def test_a_ball_that_is_taken_is_wholly_between_its_pegs() -> None:
    for puzzle in puzzles(Levelled()):
        left, right = map(float, re.findall(r"M([\d.]+) [\d.]+v-9", puzzle.scene.art))
        radius = max(map(float, re.findall(r'<circle [^>]*r="([\d.]+)"', puzzle.scene.art)))
        for handle, _, end in ends(puzzle):
            ball = MIDDLE[0] + next(one for one in handle.motions if one.how == "across").value(end)
            assert left < ball - radius and ball + radius < right


def test_a_hand_that_is_taken_is_nearer_to_its_minute_than_to_any_other() -> None:
    for puzzle in puzzles(Clock()):
        answer, state = puzzle.scene.answer, puzzle.state
        assert isinstance(answer, Pointed) and isinstance(state, Time)
        for off in (-answer.tolerance, answer.tolerance):
            assert round((state.meant + off) / 6) % 60 == state.minute


def test_a_clock_whose_hour_hand_stands_elsewhere_shows_the_time_nowhere() -> None:
    right = Time(
        variant=0, hour=12, minute=30, meant=180.0, start=0.0, short=15.0, numerals=True, late=False, tolerance=4.0
    )

    assert list(Clock().solve(right)) == [Pointed(degrees=180.0, tolerance=4.0)]
    assert list(Clock().solve(right.model_copy(update={"short": 45.0}))) == []


def test_a_shape_that_looks_the_same_upside_down_has_two_answers() -> None:
    line = Blocks(variant=0, cycle=8, start=0.0, target=90.0, meant=2, cells=((0, 0), (1, 0), (2, 0)), marked=1)

    assert list(Step().solve(line)) == [Stepped(presses=2, cycle=8), Stepped(presses=6, cycle=8)]
    assert list(Step().solve(line.model_copy(update={"marked": 0}))) == [Stepped(presses=2, cycle=8)]


def test_patches_of_a_picture_that_lie_on_each_other_are_told_apart() -> None:
    for number in range(30):
        colours = [patch.colour for patch in painted(number, 184.0, 184.0).patches[1:6]]
        assert all(unlike(one, other) for one, other in pairwise(colours))
