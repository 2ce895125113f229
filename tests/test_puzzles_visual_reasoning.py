from __future__ import annotations

from random import Random
from typing import Any

import pytest

from pipeline.puzzles.answers import Answer, Clicked, Typed
from pipeline.puzzles.kinds import visual_reasoning
from pipeline.puzzles.kinds.isometric import Vector, moved, parts_seen, seen_at, shape, turns
from pipeline.puzzles.kinds.reasoning_counts import Dart, Disc, holes
from pipeline.puzzles.kinds.reasoning_cubes import DiceRoll, Die, Net, NetFold, Rolls, folded
from pipeline.puzzles.kinds.reasoning_light import Area, Brightness, Lit, Patch, Patches, Shadow, Shadows
from pipeline.puzzles.kinds.reasoning_numbers import Bush, Covered, OccludedCount, Thing
from pipeline.puzzles.kinds.reasoning_patterns import NextInRow, Pieces, Polyomino, Row, continued
from pipeline.puzzles.kinds.reasoning_scenes import Layer, Pile, RoadPath, Roads, Sheet
from pipeline.puzzles.puzzle import LEVELS, Level, PuzzleType, make_puzzle
from tests.puzzle_laws import broken_laws

SCREW: list[Vector] = [(0, 0, 0), (1, 0, 0), (1, 1, 0), (1, 1, 1)]


def said(answers: list[Answer]) -> list[str]:
    """The one mark, or the text, of each answer."""
    return [
        one.marks[0] if isinstance(one, Clicked) else one.accepted[0]
        for one in answers
        if isinstance(one, Clicked | Typed)
    ]


@pytest.mark.parametrize("puzzle_type", visual_reasoning.TYPES, ids=lambda one: one.name)
def test_a_type_keeps_all_laws(puzzle_type: PuzzleType[Any]) -> None:
    assert broken_laws(puzzle_type) == []


@pytest.mark.parametrize(("across", "points"), [(0, 10), (13, 10), (15, 5), (30, 2), (45, 0)])
def test_a_dart_counts_what_its_ring_counts(across: float, points: int) -> None:
    assert Dart(across=across, down=0).points == points


def test_a_bite_is_no_hole() -> None:
    assert holes([Disc(across=0, down=0, radius=6), Disc(across=38, down=0, radius=6)]) == [1]


def test_holes_that_touch_may_be_one_or_two() -> None:
    assert holes([Disc(across=-5, down=0, radius=5), Disc(across=5, down=0, radius=5)]) == [2, 1]


def test_what_is_hardly_seen_may_be_counted_or_not() -> None:
    things = [Thing(icon="cat", spot=(60.0 + 80 * place, 100)) for place in range(3)]
    half = Covered(variant=0, things=things, bushes=[Bush(spot=(60, 100), radius=20)], asked="cat")
    clear = half.model_copy(update={"bushes": [Bush(spot=(60, 75), radius=14)]})
    assert said(list(OccludedCount().solve(half))) == ["2", "3"]
    assert said(list(OccludedCount().solve(clear))) == ["3"]


def pile(*places: float) -> Pile:
    """Squares from the back to the front, so far to the right, m0 to mN."""
    sheets = [Sheet(form="square", colour=place, spot=(x, 95), size=80, angle=0) for place, x in enumerate(places)]
    names = [f"m{place}" for place in range(len(places))]
    return Pile(variant=0, marks=names, meant="m0", sheets=sheets, shown=list(range(len(places))), asked="back")


def test_the_sheet_at_the_back_lies_on_no_other() -> None:
    assert said(list(Layer().solve(pile(100, 140, 180)))) == ["m0"]


def test_of_two_sheets_that_do_not_touch_either_may_be_at_the_back() -> None:
    assert said(list(Layer().solve(pile(60, 240)))) == ["m0", "m1"]


def test_where_a_sheet_is_hardly_seen_nobody_can_say_which_is_at_the_back() -> None:
    assert said(list(Layer().solve(pile(100, 110, 180)))) == ["m0", "m1", "m2"]


def test_a_road_goes_through_every_crossing_on_its_way() -> None:
    state = Roads(
        variant=0,
        marks=["m0", "m1", "m2"],
        meant="m2",
        crossings=[[0], [1]],
        starts=["car", "bus", "truck"],
        ends=["house", "castle", "pagoda"],
        asked=0,
    )
    assert said(list(RoadPath().solve(state))) == ["m2"]


def test_a_shadow_falls_away_from_the_sun_and_is_as_long_as_the_light_makes_it() -> None:
    pictures = [Lit(sun=(50, 80), top=30, shadow=shadow) for shadow in (30, -30, -12, -66)]
    state = Shadows(variant=0, marks=["m0", "m1", "m2", "m3"], meant="m1", pictures=pictures)
    assert said(list(Shadow().solve(state))) == ["m1"]


def test_patches_as_bright_as_each_other_may_come_in_either_order() -> None:
    patches = [Patch(mark=f"m{place}", spot=(50, 50), light=light) for place, light in enumerate((20, 31, 60))]
    state = Patches(variant=0, patches=patches, hue=0, rising=True, meant=[])
    assert said(list(Brightness().solve(state))) == ["m0", "m1"]


def test_four_rolls_in_one_direction_bring_a_die_back() -> None:
    die = Die(top=1, front=2, right=3)
    assert die.rolled("right").rolled("right").rolled("right").rolled("right") == die
    assert die.rolled("right").top == 4
    assert die.rolled("near").top == 5


def test_the_face_on_top_is_found_by_rolling_back() -> None:
    state = Rolls(
        variant=0,
        marks=[f"m{face}" for face in range(1, 7)],
        meant="m4",
        die=(1, 2, 3),
        rolls=["right"],
        faces=[1, 2, 3, 4, 5, 6],
    )
    assert said(list(DiceRoll().solve(state))) == ["m4"]


CROSS = [(1, 0), (0, 1), (1, 1), (2, 1), (3, 1), (1, 2)]


def test_a_folded_net_covers_all_sides() -> None:
    assert len(set(folded(CROSS))) == 6


def test_a_net_makes_a_cube_but_not_its_mirrors_image_nor_one_with_opposite_squares_side_by_side() -> None:
    # In the cross, 0 is above 2, and 3 is to the right of 2; 1 is opposite to 3.
    cubes = [(0, 2, 3), (2, 0, 3), (1, 2, 3)]
    state = Net(variant=0, marks=["m0", "m1", "m2"], meant="m0", cells=CROSS, pictures=[0, 1, 2, 3, 4, 5], cubes=cubes)
    assert said(list(NetFold().solve(state))) == ["m0"]


def test_a_solid_keeps_its_shape_when_it_is_turned_and_its_mirrors_image_has_another() -> None:
    assert len(set(turns())) == 24
    assert {shape(moved(SCREW, turn)) for turn in turns()} == {shape(SCREW)}
    assert shape([(-x, y, z) for x, y, z in SCREW]) != shape(SCREW)


def test_x_goes_right_and_near_z_left_and_near_and_y_up() -> None:
    (x, x_down), (z, z_down), up = seen_at((1, 0, 0)), seen_at((0, 0, 1)), seen_at((0, 1, 0))
    assert x > 0 > z and x_down == z_down == 0.5
    assert up == (0, -1)


def test_a_cube_behind_another_is_not_seen() -> None:
    assert parts_seen([(0, 0, 0), (1, 1, 1)]) == {(0, 0, 0): 0, (1, 1, 1): 6}


@pytest.mark.parametrize(("turn", "answers"), [(True, ["m0", "m1"]), (False, ["m0"])])
def test_a_turned_piece_fits_only_where_pieces_may_be_turned(turn: bool, answers: list[str]) -> None:
    filled = [(x, y) for x in range(4) for y in range(4) if (x, y) not in [(0, 0), (1, 0), (2, 0)]]
    pieces = [[(0, 0), (1, 0), (2, 0)], [(0, 0), (0, 1), (0, 2)], [(0, 0), (1, 0), (1, 1)]]
    state = Pieces(variant=0, marks=["m0", "m1", "m2"], meant="m0", side=4, filled=filled, pieces=pieces, turns=turn)
    assert said(list(Polyomino().solve(state))) == answers


@pytest.mark.parametrize(
    ("values", "following"),
    [
        ([1, 2, 3, 4, 5], {6}),
        (["a", "b", "a", "b", "a"], {"b"}),
        (["a", "b", "c", "a", "b"], {"c"}),
        ([2, 2, 2, 2, 2], {2}),
        ([1, 2, 1], {2, 1}),
        ([1, 5, 2, 2, 4], set()),
    ],
)
def test_what_comes_next_is_found_by_every_rule(values: list[str | int], following: set[str | int]) -> None:
    assert continued(values) == following


@pytest.mark.parametrize("level", LEVELS)
def test_what_most_tiles_have_in_common_does_not_tell_what_comes_next(level: Level) -> None:
    for seed in range(60):
        state = make_puzzle(NextInRow(), seed, level, "en").state
        assert isinstance(state, Row)
        looks = [(one.form, one.count, one.turn % 360, one.colour) for one in state.options]
        shared = [sum(a == b for other in looks for a, b in zip(one, other, strict=True)) for one in looks]

        assert len(set(looks)) == 4
        assert len(set(shared)) == 1


def test_levels_of_lakes_and_rows_differ() -> None:
    lakes = {level: len(Area().draw(Random(1), level, "en").lakes) for level in LEVELS}
    changing = {
        level: max(_changing(NextInRow().draw(Random(seed), level, "en")) for seed in range(20)) for level in LEVELS
    }

    assert lakes == {1: 4, 2: 6, 3: 9}
    assert changing == {1: 1, 2: 2, 3: 3}


def _changing(row: Row) -> int:
    """How many of form, number, turn and colour change in a row."""
    return sum(len(set(looks)) > 1 for looks in zip(*(term.looks for term in row.shown), strict=True))


def test_things_that_are_several_are_not_counted() -> None:
    states = [make_puzzle(OccludedCount(), seed, 3, "zh").state for seed in range(150)]
    asked = {state.asked for state in states if isinstance(state, Covered)}

    assert not asked & {"cherry", "grapes"}
