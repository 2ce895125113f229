"""Writes one part: one Parquet file of one table, whole and proved, or nothing.

Pictures and trees go into small row groups so that a reader of one does not load hundreds. This module knows tables
and storages, nothing of epochs, attempts or the manifest's order.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack
from typing import BinaryIO

import pyarrow as pa
import pyarrow.parquet as pq

from pipeline.actions import Model
from pipeline.errors import SinkError
from pipeline.file_names import PartName
from pipeline.manifest import PartRef
from pipeline.records import Frame, Tree
from pipeline.schema import SCHEMA_VERSION, TABLES, schema_of, to_table
from pipeline.storage import Address, Storage, storage_of

GROUP_ROWS = 64
"""Rows in a row group of pictures or trees."""

GROUP_BYTES = 32 << 20
"""Bytes of pictures in a row group, but always one row."""

PLAIN_GROUP_ROWS = 50_000

HEAVY = frozenset({"frames", "trees"})
"""Tables whose rows are large, and may repeat across parts."""

_COLUMNS_WITHOUT_STATISTICS = frozenset({"image"})


def size_of(row: Model) -> int:
    """About how many bytes a row takes in memory."""
    match row:
        case Frame():
            return len(row.image.bytes) + 200
        case Tree():
            return 100 * len(row.nodes) + 200
        case _:
            return 1000


def write_part(address: Address, table: str, name: PartName, rows: Sequence[Model], run_id: str) -> PartRef:
    """Write rows as a new part and read its footer back; leaves no file behind when anything fails."""
    groups = _groups(rows, GROUP_ROWS if table in HEAVY else PLAIN_GROUP_ROWS)
    return write_groups(storage_of(address), table, name, (to_table(TABLES[table], group, run_id) for group in groups))


def write_groups(storage: Storage, table: str, name: PartName, groups: Iterable[pa.Table]) -> PartRef:
    """Write tables of the declared schema as a new part's row groups; leaves no file behind when anything fails."""
    key = f"{table}/{name}"
    rows = 0
    with storage.new_file(key) as raw:
        file = _HashingFile(raw)
        with _writer(file, table) as writer:
            for group in groups:
                writer.write_table(group)
                rows += group.num_rows
    with ExitStack() as undo:
        undo.callback(storage.delete, key)
        _read_back(storage, key, rows, file.size)
        undo.pop_all()
    return PartRef(table=table, path=key, rows=rows, bytes=file.size, sha256=file.sha256, schema_version=SCHEMA_VERSION)


def _writer(file: _HashingFile, table: str) -> pq.ParquetWriter:
    schema = schema_of(table)
    return pq.ParquetWriter(
        pa.PythonFile(file, mode="w"),
        schema,
        compression="zstd",
        use_dictionary=table != "frames",
        write_statistics=[name for name in schema.names if name not in _COLUMNS_WITHOUT_STATISTICS],
        write_page_checksum=True,
    )


def _groups(rows: Sequence[Model], most: int) -> Iterator[Sequence[Model]]:
    start, held = 0, 0
    for index, row in enumerate(rows):
        size = size_of(row)
        if index > start and (index - start >= most or held + size > GROUP_BYTES):
            yield rows[start:index]
            start, held = index, 0
        held += size
    yield rows[start:]


def _read_back(storage: Storage, key: str, rows: int, size: int) -> None:
    with storage.files.open_input_file(key) as file:
        found, there = pq.read_metadata(file), file.size()
    if found.num_rows != rows or there != size:
        raise SinkError("not_as_written", f"{storage.url(key)} holds {found.num_rows} rows after writing {rows}")


class _HashingFile:
    """The binary file Arrow writes into; keeps the hash and size of what was meant to be written."""

    closed = False

    def __init__(self, raw: BinaryIO) -> None:
        self._raw = raw
        self._hash = hashlib.sha256()
        self.size = 0

    @property
    def sha256(self) -> str:
        return self._hash.hexdigest()

    def write(self, data: bytes) -> int:
        self._hash.update(data)
        self._raw.write(data)
        self.size += len(data)
        return len(data)

    def tell(self) -> int:
        return self.size

    def flush(self) -> None:
        self._raw.flush()

    def close(self) -> None:
        """Leave the file open: its owner still has to make it durable."""
        self._raw.flush()
