"""Reads the judged trajectories of one round from a dataset, as a write-back needs them: without pictures.

Knows nothing of what they mean for a catalog.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any, Protocol, TypeVar

from catalogs.complaints import Rollout
from pipeline.dataset import Dataset
from pipeline.query import query
from pipeline.records import Attempt, Event, ObservationRow, Record, Step, Trajectory, Tree, Verdict
from pipeline.storage import Address
from pipeline.tasks import TaskSpec

_AT_ONCE = 40
"""So many trajectories are read together: their screens are what fills the memory."""

_JUDGED = """
SELECT t.attempt_id, t.task_id, a.attempt_id IS NOT NULL AS accepted, g.* EXCLUDE (attempt_id)
FROM trajectories AS t
JOIN attempts AS e USING (run_id, attempt_id)
JOIN trace_grades AS g USING (run_id, attempt_id)
LEFT JOIN accepted AS a USING (run_id, attempt_id)
WHERE e.round = {round} ORDER BY t.trajectory_id
"""


class _Own(Protocol):
    @property
    def attempt_id(self) -> str: ...


Row = TypeVar("Row", bound=_Own)


def stored_rollouts(address: Address, round_: int) -> Iterator[Rollout]:
    """The judged trajectories of a round, by trajectory, as published so far; raises ConfigError or RunError."""
    judged = query(_JUDGED.format(round=int(round_)), [address]).to_pylist()
    dataset = Dataset(address)
    tasks = {task.task_id: task for task in dataset.rows(TaskSpec)}
    rows = _Rows(dataset, {row["attempt_id"] for row in judged})
    for first in range(0, len(judged), _AT_ONCE):
        some = judged[first : first + _AT_ONCE]
        trees = rows.trees([row["attempt_id"] for row in some])
        for row in some:
            yield Rollout(tasks[row["task_id"]], rows.record(row["attempt_id"], trees), _verdict(row), row["accepted"])


class _Rows:
    """The light rows of some attempts, by attempt."""

    def __init__(self, dataset: Dataset, wanted: Collection[str]) -> None:
        self._dataset = dataset
        self._attempts = _by_attempt(dataset.rows(Attempt), wanted)
        self._trajectories = _by_attempt(dataset.rows(Trajectory), wanted)
        self._steps = _by_attempt(dataset.rows(Step), wanted)
        self._looks = _by_attempt(dataset.rows(ObservationRow), wanted)
        self._events = _by_attempt(dataset.rows(Event), wanted)

    def trees(self, attempt_ids: Sequence[str]) -> dict[str, Tree]:
        """The screens of these attempts, by hash."""
        wanted = {look.tree_sha256 for name in attempt_ids for look in self._looks[name] if look.tree_sha256}
        parts = self._dataset.parts("trees")
        found = (row for part in parts for row in self._dataset.part_rows(part, among=wanted))
        return {row.sha256: row for row in found if isinstance(row, Tree)}

    def record(self, attempt_id: str, trees: Mapping[str, Tree]) -> Record:
        """What an attempt left, but for pictures, probes and what was asked of models."""
        looks = self._looks[attempt_id]
        shown = {look.tree_sha256 for look in looks}
        return Record(
            attempt=self._attempts[attempt_id][0],
            trajectory=self._trajectories[attempt_id][0],
            observations=looks,
            steps=self._steps[attempt_id],
            trees={sha256: tree for sha256, tree in trees.items() if sha256 in shown},
            events=self._events[attempt_id],
        )


def _by_attempt(rows: Iterable[Row], wanted: Collection[str]) -> Mapping[str, list[Row]]:
    found: defaultdict[str, list[Row]] = defaultdict(list)
    for row in rows:
        if row.attempt_id in wanted:
            found[row.attempt_id].append(row)
    return found


def _verdict(row: Mapping[str, Any]) -> Verdict:
    fields = {name: row[name] for name in Verdict.model_fields if name in row}
    return Verdict.model_validate({**fields, "target": "trace"})
