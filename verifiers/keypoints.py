"""Keypoints without a model: what must come true, read from the instruction alone.

Each quoted value, number or day in the instruction becomes one keypoint, in the instruction's order and language; what
is asked of it follows from the verb of its clause and the words around it. A superlative, a count and a format are
keypoints of their own (qualifiers.py). Where the instruction speaks of controls,
what is to be done with each is a keypoint (controls.py), and words beside it that are not understood stay open. The
contract is not needed, so that a judge who must not see it can use these. What is only implied is not found.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Literal, NamedTuple, get_args

from pipeline.protocols import JudgeView
from verifiers.controls import Deed, Demand, controls_asked, leads_to_a_control, number_asked
from verifiers.normalise import days_of, folded
from verifiers.qualifiers import Quality, qualifiers_of
from verifiers.wordlists import (
    AFTER_OLD_ZH,
    ASKING,
    BEFORE_NEW,
    BEFORE_NEW_ZH,
    BEFORE_OLD,
    CHANGING,
    MAYBE_NEW_ZH,
    SWITCHING,
    VERBS,
    Verb,
)

Wanted = Literal["shown", "gone", "seen", "answered", "changed"] | Quality | Deed
"""`shown`: the application shows the value after a change was sent. `gone`: it showed the value and no longer does.
`seen`: the agent had the value on screen. `answered`: the answer stands on a screen. `changed`: something was sent.
Qualities: which, how many, in which form. Deeds: a control was operated, as the instruction says."""
DEEDS: frozenset[Wanted] = frozenset(get_args(Deed))
ValueKind = Literal["text", "number", "day", "none"]


class Sought(NamedTuple):
    """A keypoint before any trajectory is seen; `value` is empty for kind `none`."""

    wanted: Wanted
    value: str
    kind: ValueKind
    verb: Verb
    text: str
    role: str = ""
    nth: int = 0
    """Of a deed: the control's role, and its place among several of the role, from 1."""


class _Value(NamedTuple):
    text: str
    kind: ValueKind
    start: int
    end: int


_QUOTED = re.compile(r"“([^”]+)”|\"([^\"]+)\"|「([^」]+)」|『([^』]+)』|‘([^’]{2,})’|`([^`]+)`|《([^》]+)》")
_DAY = re.compile(r"\d{4}-\d{1,2}-\d{1,2}|\d{4}年\d{1,2}月\d{1,2}日")
_NUMBER = re.compile(r"(?<![A-Za-z0-9_.,:/(（-])\d+(?:[.,]\d+)*(?![A-Za-z0-9_:/-]|[.,]\d)")
_CLAUSE = re.compile(
    r"[(（]\d{1,2}[)）]\s*|\.(?=\s|$)\s*|[;!?。；！？]\s*"
    r"|[,，、]\s*(?:and\s+)?(?:then|after that|afterwards|finally|然后|再|接着|最后|并且?|同时)\s*"
    r"|\b(?:and\s+then|then)\b|然后|接着|并且|并(?=[把将在给为])"
)
_A_PART = re.compile(r"\b(?:starts?|begins?|starting|beginning|ends?|ending) with$|\bcontain(?:s|ing)$")
"""Before a value that is only a piece of what is meant."""
_FEW_WORDS = re.compile(r"[a-z-]+(?:\s[a-z-]+){0,3}")
_TEXTS = {
    "en": {
        "shown": "After the change was sent, the application shows “{value}”.",
        "gone": "“{value}” was on screen and is no longer there.",
        "seen": "“{value}” was on screen.",
        "answered": "The answer stands on a screen the agent looked at.",
        "changed": "A change was sent to the application.",
        "ranked": "It is the right one by rank or place: {value}",
        "counted": "As many as asked for, and no others: {value}",
        "formatted": "Written or ordered as asked for: {value}",
        "pressed": "{control} was pressed, after what comes before it.",
        "filled": "“{value}” was in the {control} when it was sent.",
        "picked": "{control} was picked, and nothing else, when it was sent.",
        "copied": "What {control} has was filled in when it was sent.",
        "opened": "What was folded away has been opened.",
        "focused": "{control} has the focus.",
        "fitting": "When it was sent, the number on the screen was: {value}",
        "unread": "What the instruction asks for in these words has been done: {value}",
    },
    "zh": {
        "shown": "提交更改后，应用显示“{value}”。",
        "gone": "“{value}”曾在屏幕上出现，之后不再出现。",
        "seen": "屏幕上出现过“{value}”。",
        "answered": "答案出现在智能体看过的某个屏幕上。",
        "changed": "已向应用提交更改。",
        "ranked": "名次或位置符合要求：{value}",
        "counted": "数量符合要求，不多不少：{value}",
        "formatted": "书写或排列方式符合要求：{value}",
        "pressed": "在完成之前的步骤后按下了{control}。",
        "filled": "提交时“{value}”在{control}中。",
        "picked": "提交时选中的是{control}，且别无其他。",
        "copied": "提交时填入的是{control}中的内容。",
        "opened": "折叠的内容已展开。",
        "focused": "焦点在{control}上。",
        "fitting": "提交时屏幕上的数字为：{value}",
        "unread": "已完成指令中的这项要求：{value}",
    },
}


def keypoints_of(view: JudgeView) -> list[Sought]:
    """What the instruction asks to come true, in its order, without repetition."""
    reading = controls_asked(view.instruction)
    beside = bool(reading.demands)
    contents = [sought for words in reading.rest for sought in _of_words(words, view.language, beside)]
    return list(dict.fromkeys([*contents, *(_deed(demand, view.language) for demand in reading.demands)]))


def _of_words(words: str, language: str, beside_deeds: bool) -> list[Sought]:
    """What words ask for; beside deeds they must name a value, only lead to a control, or else stay open."""
    found, condition = _of_contents(words, language), number_asked(words)
    if beside_deeds and condition is not None:
        return [_deed(condition, language)]
    if not beside_deeds or any(sought.value for sought in found):
        return found
    return [] if leads_to_a_control(words) else [_deed(Demand("unread", words), language)]


def _of_contents(instruction: str, language: str) -> list[Sought]:
    """What is to become of the application's contents."""
    found: list[Sought] = []
    previous: Verb = "find"
    for clause, values in _clauses(instruction):
        qualifiers = qualifiers_of(clause)
        verb = _verb(clause) or (previous if values or qualifiers else None)
        if verb is None:
            continue
        previous = verb
        wanted = [_sought(clause, value, _verb_at(clause, value, verb), language) for value in values]
        found += wanted
        if verb in CHANGING and not any(sought.wanted in ("shown", "gone") for sought in wanted):
            found.append(_made("changed", "", "none", verb, language))
        found += [_made(one.quality, one.phrase, "none", verb, language) for one in qualifiers]
    if any(_verb(clause) == "answer" for clause, _ in _clauses(instruction)):
        found.append(_made("answered", "", "none", "answer", language))
    return found


def same_value(sought: Sought, text: str) -> bool:
    """Whether a typed or chosen text stands for the value of a keypoint."""
    if sought.kind == "day":
        return bool(days_of(text) & days_of(sought.value))
    return folded(text) == folded(sought.value)


def quoted_in(text: str) -> list[str]:
    """The texts in quotation marks, in order."""
    return [_first(match) for match in _QUOTED.finditer(text)]


def unquoted(text: str) -> str:
    """The text without what stands in quotation marks."""
    return _QUOTED.sub(" ", text)


def _clauses(instruction: str) -> Iterator[tuple[str, list[_Value]]]:
    """The instruction cut into clauses, never inside a quoted value; values carry places within their clause."""
    values = list(_values(instruction))
    masked = instruction
    for value in values:
        masked = masked[: value.start] + "\x00" * (value.end - value.start) + masked[value.end :]
    start = 0
    for cut in [*_CLAUSE.finditer(masked), None]:
        end = cut.start() if cut else len(masked)
        inside = [
            value._replace(start=value.start - start, end=value.end - start)
            for value in values
            if start <= value.start < end
        ]
        if masked[start:end].strip():
            yield masked[start:end], inside
        start = cut.end() if cut else end


def _values(instruction: str) -> Iterator[_Value]:
    taken: list[tuple[int, int]] = []
    kinds: list[tuple[ValueKind, re.Pattern[str]]] = [("text", _QUOTED), ("day", _DAY), ("number", _NUMBER)]
    found: list[_Value] = []
    for kind, pattern in kinds:
        for match in pattern.finditer(instruction):
            if any(match.start() < end and start < match.end() for start, end in taken):
                continue
            taken.append(match.span())
            found.append(_Value(_first(match) if kind == "text" else match[0], kind, match.start(), match.end()))
    yield from sorted(found, key=lambda value: value.start)


def _first(match: re.Match[str]) -> str:
    return next(group for group in match.groups() if group is not None)


def _verb(clause: str) -> Verb | None:
    """The verb of a clause: asking wins over changing, changing over looking; of two changes the first stands."""
    text = folded(clause)
    asks = ASKING.begins(text) or VERBS["answer"].within(text)
    if asks and not any(VERBS[verb].begins(text.removeprefix("请").strip()) for verb in CHANGING):
        return "answer"
    places = {verb: words.places(text)[0] for verb, words in VERBS.items() if words.within(text)}
    changes = {verb: place for verb, place in places.items() if verb in CHANGING}
    chosen = changes or places
    return min(chosen.items(), key=lambda pair: pair[1])[0] if chosen else None


def _verb_at(clause: str, value: _Value, verb: Verb) -> Verb:
    """The verb that governs a value: the last one before it that takes over, or looking before any change."""
    before = folded(clause[: value.start])
    taking = SWITCHING.places(before)
    if taking:
        rest = before[taking[-1] :]
        return next((kind for kind in CHANGING if VERBS[kind].begins(rest)), verb)
    changes = any(VERBS[kind].within(before) for kind in CHANGING)
    return "find" if not changes and VERBS["find"].within(before) and verb in CHANGING else verb


def _sought(clause: str, value: _Value, verb: Verb, language: str) -> Sought:
    return _made(_wanted(clause, value, verb), value.text, value.kind, verb, language)


def _wanted(clause: str, value: _Value, verb: Verb) -> Wanted:
    if verb not in CHANGING:
        return "seen"
    before, after = folded(clause[: value.start]), folded(clause[value.end :])
    if _A_PART.search(before):
        return "unread"
    if verb == "delete":
        named = MAYBE_NEW_ZH.ends(before) or not _is_place(before, after)
        return "gone" if value.kind == "text" and named else "seen"
    if BEFORE_NEW.ends(before) and not (verb == "create" and re.search(r"(?<![a-z])to$", before)):
        return "shown"
    if BEFORE_NEW_ZH.ends(before) or (MAYBE_NEW_ZH.ends(before) and not AFTER_OLD_ZH.begins(after)):
        return "shown"
    if verb == "create" and value.kind == "text" and not _is_place(before, after):
        return "shown"
    return "seen"


def _is_place(before: str, after: str) -> bool:
    """Whether a value says where, not what: `to the wiki page`, `在页面……末尾`."""
    if AFTER_OLD_ZH.begins(after):
        return True
    return any(_FEW_WORDS.fullmatch(before[place:]) for place in BEFORE_OLD.places(before))


def _made(wanted: Wanted, value: str, kind: ValueKind, verb: Verb, language: str) -> Sought:
    texts = _TEXTS["zh" if language.startswith("zh") else "en"]
    return Sought(wanted, value, kind, verb, texts[wanted].format(value=value))


def _deed(demand: Demand, language: str) -> Sought:
    quoted = f"“{demand.value}”" if demand.value and demand.deed != "filled" else demand.role
    control = f"{demand.role} {demand.nth}" if demand.nth else quoted
    words = _TEXTS["zh" if language.startswith("zh") else "en"][demand.deed].format(value=demand.value, control=control)
    return Sought(demand.deed, demand.value, "text", "edit", words, demand.role, demand.nth)
