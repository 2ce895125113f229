"""Reads a verb and its object off a short phrase: a heading, a menu's entry, a button; in English and Chinese.

"Inserting Tables", "To insert a table", "插入表格" all say `insert` and the table. The list of verbs is data. A phrase
that says no doing gives nothing. Knows nothing of documents.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache
from importlib import resources
from itertools import takewhile
from typing import NamedTuple

import yaml
from pydantic import Field

from catalogs.messages import squashed
from pipeline.actions import Model

_LONGEST = 80
_ARTICLE = re.compile(
    r"^(?:an?|the|your|some|any|this|these|that|each|every|one or more|several|multiple|all)\s+", re.IGNORECASE
)
_JOINED = re.compile(
    r"^(?:and|or|&|/|,|as|to|from|in|on|at|up|out|by|with|of|for|via|through|per|into|onto|over|is|are|was|-|–|:)"
    r"(?:\b|\s|$)",
    re.IGNORECASE,
)
_VAGUE = re.compile(r"^(?:\w+(?:ed|ly)|old|own|new|same|other|such|different|.{40,})$|\b(?:is|are|not|just|//)\b", re.I)
_HANGING = re.compile(r"(?:\s+(?:with|to|into|onto|in|as|of|for|by|on|at|from|and|or|the|an?))+$", re.IGNORECASE)
_ZH = re.compile(r"[\u3400-\u9fff]")
_ZH_PLACE = re.compile(r"^(?:在|从|为|对|向|给)[^，。]{1,16}$")
_ZH_PLACED = "中里上下内间方侧边处"
_ZH_GOES = re.compile(r"^(?:为|成|到|至|在|给|入|作|$)")
_ZH_MANNER = re.compile(r"(?:作为|以|随|按|从).*$")
_ZH_WHEN = re.compile(r"时(?![间区钟长刻段])")
_ZH_TAIL = re.compile(r"(?:的?(?:方法|步骤|操作|过程)|功能)$")
_ZH_HEAD = re.compile(r"^(?:一个|一项|一些|某个|该|这个|此|新的?(?=[\u3400-\u9fff]{2}))")
_PARTICLES = "的了着过成为到于在和与或及是、/（(，器者员机符"
_SPLIT = re.compile(r"\s+(?:-|–|—|▸|→|>|≫|»|▶|➔)\s+|\s*[▸→≫»▶➔]\s*")
_QUOTES = "「」『』“”\"'[]<>《》 "
_ENDS = " .:。：…?？!！"


class Verb(Model):
    """A verb of applications; the words around it are in `verbs.yaml`."""

    done: str
    gerund: str = ""
    consequence: str
    reversible: bool = True
    noun: bool = False
    zh: list[str] = Field(default_factory=list)
    said: str = ""

    @property
    def in_chinese(self) -> str:
        """The verb in sentences of ours."""
        return self.said or next(iter(self.zh), "")


class Intent(NamedTuple):
    """What a phrase says is done, to what: the verb in its English form, the object in the phrase's language."""

    verb: str
    object: str


class _Words(Model):
    verbs: dict[str, Verb]
    things: dict[str, list[str]]
    nothings: list[str]
    ways: dict[str, list[str]]
    openings: dict[str, list[str]]
    offers: dict[str, list[str]]
    bounds: list[str]
    telling: list[str]
    menus: dict[str, list[str]]
    selection: dict[str, str]
    alike: list[list[str]]


class _Spoken(NamedTuple):
    """What a word at a phrase's beginning says: the verb, and whether it can only be a verb there."""

    verb: str
    certain: bool


def verb_named(name: str) -> Verb:
    """A verb of the list; one that is not in it is said to change something for good, for all we know."""
    known = _words().verbs.get(name)
    return known or Verb(done=f"{name}ed", consequence="edit", reversible=False)


def known_verb(text: str) -> str | None:
    """The verb of the list that a word is a form of."""
    word = squashed(text).casefold()
    spoken = _english().get(word)
    return spoken.verb if spoken else _chinese().get(word)


def intent_of(text: str, language: str) -> Intent | None:
    """What a phrase of this language says is done, or nothing."""
    phrase = squashed(text).strip(_ENDS)
    if not phrase or len(phrase) > _LONGEST:
        return None
    return _read_zh(phrase) if language.startswith("zh") else _read_en(phrase)


def intents_in(text: str, language: str) -> list[Intent]:
    """What sentences say can be done: "you can execute queries", "可以添加附件"."""
    words = _words()
    offers = "|".join(re.escape(offer) for offer in words.offers["zh" if _is_zh(language) else "en"])
    found = []
    for part in re.split(rf"(?i)(?<![a-z])(?:{offers})(?![a-z])", text)[1:]:
        clause = re.split(r"[.,;:()\[\]\"'“”，。；：（）、]", squashed(part), maxsplit=1)[0]
        if not _is_zh(language):
            clause = " ".join(takewhile(lambda word: word.casefold() not in words.bounds, clause.split()))
        intent = intent_of(clause, language)
        if intent is not None and not _VAGUE.search(intent.object) and len(intent.object.split()) <= 4:
            found.append(intent)
    return found


def menu_of(text: str) -> tuple[str, ...]:
    """The entries of a menu path, or nothing when the text is none."""
    parts = tuple(squashed(part).strip(_ENDS + "-–") for part in _SPLIT.split(squashed(text)))
    entries = all(part and len(part) <= 40 and not re.search(r"[,;=，；。]", part) for part in parts)
    return parts if 2 <= len(parts) <= 6 and entries else ()


def menu_intent(path: Sequence[str], language: str) -> Intent:
    """What an entry of a menu does: by its last entry that says a doing, else by the menu's name."""
    opens = path[0].casefold() in _words().menus["open"]
    for at in range(len(path) - 1, 0, -1):
        if spoken := intent_of(path[at], language):
            return spoken
        if (verb := known_verb(path[at])) and not opens:
            return Intent(verb, _menu_object(path, at, language))
    top = path[0].casefold()
    verb = next((verb for verb, names in _words().menus.items() if top in names), known_verb(top))
    return Intent(verb or "open", _worded(path[-1], language))


def _menu_object(path: Sequence[str], at: int, language: str) -> str:
    """What a menu's bare verb works on: what is below it, or above it, or what is selected."""
    named = path[at + 1 :] or [entry for entry in path[:at] if not known_verb(entry)]
    return _worded(named[-1], language) if named else _words().selection["zh" if _is_zh(language) else "en"]


def _worded(entry: str, language: str) -> str:
    """A menu's entry as an object."""
    return entry if _is_zh(language) else _object_en(entry) or entry


def alike(verb: str) -> frozenset[str]:
    """Verbs that often say the same as this one, itself among them."""
    return frozenset({verb}.union(*(group for group in _words().alike if verb in group)))


def gist(thing: str) -> str:
    """What an object is about, without what tells it from others: "open ticket of a milestone, planned" -> "ticket"."""
    words = _words()
    named = re.split(r"[,;(]", thing, maxsplit=1)[0].split()
    kept = takewhile(lambda word: word.casefold() not in words.bounds, named)
    return " ".join(word for word in kept if word.casefold() not in words.telling) or thing


def effect_of(intent: Intent, language: str) -> str:
    """What holds afterwards, in our own words."""
    verb = verb_named(intent.verb)
    if _is_zh(language):
        return f"已{verb.in_chinese or intent.verb}：{intent.object}。"
    return f"What has been {verb.done}: {intent.object}."


def slug_of(text: str) -> str:
    """The text as a part of an identity: words in small letters, the last one in the singular; Chinese as it is."""
    words = re.findall(r"[a-z0-9]+|[\u3400-\u9fff]+", text.casefold())
    return "_".join([*words[:-1], singular(words[-1])]) if words else ""


def singular(word: str) -> str:
    """An English word without the ending of its plural, by rule."""
    if len(word) > 4 and word.endswith("ies"):
        return word[:-3] + "y"
    if len(word) > 4 and word.endswith(("sses", "xes", "ches", "shes")):
        return word[:-2]
    return word[:-1] if len(word) > 3 and word.endswith("s") and not word.endswith(("ss", "us", "is")) else word


def doing_in(text: str, verb: str) -> list[tuple[int, int]]:
    """Where some form of the verb, or of one that often says the same, stands in the text."""
    return [found.span() for found in _forms(verb).finditer(text)]


@cache
def _forms(verb: str) -> re.Pattern[str]:
    words, zh = set[str](), list[str]()
    for one in alike(verb):
        known = _words().verbs.get(one)
        words |= {one, f"{one}s"} | ({known.done, known.gerund or _gerund(one)} if known else set())
        zh += known.zh if known else []
    english = rf"\b(?:{'|'.join(sorted(map(re.escape, words)))})\b"
    return re.compile("|".join([english, *sorted(map(re.escape, zh), key=len, reverse=True)]), re.IGNORECASE)


# --- English ------------------------------------------------------------------------------------------------------


def _read_en(phrase: str) -> Intent | None:
    opened = _opened(phrase, _words().openings["en"])
    first, _, rest = opened.partition(" ")
    rest = rest.removeprefix("up ").removeprefix("Up ")
    spoken = _english().get(first.casefold())
    if spoken is None or _JOINED.match(rest.strip()):
        return None
    certain = spoken.certain or opened != phrase or _ARTICLE.match(rest) is not None
    thing = _object_en(rest)
    if not thing or (not certain and _names_thing(thing, spoken.verb)):
        return None
    return Intent(spoken.verb, thing)


def _opened(phrase: str, openings: Sequence[str]) -> str:
    for opening in sorted(openings, key=len, reverse=True):
        if phrase.casefold().startswith(f"{opening} "):
            return _opened(phrase[len(opening) + 1 :], openings)
    return phrase


def _object_en(rest: str) -> str:
    thing = re.sub(r"\s*[(\[{<].*$", "", rest).strip(_ENDS + ",-–")
    ways = "|".join(re.escape(way) for way in _words().ways["en"])
    thing = re.split(rf"\s+(?:{ways})\b|[:;]\s", thing, maxsplit=1, flags=re.IGNORECASE)[0]
    thing = _ARTICLE.sub("", _HANGING.sub("", thing)).strip(_ENDS + ",-–")
    words = thing.split()
    if not words or len(words) > 7 or not re.search(r"[A-Za-z]{2}", thing) or thing.casefold() in _words().nothings:
        return ""
    # Headings write Every Word Large; names that are large throughout stay.
    return " ".join(word if re.search(r"[A-Z].*[A-Z]|\d", word) else word.casefold() for word in words)


def _names_thing(thing: str, verb: str) -> bool:
    """Whether "Sort Criteria" is a name: the verb's word is as often a noun, and what follows is what nouns precede."""
    last = singular(thing.split()[-1].casefold())
    return (_words().verbs[verb].noun and last in _words().things["en"]) or " - " in thing


@cache
def _english() -> dict[str, _Spoken]:
    forms: dict[str, _Spoken] = {}
    for name, verb in _words().verbs.items():
        forms[name] = _Spoken(name, certain=not verb.noun)
        forms[verb.gerund or _gerund(name)] = _Spoken(name, certain=True)
        for spelled in (name.replace("ize", "ise"), _gerund(name).replace("izing", "ising")):
            forms.setdefault(spelled, _Spoken(name, certain=True))
    return forms


def _gerund(verb: str) -> str:
    return f"{verb[:-1]}ing" if verb.endswith("e") and not verb.endswith(("ee", "ye")) else f"{verb}ing"


# --- Chinese ------------------------------------------------------------------------------------------------------


def _read_zh(phrase: str) -> Intent | None:
    opened = phrase
    for opening in _words().openings["zh"]:
        opened = opened.removeprefix(opening).strip()
    if opened.startswith("将"):
        return _taken(opened)
    spoken = _verb_at(opened) or _placed(opened)
    thing = _object_zh(spoken.object) if spoken else ""
    return Intent(spoken.verb, thing) if spoken and thing else None


def _verb_at(text: str) -> Intent | None:
    """The longest verb at the beginning, and what follows."""
    word = next((text[:length] for length in (4, 3, 2) if text[:length] in _chinese()), "")
    return Intent(_chinese()[word], text[len(word) :]) if word else None


def _placed(text: str) -> Intent | None:
    """Of "在文档中插入表格" the verb after the place, and what follows."""
    for at in range(3, len(text) - 2):
        if text[at - 1] in _ZH_PLACED and _ZH_PLACE.match(text[:at]) and (spoken := _verb_at(text[at:])):
            return spoken
    return None


def _taken(text: str) -> Intent | None:
    """Of "将文本转换为表格" the verb, and the object that stands before it."""
    for at in range(3, min(len(text) - 1, 18)):
        spoken = _verb_at(text[at:])
        if spoken and _ZH_GOES.match(spoken.object):
            thing = _object_zh(_ZH_MANNER.sub("", text[1:at]))
            return Intent(spoken.verb, thing) if thing else None
    return None


def _object_zh(rest: str) -> str:
    thing = re.split(r"[，。；：:（(]", squashed(rest).strip(_ENDS), maxsplit=1)[0].strip(_QUOTES)
    if not thing or thing[0] in _PARTICLES or not _ZH.search(thing) or _ZH_WHEN.search(thing):
        return ""
    thing = _ZH_TAIL.sub("", _ZH_HEAD.sub("", thing)).strip(_QUOTES)
    words = _words()
    short = len(thing) < 2 and thing not in "行列图表页"
    return "" if short or len(thing) > 20 or thing in words.things["zh"] or thing in words.nothings else thing


@cache
def _chinese() -> dict[str, str]:
    return {word: name for name, verb in _words().verbs.items() for word in verb.zh}


def _is_zh(language: str) -> bool:
    return language.startswith("zh")


@cache
def _words() -> _Words:
    text = (resources.files("catalogs") / "verbs.yaml").read_text(encoding="utf-8")
    return _Words.model_validate(yaml.safe_load(text))
