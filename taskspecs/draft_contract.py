"""From a model's draft to a task with its contract: values are looked for where they are said to be, answers are read.

Whatever the draft says, what it names must exist. Knows nothing of the model.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from catalogs.markup import Block
from catalogs.poison import cleaned
from catalogs.store import NOTHING_NEW, Known, capability
from pipeline.errors import ConfigError, EpisodeError
from pipeline.protocols import Facts
from pipeline.structs import Param
from pipeline.tasks import ANSWER, Capability, CapabilityCall, Check, Segment, Start, TaskSpec, identified
from pipeline.words import ContractKind, Tier
from taskspecs.compose import DOMAINS, home_of, sources_of, steps_for, versions_of, without_probes
from taskspecs.draft_forms import DraftAnswer, Existing, NamedValue, TaskDraft
from taskspecs.gate_cases import Finding
from taskspecs.store import consequence_of, oracle_of

_HAN = re.compile("[\u3400-\u9fff]")
_LETTER = re.compile(r"[A-Za-z]")
_QUOTED = re.compile(r"“[^”]*”|\"[^\"]*\"|「[^」]*」")
_SEGMENTS = 2


class Origin(NamedTuple):
    """What a draft is for: application, language, functions it must use, seed, the model's name, sources it used.

    Without `facts` no state can be read, and none is checked. `known` are capabilities as they are known by now.
    """

    app_id: str
    language: str
    wanted: Sequence[str]
    seed: int
    model: str
    sources: Sequence[str]
    facts: Facts | None
    known: Known = NOTHING_NEW


async def compile_draft(draft: TaskDraft, origin: Origin) -> TaskSpec | Finding:
    """The task, or why the draft gives none."""
    capabilities = _capabilities(draft, origin)
    if isinstance(capabilities, Finding):
        return capabilities
    finding = _misworded(draft.instruction, origin.language) or await _missing(draft.existing, origin)
    if finding:
        return finding
    answer = await _answer(draft.answer, capabilities, origin)
    if isinstance(answer, Finding):
        return answer
    task = _task(draft, capabilities, answer, origin)
    return task if origin.facts else without_probes(task)


def _capabilities(draft: TaskDraft, origin: Origin) -> list[Capability] | Finding:
    found = []
    for call in draft.calls:
        if not call.capability.startswith(f"{origin.app_id}."):
            return Finding("unsupported", f"'{call.capability}' is no function of '{origin.app_id}'")
        try:
            found.append(capability(call.capability, origin.known))
        except ConfigError as error:
            return Finding("unsupported", str(error))
    unused = [name for name in origin.wanted if all(name != one.capability_id for one in found)]
    return Finding("underspecified", f"the task does not use '{unused[0]}'") if unused else found


def _misworded(instruction: str, language: str) -> Finding | None:
    """What is quoted may be in any language; the rest is in the one that was asked for."""
    bare = _QUOTED.sub("", instruction)
    chinese, latin = len(_HAN.findall(bare)), len(_LETTER.findall(bare))
    if (language == "zh") != (chinese * 2 > latin):
        return Finding("ambiguous", f"the instruction is not written in '{language}'")
    spoken = cleaned((Block("paragraph", instruction),), "draft").findings
    return Finding("unsafe", f"speaks to a model: {spoken[0].text}") if spoken else None


async def _missing(existing: Sequence[Existing], origin: Origin) -> Finding | None:
    """The finding for the first value that is not where it is said to be."""
    for one in existing if origin.facts else ():
        cells = await _cells(one.probe, one.args, one.column, origin)
        if isinstance(cells, Finding):
            return cells
        if one.value not in cells:
            shown = ", ".join(repr(cell) for cell in cells[:5]) or "nothing"
            return Finding("not_executable", f"'{one.value}' does not exist: '{one.probe}' has {shown}")
    return None


async def _answer(wanted: DraftAnswer | None, capabilities: list[Capability], origin: Origin) -> Check | Finding | None:
    if wanted is None or origin.facts is None:
        return None
    if _captured(capabilities) is None:
        return Finding("not_verifiable", "an answer is asked for, and no function of the task reads one")
    cells = await _cells(wanted.probe, wanted.args, wanted.column, origin)
    if isinstance(cells, Finding):
        return cells
    if len(set(cells)) > 1:
        return Finding("ambiguous", f"'{wanted.probe}' has {len(set(cells))} answers: {sorted(set(cells))[:3]}")
    if not cells or not cells[0].strip():
        return Finding("underspecified", f"'{wanted.probe}' holds no answer")
    return Check(name="the answer", verifier=wanted.verifier, probe=ANSWER, expected=[cells[0]])


async def _cells(probe: str, args: Sequence[NamedValue], column: int, origin: Origin) -> list[str] | Finding:
    assert origin.facts is not None
    try:
        rows = await origin.facts.read(origin.app_id, probe, {one.name: one.value for one in args})
    except EpisodeError as error:
        return Finding("not_verifiable", f"probe '{probe}' could not be read: {error}")
    if any(len(row) <= column for row in rows):
        return Finding("not_verifiable", f"probe '{probe}' has no column {column}")
    return [row[column] for row in rows]


def _task(draft: TaskDraft, capabilities: list[Capability], answer: Check | None, origin: Origin) -> TaskSpec:
    calls = [CapabilityCall(capability_id=call.capability, params=_params(call.values)) for call in draft.calls]
    segments = [
        Segment(name=segment.name, checks=[_check(**check.model_dump()) for check in segment.checks])
        for segment in draft.segments
    ]
    segments += [Segment(name="answer", checks=[answer])] if answer else []
    kind: ContractKind = "answer" if answer else "state"
    captured = _captured(capabilities) if answer else None
    oracle = oracle_of(calls, f"{{{captured}}}" if captured else None, origin.known)
    return identified(
        TaskSpec(
            task_id="",
            app_ids=[origin.app_id],
            app_versions=versions_of(origin.app_id),
            platform=capabilities[0].platform,
            tier=_tier(len(calls), len(segments) if origin.facts else len(calls)),
            instruction=" ".join(draft.instruction.split()),
            language=origin.language,
            capability_ids=[call.capability_id for call in calls],
            calls=calls,
            start=Start(app_id=origin.app_id, path=home_of(origin.app_id)),
            contract_kind=kind,
            segments=segments,
            preflight=[_exists(one) for one in draft.existing],
            expected_changes=list(draft.expected_changes),
            oracle=oracle,
            consequence=consequence_of(calls, origin.known),
            domain=DOMAINS[capabilities[0].platform],
            max_steps=steps_for(oracle),
            sources=list(dict.fromkeys([*origin.sources, *sources_of(capabilities)])),
            generator=f"model:{origin.model}",
            seed=origin.seed,
        )
    )


def _tier(calls: int, segments: int) -> Tier:
    if calls == 1:
        return "single"
    return "workflow" if calls > _SEGMENTS and segments >= _SEGMENTS else "multi"


def _captured(capabilities: Sequence[Capability]) -> str | None:
    """What the last reading function remembers what it has read as."""
    names = [step.save_as for one in capabilities for step in one.procedure if step.save_as]
    return names[-1] if names else None


def _check(name: str, probe: str, args: list[dict[str, str]], verifier: str, expected: list[str]) -> Check:
    return Check.model_validate(
        {"name": name, "verifier": verifier, "probe": probe, "args": args, "expected": expected}
    )


def _exists(one: Existing) -> Check:
    return Check(
        name=f"'{one.value}' exists", verifier="contains", probe=one.probe, args=_params(one.args), expected=[one.value]
    )


def _params(values: Sequence[NamedValue]) -> list[Param]:
    return [Param(name=one.name, value=one.value) for one in values]
