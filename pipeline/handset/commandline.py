"""The phone's command line, read as its shell would read it: commands joined by `;`, `&&` and `||`, words with quotes.

What a shell would carry out inside a line (substitutions, pipes, redirections) is refused, never taken literally: a
driver that forgot to quote must notice. Patterns such as `*` are left as they are. Knows no command.
"""

from __future__ import annotations

import re
from typing import Literal, NamedTuple

Condition = Literal["always", "succeeded", "failed"]

_CONDITIONS: dict[str, Condition] = {"&&": "succeeded", "||": "failed"}
_TOKEN = re.compile(
    r"""
    (?P<space>[ \t\r]+)
  | (?P<joint>&&|\|\||;|\n)
  | '(?P<single>[^']*)'
  | "(?P<double>(?:\\.|[^"\\])*)"
  | \\(?P<escaped>.)
  | (?P<status>\$\?)
  | (?P<plain>[^\s;&|<>()$`\\'"]+|\$(?![\w({?'"*@#!$-]))
    """,
    re.VERBOSE | re.DOTALL,
)
_QUOTED = re.compile(
    r"\\(?P<escaped>[\\\"$`\n])|(?P<status>\$\?)|(?P<carried>`|\$[\w({*@#!$-])|(?P<plain>.)", re.DOTALL
)

Word = tuple[str | None, ...]
"""Pieces of a word; None stands for the exit code of the command before."""


class RefusedError(ValueError):
    """The line cannot be read, or asks for something that is not carried out."""


class Command(NamedTuple):
    """One command and when it runs."""

    condition: Condition
    words: tuple[Word, ...]

    def argv(self, status: int) -> list[str]:
        """The words, where the command before ended with this exit code."""
        return ["".join(str(status) if piece is None else piece for piece in word) for word in self.words]


def parse(line: str) -> list[Command]:
    """The commands of a line; raises RefusedError."""
    reader = _Reader()
    at = 0
    while at < len(line):
        token = _TOKEN.match(line, at)
        if token is None:
            raise RefusedError(_reason(line[at]))
        reader.take(token)
        at = token.end()
    return reader.end()


class _Reader:
    """Collects pieces to words and words to commands."""

    def __init__(self) -> None:
        self._commands: list[Command] = []
        self._condition: Condition = "always"
        self._words: list[Word] = []
        self._word: list[str | None] | None = None

    def take(self, token: re.Match[str]) -> None:
        """Add what a token says."""
        kind = token.lastgroup or ""
        text = token[kind]
        match kind:
            case "space":
                self._end_word()
            case "joint":
                self._end_command(text)
            case "double":
                self._add(*_quoted(text))
            case "status":
                self._add(None)
            case "escaped" if text == "\n":
                pass
            case "plain" if text.startswith("#") and self._word is None:
                raise RefusedError(_reason("#"))
            case _:
                self._add(text)

    def end(self) -> list[Command]:
        """All commands."""
        self._end_word()
        if not self._words and self._condition != "always":
            raise RefusedError("syntax error: unexpected end of line")
        if self._words:
            self._commands.append(Command(self._condition, tuple(self._words)))
        return self._commands

    def _add(self, *pieces: str | None) -> None:
        self._word = [*(self._word or []), *pieces]

    def _end_word(self) -> None:
        if self._word is not None:
            self._words.append(tuple(self._word))
        self._word = None

    def _end_command(self, joint: str) -> None:
        self._end_word()
        if self._words:
            self._commands.append(Command(self._condition, tuple(self._words)))
        elif joint != "\n":
            raise RefusedError(f"syntax error: unexpected '{joint}'")
        self._words = []
        self._condition = _CONDITIONS.get(joint, "always")


def _quoted(text: str) -> list[str | None]:
    """Pieces of a text in double quotes, where a shell still substitutes."""
    pieces: list[str | None] = [""]
    for token in _QUOTED.finditer(text):
        kind = token.lastgroup or ""
        if kind == "carried":
            raise RefusedError(_reason(token[kind]))
        if kind == "status":
            pieces.append(None)
        elif token[kind] != "\n" or kind == "plain":
            pieces.append(token[kind])
    return pieces


def _reason(text: str) -> str:
    if text in "'\"":
        return "no closing quote"
    return f"'{text}' is not carried out by this handset; quote it"
