"""Fourteen kinds of reply that actors give, and what is made of each."""

from __future__ import annotations

import json

import pytest

from pipeline.actions import Action, Click, Point, Type, render
from pipeline.dialects import Picture, Said, load_dialect
from pipeline.errors import ActionError

PICTURE = Picture(1280, 800)
CLICK = Click(point=Point(x=172, y=150))
CLICK_TEXT = render(CLICK)
OTHER_TEXT = render(Click(point=Point(x=500, y=500)))
FENCED = f"```json\n{CLICK_TEXT}\n```"
HARD_TEXT = "run ```bash\nls {x} | wc``` }\nnow"

READ: dict[str, tuple[Said, Action]] = {
    "1 fenced, then prose with brackets": (Said(f"{FENCED}\nAs in [1], this closes the menu }}."), CLICK),
    "2 an ending in the thinking": (Said(f'<think>{{"type": "Finished"}}?</think>{CLICK_TEXT}'), CLICK),
    "8 back-ticks, braces, a line break": (
        Said(json.dumps({"type": "Type", "content": HARD_TEXT})),
        Type(content=HARD_TEXT),
    ),
    "8 the same in a fence": (
        Said("```json\n" + json.dumps({"type": "Type", "content": HARD_TEXT}) + "\n```"),
        Type(content=HARD_TEXT),
    ),
    "9 a fence of another language first": (Said(f"```bash\necho {{'a': 1}}\n```\n{FENCED}"), CLICK),
    "12 a list with one action": (Said(f"[{CLICK_TEXT}]"), CLICK),
    "14 the same action fenced and plain": (Said(f"{FENCED}\n{CLICK_TEXT}"), CLICK),
}
REFUSED: dict[str, tuple[Said, str]] = {
    "3 thinking that never ends": (Said(f"<think>then {CLICK_TEXT}", finish="length"), "truncated"),
    "4 cut in a string": (Said('{"type": "Type", "content": "half a', finish="length"), "truncated"),
    "4 cut, though it looks whole": (Said(CLICK_TEXT, finish="length"), "truncated"),
    "5 nothing but the reasoning field": (Said(None, reasoning=CLICK_TEXT), "empty_content"),
    "6 filtered": (Said(None, finish="content_filter"), "refused"),
    "7 a polite refusal": (Said("I'm sorry, but I can't help with that."), "no_action"),
    "10 two different actions": (Said(f"{CLICK_TEXT}\n{OTHER_TEXT}"), "multiple_actions"),
    "10 two different actions in a list": (Said(f"[{CLICK_TEXT}, {OTHER_TEXT}]"), "multiple_actions"),
    "11 an unknown action": (Said('{"type": "Teleport", "point": {"x": 1, "y": 1}}'), "unknown_action"),
    "13 an empty string": (Said(""), "empty_content"),
}


@pytest.mark.parametrize("row", READ)
def test_the_action_is_read(row: str) -> None:
    said, action = READ[row]
    [move] = load_dialect("canonical").read(said, PICTURE).moves
    assert move.action == action


@pytest.mark.parametrize("row", REFUSED)
def test_nothing_is_read(row: str) -> None:
    said, code = REFUSED[row]
    with pytest.raises(ActionError) as caught:
        load_dialect("canonical").read(said, PICTURE)
    assert caught.value.code == code
