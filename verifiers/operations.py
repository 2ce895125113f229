"""What kind of move an action is: looking, going, entering, pressing or ending. Knows nothing of its effect."""

from __future__ import annotations

from typing import Literal, assert_never

from pipeline.actions import (
    AcceptDialog,
    Action,
    Answer,
    CallUser,
    Click,
    DoubleClick,
    Drag,
    Finished,
    GetScreenshot,
    GetUrl,
    Hotkey,
    Hover,
    KeyDown,
    KeyUp,
    Launch,
    LaunchApp,
    LongPress,
    MiddleClick,
    PressBack,
    PressEnter,
    PressHome,
    PressRecent,
    RightClick,
    Scroll,
    SelectOption,
    Swipe,
    TakeNote,
    TripleClick,
    Type,
    Wait,
)
from pipeline.records import Record, Step

Move = Literal["look", "go", "enter", "press", "end"]
"""`look` changes nothing, `go` moves between places, `enter` fills something in, `press` sets something off."""

_LOOKING_KEYS = frozenset(
    ["pageup", "pagedown", "home", "end", "arrowup", "arrowdown", "arrowleft", "arrowright", "tab", "escape", "f5"]
)
_TAB_CHORDS = frozenset(
    [frozenset(["control", key]) for key in ("t", "w", "n", "r", "f", "l", "a", "c", "tab", "pageup", "pagedown")]
    + [frozenset(["alt", "arrowleft"]), frozenset(["alt", "arrowright"]), frozenset(["alt", "tab"])]
)


def move_of(action: Action) -> Move:
    """The kind of move an action is."""
    match action:
        case Scroll() | Swipe() | Hover() | Wait() | GetUrl() | GetScreenshot() | TakeNote():
            return "look"
        case Launch() | LaunchApp() | PressBack() | PressHome() | PressRecent():
            return "go"
        case Type() | SelectOption():
            return "enter"
        case Hotkey():
            return "look" if _only_looks(action) else "press"
        case Click() | DoubleClick() | TripleClick() | RightClick() | MiddleClick() | LongPress() | Drag():
            return "press"
        case KeyDown() | KeyUp() | PressEnter() | AcceptDialog():
            return "press"
        case Answer() | CallUser() | Finished():
            return "end"
        case _:
            assert_never(action)


def task_specific(step: Step) -> bool:
    """Whether the step did something that a task may ask for: no launch, no change of tab, no scrolling."""
    if step.action is None or step.status != "ok" or isinstance(step.action, AcceptDialog):
        return False
    if step.target is not None and step.target.role == "tab":
        return False
    return move_of(step.action) in ("enter", "press")


def any_task_specific(record: Record) -> bool:
    """Whether any step that the policy asked for was a task-specific operation."""
    return any(task_specific(step) for step in record.own_steps)


def _only_looks(action: Hotkey) -> bool:
    keys = frozenset(key.casefold() for key in action.keys)
    keys = frozenset("control" if key in ("ctrl", "meta", "cmd") else key for key in keys)
    return keys in _TAB_CHORDS or keys - {"shift", "control"} <= _LOOKING_KEYS
