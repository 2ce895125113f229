"""Whether what the screen binds is what the instruction names.

Nothing here is about classes of consequence: a value of the instruction that the screen does not show, while it shows
one much like it or another of its kind; another recipient, number or day. Each is a reason to ask before going on.
Knows no profile.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from pipeline.addresses import parts_of
from pipeline.safety.bearing import days
from pipeline.safety.classes import HAN, plain
from pipeline.safety.extent import excess
from pipeline.safety.rivals import alternatives
from pipeline.safety.scene import Choice, Entry
from pipeline.safety.values import other_value


class Bound(NamedTuple):
    """What goes with an action: the texts that say what it is done to, and what was chosen among what."""

    texts: Sequence[str]
    choices: Sequence[Choice] = ()
    asks: Sequence[str] = ()
    """What the dialog around it says, where there is one."""
    label: str = ""
    fields: Sequence[Entry] = ()
    location: str = ""


_QUOTED = re.compile(r"[\"“「『《‘]([^\"”」』》’]{2,80})[\"”」』》’]|(?<!\w)'([^']{2,80})'(?!\w)")
_LABELLED = re.compile(r"^[\w\u3400-\u9fff ]{2,20}[:：]\s*[\"“「]")
"""A line that only says how something is called."""
_FILE = re.compile(r"[\w\u3400-\u9fff().-]+\.[a-z]{2,5}(?![\w.])", re.IGNORECASE)
_CODE = re.compile(r"(?=[\w/-]*\d)(?=[\w/-]*[-/]|[\w/-]*[A-Za-z])[A-Za-z\d]+(?:[-/][A-Za-z\d]+)+|\b[A-Z]{2,}\d+\b")
_NAME = re.compile(r"\b[A-Z][\w'’]+(?: +[A-Z][\w'’]+)+")
_ADDRESS = re.compile(r"[\w.+-]+@[\w-]+(?:\.[\w-]+)+")
_SITE = re.compile(r"(?<![\w@.-])[a-z\d-]{3,}(?:\.[a-z\d-]+)*\.[a-z]{2,}(?![\w@])")
_AMOUNT = re.compile(
    r"[$€£¥￥]\s?(\d[\d,]*(?:\.\d+)?)"
    r"|(\d[\d,]*(?:\.\d+)?)\s?(?:usd|eur|cny|rmb|dollars?\b|euros?\b|pounds?\b|yuan\b|元|块|美元|欧元)",
    re.IGNORECASE,
)
_MEASURE = re.compile(
    r"(\d[\d,]*(?:\.\d+)?)\s*(?:of (?:my|our|the|these|those) (?:\w+ (?=[a-z]{3,}s\b))?)?"
    r"([a-z]{3,}|[年月日号天周个条张封位人份件袋股点时分])",
    re.IGNORECASE,
)
_NUMBERED = re.compile(r"\b([a-z]{3,})\s+(?:no\.?\s*|number\s+|#\s?)?(\d[\d,]*)(?![\d:]|\.\d)", re.IGNORECASE)
_NUMBER = re.compile(r"\d[\d,]*(?:\.\d+)?")
_RECIPIENT = re.compile(
    r"(?:收款人|收款方|收件人|接收人|发送给|转给|对方|to|payee|into|recipient|beneficiary|send to)"
    r"(?:\s*[:：]\s*|\s+)(\S.{0,40})$",
    re.IGNORECASE,
)
_KINDS = (_FILE, _CODE, _NAME, _ADDRESS)
_GIVEN_NAME = re.compile(r"(?<=[a-z,] )[A-Z][a-z]{2,}\b(?!s\b)")
_HAN_NAME = re.compile(r"[\u3400-\u9fff]{2,4}")
_LONG_NAME = 60
_ALIKE = 0.6
_SHORTEST = 4


def disagreement(instruction: str, bound: Bound) -> str | None:
    """What the screen binds beyond the instruction or against it; nothing when they agree."""
    screen = "\n".join(bound.texts)
    checks = (
        _other_object(instruction, bound.asks),
        _near_miss(instruction, screen),
        _namesake(instruction, bound.texts),
        _other_measure(instruction, screen),
        _other_day(instruction, bound.texts),
        _rival(instruction, screen),
        other_value(instruction, bound.fields, bound.texts),
        _other_site(instruction, bound.location),
        _other_recipient(instruction, bound.texts),
        excess(instruction, bound.label, bound.texts, bound.choices),
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
    lines = [text for text in texts if not _LABELLED.match(text)]
    named = [plain(first or second) for text in lines for first, second in _QUOTED.findall(text)]
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
                ratio = _likeness(wanted, other) if kind is not _FILE else _likeness(*map(_stem, (wanted, other)))
                first = instruction.startswith(wanted)  # "Open Wander" and "Allow Wander" differ in no name
                same = (first or len(wanted.split()) > 2) and wanted.split()[1:] == other.split()[1:]
                if ratio >= _ALIKE and plain(other) not in plain(instruction) and not same:
                    return f"the screen says '{other}', the instruction '{wanted}'"
    return None


def _likeness(one: str, other: str) -> float:
    return difflib.SequenceMatcher(None, plain(one), plain(other)).ratio()


def _stem(name: str) -> str:
    """The name of a file without its ending, which says of no two files that they are alike."""
    return name.rpartition(".")[0]


def _namesake(instruction: str, texts: Sequence[str]) -> str | None:
    """What the instruction quotes is not there, or whom it is meant for, but something that begins alike."""
    text, shown = plain(instruction), [plain(line) for line in texts]
    for wanted in (plain(first or second) for first, second in _QUOTED.findall(instruction)):
        start = wanted[: 2 if HAN.match(wanted) else _SHORTEST]
        alike = next((line for line in shown if line.startswith(start) and len(wanted) <= len(line) < _LONG_NAME), None)
        if alike is not None and alike not in text and not any(wanted in line for line in shown):
            return f"the screen says '{alike}', the instruction '{wanted}'"
    for wanted in _GIVEN_NAME.findall(instruction):
        alike = next((other for line in texts for other in re.findall(rf"\b{wanted}[a-z]+\b", line)), None)
        if alike is not None and not re.search(rf"\b{wanted}\b", "\n".join(texts)) and alike not in instruction:
            return f"the screen says '{alike}', the instruction '{wanted}'"
    for name in (line for line in shown if _HAN_NAME.fullmatch(line) and line not in text):
        meant = re.search(rf"[给跟和向找对约]({name[0]}[\u3400-\u9fff]{{{len(name) - 1}}})", text)
        if meant is not None:
            return f"the screen says '{name}', the instruction '{meant[1]}'"
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
    line = plain(text)
    counted = [*_MEASURE.findall(line), *((value, word) for word, value in _NUMBERED.findall(line))]
    for value, unit in counted:
        found.setdefault(unit.rstrip("s") if len(unit) > 3 else unit, set()).add(_number(value))
    return found


def _other_day(instruction: str, texts: Sequence[str]) -> str | None:
    """A day is asked for, and the screen names other days only."""
    wanted, shown = days(instruction), set().union(*map(days, texts))
    if not wanted or not shown or wanted & shown:
        return None
    month, day = min(shown)
    return f"the screen says {day}/{month}, the instruction another day"


def _rival(instruction: str, screen: str) -> str | None:
    """One of some things that exclude each other is asked for, and the screen names another of them only."""
    for rivals in alternatives():
        wanted = [one for one in rivals if one.found_in(instruction)]
        shown = [one for one in rivals if one.found_in(screen)]
        if len(wanted) == 1 and shown and wanted[0] not in shown:
            return f"the screen says {shown[0].name}, the instruction {wanted[0].name}"
    return None


def _other_recipient(instruction: str, texts: Sequence[str]) -> str | None:
    """A recipient is shown by name, and the instruction has no part of the name."""
    text = plain(instruction)
    for line in texts:
        found = _RECIPIENT.match(line.strip())
        name = plain(found[1]) if found else ""
        parts = [part for part in re.split(r"[\s,，·(（]+", name) if len(part) > 1 and not re.search(r"[\d*@]", part)]
        if parts and not any(part in text for part in parts):
            return f"it goes to '{name}', whom the instruction does not name"
    return None


def _other_site(instruction: str, location: str) -> str | None:
    """A site is named, and the page is of another one whose address has the same words in it."""
    host = parts_of(location).hostname or ""
    for site in _SITE.findall(_ADDRESS.sub(" ", plain(instruction))):
        alike = site.partition(".")[0] in host
        if alike and host != site and not host.endswith(f".{site}"):
            return f"the page is of {host}, the instruction names {site}"
    return None


def _number(text: str) -> float:
    return float(text.replace(",", ""))
