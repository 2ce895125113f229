"""What instructions ask of controls: what is read, and what is left alone or left open."""

from __future__ import annotations

import pytest

from pipeline.protocols import view_of
from tests.records import task
from verifiers.controls import Demand, controls_asked, number_asked
from verifiers.keypoints import keypoints_of

PRESS_SUBMIT = Demand("pressed", "Submit")


def demands(instruction: str) -> list[Demand]:
    return controls_asked(instruction).demands


def wanted(instruction: str) -> list[tuple[str, str]]:
    return [(sought.wanted, sought.value) for sought in keypoints_of(view_of(task(instruction)))]


@pytest.mark.parametrize(
    "instruction",
    [
        "Create a ticket with the summary “Lamp” and the priority “critical”.",
        "Enter a bill of 5.20 for “Dinner”.",
        "Select the cheapest flight.",
        "Check that the ticket “Lamp” is closed.",
        "Who owns the ticket “Press release”?",
        "点击“保存”按钮。",
    ],
)
def test_what_speaks_of_contents_is_not_read_as_controls(instruction: str) -> None:
    reading = controls_asked(instruction)

    assert (reading.demands, reading.rest) == ([], [instruction])


@pytest.mark.parametrize(
    ("instruction", "expected"),
    [
        ("Click the “Save” button.", Demand("pressed", "Save", "button")),
        ("Tap on the link 'Help' or so, press “Help”", Demand("pressed", "Help")),
        ("Hit submit", Demand("pressed", "submit")),
        ("Press login when done.", Demand("pressed", "login")),
        ("Click on Tab #2.", Demand("pressed", "Tab #2", "tab")),
        ("Click the cancel button.", Demand("pressed", "cancel", "button")),
        ("Click the button.", Demand("pressed", "", "button")),
        ("Press the 3rd button.", Demand("pressed", "", "button", 3)),
    ],
)
def test_a_press_names_a_control_its_role_or_its_place(instruction: str, expected: Demand) -> None:
    assert demands(instruction)[-1] == expected


@pytest.mark.parametrize(
    "instruction",
    [
        "Click the “Share” button on all posts.",
        "Press the button that fits best.",
        "Click on their address.",
        "Click the 3rd result.",
        "Press the very long name of a thing nobody knows.",
        "Click the “Save” button, change the title to “New”",
    ],
)
def test_a_press_of_what_cannot_be_looked_for_stays_open(instruction: str) -> None:
    assert [demand.deed for demand in demands(instruction)] == ["unread"]


def test_what_is_picked_is_listed_in_order() -> None:
    assert demands("Select red, dark blue and green and click Submit.") == [
        *(Demand("picked", name) for name in ("red", "dark blue", "green")),
        PRESS_SUBMIT,
    ]


@pytest.mark.parametrize(
    ("instruction", "expected"),
    [
        ("Choose 6 ft from the dropdown, then press “OK”.", Demand("picked", "6 ft")),
        ("Select nothing and click Submit.", Demand("picked", "")),
        ("Check the 2nd checkbox and hit Submit.", Demand("picked", "", "checkbox", 2)),
        ("Select 12/30/2016 as the date and hit submit.", Demand("picked", "12/30/2016")),
        ("Select words similar to big and click Submit.", Demand("unread", "words similar to big")),
    ],
)
def test_a_pick_is_a_name_a_place_nothing_or_not_understood(instruction: str, expected: Demand) -> None:
    assert demands(instruction)[0] == expected


@pytest.mark.parametrize(
    ("instruction", "expected"),
    [
        ("Type “Ann” into the text field.", [Demand("filled", "Ann", "textbox")]),
        ("Enter “Ann” into the 2nd textbox.", [Demand("filled", "Ann", "textbox", 2)]),
        ("Enter 42 into the field.", [Demand("filled", "42", "textbox")]),
        ("Enter “x1” into both text fields.", [Demand("filled", "x1", "textbox", n) for n in (1, 2)]),
        ("Type “Ann” in all upper case letters in the textbox.", [Demand("filled", "ANN", "textbox")]),
        ("Type “Ann” in lower case in the textbox.", [Demand("filled", "ann", "textbox")]),
        ("Enter the value of Colour into the textbox.", [Demand("copied", "Colour")]),
        ("Copy the text of the 2nd text area and paste it below.", [Demand("copied", "", "textbox", 2)]),
        ("Type your answer into the textbox.", [Demand("unread", "your answer into the textbox")]),
    ],
)
def test_what_is_filled_in_is_given_copied_or_not_understood(instruction: str, expected: list[Demand]) -> None:
    assert demands(instruction) == expected


def test_opening_and_focusing_are_demands_of_their_own() -> None:
    assert demands("Expand the section below and click Submit.") == [Demand("opened"), PRESS_SUBMIT]
    assert demands("Focus into the 2nd textbox.") == [Demand("focused", "", "textbox", 2)]


@pytest.mark.parametrize("before", ["Switch between the tabs to find and", "Find the file, then", "Close the box by"])
def test_words_that_only_lead_to_a_press_ask_for_nothing_more(before: str) -> None:
    verb = "clicking" if before.endswith("by") else "click"

    assert wanted(f"{before} {verb} the link “Lamp”.") == [("pressed", "Lamp")]


def test_words_that_are_not_understood_keep_the_task_open() -> None:
    assert wanted("Solve the riddle, then press “Submit”.") == [("unread", "Solve the riddle"), ("pressed", "Submit")]


def test_contents_beside_controls_keep_their_keypoints() -> None:
    assert wanted("Delete the bill “Dinner”. Then press “Done”.") == [("gone", "Dinner"), ("pressed", "Done")]


@pytest.mark.parametrize(
    ("words", "condition"),
    [
        ("Generate an even number", "even"),
        ("an odd number", "odd"),
        ("a number greater than 4", "> 4"),
        ("a number less than -2", "< -2"),
    ],
)
def test_a_condition_on_a_number_is_read(words: str, condition: str) -> None:
    assert number_asked(words) == Demand("fitting", condition)
    assert wanted(f"Draw {words}, then press Submit.")[0] == ("fitting", condition)


def test_a_number_without_a_condition_is_none() -> None:
    assert number_asked("Enter the number 4") is None


def test_a_piece_of_a_value_is_not_taken_for_the_value() -> None:
    found = wanted("Add a tag that starts with “Lam” and ends with “mp”.")

    assert found == [("unread", "Lam"), ("unread", "mp"), ("changed", "")]


def test_keypoints_of_deeds_are_told_in_words() -> None:
    texts = [sought.text for sought in keypoints_of(view_of(task("Type “Ann” into the textbox and press Save.")))]

    assert texts == ["“Ann” was in the textbox when it was sent.", "“Save” was pressed, after what comes before it."]
