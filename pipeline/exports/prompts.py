"""What the model is told and shown: the system text, a step's prompt with its history, a trajectory as a chat.

Text from tasks and screens goes in as it is; whether it may is for the preflight.
"""

from __future__ import annotations

import inspect
from collections.abc import Mapping, Sequence
from functools import cache
from importlib import resources
from typing import get_args

from pipeline.actions import Action, Point, render
from pipeline.exports.replies import reply_of
from pipeline.exports.rows import Message, Part, Role
from pipeline.records import Step
from pipeline.words import Platform

_PHONE = frozenset({"GetScreenshot", "LaunchApp", "LongPress", "PressHome", "PressRecent", "Swipe"})
_BROWSER = frozenset({"AcceptDialog", "GetUrl", "Launch", "SelectOption"})
_POINTER = frozenset({"Hotkey", "Hover", "RightClick", "Scroll"})
_DESKTOP = frozenset({"KeyDown", "KeyUp", "MiddleClick", "TripleClick"})
_ELSEWHERE: Mapping[Platform, frozenset[str]] = {
    "web": _PHONE | _DESKTOP,
    "mobile": _BROWSER | _POINTER | _DESKTOP,
    "desktop": _BROWSER | {"GetScreenshot", "PressHome", "PressRecent"},
}
"""Actions that a platform does not have."""

_PLACES: Mapping[Platform, str] = {"web": "web browser", "mobile": "phone", "desktop": "desktop computer"}
_FIRST_STEP = "This is the first step."


def text(words: str) -> Part:
    """A piece of text."""
    return Part(type="text", text=words)


PICTURE = Part(type="image")
"""The place of the next picture."""


def said(role: Role, *parts: Part) -> Message:
    """A message of these parts."""
    return Message(role=role, content=list(parts))


@cache
def system_text(platform: Platform) -> str:
    """What every chat on a platform begins with."""
    template = (resources.files("pipeline") / "exports" / "system.md").read_text(encoding="utf-8")
    return template.replace("{platform}", _PLACES[platform]).replace("{actions}", _actions(platform)).strip()


def step_prompt(platform: Platform, instruction: str, history: Sequence[Step]) -> list[Message]:
    """Everything before one step: the task, what was done so far in words, and the current screen."""
    words = f"Task: {instruction}\n\n{_told(history)}\n\nCurrent screen:\n"
    return [said("system", text(system_text(platform))), said("user", text(words), PICTURE)]


def task_text(instruction: str, earlier: Sequence[Step], heading: str) -> str:
    """The task, in words what was done before the first screen that is shown, if anything, and what comes now."""
    return "\n\n".join([f"Task: {instruction}", *([_told(earlier)] if earlier else []), f"{heading}\n"])


def chat(platform: Platform, instruction: str, steps: Sequence[Step], earlier: Sequence[Step] = ()) -> list[Message]:
    """A trajectory as a chat: one screen and one reply per step; `earlier` ones are told and never a reply."""
    messages = [said("system", text(system_text(platform)))]
    before = [text(task_text(instruction, earlier, "Current screen:"))]
    for step in steps:
        messages.append(said("user", *before, PICTURE))
        if step.action is not None:
            messages.append(said("assistant", text(reply_of(step.thought, step.action))))
        before = [text(f"The last action failed: {step.action_error}.\n")] if step.action_error else []
    return messages


def _told(history: Sequence[Step]) -> str:
    done = [_line(number, step, step.action) for number, step in enumerate(history, 1) if step.action]
    return "\n".join(["Actions so far:", *done]) if done else _FIRST_STEP


def _line(number: int, step: Step, action: Action) -> str:
    outcome = f" (failed: {step.action_error})" if step.action_error else ""
    return f"{number}. {render(action)}{outcome}"


def _actions(platform: Platform) -> str:
    union = get_args(get_args(Action)[0])
    lines = (_described(kind) for kind in union if kind.__name__ not in _ELSEWHERE[platform])
    return "".join(f"{line}\n" for line in lines)


def _described(kind: type[Action]) -> str:
    fields = (f',"{name}":{_example(info.annotation)}' for name, info in kind.model_fields.items() if name != "type")
    return f'- {{"type":"{kind.__name__}"{"".join(fields)}}} {inspect.getdoc(kind)}'


def _example(annotation: object) -> str:
    if annotation is Point:
        return '{"x":0,"y":0}'
    if annotation is str:
        return '"..."'
    if annotation is int:
        return "0"
    return '["..."]' if annotation == list[str] else '"' + "|".join(map(str, get_args(annotation))) + '"'
