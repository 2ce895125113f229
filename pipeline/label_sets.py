"""Reads labelled sets: a dataset folder in which persons graded trajectories, or a table (CSV, Parquet).

A table has one row per trajectory: `task_id`, `item_id`, `truth` (1 when the agent did right), if wanted `infeasible`
(1 when the task cannot be done) and `domain`, a column `vote:JUDGE:FAMILY` per judge (1 for, 0 against, empty where it
was silent; the family of judges without a model is `program`), and a column `sign:NAME` per sign (0 to 1).
Nothing is measured here.
"""

from __future__ import annotations

import csv
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple, get_args

import pyarrow as pa
import pyarrow.parquet as pq

from pipeline.dataset import Dataset
from pipeline.errors import ConfigError
from pipeline.protocols import view_of
from pipeline.records import PassRow, Verdict, Vote
from pipeline.words import Domain
from verifiers.ballot import PROGRAM
from verifiers.calibration import FAILED, PASSED
from verifiers.contract import evaluate, outcome_of
from verifiers.labelled import Item, LabelSet, Voter
from verifiers.telemetry import right_grade, signs_of

_FIXED = ("task_id", "item_id", "truth", "infeasible", "domain")
_REQUIRED = ("task_id", "item_id", "truth")
_WORDS = {"1": True, "1.0": True, "true": True, "yes": True, "0": False, "0.0": False, "false": False, "no": False}


def read_labels(source: str) -> LabelSet:
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
        with path.open(encoding="utf-8-sig", newline="") as file:
            yield from csv.DictReader(file, restval="", restkey="beyond the header")
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise ConfigError(f"--labels: '{path}' cannot be read ({error})") from error


def _parquet_rows(path: Path) -> Iterator[dict[str, str]]:
    try:
        rows = pq.read_table(path, page_checksum_verification=True).to_pylist()
    except (OSError, pa.ArrowException) as error:
        raise ConfigError(f"--labels: '{path}' cannot be read ({error})") from error
    yield from ({name: _text(cell) for name, cell in row.items()} for row in rows)


def _text(cell: Any) -> str:
    return "" if cell is None else str(cell)


def _of_rows(name: str, rows: Sequence[Mapping[str, str]]) -> LabelSet:
    if not rows:
        raise ConfigError(f"--labels: '{name}' has no rows")
    votes, signs = _columns(name, list(rows[0]))
    items = [
        Item(
            item_id=row["item_id"],
            task_id=row["task_id"],
            truth=_flag(row, "truth", name),
            votes={voter.name: _flag(row, column, name) for column, voter in votes.items() if row[column]},
            signs={sign: _share(row, column, name) for column, sign in signs.items() if row[column]},
            infeasible=bool(row.get("infeasible")) and _flag(row, "infeasible", name),
        )
        for row in rows
    ]
    return LabelSet(name, items, list(votes.values()), _domains(name, {row.get("domain", "") for row in rows}))


def _columns(name: str, columns: Sequence[str]) -> tuple[dict[str, Voter], dict[str, str]]:
    missing = [column for column in _REQUIRED if column not in columns]
    if missing:
        raise ConfigError(f"--labels: '{name}' has no column {', '.join(missing)}")
    votes, signs = {}, {}
    for column in columns:
        match column.split(":"):
            case ["vote", judge, family] if judge and family:
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


def _domains(name: str, found: Iterable[str]) -> list[Domain]:
    known = {domain: domain for domain in get_args(Domain)}
    unknown = sorted(domain for domain in found if domain and domain not in known)
    if unknown:
        raise ConfigError(f"--labels: '{name}' has the domain '{unknown[0]}'; domains: {', '.join(known)}")
    return sorted(known[domain] for domain in found if domain)


# --- dataset folders ---------------------------------------------------------------------------------------------


class _Graded(NamedTuple):
    """What persons and judges said of one attempt."""

    grade: str
    votes: list[Vote]


def _of_dataset(dataset: Dataset) -> LabelSet:
    """Trajectories with a person's grade, and the votes of the newest pass that judged them."""
    graded = _graded(dataset)
    items, domains = [], set()
    for attempt_id, found in sorted(graded.items()):
        record = dataset.record(attempt_id, pictures=False)
        task = dataset.task(record.attempt.task_id)
        right, view = right_grade(record), view_of(task)
        checks = outcome_of(task, evaluate(task, record, "")).checks
        held = {"passed": {PASSED: 1.0}, "failed": {FAILED: 1.0}}.get(checks or "", {})
        votes = {vote.judge: vote.grade == right for vote in found.votes if vote.status == "graded"}
        infeasible = found.grade == "infeasible" or not task.feasible
        signs = signs_of(view, record) | held
        items.append(Item(attempt_id, task.task_id, found.grade == right, votes, signs, infeasible))
        domains.add(task.domain)
    voters = _voters(vote for found in graded.values() for vote in found.votes)
    return LabelSet(dataset.storage.address, items, voters, sorted(domains))


def _graded(dataset: Dataset) -> dict[str, _Graded]:
    passes = {row.pass_id: row for row in dataset.rows(PassRow)}
    when = {pass_id: row.judged_at for pass_id, row in passes.items()}
    human = [row for row in dataset.rows(Verdict) if (row.target, row.rule) == ("trace", "human")]
    last = {row.attempt_id: row for row in sorted(human, key=lambda row: when[row.pass_id])}
    grades = {attempt_id: str(row.grade) for attempt_id, row in last.items() if row.status == "graded"}
    newest = _newest(passes.values())
    votes: dict[str, list[Vote]] = {attempt_id: [] for attempt_id in grades}
    for vote in dataset.rows(Vote):
        if newest and vote.pass_id == newest.pass_id and vote.target == "trace" and vote.attempt_id in grades:
            votes[vote.attempt_id].append(vote)
    return {attempt_id: _Graded(grade, votes[attempt_id]) for attempt_id, grade in grades.items()}


def _newest(passes: Iterable[PassRow]) -> PassRow | None:
    """The last pass of judges; what persons and policies asked is not one."""
    judged = [row for row in passes if row.kind in ("collect", "rejudge")]
    return max(judged, key=lambda row: row.judged_at, default=None)


def _voters(votes: Iterable[Vote]) -> list[Voter]:
    found: dict[str, Voter] = {}
    prompts: dict[str, set[str]] = {}
    for vote in votes:
        if vote.judge_kind != "person":
            found[vote.judge] = Voter(name=vote.judge, kind=vote.judge_kind, family=vote.family)
            prompts.setdefault(vote.judge, set()).update([vote.prompt_sha256] if vote.prompt_sha256 else [])
    return [found[name].model_copy(update={"prompt_sha256s": sorted(prompts[name])}) for name in sorted(found)]
