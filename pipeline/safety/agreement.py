"""Whether what the screen binds is what the instruction names.

Nothing here is about classes of consequence: a value of the instruction that the screen does not show, while it shows
one much like it; an alternative that was named and not chosen; more people or things than were asked for. Each is a
reason to ask before going on. Knows no profile.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from pipeline.safety.classes import HAN, phrase_in, phrases_in, plain


class Bound(NamedTuple):
    """What goes with an action: the texts that say what it is done to, and what was chosen among what."""

    texts: Sequence[str]
    chosen: Sequence[str] = ()
    others: Sequence[str] = ()
    """Alternatives to what was chosen, which were not."""


_QUOTED = re.compile(r"[\"“「『《‘]([^\"”」』》’]{2,80})[\"”」』》’]|(?<!\w)'([^']{2,80})'(?!\w)")
_FILE = re.compile(r"[\w\u3400-\u9fff().-]+\.[a-z]{2,5}(?![\w.])", re.IGNORECASE)
_CODE = re.compile(r"(?=[\w/-]*\d)(?=[\w/-]*[-/]|[\w/-]*[A-Za-z])[A-Za-z\d]+(?:[-/][A-Za-z\d]+)+|\b[A-Z]{2,}\d+\b")
_NAME = re.compile(r"\b[A-Z][\w'’]+(?:\s+[A-Z][\w'’]+)+")
_ADDRESS = re.compile(r"[\w.+-]+@[\w-]+(?:\.[\w-]+)+")
_AMOUNT = re.compile(
    r"[$€£¥￥]\s?(\d[\d,]*(?:\.\d+)?)"
    r"|(\d[\d,]*(?:\.\d+)?)\s?(?:usd|eur|cny|rmb|dollars?\b|euros?\b|pounds?\b|yuan\b|元|块|美元|欧元)",
    re.IGNORECASE,
)
_MEASURE = re.compile(r"(\d[\d,]*(?:\.\d+)?)\s*([a-z]{3,}|[年月日号天周个条张封位人份件袋股点时分])", re.IGNORECASE)
_NUMBER = re.compile(r"\d[\d,]*(?:\.\d+)?")
_KINDS = (_FILE, _CODE, _NAME, _ADDRESS)
_ALIKE = 0.6
_SHORTEST = 4
_SHORTEST_WORD = 2
_SELECTED = re.compile(r"(\d+)\s+(?:\w+\s+)?selected|selected\s*[:(]\s*(\d+)|已选(?:择|中)?\s*(\d+)", re.IGNORECASE)
_SEVERAL = re.compile(r"\b(?:all|both|every|each|these|those|them|\w+s)\b|全部|所有|都|这些|那些|每", re.IGNORECASE)


def disagreement(instruction: str, bound: Bound) -> str | None:
    """What the screen binds beyond the instruction or against it; nothing when they agree."""
    screen = "\n".join(bound.texts)
    checks = (
        _other_object(instruction, bound.texts),
        _near_miss(instruction, screen),
        _other_measure(instruction, screen),
        _other_choice(instruction, bound),
        _wider(instruction, screen),
        _many(instruction, screen),
    )
    return next((found for found in checks if found is not None), None)


def amounts(text: str) -> set[float]:
    """Sums of money in a text."""
    return {_number(first or second) for first, second in _AMOUNT.findall(text)}


def numbers(text: str) -> set[float]:
    """All numbers in a text."""
    return {_number(found) for found in _NUMBER.findall(text)}


def strangers(instruction: str, texts: Iterable[str]) -> list[str]:
    """Addresses of which the instruction names neither the whole nor a part before the @."""
    words = set(re.findall(r"[\w\u3400-\u9fff]+", plain(instruction)))
    found = [address for text in texts for address in _ADDRESS.findall(plain(text))]
    return [
        address
        for address in found
        if address not in plain(instruction) and not words & set(re.split(r"[._+-]", address.partition("@")[0]))
    ]


def _other_object(instruction: str, texts: Sequence[str]) -> str | None:
    """Something is spoken of by a name in quotation marks, and the instruction knows no such name."""
    named = [plain(first or second) for text in texts for first, second in _QUOTED.findall(text)]
    if not named or any(name in plain(instruction) or plain(instruction) in name for name in named):
        return None
    asked = [plain(first or second) for first, second in _QUOTED.findall(instruction)]
    words = set(re.findall(r"\w{3,}", plain(instruction)))
    if not asked and any(words & set(re.findall(r"\w{3,}", name)) for name in named):
        return None
    return f"the instruction does not name '{named[0]}'"


def _near_miss(instruction: str, screen: str) -> str | None:
    """A name, a code, a file or an address of the instruction is not there, but one much like it is."""
    shown = plain(screen)
    for kind in _KINDS:
        for wanted in kind.findall(instruction):
            if len(wanted) < _SHORTEST or plain(wanted) in shown:
                continue
            for other in kind.findall(screen):
                ratio = difflib.SequenceMatcher(None, plain(wanted), plain(other)).ratio()
                if ratio >= _ALIKE and plain(other) not in plain(instruction):
                    return f"the screen says '{other}', the instruction '{wanted}'"
    return None


def _other_measure(instruction: str, screen: str) -> str | None:
    """So much of something is asked for, and the screen has another number of the very same."""
    wanted, shown = _measures(instruction), _measures(screen)
    for unit, values in wanted.items():
        there = shown.get(unit, set())
        if there and len(values) == 1 and not values & there:
            return f"the screen says {min(there):g} {unit}, the instruction {min(values):g}"
        if len(values) > 1 and there and (len(values & there) == 1) and len(there) == len(values):
            return f"the screen says {min(there - values):g} {unit}"
    return None


def _measures(text: str) -> dict[str, set[float]]:
    found: dict[str, set[float]] = {}
    for value, unit in _MEASURE.findall(plain(text)):
        found.setdefault(unit.rstrip("s") if len(unit) > 3 else unit, set()).add(_number(value))
    return found


def _other_choice(instruction: str, bound: Bound) -> str | None:
    """An alternative that was not chosen is the one that the instruction names."""
    text = plain(instruction)
    if any(_speaks_of(text, name) for name in bound.chosen):
        return None
    named = [name for name in bound.others if _speaks_of(text, name)]
    if named and bound.chosen:
        return f"'{bound.chosen[0]}' is chosen, the instruction names '{named[0]}'"
    return None


def _speaks_of(text: str, name: str) -> bool:
    """Whether a text has the name, or the word that the name begins with."""
    label = plain(name)
    first = re.split(r"[\s,，:：(（]", label)[0]
    if label in text or len(first) < _SHORTEST_WORD:
        return bool(label) and label in text
    return first in text if HAN.search(first) else re.search(rf"\b{re.escape(first)}\b", text) is not None


def _wider(instruction: str, screen: str) -> str | None:
    """More people, more things or another place than asked for."""
    if phrase_in(screen, "wholesale") and not any(phrase_in(instruction, use) for use in ("wholesale", "wide")):
        return f"it goes to more than was asked for ({phrases_in(screen, 'wholesale')[0]})"
    if phrase_in(instruction, "narrow") and phrase_in(screen, "wide") and not phrase_in(screen, "narrow"):
        return (
            f"the screen says {phrases_in(screen, 'wide')[0]}, the instruction {phrases_in(instruction, 'narrow')[0]}"
        )
    if phrase_in(screen, "more") and not phrase_in(instruction, "more"):
        return f"more goes with it ({phrases_in(screen, 'more')[0]})"
    return None


def _many(instruction: str, screen: str) -> str | None:
    """Several things are selected, and one was asked for."""
    counts = [int(next(filter(None, found))) for found in _SELECTED.findall(screen)]
    if not counts or max(counts) < 2 or set(counts) & numbers(instruction) or _SEVERAL.search(instruction):
        return None
    return f"{max(counts)} things are selected"


def _number(text: str) -> float:
    return float(text.replace(",", ""))
