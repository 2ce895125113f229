"""Values for the slots of a template: drawn from pools and lists, or from what an application holds now.

The same random numbers give the same values, in whatever order the rows of a probe come. Knows nothing of wordings and
contracts.
"""

from __future__ import annotations

from datetime import date
from random import Random
from typing import NamedTuple

from pipeline.errors import EpisodeError
from pipeline.protocols import Facts
from pipeline.tasks import ANSWER
from taskspecs.gate_cases import Finding
from taskspecs.template_filling import filled_check, filled_params
from taskspecs.template_records import SlotSource, Template
from taskspecs.values import in_language, load_values

TRIES = 30
"""Draws for one task, before its template is said to give no further one."""

Drawn = dict[str, str]


class Ground(NamedTuple):
    """What values are drawn from: facts, a language, and the stated day."""

    facts: Facts
    language: str
    today: date


async def draw(template: Template, ground: Ground, random: Random) -> Drawn | Finding:
    """A value for every slot, or why there is none for one."""
    drawn: Drawn = {}
    for slot in template.slots:
        offered = await _offered(template.app_id, slot, drawn, ground)
        if isinstance(offered, Finding):
            return offered
        taken = {drawn[name] for name in slot.differs}
        left = [value for value in offered if value not in taken]
        if not left:
            return Finding("underspecified", f"slot '{slot.name}': no value is left that is not {sorted(taken)}")
        drawn[slot.name] = random.choice(left)
    return _without_answer(template, drawn) or drawn


def _without_answer(template: Template, drawn: Drawn) -> Finding | None:
    """The finding when what is to be answered is empty with these values."""
    asked = [filled_check(check, drawn) for check in template.checks if check.probe == ANSWER]
    empty = next((check for check in asked if not all(cell.strip() for cell in check.expected)), None)
    return Finding("underspecified", f"there is nothing to answer for '{empty.name}'") if empty else None


async def _offered(app_id: str, slot: SlotSource, drawn: Drawn, ground: Ground) -> list[str] | Finding:
    if slot.pool is not None:
        return load_values().pool(slot.pool, ground.language, ground.today)
    if slot.probe is None:
        return in_language(slot.values, ground.language)
    args = {param.name: param.value for param in filled_params(slot.args, drawn)}
    try:
        rows = await ground.facts.read(app_id, slot.probe, args)
    except EpisodeError as error:
        return Finding("not_executable", f"slot '{slot.name}': probe '{slot.probe}' could not be read: {error}")
    return _cells(slot, args, rows)


def _cells(slot: SlotSource, args: Drawn, rows: list[list[str]]) -> list[str] | Finding:
    asked = f"slot '{slot.name}': probe '{slot.probe}' with {args or 'no arguments'}"
    if any(len(row) <= slot.column for row in rows):
        return Finding("not_executable", f"{asked} gives no column {slot.column}")
    found = sorted({row[slot.column] for row in rows} - ({""} if slot.told else set()))
    if not found:
        return Finding("underspecified", f"{asked} finds nothing that exists now")
    if not slot.told and len(found) > 1:
        return Finding("ambiguous", f"{asked} finds {len(found)} values where one is wanted: {found[:3]}")
    return found
