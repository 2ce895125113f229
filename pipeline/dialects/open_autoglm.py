"""The grammar of Open-AutoGLM: `do(action="Tap", element=[x,y])` and `finish(message="…")` between answer tags.

Numbers are divided by 1000. `Note` and `Interact` may come without a text. A page summary (`Call_API`) has no
counterpart and is refused.
"""

from __future__ import annotations

from pipeline.actions import (
    CallUser,
    Click,
    DoubleClick,
    Finished,
    LaunchApp,
    LongPress,
    PressBack,
    PressHome,
    Swipe,
    TakeNote,
    Type,
    Wait,
)
from pipeline.dialects.calls import Call, write_call
from pipeline.dialects.forms import Tagged
from pipeline.dialects.grammar import Grammar, Parts, Verb
from pipeline.dialects.slots import point, start_and_end, text
from pipeline.dialects.spaces import RELATIVE_1000

_FINISH = "finish"


class DoCall(Tagged):
    """Tagged calls in which `do` carries the name of the action as an argument."""

    def read(self, text: str) -> Parts:
        """The calls, under the names of their actions."""
        parts = super().read(text)
        return Parts(parts.thought, [(_named(call),) for (call,) in parts.utterances])

    def write_one(self, call: Call) -> str:
        """The call, as an argument of `do` unless it ends the task."""
        return write_call(call if call.name == _FINISH else Call("do", {"action": call.name, **call.arguments}))

    def pair(self, first: object, second: object) -> object:
        """A list."""
        return [first, second]


def _named(call: Call) -> Call:
    name = call.arguments.get("action")
    if call.name.lower() != "do" or not isinstance(name, str):
        return call
    return Call(name, {key: value for key, value in call.arguments.items() if key != "action"})


_AT = point("element")

OPEN_AUTOGLM = Grammar(
    "open-autoglm",
    ("mobile",),
    RELATIVE_1000,
    DoCall("answer"),
    (
        Verb("Tap", Click, (_AT,), ignored=("message",)),
        Verb("Double Tap", DoubleClick, (_AT,)),
        Verb("Long Press", LongPress, (_AT,)),
        Verb("Swipe", Swipe, start_and_end("start", "end")),
        Verb("Type", Type, (text("content", "text"),)),
        Verb("Type_Name", Type, (text("content", "text"),), listed=False),
        Verb("Launch", LaunchApp, (text("app"),)),
        Verb("Back", PressBack),
        Verb("Home", PressHome),
        Verb("Wait", Wait, ignored=("duration",)),
        Verb("Take_over", CallUser, (text("content", "message", default=""),)),
        Verb("Interact", CallUser, (text("content", "message", default=""),), listed=False),
        Verb("Note", TakeNote, (text("content", "message", default=""),)),
        Verb(_FINISH, Finished, (text("content", "message", default=""),)),
    ),
    {"Call_API": "pages are not summarised on demand"},
)
