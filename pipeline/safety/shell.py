"""The simple commands in a line of a shell, with what their words stand for.

Reads lists, pipes, groups, loops, substitutions, here-documents, braces, and variables that the line itself sets. What
only the running shell knows is `UNKNOWN` in a word. A line that is no whole line of a shell raises `Unreadable`. Knows
no programs beside `cd`.
"""

from __future__ import annotations

import itertools
import re
from typing import NamedTuple

from pipeline.safety.places import SOMEWHERE, UNKNOWN, joined
from pipeline.safety.shell_words import SUBSTITUTED, Unreadable, WordReader

_DEEPEST = 8
"""Lines within lines."""
_CONTROL = re.compile(r";;&|;;|;&|&&|\|\||\|&|[;|\n]|&(?!>)")
_REDIRECTION = re.compile(r"&>>|&>|>>|>\||>&|<<<|<<-|<<|<&|<>|>|<")
_DROPPED = frozenset(
    {"!", "{", "}", "coproc", "do", "done", "elif", "else", "esac", "fi", "if", "then", "until", "while"}
)
_ASSIGNED = re.compile(r"([A-Za-z_]\w*)\+?=(.*)", re.DOTALL)
_RECALLED = re.compile(r"![!$*^:\w?#-]")
_AS_IS = frozenset({"builtin", "command"})
_OWN = frozenset({"declare", "export", "local", "readonly", "typeset"})


class Redirection(NamedTuple):
    """An operator such as `>`, and the path, or for `<<` and `<<<` the text, that follows it."""

    operator: str
    target: str


class Simple(NamedTuple):
    """One program call."""

    words: tuple[str, ...]
    redirections: tuple[Redirection, ...] = ()
    folder: str = SOMEWHERE
    """Where the shell stands."""
    fed: tuple[tuple[str, ...], ...] = ()
    """The commands of the pipe before it, whose output it reads."""
    piped: bool = False
    """Whether anything before it in the line goes into a pipe."""


def simples(line: str, folder: str = SOMEWHERE, depth: int = 0) -> list[Simple]:
    """Every simple command in a line, in order; raises Unreadable."""
    reader = _Reader(line, folder, depth)
    reader.read()
    return reader.found


class _Reader(WordReader):
    """Walks once through a line."""

    def __init__(self, text: str, folder: str, depth: int) -> None:
        super().__init__(text)
        if depth > _DEEPEST:
            raise Unreadable("lines within too many lines")
        self._depth = depth
        self.found: list[Simple] = []
        self._folders = [folder]
        self._cases = 0
        self._waiting: list[tuple[str, bool]] = []
        self._row = 0
        self._clear()
        self._fed: tuple[tuple[str, ...], ...] = ()
        self._piped = False

    def _clear(self) -> None:
        self._words: list[str] = []
        self._redirections: list[Redirection] = []

    def read(self) -> None:
        """All commands up to the end."""
        while self._at < len(self._text):
            self._step()
        self._end("")
        if len(self._folders) > 1 or self._waiting:
            raise Unreadable("something is not closed")

    def _step(self) -> None:
        sign = self._text[self._at]
        if sign in " \t\r" or self._text.startswith("\\\n", self._at):
            self._at += 1 if sign != "\\" else 2
        elif sign == "#":
            self._at = self._find("\n", len(self._text))
        elif self._text.startswith(("<(", ">("), self._at):
            self._at += 1
            self._nested(self._bracketed())
            self._words.append(UNKNOWN)
        elif operator := _REDIRECTION.match(self._text, self._at):
            self._redirect(operator[0])
        elif operator := _CONTROL.match(self._text, self._at):
            self._control(operator[0])
        elif sign in "()":
            self._group(sign)
        else:
            self._take()

    def _group(self, sign: str) -> None:
        if sign == "(" and self._words and self._text[self._at - 1] == "=" and _ASSIGNED.fullmatch(self._words[-1]):
            self._quoted(self._bracketed())
            self._words[-1] += UNKNOWN
            return
        if self._text.startswith("((", self._at) and not self._words:
            self._quoted(self._bracketed())
            return
        if self._text.startswith("()", self._at) or re.match(r"\(\s*\)", self._text[self._at :]):
            if len(self._words) != 1:
                raise Unreadable("brackets after words")
            self._at = self._find(")", 0) + 1
            self._clear()
            return
        self._at += 1
        if sign == "(":
            if self._words:
                raise Unreadable("a bracket after words")
            self._folders.append(self._folders[-1])
            return
        self._end("")
        if len(self._folders) == 1:
            raise Unreadable("a bracket that was not opened")
        self._folders.pop()

    def _control(self, operator: str) -> None:
        self._at += len(operator)
        self._end(operator)
        if operator == "\n":
            self._here()
        if operator.startswith(";;") or operator == ";&":
            self._pattern()

    def _end(self, operator: str) -> None:
        """The command that was gathered is whole."""
        words = tuple(self._words)
        if words or self._redirections:
            command = Simple(words, tuple(self._redirections), self._folders[-1], self._fed, self._piped)
            self.found.append(command)
            self._carry_out(words)
            self._fed = (*self._fed, words) if operator in ("|", "|&") else ()
        self._piped = self._piped or operator in ("|", "|&")
        self._clear()

    def _carry_out(self, words: tuple[str, ...]) -> None:
        """What a command changes for those after it: where the shell stands, and its variables."""
        for word in words:
            assigned = _ASSIGNED.fullmatch(word)
            if assigned is None:
                break
            self._assign(assigned)
        told = list(itertools.dropwhile(lambda word: word in _AS_IS or _ASSIGNED.fullmatch(word), words))
        name, arguments = (told[0], told[1:]) if told else ("", [])
        places = [word for word in arguments if not word.startswith("-") or word == "-"]
        if name in ("cd", "pushd"):
            place = places[0] if places else "~"
            self._folders[-1] = UNKNOWN if place == "-" else joined(self._folders[-1], place)
        elif name == "popd":
            self._folders[-1] = UNKNOWN
        elif name in ("read", "mapfile", "readarray", "unset"):
            self._values.update({word: [UNKNOWN] for word in places})
        elif name in _OWN:
            for assigned in filter(None, map(_ASSIGNED.fullmatch, places)):
                self._assign(assigned)

    def _assign(self, assigned: re.Match[str]) -> None:
        """One more value that a variable may have: what was given before may not have been carried out."""
        self._values.setdefault(assigned[1], []).append(assigned[2])

    def _redirect(self, operator: str) -> None:
        self._at += len(operator)
        if self._words and self._words[-1].isdigit() and self._text[self._at - len(operator) - 1].isdigit():
            self._words.pop()
        self._blanks()
        start = self._at
        if self._text.startswith(("<(", ">("), self._at):
            self._at += 1
            self._nested(self._bracketed())
            return
        texts, _ = self._word()
        if not texts or start == self._at:
            raise Unreadable("nothing to write to")
        if operator in ("<<", "<<-"):
            self._waiting.append((texts[0], bool(set(self._text[start : self._at]) & set("\"'\\"))))
            return
        if operator in (">&", "<&") and re.fullmatch(r"\d+-?|-", texts[0]):
            return
        self._redirections += [Redirection(operator, text) for text in texts]

    def _here(self) -> None:
        """The texts of here-documents, which follow the line."""
        for end, literal in self._waiting:
            body: list[str] = []
            while self._at < len(self._text):
                stop = self._find("\n", len(self._text))
                row, self._at = self._text[self._at : stop], stop + 1
                if row.strip("\t") == end:
                    break
                body.append(row)
            else:
                raise Unreadable("a here-document without an end")
            text = "\n".join(body)
            if not literal:
                self._quoted(text)
            here = Redirection("<<", text)
            self.found[self._row :] = [
                one._replace(redirections=(*one.redirections, here)) for one in self.found[self._row :]
            ]
        self._waiting, self._row = [], len(self.found)

    def _blanks(self) -> None:
        while self._text[self._at : self._at + 1] in (" ", "\t", "\r"):
            self._at += 1

    def _take(self) -> None:
        """A word, at its place in a command."""
        start = self._at
        texts, plain = self._word()
        if self._words or not plain:
            self._add(texts, plain)
            return
        word = texts[0]
        if word in ("for", "select"):
            self._loop()
        elif word == "case":
            self._word_after()
            self._word_after()
            self._cases += 1
            self._pattern()
        elif word == "[[":
            self._test(start)
        elif word == "function":
            self._word_after()
        elif word not in _DROPPED:
            self._add(texts, plain)
        elif word == "esac":
            self._cases -= 1

    def _test(self, start: int) -> None:
        self._at = self._find("]]", -1) + 2
        if self._at == 1:
            raise Unreadable("a test without an end")
        self._quoted(self._text[start : self._at])
        self._words = ["test"]

    def _add(self, texts: list[str], plain: bool) -> None:
        """A command whose name may be one of several cannot be read."""
        if not self._words and (len(texts) != 1 or (plain and _RECALLED.match(texts[0]))):
            raise Unreadable("a name that is not known")
        self._words += [UNKNOWN if plain and _RECALLED.match(text) and text != "!=" else text for text in texts]

    def _word_after(self) -> list[str]:
        while self._text[self._at : self._at + 1] in (" ", "\t", "\n", "\r"):
            self._at += 1
        start = self._at
        texts, _ = self._word()
        if start == self._at:
            raise Unreadable("a word is missing")
        return texts

    def _loop(self) -> None:
        self._blanks()
        if self._text.startswith("((", self._at):
            self._quoted(self._bracketed())
            return
        name = self._word_after()[0]
        self._blanks()
        values: list[str] = []
        if re.match(r"in\s", self._text[self._at :]):
            self._at += 2
            while True:
                self._blanks()
                if self._text[self._at : self._at + 1] in (";", "\n", ""):
                    break
                values += self._word_after()
        self._values.setdefault(name, []).extend(values or [UNKNOWN])

    def _pattern(self) -> None:
        """The pattern of a case, which is no command."""
        if not self._cases:
            return
        pattern = re.compile(r"\s*(?!esac\b)[^()]*\)|\s*\([^()]*\)").match(self._text, self._at)
        if pattern is not None:
            if SUBSTITUTED.search(pattern[0]):
                raise Unreadable("a command in a pattern")
            self._at = pattern.end()

    def _nested(self, text: str) -> None:
        inner = _Reader(text, self._folders[-1], self._depth + 1)
        inner._values.update(self._values)
        inner.read()
        self.found += inner.found
