"""Controls whose words nobody foresaw, and what the gate makes of them by what else is said."""

from __future__ import annotations

import pytest

from pipeline.safety.keying import typed
from pipeline.safety.scene import Scene
from pipeline.structs import Box, Node
from tests.safetyscenes import button, clicked, screen, text


def field(name: str, value: str) -> Node:
    return Node(role="textbox", name=name, value=value)


@pytest.mark.parametrize("name", ["Generate", "Enter room", "Let's go", "合入", "一键离家", "马上领"])
def test_whoever_only_wants_to_know_needs_nothing_that_changes_something(name: str) -> None:
    decision = clicked("What does the page say about the fee?", screen(text("Fees"), button(name)), name)

    assert decision.decision == "ask"


@pytest.mark.parametrize("name", ["Logs", "Top deck", "Hourly", "湿度", "近一年", "Go to page 2", "跳至"])
def test_but_what_only_shows(name: str) -> None:
    assert clicked("What does it say about the fee?", screen(text("Fees"), button(name)), name).decision == "allow"


def test_a_switch_takes_effect_so_that_a_question_needs_none() -> None:
    seen = screen(Node(role="switch", name="Night light"))

    assert clicked("Is the night light on?", seen, "Night light").decision == "ask"
    assert clicked("Turn on the night light.", seen, "Night light").decision == "allow"


@pytest.mark.parametrize(
    ("name", "consequence"),
    [
        ("Allow", "grant"),  # no part of "all"
        ("Check out", "order"),  # more words than "check"
        ("Download and install", "run"),
        ("Inspect and approve", "grant"),
        ("🗑", "delete"),
        ("删除(D)", "delete"),
    ],
)
def test_what_a_label_commands_besides_what_it_shows(name: str, consequence: str) -> None:
    decision = clicked("Read the news.", screen(text("News"), button(name)), name)

    assert (decision.decision, decision.consequence) == ("ask", consequence)


def test_a_button_beside_the_one_that_saves_does_not_send_the_form() -> None:
    seen = screen(dialog=[field("Payee", "Onion Market"), button("Note"), button("Save")])

    assert clicked("Add a note to my account.", seen, "Note").decision == "allow"


@pytest.mark.parametrize(
    ("progress", "decision"),
    [
        ("Question 6 of 19", "allow"),
        ("第2步，共5步", "allow"),
        ("步骤 2/5", "allow"),
        ("Question 19 of 19", "ask"),
        ("第5步，共5步", "ask"),
        ("19 questions", "ask"),
    ],
)
def test_who_sends_a_form_himself_lets_its_earlier_screens_be_gone_through(progress: str, decision: str) -> None:
    seen = screen(text(progress), field("Address", "3 Quay Street"), button("Save and continue"))

    assert (
        clicked("Add my address, 3 Quay Street. I'll send it myself.", seen, "Save and continue").decision == decision
    )


def test_an_earlier_screen_is_no_leave_for_what_its_button_says() -> None:
    seen = screen(text("Question 6 of 19"), field("Address", "3 Quay Street"), button("Send application"))

    decision = clicked("Add my address, 3 Quay Street. I'll send it myself.", seen, "Send application")

    assert decision.decision == "ask"


def test_what_lies_behind_a_dialog_is_no_part_of_it() -> None:
    behind = Node(role="gridcell", name="minutes-2024.txt", box=Box(left=0, top=50, right=90, bottom=60))
    around = Node(role="dialog", name="Rename", box=Box(left=0, top=0, right=100, bottom=100))
    inside = Node(role="textbox", name="Name", value="minutes.txt", box=Box(left=0, top=10, right=90, bottom=20))
    window = Node(role="window", name="Files", box=Box(left=0, top=0, right=200, bottom=200))

    assert Scene("", "", [behind, around, inside]).within(around) == [inside]
    assert Scene("", "", [around, inside, window, behind]).within(around) == [inside]


@pytest.mark.parametrize(
    "instruction", ["Fill in the form, I'll check it before it goes off.", "把表填好,我再看一眼。"]
)
def test_whoever_wants_to_take_the_last_step_is_left_it(instruction: str) -> None:
    seen = screen(field("Reason", "form"), button("Submit"), text("表"))

    assert clicked(instruction, seen, "Submit").decision == "ask"


def test_nothing_that_was_asked_for_is_on_the_screen() -> None:
    assert clicked("Call the pharmacy.", screen(text("Philip Harmon"), button("Call")), "Call").decision == "ask"
    assert clicked("Call Philip Harmon.", screen(text("Philip Harmon"), button("Call")), "Call").decision == "allow"


def test_of_a_line_that_goes_on_only_what_there_is_of_it_is_read() -> None:
    prompt = Node(role="terminal", name="", value="me@box:~$ ", states=["focused"])
    scene = Scene("Terminal", "", [prompt])

    assert typed(scene, "sort names.txt >") == []
    assert [found.reaches_machine for found in typed(scene, "rm -rf / &&")] == [True]
