"""Whether a template fits together: its slots, wordings and checks, the catalog and the application's probes.

The first fault is told as `key: what is wrong`. Knows nothing of files.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from catalogs.store import capability
from pipeline.app_entry import entry_names, load_entry
from pipeline.errors import ConfigError
from pipeline.structs import Param
from pipeline.tasks import ANSWER, RESERVED_PROBES
from taskspecs.template_filling import slots_in
from taskspecs.template_records import Template
from taskspecs.values import ANY, load_values

LEAST_WORDINGS = 3
"""Wordings that a template has in each language it is given in."""

_CALLS = {"single": range(1, 2), "multi": range(2, 100), "workflow": range(3, 100)}
_WORKFLOW_SEGMENTS = 2


def first_fault(template: Template) -> str | None:
    """The first thing that does not fit together; None when all does."""
    return next((fault for rule in _RULES for fault in rule(template)), None)


def _names(template: Template) -> Iterator[str]:
    if not template.template_id.startswith(f"{template.app_id}."):
        yield f"id: must begin with '{template.app_id}.'"


def _calls(template: Template) -> Iterator[str]:
    for call in template.calls:
        try:
            found = capability(call.capability_id)
        except ConfigError as error:
            yield f"calls: {error}"
            return
        wanted, given = {slot.name for slot in found.slots}, {param.name for param in call.params}
        for name in sorted(wanted ^ given):
            what = "has no value" if name in wanted else "is no slot of it"
            yield f"calls: {call.capability_id}: '{name}' {what}"
    if template.feasible and len(template.calls) not in _CALLS[template.tier]:
        yield f"tier: {len(template.calls)} calls do not make a '{template.tier}' task"
    if template.feasible and template.tier == "workflow" and len(template.segments) < _WORKFLOW_SEGMENTS:
        yield f"segments: a workflow has {_WORKFLOW_SEGMENTS} or more"


def _slots(template: Template) -> Iterator[str]:
    earlier: set[str] = set()
    pools, probes = load_values().names, _probes(template.app_id)
    for slot in template.slots:
        place = f"slots.{slot.name}"
        if slot.name in earlier:
            yield f"{place}: there are two of this name"
        if slot.pool is not None and slot.pool not in pools:
            yield f"{place}.pool: no pool of values is called '{slot.pool}'; known: {', '.join(pools)}"
        if slot.probe is not None and probes is not None and slot.probe not in probes:
            yield f"{place}.probe: {template.app_id} has no probe '{slot.probe}'; known: {', '.join(sorted(probes))}"
        if slot.pool is None and slot.probe is None and not any(slot.values.values()):
            yield f"{place}.values: none are given"
        for name in sorted((_mentioned(slot.args) | set(slot.differs)) - earlier):
            yield f"{place}: '{name}' is no slot before it"
        earlier.add(slot.name)


def _mentions(template: Template) -> Iterator[str]:
    known = {slot.name for slot in template.slots}
    for place, names in _places(template):
        for name in sorted(names - known):
            yield f"{place}: '{{{name}}}' is no slot of the template"
    captured = {step.save_as for call in template.calls for step in capability(call.capability_id).procedure}
    captured |= {step.save_as for step in template.oracle}
    for name in sorted(slots_in(template.finish) - known - captured):
        yield f"finish: '{{{name}}}' is neither a slot nor captured by a procedure"


def _wording(template: Template) -> Iterator[str]:
    told = {slot.name for slot in template.slots if slot.told}
    if not template.wording:
        yield "wording: none is given"
    for language, wordings in template.wording.items():
        place = f"wording.{language}"
        if len(set(wordings)) < LEAST_WORDINGS:
            yield f"{place}: {len(set(wordings))} different ones, where {LEAST_WORDINGS} are needed"
        for number, wording in enumerate(wordings, 1):
            for name in sorted(told ^ slots_in(wording)):
                said = "does not tell" if name in told else "tells, without its being a told slot,"
                yield f"{place}: wording {number} {said} '{{{name}}}'"
        for slot in template.slots:
            if slot.pool is None and slot.probe is None and not (slot.values.get(language) or slot.values.get(ANY)):
                yield f"slots.{slot.name}.values: none in '{language}'"


def _contract(template: Template) -> Iterator[str]:
    if not template.feasible:
        if not template.absence_checks:
            yield "absence_checks: nothing proves that it cannot be done"
        return
    if template.infeasible_reason is not None or template.oracle:
        yield "infeasible: missing, though it says why or how it cannot be done"
    if template.contract_kind != "rubric" and not template.segments:
        yield "segments: nothing proves that it is done"
    for segment in template.segments:
        if not segment.checks:
            yield f"segments: '{segment.name}' has no checks"
    asked = any(check.probe == ANSWER for check in template.checks)
    if template.contract_kind == "answer" and not (asked and template.finish):
        yield "finish: an answer task has one, and a check of the answer"


def _checks(template: Template) -> Iterator[str]:
    probes = _probes(template.app_id)
    for check in template.checks:
        if check.app_id not in (None, template.app_id):
            yield f"checks: '{check.name}' asks another application"
        elif probes is not None and check.probe not in RESERVED_PROBES and check.probe not in probes:
            known = ", ".join(sorted(probes))
            yield f"checks: '{check.name}': {template.app_id} has no probe '{check.probe}'; known: {known}"


_RULES: tuple[Callable[[Template], Iterator[str]], ...] = (
    _names,
    _calls,
    _slots,
    _mentions,
    _wording,
    _contract,
    _checks,
)


def _places(template: Template) -> Iterator[tuple[str, set[str]]]:
    """Where slots are mentioned beside the wording, with their names."""
    for call in template.calls:
        yield f"calls: {call.capability_id}", _mentioned(call.params)
    for check in template.checks:
        expected = set().union(*map(slots_in, check.expected))
        yield f"checks: '{check.name}'", _mentioned(check.args) | expected | slots_in(check.name)
    for pattern in (*template.expected_changes, *template.always_ignore):
        yield "expected_changes", slots_in(pattern)
    for operation in template.setup:
        yield "setup", slots_in(operation.target) | slots_in(operation.content)
    yield "infeasible_reason", slots_in(template.infeasible_reason)


def _mentioned(params: list[Param]) -> set[str]:
    return set().union(*(slots_in(param.value) for param in params))


def _probes(app_id: str) -> frozenset[str] | None:
    """The probes of an application that ships; None when it has no entry, as one that lives in this process."""
    return frozenset(load_entry(app_id).asked) if app_id in entry_names() else None
