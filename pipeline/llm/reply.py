"""What a model answered, as one typed outcome.

The finish reason is read first: a filtered or cut reply is never an answer, whatever it holds. This module knows the
form of a chat completion, not what the text means.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from pipeline.actions import Model
from pipeline.llm.endpoint import Endpoint
from pipeline.structs import Usage

Outcome = Literal["answered", "refused", "filtered", "empty", "truncated"]
_FILTERED = "content_filter"


class Reply(Model):
    """A finished call. `text` is empty where the content was null; `reasoning` is kept apart and never acted on."""

    call_id: str
    outcome: Outcome
    text: str = ""
    reasoning: str = ""
    finish: str = ""
    refusal: str | None = None
    usage: Usage = Usage()
    cached: bool = False


class UnreadableAnswerError(ValueError):
    """The answer is no chat completion."""


def reply_of(body: object, call_id: str, endpoint: Endpoint, images: int) -> Reply:
    """The reply in a chat completion's JSON; raises UnreadableAnswerError."""
    answer = _mapping(body, "the answer")
    choices = answer.get("choices")
    if not isinstance(choices, list) or not choices:
        raise UnreadableAnswerError("the answer has no choices")
    choice = _mapping(choices[0], "the first choice")
    message = _mapping(choice.get("message"), "the message")
    text, finish, refusal = _text(message.get("content")), _text(choice.get("finish_reason")), message.get("refusal")
    refused = _text(refusal) or None
    return Reply(
        call_id=call_id,
        outcome=_outcome(text, finish, refused),
        text=text,
        reasoning=_text(message.get("reasoning_content")) or _text(message.get("reasoning")),
        finish=finish,
        refusal=refused,
        usage=_usage(answer.get("usage"), endpoint, images),
    )


def filtered_reply(call_id: str, endpoint: Endpoint, images: int) -> Reply:
    """The reply of an endpoint whose filter refused the request itself."""
    return Reply(call_id=call_id, outcome="filtered", finish=_FILTERED, usage=endpoint.usage(0, 0, images))


def _outcome(text: str, finish: str, refusal: str | None) -> Outcome:
    if finish == _FILTERED:
        return "filtered"
    if refusal:
        return "refused"
    if finish == "length":
        return "truncated"
    return "answered" if text.strip() else "empty"


def _usage(usage: object, endpoint: Endpoint, images: int) -> Usage:
    counts = usage if isinstance(usage, Mapping) else {}
    return endpoint.usage(_count(counts.get("prompt_tokens")), _count(counts.get("completion_tokens")), images)


def _count(value: object) -> int:
    return max(0, value) if isinstance(value, int) else 0


def _mapping(value: object, what: str) -> Mapping[str, object]:
    if not isinstance(value, Mapping):
        raise UnreadableAnswerError(f"{what} is no JSON object")
    return value


def _text(value: object) -> str:
    """Text of a field that may be null or, with some servers, a list of parts; it can always be encoded."""
    if isinstance(value, list):
        return "".join(_text(part.get("text")) for part in value if isinstance(part, Mapping))
    return value.encode("utf-8", "replace").decode("utf-8") if isinstance(value, str) else ""
