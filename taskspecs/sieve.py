"""Drafts through the gate: what is left of them, and every reason why one is not.

Knows nothing of how drafts are made nor of running applications.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from datetime import date
from typing import NamedTuple

from catalogs.store import NOTHING_NEW, Known
from pipeline.records import Rejection
from pipeline.tasks import TaskSpec
from taskspecs.gate import TEMPLATE_SHARE, gate
from taskspecs.gate_sets import Contamination
from taskspecs.generate import Drafts
from taskspecs.surroundings import around_tasks


class Sieved(NamedTuple):
    """Tasks that may be tried, in the order of their ids, and the rows of what was rejected."""

    tasks: list[TaskSpec]
    rejections: list[Rejection]
    last_days: Mapping[str, date]
    """Until when tasks can be done whose wording names a day to come, by their ids."""


def sieve(
    drafts: Drafts,
    today: date,
    *,
    allow: Collection[str] = (),
    accepted: Sequence[TaskSpec] = (),
    contamination: Contamination | None = None,
    template_share: float = TEMPLATE_SHARE,
    known: Known = NOTHING_NEW,
) -> Sieved:
    """Put drafts through the gate, beside the tasks that are accepted already."""
    tasks = [candidate.task for candidate in drafts.candidates]
    gated = gate(
        drafts.candidates,
        around_tasks([*tasks, *accepted], today, allow, known),
        accepted=accepted,
        contamination=contamination,
        template_share=template_share,
    )
    rejections = sorted([*drafts.rejections, *gated.rejections], key=lambda row: (row.candidate_id, row.reason))
    return Sieved(
        tasks=sorted((passed.task for passed in gated.passed), key=lambda task: task.task_id),
        rejections=rejections,
        last_days={one.task.task_id: one.expires_on for one in gated.passed if one.expires_on is not None},
    )


def largest_share(tasks: Sequence[TaskSpec]) -> float:
    """The part of the tasks that the most frequent template has given."""
    counts = Counter(task.template_id for task in tasks if task.template_id)
    return max(counts.values(), default=0) / len(tasks) if tasks else 0.0
