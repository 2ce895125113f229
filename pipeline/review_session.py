"""One person's review of a dataset: what waits for an answer, what was answered, and storing each answer at once.

Every answer is published as one manifest object, in a pass of kind `review` and an epoch of its own; the epoch begins
with the first answer, so that only looking changes nothing. A pass gives a target one verdict: an answer that is
changed begins the session's next pass. The driver's lock is the caller's. This module knows nothing of pages.
"""

from __future__ import annotations

from collections.abc import Iterable
from types import TracebackType
from typing import NamedTuple, Self

import duckdb

from pipeline.dataset import Dataset
from pipeline.query import connect, sound_parts
from pipeline.records import PassRow, Verdict, Vote, digest, now
from pipeline.report_pages import rows
from pipeline.review_answers import Answer, Subject, last_answer, rows_of
from pipeline.sinks import Committer
from pipeline.storage import Storage

RULE = "human"


class Selection(NamedTuple):
    """What is to be reviewed: at most `limit` of what waits, and so many accepted trajectories, drawn by a seed."""

    audit: int = 0
    seed: int = 0
    limit: int | None = None


class Progress(NamedTuple):
    """How far a session is."""

    answered: int
    total: int


class Line(NamedTuple):
    """A trajectory as a list shows it."""

    attempt_id: str
    app_id: str
    step_count: int
    instruction: str
    language: str


class Session:
    """The review of one dataset by one person, who is named by `begin`; `close` ends what the first answer began."""

    def __init__(self, storage: Storage, selection: Selection) -> None:
        self.dataset = Dataset(storage)
        self.views: duckdb.DuckDBPyConnection = connect({storage: sound_parts(storage)})
        self.reviewer: str | None = None
        self.items: list[str] = []
        """What this session is about; drawn ones are among what waits and cannot be told apart."""
        self.others: list[str] = []
        """What persons answered before: open to a second opinion, and to a change of mind."""
        self._selection = selection
        self._said = self._votes_of_persons()
        self._committer: Committer | None = None
        self._passes = 0
        self._pass_id: str | None = None
        self._in_pass: set[str] = set()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def begin(self, reviewer: str) -> None:
        """Say who reviews, which decides what there is to do; a session has one reviewer."""
        if self.reviewer is not None:
            raise ValueError(f"the reviewer is {self.reviewer}")
        self.reviewer = reviewer
        held = rows(self.views, "SELECT attempt_id, status FROM trace_grades ORDER BY attempt_id")
        accepted = [row["attempt_id"] for row in rows(self.views, "SELECT attempt_id FROM accepted")]
        undecided = [row["attempt_id"] for row in held if row["status"] == "undecided"]
        waiting = self._shuffled("wait", (one for one in undecided if self._waits(one)))
        drawn = self._shuffled("audit", (one for one in accepted if self.answer_of(one) is None))
        self.items = self._shuffled("order", [*waiting[: self._selection.limit], *drawn[: self._selection.audit]])
        scored = {row["attempt_id"] for row in held if row["status"] != "unscored"}
        self.others = sorted((set(self._said) & scored) - set(self.items))

    def lines(self, attempts: Iterable[str]) -> list[Line]:
        """These trajectories as a list shows them, in this order."""
        wanted = list(attempts)
        found = rows(
            self.views,
            "SELECT attempt_id, any_value(t.app_id) AS app_id, any_value(step_count) AS step_count, "
            "any_value(instruction) AS instruction, any_value(language) AS language FROM trajectories AS t "
            "JOIN tasks AS k USING (run_id, task_id) WHERE list_contains(?, attempt_id) GROUP BY attempt_id",
            wanted,
        )
        made = {row["attempt_id"]: Line(**row) for row in found}
        return [made[attempt_id] for attempt_id in wanted if attempt_id in made]

    def answer_of(self, attempt_id: str) -> Answer | None:
        """What the reviewer last said of a trajectory."""
        return last_answer(self.reviewer or "", self.said(attempt_id))

    def said(self, attempt_id: str) -> list[Vote]:
        """Every vote of a person on a trajectory and its steps, oldest first."""
        return self._said.get(attempt_id, [])

    def has(self, attempt_id: str) -> bool:
        """Whether a trajectory may be answered here."""
        return attempt_id in self.items or attempt_id in self.others

    @property
    def progress(self) -> Progress:
        """How many of the session's trajectories have the reviewer's answer."""
        return Progress(sum(self.answer_of(attempt_id) is not None for attempt_id in self.items), len(self.items))

    def next_after(self, attempt_id: str) -> str | None:
        """The next of the session's trajectories without an answer, from the start again after the last one."""
        place = self.items.index(attempt_id) + 1 if attempt_id in self.items else 0
        following = [*self.items[place:], *self.items[:place]]
        return next((one for one in following if self.answer_of(one) is None), None)

    def store(self, attempt_id: str, answer: Answer) -> None:
        """Publish an answer, or nothing of it; raises RunError and SinkError."""
        assert self.reviewer is not None
        record = self.dataset.record(attempt_id)
        said = self.said(attempt_id)
        subject = Subject(self.dataset.task(record.trajectory.task_id), record, said, self._standing(attempt_id))
        committer = self._claimed()
        opened = self._next_pass(committer.epoch) if self._pass_id is None or attempt_id in self._in_pass else None
        pass_id = opened.pass_id if opened else self._pass_id or ""
        votes, others = rows_of(subject, self.reviewer, answer, pass_id)
        # Should storing fail half-way, the answer may count all the same: the next one begins a pass of its own.
        self._pass_id = None
        committer.record([*([opened] if opened else []), *votes, *others])
        self._pass_id = pass_id
        self._in_pass = {attempt_id} if opened else self._in_pass | {attempt_id}
        self._said[attempt_id] = [*said, *votes]

    def close(self) -> None:
        """End the epoch, if one was begun; raises RunError when another driver has taken over."""
        self.views.close()
        committer, self._committer = self._committer, None
        if committer is not None:
            committer.leave()

    def _waits(self, attempt_id: str) -> bool:
        """Whether an undecided trajectory has neither a person's grade nor any answer of the reviewer."""
        latest = {vote.judge: vote for vote in self.said(attempt_id) if vote.target == "trace"}
        return self.reviewer not in latest and not any(vote.grade for vote in latest.values())

    def _shuffled(self, why: str, attempts: Iterable[str]) -> list[str]:
        return sorted(attempts, key=lambda attempt_id: digest(why, str(self._selection.seed), attempt_id))

    def _votes_of_persons(self) -> dict[str, list[Vote]]:
        found: dict[str, list[Vote]] = {}
        sql = (
            "SELECT v.* EXCLUDE (run_id) FROM votes AS v LEFT JOIN passes AS p USING (run_id, pass_id) "
            "WHERE judge_kind = 'person' AND candidate_index IS NULL ORDER BY judged_at NULLS FIRST"
        )
        for row in rows(self.views, sql):
            vote = Vote.model_validate(row)
            found.setdefault(vote.attempt_id, []).append(vote)
        return found

    def _standing(self, attempt_id: str) -> list[Verdict]:
        """The verdicts on the steps that held when the session began."""
        found = rows(self.views, "SELECT * FROM step_grades WHERE attempt_id = ?", attempt_id)
        return [
            Verdict.model_validate(
                {"target": "step", **{name: row[name] for name in Verdict.model_fields if name in row}}
            )
            for row in found
        ]

    def _claimed(self) -> Committer:
        if self._committer is None:
            run = self.dataset.run
            self._committer = Committer.claim(self.dataset.storage, run.run_id, run.config)
        return self._committer

    def _next_pass(self, epoch: int) -> PassRow:
        run_id, reviewer = self.dataset.run.run_id, self.reviewer or ""
        self._passes += 1
        return PassRow(
            pass_id=digest("pass", run_id, "review", reviewer, str(epoch), str(self._passes)),
            kind="review",
            judge_set=[reviewer],
            rule=RULE,
            calibration_id=None,
            judged_at=now(),
        )
