"""Which values of a task nothing in its contract looks at: values that its instruction tells and its oracle enters.

Pure functions over a task and what its checks read at the end. A value counts as looked at where a check would have
come out otherwise with another one, or where the change that it makes would not have been expected.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from catalogs.store import capability
from pipeline.errors import ConfigError
from pipeline.tasks import Check, TaskSpec
from taskspecs.mutation import near_miss
from taskspecs.wording import read_wording
from verifiers.changes import unaccounted
from verifiers.contract import Rows, state_of
from verifiers.normalise import Day, Quantity, days_of, folded, number_of, numbers_of, quantity_of, stands_in

_ENTERING = ("SelectOption", "Type")
_NUMBER = re.compile(r"[+-]?\d[\d.,']*")
_ROW_NUMBER = re.compile(r".*/\d+")
_PART = re.compile(r"[;，。；、]|,\s|\band\b|\bto\b|到|至|和|\"")


def telling(read: Sequence[tuple[Check, Rows]], held: Sequence[bool]) -> list[tuple[Check, Rows]]:
    """The checks that tell what is entered: not those that held before, unless they say what another one asks for.

    `held` says of each whether it did. A product's number, looked up by its name, is what the cart is asked for; a
    text that is kept is part of its copy.
    """
    moved = [one for one, before in zip(read, held, strict=True) if not before]
    asked = [text for check, _ in moved for text in (*check.expected, *(param.value for param in check.args))]
    return [*moved, *(one for one, before in zip(read, held, strict=True) if before and _asked_for(one[0], asked))]


def unchecked_values(
    task: TaskSpec, read: Sequence[tuple[Check, Rows]], changes: Sequence[Sequence[str]] = ()
) -> list[str]:
    """Values that the instruction tells and the oracle enters, and that nothing in the contract looks at.

    `read` are the checks that tell it, with what they read at the end, `changes` the rows of the state that then were
    different.
    """
    if task.contract_kind == "rubric" or not task.feasible:
        return []
    return [
        value
        for value in _entered(task)
        if _told(value, task.instruction)
        and not any(_looks_at(check, rows, value) for check, rows in read)
        and not _adds_up(task, value)
        and not _expects(task, changes, value)
    ]


def _asked_for(check: Check, asked: Iterable[str]) -> bool:
    """Whether what a check says stands in what others ask for."""
    said = [folded(cell) for cell in check.expected]
    return any(stands_in(cell, text) for text in map(folded, asked) for cell in said)


def mentions(text: str, value: str) -> bool:
    """Whether a cell, an argument or a pattern has a value, be it in another spelling of the same number or day."""
    shown, wanted = folded(text), folded(value)
    if stands_in(wanted, shown) or stands_in(wanted, folded(re.sub(r"\\(.)", r"\1", text))):
        return True
    if _NUMBER.fullmatch(wanted) is not None and number_of(value) is not None and number_of(value) == number_of(text):
        return True
    return not days_of(value).isdisjoint(_days_in(text))


def _entered(task: TaskSpec) -> list[str]:
    """Slot values that the oracle types or selects; of one without calls, all that it does and what is quoted."""
    contents = [step.content for step in task.oracle if step.action in _ENTERING and step.content]
    if task.calls:
        values = [param.value for call in task.calls if _counts(task, call.capability_id) for param in call.params]
    elif task.contract_kind == "answer":
        values = []
    else:
        values = [*read_wording(task.instruction).quoted, *contents]
    entered = [folded(content) for content in contents]
    plain = {value: folded(value) for value in values}
    return [value for value in plain if plain[value] and any(plain[value] in content for content in entered)]


def _counts(task: TaskSpec, capability_id: str) -> bool:
    """Whether what a call enters must be looked at: not what is only searched for on the way to an answer."""
    if task.contract_kind != "answer":
        return True
    try:
        return capability(capability_id).consequence != "none"
    except ConfigError:
        return False


def _told(value: str, instruction: str) -> bool:
    """Whether the instruction tells a value, as it is or as the same number or day."""
    if stands_in(folded(value), folded(instruction)):
        return True
    number = number_of(value) if _NUMBER.fullmatch(value.strip()) else None
    return number in numbers_of(instruction) or not days_of(value).isdisjoint(_days_in(instruction))


def _days_in(text: str) -> frozenset[Day]:
    """Every day that a text names, part by part."""
    return days_of(text) | frozenset(day for part in _PART.split(text) for day in days_of(part))


def _looks_at(check: Check, rows: Rows, value: str) -> bool:
    """Whether a check would have come out otherwise with another value."""
    if check.verifier != "matches":
        return any(mentions(text, value) for text in (*check.expected, *(param.value for param in check.args)))
    if any(mentions(param.value, value) for param in check.args):
        return True
    text = rows[0][0] if rows and rows[0] else ""
    altered = text.replace(value, near_miss(value))
    if altered == text:
        return any(mentions(pattern, value) for pattern in check.expected)
    return state_of(check, [[altered]]) != "passed"


def _adds_up(task: TaskSpec, value: str) -> bool:
    """Whether a value is part of an amount that a check names as a whole: 6 minutes and 0 seconds are 360."""
    parts = {one: found for one in _entered(task) if (found := _amount(one, task.instruction))}
    if value not in parts:
        return False
    whole = sum(part.amount for part in parts.values() if part.dimension == parts[value].dimension)
    return any(whole in numbers_of(cell) for check in task.checks for cell in check.expected)


def _amount(value: str, instruction: str) -> Quantity | None:
    """The amount that a value is with the word after it."""
    unit = re.search(rf'(?<!\w){re.escape(folded(value))}"?\s?([^\W\d_]+)', folded(instruction))
    return quantity_of(f"{value} {unit[1]}") if unit and _NUMBER.fullmatch(value) else None


def _expects(task: TaskSpec, changes: Iterable[Sequence[str]], value: str) -> bool:
    """Whether the state would have changed where nothing is expected to, had the value been another one."""
    return any(unaccounted([row], task.expected_changes) for row in _with_another(changes, value))


def _with_another(changes: Iterable[Sequence[str]], value: str) -> Iterator[list[str]]:
    """The changes whose keys tell the value, as they would be with another; the number of a row tells nothing."""
    for key, *kind in changes:
        if value in key and not (_ROW_NUMBER.fullmatch(key) and key.endswith(f"/{value}")):
            yield [key.replace(value, near_miss(value)), *kind]
