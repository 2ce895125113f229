"""Which elements of a page fit a description: the proof that an instruction means exactly one, or none.

Everything the page holds is looked at, seen or not: what is hidden may still be meant. Knows nothing of sentences.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from pipeline.actions import Model
from pipeline.synth.elements import Element, Entry, Shown
from pipeline.synth.wording import alike

HOLDERS = frozenset({"row", "option", "treeitem"})
"""Roles of elements that hold others, and say all that those say."""

_APART = 8.0
"""CSS pixels by which the outermost element must stand out."""
_LARGER = 1.3
"""And how many times as large the largest must be as the next."""
_NEAR = 140.0
"""What is farther away is not beside."""


class Wanted(Model):
    """What an element must be; what is not said does not matter."""

    label: str = ""
    """Its name or text, in any case."""
    role: str = ""
    purpose: str = ""
    """What its icon or act is for, or what people would confuse with that."""
    state: str = ""
    colour: str = ""
    record: int | None = None
    extreme: str = ""
    """Outermost on a side, or `wide` or `large`, among what can be seen of the role."""
    beside: str = ""
    """The name of what it stands next to."""
    side: str = ""


def solve(wanted: Wanted, shown: Shown) -> list[Element]:
    """Every element that fits."""
    found = [element for element in shown.elements if _fits(wanted, element)]
    if wanted.extreme:
        return _outermost(wanted.extreme, [element for element in found if _showing(element)])
    if wanted.beside:
        return _beside(wanted, found, shown)
    return found


def drawn(purpose: str, shown: Shown) -> int:
    """How many icons for this, or for what people would confuse with it, are anywhere on the page."""
    return sum(name in alike(purpose) for name in shown.drawn)


def mentions(text: str, shown: Shown) -> list[Element]:
    """Every element that says this, or more than this; of what holds others, only what says just this."""
    sought = text.casefold()
    return [
        element
        for element in shown.elements
        if any(
            sought == said or (sought in said and element.role not in HOLDERS)
            for said in (element.name.casefold(), element.text.casefold())
        )
    ]


def ranked(shown: Shown, noun: str, fact: str, *, most: bool) -> int | None:
    """The record of this kind that has most (or least) of something; null unless the picture tells.

    The value of every record that shows in part must be read on an element that shows as a whole.
    """
    found = [(entry.facts.get(fact), number) for number, entry in enumerate(shown.records) if entry.en == noun]
    values = sorted((value, number) for value, number in found if value is not None)
    if len(values) != len(found) or len(values) < 3:
        return None
    best, runner_up = (values[-1], values[-2]) if most else (values[0], values[1])
    if best[0] == runner_up[0] or not all(states(shown.records[number], fact) for _, number in values):
        return None
    seen = [number for _, number in values if shown.records[number].showing]
    plain = best[1] in seen and all(_tells(shown, number, fact) for number in seen)
    return best[1] if plain else None


def _tells(shown: Shown, number: int, fact: str) -> bool:
    """Whether one can read the value of a record's fact on the picture."""
    value = int(shown.records[number].facts[fact])
    return any(
        element.whole and not element.cut and element.role not in HOLDERS and _says(element.text, value)
        for element in shown.within(number)
    )


def counted(shown: Shown, number: int) -> int | None:
    """The place of a record in its list from the top, from one; null when one cannot count to it on the screen."""
    entry = shown.records[number]
    same = {other.group for other in shown.records if other.en == entry.en}
    members = shown.members(entry.group)
    place = [member for member, _ in members].index(number)
    lefts = {round(other.box[0]) for _, other in members}
    alone = len(same) == 1 and len(lefts) == 1 and len(members) > 2
    return place + 1 if alone and all(other.whole for _, other in members[: place + 1]) else None


def states(entry: Entry, fact: str) -> bool:
    """Whether a record's text tells the value of a fact, in one of the ways in which screens write such values."""
    return _says(entry.text, int(entry.facts[fact]))


def _says(text: str, value: int) -> bool:
    plain = text.replace(",", "")
    return any(re.search(rf"(?<![\d.]){re.escape(way)}(?!\d)", plain) for way in _ways(value))


def _ways(value: int) -> Sequence[str]:
    hours, minutes = divmod(value, 60)
    size = f"{value} KB" if value < 1024 else f"{value / 1024:.1f} MB"
    tenth = f"{value / 10}"
    return (
        str(value),
        tenth,
        size,
        f"{hours}:{minutes:02}",
        f"{hours:02}:{minutes:02}",
        f"{hours} h {minutes} min",
        f"{hours}小时{minutes}分钟",
    )


def _fits(wanted: Wanted, element: Element) -> bool:
    said = (element.name.casefold(), element.text.casefold())
    return (
        (not wanted.label or wanted.label.casefold() in said)
        and (not wanted.role or element.role == wanted.role)
        and (not wanted.purpose or bool({element.icon, element.act} & alike(wanted.purpose)))
        and (not wanted.state or wanted.state in element.states)
        and (not wanted.colour or element.colour == wanted.colour)
        and (wanted.record is None or element.record == wanted.record)
    )


def _showing(element: Element) -> bool:
    left, top, right, bottom = element.seen
    return element.shown and right - left > 1 and bottom - top > 1 and any(element.hits)


def _outermost(extreme: str, found: Sequence[Element]) -> list[Element]:
    """The one that stands out from all others, if there is such a one."""
    by_rank = sorted(found, key=lambda element: _rank(extreme, element))
    if len(by_rank) < 2:
        return []
    best, runner_up = (_rank(extreme, element) for element in by_rank[:2])
    enough = best < runner_up * _LARGER if extreme in ("wide", "large") else best < runner_up - _APART
    return by_rank[:1] if enough else []


def _rank(extreme: str, element: Element) -> float:
    left, top, right, bottom = element.box
    match extreme:
        case "top":
            return top
        case "bottom":
            return -bottom
        case "left":
            return left
        case "right":
            return -right
        case "wide":
            return left - right
        case _:
            return (left - right) * (bottom - top)


def _beside(wanted: Wanted, found: Sequence[Element], shown: Shown) -> list[Element]:
    """The nearest control on a side of the one of that name, on the same line."""
    anchors = mentions(wanted.beside, shown)
    if len(anchors) != 1:
        return []
    anchor = anchors[0]
    reached = sorted(
        (gap, number)
        for number, element in enumerate(found)
        if element.kind == "control"
        and element.role not in HOLDERS
        and _showing(element)
        and (gap := _gap(anchor, element, wanted.side)) is not None
    )
    return [found[number] for gap, number in reached[:1]]


def _gap(anchor: Element, other: Element, side: str) -> float | None:
    """How far away the other is on this side; null when it is not beside."""
    gap = other.box[0] - anchor.box[2] if side == "right" else anchor.box[0] - other.box[2]
    level = abs(anchor.centre[1] - other.centre[1]) < (anchor.box[3] - anchor.box[1]) / 2
    return gap if level and -1 <= gap < _NEAR else None
