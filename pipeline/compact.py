"""Merges a dataset's small parts: fewer files, the same rows, the same guarantees.

Parts that share a file name hold the whole of the same attempts, and readers find an attempt's rows by that name. So
whole names are merged, never single tables: the parts of many names become parts of one. Pictures and trees that are
already kept by another part are left out. A part that has drifted is widened to the declared schema, or nothing is
done. Replaced parts are removed after what replaces them is published; a reader that was opened before must be opened
again. This module knows nothing of what rows mean.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

import pyarrow as pa
import pyarrow.parquet as pq

from pipeline import manifest
from pipeline.file_names import PartName
from pipeline.manifest import PartRef, Survey
from pipeline.parts import GROUP_BYTES, GROUP_ROWS, HEAVY, PLAIN_GROUP_ROWS, write_groups
from pipeline.sinks import Batch, Committer
from pipeline.soundness import FlawKind, require_sound
from pipeline.storage import Address, Storage, disk_errors, driver_lock
from pipeline.widening import widened

TARGET_BYTES = 128 << 20
"""What the merged parts of one name should weigh together; names of half of it are left alone."""

WORKER = "compact"

_WIDENED: frozenset[FlawKind] = frozenset({"schema_drift"})
"""What compaction mends, or refuses to when something would be lost."""

Names = list[list[PartRef]]
"""Parts, by the file name they share."""


class Compaction(NamedTuple):
    """How many parts there were and are; equal when there was nothing to merge."""

    before: int
    after: int


def compact(address: Address, target_bytes: int = TARGET_BYTES) -> Compaction:
    """Merge small parts; raises RunError when a driver is at work or anything is damaged, and then changes nothing."""
    storage = manifest.storage_with_manifest(address)
    with driver_lock(storage):
        run = manifest.read_run(storage)
        parts = require_sound(storage, allowed=_WIDENED).parts
        small, kept = _split(parts.values(), target_bytes)
        if len(small) > 1:
            committer = Committer.claim(storage, run.run_id, run.config)
            merger = _Merger(storage, committer, _hashes(storage, kept))
            for number, names in enumerate(_batches(small, target_bytes)):
                merger.merge(number, names)
            committer.leave()
        left = manifest.whole(storage)
        _remove_replaced(storage, left)
        return Compaction(len(parts), len(manifest.current_parts(left.lines)))


class _Merger:
    """Writes and publishes one part of each table for many names; knows which pictures and trees are kept already."""

    def __init__(self, storage: Storage, committer: Committer, seen: Mapping[str, set[str]]) -> None:
        self._storage, self._committer, self._seen = storage, committer, seen

    def merge(self, number: int, names: Names) -> None:
        """Replace the parts of these names."""
        tables: dict[str, list[PartRef]] = {}
        for part in (part for name in names for part in name):
            tables.setdefault(part.table, []).append(part)
        merged = [self._merged(number, table, parts) for table, parts in sorted(tables.items())]
        batch = Batch(epoch=self._committer.epoch, worker=WORKER, number=number, parts=merged, attempts=[])
        self._committer.publish(batch)

    def _merged(self, number: int, table: str, parts: Sequence[PartRef]) -> PartRef:
        name = PartName(self._committer.epoch, WORKER, number)
        with disk_errors(f"compacting {table}"):
            part = write_groups(self._storage, table, name, _regrouped(self._rows(table, parts), table in HEAVY))
        return part.model_copy(update={"replaces": [part.path for part in parts]})

    def _rows(self, table: str, parts: Sequence[PartRef]) -> Iterator[pa.Table]:
        for part in parts:
            for group in _groups_of(self._storage, part):
                rows = widened(group, table)
                yield _fresh(rows, self._seen[table]) if table in HEAVY else rows


def _split(parts: Iterable[PartRef], target_bytes: int) -> tuple[Names, Names]:
    """Names to merge, oldest first, and names that are large enough."""
    names: dict[str, list[PartRef]] = {}
    for part in parts:
        names.setdefault(part.stem, []).append(part)
    small = [name for name in names.values() if _weight(name) < target_bytes // 2]
    return small, [name for name in names.values() if _weight(name) >= target_bytes // 2]


def _batches(names: Names, target_bytes: int) -> Iterator[Names]:
    """Names that together reach the target; the last ones may not."""
    batch: Names = []
    for name in names:
        batch.append(name)
        if sum(map(_weight, batch)) >= target_bytes:
            yield batch
            batch = []
    if batch:
        yield batch


def _weight(name: Sequence[PartRef]) -> int:
    return sum(part.bytes for part in name)


def _hashes(storage: Storage, names: Names) -> dict[str, set[str]]:
    """The pictures and trees that are in these parts."""
    seen: dict[str, set[str]] = {table: set() for table in HEAVY}
    for part in (part for name in names for part in name if part.table in HEAVY):
        found = pq.read_table(part.path, filesystem=storage.files, partitioning=None, columns=["sha256"])
        seen[part.table].update(found.column(0).to_pylist())
    return seen


def _groups_of(storage: Storage, part: PartRef) -> Iterator[pa.Table]:
    with pq.ParquetFile(part.path, filesystem=storage.files, page_checksum_verification=True) as file:
        for index in range(file.num_row_groups):
            yield file.read_row_group(index)


def _fresh(rows: pa.Table, seen: set[str]) -> pa.Table:
    """The rows whose hash has not been seen, which it then has."""
    wanted = []
    for sha256 in rows.column("sha256").to_pylist():
        wanted.append(sha256 not in seen)
        seen.add(sha256)
    return rows.filter(pa.array(wanted, pa.bool_()))


def _regrouped(tables: Iterable[pa.Table], heavy: bool) -> Iterator[pa.Table]:
    """The same rows in row groups as large as they may be."""
    most = GROUP_ROWS if heavy else PLAIN_GROUP_ROWS
    held: list[pa.Table] = []
    for table in tables:
        if held and (
            sum(one.num_rows for one in held) + table.num_rows > most
            or sum(one.nbytes for one in held) + table.nbytes > GROUP_BYTES
        ):
            yield pa.concat_tables(held)
            held = []
        held.append(table)
    if held:
        yield pa.concat_tables(held)


def _remove_replaced(storage: Storage, found: Survey) -> None:
    """Remove what no reader of the manifest asks for any more, also what an earlier compaction left."""
    current = manifest.current_parts(found.lines)
    with disk_errors("removing replaced parts"):
        for line in found.lines:
            if isinstance(line, PartRef) and line.path not in current:
                storage.delete(line.path)
