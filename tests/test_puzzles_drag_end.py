from __future__ import annotations

import re
from itertools import pairwise
from typing import Any

import pytest
from PIL import ImageFont

from pipeline.puzzles.answers import Arranged, Dropped, Given, Ground, Joined
from pipeline.puzzles.kinds import drag_end, drag_grids, drag_maze, drag_things, drag_tiles
from pipeline.puzzles.kinds.drag_end import Gap, Hole, Holes, ShapeSlot, Slot, Slots
from pipeline.puzzles.kinds.drag_grids import Axis, Coordinates, Grid, Lattice, Mirror
from pipeline.puzzles.kinds.drag_maze import Maze, Passages
from pipeline.puzzles.kinds.drag_things import Bin, Bins, Connect, End, Ends, Sorting, Thing
from pipeline.puzzles.kinds.drag_tiles import Cards, Cut, Holed, Jigsaw, Layout, Mixed, Sort, SwapTiles, fit
from pipeline.puzzles.puzzle import PuzzleType, make_puzzle
from pipeline.puzzles.scene import Items
from tests.puzzle_laws import broken_laws, levels_alike, puzzles

TYPES: tuple[PuzzleType[Any], ...] = (
    *drag_end.TYPES,
    *drag_grids.TYPES,
    *drag_maze.TYPES,
    *drag_things.TYPES,
    *drag_tiles.TYPES,
)


@pytest.mark.parametrize("puzzle_type", TYPES, ids=lambda one: one.name)
def test_every_type_keeps_the_laws(puzzle_type: PuzzleType[Any]) -> None:
    assert broken_laws(puzzle_type) == []


@pytest.mark.parametrize("puzzle_type", TYPES, ids=lambda one: one.name)
def test_every_level_of_a_type_is_another_one(puzzle_type: PuzzleType[Any]) -> None:
    assert levels_alike(puzzle_type) == []


@pytest.mark.parametrize("puzzle_type", TYPES, ids=lambda one: one.name)
def test_nothing_lies_where_it_belongs_at_the_beginning(puzzle_type: PuzzleType[Any]) -> None:
    for puzzle in puzzles(puzzle_type, seeds=3):
        scene, answer = puzzle.scene, puzzle.scene.answer
        if isinstance(scene.control, Items) and isinstance(answer, Dropped):
            ground = Ground(scene.marks)
            assert all(ground.at(scene.control.spots[item]) != name for item, name in answer.rests.items())
        if isinstance(scene.control, Items) and isinstance(answer, Arranged):
            assert list(scene.control.spots) != answer.order


@pytest.mark.parametrize(("puzzle_type", "size"), [(ShapeSlot(), (46, 46)), (Gap(), (42, 42)), (Jigsaw(), (72, 54))])
def test_what_is_dropped_at_the_edge_of_a_place_still_covers_most_of_it(
    puzzle_type: PuzzleType[Any], size: tuple[float, float]
) -> None:
    for puzzle in puzzles(puzzle_type, seeds=2):
        for left, top, right, bottom in (region.edges for region in puzzle.scene.marks.values()):
            assert (1 - (right - left) / 2 / size[0]) * (1 - (bottom - top) / 2 / size[1]) > 0.5


@pytest.mark.parametrize("puzzle_type", [Connect(), Bins(), Sort()], ids=lambda one: one.name)
def test_words_fit_on_their_cards_and_can_be_read(puzzle_type: PuzzleType[Any]) -> None:
    letters = ImageFont.truetype("DejaVuSans-Bold.ttf", 100)
    for puzzle in puzzles(puzzle_type, seeds=100):
        for size, text in re.findall(r'font-size="([\d.]+)"[^>]*>([^<]+)</text>', puzzle.scene.art):
            wide = float(re.findall(r'width="([\d.]+)" height="(?:38|80)"', puzzle.scene.art)[0])
            ems = sum(1.0 if one > "\u2e80" else letters.getlength(one) / 100 for one in text)
            assert ems * float(size) <= wide - 4, text
            assert float(size) >= 9.5


def slots(*outlines: tuple[str, int], form: str = "triangle") -> Slots:
    return Slots(
        variant=0,
        form=form,
        angle=0,
        start=(50.0, 180.0),
        slots=[
            Slot(mark=f"m{number}", spot=(40.0 + 60 * number, 60.0), form=kind, angle=angle)
            for number, (kind, angle) in enumerate(outlines)
        ],
        meant="m0",
    )


def test_a_form_fits_its_outline_only_as_it_lies() -> None:
    assert list(ShapeSlot().solve(slots(("triangle", 0), ("triangle", 90), ("heart", 0)))) == [
        Dropped(rests={"p0": "m0"})
    ]


def test_a_square_fits_its_outline_after_a_quarter_too() -> None:
    assert len(list(ShapeSlot().solve(slots(("square", 0), ("square", 90), form="square")))) == 2


def test_a_piece_fits_every_hole_of_its_outline() -> None:
    holes = [
        Hole(mark="m0", spot=(60.0, 60.0), tabs=(1, 0, -1, 0)),
        Hole(mark="m1", spot=(160.0, 60.0), tabs=(1, 0, -1, 1)),
        Hole(mark="m2", spot=(260.0, 60.0), tabs=(1, 0, -1, 0)),
    ]
    latent = Holes(variant=0, picture=0, tabs=(1, 0, -1, 0), start=(50.0, 214.0), holes=holes, meant="m0")

    assert list(Gap().solve(latent)) == [Dropped(rests={"p0": "m0"}), Dropped(rests={"p0": "m2"})]


def test_rows_may_be_counted_from_the_bottom() -> None:
    down = Grid(
        variant=0,
        letters="ABCD",
        rows=3,
        upward=False,
        cells=[f"m{number}" for number in range(12)],
        asked="B1",
        meant="m1",
        start=(50.0, 190.0),
    )

    assert list(Coordinates().solve(down)) == [Dropped(rests={"p0": "m1"})]
    assert list(Coordinates().solve(down.model_copy(update={"upward": True}))) == [Dropped(rests={"p0": "m9"})]


@pytest.mark.parametrize(
    ("axis", "at", "stands", "home"),
    [
        ("upright", 2.0, (1, 1), (3, 1)),
        ("upright", 1.5, (0, 4), (3, 4)),
        ("flat", 2.5, (2, 1), (2, 4)),
        ("falling", 1.0, (4, 1), (2, 3)),
        ("rising", 4.0, (0, 1), (3, 4)),
    ],
)
def test_a_marker_is_mirrored_at_lines_of_four_directions(
    axis: Axis, at: float, stands: tuple[int, int], home: tuple[int, int]
) -> None:
    places = [f"m{number}" for number in range(30)]
    latent = Lattice(variant=0, columns=6, rows=5, places=places, axis=axis, at=at, stands=stands, meant="")

    assert list(Mirror().solve(latent)) == [Dropped(rests={"p0": f"m{home[1] * 6 + home[0]}"})]


def test_a_marker_on_the_mirror_stays_and_is_no_puzzle() -> None:
    latent = Lattice(
        variant=0,
        columns=3,
        rows=3,
        places=[f"m{number}" for number in range(9)],
        axis="upright",
        at=1.0,
        stands=(1, 1),
        meant="m4",
    )

    assert list(Mirror().solve(latent)) == []


def test_two_boxes_for_one_group_leave_two_answers_and_none_leaves_a_thing_alone() -> None:
    things = [Thing(part="p0", icon="cat", spot=(50.0, 50.0)), Thing(part="p1", icon="hammer", spot=(150.0, 50.0))]
    animals = Bin(mark="m0", group="animal")
    latent = Sorting(variant=0, things=things, bins=[animals], meant={})
    doubled = latent.model_copy(update={"bins": [animals, Bin(mark="m1", group="animal")]})

    assert list(Bins().solve(latent)) == [Dropped(rests={"p0": "m0"})]
    assert len(list(Bins().solve(doubled))) == 2


def test_cards_are_joined_by_what_they_mean() -> None:
    left = [End(mark="m0", look="letter", value="A"), End(mark="m1", look="numeral", value="3")]
    right = [End(mark="m2", look="dots", value="3"), End(mark="m3", look="letter", value="a")]
    latent = Ends(variant=0, left=left, right=right, meant=[])
    doubled = latent.model_copy(update={"right": [*right, End(mark="m4", look="dots", value="3")]})

    assert list(Connect().solve(latent)) == [Joined(pairs=[("m0", "m3"), ("m1", "m2")])]
    assert len(list(Connect().solve(doubled))) == 2


def test_a_maze_with_a_circle_has_two_ways_and_one_without_walls_in_between_is_none() -> None:
    cells = [(0, 0), (1, 0), (2, 0), (2, 1), (1, 1), (0, 1)]
    circle = list(pairwise([*cells, cells[0]]))
    maze = Passages(variant=0, columns=3, rows=2, joined=circle, start=(0, 0), goal=(2, 1), meant=[(0, 0)])

    assert len(list(Maze().solve(maze))) == 2
    assert len(list(Maze().solve(maze.model_copy(update={"joined": circle[:-1]})))) == 1
    assert list(Maze().solve(maze.model_copy(update={"goal": (1, 0)}))) == []


def test_the_way_through_a_maze_keeps_out_of_its_walls_and_a_straight_line_does_not() -> None:
    for puzzle in puzzles(Maze(), seeds=2):
        scene, answer = puzzle.scene, puzzle.scene.answer
        assert answer.kind == "walked"
        ground = Ground(scene.marks, scene.walls)
        legs = [list(leg) for leg in zip(answer.way, answer.way[1:], strict=False)]
        assert answer.fits(Given(paths=legs), ground)
        assert not answer.fits(Given(paths=[[answer.way[0], answer.way[-1]]]), ground)


def test_tiles_fit_in_their_own_places_only() -> None:
    layout = Layout(3, 2, 300.0, 198.0)
    home = [layout.corner(place) for place in range(layout.places)]

    assert fit(1, layout, home)
    assert not fit(1, layout, [home[4], *home[1:4], home[0], home[5]])


def test_tiles_that_look_alike_may_change_places_without_anything_to_restore() -> None:
    layout, shown = Layout(3, 3, 300.0, 198.0), [2, 1, 0, *range(3, 9)]
    alike = next(number for number in range(300) if fit(number, layout, [layout.corner(place) for place in shown]))
    latent = Mixed(variant=0, picture=alike, shown=shown, items=[f"p{number}" for number in range(9)], meant=[])

    assert list(SwapTiles().solve(latent)) == []


def test_a_tile_of_the_same_look_could_be_put_into_the_same_hole() -> None:
    puzzle = make_puzzle(Jigsaw(), 1, 1, "en")
    state = puzzle.state
    assert isinstance(state, Holed)
    home = next(cut.corner for cut in state.tray if cut.part in state.meant)
    twice = state.model_copy(update={"tray": [*state.tray, Cut(part="p9", corner=home)]})

    assert len(list(Jigsaw().solve(twice))) == 2


def test_cards_ascend_by_value_and_equal_ones_leave_two_orders() -> None:
    latent = Cards(variant=0, cards={"p0": "4.35", "p1": "4.4", "p2": "-12"}, dotted=False, meant=[])
    equal = latent.model_copy(update={"cards": {"p0": "9", "p1": "4", "p2": "9"}})

    assert list(Sort().solve(latent)) == [Arranged(order=["p2", "p0", "p1"])]
    assert len(list(Sort().solve(equal))) == 2
