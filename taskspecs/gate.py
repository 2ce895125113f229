"""The gate: which candidate tasks are admitted, and why the others are not.

Decided by rules alone, without running anything: the same candidates in any order give the same result. First every
candidate by itself, then beside benchmarks and other tasks, at last the share of its template. What needs the running
application (set-up, oracle, idle runs) is for the contract's self-tests.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from datetime import date
from typing import NamedTuple

from pipeline.records import Rejection
from pipeline.tasks import TaskSpec
from taskspecs.gate_cases import Candidate, Case, Finding, Surroundings, case_of
from taskspecs.gate_contract import answer_in_fixture, not_executable, not_verifiable, underspecified, unsupported
from taskspecs.gate_sets import Admitted, Contamination, cap_of, template_of
from taskspecs.gate_text import (
    address_not_allowed,
    ambiguous,
    date_past,
    destructive,
    needs_login,
    needs_payment,
    unsafe,
)

TEMPLATE_SHARE = 0.05
"""The largest part of a set that one template may give."""

_RULES: tuple[Callable[[Case], Finding | None], ...] = (
    unsafe,
    unsupported,
    not_executable,
    needs_login,
    needs_payment,
    destructive,
    address_not_allowed,
    underspecified,
    date_past,
    ambiguous,
    not_verifiable,
    answer_in_fixture,
)
"""In the order in which they are asked: the first finding is the reason."""


class Passed(NamedTuple):
    """An admitted task, with the days its wording names; it expires when the first of those to come is over."""

    candidate_id: str
    task: TaskSpec
    days: tuple[date, ...]
    expires_on: date | None


class Gated(NamedTuple):
    """What came of the candidates, both in the order of their ids."""

    passed: list[Passed]
    rejections: list[Rejection]


class _Sifted(NamedTuple):
    candidate: Candidate
    case: Case


def gate(
    candidates: Iterable[Candidate],
    around: Surroundings,
    *,
    accepted: Sequence[TaskSpec] = (),
    contamination: Contamination | None = None,
    template_share: float = TEMPLATE_SHARE,
) -> Gated:
    """Sort out candidates. Of equals the smallest id is kept, and what is accepted already is not repeated.

    A template's share is that of the candidates: a set of few templates would otherwise have no second round.
    """
    benchmarks = contamination or Contamination()
    admitted = Admitted()
    for task in accepted:
        admitted.add(task.task_id, case_of(task, around))
    sifted: list[_Sifted] = []
    rejections: list[Rejection] = []
    for candidate in sorted(candidates, key=lambda one: (one.candidate_id, one.task.task_id)):
        case = case_of(candidate.task, around)
        finding = first_finding(case) or benchmarks.met_by(case) or admitted.repeated_by(case)
        if finding:
            rejections.append(rejection(candidate, finding))
        else:
            admitted.add(candidate.candidate_id, case)
            sifted.append(_Sifted(candidate, case))
    kept, capped = _capped(sifted, template_share)
    return Gated(
        [_passed(one, around.today) for one in kept],
        sorted([*rejections, *capped], key=lambda row: (row.candidate_id, row.reason)),
    )


def first_finding(case: Case) -> Finding | None:
    """What is wrong with a candidate by itself."""
    return next((finding for rule in _RULES if (finding := rule(case))), None)


def rejection(candidate: Candidate, finding: Finding) -> Rejection:
    """The row of a candidate that is not admitted."""
    return Rejection(
        candidate_id=candidate.candidate_id,
        app_ids=candidate.task.app_ids,
        instruction=candidate.task.instruction,
        reason=finding.reason,
        detail=finding.detail,
        duplicate_of=finding.duplicate_of,
        origin=candidate.origin,
    )


def _capped(sifted: list[_Sifted], share: float) -> tuple[list[_Sifted], list[Rejection]]:
    used: Counter[str] = Counter()
    templates = [template_of(one.case) for one in sifted]
    cap = cap_of(Counter(templates), share)
    kept: list[_Sifted] = []
    rejections: list[Rejection] = []
    for one, template in zip(sifted, templates, strict=True):
        if used[template] < cap:
            used[template] += 1
            kept.append(one)
        else:
            detail = f"template '{template}' has given {used[template]} tasks, and may give {cap}"
            rejections.append(rejection(one.candidate, Finding("template_cap", detail)))
    return kept, rejections


def _passed(one: _Sifted, today: date) -> Passed:
    days = tuple(dated.day for dated in one.case.dates if dated.day)
    ahead = [day for day in days if day >= today] if one.case.live else []
    return Passed(one.candidate.candidate_id, one.candidate.task, days, min(ahead, default=None))
