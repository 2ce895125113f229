"""The files of an export: rows by split, picture files where a trainer wants them, the table of rejected rows.

Everything is written into a folder aside and renamed at the end, so that an export is there as a whole or not at all.
"""

from __future__ import annotations

import json
import re
import shutil
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

import pyarrow.parquet as pq

from pipeline.actions import Model
from pipeline.errors import ConfigError, RunError
from pipeline.exports.preflight import RejectedRow
from pipeline.exports.rows import Row, Shape
from pipeline.exports.trainers import PICTURES, Renderer, Trainer
from pipeline.local_storage import held_folder, sync_folder, sync_tree
from pipeline.schema import schema_of_model, to_rows
from pipeline.storage import disk_errors

REJECTED = "rejected.parquet"
DATASET_INFO = "dataset_info.json"

_SPLIT_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]*")
_GROUP_ROWS = 100
_GROUP_BYTES = 64 << 20
"""What a row group holds at most, but always one row: pictures are heavy and readers load groups whole."""

_ROLES = {
    "role_tag": "role",
    "content_tag": "content",
    "user_tag": "user",
    "assistant_tag": "assistant",
    "system_tag": "system",
}


@contextmanager
def whole_folder(out: Path) -> Iterator[Path]:
    """A folder to fill, which becomes `out` when the block ends well and vanishes otherwise.

    All of it is durable by then, and this user's alone. Raises ConfigError when `out` is there and not an empty folder.
    """
    if out.exists() and (not out.is_dir() or any(out.iterdir())):
        raise ConfigError(f"out: {out} is already there; choose another name")
    with disk_errors(f"writing {out}"), _held_aside(out) as aside:
        try:
            yield aside
            sync_tree(aside)
            aside.replace(out)
            sync_folder(out.parent)
        finally:
            shutil.rmtree(aside, ignore_errors=True)


@contextmanager
def _held_aside(out: Path) -> Iterator[Path]:
    """A new folder beside `out`, held as long as the block; those that killed processes left there are removed."""
    out.parent.mkdir(parents=True, exist_ok=True)
    for left in out.parent.iterdir():
        if re.fullmatch(rf"\.{re.escape(out.name)}\.[0-9a-f]{{32}}\.tmp", left.name):
            with held_folder(left) as dead:
                if dead:
                    shutil.rmtree(left, ignore_errors=True)
    for last in (False, False, True):
        aside = out.with_name(f".{out.name}.{uuid.uuid4().hex}.tmp")
        aside.mkdir(mode=0o700)
        with held_folder(aside) as held:
            # Somebody may take it for a dead one's before it is held; where folders cannot be held, nobody does.
            if held or last:
                yield aside
                return
        shutil.rmtree(aside, ignore_errors=True)


class _Table:
    """A Parquet file that grows by row groups."""

    def __init__(self, path: Path, model: type[Model]) -> None:
        path.parent.mkdir(exist_ok=True)
        self._schema = schema_of_model(model)
        self._writer = pq.ParquetWriter(path, self._schema, compression="zstd", write_page_checksum=True)
        self._rows: list[Model] = []
        self._bytes = 0

    def add(self, row: Model, size: int) -> None:
        if self._rows and self._bytes + size > _GROUP_BYTES:
            self._flush()
        self._rows.append(row)
        self._bytes += size
        if len(self._rows) >= _GROUP_ROWS:
            self._flush()

    def close(self) -> None:
        if self._rows:
            self._flush()
        self._writer.close()

    def _flush(self) -> None:
        self._writer.write_table(to_rows(self._rows, self._schema))
        self._rows, self._bytes = [], 0


class ExportFiles:
    """Takes rendered rows and rejected ones; `close` completes the files."""

    def __init__(self, folder: Path, renderer: Renderer) -> None:
        self.paths: dict[str, str] = {}
        self._folder, self._renderer = folder, renderer
        self._tables: dict[str, _Table] = {}
        self._lines: dict[str, IO[str]] = {}
        self._rejected = _Table(folder / REJECTED, RejectedRow)
        self._pictures: set[str] = set()

    def open_split(self, split: str) -> None:
        """Begin a split's file, which a row follows, for none loads an empty one; raises RunError for an odd name."""
        if split in self.paths:
            return
        if not _SPLIT_NAME.fullmatch(split):
            raise RunError(f"tasks.split: {split!r} cannot name a file; letters, digits, '_' and '-' can")
        if self._renderer.storage == "parquet":
            self.paths[split] = f"data/{split}.parquet"
            self._tables[split] = _Table(self._folder / self.paths[split], self._renderer.model)
        else:
            self.paths[split] = f"{split}.jsonl"
            self._lines[split] = (self._folder / self.paths[split]).open("x", encoding="utf-8", newline="\n")

    def add(self, split: str, row: Row, rendered: Model) -> None:
        """Write a row, and the pictures it points to."""
        self.open_split(split)
        if split in self._tables:
            self._tables[split].add(rendered, sum(len(image.bytes) for image in row.images))
            return
        for image in row.images:
            self._picture(image.path or "", image.bytes)
        self._lines[split].write(f"{json.dumps(rendered.model_dump(), ensure_ascii=False)}\n")

    def reject(self, row: RejectedRow) -> None:
        """Write a row that was not fit."""
        self._rejected.add(row, 0)

    def close(self) -> None:
        """Complete every file."""
        for file in self._lines.values():
            file.close()
        for table in [*self._tables.values(), self._rejected]:
            table.close()

    def describe_for_llama_factory(self, shape: Shape, trainer: Trainer) -> None:
        """Write the `dataset_info.json` by which LLaMA-Factory finds the splits; other trainers need none."""
        if trainer != "llama-factory":
            return
        columns = {"messages": "messages", "images": "images"} | ({"kto_tag": "kto_tag"} if shape == "kto" else {})
        info = {
            f"pathproof_{shape}_{split}": {
                "file_name": path,
                "formatting": "sharegpt",
                "columns": columns,
                "tags": _ROLES,
            }
            for split, path in self.paths.items()
        }
        text = json.dumps(info, indent=2)
        (self._folder / DATASET_INFO).write_text(f"{text}\n", encoding="utf-8")

    def _picture(self, name: str, data: bytes) -> None:
        if name in self._pictures:
            return
        self._pictures.add(name)
        path = self._folder / PICTURES / name
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(data)
