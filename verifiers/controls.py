"""What an instruction asks to be done with controls: pressed, filled in, picked, opened.

Some instructions speak of the interface itself: `Enter “x” into the text field and press Submit`. Then what is asked
has been done when the controls were operated so, in this order. Read from the instruction alone; what it asks of
controls in words that cannot be looked for (`press the button that fits best`) becomes a demand that stays open.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Literal, NamedTuple

Deed = Literal["pressed", "filled", "copied", "picked", "opened", "focused", "fitting", "unread"]
"""`copied`: what a label or another field has was filled in. `fitting`: the number on the screen is as asked for.
`unread`: words that are not understood ask for more."""


class Demand(NamedTuple):
    """One thing to be done with a control: its name or value, its role, and its place among several of the role."""

    deed: Deed
    value: str = ""
    role: str = ""
    nth: int = 0
    """Counted from 1; 0 where the instruction does not count."""


class Reading(NamedTuple):
    """The demands in order, and what is left of the instruction without them."""

    demands: list[Demand]
    rest: list[str]


_KINDS = {"click": "press", "tap": "press", "hit": "press", "push": "press", "press": "press", "expand": "open"}
_KINDS |= dict.fromkeys(("select", "choose", "pick", "check", "tick"), "pick")
_KINDS |= dict.fromkeys(("enter", "type", "write", "fill"), "fill")
_KINDS |= {"copy": "copy", "paste": "paste", "focus": "focus"}
_PRESSES = ("press", "open", "focus")
_VERB = re.compile(rf"(?<![\w-])({'|'.join(_KINDS)})(?:p?ing)?(?![\w-])(?:\s+(?:on|in|into)\b)?", re.IGNORECASE)
_QUOTED = re.compile(r"“([^”]+)”|\"([^\"]+)\"|‘([^’]{2,})’|`([^`]+)`")
_STOP = re.compile(r"[.;!?](?=\s|$)")
_NOUNS = {
    "button": "button",
    "radio button": "radio",
    "checkbox": "checkbox",
    "link": "link",
    "tab": "tab",
    "textbox": "textbox",
    "text box": "textbox",
    "text area": "textbox",
    "textarea": "textbox",
    "text field": "textbox",
    "text input": "textbox",
    "field": "textbox",
    "dropdown": "combobox",
    "list": "combobox",
}
"""What instructions call controls, and the role each word stands for."""
_NOUN = re.compile(rf"\b({'|'.join(sorted(_NOUNS, key=len, reverse=True))})(?:e?s)?\b", re.IGNORECASE)
_ORDINAL = re.compile(r"\b(\d+)(?:st|nd|rd|th)\b", re.IGNORECASE)
_QUALIFIED = re.compile(r"\b(?:all|each|every|that|which|whose|if|until|except|similar)\b", re.IGNORECASE)
_CASE = re.compile(r"\bin (?:all )?(lower|upper)[\s-]?case(?: letters)?", re.IGNORECASE)
_VALUE_OF = re.compile(r"^the value (?:of|for) (.+?)(?: (?:in|into) .*)?$", re.IGNORECASE)
_AFTER_NAME = re.compile(r"\s*\b(?:when|to|after|once|below|in|from|with|as|on|by|into)\b.*$", re.IGNORECASE)
_POINTING = re.compile(r"^(?:their|your|its|it|this|those|these|them|any)\b", re.IGNORECASE)
_LEADING = re.compile(r"^(?:the|a|an|on)\s+", re.IGNORECASE)
_TRAILING = re.compile(r"(?:[\s,]|\b(?:and|then|find|use)\b)+$", re.IGNORECASE)
_NUMBER = re.compile(r"(?<![\w./-])-?\d+(?:[./:-]\d+)*(?![\w/-])")
_LOOKING = re.compile(r"^(?:use|find|find and|switch|navigate|scroll|go|look|search|then|and|please)\b", re.IGNORECASE)
_ONLY_JOINS = re.compile(r"^(?:[\s,.;]|\b(?:and|then|finally|now|please|find|by)\b)*$", re.IGNORECASE)
_GREATER = ("greater", "larger", "higher", "bigger", "more")
_CONDITION = re.compile(
    rf"\b(?:an? (even|odd) number|number (?:that is )?({'|'.join(_GREATER)}|less|lower|smaller) than (-?\d+))\b",
    re.IGNORECASE,
)
_MOST_WORDS = 4


def controls_asked(instruction: str) -> Reading:
    """The demands on controls; none where an instruction speaks of contents and not of the interface."""
    operations = list(_operations(instruction))
    if not any(_speaks_of_controls(kind, body) for kind, body, *_ in operations):
        return Reading([], [instruction])
    demands = [demand for kind, body, *_ in operations for demand in _demands(kind, body)]
    return Reading(demands, list(_left_over(instruction, [(start, end) for *_, start, end in operations])))


def leads_to_a_control(words: str) -> bool:
    """Whether words between demands only say where to look, or what the next press is for."""
    return _LOOKING.match(words) is not None or words.endswith(" by")


def number_asked(words: str) -> Demand | None:
    """A condition on a number that is not named itself: `an even number`, `a number greater than 4`."""
    found = _CONDITION.search(words)
    if found is None:
        return None
    sign = found[1].lower() if found[1] else ">" if found[2].lower() in _GREATER else "<"
    return Demand("fitting", f"{sign} {found[3]}" if found[3] else sign)


class _Operation(NamedTuple):
    kind: str
    body: str
    start: int
    end: int


def _operations(instruction: str) -> Iterator[_Operation]:
    """Every verb that operates a control, with the words up to the next one or the sentence's end."""
    masked = _QUOTED.sub(lambda quoted: '"' + "\x00" * (len(quoted[0]) - 2) + '"', instruction)
    verbs = list(_VERB.finditer(masked))
    for place, verb in enumerate(verbs):
        stop = _STOP.search(masked, verb.end())
        ends = [stop.start() if stop else len(masked)]
        ends += [verbs[place + 1].start()] if place + 1 < len(verbs) else []
        end = min(ends)
        body = _TRAILING.sub("", instruction[verb.end() : end]).strip()
        yield _Operation(_KINDS[verb[1].lower()], body, verb.start(), end)


def _speaks_of_controls(kind: str, body: str) -> bool:
    outside = _QUOTED.sub(" ", body)
    return kind in _PRESSES or _NOUN.search(outside) is not None


def _left_over(instruction: str, taken: list[tuple[int, int]]) -> Iterator[str]:
    """The parts of the instruction between the operations that are more than joining words."""
    start = 0
    for begins, ends in [*taken, (len(instruction), len(instruction))]:
        text = instruction[start:begins].strip(" ,.;")
        start = max(start, ends)
        if text and not _ONLY_JOINS.match(text):
            yield _TRAILING.sub("", text)


def _demands(kind: str, body: str) -> list[Demand]:
    match kind:
        case "press":
            return [_press(body)]
        case "open":
            return [Demand("opened")]
        case "focus":
            return [_of_kind("focused", body)]
        case "copy":
            return [_of_kind("copied", body)]
        case "paste":
            return []  # what was copied is looked for where something can be filled in
        case "pick":
            return _picks(body)
        case _:
            return _fills(body)


# --- the words after a verb --------------------------------------------------------------------------------------


def _press(body: str) -> Demand:
    quoted = _names_in(body)
    outside = _QUOTED.sub(" ", body)
    noun = _NOUN.search(outside)
    role = _NOUNS[noun[1].lower()] if noun else ""
    if quoted:
        qualified = len(quoted) > 1 or _QUALIFIED.search(outside)
        return Demand("unread", body) if qualified else Demand("pressed", quoted[0], role)
    if _QUALIFIED.search(body):
        return Demand("unread", body)
    ordinal = _ORDINAL.search(body)
    if ordinal:
        return Demand("pressed", "", role, int(ordinal[1])) if role else Demand("unread", body)
    name = _bare(body)
    plain = _LEADING.sub("", re.sub(rf"\s*{_NOUN.pattern}$", "", name, flags=re.IGNORECASE)).strip()
    if _POINTING.match(name) or len(name.split()) > _MOST_WORDS or (not plain and not role):
        return Demand("unread", body)
    return Demand("pressed", "" if _LEADING.match(plain + " ") else plain, role)


def _of_kind(deed: Deed, body: str) -> Demand:
    """A demand on a control that only its kind and place tell."""
    noun, ordinal = _NOUN.search(body), _ORDINAL.search(body)
    if noun is None or _QUALIFIED.search(body):
        return Demand("unread", body)
    return Demand(deed, "", _NOUNS[noun[1].lower()], int(ordinal[1]) if ordinal else 0)


def _picks(body: str) -> list[Demand]:
    if _QUALIFIED.search(_QUOTED.sub(" ", body)):
        return [Demand("unread", body)]
    noun, ordinal = _NOUN.search(_QUOTED.sub(" ", body)), _ORDINAL.search(body)
    if noun and ordinal:
        return [Demand("picked", "", _NOUNS[noun[1].lower()], int(ordinal[1]))]
    names = _names_in(body) or [part.strip() for part in re.split(r",\s*(?:and\s+)?|\s+and\s+", _bare(body))]
    if any(_POINTING.match(name) or _LEADING.match(name) or not name for name in names):
        return [Demand("unread", body)]
    return [Demand("picked", "" if name.casefold() == "nothing" else name) for name in names]


def _fills(body: str) -> list[Demand]:
    outside = _CASE.sub(" ", _QUOTED.sub(" ", body))
    quoted, looked_up = _names_in(body), _VALUE_OF.match(body)
    if looked_up and not quoted:
        return [Demand("copied", looked_up[1])]
    values = quoted or ([] if _ORDINAL.search(body) else _NUMBER.findall(body))
    if not values or _QUALIFIED.search(outside):
        return [Demand("unread", body)]
    ordinal, case = _ORDINAL.search(outside), _CASE.search(body)
    both = (1, 2) if re.search(r"\bboth\b", outside, re.IGNORECASE) else ()
    places = both or (int(ordinal[1]) if ordinal else 0,)
    cased = [_cased(value, case[1].lower() if case else "") for value in values]
    return [Demand("filled", value, "textbox", place) for value in cased for place in places]


def _cased(value: str, case: str) -> str:
    return value.lower() if case == "lower" else value.upper() if case == "upper" else value


def _bare(body: str) -> str:
    return _LEADING.sub("", _TRAILING.sub("", _AFTER_NAME.sub("", body)).strip(" ,."))


def _names_in(text: str) -> list[str]:
    return [next(group for group in match.groups() if group) for match in _QUOTED.finditer(text)]
