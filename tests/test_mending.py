"""What may stand in the place of a control that is gone."""

from __future__ import annotations

from catalogs.mending import candidates
from pipeline.structs import Box, Node
from pipeline.tasks import ProcedureStep

ADD = ProcedureStep(action="Click", role="button", name="Add item", nth=2)
NAME = ProcedureStep(action="Type", role="textbox", name="Name", content="x")


def screen(*texts: str) -> list[Node]:
    """Controls one below the other, `role name` each."""
    return [
        Node(role=role, name=name, box=Box(left=0, top=20 * row, right=90, bottom=20 * row + 18))
        for row, (role, _, name) in enumerate(text.partition(" ") for text in texts)
    ]


def names(nodes: list[Node], missing: ProcedureStep = ADD, consequence: str = "create") -> list[str | None]:
    return [step.name for step in candidates(nodes, missing, NAME, ["Name"], consequence)]


def test_the_same_meaning_and_place_come_first() -> None:
    nodes = screen("button New catalogue", "button Help", "textbox Name", "button Create entry", "button Cancel")

    assert names(nodes)[:2] == ["Create entry", "New catalogue"]


def test_a_replacement_keeps_what_the_step_does() -> None:
    step = candidates(screen("textbox Name", "link Insert"), ADD, NAME, [], "create")[0]

    assert (step.action, step.role, step.name, step.nth) == ("Click", "link", "Insert", 0)


def test_what_deletes_never_replaces_what_creates() -> None:
    assert names(screen("textbox Name", "button Delete item")) == []
    assert names(screen("textbox Name", "button Remove item"), consequence="delete") == ["Remove item"]


def test_fields_are_replaced_by_fields() -> None:
    label = ProcedureStep(action="Type", role="textbox", name="Full name", content="x")

    found = candidates(screen("button Full name", "textbox Name in full"), label, None, [], "create")

    assert [(step.role, step.name) for step in found] == [("textbox", "Name in full")]


def test_what_the_procedure_needs_elsewhere_is_not_taken() -> None:
    assert candidates(screen("button Add items"), ADD, None, ["Add items"], "create") == []


def test_what_a_slot_names_cannot_be_renamed() -> None:
    record = ProcedureStep(action="Click", role="link", name="{ticket}")

    assert candidates(screen("link Broken lamp"), record, None, [], "edit") == []


def test_hidden_and_nameless_controls_are_no_candidates() -> None:
    hidden = Node(role="button", name="Add entry", box=Box(left=0, top=0, right=9, bottom=9), states=["offscreen"])

    assert (
        candidates([hidden, Node(role="button", name="Add entry"), *screen("button ")], ADD, None, [], "create") == []
    )
