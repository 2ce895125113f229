"""Where records go: PartWriter puts them on disk, Committer makes them count.

A worker writes parts straight to their final, unique names and reports them as a Batch; nothing it wrote is part of
the dataset until the one Committer of the run lists it in the manifest. Parts of one flush share their file name
across tables, and hold the whole of the same attempts: readers find an attempt's rows by that name. This module
knows nothing of Ray.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any, NamedTuple

from pipeline import manifest
from pipeline.actions import Model
from pipeline.closing import Content, hash_of
from pipeline.errors import RunError, SinkError, boundary
from pipeline.file_names import (
    EPOCHS,
    MANIFEST,
    RUN_FILE,
    VIEWS_FILE,
    WORKER,
    ObjectName,
    PartName,
    claim_path,
    part_name,
)
from pipeline.manifest import Assigned, Epoch, PartRef, RunFile, RunState, Seal, Survey
from pipeline.parts import size_of, write_part
from pipeline.query import views_sql
from pipeline.records import Attempt, Event, Frame, Record, Trajectory, Tree, now
from pipeline.schema import TABLES, table_name
from pipeline.storage import Address, Storage, disk_errors, storage_of
from pipeline.structs import Fault, Usage

ATTEMPTS_PER_FLUSH = 4
BYTES_PER_FLUSH = 32 << 20

LOST = Fault(boundary="worker", code="lost", message="the attempt was begun and never reported")

_WORKER = re.compile(WORKER)


class Batch(Model):
    """What a writer has put on disk and wants to count: `number` is its last flush, `attempts` what the parts hold."""

    epoch: int
    worker: str
    number: int
    parts: list[PartRef]
    attempts: list[str]


class MemorySink:
    """Keeps records in a list, for tests and for looking at a rollout without files."""

    def __init__(self) -> None:
        self.records: list[Record] = []

    def write(self, record: Record) -> None:
        """Take one record."""
        self.records.append(record)


class PartWriter:
    """Buffers rows of any table and writes them as parts; one per worker, with a name that no other writer uses.

    A full buffer is written at once; what has been written waits for `take`. When writing fails nothing of the buffer
    is left on disk, its attempts are gone (SinkError), and the writer can be used again. After a batch was refused by
    the committer the writer must not be used again: it would refer to pictures that never counted.
    """

    def __init__(self, address: Address, run_id: str, epoch: int, worker: str) -> None:
        if not _WORKER.fullmatch(worker):
            raise ValueError(f"worker name {worker!r} cannot be part of a file name")
        self._storage, self._run_id, self._epoch, self._worker = storage_of(address), run_id, epoch, worker
        self._number = 0
        self._rows: dict[str, list[Model]] = {}
        self._attempts: list[str] = []
        self._bytes = 0
        self._seen: set[str] = set()
        self._written: list[PartRef] = []
        self._written_attempts: list[str] = []

    def write(self, record: Record) -> None:
        """Take everything one attempt left behind; its trajectory only when the attempt is the final one."""
        self._keep([record.attempt, *([record.trajectory] if record.attempt.final else [])])
        for rows in (record.observations, record.steps, record.candidates, record.probe_reads, record.events):
            self._keep(rows)
        for asked in (record.model_calls, record.votes):
            self._keep(asked)
        self._keep(record.frames.values())
        self._keep(record.trees.values())
        self._attempts.append(record.attempt.attempt_id)
        self._flush_when_full()

    def add(self, rows: Iterable[Model]) -> None:
        """Take rows of any tables."""
        self._keep(rows)
        self._flush_when_full()

    def flush(self) -> Batch | None:
        """Write what is buffered, and hand over everything not yet taken; null when there is nothing."""
        if self._rows:
            self._write()
        return self.take()

    def take(self) -> Batch | None:
        """Hand over what has been written since the last time; null when nothing has."""
        if not self._written:
            return None
        batch = Batch(
            epoch=self._epoch,
            worker=self._worker,
            number=self._number - 1,
            parts=self._written,
            attempts=self._written_attempts,
        )
        self._written, self._written_attempts = [], []
        return batch

    def add_empty(self, tables: Iterable[str]) -> None:
        """Take no rows of these tables, so that each gets a part all the same."""
        for table in tables:
            self._rows.setdefault(table, [])

    def _keep(self, rows: Iterable[Model]) -> None:
        for row in rows:
            if isinstance(row, Frame | Tree):
                if row.sha256 in self._seen:
                    continue
                self._seen.add(row.sha256)
            self._rows.setdefault(table_name(type(row)), []).append(row)
            self._bytes += size_of(row)

    def _flush_when_full(self) -> None:
        if len(self._attempts) >= ATTEMPTS_PER_FLUSH or self._bytes > BYTES_PER_FLUSH:
            self._write()

    def _write(self) -> None:
        rows, attempts = self._rows, self._attempts
        self._rows, self._attempts, self._bytes = {}, [], 0
        name = PartName(self._epoch, self._worker, self._number)
        self._number += 1
        parts: list[PartRef] = []
        whole = False
        try:
            with boundary(SinkError, "write_failed"), disk_errors(f"writing {name}"):
                for table in sorted(rows):
                    parts.append(write_part(self._storage, table, name, rows[table], self._run_id))
            whole = True
        finally:
            if not whole:
                self._undo(parts, rows)
        self._written += parts
        self._written_attempts += attempts

    def _undo(self, parts: list[PartRef], rows: Mapping[str, list[Model]]) -> None:
        for part in parts:
            self._storage.delete(part.path)
        self._seen -= {row.sha256 for table in rows for row in rows[table] if isinstance(row, Frame | Tree)}


class Committer:
    """The one writer of a dataset's manifest; made by `claim` when there is work, and only under the driver's lock.

    An attempt counts when it was assigned here and its batch is published here. Batches of older epochs, and of
    attempts that were revoked, are refused and leave `late_commit` events. Each object names what was published before
    it, so that none can be lost, emptied or changed without being missed.
    """

    def __init__(self, storage: Storage, run: RunFile, parts: Iterable[PartRef], claim: bytes, before: _Before) -> None:
        self.epoch = run.epoch
        self._storage, self._run, self._before = storage, run, before
        self._newest, self._views = hash_of(claim), before.views_sha256
        self._contents: list[Content] = []
        self._writer = PartWriter(storage, run.run_id, run.epoch, "committer")
        self._parts: dict[str, PartRef] = {}
        self._in_flight: set[str] = set()
        self._last_batch: dict[str, int] = {}
        self._take_over(parts)

    @classmethod
    def claim(cls, address: Address, run_id: str, config: Mapping[str, Any]) -> Committer:
        """Begin the folder's next epoch and seal the older ones; every table has a part afterwards.

        Raises RunError when the folder belongs to another run, has a damaged manifest, or is claimed by someone else
        meanwhile.
        """
        storage = storage_of(address)
        with disk_errors(f"claiming {storage.address}"):
            storage.prepare([MANIFEST, EPOCHS])
            found = manifest.whole(storage)
            before = _before(storage, run_id)
            run = RunFile(
                run_id=run_id,
                config=dict(config),
                epoch=max((epoch.epoch for epoch in found.epochs), default=0) + 1,
                state="running",
                started_at=before.started_at or now(),
                copied_at=before.copied_at,
            )
            claim = (
                Epoch(epoch=run.epoch, claimed_at=now(), sealed=_seals(found), closes=True).model_dump_json().encode()
            )
            _create(storage, claim_path(run.epoch), claim)
            storage.replace(RUN_FILE, manifest.pretty(run))
        committer = cls(storage, run, manifest.current_parts(found.lines).values(), claim, before)
        committer._give_every_table_a_part()
        return committer

    def assign(self, attempts: Sequence[Assigned]) -> None:
        """Note that these attempts are about to begin."""
        if not attempts:
            return
        self._append(attempts)
        self._in_flight.update(attempt.attempt_id for attempt in attempts)

    def publish(self, batch: Batch) -> bool:
        """Make a batch count; false when it is refused. Publishing the same batch again changes nothing.

        A batch is refused as a whole, so its other attempts are still in flight afterwards: revoke them too.
        """
        if batch.epoch == self.epoch and batch.number <= self._last_batch.get(batch.worker, -1):
            return True
        if batch.epoch != self.epoch or not self._in_flight.issuperset(batch.attempts):
            self._note_late(batch)
            return False
        self._list(batch.parts)
        self._last_batch[batch.worker] = batch.number
        self._in_flight.difference_update(batch.attempts)
        return True

    def revoke(self, attempt: Assigned, *, final: bool, fault: Fault = LOST) -> bool:
        """Write an attempt down as faulty and refuse what its worker may still report; false when it has reported.

        Takes attempts of this epoch and, on resuming, the lost ones of older epochs (each once).
        """
        current = attempt.epoch == self.epoch
        if current and attempt.attempt_id not in self._in_flight:
            return False
        self._in_flight.discard(attempt.attempt_id)
        self._writer.write(_lost(attempt, final, fault, ended_now=current))
        self._publish_own()
        return True

    def record(self, rows: Iterable[Model]) -> None:
        """Write the driver's own rows of any tables, and make them count."""
        self._writer.add(rows)
        self._publish_own()

    def finish(self) -> None:
        """End the run: remove what this epoch wrote and never listed, and mark the folder finished."""
        self._end("finished", now())

    def leave(self) -> None:
        """End this epoch like `finish`, and the run with it only if it had ended, or there was none."""
        self._end(self._before.state, self._before.finished_at if self._before.started_at else now())

    def _end(self, state: RunState, finished_at: datetime | None) -> None:
        with disk_errors(f"finishing {self._storage.address}"):
            self._refuse_when_overtaken()
            for path in [f"{table}/{name}" for table in TABLES for name in self._storage.sizes(table)]:
                if path not in self._parts and _epoch_of(path) == self.epoch:
                    self._storage.delete(path)
            ended = {"state": state, "finished_at": finished_at, "views_sha256": self._views}
            sealed = Seal(epoch=self.epoch, last=len(self._contents), objects=self._contents)
            self._run = self._run.model_copy(update={**ended, "sealed": sealed})
            self._storage.replace(RUN_FILE, manifest.pretty(self._run))

    def _give_every_table_a_part(self) -> None:
        self._writer.add_empty(set(TABLES) - {part.table for part in self._parts.values()})
        self._publish_own()

    def _publish_own(self) -> None:
        batch = self._writer.flush()
        if batch:
            self._list(batch.parts)

    def _note_late(self, batch: Batch) -> None:
        detail = f"batch {batch.number} of epoch {batch.epoch}, worker {batch.worker}, came too late and was refused"
        self.record(
            Event(attempt_id=attempt_id, step_index=-1, kind="late_commit", detail=detail)
            for attempt_id in batch.attempts
        )

    def _list(self, parts: Sequence[PartRef]) -> None:
        for part in parts:
            if self._storage.size(part.path) != part.bytes:
                path = self._storage.url(part.path)
                raise SinkError("part_not_visible", f"{path} is not there as its writer reported it: is it shared?")
        self._append(parts)
        self._take_over(parts)
        views = views_sql(self._addressed()).encode()
        with disk_errors("writing views.sql"):
            self._storage.replace(VIEWS_FILE, views)
        self._views = hash_of(views)

    def _append(self, found: Sequence[PartRef] | Sequence[Assigned]) -> None:
        name = ObjectName(self.epoch, len(self._contents) + 1)
        data = manifest.encoded(name, found, self._newest)
        with disk_errors(f"publishing {name.path}"):
            self._refuse_when_overtaken()
            _create(self._storage, name.path, data)
        self._newest = hash_of(data)
        self._contents.append(Content(lines=len(found), sha256=self._newest))

    def _refuse_when_overtaken(self) -> None:
        if self._storage.size(claim_path(self.epoch + 1)) is not None:
            raise RunError(f"{self._storage.address} has been taken over by a newer driver")

    def _take_over(self, parts: Iterable[PartRef]) -> None:
        for part in parts:
            self._parts[part.path] = part
            for path in part.replaces:
                self._parts.pop(path, None)

    def _addressed(self) -> dict[str, PartRef]:
        return {self._storage.url(path): part for path, part in self._parts.items()}


class _Before(NamedTuple):
    """How a run stood before its folder was claimed; one that did not exist has not been started."""

    started_at: datetime | None
    state: RunState
    finished_at: datetime | None
    views_sha256: str | None
    copied_at: datetime | None


def _before(storage: Storage, run_id: str) -> _Before:
    if storage.size(RUN_FILE) is None:
        return _Before(None, "finished", None, None, None)
    found = manifest.read_run(storage)
    if found.run_id != run_id:
        raise RunError(f"{storage.address} belongs to run {found.run_id}: choose another folder, or resume that run")
    return _Before(found.started_at, found.state, found.finished_at, found.views_sha256, found.copied_at)


def _seals(found: Survey) -> list[Seal]:
    """The last object of each epoch; what the objects held, where no older claim says it."""
    told = {seal.epoch for epoch in found.epochs for seal in epoch.sealed if seal.objects}
    held: dict[int, list[Content]] = {epoch.epoch: [] for epoch in found.epochs}
    for name in found.counted:
        held.setdefault(name.epoch, []).append(found.contents[name])
    return [
        Seal(epoch=epoch, last=len(contents), objects=[] if epoch in told else contents)
        for epoch, contents in sorted(held.items())
    ]


def _create(storage: Storage, key: str, data: bytes) -> None:
    try:
        storage.create(key, data)
    except FileExistsError:
        raise RunError(f"{storage.url(key)} has just been written by another driver; stop one of the two") from None


def _epoch_of(path: str) -> int | None:
    name = part_name(path.rpartition("/")[2])
    return name.epoch if name else None


def _lost(attempt: Assigned, final: bool, fault: Fault, *, ended_now: bool) -> Record:
    """What can be said of an attempt that never reported; one of an older epoch ended at an unknown time."""
    shared = attempt.model_dump(include=set(Attempt.model_fields) & set(Assigned.model_fields))
    return Record(
        attempt=Attempt(
            **shared,
            final=final,
            environment=None,
            started_at=attempt.assigned_at,
            finished_at=now() if ended_now else attempt.assigned_at,
            termination="fault",
            fault=fault,
        ),
        trajectory=Trajectory(
            **attempt.model_dump(include=set(Trajectory.model_fields) & set(Assigned.model_fields)),
            termination="fault",
            reason=fault.code,
            fault=fault,
            claim="none",
            answer=None,
            step_count=0,
            contains_secret=False,
            seconds=0.0,
            usage=Usage(),
        ),
        observations=[],
        steps=[],
    )
