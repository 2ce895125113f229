"""Rules about a candidate's contract: what it can do, whether it says all it needs, whether its end can be proved."""

from __future__ import annotations

import re
from collections.abc import Iterator

from pipeline.tasks import ANSWER, RESERVED_PROBES, Check, Segment
from taskspecs.gate_cases import Case, Finding
from taskspecs.scripts import simplified
from taskspecs.wording import plain, tokens

_FEWEST_LETTERS = 4
_GAP = re.compile(r"\{\w*\}|_{3,}|\bTODO\b|\bTBD\b|某某")
_GAP_OUTSIDE = re.compile(r"<[A-Za-z][\w ]*>|\[[A-Za-z][\w ]*\]")
_SINGLE = frozenset({"equals", "count"})


def unsupported(case: Case) -> Finding | None:
    """A function that no catalog has, or that is known to be missing; nothing named at all."""
    task, known = case.task, case.around.capabilities
    for capability_id in (*task.capability_ids, *(call.capability_id for call in task.calls)):
        if capability_id not in known:
            return Finding("unsupported", f"capability '{capability_id}' is in no catalog")
    if not task.feasible:
        return None
    if not task.capability_ids:
        return Finding("unsupported", "names no capability")
    missing = next((found for found in case.capabilities if found.status == "unsupported"), None)
    return Finding("unsupported", f"'{missing.capability_id}' was found to be missing") if missing else None


def not_executable(case: Case) -> Finding | None:
    """An application that is not here, a function that is no longer where it was, a day that does not exist."""
    task = case.task
    absent = next((app_id for app_id in task.app_ids if app_id not in case.around.probes), None)
    if absent is not None:
        return Finding("not_executable", f"application '{absent}' is not available")
    if task.start.app_id not in task.app_ids:
        return Finding("not_executable", f"starts in '{task.start.app_id}', which is not among its applications")
    for found in case.capabilities:
        if found.app_id not in task.app_ids:
            return Finding(
                "not_executable", f"'{found.capability_id}' belongs to an application the task does not have"
            )
        if task.feasible and found.status in ("renamed", "outdated"):
            return Finding("not_executable", f"'{found.capability_id}' is {found.status}: it must be explored again")
    bare = simplified(case.wording.bare)
    odd = next((dated for dated in case.dates if dated.day is None and dated.text in bare), None)
    return Finding("not_executable", f"there is no day '{odd.text}'") if odd else None


def underspecified(case: Case) -> Finding | None:
    """A gap in the wording, a slot without a value, or values of which the instruction tells none."""
    said = tokens(case.said)
    if len(said) == 1 or len(case.said) < _FEWEST_LETTERS:
        return Finding("underspecified", "the instruction is too short to ask for anything")
    gap = _GAP.search(case.wording.text) or _GAP_OUTSIDE.search(case.wording.bare)
    if gap:
        return Finding("underspecified", f"'{gap[0]}' was never filled in")
    for call in case.task.calls:
        given = {param.name: param.value for param in call.params}
        capability = case.around.capabilities[call.capability_id]
        for slot in capability.slots:
            if not given.get(slot.name, "").strip():
                return Finding("underspecified", f"slot '{slot.name}' of '{call.capability_id}' has no value")
        told = {token for value in given.values() for token in tokens(plain(value))}
        if told and told.isdisjoint(said):
            return Finding("underspecified", f"the instruction tells no value of '{call.capability_id}'")
    return None


def not_verifiable(case: Case) -> Finding | None:
    """Nothing that proves the end, or checks that cannot be evaluated or contradict each other."""
    detail = _unproved(case)
    if detail is None:
        checks = [*case.task.checks, *case.task.absence_checks, *case.task.preflight]
        detail = next((found for check in checks if (found := _faulty(check, case))), None)
    if detail is None:
        detail = next(_contradictions(case.task.segments), None)
    return Finding("not_verifiable", detail) if detail else None


def answer_in_fixture(case: Case) -> Finding | None:
    """The answer stands in the question; where the question offers a choice, that is no hint."""
    said = f" {_spaced(case.wording.text)} "
    for check in case.task.checks:
        if check.probe != ANSWER or not case.task.feasible:
            continue
        for expected in check.expected:
            answer = _spaced(expected)
            if answer and f" {answer} " in said and not _offered(answer, said):
                return Finding("answer_in_fixture", f"the instruction holds the answer of '{check.name}'")
    return None


def _unproved(case: Case) -> str | None:
    task = case.task
    if not task.feasible:
        return None if task.absence_checks else "nothing proves that it cannot be done"
    if task.contract_kind != "rubric" and not task.checks:
        return "it has no checks"
    if task.contract_kind == "answer" and not any(check.probe == ANSWER for check in task.checks):
        return "no check looks at the answer"
    empty = next((segment.name for segment in task.segments if not segment.checks), None)
    return f"segment '{empty}' has no checks" if empty is not None else None


def _faulty(check: Check, case: Case) -> str | None:
    probes = case.around.probes.get(check.app_id or case.task.start.app_id, frozenset())
    if check.probe not in RESERVED_PROBES and check.probe not in probes:
        return f"check '{check.name}' asks the unknown probe '{check.probe}'"
    if not check.expected and check.verifier != "equals":
        return f"check '{check.name}' expects nothing"
    if check.verifier == "matches":
        try:
            re.compile(check.expected[0])
        except re.error as error:
            return f"check '{check.name}': {error}"
    return None


def _contradictions(segments: list[Segment]) -> Iterator[str]:
    for segment in segments:
        wanted: dict[tuple[str | None, str, str], Check] = {}
        for check in segment.checks:
            if check.verifier in _SINGLE:
                first = wanted.setdefault((check.app_id, check.call, check.verifier), check)
                if first.expected != check.expected:
                    yield f"checks '{first.name}' and '{check.name}' contradict each other"


def _spaced(text: str) -> str:
    """Plain text in which every Han character is a word."""
    return " ".join(tokens(plain(text)))


def _offered(answer: str, said: str) -> bool:
    """Whether the answer is one of several that the question offers."""
    option = re.escape(answer)
    return (
        re.search(
            rf" (?:or|还 是|或|或 者) (?:\S+ ){{0,2}}{option} | {option} (?:\S+ ){{0,2}}(?:or|还 是|或|或 者) ", said
        )
        is not None
    )
