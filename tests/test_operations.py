from __future__ import annotations

import pytest

from pipeline.actions import (
    ACTION,
    AcceptDialog,
    Action,
    Click,
    Drag,
    Finished,
    Hotkey,
    Hover,
    Launch,
    Point,
    PressBack,
    PressEnter,
    Scroll,
    SelectOption,
    Type,
    Wait,
)
from pipeline.structs import TargetUnderPoint
from tests.records import look, node, record, step
from verifiers.operations import Move, any_task_specific, move_of, task_specific

POINT = Point(x=1, y=1)


@pytest.mark.parametrize(
    ("action", "move"),
    [
        (Scroll(point=POINT, direction="down"), "look"),
        (Hover(point=POINT), "look"),
        (Wait(), "look"),
        (Hotkey(keys=["PageDown"]), "look"),
        (Hotkey(keys=["Control", "End"]), "look"),
        (Hotkey(keys=["Control", "Tab"]), "look"),
        (Launch(url="/"), "go"),
        (PressBack(), "go"),
        (Type(content="x"), "enter"),
        (SelectOption(index=0), "enter"),
        (Click(point=POINT), "press"),
        (Drag(start=POINT, end=POINT), "press"),
        (Hotkey(keys=["Control", "Enter"]), "press"),
        (Hotkey(keys=["Delete"]), "press"),
        (PressEnter(), "press"),
        (Finished(), "end"),
    ],
    ids=lambda value: value.type if not isinstance(value, str) else value,
)
def test_every_action_is_one_kind_of_move(action: Action, move: Move) -> None:
    assert move_of(action) == move


def test_no_action_of_the_space_is_forgotten() -> None:
    fields = {
        "point": {"x": 1, "y": 1},
        "start": {"x": 1, "y": 1},
        "end": {"x": 2, "y": 2},
        "direction": "up",
        "content": "x",
        "keys": ["a"],
        "index": 0,
        "url": "/",
        "app": "x",
    }
    types = ACTION.json_schema()["discriminator"]["mapping"]
    for name, reference in types.items():
        known = ACTION.json_schema()["$defs"][reference.rsplit("/", 1)[1]]["properties"]
        action = ACTION.validate_python({"type": name, **{k: v for k, v in fields.items() if k in known}})
        assert move_of(action) in ("look", "go", "enter", "press", "end")


@pytest.mark.parametrize(
    "action", [Scroll(point=POINT, direction="down"), Launch(url="/"), Hotkey(keys=["Control", "Tab"]), AcceptDialog()]
)
def test_looking_going_and_promising_are_not_task_specific(action: Action) -> None:
    assert not task_specific(step(action))


def test_a_click_on_a_tab_or_a_failed_click_is_not_task_specific() -> None:
    tab = TargetUnderPoint(role="tab", name="Second")

    assert not task_specific(step(Click(point=POINT), target=tab))
    assert not task_specific(step(Click(point=POINT), status="failed"))
    assert not task_specific(step(None))


def test_one_task_specific_step_makes_a_record_so() -> None:
    screens = [look(node("button", "Go"))] * 3

    assert any_task_specific(record(screens, [step(Wait()), step(Click(point=POINT))]))
    assert not any_task_specific(record(screens, [step(Wait()), step(Finished())]))
