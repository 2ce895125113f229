"""JSON in what a model wrote: every complete object or list of a reply, outside its reasoning.

Replies hold prose, reasoning, fences of other languages, single-quoted dictionaries and cut values. Only whole values
count, each read as JSON and else as a Python literal; nothing is repaired, and nothing is taken from the inside of a
value that is broken or cut. This module knows nothing of actions, verdicts or schemas.
"""

from __future__ import annotations

import ast
import json
import re
import warnings
from collections.abc import Iterable
from typing import NamedTuple

_MARK = re.compile(
    r"<(?P<close>/?)think(?:ing)?\s*>"
    r"|```(?P<language>[\w+#.-]*)"
    r"""|\{(?=\s*["'}])"""
    r"""|\[(?=\s*(?:["'{\[\]\-\d]|[Tt]rue\b|[Ff]alse\b|null\b|None\b))""",
    re.IGNORECASE,
)
"""Think tags, fences, and brackets that may well begin a value."""
_CLOSE = re.compile(r"</think(?:ing)?\s*>", re.IGNORECASE)
_TOKEN = re.compile(r"""[{}\[\]]|"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'""", re.DOTALL)
_LANGUAGES = frozenset({"", "json"})
_MAX_DEPTH = 100
_WORK_PER_CHARACTER = 32
"""Characters that may be looked at in vain, per character of the text; beyond that the text is given up."""
_LEAST_WORK = 20_000
_WORK_PER_FAILURE = 32


class Found(NamedTuple):
    """A complete value, where it stands in the text, and whether a json or bare fence holds it."""

    value: dict[str, object] | list[object]
    start: int
    end: int
    fenced: bool


def json_values(text: str) -> list[Found]:
    """The outermost objects and lists of a text in order, without those in its reasoning or in other fences.

    Reasoning is what stands between think tags, before a closing tag without an opening one, and after an opening tag
    without a closing one. Time is linear in the text. A text with an object that says two different things under one
    key has no values, nor has one made of broken openings.
    """
    try:
        return _Scan(text).values()
    except _UnreadableError:
        return []


class _UnreadableError(ValueError):
    """The text contradicts itself, or looking further would not be worth it."""


class _Scan:
    """One walk over a text, from mark to mark."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._at = 0
        self._fenced = False
        self._found: list[Found] = []
        self._work = _LEAST_WORK + _WORK_PER_CHARACTER * len(text)

    def values(self) -> list[Found]:
        """Every value; raises _UnreadableError."""
        while mark := _MARK.search(self._text, self._at):
            self._at = mark.end()
            if mark["close"] is not None:
                self._think(opens=not mark["close"])
            elif mark["language"] is not None:
                self._fence(mark["language"].lower())
            else:
                self._value(mark.start())
        return self._found

    def _think(self, *, opens: bool) -> None:
        if opens:
            close = _CLOSE.search(self._text, self._at)
            self._at = close.end() if close else len(self._text)
        else:
            self._found.clear()
            self._fenced = False

    def _fence(self, language: str) -> None:
        if self._fenced:
            self._fenced = False
        elif language in _LANGUAGES:
            self._fenced = True
        else:
            end = self._text.find("```", self._at)
            self._at = end + 3 if end >= 0 else len(self._text)

    def _value(self, start: int) -> None:
        """Take the value that begins here, or pass over a broken one."""
        value, end = self._json(start)
        if end is None:
            end = self._balanced(start)
            value = _literal(self._text[start:end]) if end is not None else None
        if end is not None:
            self._at = end
        if end is not None and isinstance(value, dict | list) and _encodable(value, self._text[start:end]):
            self._found.append(Found(value, start, end, self._fenced))

    def _json(self, start: int) -> tuple[object, int | None]:
        try:
            return _DECODER.raw_decode(self._text, start)
        except json.JSONDecodeError as error:
            self._spend(error.pos - start + error.pos // 64)
        except _UnreadableError:
            raise
        except (ValueError, RecursionError):
            self._spend(len(self._text) - start)
        return None, None

    def _balanced(self, start: int) -> int | None:
        """Where the bracket opened at `start` is closed, strings apart: the text's end when nothing closes it.

        Null when the brackets do not match: then it was prose.
        """
        awaited: list[str] = []
        for token in _TOKEN.finditer(self._text, start):
            kind = token[0]
            if kind in ("{", "["):
                awaited.append("}" if kind == "{" else "]")
            elif kind in ("}", "]") and awaited.pop() != kind:
                self._spend(token.end() - start)
                return None
            if not awaited:
                return token.end()
            if len(awaited) > _MAX_DEPTH:
                self._spend(len(self._text) - start)
                return None
        return len(self._text)

    def _spend(self, characters: int) -> None:
        self._work -= characters + _WORK_PER_FAILURE
        if self._work < 0:
            raise _UnreadableError("too many broken openings")


def _object(pairs: Iterable[tuple[str, object]]) -> dict[str, object]:
    """The object of these pairs; raises _UnreadableError when a key has two different values."""
    out: dict[str, object] = {}
    for key, value in pairs:
        if key in out and out[key] != value:
            raise _UnreadableError(f"two values of {key!r}")
        out[key] = value
    return out


_DECODER = json.JSONDecoder(strict=False, object_pairs_hook=_object)
"""Not strict: models write line breaks into strings."""


def _literal(text: str) -> object:
    """The value of a Python literal made of what JSON has; null for anything else."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # odd escapes are the model's, not ours
            return _plain(ast.parse(text, mode="eval").body)
    except _UnreadableError:
        raise
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def _plain(node: ast.expr) -> object:
    match node:
        case ast.Constant(value=str() | int() | float() | None as value):
            return value
        case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=int() | float() as value)):
            return -value
        case ast.List(elts=items) | ast.Tuple(elts=items):
            return [_plain(item) for item in items]
        case ast.Dict(keys=keys, values=values):
            return _object((_key(key), _plain(value)) for key, value in zip(keys, values, strict=True))
    raise ValueError("not a plain value")


def _key(node: ast.expr | None) -> str:
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value
    raise ValueError("a key that is no text")


def _encodable(value: object, text: str) -> bool:
    """Whether every string can be written down: half of a surrogate pair, escaped, cannot."""
    if "\\u" not in text and "\\U" not in text:
        return True
    try:
        json.dumps(value, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        return False
    return True
