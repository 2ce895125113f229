"""Whether controls were operated as asked: on small screens, by presses and by what fields and boxes held."""

from __future__ import annotations

import pytest

from pipeline.actions import Finished, Type
from pipeline.protocols import view_of
from pipeline.records import Record, Step
from pipeline.words import KeypointState
from tests.records import Look, click, look, node, record, step, task
from verifiers.keypoints import keypoints_of
from verifiers.operated import deeds_told
from verifiers.screen import ScreenJudge

TYPE_AND_SAVE = "Type “Ann” into the text field and press Save."
PICK = "Select red, green and click Save."


def told(instruction: str, of: Record) -> list[KeypointState]:
    return [one.state for one in deeds_told(keypoints_of(view_of(task(instruction))), of)]


def grade(instruction: str, of: Record) -> str | None:
    return ScreenJudge().judge(view_of(task(instruction)), of, "pass").votes[0].grade


def form(text: str = "", *others: str) -> Look:
    fields = [node("textbox", f"Field {place}", value) for place, value in enumerate([text, *others], 1)]
    return look(*fields, node("button", "Save"), node("button", "Help"))


def boxes(*ticked: str) -> Look:
    marked = [node("checkbox", name, states=["checked"] if name in ticked else []) for name in ("red", "green", "blue")]
    return look(*marked, node("button", "Save"))


def played(*pairs: tuple[Look, Step]) -> Record:
    """Looks with the step taken on each; the last screen stays as it is, and the agent ends."""
    return record(
        [*(seen for seen, _ in pairs), pairs[-1][0], pairs[-1][0]], [*(one for _, one in pairs), step(Finished())]
    )


def pressed(screen: Look, *names: str) -> Record:
    return played(*((screen, click(screen, name)) for name in names))


TYPED = (form(), step(Type(content="Ann")))


def test_a_field_that_holds_the_text_when_it_is_sent_is_complete() -> None:
    of = played(TYPED, (form("Ann"), click(form("Ann"), "Save")))

    assert told(TYPE_AND_SAVE, of) == ["met", "met"]
    assert grade(TYPE_AND_SAVE, of) == "complete"


@pytest.mark.parametrize(("typed", "state"), [("Bob", "unmet"), ("Anna", "unmet"), ("ann", "unmet"), ("Ann", "met")])
def test_another_text_in_the_field_is_unmet(typed: str, state: KeypointState) -> None:
    of = played((form(), step(Type(content=typed))), (form(typed), click(form(typed), "Save")))

    assert told(TYPE_AND_SAVE, of)[0] == state


def test_what_was_never_sent_is_not_complete() -> None:
    of = played(TYPED, (form("Ann"), click(form("Ann"), "Help")))

    assert told(TYPE_AND_SAVE, of) == ["met", "unmet"]
    assert grade(TYPE_AND_SAVE, of) == "partial"


def test_what_was_sent_before_it_was_filled_in_is_unmet() -> None:
    of = played((form(), click(form(), "Save")), TYPED, (form("Ann"), step(Type(content=""))))

    assert told(TYPE_AND_SAVE, of) == ["unmet", "met"]


def test_the_field_that_is_counted_must_hold_it() -> None:
    instruction = "Type “Ann” into the 2nd textbox and press Save."
    right = played((form("", "Ann"), click(form("", "Ann"), "Save")))
    wrong = played((form("Ann", ""), click(form("Ann", ""), "Save")))

    assert (told(instruction, right)[0], told(instruction, wrong)[0]) == ("met", "unmet")


def test_a_field_that_hides_its_text_is_taken_at_the_steps_word() -> None:
    instruction = "Enter the name “ann” and the password “x1” and press Login."
    screen = look(
        node("textbox", "Name", "ann"),
        node("textbox", "Password", states=["editable", "protected"]),
        node("button", "Login"),
    )
    typed = [(screen, step(Type(content=text))) for text in ("ann", "x1")]

    assert told(instruction, played(*typed, (screen, click(screen, "Login")))) == ["met", "met", "met"]
    assert told(instruction, played(typed[0], (screen, click(screen, "Login"))))[1] == "unmet"


@pytest.mark.parametrize(
    ("ticked", "states"),
    [
        (("red", "green"), ["met", "met"]),
        (("red",), ["met", "unmet"]),
        (("red", "green", "blue"), ["unmet", "unmet"]),
        ((), ["unmet", "unmet"]),
    ],
)
def test_what_is_ticked_must_be_what_is_asked_and_nothing_else(ticked: tuple[str, ...], states: list[str]) -> None:
    clicks = [(boxes(), click(boxes(), name)) for name in ticked]
    of = played((boxes(), step(Type(content="")))) if not clicks else played(*clicks)
    of = played(*clicks, (boxes(*ticked), click(boxes(*ticked), "Save"))) if clicks else pressed(boxes(), "Save")

    assert told(PICK, of)[:2] == states


def test_what_was_ticked_from_the_start_does_not_count_against_it() -> None:
    of = played((boxes("blue"), click(boxes("blue"), "red")), (boxes("blue", "red", "green"), click(boxes(), "Save")))

    assert told(PICK, of) == ["met", "met", "met"]


def test_a_name_that_is_on_no_screen_is_unclear() -> None:
    assert told("Select pink and click Save.", pressed(boxes(), "Save"))[0] == "unclear"
    assert told("Click the star icon.", pressed(boxes(), "Save")) == ["unclear"]


def test_a_drop_down_shows_what_is_picked() -> None:
    chosen = look(node("combobox", "Colour", "red"), node("option", "red"), node("button", "Save"))
    instruction = "Select {} from the list and click Save."

    assert told(instruction.format("red"), pressed(chosen, "Save"))[0] == "met"
    assert told(instruction.format("blue"), pressed(chosen, "Save"))[0] == "unmet"


BUTTONS = look(node("button", "One"), node("button", "Two"), node("button", "Close"))


def test_presses_count_in_the_order_that_is_asked() -> None:
    instruction = "Click the button “One”, then click the button “Two”."

    assert told(instruction, pressed(BUTTONS, "One", "Two")) == ["met", "met"]
    assert told(instruction, pressed(BUTTONS, "Two", "One")) == ["unmet", "met"]


def test_a_press_proves_nothing_where_another_one_had_no_visible_effect() -> None:
    instruction = "Click the button “One”."

    assert told(instruction, pressed(BUTTONS, "Two", "One")) == ["unclear"]
    assert grade(instruction, pressed(BUTTONS, "Two", "One")) is None
    assert told(instruction, pressed(BUTTONS, "Two")) == ["unmet"]


def test_another_press_that_was_seen_to_work_does_no_harm() -> None:
    shut = look(node("tab", "More", states=["collapsed"]), node("StaticText", "Lamp"))
    opened = look(node("tab", "More", states=["expanded"]), node("StaticText", "Lamp"))
    of = played((shut, click(shut, "More")), (opened, click(opened, "Lamp")))

    assert told("Click on the link “Lamp”.", of) == ["met"]


def test_a_press_that_failed_is_none() -> None:
    failed = click(BUTTONS, "One").model_copy(update={"status": "failed"})

    assert told("Click the button “One”.", played((BUTTONS, failed))) == ["unmet"]


def test_a_cross_is_a_control_that_closes() -> None:
    assert told("Close the box by clicking the “x”.", pressed(BUTTONS, "Close")) == ["met"]


def test_the_only_button_and_a_counted_one_need_no_name() -> None:
    lone = look(node("button", "Go"), node("link", "Home"))

    assert told("Click the button.", pressed(lone, "Go")) == ["met"]
    assert told("Click the button.", pressed(BUTTONS, "One")) == ["unclear"]
    assert told("Click the 2nd button.", pressed(BUTTONS, "Two")) == ["met"]
    assert told("Click the 2nd button.", pressed(BUTTONS, "One")) == ["unclear"]


def test_what_is_counted_among_boxes_must_be_the_only_one() -> None:
    instruction = "Check the 2nd checkbox and press Save."

    assert told(instruction, pressed(boxes("green"), "Save"))[0] == "met"
    assert told(instruction, pressed(boxes("red"), "Save"))[0] == "unmet"


@pytest.mark.parametrize(("state", "expected"), [("expanded", "met"), ("collapsed", "unmet")])
def test_a_section_is_open_or_still_folded_away(state: str, expected: str) -> None:
    shut = look(node("tab", "More", states=["collapsed"]), node("button", "Save"))
    after = look(node("tab", "More", states=[state]), node("button", "Save"))
    of = played((shut, click(shut, "More")), (after, click(after, "Save")))

    assert told("Expand the section below and press Save.", of)[0] == expected


@pytest.mark.parametrize(("pressed_field", "expected"), [("Field 2", "met"), ("Field 1", "unmet")])
def test_a_field_pressed_last_had_the_focus(pressed_field: str, expected: str) -> None:
    assert told("Focus into the 2nd textbox.", pressed(form("", ""), pressed_field)) == [expected]


TABLE = [
    node("cell", "Colour", box=(0, 0, 50, 20)),
    node("cell", "red", box=(60, 0, 99, 20)),
    node("cell", "Size", box=(0, 20, 50, 40)),
    node("cell", "big", box=(60, 20, 99, 40)),
]


@pytest.mark.parametrize(("typed", "expected"), [("big", "met"), ("red", "unmet")])
def test_the_value_of_a_label_is_looked_up_beside_it(typed: str, expected: str) -> None:
    field = node("textbox", "", typed, box=(0, 50, 90, 70))
    screen = Look([*TABLE, field, node("button", "Save", box=(0, 80, 90, 99))])
    of = played((screen, step(Type(content=typed))), (screen, click(screen, "Save")))

    assert told("Enter the value of Size into the textbox and press Save.", of) == [expected, "met"]
    assert told("Enter the value of Weight into the textbox and press Save.", of)[0] == "unclear"


def test_what_is_copied_is_what_the_other_field_held_at_first() -> None:
    instruction = "Copy the text of the 2nd text area, paste it into the text field and press Save."
    source = form("", "one", "two")
    right, wrong = form("two", "one", "two"), form("one", "one", "two")
    copied = played((source, step(Type(content="two"))), (right, click(right, "Save")))
    other = played((source, step(Type(content="one"))), (wrong, click(wrong, "Save")))

    assert (told(instruction, copied)[0], told(instruction, other)[0]) == ("met", "unmet")


@pytest.mark.parametrize(
    ("asked", "shown", "expected"),
    [
        ("an even number", ["4"], "met"),
        ("an odd number", ["4"], "unmet"),
        ("a number greater than 3", ["4"], "met"),
        ("a number less than 3", ["4"], "unmet"),
        ("an even number", ["4", "6"], "unclear"),
        ("an even number", ["-"], "unclear"),
    ],
)
def test_a_condition_is_held_against_the_only_number_on_screen(asked: str, shown: list[str], expected: str) -> None:
    screen = look(*(node("StaticText", text) for text in shown), node("button", "Save"))

    assert told(f"Draw {asked}, then press Save.", pressed(screen, "Save"))[0] == expected


def test_what_is_not_understood_is_never_met() -> None:
    of = pressed(form(), "Save")

    assert told("Solve the riddle, then press Save.", of) == ["unclear", "met"]
    assert grade("Solve the riddle, then press Save.", of) is None
