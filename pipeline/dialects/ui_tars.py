"""The grammars of UI-TARS: `Thought:` and `Action:`, points as texts such as `(x,y)` or `<point>x y</point>`.

The first version counts 0..1000; version 1.5 counts pixels of the resized picture. The names of actions are the same,
so the version has to be chosen by the user. A box of four numbers stands for its middle. A line break in typed text
stays a line break, also at its end, where these models mean to submit; `hotkey(key='enter')` presses Enter.
"""

from __future__ import annotations

from pipeline.actions import (
    CallUser,
    Click,
    DoubleClick,
    Drag,
    Finished,
    Hotkey,
    LaunchApp,
    LongPress,
    PressBack,
    PressHome,
    RightClick,
    Scroll,
    Type,
    Wait,
)
from pipeline.dialects.forms import Labelled
from pipeline.dialects.grammar import Grammar, Verb
from pipeline.dialects.slots import Keys, Slot, Way, point, start_and_end, text
from pipeline.dialects.spaces import RELATIVE_1000, RESIZED_PIXELS, Space


def _grammar(name: str, space: Space) -> Grammar:
    at = point("start_box", boxes=True)
    return Grammar(
        name,
        ("web", "mobile", "desktop"),
        space,
        Labelled(),
        (
            Verb("click", Click, (at,)),
            Verb("left_double", DoubleClick, (at,)),
            Verb("right_single", RightClick, (at,)),
            Verb("long_press", LongPress, (at,), ignored=("time",), platforms=("mobile",)),
            Verb("drag", Drag, start_and_end("start_box", "end_box", boxes=True)),
            Verb("scroll", Scroll, (at, Slot("direction", ("direction",), Way()))),
            Verb("type", Type, (text("content"),)),
            Verb("hotkey", Hotkey, (Slot("keys", ("key",), Keys(joined=True)),)),
            Verb("open_app", LaunchApp, (text("app", "app_name"),), platforms=("mobile",)),
            Verb("press_home", PressHome),
            Verb("press_back", PressBack, platforms=("mobile",)),
            Verb("wait", Wait),
            Verb("call_user", CallUser, (text("content", default=""),)),
            Verb("finished", Finished, (text("content", default=""),)),
        ),
    )


VERSION_1 = _grammar("ui-tars", RELATIVE_1000)
VERSION_1_5 = _grammar("ui-tars-1.5", RESIZED_PIXELS)
