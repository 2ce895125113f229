"""Moving over a screen's content, and finding on a phone what its tree does not hold yet."""

from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.actions import Action, Click, Hover, Point, Scroll, Swipe, Wait
from pipeline.envs.fake_picture import draw
from pipeline.policies.mistakes import slip
from pipeline.policies.paging import DIRECTIONS, Direction, direction_of, page
from pipeline.policies.script import Missing, Move, Planned, Script
from pipeline.policies.wording import thought
from pipeline.protocols import Observation, Turn
from pipeline.records import tree_of
from pipeline.structs import Box, Node
from pipeline.tasks import ProcedureStep

WIDTH, HEIGHT, ROW = 400, 800, 200
points = st.builds(Point, x=st.integers(0, 999), y=st.integers(0, 999))


@given(points, st.sampled_from(DIRECTIONS))
def test_a_finger_stays_on_the_screen_and_shows_what_was_asked_for(point: Point, direction: Direction) -> None:
    stroke = page("mobile", point, direction)

    assert isinstance(stroke, Swipe)
    assert direction_of(stroke) == direction
    assert abs(stroke.end.x - stroke.start.x) + abs(stroke.end.y - stroke.start.y) == 500


@given(points, st.sampled_from(DIRECTIONS))
def test_a_wheel_turns_where_it_is(point: Point, direction: Direction) -> None:
    assert page("web", point, direction) == Scroll(point=point, direction=direction)


def test_other_actions_page_nowhere() -> None:
    assert direction_of(Wait()) is None


@pytest.mark.parametrize(("language", "words"), [("en", "Scroll down to "), ("zh", "向下滚动，")])
def test_a_stroke_is_told_by_what_it_shows(language: str, words: str) -> None:
    assert thought(language, page("mobile", Point(x=500, y=500), "down")).startswith(words)


class Phone:
    """A list of rows, four of which show; strokes move it by two."""

    def __init__(self, rows: int) -> None:
        self._rows, self._top = rows, 0

    def look(self) -> Observation:
        """What shows, and nothing else."""
        nodes = [
            Node(
                role="button",
                name=f"Row {number}",
                value="",
                box=Box(left=0, top=ROW * place, right=WIDTH, bottom=ROW * (place + 1)),
                states=[],
            )
            for place, number in enumerate(range(self._rows)[self._top : self._top + 4])
        ]
        frame = draw(nodes, WIDTH, HEIGHT)
        return Observation(frame=frame, tree=tree_of(nodes), location="list", title="", seconds=0.0)

    def act(self, action: Action) -> None:
        """Move the list, as far as it goes."""
        by = {"down": 2, "up": -2}.get(direction_of(action) or "", 0)
        self._top = max(0, min(self._top + by, self._rows - 4))


def sought(name: str, phone: Phone, *first: ProcedureStep) -> tuple[list[Action], Move | Missing]:
    """What is done before the row is clicked or given up, and how it ends."""
    script = Script(
        [*map(Planned, first), Planned(ProcedureStep(action="Click", role="button", name=name))], "en", "mobile"
    )
    done: list[Action] = []
    while True:
        move = script.propose(Turn(len(done), phone.look(), None, None))
        if isinstance(move, Missing) or isinstance(move.action, Click):
            return done, move
        script.take(move)
        phone.act(move.action)
        done.append(move.action)


def paged(done: list[Action]) -> list[Direction]:
    """The directions, in order."""
    return [found for action in done if (found := direction_of(action))]


def test_what_does_not_show_yet_is_paged_to() -> None:
    done, end = sought("Row 7", Phone(10))

    assert isinstance(end, Move)
    assert paged(done) == ["down", "down"]


def test_what_was_paged_past_is_found_on_the_way_back() -> None:
    bottom = [ProcedureStep(action="Scroll", content="down")] * 2

    done, end = sought("Row 0", Phone(10), *bottom)

    assert isinstance(end, Move)
    assert paged(done)[:2] == ["down", "down"] and paged(done)[-1] == "up"


@pytest.mark.parametrize("rows", [4, 10])
def test_what_is_nowhere_is_given_up_after_both_ends(rows: int) -> None:
    done, end = sought("Row 99", Phone(rows))

    assert isinstance(end, Missing) and "Row 99" in end.detail
    directions = paged(done)
    assert directions == sorted(directions) and {"down", "up"} <= set(directions)


def test_a_finger_never_hovers() -> None:
    move = sought("Row 0", Phone(4))[1]
    assert isinstance(move, Move)
    slips = [slip(random.Random(seed), 1.0, move, Phone(4).look(), "en", "mobile") for seed in range(200)]

    actions = [found.action for found in slips if found is not None]
    assert any(isinstance(action, Swipe) for action in actions)
    assert not any(isinstance(action, Hover | Scroll) for action in actions)
