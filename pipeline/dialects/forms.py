"""Forms of replies: where in a reply the actions stand, and how they are spelled.

Tagged calls, calls after a label, JSON objects, JSON tool calls, bare coordinates. In each, the reasoning is taken away
first, and text that only looks like an action somewhere in prose is none. Forms know no verbs.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence

from pipeline.dialects.calls import Call, looks_like_call, read_calls, without_tags, write_call
from pipeline.dialects.grammar import Parts, Utterance
from pipeline.dialects.reasoning import part_reasoning, plain
from pipeline.errors import ActionError
from pipeline.jsontext import json_values
from pipeline.words import Platform

_ACTION_LABEL = re.compile(r"^[ \t]*Action\s*[:：]", re.IGNORECASE | re.MULTILINE)
_TOOL_CALL = re.compile(r"<tool_call\s*>", re.IGNORECASE)
SEQUENCE = "Sequence"
_SEQUENCE_LINES = {
    "en": "Sequence(actions=[…, …]) holds 2 to 32 actions that need no look in between.",
    "zh": "Sequence(actions=[…, …]) 可含 2 到 32 个中间无需再看屏幕的动作。",
}


class Tagged:
    """`<think>…</think>`, then calls between action tags; a reply that is nothing but a call needs no tags.

    With `lists`, the calls of one block belong together (puzzles). With `sequences`, one call holds a list of calls.
    """

    def __init__(self, tag: str = "action", *, lists: bool = False, sequences: bool = False) -> None:
        self._tag = tag
        self._lists = lists
        self._sequences = sequences
        # A closing tag may be missing: it is a common stop word of servers.
        self._block = re.compile(rf"<{tag}\s*>(.*?)(?:</{tag}\s*>|\Z)", re.IGNORECASE | re.DOTALL)

    def read(self, text: str) -> Parts:
        """The calls of each block."""
        thought, rest = part_reasoning(text)
        blocks = self._block.findall(rest)
        if not blocks and looks_like_call(rest):
            blocks = [_whole(rest)]
        return Parts(thought, [sentence for block in blocks for sentence in self._sentences(block)])

    def write(self, calls: Utterance, thought: str) -> str:
        """The thought and one block."""
        said = f"<{self._tag}>{self._list(calls)}</{self._tag}>"
        bare = plain(thought)
        return f"<think>{bare}</think>\n{said}" if bare else said

    def write_one(self, call: Call) -> str:
        """The call."""
        return write_call(call)

    def pair(self, first: object, second: object) -> object:
        """A tuple."""
        return (first, second)

    def envelope(self, _platform: Platform, language: str, /) -> str:
        """What stands around an action."""
        line = envelope(f"<think>…</think><{self._tag}>…</{self._tag}>", language, several=self._lists)
        return f"{line}\n{_SEQUENCE_LINES[language]}" if self._sequences else line

    def _sentences(self, block: str) -> list[Utterance]:
        calls = read_calls(block)
        if self._lists:
            return [tuple(calls)]
        return [self.children(call) for call in calls]

    def children(self, call: Call) -> Utterance:
        """The calls that a call stands for: itself, or those of a Sequence; raises ActionError."""
        if not self._sequences or call.name.lower() != SEQUENCE.lower():
            return (call,)
        children = call.arguments.get("actions")
        if len(call.arguments) != 1 or not isinstance(children, list) or len(children) < 2:
            raise ActionError("bad_arguments", "a Sequence is a list of two or more actions")
        calls = tuple(child for child in children if isinstance(child, Call) and child.name.lower() != SEQUENCE.lower())
        if len(calls) != len(children):
            raise ActionError("bad_arguments", "a Sequence holds actions and no further Sequence")
        return calls

    def _list(self, calls: Utterance) -> str:
        if len(calls) == 1:
            return self.write_one(calls[0])
        if self._lists and calls:
            return ",".join(map(self.write_one, calls))
        if self._sequences and calls:
            return write_call(Call(SEQUENCE, {"actions": list(calls)}))
        raise _too_many(calls)


class Labelled:
    """`Thought: …`, then `Action: ` and a call; points are texts."""

    def read(self, text: str) -> Parts:
        """The calls after each label."""
        thought, rest = part_reasoning(text)
        before, *actions = _ACTION_LABEL.split(rest)
        if not actions and looks_like_call(rest):
            actions = [_whole(rest)]
        calls = [(call,) for action in actions for call in read_calls(action)]
        return Parts(thought or plain(before), calls)

    def write(self, calls: Utterance, thought: str) -> str:
        """The thought and the call, each after its label."""
        bare = plain(thought)
        return f"{f'Thought: {bare}' + chr(10) if bare else ''}Action: {self.write_one(_only(calls))}"

    def write_one(self, call: Call) -> str:
        """The call."""
        return write_call(call)

    def pair(self, first: object, second: object) -> object:
        """A text."""
        return f"({first},{second})"

    def envelope(self, _platform: Platform, language: str, /) -> str:
        """What stands around an action."""
        return envelope("Thought: …\\nAction: …", language)


class JsonObject:
    """One JSON object whose `type` is the action, bare or fenced, alone or the only one of a list."""

    def __init__(self, *, listed_points: bool = False) -> None:
        self._listed_points = listed_points

    def read(self, text: str) -> Parts:
        """Every object of the reply that has a type."""
        found = json_values(text)
        calls: list[Utterance] = []
        for item in found:
            for value in item.value if isinstance(item.value, list) else [item.value]:
                if isinstance(value, dict) and isinstance(name := value.get("type"), str):
                    calls.append((Call(name, {key: value[key] for key in value if key != "type"}),))
        return Parts(plain(text[: found[0].start]) if found else "", calls)

    def write(self, calls: Utterance, thought: str) -> str:
        """The thought between tags, where braces do no harm, and the object."""
        bare = plain(thought)
        said = self.write_one(_only(calls))
        return f"<think>{bare}</think>\n{said}" if bare else said

    def write_one(self, call: Call) -> str:
        """The object."""
        return _json({"type": call.name, **call.arguments})

    def pair(self, first: object, second: object) -> object:
        """An object, or a list where the order has to show."""
        return [first, second] if self._listed_points else {"x": first, "y": second}

    def envelope(self, _platform: Platform, language: str, /) -> str:
        """What stands around an action."""
        return envelope("<think>…</think>{…}", language)


class ToolCall:
    """JSON tool calls whose argument `action` is the action; `frame` holds the thought in place of `…`.

    Phones and computers may have a tool each: then `touch_words` are the actions that only the phone's has.
    """

    def __init__(self, tools: tuple[str, ...], frame: str, touch_words: frozenset[str] = frozenset()) -> None:
        self._tools = tools
        self._frame = frame
        self._touch_words = touch_words

    def read(self, text: str) -> Parts:
        """The object after each tag, or, without tags, every object of the reply that is a call."""
        thought, rest = part_reasoning(text)
        before, *tagged = _TOOL_CALL.split(rest)
        values = [found.value for piece in tagged for found in json_values(piece)[:1]]
        if not tagged:
            before, values = "", [found.value for found in json_values(rest)]
        calls = [self._spoken(value) for value in values if isinstance(value, dict)]
        return Parts(thought or plain(before), [(call,) for call in calls if call])

    def write(self, calls: Utterance, thought: str) -> str:
        """The thought in its frame, and the call between tags."""
        bare = plain(thought)
        call = _only(calls)
        said = f'{{"name": "{self._tool(call.name)}", "arguments": {self.write_one(call)}}}'
        return f"{self._frame.replace('…', bare) if bare else ''}<tool_call>\n{said}\n</tool_call>"

    def write_one(self, call: Call) -> str:
        """The arguments."""
        return _json({"action": call.name, **call.arguments})

    def pair(self, first: object, second: object) -> object:
        """A list."""
        return [first, second]

    def envelope(self, platform: Platform, language: str, /) -> str:
        """What stands around an action."""
        tool = self._tools[-1] if platform == "mobile" else self._tools[0]
        call = f'<tool_call>{{"name": "{tool}", "arguments": {{…}}}}</tool_call>'
        return envelope(self._frame.strip().replace("\n", "") + call, language)

    def _tool(self, word: str) -> str:
        return self._tools[-1] if word in self._touch_words else self._tools[0]

    def _spoken(self, value: dict[str, object]) -> Call | None:
        """The call that an object is; null when it is none."""
        tool = value.get("name")
        given = value.get("arguments")
        arguments = given if isinstance(given, dict) else {key: value[key] for key in value if key != "name"}
        action = arguments.get("action")
        if isinstance(action, str) and (tool is None or tool in self._tools):
            return Call(action, {key: arguments[key] for key in arguments if key != "action"})
        return Call(tool, arguments) if isinstance(tool, str) else None


class Coordinates:
    """Nothing but a point or a box in brackets; -1 twice says that there is no such place."""

    POINT = "point"
    NOWHERE = "nowhere"

    def read(self, text: str) -> Parts:
        """Every list of numbers."""
        thought, rest = part_reasoning(text)
        lists = [found.value for found in json_values(rest) if isinstance(found.value, list)]
        return Parts(thought, [(self._call(numbers),) for numbers in lists])

    def write(self, calls: Utterance, thought: str) -> str:
        """The list; grounding models give no thought."""
        bare = plain(thought)
        said = self.write_one(_only(calls))
        return f"<think>{bare}</think>\n{said}" if bare else said

    def write_one(self, call: Call) -> str:
        """The list."""
        return "[-1, -1]" if call.name == self.NOWHERE else _json(call.arguments[self.POINT])

    def pair(self, first: object, second: object) -> object:
        """A list."""
        return [first, second]

    def envelope(self, _platform: Platform, language: str, /) -> str:
        """What stands around an action."""
        return envelope("[…]", language)

    def _call(self, numbers: list[object]) -> Call:
        if numbers == [-1, -1]:
            return Call(self.NOWHERE, {})
        return Call(self.POINT, {self.POINT: numbers})


def _whole(text: str) -> str:
    """The text of a reply that is one call and nothing else; raises ActionError `no_action` for a call in prose."""
    bare = text.strip()
    if not bare.endswith(")"):
        raise ActionError("no_action", "what looks like an action stands in other text")
    return bare


def _json(value: object) -> str:
    return without_tags(json.dumps(value, ensure_ascii=False), "\\u003c")


def _only(calls: Sequence[Call]) -> Call:
    if len(calls) != 1:
        raise _too_many(calls)
    return calls[0]


def _too_many(calls: Sequence[Call]) -> ActionError:
    if not calls:
        return ActionError("no_action", "there is nothing to say")
    return ActionError("multiple_actions", f"{len(calls)} actions do not fit into one reply of this dialect")


def envelope(around: str, language: str, *, several: bool = False) -> str:
    """One line about what stands around an action, for a prompt."""
    if language == "zh":
        return f"按此格式回答，{'写出全部动作，以逗号分隔' if several else '每次只给一个动作'}：{around}"
    return f"Answer in this form, with {'all actions, separated by commas' if several else 'one action'}: {around}"
