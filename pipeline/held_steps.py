"""What is held of the steps of attempts: the newest verdict of a person, else the newest verdict.

The same as the view `step_grades` says, for processes that read the dataset without DuckDB, batch after batch while it
grows: every part is read once. Knows nothing of how steps are graded.
"""

from __future__ import annotations

from collections.abc import Collection
from datetime import UTC, datetime
from typing import NamedTuple

from pipeline.dataset import Dataset
from pipeline.records import PassRow, Verdict
from pipeline.words import Grade, Rule, VerdictStatus

_LONG_AGO = datetime.min.replace(tzinfo=UTC)


class HeldStep(NamedTuple):
    """The verdict that holds on the own action of a step, as far as scores need it."""

    step_index: int
    status: VerdictStatus
    grade: Grade | None
    rule: Rule


class _Ranked(NamedTuple):
    """A verdict with what decides whether it holds."""

    of_person: bool
    judged_at: datetime
    pass_id: str
    held: HeldStep

    def before(self, other: _Ranked) -> bool:
        """Whether it holds in place of another."""
        mine, theirs = (self.of_person, self.judged_at), (other.of_person, other.judged_at)
        return mine > theirs or (mine == theirs and self.pass_id < other.pass_id)


class HeldSteps:
    """The verdicts of all passes but one, as the dataset had them when it was last refreshed."""

    def __init__(self, dataset: Dataset, but_of: str) -> None:
        self._dataset, self._but_of = dataset, but_of
        self._read: set[str] = set()
        self._held: dict[str, dict[int, _Ranked]] = {}

    def of(self, attempt_ids: Collection[str]) -> dict[str, list[HeldStep]]:
        """What is held of the steps of these attempts, by attempt and in order; raises RunError."""
        when = {row.pass_id: row.judged_at for row in self._dataset.rows(PassRow) if row.pass_id != self._but_of}
        for part in self._dataset.parts("verdicts") if when else []:
            if part.path not in self._read:
                self._read.add(part.path)
                for row in self._dataset.part_rows(part):
                    if isinstance(row, Verdict) and row.pass_id != self._but_of:
                        self._keep(row, when.get(row.pass_id, _LONG_AGO))
        found = {attempt_id: self._held.get(attempt_id, {}) for attempt_id in attempt_ids}
        return {attempt_id: [steps[index].held for index in sorted(steps)] for attempt_id, steps in found.items()}

    def _keep(self, row: Verdict, judged_at: datetime) -> None:
        if row.target != "step" or row.step_index is None or row.candidate_index is not None:
            return
        steps = self._held.setdefault(row.attempt_id, {})
        found = _Ranked(
            row.rule == "human", judged_at, row.pass_id, HeldStep(row.step_index, row.status, row.grade, row.rule)
        )
        known = steps.get(row.step_index)
        if known is None or found.before(known):
            steps[row.step_index] = found
