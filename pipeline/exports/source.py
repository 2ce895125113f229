"""What is held of a dataset's trajectories: record, task, and the verdicts that count, one trajectory at a time.

Verdicts come from the shipped views, so that an export says what a query says. Pictures are read one attempt at a time.
A dataset that has lost or changed anything is refused: rows that are not there would be missed by nobody.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from pipeline import manifest
from pipeline.dataset import Dataset
from pipeline.query import connect
from pipeline.records import Record
from pipeline.soundness import require_sound
from pipeline.storage import Address
from pipeline.tasks import TaskSpec
from pipeline.words import StepGrade, TraceGrade, VerdictStatus

_TRACES = """
    SELECT
        t.attempt_id, g.status, g.grade, g.share, u.attempt_id IS NOT NULL AS usable, c.contract_score, c.segment_score
    FROM trajectories AS t
    LEFT JOIN trace_grades AS g USING (run_id, attempt_id)
    LEFT JOIN usable AS u USING (run_id, attempt_id)
    LEFT JOIN contract_scores AS c
        ON c.run_id = t.run_id AND c.pass_id = g.pass_id AND c.attempt_id = t.attempt_id
    ORDER BY t.attempt_id
"""
_STEPS = "SELECT attempt_id, step_index, grade, share FROM step_grades"


class TraceView(NamedTuple):
    """What is held of a trajectory; `usable` and the scores as the views say."""

    attempt_id: str
    status: VerdictStatus | None
    grade: TraceGrade | None
    share: float | None
    usable: bool
    score: float | None
    segment_score: float | None


class StepView(NamedTuple):
    """What is held of a step."""

    grade: StepGrade | None
    share: float | None


UNGRADED = StepView(None, None)


class Graded(NamedTuple):
    """A trajectory with all that is held of it; steps without a verdict are not in `steps`."""

    run_id: str
    task: TaskSpec
    record: Record
    trace: TraceView
    steps: dict[int, StepView]


class Source:
    """The final attempts of a dataset folder with their verdicts.

    Raises ConfigError when the folder is none, RunError when it is damaged.
    """

    def __init__(self, folder: Address) -> None:
        parts = require_sound(manifest.storage_with_manifest(folder)).sound
        self.dataset = Dataset(folder)
        self.tasks = {task.task_id: task for task in self.dataset.rows(TaskSpec)}
        with connect({folder: parts}) as views:
            self.traces = [TraceView(*row) for row in views.sql(_TRACES).fetchall()]
            self._steps: dict[str, dict[int, StepView]] = {}
            for attempt_id, index, grade, share in views.sql(_STEPS).fetchall():
                self._steps.setdefault(attempt_id, {})[index] = StepView(grade, share)

    def graded(self) -> Iterator[Graded]:
        """Every trajectory, by attempt id."""
        for trace in self.traces:
            record = self.dataset.record(trace.attempt_id)
            task = self.tasks[record.attempt.task_id]
            yield Graded(self.dataset.run.run_id, task, record, trace, self._steps.get(trace.attempt_id, {}))
