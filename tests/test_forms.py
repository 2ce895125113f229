"""Forms in flat trees, and how they are filled."""

from __future__ import annotations

from datetime import date

import pytest

from catalogs.forms import Filled, filled, forms_in, named, pool_for
from pipeline.structs import Box, Node
from taskspecs.values import load_values

TODAY = date(2026, 11, 30)


def screen(*texts: str) -> list[Node]:
    """Controls one below the other, `role name` or `role name=value` each."""
    nodes = []
    for row, text in enumerate(texts):
        role, _, rest = text.partition(" ")
        name, _, value = rest.partition("=")
        box = None if role == "option" else Box(left=0, top=20 * row, right=90, bottom=20 * row + 18)
        nodes.append(Node(role=role, name=name, value=value, box=box))
    return nodes


def fill(nodes: list[Node], seed: str = "1") -> Filled:
    found = filled(forms_in(nodes)[0], nodes, "en", TODAY, seed)
    assert found is not None
    return found


def test_fields_belong_to_the_next_button() -> None:
    nodes = screen("searchbox Search", "button Go", "textbox Title", "textbox Notes", "button Save")

    forms = forms_in(nodes)

    assert [(form.name, [field.node.name for field in form.fields]) for form in forms] == [
        ("Go", ["Search"]),
        ("Save", ["Title", "Notes"]),
    ]


def test_buttons_side_by_side_send_the_same_fields() -> None:
    forms = forms_in(
        screen("textbox Title", "button Preview", "StaticText or", "button Create", "link Help", "button Go")
    )

    assert [form.name for form in forms] == ["Preview", "Create"]


@pytest.mark.parametrize("button", ["Delete", "Cancel", "删除"])
def test_what_deletes_or_cancels_needs_no_fields(button: str) -> None:
    assert forms_in(screen("textbox Title", f"button {button}")) == []


def test_disabled_and_secret_fields_are_left_alone() -> None:
    box = Box(left=0, top=0, right=9, bottom=9)
    fields = [Node(role="textbox", name=state, box=box, states=[state]) for state in ("disabled", "protected")]

    assert forms_in([*fields, Node(role="button", name="Send", box=box)]) == []


def test_empty_texts_are_typed_and_drop_downs_chosen() -> None:
    nodes = screen("textbox Summary", "combobox Priority=low", "option low", "option high", "button Create")

    found = fill(nodes)

    assert [(step.action, step.name, step.content) for step in found.steps] == [
        ("Type", "Summary", "{summary}"),
        ("SelectOption", "Priority", "{priority}"),
        ("Click", "Create", None),
    ]
    assert found.slots[1].values == ["high"] and found.slots[0].values


def test_a_field_that_holds_something_is_replaced_whole() -> None:
    found = fill(screen("textbox Title=Old", "button Save"))

    assert [step.action for step in found.steps] == ["Click", "Hotkey", "Type", "Click"]
    assert "Old" not in found.slots[0].values


def test_a_form_without_anything_to_fill_is_not_filled() -> None:
    nodes = screen("combobox Only=one", "option one", "button Save")

    assert filled(forms_in(nodes)[0], nodes, "en", TODAY, "1") is None


def test_equal_names_are_told_apart_by_number() -> None:
    nodes = screen("button Edit", "textbox ", "button Edit", "textbox ")

    assert named(nodes, 2) == {"role": "button", "name": "Edit", "nth": 1}
    assert named(nodes, 3) == {"role": "textbox", "name": None, "nth": 1}


def test_slots_of_one_form_have_different_names() -> None:
    found = fill(screen("textbox Name", "textbox name", "button Add"))

    assert [slot.name for slot in found.slots] == ["name", "name_2"]


def test_values_are_the_same_for_the_same_seed() -> None:
    nodes = screen("textbox Title", "textbox E-mail", "button Add")

    assert fill(nodes) == fill(nodes)
    assert len({fill(nodes, seed).slots[0].values[0] for seed in "123456"}) > 1


@pytest.mark.parametrize(
    ("name", "role", "pool"),
    [
        ("E-mail address", "textbox", "mail_address"),
        ("Due date", "textbox", "coming_day"),
        ("How much?", "textbox", "amount"),
        ("数量", "textbox", "quantity"),
        ("Anything", "spinbutton", "quantity"),
        ("Mailbox colour", "textbox", "component_name"),
    ],
)
def test_a_word_of_the_name_chooses_the_pool(name: str, role: str, pool: str) -> None:
    assert pool_for(name, role) == pool
    assert load_values().pool(pool, "en", TODAY)
