"""Is a row fit for training? Every row is asked every question, in its canonical form and in its trainer's.

A row that is not goes to the table of rejected rows with all its reasons. Token counts are estimates that no tokenizer
stands behind: a third of the text's bytes, and one token per 28x28 pixels of a picture.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from typing import Any, Literal, NamedTuple

from pipeline.actions import Action, Model
from pipeline.errors import CaptureError
from pipeline.exports.replies import read_reply
from pipeline.exports.rows import AnyRow, ChatRow, LabelRow, ProcessRow, Shape, SpanRow, StepRow
from pipeline.frames import frame_of
from pipeline.structs import Image

Reason = Literal[
    "no_steps",
    "image_count",
    "undecodable_picture",
    "too_long",
    "action_not_read_back",
    "reserved_marker",
    "no_grade",
    "not_usable",
    "secret_in_view",
    "personal_data_in_view",
]

PLACEHOLDER = "<image>"
_RESERVED = re.compile(
    r"<(?:image|video|audio|bbox|ref-object)>"  # places of pictures and boxes
    r"|<[|｜][a-z0-9_▁ ]{1,40}[|｜]>"  # what most chat templates and tokenizers have
    r"|</?(?:s|bos|eos|pad|unk|mask)>|<(?:start|end)_of_(?:turn|image)>|\[/?INST\]|<</?SYS>>",
    re.IGNORECASE,
)
"""Texts that trainers or chat templates take for something else than text."""

_BYTES_PER_TOKEN = 3
_PIXELS_PER_TOKEN = 28
_KEPT = 4096


class Problem(NamedTuple):
    """One thing that is wrong with a row."""

    reason: Reason
    detail: str


class RejectedRow(Model):
    """A row that was not exported; `step_index` is null when the row stood for a whole trajectory."""

    row_id: str
    shape: Shape
    trainer: str
    split: str
    trajectory_id: str
    attempt_id: str
    step_index: int | None
    reasons: list[str]
    details: list[str]


class _Seen(NamedTuple):
    """What is known of a picture."""

    tokens: int
    problem: str | None


class Preflight:
    """Checks rows against a token limit; remembers pictures it has decoded."""

    def __init__(self, max_tokens: int, *, keeps_personal_data: bool = False) -> None:
        self._max_tokens = max_tokens
        self._keeps_personal_data = keeps_personal_data
        self._seen: dict[str, _Seen] = {}

    def problems(self, row: AnyRow, rendered: Model) -> list[Problem]:
        """Everything that is wrong with a row and what a trainer would read of it."""
        return [
            *_content_problems(row),
            *_count_problems(rendered),
            *self._picture_problems(row.images),
            *self._length_problems(row),
            *_flag_problems(row, keeps_personal_data=self._keeps_personal_data),
        ]

    def tokens(self, row: AnyRow) -> int:
        """About how many tokens a row takes."""
        text = sum(len(piece.encode()) for piece in _texts(row))
        return math.ceil(text / _BYTES_PER_TOKEN) + sum(self._look(image).tokens for image in row.images)

    def _length_problems(self, row: AnyRow) -> Iterator[Problem]:
        tokens = self.tokens(row)
        if tokens > self._max_tokens:
            yield Problem("too_long", f"about {tokens} tokens, limit {self._max_tokens}")

    def _picture_problems(self, images: Sequence[Image]) -> Iterator[Problem]:
        for number, image in enumerate(images):
            problem = self._look(image).problem
            if problem:
                yield Problem("undecodable_picture", f"picture {number}: {problem}")

    def _look(self, image: Image) -> _Seen:
        name = image.path or ""
        if name not in self._seen:
            if len(self._seen) >= _KEPT:
                self._seen.clear()
            self._seen[name] = _seen(image)
        return self._seen[name]


def placeholders(value: Any) -> int:
    """How many pictures a rendered row has places for: image parts, and `<image>` in texts."""
    match value:
        case str():
            return value.count(PLACEHOLDER)
        case {"type": "image"}:
            return 1
        case dict():
            return sum(placeholders(inner) for inner in value.values())
        case list():
            return sum(placeholders(inner) for inner in value)
        case _:
            return 0


def replies_of(row: AnyRow) -> list[tuple[str, Action]]:
    """What a row teaches to say, with the action each reply is to hold."""
    match row:
        case ChatRow():
            said = [part.text or "" for one in row.messages if one.role == "assistant" for part in one.content]
            return list(zip(said, row.actions, strict=True))
        case ProcessRow():
            return list(zip(row.completions, row.actions, strict=True))
        case StepRow() | LabelRow() | SpanRow():
            return [(row.reply, row.action)]


def _content_problems(row: AnyRow) -> Iterator[Problem]:
    replies = replies_of(row)
    if not replies:
        yield Problem("no_steps", "no step is left")
    for reply, action in replies:
        spoken = read_reply(reply)
        if spoken is None or spoken.action != action:
            # What a row says may be a secret: it is told by its ids, never by its words.
            read = spoken.action.type if spoken is not None and spoken.action is not None else "nothing"
            yield Problem("action_not_read_back", f"{read} is read, of {action.type}")
    found = sorted({match for text in _texts(row) for match in _RESERVED.findall(text)})
    if found:
        yield Problem("reserved_marker", " ".join(found))
    yield from _grade_problems(row)


def _grade_problems(row: AnyRow) -> Iterator[Problem]:
    match row:
        case ProcessRow():
            missing = [str(place) for place, label in enumerate(row.labels) if label is None]
            if missing:
                yield Problem("no_grade", f"steps {', '.join(missing)}")
        case StepRow() | SpanRow():
            if row.step_grade is None:
                yield Problem("no_grade", "the step has none")
        case ChatRow() | LabelRow():
            if row.trace_grade is None:
                yield Problem("no_grade", "the trajectory has none")
            elif not row.usable:
                yield Problem("not_usable", "side effect, secret in view, or uncalibrated panel on a rubric task")


def _count_problems(rendered: Model) -> Iterator[Problem]:
    plain = rendered.model_dump(exclude={"images"})
    places = placeholders({name: plain[name] for name in _SHOWN if name in plain})
    pictures = len(getattr(rendered, "images", ()))
    if places != pictures:
        yield Problem("image_count", f"{places} places, {pictures} pictures")


_SHOWN = ("messages", "prompt", "completion", "completions")
"""Fields of a rendered row that a trainer puts before the model."""


def _flag_problems(row: AnyRow, *, keeps_personal_data: bool) -> Iterator[Problem]:
    if "contains_secret" in row.flags:
        yield Problem("secret_in_view", "redact the dataset first")
    if "contains_pii" in row.flags and not keeps_personal_data:
        yield Problem("personal_data_in_view", "redact the dataset first")


def _texts(row: AnyRow) -> Iterator[str]:
    for message in row.messages:
        yield from (part.text for part in message.content if part.text)
    if not isinstance(row, ChatRow):
        yield from (reply for reply, _ in replies_of(row))


def _seen(image: Image) -> _Seen:
    try:
        frame = frame_of(image.bytes)
    except CaptureError as error:
        return _Seen(0, str(error))
    tokens = math.ceil(frame.width / _PIXELS_PER_TOKEN) * math.ceil(frame.height / _PIXELS_PER_TOKEN) + 2
    changed = image.path != f"{frame.sha256}.png"
    return _Seen(tokens, "its bytes are not those of its hash" if changed else None)
