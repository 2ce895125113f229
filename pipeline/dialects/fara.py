"""The grammars of Fara: version 1 in pixels of the resized picture, version 1.5 on a fixed 1000 x 1000.

One `type` of these models may click a field, empty it, type, and press Enter. It is one action of theirs and several of
ours, in this order: Click, Hotkey Control+a, Type, PressEnter; typing replaces what is selected. The rest is as in the
Qwen family's computer tool. Searching the web, reading a page aloud and reloading have no counterpart and are refused.
"""

from __future__ import annotations

from collections.abc import Sequence

from pipeline.actions import (
    CallUser,
    Click,
    DoubleClick,
    Finished,
    Hotkey,
    Hover,
    Launch,
    PressBack,
    RightClick,
    TakeNote,
    Type,
    Wait,
)
from pipeline.dialects.base import INFEASIBLE
from pipeline.dialects.calls import Call
from pipeline.dialects.forms import ToolCall
from pipeline.dialects.grammar import Grammar, Parts, Utterance, Verb
from pipeline.dialects.slots import Keys, Refusal, Slot, point, text
from pipeline.dialects.spaces import RELATIVE_1000, RESIZED_PIXELS
from pipeline.dialects.tool_use import POINTER_REFUSED, ending, wheel
from pipeline.errors import ActionError
from pipeline.words import Platform

_SELECT_ALL = {"keys": ["Control", "a"]}
_ENTER = {"keys": ["Enter"]}
_TYPE_LINES = {
    "en": "type may also have coordinate (clicked first), delete_existing_text and press_enter (true or false).",
    "zh": "type 还可带 coordinate（先点击该处）、delete_existing_text 和 press_enter（true 或 false）。",
}
_SWITCHES = ("delete_existing_text", "press_enter")


class FaraCall(ToolCall):
    """The tool call, with `type` taken apart and put together."""

    def read(self, text: str) -> Parts:
        """The calls, each `type` as the calls it stands for."""
        parts = super().read(text)
        return Parts(parts.thought, [_apart(call) for (call,) in parts.utterances])

    def envelope(self, platform: Platform, language: str, /) -> str:
        """What stands around an action, and what else `type` can do."""
        return f"{super().envelope(platform, language)}\n{_TYPE_LINES[language]}"

    def write(self, calls: Utterance, thought: str) -> str:
        """The reply; calls that make up one `type` become that."""
        return super().write(_together(calls), thought)


def _apart(call: Call) -> Utterance:
    """A `type` as click, selection, text and Enter, as far as it has them."""
    if call.name.lower() != "type":
        return (call,)
    switches = [call.arguments.get(switch, False) for switch in _SWITCHES]
    if not all(isinstance(switch, bool) for switch in switches):
        raise ActionError("bad_arguments", f"{' and '.join(_SWITCHES)} are true or false")
    point_key = "coordinate"
    rest = {key: value for key, value in call.arguments.items() if key not in (*_SWITCHES, point_key)}
    calls = [Call(call.name, rest)]
    if switches[0]:
        calls.insert(0, Call("key", _SELECT_ALL))
    if point_key in call.arguments:
        calls.insert(0, Call("left_click", {point_key: call.arguments[point_key]}))
    if switches[1]:
        calls.append(Call("key", _ENTER))
    return tuple(calls)


def _together(calls: Sequence[Call]) -> Utterance:
    """The one `type` that stands for several calls; the calls as they are when none does."""
    arguments: dict[str, object] = {}
    left = list(calls)
    if len(left) > 1 and left[0].name == "left_click":
        arguments |= left.pop(0).arguments
    if len(left) > 1 and left[0] == Call("key", _SELECT_ALL):
        arguments["delete_existing_text"] = bool(left.pop(0))
    if len(left) > 1 and left[-1] == Call("key", _ENTER):
        arguments["press_enter"] = bool(left.pop())
    if arguments and len(left) == 1 and left[0].name == "type":
        return (Call("type", {**left[0].arguments, **arguments}),)
    return tuple(calls)


_POINT = point("coordinate")
_ANSWER = text("content", "answer", default="")
_WHY = Slot("content", ("answer",), Refusal(INFEASIBLE), default=INFEASIBLE)
_REFUSED = {
    **POINTER_REFUSED,
    "web_search": "there is no search by itself; visit a search page",
    "read_page_answer_question": "pages are seen, not read aloud",
    "refresh": "reloading is not supported; visit the address again",
}
_SHARED = (
    Verb("key", Hotkey, (Slot("keys", ("keys",), Keys(lower=False)),)),
    Verb("type", Type, (text("content", "text"),)),
    Verb("mouse_move", Hover, (_POINT,)),
    Verb("left_click", Click, (_POINT,)),
    wheel("scroll", "up", "down", 500),
    Verb("visit_url", Launch, (text("url"),)),
    Verb("history_back", PressBack),
    Verb("pause_and_memorize_fact", TakeNote, (text("content", "fact"),)),
    Verb("wait", Wait, ignored=("time", "duration")),
)

VERSION_1 = Grammar(
    "fara",
    ("web",),
    RESIZED_PIXELS,
    FaraCall(("computer_use",), "…\n"),
    (*_SHARED, *ending("success", "failure", "infeasible")),
    _REFUSED,
)

VERSION_1_5 = Grammar(
    "fara-1.5",
    ("web",),
    RELATIVE_1000,
    FaraCall(("computer_use",), "…\n"),
    (
        *_SHARED,
        Verb("double_click", DoubleClick, (_POINT,)),
        Verb("right_click", RightClick, (_POINT,)),
        wheel("hscroll", "right", "left", 500),
        Verb("ask_user_question", CallUser, (text("content", "question"),)),
        # The refusal comes first: in writing, it takes only the texts that are marked as one.
        Verb("terminate", Finished, (_WHY,), fixed={"status": "failure"}, refuses=True),
        Verb("terminate", Finished, (_ANSWER,), fixed={"status": "success"}),
        Verb("terminate", Finished, (_ANSWER,), listed=False),
    ),
    _REFUSED,
)
