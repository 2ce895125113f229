"""What an instruction says, as rules need it: one spelling, what is quoted, which phrases occur.

Full-width and half-width forms, kinds of quotation marks and of punctuation, and case are no difference. Knows nothing
of tasks and of what a phrase means for one.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from functools import cache, lru_cache
from importlib import resources
from typing import NamedTuple

import yaml

from pipeline.actions import Model
from taskspecs.alternatives import by_first_sign
from taskspecs.numerals import in_digits
from taskspecs.scripts import same_words

_QUOTED = re.compile(
    r'"([^"]*)"|“([^”]*)”|「([^」]*)」|『([^』]*)』|《([^》]*)》|(?<!\w)\'([^\']+)\'(?!\w)|`([^`]*)`|‘([^’]*)’'
)
_NUMBER = re.compile(r"\d+(?:[.,:/-]\d+)*")
_APOSTROPHE = re.compile("['’]")
_NO_WORD = re.compile(r"[\W_]+")
_BESIDE_HAN = re.compile(r"(?<=[⺀-鿿豈-﫿]) | (?=[⺀-鿿豈-﫿])")
_HELD = " \x00 "
"""What stands for a quotation in `Wording.bare`: no phrase runs across it but in its gaps."""
_REMEMBERED = 4096
"""Candidates of one template have names and values in common."""
_GAP = "..."
"""What stands in a phrase for a few words that may come between."""
_GAP_EN = r"\s+(?:(?:[\w'-]+|\x00)\s+){0,4}"
_GAP_ZH = r"[^，。；、！？,;!?]{0,8}"


class Phrases(Model):
    """Phrases per language."""

    en: list[str]
    zh: list[str]


class Grounds(Model):
    """Phrases that count everywhere, and those that count only where nothing can be put back."""

    always: Phrases
    live: Phrases


class Pointing(Model):
    """Regular expressions for a sentence whose first words point at nothing."""

    en: str
    zh: str


class Words(Model):
    """`gate_words.yaml`."""

    needs_login: Grounds
    needs_payment: Grounds
    destructive: Grounds
    unsafe: Grounds
    vague: Phrases
    pointing: Pointing
    ahead: Phrases
    behind: Phrases
    harmless: Phrases
    denials: Phrases
    fillers: Phrases
    measures: Phrases
    units: Phrases


class Wording(NamedTuple):
    """An instruction: in one form (`text`), without its quotations (`bare`), and these (`quoted`)."""

    text: str
    bare: str
    quoted: tuple[str, ...]

    @property
    def sentences(self) -> list[str]:
        """The sentences outside quotations, each without the spaces around it."""
        return [part.strip() for part in re.split(r"(?<=[.!?。！？;；])\s*", self.bare) if part.strip()]


class Finder:
    """Finds phrases, except where a denial goes before, or where they are a part of something harmless."""

    def __init__(self, *lists: Phrases, denials: Phrases, harmless: Phrases | None = None) -> None:
        english = [phrase for phrases in lists for phrase in phrases.en]
        self._found = _alternatives(Phrases(en=english, zh=[phrase for phrases in lists for phrase in phrases.zh]))
        self._harmless = _alternatives(harmless) if harmless else None
        self._denied = re.compile(
            rf"(?:\b(?:{'|'.join(map(re.escape, denials.en))})\s+(?:[\w-]+\s+){{0,3}}"
            rf"|(?:{'|'.join(map(re.escape, denials.zh))})[^，。；,;]{{0,3}})$",
            re.IGNORECASE,
        )

    def first(self, text: str) -> str | None:
        """The first phrase that is asked for, as it is written; None without one."""
        if self._found is None:
            return None
        for found in self._found.finditer(text):
            denied = self._denied.search(text[max(0, found.start() - 60) : found.start()])
            if not denied and not self._is_harmless(text, found):
                return found[0]
        return None

    def _is_harmless(self, text: str, found: re.Match[str]) -> bool:
        spans = [spot.span() for spot in self._harmless.finditer(text)] if self._harmless else []
        return any(start <= found.start() and found.end() <= end for start, end in spans)


@cache
def words() -> Words:
    """The phrases that ship."""
    text = (resources.files("taskspecs") / "gate_words.yaml").read_text(encoding="utf-8")
    return Words.model_validate(yaml.safe_load(text))


def read_wording(instruction: str) -> Wording:
    """An instruction taken apart."""
    # Quotation marks tell text from wording, so they are found before the compatibility form makes some of them alike.
    quoted = tuple(
        unicodedata.normalize("NFKC", next(group for group in found.groups() if group is not None))
        for found in _QUOTED.finditer(instruction)
    )
    bare = unicodedata.normalize("NFKC", _QUOTED.sub(_HELD, instruction))
    return Wording(unicodedata.normalize("NFKC", instruction), bare.replace("’", "'"), quoted)


@lru_cache(maxsize=_REMEMBERED)
def plain(text: str) -> str:
    """Letters and digits alone, in lower case and one width, words one space apart: two texts that say the same."""
    folded = unicodedata.normalize("NFKC", text).casefold()
    kept = _NO_WORD.sub(" ", _APOSTROPHE.sub("", folded)).strip()
    # Between Han characters a space says nothing: "打开 Trac" and "打开Trac" are one text.
    return _BESIDE_HAN.sub("", kept)


@lru_cache(maxsize=_REMEMBERED)
def one_spelling(text: str) -> str:
    """A text for comparing: numbers in digits, and Chinese in one script and one region's words."""
    return in_digits(same_words(text))


def literals(wording: Wording, values: Iterable[str] = ()) -> frozenset[str]:
    """What an instruction is about in particular: its quotations, its numbers, and the values given."""
    numbers = _NUMBER.findall(wording.bare)
    return frozenset(text for text in map(plain, (*wording.quoted, *numbers, *values)) if text)


def skeleton(wording: Wording, values: Iterable[str] = ()) -> str:
    """The wording alone: plain text with quotations, numbers and values taken out."""
    bare = wording.bare
    for value in sorted({unicodedata.normalize("NFKC", value) for value in values if len(value) > 1}, key=len):
        bare = bare.replace(value, _HELD)
    return plain(_NUMBER.sub(_HELD, bare))


def weighty(text: str) -> str:
    """A plain text without the words that ask for nothing."""
    return " ".join(_BESIDE_HAN.sub("", _fillers().sub(" ", text)).split())


def tokens(text: str) -> list[str]:
    """The words of a plain text; a Han character is a word."""
    return re.findall(r"[⺀-鿿豈-﫿]|[^\s⺀-鿿豈-﫿]+", text)


@cache
def _fillers() -> re.Pattern[str]:
    fillers = words().fillers
    english, chinese = (
        by_first_sign(sorted(map(re.escape, phrases), key=len, reverse=True))
        for phrases in (fillers.en, [*map(same_words, fillers.zh)])
    )
    return re.compile(rf"(?<![a-z0-9]){english}(?![a-z0-9])|{chinese}")


def _alternatives(phrases: Phrases) -> re.Pattern[str] | None:
    english = [_GAP_EN.join(map(_words, phrase.split(_GAP))) for phrase in phrases.en]
    chinese = [_GAP_ZH.join(map(re.escape, phrase.split(_GAP))) for phrase in phrases.zh]
    parts = [rf"\b{by_first_sign(english)}\b"] if english else []
    parts += [by_first_sign(chinese)] if chinese else []
    return re.compile("|".join(parts), re.IGNORECASE) if parts else None


def _words(phrase: str) -> str:
    return re.escape(phrase.strip()).replace(r"\*", r"\w*").replace(r"\ ", r"\s+")
