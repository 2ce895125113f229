"""From a dataset folder to rows that a trainer reads: shape, split, preflight, files, card.

One trajectory is held at a time. This module decides nothing about grades and knows no trainer's keys.
"""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import NamedTuple

from pydantic import Field

from pipeline.actions import Model
from pipeline.exports.card import Account, Terms, card
from pipeline.exports.files import ExportFiles, whole_folder
from pipeline.exports.preflight import Preflight, Problem, RejectedRow
from pipeline.exports.privacy import cleared
from pipeline.exports.rows import AnyRow, ChatRow, LabelRow, ProcessRow, Shape
from pipeline.exports.shapes import Explore, build_rows
from pipeline.exports.source import Graded, Source
from pipeline.exports.splits import TRAIN, SplitBy, assign_splits
from pipeline.exports.trainers import Renderer, Trainer, renderer_for
from pipeline.storage import Address

CARD = "README.md"


class ExportOptions(Model):
    """What to export, and how."""

    shape: Shape
    trainer: Trainer = "hf"
    split_by: SplitBy = "template"
    test_share: float = Field(default=0.1, ge=0, le=1)
    seed: int = 0
    explore: Explore = "positive"
    max_tokens: int = Field(default=65_536, gt=0)
    licence: str = "unknown"
    keep_personal_data: bool = False


class Outcome(NamedTuple):
    """Where an export is, and what became of everything."""

    out: Path
    account: Account


def export(folder: Address, out: Path, options: ExportOptions) -> Outcome:
    """Write an export of a dataset folder.

    Raises ConfigError for a pair of shape and trainer that is not supported, a wrong folder, or an `out` that is taken.
    """
    renderer = renderer_for(options.shape, options.trainer)
    source = Source(folder)
    with whole_folder(out) as aside:
        writing = _Export(source, ExportFiles(aside, renderer), renderer, options)
        paths = writing.run()
        terms = Terms(options.shape, options.trainer, options.licence, _options(options))
        (aside / CARD).write_text(card(folder, terms, writing.account, paths), encoding="utf-8")
    return Outcome(out, writing.account)


class _Export:
    """The rows of one export on their way."""

    def __init__(self, source: Source, files: ExportFiles, renderer: Renderer, options: ExportOptions) -> None:
        self.account = Account(Counter(), Counter(), Counter(), 0, Counter(), Counter(), Counter())
        self._source, self._files, self._renderer, self._options = source, files, renderer, options
        self._preflight = Preflight(options.max_tokens, keeps_personal_data=options.keep_personal_data)
        self._splits = assign_splits(list(source.tasks.values()), options.split_by, options.test_share, options.seed)

    def run(self) -> dict[str, str]:
        """Write every row; the files by split."""
        self.account.rows[TRAIN] += 0
        for graded in self._source.graded():
            split = self._splits.get(graded.task.task_id)
            if split is None:
                self.account.left_out["between splits"] += 1
                continue
            built = build_rows(self._options.shape, self._cleared(graded), self._options.explore)
            self.account.removed.update(built.removed)
            if built.left_out:
                self.account.left_out[built.left_out] += 1
            for row in built.rows:
                self._place(row, split)
        self._files.close()
        self._files.describe_for_llama_factory(self._options.shape, self._options.trainer)
        return self._files.paths

    def _cleared(self, graded: Graded) -> Graded:
        """The trajectory without personal data, unless that is to be kept."""
        if self._options.keep_personal_data:
            return graded
        done = cleared(graded)
        self.account.masked.update(done.masked)
        return done.graded

    def _place(self, row: AnyRow, split: str) -> None:
        rendered = self._renderer.render(row, split, self.account.rows[split])
        self.account.rows[split] += 0
        problems = self._preflight.problems(row, rendered)
        if problems:
            self._reject(row, split, problems)
            return
        self._files.add(split, row, rendered)
        self.account.rows[split] += 1
        self.account.grades[_grade_of(row)] += 1

    def _reject(self, row: AnyRow, split: str, problems: list[Problem]) -> None:
        self.account.rejected.update({problem.reason for problem in problems})
        self.account = self.account._replace(rejected_rows=self.account.rejected_rows + 1)
        self._files.reject(
            RejectedRow(
                row_id=row.row_id,
                shape=self._options.shape,
                trainer=self._options.trainer,
                split=split,
                trajectory_id=row.trajectory_id,
                attempt_id=row.attempt_id,
                step_index=None if isinstance(row, ChatRow | ProcessRow) else row.step_index,
                reasons=[problem.reason for problem in problems],
                details=[problem.detail for problem in problems],
            )
        )


def _grade_of(row: AnyRow) -> str:
    grade = row.trace_grade if isinstance(row, ChatRow | ProcessRow | LabelRow) else row.step_grade
    return grade or "none"


def _options(options: ExportOptions) -> dict[str, str]:
    return {name: str(value) for name, value in options.model_dump(exclude={"licence"}).items()}
