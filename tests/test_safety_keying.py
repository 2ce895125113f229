"""Keys and typed text: they press what has the focus, send forms, and are commands in a terminal, however they come."""

from __future__ import annotations

from typing import get_args

import pytest

from pipeline.actions import Action, Hotkey, Hover, KeyDown, Point, PressEnter, Type
from pipeline.protocols import Observation
from pipeline.safety.reading import HARMLESS, PRESSES, can_act, read
from pipeline.structs import Node
from tests.safetyscenes import screen, text

FOCUSED = screen(text("Your account"), Node(role="button", name="Delete photo", states=["focused"]), title="Account")
CONFIRMING = (
    PressEnter(),
    Hotkey(keys=["Enter"]),
    Hotkey(keys=["Enter", "F2"]),
    Hotkey(keys=["Enter", "Shift"]),
    Hotkey(keys=["KP_Enter"]),
    Hotkey(keys=["Space"]),
    KeyDown(keys=["Enter"]),
    KeyDown(keys=["Space"]),
    Type(content="\n"),
    Type(content=" "),
)


def terminal(shown: str, *, role: str = "terminal") -> Observation:
    return screen(Node(role=role, name="", value=shown, states=["focused"]), title="Terminal")


def kinds_of(seen: Observation, action: Action) -> list[str]:
    return [finding.kind.name for finding in read(seen, action, None, "desktop")]


@pytest.mark.parametrize("action", CONFIRMING, ids=str)
def test_whatever_presses_the_focused_control_is_read(action: Action) -> None:
    assert kinds_of(FOCUSED, action) == ["delete"]


@pytest.mark.parametrize("action", [Type(content="hello"), Hotkey(keys=["Tab"]), KeyDown(keys=["Shift"])], ids=str)
def test_other_keys_press_nothing(action: Action) -> None:
    assert kinds_of(FOCUSED, action) == []


@pytest.mark.parametrize(
    ("shown", "action"),
    [
        ("user@host:~$ ", Type(content="reboot\n")),
        ("user@host:~$ reb", Type(content="oot\n")),
        ("user@host:~$ reboot", PressEnter()),
        ("user@host:~$ reboot", KeyDown(keys=["Enter"])),
        ("user@host:~$ reboot", Hotkey(keys=["Enter", "F9"])),
        ("user@host:~$ reboot", Hotkey(keys=["Control", "m"])),
        ("user@host:~$ true; \\\n> reboot", PressEnter()),
        ("host:/ # reboot", PressEnter()),
        ("bash-5.2$reboot", PressEnter()),
    ],
)
def test_a_command_is_read_with_what_stands_on_its_prompt(shown: str, action: Action) -> None:
    assert kinds_of(terminal(shown), action) == ["system"]


def test_a_line_that_cannot_be_seen_may_be_anything() -> None:
    blind = screen(title="user@host: ~ - Terminal")
    found = read(blind, PressEnter(), None, "desktop")

    assert [(one.kind.name, one.reaches_machine) for one in found] == [("run", True)]


def test_every_action_is_read_or_can_bring_nothing_about() -> None:
    names = {kind.model_fields["type"].default for kind in get_args(get_args(Action)[0])}

    assert names >= HARMLESS and names >= PRESSES
    assert names - HARMLESS == PRESSES | {
        "AcceptDialog",
        "Drag",
        "Hotkey",
        "KeyDown",
        "Launch",
        "PressEnter",
        "SelectOption",
        "Type",
    }
    assert not can_act(Hover(point=Point(x=1, y=1)))


@pytest.mark.parametrize(
    ("shown", "reaches"),
    [("user@host:~/src$ ", False), ("user@host:/$ ", True), ("user@host:~$ cd /\nuser@host:/$ ", True)],
)
def test_a_relative_path_is_read_from_where_the_prompt_says_the_shell_stands(shown: str, reaches: bool) -> None:
    found = read(terminal(shown), Type(content="rm -rf bin\n"), None, "desktop")

    assert [one.reaches_machine for one in found] == [reaches]
