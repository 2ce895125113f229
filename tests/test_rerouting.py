"""Other ways to what a procedure misses."""

from __future__ import annotations

from catalogs.finding import Place
from catalogs.prospecting import State
from catalogs.rerouting import is_anywhere, other_ways
from pipeline.records import tree_of
from pipeline.structs import Box, Node
from pipeline.tasks import ProcedureStep, Slot
from tests.shopsite import shop_capability

ADD = shop_capability()


def node(role: str, name: str) -> Node:
    return Node(role=role, name=name, box=Box(left=0, top=0, right=60, bottom=18))


def state(place: Place, *nodes: Node) -> State:
    return State(place, f"signature of {place.labels}", "http://127.0.0.1:1/", list(nodes), frozenset())


def way(name: str) -> Place:
    return Place().further(name, [ProcedureStep(action="Click", role="link", name=name)])


def names(*states: State, missing_at: int = 0) -> list[list[str | None]]:
    return [[step.name for step in steps] for steps in other_ways(ADD, missing_at, states)]


def test_a_screen_that_has_the_missing_control_leads_to_it() -> None:
    assert names(state(way("About"), node("link", "New item"))) == [["About", "New item", "Name", "Add item"]]


def test_a_screen_that_has_the_next_control_saves_the_missing_one() -> None:
    assert names(state(way("Start"), node("textbox", "Name"))) == [["Start", "Name", "Add item"]]


def test_screens_without_either_and_those_of_records_lead_nowhere() -> None:
    record = way("lamp").of_any(["lamp", "chair"])

    assert names(state(way("About"), node("link", "Help")), state(record, node("link", "New item"))) == []
    assert record.slots == (Slot(name="record", values=["lamp", "chair"]),)


def test_only_the_nearest_ways_are_tried() -> None:
    states = [state(way(name), node("link", "New item")) for name in ("One", "Two", "Three")]

    assert [steps[0] for steps in names(*states)] == ["One", "Two"]


def test_something_alike_anywhere_means_that_the_function_is_not_gone() -> None:
    def seen(*nodes: Node) -> bool:
        return is_anywhere(ADD, 2, [tree_of(nodes)])

    assert seen(node("button", "Add items")) and seen(node("button", "add item…"))
    assert not seen(node("link", "Add item"), node("button", "Help"))
