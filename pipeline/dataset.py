"""Reads a dataset folder as records: whole tables, one attempt, one task, and what a resumed run still has to do.

Reading goes through the manifest only, so files that never counted are never seen. Pictures are the one heavy thing:
their bytes are read per attempt, never per table. Whether parts are sound is for soundness.py and check.py; here a part
that cannot be read raises RunError.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import Any, TypeVar

import pyarrow as pa
import pyarrow.parquet as pq

from pipeline import manifest
from pipeline.actions import Model
from pipeline.closing import Content
from pipeline.errors import RunError
from pipeline.file_names import ObjectName
from pipeline.manifest import Assigned, Line, PartRef, RunFile
from pipeline.records import (
    Attempt,
    Candidate,
    Event,
    Frame,
    ModelCall,
    ObservationRow,
    ProbeRead,
    Record,
    Step,
    Trajectory,
    Tree,
)
from pipeline.schema import SCHEMA_VERSION, TABLES, Row, of_table, schema_of, table_name
from pipeline.storage import Address, storage_of
from pipeline.tasks import TaskSpec
from pipeline.widening import widened

Picture = TypeVar("Picture", Frame, Tree)
"""Rows that are stored once per hash."""

_KEYS = {"attempts": "attempt_id", "frames": "sha256", "tasks": "task_id", "trees": "sha256"}
"""Tables in which single rows are looked up, and by what."""


class Dataset:
    """A dataset folder as it was when this was made, or last refreshed; raises ConfigError when it is none."""

    def __init__(self, address: Address) -> None:
        self.storage = storage_of(address)
        self.run: RunFile = manifest.read_run(self.storage)
        self._known: dict[ObjectName, Content] = {}
        self._parts: dict[str, PartRef] = {}
        self._index: dict[str, dict[str, str]] = {}
        self._unindexed: dict[str, list[PartRef]] = {}
        self.refresh()

    def refresh(self) -> None:
        """See what has been published since; raises RunError when part of the manifest is lost or altered."""
        found = manifest.whole(self.storage, self._known)
        if not self._known.items() <= found.contents.items() or any(line.replaces for line in _parts(found.lines)):
            found = manifest.whole(self.storage)
            self._parts = {}
            self._index, self._unindexed = {}, {}
        for part in manifest.current_parts(found.lines).values():
            self._parts[part.path] = part
            self._unindexed.setdefault(part.table, []).append(part)
        self._known = found.contents

    def parts(self, table: str) -> list[PartRef]:
        """The parts of a table, oldest first."""
        return [part for part in self._parts.values() if part.table == table]

    def table(self, name: str, columns: Sequence[str] | None = None) -> pa.Table:
        """A whole table, or some of its columns; of `frames` never the pictures."""
        schema = schema_of(name)
        kept = [column for column in columns or schema.names if column != "image"]
        empty = pa.schema([schema.field(column) for column in kept]).empty_table()
        return pa.concat_tables([empty, *(self._read(part, columns=kept) for part in self.parts(name))])

    def rows(self, kind: type[Row]) -> list[Row]:
        """A whole table as records of this kind; pictures are not read this way but by `record`."""
        if kind is Frame:
            raise ValueError("pictures are read by attempt, never all at once")
        return of_table(kind, self.table(table_name(kind)))

    def part_rows(self, part: PartRef, among: Collection[str] | None = None) -> list[Model]:
        """The rows of one part, pictures too; of pictures and trees only those with these hashes, when given."""
        kind = TABLES[part.table]
        if among is None:
            return list(of_table(kind, self._read(part)))
        return list(self._matching(kind, part, "sha256", sorted(among)))

    def task(self, task_id: str) -> TaskSpec:
        """One task; raises RunError when the dataset has none of that id."""
        part = self._home("tasks", task_id)
        if part is None:
            raise RunError(f"{self.storage.address} has no task {task_id}")
        return self._matching(TaskSpec, part, "task_id", [task_id])[-1]

    def record(self, attempt_id: str, *, pictures: bool = True) -> Record:
        """Everything a final attempt left behind; without `pictures` its frames are left out.

        Raises RunError when there is no such attempt, or a later one superseded it.
        """
        home = self._home("attempts", attempt_id)
        stem = home.stem if home else ""
        trajectories = self._own(Trajectory, stem, attempt_id)
        if not trajectories:
            raise RunError(f"{self.storage.address} has no final attempt {attempt_id}")
        observations = self._own(ObservationRow, stem, attempt_id)
        frames = [look.frame_sha256 for look in observations if look.frame_sha256] if pictures else []
        trees = [look.tree_sha256 for look in observations if look.tree_sha256]
        return Record(
            attempt=self._own(Attempt, stem, attempt_id)[0],
            trajectory=trajectories[0],
            observations=observations,
            steps=self._own(Step, stem, attempt_id),
            candidates=self._own(Candidate, stem, attempt_id),
            frames={frame.sha256: frame for frame in self._hashed(Frame, stem, frames)},
            trees={tree.sha256: tree for tree in self._hashed(Tree, stem, trees)},
            probe_reads=self._own(ProbeRead, stem, attempt_id),
            events=self._own(Event, stem, attempt_id),
            model_calls=self._own(ModelCall, stem, attempt_id),
        )

    def finished_trajectories(self) -> set[str]:
        """Trajectories that have their final attempt."""
        return set(self._column("trajectories", "trajectory_id"))

    def attempt_numbers(self) -> dict[str, int]:
        """The highest attempt number begun, per trajectory."""
        numbers: dict[str, int] = {}
        for attempt in self._assigned():
            numbers[attempt.trajectory_id] = max(attempt.number, numbers.get(attempt.trajectory_id, attempt.number))
        return numbers

    def lost_attempts(self) -> list[Assigned]:
        """Attempts that were begun and never reported: what a new epoch writes down as lost."""
        reported = set(self._column("attempts", "attempt_id"))
        return [attempt for attempt in self._assigned() if attempt.attempt_id not in reported]

    def unjudged_attempts(self) -> list[str]:
        """Final attempts without a verdict on their trace, in the order they were committed."""
        verdicts = self.table("verdicts", ["target", "attempt_id"]).to_pylist()
        judged = {row["attempt_id"] for row in verdicts if row["target"] == "trace"}
        return [attempt for attempt in self._column("trajectories", "attempt_id") if attempt not in judged]

    def _assigned(self) -> Iterator[Assigned]:
        for name, lines in manifest.whole(self.storage).objects.items():
            if name in self._known:
                yield from (line for line in lines if isinstance(line, Assigned))

    def _column(self, table: str, column: str) -> list[str]:
        found: list[str] = self.table(table, [column]).column(0).to_pylist()
        return found

    def _own(self, kind: type[Row], stem: str, attempt_id: str) -> list[Row]:
        """The rows of one attempt, from the part that shares its attempt's file name."""
        name = table_name(kind)
        part = self._parts.get(f"{name}/{stem}.parquet")
        return self._matching(kind, part, "attempt_id", [attempt_id]) if part else []

    def _hashed(self, kind: type[Picture], stem: str, hashes: Sequence[str]) -> list[Picture]:
        """Pictures or trees, in this order, each once: mostly beside the attempt, else where the writer saw them first.

        A hash that no part holds is left out.
        """
        name = table_name(kind)
        found: dict[str, Picture] = {}
        beside = self._parts.get(f"{name}/{stem}.parquet")
        if beside:
            found.update({row.sha256: row for row in self._matching(kind, beside, "sha256", hashes)})
        elsewhere: dict[str, list[str]] = {}
        for sha256 in dict.fromkeys(hashes):
            home = None if sha256 in found else self._home(name, sha256)
            if home:
                elsewhere.setdefault(home.path, []).append(sha256)
        for path, wanted in elsewhere.items():
            found.update({row.sha256: row for row in self._matching(kind, self._parts[path], "sha256", wanted)})
        return [found[sha256] for sha256 in dict.fromkeys(hashes) if sha256 in found]

    def _home(self, table: str, key: str) -> PartRef | None:
        """The part that holds the row with this key."""
        index = self._index.setdefault(table, {})
        if key not in index:
            for part in self._unindexed.pop(table, []):
                index.update(dict.fromkeys(self._read(part, columns=[_KEYS[table]]).column(0).to_pylist(), part.path))
        return self._parts.get(index.get(key, ""))

    def _matching(self, kind: type[Row], part: PartRef, column: str, values: Sequence[str]) -> list[Row]:
        if not values:
            return []
        return of_table(kind, self._read(part, filters=[(column, "in", list(values))]))

    def _read(self, part: PartRef, columns: Sequence[str] | None = None, filters: Any = None) -> pa.Table:
        try:
            self.storage.refuse_odd(part.path)
            if part.schema_version == SCHEMA_VERSION:
                return self._as_declared(self._load(part, columns, filters), part, columns)
            there = pq.read_schema(part.path, filesystem=self.storage.files).names
            wanted = columns or schema_of(part.table).names
            return widened(self._load(part, [name for name in wanted if name in there], filters), part.table, wanted)
        except (OSError, pa.ArrowException) as error:
            raise RunError(f"{self.storage.url(part.path)} cannot be read ({error}): run `pathproof check`") from error

    def _as_declared(self, found: pa.Table, part: PartRef, columns: Sequence[str] | None) -> pa.Table:
        """The rows, when their columns are what this version declares; raises RunError for a part that has drifted."""
        schema = schema_of(part.table)
        for name in dict.fromkeys([*found.column_names, *(columns or schema.names)]):
            there, declared = found.schema.get_field_index(name), schema.get_field_index(name)
            if min(there, declared) < 0 or not found.schema.field(there).equals(schema.field(declared)):
                where = self.storage.url(part.path)
                raise RunError(f"{where} has another column '{name}' than is declared: run `pathproof check`")
        return found

    def _load(self, part: PartRef, columns: Sequence[str] | None, filters: Any) -> pa.Table:
        return pq.read_table(
            part.path,
            columns=columns,
            filters=filters,
            filesystem=self.storage.files,
            partitioning=None,  # a folder called `a=b` would become a column
            page_checksum_verification=True,
        )


def _parts(lines: Iterable[Line]) -> Iterator[PartRef]:
    return (line for line in lines if isinstance(line, PartRef))
