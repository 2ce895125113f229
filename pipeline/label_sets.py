"""Reads labelled sets: a dataset folder in which persons graded trajectories and steps, or a table (CSV, Parquet).

A table has one row per trajectory: `task_id`, `item_id`, `truth` (1 when the agent did right), if wanted `infeasible`
(1 when the task cannot be done), `domain` and `target` (`step` where the row is a step), a column `vote:JUDGE:FAMILY`
per judge (1 for, 0 against, empty where it was silent; the family of judges without a model is `program`), and a column
`sign:NAME` per sign (0 to 1). Nothing is measured here.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple, TypeVar, get_args

import pyarrow as pa
import pyarrow.parquet as pq

from pipeline.dataset import Dataset
from pipeline.errors import ConfigError
from pipeline.protocols import view_of
from pipeline.records import Attempt, PassRow, Verdict, Vote
from pipeline.tasks import TaskSpec
from pipeline.user_files import text_of
from pipeline.words import Domain, Grade, StepGrade, Target
from verifiers.ballot import PROGRAM
from verifiers.calibration import FAILED, PASSED
from verifiers.contract import evaluate, outcome_of
from verifiers.labelled import Item, LabelSet, Voter
from verifiers.telemetry import right_grade, signs_of

_FIXED = ("task_id", "item_id", "truth", "infeasible", "domain", "target")
_REQUIRED = ("task_id", "item_id", "truth")
_SERVING: tuple[StepGrade, ...] = ("correct", "explore")
"""Grades of a step that was right to take."""
_WORDS = {"1": True, "1.0": True, "true": True, "yes": True, "0": False, "0.0": False, "false": False, "no": False}


_Word = TypeVar("_Word", bound=str)


class Labels(NamedTuple):
    """What a source has labels of."""

    traces: LabelSet
    steps: LabelSet


def read_labels(source: str) -> Labels:
    """The labelled items of a dataset folder, a CSV file or a Parquet file; raises ConfigError."""
    path = Path(source)
    if path.suffix == ".csv" and path.is_file():
        return _of_rows(path.name, list(_csv_rows(path)))
    if path.suffix == ".parquet" and path.is_file():
        return _of_rows(path.name, list(_parquet_rows(path)))
    if path.is_file():
        raise ConfigError(f"--labels: '{source}' is neither a .csv nor a .parquet file, nor the folder of a run")
    if path.suffix in (".csv", ".parquet"):
        raise ConfigError(f"--labels: there is no file '{source}'")
    return _of_dataset(Dataset(source))


# --- tables ------------------------------------------------------------------------------------------------------


def _csv_rows(path: Path) -> Iterator[dict[str, str]]:
    try:
        text = text_of(path, "--labels")
        yield from csv.DictReader(io.StringIO(text, newline=""), restval="", restkey="beyond the header")
    except csv.Error as error:
        raise ConfigError(f"--labels: '{path}' cannot be read ({error})") from error


def _parquet_rows(path: Path) -> Iterator[dict[str, str]]:
    try:
        rows = pq.read_table(path, page_checksum_verification=True).to_pylist()
    except (OSError, pa.ArrowException) as error:
        raise ConfigError(f"--labels: '{path}' cannot be read ({error})") from error
    yield from ({name: _text(cell) for name, cell in row.items()} for row in rows)


def _text(cell: Any) -> str:
    return "" if cell is None else str(cell)


def _of_rows(name: str, rows: Sequence[Mapping[str, str]]) -> Labels:
    if not rows:
        raise ConfigError(f"--labels: '{name}' has no rows")
    votes, signs = _columns(name, list(rows[0]))
    _require_ids(name, rows)
    found: dict[Target, list[Item]] = {"trace": [], "step": []}
    for row in rows:
        item = Item(
            item_id=row["item_id"],
            task_id=row["task_id"],
            truth=_flag(row, "truth", name),
            votes={voter.name: _flag(row, column, name) for column, voter in votes.items() if row[column]},
            signs={sign: _share(row, column, name) for column, sign in signs.items() if row[column]},
            infeasible=bool(row.get("infeasible")) and _flag(row, "infeasible", name),
            domain=_word(row, "domain", name, get_args(Domain)),
        )
        found[_word(row, "target", name, get_args(Target)) or "trace"].append(item)
    return Labels(*(LabelSet(name, found[target], _asked(votes.values(), found[target])) for target in found))


def _asked(voters: Iterable[Voter], items: Sequence[Item]) -> list[Voter]:
    """The judges of these items; those of a column that is empty for all of them were not asked."""
    heard = {judge for item in items for judge in item.votes}
    return [voter for voter in voters if voter.name in heard]


def _require_ids(name: str, rows: Sequence[Mapping[str, str]]) -> None:
    """Every row needs an id of its own, for a trajectory that counts twice makes intervals too narrow."""
    seen: set[tuple[str, str]] = set()
    for number, row in enumerate(rows, 1):
        if not row["item_id"] or not row["task_id"]:
            raise ConfigError(f"--labels: '{name}', row {number}: item_id and task_id must not be empty")
        key = (row.get("target") or "trace", row["item_id"])
        if key in seen:
            raise ConfigError(f"--labels: '{name}', row {number}: the item '{row['item_id']}' is there twice")
        seen.add(key)


def _columns(name: str, columns: Sequence[str]) -> tuple[dict[str, Voter], dict[str, str]]:
    missing = [column for column in _REQUIRED if column not in columns]
    if missing:
        raise ConfigError(f"--labels: '{name}' has no column {', '.join(missing)}")
    votes: dict[str, Voter] = {}
    signs: dict[str, str] = {}
    for column in columns:
        match column.split(":"):
            case ["vote", judge, family] if judge and family:
                if any(voter.name == judge for voter in votes.values()):
                    raise ConfigError(f"--labels: '{name}' has two columns of votes by '{judge}'")
                kind = "program" if family == PROGRAM else "model"
                votes[column] = Voter.model_validate({"name": judge, "kind": kind, "family": family})
            case ["sign", sign] if sign:
                signs[column] = sign
            case _ if column not in _FIXED:
                raise ConfigError(
                    f"--labels: '{name}' has a column '{column}'; columns are {', '.join(_FIXED)},"
                    " vote:JUDGE:FAMILY and sign:NAME"
                )
    return votes, signs


def _flag(row: Mapping[str, str], column: str, name: str) -> bool:
    word = row[column].strip().casefold()
    if word not in _WORDS:
        raise ConfigError(f"--labels: '{name}', item '{row['item_id']}': {column} is '{row[column]}', not 1 or 0")
    return _WORDS[word]


def _share(row: Mapping[str, str], column: str, name: str) -> float:
    try:
        value = float(row[column])
    except ValueError:
        value = -1.0
    if not 0 <= value <= 1:
        raise ConfigError(f"--labels: '{name}', item '{row['item_id']}': {column} is '{row[column]}', not 0 to 1")
    return value


def _word(row: Mapping[str, str], column: str, name: str, known: Sequence[_Word]) -> _Word | None:
    """One of the known words; nothing where the cell is empty or there is no such column."""
    said = row.get(column)
    if not said:
        return None
    for word in known:
        if word == said:
            return word
    raise ConfigError(f"--labels: '{name}' has the {column} '{said}'; {column}s: {', '.join(known)}")


# --- dataset folders ---------------------------------------------------------------------------------------------


class _Place(NamedTuple):
    """What was graded: an attempt, or one of its steps."""

    attempt_id: str
    step_index: int | None


class _Graded(NamedTuple):
    """What persons and judges said of one trajectory or step."""

    grade: str
    votes: list[Vote]

    @property
    def said(self) -> dict[str, Grade]:
        """The judges' grades; silent ones have none."""
        return {vote.judge: vote.grade for vote in self.votes if vote.status == "graded" and vote.grade is not None}


def _of_dataset(dataset: Dataset) -> Labels:
    """Trajectories and steps with a person's grade, and the votes of the newest pass that judged them."""
    graded = _graded(dataset)
    return Labels(
        _traces(dataset, {place.attempt_id: found for place, found in graded.items() if place.step_index is None}),
        _steps(dataset, {place: found for place, found in graded.items() if place.step_index is not None}),
    )


def _traces(dataset: Dataset, graded: Mapping[str, _Graded]) -> LabelSet:
    items = []
    for attempt_id, found in sorted(graded.items()):
        record = dataset.record(attempt_id, pictures=False)
        task = dataset.task(record.attempt.task_id)
        right, view = right_grade(record), view_of(task)
        checks = outcome_of(task, evaluate(task, record, "")).checks
        held = {"passed": {PASSED: 1.0}, "failed": {FAILED: 1.0}}.get(checks or "", {})
        votes = {vote.judge: vote.grade == right for vote in found.votes if vote.status == "graded"}
        infeasible = found.grade == "infeasible" or not task.feasible
        signs = signs_of(view, record) | held
        truth = found.grade == right
        items.append(Item(attempt_id, task.task_id, truth, votes, signs, infeasible, task.domain, found.said))
    return LabelSet(dataset.storage.address, items, _voters(graded.values()))


def _steps(dataset: Dataset, graded: Mapping[_Place, _Graded]) -> LabelSet:
    tasks = {row.task_id: row for row in dataset.rows(TaskSpec)}
    task_of = {row.attempt_id: tasks[row.task_id] for row in dataset.rows(Attempt) if row.task_id in tasks}
    items = []
    for place, found in sorted(graded.items()):
        task = task_of[place.attempt_id]
        votes = {vote.judge: vote.grade in _SERVING for vote in found.votes if vote.status == "graded"}
        item_id = f"{place.attempt_id}/{place.step_index}"
        truth = found.grade in _SERVING
        items.append(Item(item_id, task.task_id, truth, votes, domain=task.domain, grades=found.said))
    return LabelSet(dataset.storage.address, items, _voters(graded.values()))


def _graded(dataset: Dataset) -> dict[_Place, _Graded]:
    """The last answers of persons; votes on proposals that were not carried out are about something else."""
    passes = {row.pass_id: row for row in dataset.rows(PassRow)}
    when = {pass_id: row.judged_at for pass_id, row in passes.items()}
    human = [row for row in dataset.rows(Verdict) if row.rule == "human" and row.candidate_index is None]
    last = {_Place(row.attempt_id, row.step_index): row for row in sorted(human, key=lambda row: when[row.pass_id])}
    graded = {place: _Graded(str(row.grade), []) for place, row in last.items() if row.status == "graded"}
    newest = _newest(passes.values())
    for vote in dataset.rows(Vote):
        place = _Place(vote.attempt_id, vote.step_index)
        if newest and vote.pass_id == newest.pass_id and vote.candidate_index is None and place in graded:
            graded[place].votes.append(vote)
    return graded


def _newest(passes: Iterable[PassRow]) -> PassRow | None:
    """The last pass of judges; what persons and policies asked is not one."""
    judged = [row for row in passes if row.kind in ("collect", "rejudge")]
    return max(judged, key=lambda row: row.judged_at, default=None)


def _voters(graded: Iterable[_Graded]) -> list[Voter]:
    found: dict[str, Voter] = {}
    prompts: dict[str, set[str]] = {}
    for vote in (vote for one in graded for vote in one.votes):
        if vote.judge_kind != "person":
            found[vote.judge] = Voter(name=vote.judge, kind=vote.judge_kind, family=vote.family)
            prompts.setdefault(vote.judge, set()).update([vote.prompt_sha256] if vote.prompt_sha256 else [])
    return [found[name].model_copy(update={"prompt_sha256s": sorted(prompts[name])}) for name in sorted(found)]
