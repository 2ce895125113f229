"""The words on an application's controls, from the files its translators work with.

Each message has a key that is the same in every language. Reads gettext's `.po`, nested JSON, and TiddlyWiki's lists;
what cannot be read has no messages. Knows nothing of what messages mean.
"""

from __future__ import annotations

import io
import json
import re
from collections.abc import Iterator
from typing import Any, Literal, NamedTuple

from babel.messages.pofile import PoFileError, read_po

_BLANK = re.compile(r"\s+")
_FIELD = re.compile(r"([\w/$:.-]+):\s*(.*)")


class Message(NamedTuple):
    """A message by its key."""

    key: str
    text: str


def messages_in(text: str, form: Literal["po", "json", "multids"], language: str) -> Iterator[Message]:
    """The messages of a file. Of `.po`, which holds two languages, `en` reads the original."""
    match form:
        case "po":
            found = _po(text, language)
        case "json":
            found = _json(text)
        case "multids":
            found = _multids(text)
    return (message for message in found if message.key and message.text)


def squashed(text: str) -> str:
    """The text on one line, with single blanks."""
    return _BLANK.sub(" ", text).strip()


def _po(text: str, language: str) -> Iterator[Message]:
    try:
        catalog = read_po(io.StringIO(text), ignore_obsolete=True, abort_invalid=True)
    except (PoFileError, ValueError):
        return
    for message in catalog:
        # Plural forms are tuples; they count things and name none.
        if isinstance(message.id, str) and isinstance(message.string, str) and not message.fuzzy:
            yield Message(squashed(message.id), squashed(message.id if language == "en" else message.string))


def _json(text: str) -> Iterator[Message]:
    try:
        tree = json.loads(text)
    except (ValueError, RecursionError):
        return
    yield from _leaves("", tree)


def _leaves(place: str, tree: Any) -> Iterator[Message]:
    match tree:
        case dict():
            for name, inner in tree.items():
                yield from _leaves(f"{place}.{name}".strip("."), inner)
        case list():
            for number, inner in enumerate(tree):
                yield from _leaves(f"{place}.{number}", inner)
        case str():
            yield Message(place, squashed(tree))


def _multids(text: str) -> Iterator[Message]:
    """Fields of the whole file, an empty line, then one message a line."""
    _, _, body = text.replace("\r\n", "\n").partition("\n\n")
    for line in body.splitlines():
        if field := _FIELD.fullmatch(line.strip()):
            yield Message(field[1], squashed(field[2]))
