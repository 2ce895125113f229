"""The grammars of UI-Venus: version 2 on desktop, browser, mobile, puzzles and grounding, and version 1.5.

Version 2 wraps calls in `<action>`; on the desktop one call may be a `Sequence`, and a puzzle's block is a list.
Desktop and puzzle numbers are divided by 999, the others by 1000. What is kept, and what is not:

- A line break in typed text stays a line break. The desktop's own harness presses Enter there.
- Desktop `Swipe` turns the wheel at the pointer, which a reply does not tell: the picture's centre is taken, with the
  flag `at_centre`; the amount only gives the direction. A click without a point is refused.
- `Hotkey` with `repeat=n` counts as a `Sequence` of n hotkeys.
- Held buttons have no counterpart and are refused.
"""

from __future__ import annotations

from pipeline.actions import (
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
from pipeline.dialects.calls import Call
from pipeline.dialects.forms import Coordinates, Tagged
from pipeline.dialects.grammar import MOST_ACTIONS, Grammar, Utterance, Verb
from pipeline.dialects.slots import At, Keys, Slot, Way, Wheel, Whole, point, start_and_end, text
from pipeline.dialects.spaces import RELATIVE_999, RELATIVE_1000, shown
from pipeline.errors import ActionError

_PATCH = 32
_CONTENT = text("content")
_MAYBE_CONTENT = text("content", default="")
_STROKE = start_and_end("start", "end")
_KEYS = Slot("keys", ("keys",), Keys())
_HELD_KEYS = Slot("keys", ("key", "keys"), Keys())
_WAY = Slot("direction", ("direction",), Way())
_CENTRE = Slot("point", (), At(optional=True))

_TYPE = Verb("Type", Type, (_CONTENT,))
_WAIT = Verb("Wait", Wait)
_CALL_USER = Verb("CallUser", CallUser, (_MAYBE_CONTENT,))
_FINISHED = Verb("Finished", Finished, (_MAYBE_CONTENT,))
_DRAG = Verb("Drag", Drag, _STROKE)

_HELD = "held buttons are not supported; use Drag"


class DesktopCalls(Tagged):
    """Tagged calls with sequences, in which a hotkey may be repeated."""

    def __init__(self) -> None:
        super().__init__(sequences=True)

    def children(self, call: Call) -> Utterance:
        """The calls of a Sequence, a repeated hotkey as often as it says."""
        return tuple(hotkey for child in super().children(call) for hotkey in _repeated(child))


def _repeated(call: Call) -> Utterance:
    if call.name.lower() != "hotkey" or "repeat" not in call.arguments:
        return (call,)
    times = call.arguments["repeat"]
    if isinstance(times, bool) or not isinstance(times, int) or not 1 <= times <= MOST_ACTIONS:
        raise ActionError("bad_arguments", f"repeat is a number from 1 to {MOST_ACTIONS}, not {shown(times)}")
    once = Call(call.name, {key: value for key, value in call.arguments.items() if key != "repeat"})
    return (once,) * times


def _wheel(axis: str, positive: str, negative: str) -> Verb:
    """One axis of the desktop's Swipe."""
    way = Slot("direction", ("amount",), Wheel(positive, negative, 5))
    return Verb("Swipe", Scroll, (_CENTRE, way), fixed={"axis": axis}, platforms=("desktop",))


DESKTOP = Grammar(
    "ui-venus-2-desktop",
    ("desktop",),
    RELATIVE_999,
    DesktopCalls(),
    (
        Verb("Click", Click, (point("box"),)),
        Verb("DoubleClick", DoubleClick, (point("box"),)),
        Verb("TripleClick", TripleClick, (point("box"),)),
        Verb("RightClick", RightClick, (point("box"),)),
        Verb("MiddleClick", MiddleClick, (point("box"),)),
        Verb("Hover", Hover, (point("box"),)),
        _DRAG,
        _wheel("vertical", "up", "down"),
        _wheel("horizontal", "right", "left"),
        _TYPE,
        Verb("Hotkey", Hotkey, (_KEYS,)),
        Verb("KeyDown", KeyDown, (_HELD_KEYS,)),
        Verb("KeyUp", KeyUp, (_HELD_KEYS,)),
        _WAIT,
        _CALL_USER,
        _FINISHED,
    ),
    {"MouseDown": _HELD, "MouseUp": _HELD},
    patch=_PATCH,
)

BROWSER = Grammar(
    "ui-venus-2-browser",
    ("web",),
    RELATIVE_1000,
    Tagged(),
    (
        Verb("Click", Click, (point("point"),)),
        Verb("DoubleClick", DoubleClick, (point("point"),)),
        Verb("LongPress", LongPress, (point("point"),), ignored=("duration",)),
        Verb("Hover", Hover, (point("point"),)),
        _DRAG,
        Verb("Scroll", Scroll, (point("point"), _WAY)),
        _TYPE,
        Verb("Hotkey", Hotkey, (_KEYS,)),
        Verb("SelectOption", SelectOption, (Slot("index", ("index",), Whole()),)),
        Verb("Launch", Launch, (text("url"),)),
        Verb("GetUrl", GetUrl),
        Verb("TakeNote", TakeNote, (_CONTENT,)),
        Verb("PressBack", PressBack),
        Verb("PressHome", PressHome, platforms=("web",)),
        Verb("PressEnter", PressEnter),
        _WAIT,
        _CALL_USER,
        _FINISHED,
    ),
    {
        "Upload": "files cannot be handed to a page",
        "Download": "downloads are kept without being asked for",
    },
    patch=_PATCH,
)

_TOUCH = (
    Verb("Click", Click, (point("point"),)),
    Verb("DoubleClick", DoubleClick, (point("point"),)),
    Verb("LongPress", LongPress, (point("point"),)),
    _DRAG,
    Verb("Swipe", Swipe, _STROKE),
    _TYPE,
    Verb("LaunchApp", LaunchApp, (text("app"),)),
    Verb("GetScreenshot", GetScreenshot),
    Verb("PressBack", PressBack),
    Verb("PressHome", PressHome),
    Verb("PressEnter", PressEnter),
    Verb("PressRecent", PressRecent),
    _WAIT,
    Verb("Answer", Answer, (_CONTENT,)),
    _CALL_USER,
    _FINISHED,
)
MOBILE = Grammar("ui-venus-2-mobile", ("mobile",), RELATIVE_1000, Tagged(), _TOUCH, patch=_PATCH)

PUZZLE = Grammar(
    "ui-venus-2-puzzle",
    ("web", "mobile", "desktop"),
    RELATIVE_999,
    Tagged(lists=True),
    (
        Verb("Click", Click, (point("box"),)),
        Verb("LongPress", LongPress, (point("box"),)),
        _DRAG,
        _TYPE,
    ),
    patch=_PATCH,
)

GROUNDING = Grammar(
    "ui-venus-2-grounding",
    ("web", "mobile", "desktop"),
    RELATIVE_1000,
    Coordinates(),
    (
        Verb(Coordinates.POINT, Click, (point("point", boxes=True),)),
        Verb(Coordinates.NOWHERE, Finished, refuses=True),
    ),
    patch=_PATCH,
)

VERSION_1_5 = Grammar(
    "ui-venus-1.5",
    ("web", "mobile"),
    RELATIVE_1000,
    Tagged(),
    (
        Verb("Click", Click, (point("box"),)),
        Verb("DoubleClick", DoubleClick, (point("box"),)),
        Verb("LongPress", LongPress, (point("box"),)),
        Verb("Hover", Hover, (point("box"),)),
        _DRAG,
        Verb("Scroll", Swipe, _STROKE, ignored=("direction",), platforms=("mobile",)),
        Verb("Scroll", Scroll, (_CENTRE, _WAY), platforms=("web",)),
        _TYPE,
        Verb("Hotkey", Hotkey, (_KEYS,)),
        Verb("Launch", Launch, (text("url"),)),
        Verb("Launch", LaunchApp, (text("app"),)),
        Verb("PressBack", PressBack),
        Verb("PressHome", PressHome),
        Verb("PressEnter", PressEnter),
        Verb("PressRecent", PressRecent),
        _WAIT,
        _CALL_USER,
        _FINISHED,
    ),
    patch=_PATCH,
)
