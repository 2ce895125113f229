"""From a template and its values to a task with its contract, worded in one of several ways.

Knows nothing of where the values come from.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from random import Random

from catalogs.store import NOTHING_NEW, Known, capability
from pipeline.app_entry import entry_names, load_entry
from pipeline.structs import Param
from pipeline.tasks import ADDRESS, TREE, Capability, CapabilityCall, Check, ProcedureStep, Segment, Start, TaskSpec
from pipeline.tasks import identified as with_identity
from pipeline.words import Domain, Platform
from taskspecs.store import bind, consequence_of, oracle_of
from taskspecs.template_filling import filled_check, filled_key, filled_params, filled_setup, put_in, slots_in
from taskspecs.template_records import InfeasibleKind, Template
from taskspecs.values import in_language, load_values

INFEASIBLE = "infeasible: "
"""What an answer begins with that says so."""

_OPENED, _CLOSED = 0.3, 0.3
"""Shares of tasks that say something before and after what they ask for."""

DOMAINS: dict[Platform, Domain] = {"web": "Web", "mobile": "Mobile", "desktop": "Computer"}
"""The training domain of each platform."""
_REASONS: dict[InfeasibleKind, str] = {
    "missing_function": "The application has no such function.",
    "absent_object": "There is no such object.",
    "contradiction": "The request contradicts itself.",
}
_SPARE_STEPS, _FEWEST_STEPS = 5, 15


def compose(
    template: Template,
    language: str,
    values: Mapping[str, str],
    random: Random,
    seed: int,
    known: Known = NOTHING_NEW,
) -> TaskSpec:
    """The task that a template gives with these values; the random numbers choose its wording."""
    calls = [call.model_copy(update={"params": filled_params(call.params, values)}) for call in template.calls]
    capabilities = [capability(call.capability_id, known) for call in calls]
    reason = _reason(template, values)
    oracle = (
        _finding_out(template, calls, values, reason, known)
        if reason
        else oracle_of(calls, _finish(template, values, known), known)
    )
    wording = random.choice(template.wording[language])
    told = [slot.name for slot in template.slots if slot.told]
    return with_identity(
        TaskSpec(
            task_id="",
            app_ids=[template.app_id],
            app_versions=versions_of(template.app_id),
            platform=platform_of(capabilities, template.app_id),
            tier=template.tier,
            instruction=_said(template, language, put_in(wording, values), random),
            language=language,
            capability_ids=[call.capability_id for call in calls],
            calls=calls,
            template_id=template.template_id,
            params=[Param(name=name, value=values[name]) for name in told],
            start=Start(app_id=template.app_id, path=template.start or home_of(template.app_id)),
            setup=[filled_setup(operation, values) for operation in template.setup],
            contract_kind=template.contract_kind,
            segments=[_segment(segment, values) for segment in template.segments],
            absence_checks=[filled_check(check, values) for check in template.absence_checks],
            preflight=[filled_check(check, values) for check in template.preflight],
            expected_changes=[filled_key(pattern, values) for pattern in template.expected_changes],
            always_ignore=[filled_key(pattern, values) for pattern in template.always_ignore],
            oracle=oracle,
            consequence=consequence_of(calls, known),
            domain=DOMAINS[platform_of(capabilities, template.app_id)],
            feasible=template.feasible,
            infeasible_reason=reason,
            max_steps=template.max_steps or steps_for(oracle),
            max_seconds=template.max_seconds,
            sources=sources_of(capabilities),
            generator="template",
            seed=seed,
        )
    )


def without_probes(task: TaskSpec) -> TaskSpec:
    """The task of an application whose state nobody reads: only where it ended and what it showed is looked at."""
    kept = [segment.model_copy(update={"checks": _visible(segment.checks)}) for segment in task.segments]
    return with_identity(
        task.model_copy(
            update={
                "contract_kind": "rubric",
                "segments": [segment for segment in kept if segment.checks],
                "absence_checks": _visible(task.absence_checks),
                "preflight": [],
            }
        )
    )


def versions_of(app_id: str) -> list[Param]:
    """The version of an application that ships; none of one that lives in this process."""
    return [Param(name=app_id, value=load_entry(app_id).version)] if app_id in entry_names() else []


def home_of(app_id: str) -> str:
    """The address at which an application is opened."""
    return load_entry(app_id).home if app_id in entry_names() else "/"


def platform_of(capabilities: Sequence[Capability], app_id: str) -> Platform:
    """The platform of an application, by its capabilities or its entry."""
    if capabilities:
        return capabilities[0].platform
    return load_entry(app_id).platform if app_id in entry_names() else "web"


def sources_of(capabilities: Sequence[Capability]) -> list[str]:
    """Where the capabilities are documented; a catalog stands for itself where nothing is."""
    found = [
        source
        for one in capabilities
        for source in [evidence.source for evidence in one.evidence] or [f"catalog:{one.capability_id}"]
    ]
    return list(dict.fromkeys(found))


def steps_for(oracle: Sequence[ProcedureStep]) -> int:
    """Steps that leave room for detours."""
    return max(_FEWEST_STEPS, 3 * len(oracle) + _SPARE_STEPS)


def _said(template: Template, language: str, wording: str, random: Random) -> str:
    """The wording, at times with a sentence before it and one after; one that tells nobody what to leave out."""
    values = load_values()
    openings, closings = in_language(values.openings, language), in_language(values.closings, language)
    parts = [random.choice(openings)] if openings and random.random() < _OPENED else []
    parts.append(wording)
    if closings and template.contract_kind == "state" and random.random() < _CLOSED:
        parts.append(random.choice(closings))
    return ("" if language == "zh" else " ").join(parts)


def _finish(template: Template, values: Mapping[str, str], known: Known) -> str | None:
    """How an answer is spelled. What was read on the way goes in later: the oracle finds it out, and is not told."""
    if template.finish is None:
        return None
    told = {slot.name: values[slot.name] for slot in template.slots if slot.told}
    captured = {step.save_as for call in template.calls for step in capability(call.capability_id, known).procedure}
    return put_in(template.finish, {name: value for name, value in told.items() if name not in captured})


def _segment(segment: Segment, values: Mapping[str, str]) -> Segment:
    return segment.model_copy(update={"checks": [filled_check(check, values) for check in segment.checks]})


def _reason(template: Template, values: Mapping[str, str]) -> str | None:
    if template.infeasible is None:
        return None
    return put_in(template.infeasible_reason or _REASONS[template.infeasible], values)


def _finding_out(
    template: Template, calls: Sequence[CapabilityCall], values: Mapping[str, str], reason: str, known: Known
) -> list[ProcedureStep]:
    """How one finds out that it cannot be done."""
    params = [Param(name=name, value=value) for name, value in values.items()]
    steps = bind(template.oracle, params)
    if not steps and template.infeasible == "absent_object" and calls:
        steps = _until_named(calls[0], known)
    if steps and steps[-1].action == "Finished":
        return steps
    return [*steps, ProcedureStep(action="Finished", content=INFEASIBLE + reason)]


def _until_named(call: CapabilityCall, known: Known) -> list[ProcedureStep]:
    """A call's procedure up to where the screen would have to name the object; nothing when it never does."""
    procedure = capability(call.capability_id, known).procedure
    named = (number for number, step in enumerate(procedure) if slots_in(step.name) | slots_in(step.near))
    return bind(procedure[: next(named, 0)], call.params)


def _visible(checks: Sequence[Check]) -> list[Check]:
    return [check for check in checks if check.probe in (ADDRESS, TREE)]
