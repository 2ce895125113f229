"""What a word in a line of a shell stands for: quotes, variables that the line sets, braces, and what is substituted.

What only the running shell knows is `UNKNOWN` in a word. Knows no commands; what is substituted is read by others.
"""

from __future__ import annotations

import abc
import itertools
import re
from collections.abc import Iterator

from pipeline.safety.places import UNKNOWN

_MOST = 64
"""Words that one word may stand for."""
_LONGEST = 10_000
_ENDS = frozenset(" \t\r\n;&|<>()")
_NAME = re.compile(r"[A-Za-z_]\w*")
_BRACE = "\1"
"""Stands for a bracket that may unfold into several words; a quoted one does not."""
_SPLIT = "\2"
"""Stands for a gap in the value of a variable, at which a shell parts it into words."""
_BRACES = re.compile(rf"{_BRACE}([^{_BRACE}}}]*(?:,|\.\.)[^{_BRACE}}}]*)\}}")
SUBSTITUTED = re.compile(r"\$\(|`")


class Unreadable(ValueError):
    """A line that cannot be read."""


class WordReader(abc.ABC):
    """Walks once through a text, a word at a time."""

    def __init__(self, text: str) -> None:
        if len(text) > _LONGEST or {UNKNOWN, _BRACE, _SPLIT} & set(text):
            raise Unreadable("too long, or no text")
        self._text, self._at = text, 0
        self._values: dict[str, list[str]] = {"HOME": ["~"], "PWD": ["."]}

    @abc.abstractmethod
    def _nested(self, text: str) -> None:
        """Read a line whose output stands in a word."""

    def _find(self, text: str, otherwise: int) -> int:
        at = self._text.find(text, self._at)
        return at if at >= 0 else otherwise

    def _word(self) -> tuple[list[str], bool]:
        """What the next word stands for, and whether nothing of it is quoted."""
        parts: list[list[str]] = []
        plain = True
        while self._at < len(self._text) and self._text[self._at] not in _ENDS:
            plain = plain and self._text[self._at] not in "\\'\"$`"
            parts.append(self._part())
        texts = ["".join(chosen) for chosen in itertools.islice(itertools.product(*parts), _MOST + 1)]
        texts = [piece for one in texts for text in _unfolded(one) for piece in _split(text)]
        if len(texts) > _MOST:
            raise Unreadable("a word that stands for too many")
        return texts, plain

    def _part(self) -> list[str]:
        sign = self._text[self._at]
        self._at += 1
        if sign == "\\":
            self._at += 1
            escaped = self._text[self._at - 1 : self._at]
            if not escaped:
                raise Unreadable("the line goes on")
            return ["" if escaped == "\n" else escaped]
        if sign == "'":
            return [self._until("'")]
        if sign == '"':
            return self._double()
        if sign == "`":
            return self._ticked()
        if sign == "$":
            gaps = re.compile("[" + re.escape(" \t\n" + "".join(self._values.get("IFS", []))) + "]")
            return [gaps.sub(_SPLIT, value) for value in self._dollar()]
        return [_BRACE if sign == "{" else sign]

    def _until(self, sign: str) -> str:
        start, stop = self._at, self._find(sign, -1)
        if stop < 0:
            raise Unreadable(f"no closing {sign}")
        self._at = stop + 1
        return self._text[start:stop]

    def _ticked(self) -> list[str]:
        inner = re.compile(r"((?:[^`\\]|\\.)*)`", re.DOTALL).match(self._text, self._at)
        if inner is None:
            raise Unreadable("no closing `")
        self._at = inner.end()
        self._nested(re.sub(r"\\([`$\\])", r"\1", inner[1]))
        return [UNKNOWN]

    def _double(self) -> list[str]:
        parts: list[list[str]] = []
        while True:
            sign = self._text[self._at : self._at + 1]
            self._at += 1
            if sign == '"':
                break
            if not sign:
                raise Unreadable('no closing "')
            if sign == "\\":
                self._at += 1
                escaped = self._text[self._at - 1 : self._at]
                parts.append([escaped if escaped in '$`"\\' else "" if escaped == "\n" else "\\" + escaped])
            else:
                parts.append(self._ticked() if sign == "`" else self._dollar() if sign == "$" else [sign])
        return ["".join(chosen) for chosen in itertools.islice(itertools.product(*parts), _MOST + 1)]

    def _dollar(self) -> list[str]:
        """What stands after a dollar sign."""
        rest = self._text[self._at :]
        if rest.startswith("'"):
            self._at += 1
            inner = re.compile(r"(?:[^'\\]|\\.)*'", re.DOTALL).match(self._text, self._at)
            if inner is None:
                raise Unreadable("no closing '")
            self._at = inner.end()
            return [UNKNOWN]
        if rest.startswith("("):
            arithmetic = rest.startswith("((")
            inside = self._bracketed()
            if arithmetic:
                self._quoted(inside)
                return ["0"]
            self._nested(inside)
            return [UNKNOWN]
        if rest.startswith("{"):
            return self._parameter()
        if name := _NAME.match(rest):
            self._at += name.end()
            return self._values.get(name[0], [UNKNOWN])
        if rest[:1] and rest[0] in "?#$!@*-0123456789":
            self._at += 1
            return ["0" if rest[0] in "?#$" else UNKNOWN]
        return ["$"]

    def _parameter(self) -> list[str]:
        inner = re.compile(r"\{((?:[^{}\\]|\\.|\$\{[^{}]*\})*)\}", re.DOTALL).match(self._text, self._at)
        if inner is None:
            raise Unreadable("no closing }")
        self._at = inner.end()
        self._quoted(inner[1])
        name = _NAME.match(inner[1])
        shortened = name is not None and inner[1][name.end() : name.end() + 1] in ("", "%")
        return self._values.get(name[0], [UNKNOWN]) if name is not None and shortened else [UNKNOWN]

    def _bracketed(self) -> str:
        """What stands between this bracket and the one that closes it."""
        start = self._at
        open_brackets = 0
        for part in re.compile(r"\\.|'[^']*'|\"(?:[^\"\\]|\\.)*\"|[()]", re.DOTALL).finditer(self._text, self._at):
            open_brackets += {"(": 1, ")": -1}.get(part[0], 0)
            if open_brackets == 0:
                self._at = part.end()
                return self._text[start + 1 : part.start()]
        raise Unreadable("no closing bracket")

    def _quoted(self, text: str) -> None:
        """The commands that are substituted into a text which is no command itself."""
        if SUBSTITUTED.search(text):
            self._nested('echo "' + text.replace('"', "") + '"')


def _split(word: str) -> list[str]:
    return [piece for piece in word.split(_SPLIT) if piece] if _SPLIT in word else [word]


def _unfolded(word: str) -> Iterator[str]:
    """The words that braces stand for."""
    words = [word]
    for _ in range(_MOST):
        at = next((place for place, one in enumerate(words) if _BRACES.search(one)), None)
        if at is None or len(words) > _MOST:
            break
        braces = _BRACES.search(words[at])
        if braces is not None:
            before, after = words[at][: braces.start()], words[at][braces.end() :]
            words[at : at + 1] = [before + choice + after for choice in re.split(r",|\.\.", braces[1])]
    return (one.replace(_BRACE, "{") for one in words)
