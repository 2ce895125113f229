"""Call syntax: `Name(key=value, ...)` in text, read and written.

Values are texts in single or double quotes, numbers, lists, tuples, and in lists further calls. Models put unescaped
quotes into texts: a quote ends its text only where an argument can end. Nothing is evaluated, and a call that is not
whole is no call. This module knows no action.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import NamedTuple

from pipeline.errors import ActionError

_MAX_DEPTH = 4
_LONGEST_NAME = 40
_BARE_CALL = re.compile(r"\s*[A-Za-z_]\w*\s*\(\s*(?:\)|[A-Za-z_]\w*\s*=)")
_OPENING = re.compile(r"\s*([A-Za-z_]\w*)\s*\(")
_KEY = re.compile(r"\s*([A-Za-z_]\w*)\s*=\s*")
_NUMBER = re.compile(r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?(?!\w)")
_WORD = re.compile(r"[-+]?[A-Za-z_]\w*")
_SPACE = re.compile(r"\s*")
_BETWEEN = re.compile(r"[\s,;]*")

_CALL_ENDS = r"\)\s*(?:\Z|[,;\])]|[A-Za-z_]\w*\s*\()"
_ARGUMENT_TEXTS = {
    quote: re.compile(
        rf"{quote}((?:[^{quote}\\]|\\.|{quote}(?!\s*(?:,\s*(?:[A-Za-z_]\w*\s*=|\))|{_CALL_ENDS})))*+){quote}", re.DOTALL
    )
    for quote in "'\""
}
_ITEM_TEXTS = {
    quote: re.compile(rf"{quote}((?:[^{quote}\\]|\\.|{quote}(?!\s*[,\])]))*+){quote}", re.DOTALL) for quote in "'\""
}
_ESCAPE = re.compile(r"\\(x[0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|U000[0-9a-fA-F]{5}|U0010[0-9a-fA-F]{4}|.)", re.DOTALL)
_ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "\\": "\\", "'": "'", '"': '"', "\n": ""}
_WORDS: dict[str, object] = {
    "none": None,
    "null": None,
    "true": True,
    "false": False,
    "nan": float("nan"),
    "inf": float("inf"),
    "-inf": float("-inf"),
}
_TAG_START = re.compile(r"<(?=[/|A-Za-z])")


class Call(NamedTuple):
    """A name with its arguments."""

    name: str
    arguments: Mapping[str, object]


def looks_like_call(text: str) -> bool:
    """Whether the text begins as a call does: with a name, a bracket, and the name of an argument or the end."""
    return _BARE_CALL.match(text) is not None


def read_calls(text: str) -> list[Call]:
    """The calls a text consists of, with commas or space between them; raises ActionError for anything else."""
    calls: list[Call] = []
    reader = _Reader(text)
    while not reader.at_end():
        calls.append(reader.call())
    return calls


def write_call(call: Call) -> str:
    """The call in text, so that no tag and no line break stands inside."""
    return f"{call.name}({', '.join(f'{key}={_written(value)}' for key, value in call.arguments.items())})"


class _Reader:
    """Reads calls from a text, front to back."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._at = 0

    def at_end(self) -> bool:
        """Whether nothing is left but separators."""
        return not self._text[self._at :].strip()

    def call(self) -> Call:
        """The next call, and what separates it from the one after."""
        call = self._call(0)
        self._skip(_BETWEEN)
        return call

    def _call(self, depth: int) -> Call:
        opening = self._take(_OPENING)
        if opening is None:
            raise ActionError("bad_arguments" if self._at else "no_action", f"not a call: {self._rest()}")
        name = opening[1][:_LONGEST_NAME]
        arguments: dict[str, object] = {}
        while not self._closes(")"):
            key = self._take(_KEY)
            if key is None:
                raise ActionError("bad_arguments", f"expected an argument with its name in {name}: {self._rest()}")
            if key[1] in arguments:
                raise ActionError("bad_arguments", f"{key[1][:_LONGEST_NAME]} is given twice in {name}")
            arguments[key[1]] = self._value(_ARGUMENT_TEXTS, depth)
            self._comma(")")
        return Call(opening[1], arguments)

    def _value(self, texts: Mapping[str, re.Pattern[str]], depth: int) -> object:
        mark = self._text[self._at : self._at + 1]
        if mark in texts and mark:
            text = self._take(texts[mark])
            if text is not None:
                return _unescaped(text[1])
        elif mark in ("(", "["):
            return self._items(")" if mark == "(" else "]", depth + 1)
        elif number := self._take(_NUMBER):
            return _number(number[0])
        elif _OPENING.match(self._text, self._at) and depth:
            return self._call(depth + 1)
        elif (word := self._take(_WORD)) and word[0].lower() in _WORDS:
            return _WORDS[word[0].lower()]
        raise ActionError("bad_arguments", f"not a value: {self._rest()}")

    def _items(self, closing: str, depth: int) -> list[object]:
        if depth > _MAX_DEPTH:
            raise ActionError("bad_arguments", "too many lists in lists")
        self._at += 1
        items: list[object] = []
        while not self._closes(closing):
            items.append(self._value(_ITEM_TEXTS, depth))
            self._comma(closing)
        return items

    def _comma(self, closing: str) -> None:
        """A comma, or nothing before the closing bracket."""
        self._skip(_SPACE)
        mark = self._text[self._at : self._at + 1]
        if mark == ",":
            self._at += 1
        elif mark != closing:
            raise ActionError("bad_arguments", f"expected ',' or '{closing}': {self._rest()}")

    def _closes(self, closing: str) -> bool:
        self._skip(_SPACE)
        if self._text.startswith(closing, self._at):
            self._at += 1
            return True
        return False

    def _take(self, pattern: re.Pattern[str]) -> re.Match[str] | None:
        matched = pattern.match(self._text, self._at)
        if matched:
            self._at = matched.end()
        return matched

    def _skip(self, pattern: re.Pattern[str]) -> None:
        self._take(pattern)

    def _rest(self) -> str:
        return repr(self._text[self._at : self._at + 40])


def _number(text: str) -> int | float:
    if len(text) > 100:
        raise ActionError("bad_arguments", "a very long number")
    return float(text) if set(text) & set(".eE") else int(text)


def _unescaped(text: str) -> str:
    if "\\" not in text:
        return text
    plain = _ESCAPE.sub(_meant, text)
    if "\\u" not in text:
        return plain
    # Two escapes may spell one character beyond the first 65,536.
    return plain.encode("utf-16", "surrogatepass").decode("utf-16", "surrogatepass")


def _meant(escape: re.Match[str]) -> str:
    code = escape[1]
    if len(code) > 1:
        return chr(int(code[1:], 16))
    return _ESCAPES.get(code, escape[0])


def _written(value: object) -> str:
    match value:
        case str():
            text = value.replace("\\", "\\\\").replace("'", "\\'")
            text = text.replace("\n", "\\n").replace("\r", "\\r").replace("\t", "\\t")
            return "'" + without_tags(text, "\\x3c") + "'"
        case Call():
            return write_call(value)
        case tuple():
            return f"({_listed(value)})"
        case list():
            return f"[{_listed(value)}]"
        case _:
            return str(value)


def _listed(values: Iterable[object]) -> str:
    return ", ".join(map(_written, values))


def without_tags(text: str, escape: str) -> str:
    """The text with an escape in place of every `<` that may begin a tag."""
    return _TAG_START.sub(lambda _: escape, text)
