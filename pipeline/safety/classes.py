"""The classes of consequence, and how their words are found: on a control, before a neutral control, in a request.

The words lie in `classes.yaml`, English and Chinese. A control's label counts when it commands; a dialog's text when it
says what will happen; an instruction when it asks. This module knows nothing of screens.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple

import yaml
from pydantic import Field

from pipeline.actions import Model
from pipeline.words import Consequence, Reversible


class Words(Model):
    """Phrases of one use, by language."""

    en: list[str] = Field(default_factory=list)
    zh: list[str] = Field(default_factory=list)

    def __iter__(self) -> Iterator[str]:  # type: ignore[override]
        return iter([*self.en, *self.zh])


class Kind(Model):
    """One class of consequence; `classes.yaml` says what its fields are."""

    name: Consequence
    reversible: Reversible
    outward: bool = False
    does: Words
    asks: Words = Words()
    tells: Words = Words()
    fields: Words = Words()
    excluded: Words = Field(default=Words(), validation_alias="not")
    nouns: list[str] = Field(default_factory=list)


class Match(NamedTuple):
    """A class, and the words that showed it."""

    kind: Kind
    words: str
    rest: str
    """What stands after the words: of a control's label, what it is done to."""


_FILLERS = frozenset({"yes", "ok", "okay", "please", "confirm", "now", "and", "permanently", "just", "continue", "to"})
_ABOUT = frozenset({"faq", "guide", "guidelines", "help", "how", "policy", "rules", "tutorial", "templates"})
_THINGS = _ABOUT | frozenset(
    {"by", "count", "date", "details", "draft", "drafts", "history", "id", "info", "information", "list", "log", "name"}
    | {"number", "numbers", "options", "page", "paragraph", "preferences", "settings", "size", "status", "summary"}
    | {"time", "title", "type", "view", "style"}
)
"""What follows a word that is the name of a thing rather than a command."""

_ABOUT_ZH = ("帮助", "说明", "指南", "规则", "政策", "须知", "教程")
_THINGS_ZH = (
    *_ABOUT_ZH,
    "格式",
    "一览",
    "费率",
    "标准",
    "公告",
    "记录",
    "历史",
    "列表",
    "详情",
    "管理",
    "中心",
    "设置",
    "时间",
    "状态",
    "日期",
    "数",
    "方式",
)
_LOSSES = frozenset({"cancel", "delete", "overwrite", "uninstall"})
"""What is done to histories and lists as well."""

_VERB_BEFORE = r"(?:\b(?:to|will|and|or|you|please|want|now)\s+|^)"
_DENIED = re.compile(r"(?:\b(?:not|never|without|won't|cannot)\s+(?:\w+\s+){0,2}|\b0 (?:to )?|不会\S{0,3}|尚未|未)$")
_NONE_OF = re.compile(r"\s*[:：]?\s*0(?![\d.,]*[1-9])")
_DENIED_REQUEST = re.compile(
    r"(?:\b(?:do not|don't|never|without|not|instead of|rather than)\s+(?:\w+\s+){0,3}"
    r"|(?:不要|不用|别|请勿|不必|无需|而不是)\S{0,4})$"
)
_GESTURE = re.compile(r"^(?:slide|swipe|hold|tap|press|click|drag)(?:\s+(?:here|and hold))?\s+to\s+")
_LONGEST_LABEL = 8
_LONGEST_LABEL_ZH = 14
HAN = re.compile(r"[\u3400-\u9fff]")
_MNEMONIC = re.compile(r"(?<=[\u3400-\u9fff])\s?\([a-z\d]\)")
_SIGNS = str.maketrans(
    {"\ufe0f": "", "🗑": " delete ", "👍": " like ", "👎": " rate "}
    | {"➤": " send ", "📤": " send ", "📨": " send ", "📞": " call ", "📹": " start video ", "🔓": " unlock "}
)
"""Pictures on buttons that stand for a word."""
_JOINED = re.compile(r"\s+(?:and|then)\s+|\s*[&,]\s+")


def plain(text: str) -> str:
    """A text for comparison: one form of each character, small letters, single blanks, straight quotation marks.

    The letter by which a Chinese label is reached from the keyboard, as in 关闭(C), is left out.
    """
    folded = unicodedata.normalize("NFKC", text).casefold().replace("\u2019", "'").replace("\u2018", "'")
    return _MNEMONIC.sub("", " ".join(folded.split()))


@cache
def kinds() -> tuple[Kind, ...]:
    """All classes, gravest first."""
    tree = yaml.safe_load(_beside("classes.yaml"))
    return tuple(Kind.model_validate({"name": name, **fields}) for name, fields in tree.items())


def kind_of(name: Consequence) -> Kind:
    """The class of a name; raises KeyError."""
    return {kind.name: kind for kind in kinds()}[name]


def commanded(label: str, *, command: bool) -> Match | None:
    """What a control does by its label. `command` says that it can only be pressed: a button, an entry of a menu."""
    text = _GESTURE.sub("", plain(label).translate(_SIGNS).strip())
    if not text:
        return None
    if HAN.search(text):
        return _commanded_zh(text, command)
    later = _JOINED.split(text)[1:] if command else []
    found = (_commanded_en(part, command) for part in (text, *later))  # "Review and approve" approves
    return next((match for match in found if match is not None), None)


def entered(label: str) -> Match | None:
    """What a field or a switch stands for by its name."""
    return _gravest(_spaced(label), lambda kind: kind.fields, nouns=False)


def told(texts: Iterable[str]) -> Match | None:
    """What dialogs, headings and questions say will happen: the gravest of it, unless it is denied."""
    lines = [_spaced(text) for text in texts]
    given_away = [_gravest(line, lambda kind: kind.tells, nouns=False) for line in lines]
    announced = [_gravest(line, lambda kind: kind.does, nouns=True) for line in lines]
    found = [match for match in (*given_away, *announced) if match is not None]
    order = [kind.name for kind in kinds()]
    return min(found, key=lambda match: order.index(match.kind.name), default=None)


def asked(instruction: str, kind: Kind) -> bool:
    """Whether an instruction asks for what a class is, in any of its words, and does not forbid it."""
    text = plain(instruction)
    phrases = [*kind.does, *kind.asks, *kind.fields]
    spots = [spot for phrase in phrases for spot in _pattern(phrase).finditer(text)]
    return any(not _DENIED_REQUEST.search(text[: spot.start()]) for spot in spots)


def said(label: str, use: str) -> bool:
    """Whether a whole label is one of the words of `controls.yaml` for a use."""
    return said_as(label, use) is not None


def said_as(label: str, use: str) -> str | None:
    """The longest of the words of `controls.yaml` for a use that a whole label is, or begins with if it ends in *."""
    text = plain(label).strip(" .!?,。！？，…")
    found = [
        phrase.rstrip("*")
        for phrase in _controls()[use]
        if text == phrase or (phrase[-1] == "*" and _begun(phrase[:-1]).match(text))
    ]
    return max(found, key=len, default=None)


def phrase_in(text: str, use: str) -> bool:
    """Whether a text has one of the words of `controls.yaml` for a use."""
    return bool(phrases_in(text, use))


def phrases_in(text: str, use: str) -> list[str]:
    """Those of the words of `controls.yaml` for a use that a text has."""
    return [phrase for phrase in _controls()[use] if _pattern(phrase.rstrip("*")).search(_spaced(text))]


@cache
def words_for(use: str) -> frozenset[str]:
    """All words of `controls.yaml` for a use."""
    return frozenset(_controls()[use])


def names_thing(label: str) -> bool:
    """Whether a Chinese label ends as the name of a place where things are looked at."""
    return plain(label).endswith(_THINGS_ZH)


def _spaced(text: str) -> str:
    """A text whose words are set apart also where signs join them, as in `delete_repo` and `admin:org`."""
    return re.sub(r"[_:]+", " ", plain(text))


@cache
def _begun(phrase: str) -> re.Pattern[str]:
    """A text that begins with a phrase as words of its own: "all" is no part of "allow"."""
    return re.compile(re.escape(phrase) + ("" if HAN.search(phrase[-1:]) else r"s?(?!\w)"))


@cache
def _controls() -> dict[str, list[str]]:
    tree: dict[str, list[str]] = yaml.safe_load(_beside("controls.yaml"))
    return tree


def _beside(name: str) -> str:
    return Path(__file__).with_name(name).read_text(encoding="utf-8")


def _commanded_en(text: str, command: bool) -> Match | None:
    words = re.findall(r"[\w'&%$€£.,-]+", text)
    if not command and len(words) > _LONGEST_LABEL:
        return None
    for start in range(min(len(words), 4)):
        rest = [word.strip(".,") for word in words[start:]]
        match = _longest(rest, command)
        if match is not None:
            return match
        if words[start].strip(".,") not in _FILLERS:
            return None
    return None


def _longest(words: list[str], command: bool) -> Match | None:
    """The class of the longest phrase that a label begins with."""
    found: list[tuple[int, Match]] = []
    for kind in kinds():
        if any(_begins(words, phrase.split()) for phrase in kind.excluded.en):
            continue
        for phrase in kind.does.en:
            parts = phrase.split()
            if not _begins(words, parts):
                continue
            after = words[len(parts) : len(parts) + 1]
            noun = phrase in kind.nouns
            if (noun and not command) or (after and after[0] in (_THINGS if noun else _ABOUT)):
                continue
            found.append((len(parts), Match(kind, phrase, " ".join(words[len(parts) :]))))
    return max(found, key=lambda pair: pair[0])[1] if found else None


def _begins(words: list[str], phrase: list[str]) -> bool:
    """Whether a label begins with a phrase; one word may stand within it, as in "place buy order"."""
    if words[: len(phrase)] == phrase:
        return True
    return len(phrase) > 1 and words[:1] == phrase[:1] and words[2 : len(phrase) + 1] == phrase[1:]


def _commanded_zh(text: str, command: bool) -> Match | None:
    if not command and len(HAN.findall(text)) > _LONGEST_LABEL_ZH:
        return None
    if "、" in text:  # an entry that names what lies behind it
        text = text.partition(" ")[0]
    found: list[tuple[int, int, Match]] = []
    for kind in kinds():
        if any(phrase in text for phrase in kind.excluded.zh):
            continue
        for phrase in kind.does.zh:
            at = text.find(phrase)
            if at < 0 or (at > 0 and text[at - 1] in "不勿别"):
                continue
            rest = text[at + len(phrase) :]
            if rest.startswith(_things_zh(kind)):
                continue
            found.append((at, -len(phrase), Match(kind, phrase, (text[:at] + rest).strip())))
    return min(found, key=lambda row: row[:2])[2] if found else None


def _things_zh(kind: Kind) -> tuple[str, ...]:
    """What makes a word of a class the name of a thing when it follows."""
    return _ABOUT_ZH if kind.name in _LOSSES else _THINGS_ZH


def _gravest(text: str, words_of: Callable[[Kind], Words], *, nouns: bool) -> Match | None:
    for kind in kinds():
        for phrase in words_of(kind):
            verb = nouns and phrase in kind.nouns
            spot = _pattern(phrase, verb=verb).search(text)
            excluded = any(_pattern(other).search(text) for other in kind.excluded)
            denied = spot is not None and (_DENIED.search(text[: spot.start()]) or _NONE_OF.match(text[spot.end() :]))
            named = spot is not None and nouns and text[spot.end() :].startswith(_things_zh(kind))
            if spot is not None and not excluded and not denied and not named:
                return Match(kind, phrase, text)
    return None


@cache
def _pattern(phrase: str, *, verb: bool = False) -> re.Pattern[str]:
    """A phrase in a text, its first word in any form; as a verb only where one can stand."""
    if HAN.search(phrase):
        return re.compile(re.escape(phrase))
    first, _, rest = phrase.partition(" ")
    stem = first[:-1] if first.endswith("e") else first
    endings = "(?:e|es|ed|ing)" if first.endswith("e") else f"(?:s|es|ed|ing|{first[-1:]}ed|{first[-1:]}ing)?"
    head = re.escape(stem) + (endings if first.isalpha() else "")
    tail = "".join(r"(?:\s+(?:the|a|an|your|my|this|these|all))?\s+" + re.escape(word) for word in rest.split())
    return re.compile(rf"{_VERB_BEFORE if verb else ''}\b{head}{tail}(?!\w)")
