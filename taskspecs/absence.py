"""Whether the absence checks of a task prove that just this task cannot be done.

A check that holds proves nothing by that alone. One that proves it says that something is missing, and what it asks
for is what the task names. Pure functions over a task; nothing is run.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from pipeline.tasks import Check, TaskSpec
from verifiers.normalise import folded, stands_in

_NOTHING = frozenset({"0", "[]", "disabled", "false", "missing", "no", "none", "null", "off", "unavailable", "{}"})
"""Cells that say that there is nothing, or that it is switched off; among empty cells alone, an empty one does too."""
_WORD = re.compile(r"[a-z]+")
_STEM = 4
_SHORTEST = 3
_COMMON = frozenset({"all", "and", "any", "are", "for", "from", "has", "its", "not", "set", "the", "with", "you"})


def unproved(task: TaskSpec) -> str | None:
    """What is wanting in the proof that a task cannot be done; nothing where the task can be, or where it holds."""
    if task.feasible:
        return None
    denying = [check for check in task.absence_checks if _denies(check)]
    if not denying:
        return "no absence check says that something is missing: all would hold if the task could be done"
    if not any(_names(check, task) for check in denying):
        shown = ", ".join(f"'{check.name}'" for check in denying)
        return f"what the absence checks find missing is not what the task names: {shown}"
    return None


def _denies(check: Check) -> bool:
    """Whether a check says that something is missing or switched off."""
    match check.verifier:
        case "absent":
            return True
        case "count":
            return check.expected == ["0"]
        case "equals" | "contains":
            cells = [folded(cell) for cell in check.expected]
            return not any(cells) or not _NOTHING.isdisjoint(cells)
        case _:
            return False


def _names(check: Check, task: TaskSpec) -> bool:
    """Whether a check asks for something that the task names; of one that asks for nothing in particular, its probe."""
    given = [param.value for call in task.calls for param in call.params]
    values = [text for text in (*(arg.value for arg in check.args), *check.expected) if _particular(text)]
    if values:
        return any(_named(value, [task.instruction, *given]) for value in values)
    return _named(check.probe, [task.instruction, task.infeasible_reason or "", *given])


def _particular(text: str) -> bool:
    return bool(text.strip()) and folded(text) not in _NOTHING


def _named(value: str, texts: Iterable[str]) -> bool:
    """Whether a text holds the value, or a word of it in some form."""
    wanted, sought = folded(value), _words([value])
    said = [folded(text) for text in texts]
    return any(stands_in(wanted, text) for text in said) or not sought.isdisjoint(_words(said))


def _words(texts: Sequence[str]) -> frozenset[str]:
    """The words that tell something, each by its first letters: `hours` and `hour`, `category` and `categor`."""
    words = (word for text in texts for word in _WORD.findall(folded(text)))
    return frozenset(word[:_STEM] for word in words if len(word) >= _SHORTEST and word not in _COMMON)
