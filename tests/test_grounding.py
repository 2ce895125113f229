"""Finding what a procedure step speaks of on a screen."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.actions import Pixel
from pipeline.policies.grounding import captured, find, option_index, options_of, promising, shown, way_to
from pipeline.structs import Box, Node
from pipeline.tasks import ProcedureStep


def box(left: int, top: int, width: int = 80, height: int = 20) -> Box:
    return Box(left=left, top=top, right=left + width, bottom=top + height)


def node(role: str, name: str, at: Box | None = None, value: str = "") -> Node:
    return Node(role=role, name=name, value=value, box=at or box(0, 0))


def step(**fields: object) -> ProcedureStep:
    return ProcedureStep.model_validate({"action": "Click", **fields})


ROWS = [
    node("cell", "Buy milk", box(0, 0)),
    node("link", "Edit", box(600, 0)),
    node("cell", "Buy milk and eggs", box(0, 24)),
    node("link", "Edit", box(600, 24)),
    node("link", "edit all", box(0, 48)),
]


def test_exact_name_beats_containment() -> None:
    assert find(ROWS, step(role="cell", name="Buy milk")) == 0
    assert find(ROWS, step(role="cell", name="milk AND")) == 2


def test_containment_is_tried_only_when_no_name_is_exact() -> None:
    assert find(ROWS, step(role="link", name="Edit", nth=2)) is None


@pytest.mark.parametrize(("nth", "place"), [(0, 1), (1, 3), (-1, 3), (-2, 1), (-3, None), (5, None)])
def test_nth_among_equals(nth: int, place: int | None) -> None:
    assert find(ROWS, step(role="link", name="Edit", nth=nth)) == place


def test_near_prefers_the_same_row() -> None:
    assert find(ROWS, step(role="link", name="Edit", near="Buy milk and eggs")) == 3
    assert find(ROWS, step(role="link", name="Edit", near="Buy milk")) == 1


def test_near_something_absent_finds_nothing() -> None:
    assert find(ROWS, step(role="link", name="Edit", near="Buy bread")) is None


def test_near_a_label_finds_its_field() -> None:
    form = [
        node("StaticText", "From", box(0, 0)),
        node("textbox", "", box(100, 0)),
        node("StaticText", "To", box(0, 30)),
        node("textbox", "", box(100, 30)),
    ]
    assert find(form, step(role="textbox", near="To")) == 3


def test_role_must_fit_and_spaces_do_not_matter() -> None:
    nodes = [node("StaticText", "Save"), node("button", " Save \n all ")]
    assert find(nodes, step(role="button", name="Save all")) == 1
    assert find(nodes, step(role="link", name="Save")) is None


def test_what_has_no_area_cannot_be_found() -> None:
    nodes = [Node(role="button", name="Save"), node("button", "Save", box(5, 5, 0, 20)), node("button", "Save")]
    assert find(nodes, step(role="button", name="Save")) == 2


@given(left=st.integers(-300, 900), top=st.integers(-300, 900), width=st.integers(1, 400), height=st.integers(1, 400))
def test_what_shows_lies_inside_the_picture_and_the_box(left: int, top: int, width: int, height: int) -> None:
    whole = box(left, top, width, height)
    part = shown(node("link", "a", whole), 640, 400)
    if part is not None:
        assert whole.contains(part.centre)
        assert Box(left=0, top=0, right=640, bottom=400).contains(part.centre)


def test_a_sliver_is_not_enough_to_aim_at() -> None:
    assert shown(node("link", "a", box(0, 395, 80, 20)), 640, 400) is None
    assert shown(node("link", "a", box(0, 396, 80, 4)), 640, 400) is not None, "small, but all of it shows"


def test_what_a_part_of_the_page_clips_does_not_show() -> None:
    clipped = Node(role="link", name="a", box=box(10, 10), states=["offscreen"])
    assert shown(clipped, 640, 400) is None


@pytest.mark.parametrize(
    ("at", "direction"),
    [(box(100, 900), "down"), (box(100, -50), "up"), (box(700, 190), "right"), (box(-200, 190), "left")],
)
def test_way_to_what_lies_outside(at: Box, direction: str) -> None:
    nodes = [node("RootWebArea", "", box(0, 0, 640, 400)), node("cell", "beside", box(300, 190)), node("link", "x", at)]
    assert way_to(nodes, 2, 640, 400) == (direction, nodes[1].box.centre if nodes[1].box else None)


@pytest.mark.parametrize(("top", "direction"), [(396, "down"), (-16, "up")])
def test_what_the_edge_cuts_is_behind_it_although_its_neighbour_in_the_row_shows(top: int, direction: str) -> None:
    cell = box(300, top - 10, height=40)
    nodes = [node("RootWebArea", "", box(0, 0, 640, 400)), node("cell", "row", cell), node("link", "x", box(500, top))]
    assert way_to(nodes, 2, 640, 400)[0] == direction


def test_way_to_something_in_a_part_of_its_own_leads_over_that_part() -> None:
    nodes = [
        node("link", "Menu", box(0, 0)),
        node("listitem", "row 1", box(400, 100)),
        Node(role="listitem", name="row 9", box=box(400, 300), states=["offscreen"]),
        node("button", "Save", box(0, 380)),
    ]
    assert way_to(nodes, 2, 640, 400) == ("down", Pixel(x=440, y=110))


def test_way_without_any_neighbour_leads_over_the_middle() -> None:
    assert way_to([node("link", "x", box(0, 900))], 0, 640, 400) == ("down", Pixel(x=320, y=200))


def test_options_follow_their_drop_down() -> None:
    nodes = [
        node("combobox", "Type"),
        node("MenuListPopup", ""),
        node("option", "bug"),
        node("option", "task"),
        node("combobox", "Priority"),
        node("option", "high"),
    ]
    assert [option.name for option in options_of(nodes, 0)] == ["bug", "task"]
    assert [option.name for option in options_of(nodes, 4)] == ["high"]


def test_option_by_label() -> None:
    options = [node("option", "very high"), node("option", "high"), node("option", "", value="low")]
    assert option_index(options, "high") == 1
    assert option_index(options, "VERY") == 0
    assert option_index(options, "low") == 2
    assert option_index(options, "critical") is None


def test_capture_reads_names_and_values_line_by_line() -> None:
    nodes = [node("StaticText", "Total: 12.50 EUR"), node("textbox", "Notes", value="Ask Dana")]
    assert captured(nodes, r"^Total: ([\d.]+)") == "12.50"
    assert captured(nodes, r"^Notes\n(.+)$") == "Ask Dana"
    assert captured(nodes, r"^Sum: (\d+)") is None


def test_promising_link_shares_words_with_the_instruction() -> None:
    nodes = [node("link", "Reports"), node("link", "Archived tickets"), node("button", "Archive the ticket")]
    found = promising(nodes, "Archive the tickets of last year")
    assert found is not None and found.name == "Archived tickets"
    assert promising(nodes, "把工单归档") is None
    assert promising([node("link", "归档工单")], "把工单归档") is not None
