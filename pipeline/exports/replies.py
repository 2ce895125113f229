"""The text an export teaches: a thought and an action in one envelope, read back exactly, and where its parts lie.

Only the canonical spelling is known here; how models spell actions otherwise is not.
"""

from __future__ import annotations

import json
import re
from typing import NamedTuple

from pydantic import ValidationError

from pipeline.actions import ACTION, Action, Model, render

_REPLY = re.compile(r"(?:<think>(?P<thought>.*?)</think>\n)?<action>(?P<action>.*)</action>", re.DOTALL)
_TAG = re.compile(r"</?(?:think|action)>", re.IGNORECASE)
_OPENING, _CLOSING = "<action>", "</action>"


class Spoken(NamedTuple):
    """What a reply says."""

    thought: str
    action: Action


class Span(Model):
    """A stretch of a reply, in characters: `type` or the name of a parameter; `end` is exclusive."""

    name: str
    start: int
    end: int


def reply_of(thought: str, action: Action) -> str:
    """The reply that says this; an empty thought is left out."""
    words = thought.strip()
    thinking = f"<think>{words}</think>\n" if words else ""
    return f"{thinking}{_OPENING}{render(action)}{_CLOSING}"


def read_reply(reply: str) -> Spoken | None:
    """What a reply says, or null when it is not exactly in the form of `reply_of`, or has its tags in other places."""
    found = _REPLY.fullmatch(reply)
    if found is None or _TAG.search(f"{found['thought'] or ''} {found['action']}"):
        return None
    try:
        action = ACTION.validate_json(found["action"])
    except ValidationError:
        return None
    spoken = Spoken(found["thought"] or "", action)
    return spoken if reply_of(spoken.thought, action) == reply else None


def spans_of(reply: str) -> list[Span]:
    """Where the action's type and each of its parameters stand in a reply; raises ValueError for another text."""
    found = _REPLY.fullmatch(reply)
    if found is None or read_reply(reply) is None:
        raise ValueError("not a reply in the canonical form")
    return _members(reply, found.start("action"))


def _members(text: str, at: int) -> list[Span]:
    """The values of the JSON object that begins at a place, without the quotes of strings."""
    decoder = json.JSONDecoder()
    spans = []
    while text[at] in "{,":
        name, colon = decoder.raw_decode(text, at + 1)
        value, end = decoder.raw_decode(text, colon + 1)
        quote = 1 if isinstance(value, str) else 0
        spans.append(Span(name=name, start=colon + 1 + quote, end=end - quote))
        at = end
    return spans
