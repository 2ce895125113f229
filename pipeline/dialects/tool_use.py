"""Tool-call grammars of the Qwen family on phones and computers: Qwen3-VL, GUI-Owl, MAI-UI.

What is kept, and what is not:

- `terminate` with any status but success is these grammars' only way to say that a task cannot be done.
- A swipe by direction goes a third of the picture, from its point or else from the centre.
- A wheel's amount only gives the direction; without a point it turns at the picture's centre, flag `at_centre`.
- `left_click_drag` starts at the pointer, which a reply does not tell: it is refused, like clicks we do not have.
"""

from __future__ import annotations

from pipeline.actions import (
    Answer,
    CallUser,
    Click,
    DoubleClick,
    Drag,
    Finished,
    Hotkey,
    Hover,
    LaunchApp,
    LongPress,
    PressBack,
    PressEnter,
    PressHome,
    PressRecent,
    RightClick,
    Scroll,
    Swipe,
    Type,
    Wait,
)
from pipeline.dialects.forms import ToolCall
from pipeline.dialects.grammar import Grammar, Verb
from pipeline.dialects.slots import At, Keys, Slot, Towards, Wheel, point, start_and_end, text
from pipeline.dialects.spaces import RELATIVE_999, RELATIVE_1000
from pipeline.words import Platform

_COMPUTERS: tuple[Platform, ...] = ("web", "desktop")
_PHONES: tuple[Platform, ...] = ("mobile",)
_POINT = point("coordinate")
_HELD = ("time", "duration")

POINTER_REFUSED = {
    "left_click_drag": "it starts at the pointer, and where that is a reply does not tell",
    "triple_click": "this kind of click is not supported",
    "middle_click": "this kind of click is not supported",
}


def wheel(name: str, positive: str, negative: str, amount: int) -> Verb:
    """A wheel that turns by an amount of pixels, at a point or at the centre."""
    way = Slot("direction", ("pixels",), Wheel(positive, negative, amount))
    return Verb(name, Scroll, (point("coordinate", optional=True), way), platforms=_COMPUTERS)


def ending(success: str, *failures: str) -> tuple[Verb, ...]:
    """The verbs of `terminate`: one status for success, the others, of which one is listed, for what cannot be done."""
    refusals = (
        Verb("terminate", Finished, fixed={"status": status}, refuses=True, listed=status == failures[0])
        for status in failures
    )
    return (Verb("terminate", Finished, fixed={"status": success}), *refusals)


def _button(name: str, action: type[PressBack | PressHome | PressEnter | PressRecent]) -> Verb:
    return Verb("system_button", action, fixed={"button": name}, platforms=_PHONES)


_POINTER = (
    Verb("left_click", Click, (_POINT,), platforms=_COMPUTERS),
    Verb("double_click", DoubleClick, (_POINT,), platforms=_COMPUTERS),
    Verb("right_click", RightClick, (_POINT,)),
    Verb("mouse_move", Hover, (_POINT,)),
    wheel("scroll", "up", "down", 500),
    wheel("hscroll", "right", "left", 500),
    Verb("key", Hotkey, (Slot("keys", ("keys", "text"), Keys()),), platforms=_COMPUTERS),
)
_SHARED = (
    Verb("type", Type, (text("content", "text"),)),
    Verb("wait", Wait, ignored=_HELD),
    Verb("answer", Answer, (text("content", "text"),)),
)
_TOUCH = (
    Verb("click", Click, (_POINT,), platforms=_PHONES),
    Verb("long_press", LongPress, (_POINT,), ignored=_HELD, platforms=_PHONES),
    Verb("open", LaunchApp, (text("app", "text"),), platforms=_PHONES),
    _button("Back", PressBack),
    _button("Home", PressHome),
    _button("Menu", PressRecent),
    _button("Enter", PressEnter),
)
_SWIPE = Verb("swipe", Swipe, start_and_end("coordinate", "coordinate2"), platforms=_PHONES)
_SWIPE_TOWARDS = Verb(
    "swipe",
    Swipe,
    (Slot("start", ("coordinate",), At(optional=True)), Slot("end", ("direction",), Towards())),
    platforms=_PHONES,
)
_DRAG = Verb("drag", Drag, start_and_end("start_coordinate", "end_coordinate"), platforms=_PHONES)
_TOUCH_WORDS = frozenset({"click", "long_press", "swipe", "open", "system_button", "drag"})

QWEN3_VL = Grammar(
    "qwen3-vl",
    ("web", "mobile", "desktop"),
    RELATIVE_999,
    ToolCall(("computer_use", "mobile_use"), "<think>…</think>\n", _TOUCH_WORDS),
    (
        *_POINTER,
        *_SHARED,
        *_TOUCH,
        _SWIPE_TOWARDS,
        _SWIPE,
        _DRAG,
        Verb("ask_user", CallUser, (text("content", "text"),)),
        *ending("success", "failure", "fail", "infeasible"),
    ),
    POINTER_REFUSED,
    patch=32,
)

GUI_OWL = Grammar(
    "gui-owl",
    ("web", "mobile", "desktop"),
    RELATIVE_1000,
    ToolCall(("computer_use", "mobile_use"), "Action: …\n", _TOUCH_WORDS),
    (
        *_POINTER,
        *_SHARED,
        *_TOUCH,
        _SWIPE,
        Verb("interact", CallUser, (text("content", "text"),)),
        *ending("success", "failure", "fail", "infeasible"),
    ),
    POINTER_REFUSED,
)

MAI_UI = Grammar(
    "mai-ui",
    ("mobile",),
    RELATIVE_999,
    ToolCall(("mobile_use",), "<thinking>\n…\n</thinking>\n"),
    (
        *_TOUCH,
        Verb("double_click", DoubleClick, (_POINT,)),
        _SWIPE_TOWARDS,
        _DRAG,
        *_SHARED,
        Verb("ask_user", CallUser, (text("content", "text"),)),
        Verb("AWAKE", LaunchApp, (text("app", "text"),), listed=False),
        Verb("INFO", CallUser, (text("content", "text"),), listed=False),
        *ending("success", "fail", "failure", "infeasible"),
    ),
    patch=32,
)
