"""Contract checks: pure comparisons over what the probes read while the environment lived.

A check holds, fails, or is unreadable: a probe that could not be read, was never read at the end, or a check that
cannot be evaluated is no evidence against the agent. What the agent itself has made such that nothing can be read from
it fails, whatever is asked of it. This module knows nothing of votes or grades, and never touches
an environment, so stored records can be checked again at any time.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from decimal import InvalidOperation
from typing import Literal, NamedTuple, TypeVar, assert_never

from pipeline.addresses import parts_of
from pipeline.protocols import Evaluated
from pipeline.records import CheckResult, Keypoint, ProbeRead, Record
from pipeline.tasks import ADDRESS, ANSWER, CHANGES, TREE, Check, TaskSpec
from pipeline.words import CheckState, KeypointState
from verifiers.changes import unaccounted
from verifiers.normalise import days_of, number_of, quantity_of, text_of

ABSENCE = "absence"
"""Segment name of absence checks in the `checks` table."""
CONTRACT = "contract"
"""Who tells of segments in the `keypoints` table; it casts no vote."""
_KEYPOINT_STATES: dict[CheckState, KeypointState] = {"passed": "met", "failed": "unmet", "unreadable": "unclear"}
_OBSERVED_CELLS, _OBSERVED_LENGTH = 20, 200

Rows = list[list[str]]
_Meaning = TypeVar("_Meaning")


class Outcome(NamedTuple):
    """What the checks say together; `absence` and `checks` are null where the task has none of that kind."""

    checks: CheckState | None
    absence: CheckState | None
    segments_passed: int | None
    segments_unread: int
    """Segments of which no check failed and at least one is unreadable."""


def evaluate(task: TaskSpec, record: Record, pass_id: str) -> Evaluated:
    """Every check of the task and the unexpected changes, from the record's last reads."""
    results = [_result(check, segment.name, record, pass_id) for segment in task.segments for check in segment.checks]
    results += [_result(check, ABSENCE, record, pass_id) for check in task.absence_checks]
    return Evaluated(results, side_effects(task, record))


def outcome_of(task: TaskSpec, evaluated: Evaluated) -> Outcome:
    """The checks that bind, taken together. Of a rubric task only address and tree checks do."""
    states = iter(evaluated.results)
    segments = [[(check, next(states).state) for check in segment.checks] for segment in task.segments]
    binding = [
        [state for check, state in segment if task.contract_kind != "rubric" or check.probe in (ADDRESS, TREE)]
        for segment in segments
    ]
    kept = [_together(states) for states in binding if states]
    return Outcome(
        checks=_together(kept) if kept else None,
        absence=_together([result.state for result in states]) if task.absence_checks else None,
        segments_passed=kept.count("passed") if kept else None,
        segments_unread=kept.count("unreadable"),
    )


def segments_told(task: TaskSpec, evaluated: Evaluated, record: Record, pass_id: str) -> list[Keypoint]:
    """A keypoint for every segment of the contract: what its checks say of it, and the last screen."""
    last = record.observations[-1].frame_sha256 if record.observations else None
    told = []
    for number, segment in enumerate(task.segments):
        results = [result for result in evaluated.results if result.segment == segment.name]
        told.append(
            Keypoint(
                pass_id=pass_id,
                attempt_id=record.attempt.attempt_id,
                keypoint_index=number,
                text=segment.name,
                state=_KEYPOINT_STATES[_together([result.state for result in results])],
                window=0,
                frame_sha256s=[last] if last else [],
                reason=", ".join(f"{result.name}: {result.state}" for result in results),
                judge=CONTRACT,
                check_name=results[0].name if len(results) == 1 else None,
            )
        )
    return told


def state_of(check: Check, rows: Rows | None) -> CheckState:
    """Whether a check holds for the rows its probe read; unreadable without rows or when it cannot be evaluated."""
    if rows is None:
        return "unreadable"
    try:
        return "passed" if _holds(check, rows) else "failed"
    except (re.error, InvalidOperation, ValueError, LookupError):
        return "unreadable"


def rows_of(check: Check, reads: Sequence[ProbeRead], since: int = 0) -> Rows | None:
    """The rows of the last read of a check's call at look `since` or later; nothing when it is missing or failed."""
    last = _last_read(check, reads, since)
    return last.value if last is not None and last.error is None else None


def _last_read(check: Check, reads: Sequence[ProbeRead], since: int) -> ProbeRead | None:
    found = [
        read
        for read in reads
        if read.probe == check.call
        and read.observation_index >= since
        and (check.app_id is None or read.app_id == check.app_id)
    ]
    latest = max((read.observation_index for read in found), default=since)
    return next((read for read in reversed(found) if read.observation_index == latest), None)


def side_effects(task: TaskSpec, record: Record) -> list[str]:
    """Keys that changed although the task neither expects nor ignores them; `unknown: ...` when they were not read."""
    end = record.observations[-1].observation_index if record.observations else 0
    last: dict[str, ProbeRead] = {}
    for read in sorted((r for r in record.probe_reads if r.probe == CHANGES), key=lambda r: r.observation_index):
        last[read.app_id] = read
    unknown: list[str] = []
    rows: Rows = []
    for read in last.values():
        if read.value is None or read.error is not None or read.observation_index < end:
            unknown.append(f"unknown: {read.error or 'changes were not read at the end'}")
        else:
            rows += read.value
    return [*unknown, *unaccounted(rows, [*task.expected_changes, *task.always_ignore])]


def changed_rows(task: TaskSpec, record: Record) -> Rows:
    """What the last reads say has changed, [key, added|removed|changed], without what the task always ignores."""
    end = record.observations[-1].observation_index if record.observations else 0
    reads = [read for read in record.probe_reads if read.probe == CHANGES and read.observation_index == end]
    rows = [row for read in reads for row in read.value or [] if read.error is None]
    return [row for row in rows if unaccounted([row], task.always_ignore)]


def _result(check: Check, segment: str, record: Record, pass_id: str) -> CheckResult:
    rows, unsound = rows_at_end(check, record), _unsound_at_end(check, record)
    shown = rows or [] if unsound is None else [[unsound]]
    return CheckResult(
        pass_id=pass_id,
        attempt_id=record.attempt.attempt_id,
        segment=segment,
        name=check.name,
        state=state_of(check, rows) if unsound is None else "failed",
        expected=check.expected,
        observed=[cell[:_OBSERVED_LENGTH] for row in shown for cell in row][:_OBSERVED_CELLS],
    )


def _unsound_at_end(check: Check, record: Record) -> str | None:
    """Why nothing can be read from what the agent has made; nothing where something can, or it was not the agent."""
    end = record.observations[-1].observation_index if record.observations else 0
    last = _last_read(check, record.probe_reads, end)
    return last.error if last is not None and last.value is not None else None


def rows_at_end(check: Check, record: Record) -> Rows | None:
    """What the check's probe read at the end; an earlier read says nothing about the end."""
    last = record.observations[-1] if record.observations else None
    if check.probe == ANSWER:
        return [[record.trajectory.answer]] if record.trajectory.answer is not None else []
    if check.probe == ADDRESS:
        return [[_address(last.location)]] if last else None
    if check.probe == TREE:
        tree = record.trees.get(last.tree_sha256) if last and last.tree_sha256 else None
        return [[node.name, node.value] for node in tree.nodes] if tree else None
    return rows_of(check, record.probe_reads, last.observation_index if last else 0)


def _address(location: str) -> str:
    """Addresses of local applications without scheme, host and port, which differ from run to run."""
    parts = parts_of(location)
    if parts.hostname not in ("127.0.0.1", "localhost", "::1"):
        return location
    query, fragment = (f"?{parts.query}" if parts.query else ""), (f"#{parts.fragment}" if parts.fragment else "")
    return f"{parts.path or '/'}{query}{fragment}"


def _together(states: Sequence[CheckState]) -> CheckState:
    if "failed" in states:
        return "failed"
    return "unreadable" if "unreadable" in states else "passed"


def _holds(check: Check, rows: Rows) -> bool:
    match check.verifier:
        case "equals":
            return [cell for row in rows for cell in row] == check.expected
        case "contains":
            return any(_has(row, check.expected) for row in rows)
        case "absent":
            return not any(_has(row, check.expected) for row in rows)
        case "count":
            return len(rows) == int(check.expected[0])
        case "matches":
            return bool(rows and rows[0]) and re.search(check.expected[0], rows[0][0]) is not None
        case "text" | "number" | "date" | "unit":
            return _answers(check.verifier, rows, check.expected)
        case _:
            assert_never(check.verifier)


def _answers(verifier: Literal["text", "number", "date", "unit"], rows: Rows, expected: Sequence[str]) -> bool:
    match verifier:
        case "text":
            return _same(rows, expected, text_of)
        case "number":
            return _same(rows, expected, number_of)
        case "date":
            return _same_day(rows, expected)
        case "unit":
            return _same(rows, expected, quantity_of)
        case _:
            assert_never(verifier)


def _has(row: Sequence[str], cells: Sequence[str]) -> bool:
    return all(cell in row for cell in cells)


def _same(rows: Rows, expected: Sequence[str], normal: Callable[[str], _Meaning | None]) -> bool:
    """Whether the first cell means the same as one of the expected alternatives."""
    wanted = [_meant(text, normal) for text in expected]
    given = normal(rows[0][0]) if rows and rows[0] else None
    return given is not None and given in wanted


def _meant(text: str, normal: Callable[[str], _Meaning | None]) -> _Meaning:
    meaning = normal(text)
    if meaning is None:
        raise ValueError(f"expected value {text!r} cannot be read")
    return meaning


def _same_day(rows: Rows, expected: Sequence[str]) -> bool:
    """Whether the first cell may mean an expected day; a year that is expected must be said."""
    given = days_of(rows[0][0]) if rows and rows[0] else frozenset()
    wanted = [day for text in expected for day in _meant(text, days_of)]
    return any(
        (day.month, day.day) == (other.month, other.day) and other.year in (None, day.year)
        for day in given
        for other in wanted
    )
