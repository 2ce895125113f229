"""Catalogs in folders and files: rows of a dataset, a file to be read by people, and the way back.

A dataset folder keeps every round of a catalog; read back, the newest row of each capability counts. A folder that is
no dataset yet becomes one. Knows nothing of how capabilities are found.
"""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple
from uuid import uuid4

import yaml
from pydantic import ValidationError

from pipeline.actions import Model
from pipeline.dataset import Dataset
from pipeline.errors import ConfigError, RunError, first_problem
from pipeline.file_names import RUN_FILE
from pipeline.manifest import read_run
from pipeline.records import ModelCall, digest
from pipeline.sinks import Committer, PartWriter
from pipeline.storage import LOCK_NAMES, Address, Storage, driver_lock, storage_of
from pipeline.tasks import Capability
from pipeline.user_files import rows_of, text_of, yaml_of

FILES = (".yaml", ".yml", ".jsonl")
"""Endings of files that hold a catalog."""
_WRITER = "catalog"


class CatalogFolder(NamedTuple):
    """A dataset folder that is held for writing; `round` is the first that no capability in it has."""

    storage: Storage
    run_id: str
    round: int
    committer: Committer


@contextlib.contextmanager
def catalog_folder(out: Address, config: Mapping[str, Any]) -> Iterator[CatalogFolder]:
    """The folder, held for the length of the block; one without a run becomes one. Raises RunError."""
    storage = storage_of(out)
    is_run = storage.size(RUN_FILE) is not None
    if not is_run and storage.occupied(LOCK_NAMES):
        raise RunError(f"--out: {storage.address} holds something else than a run")
    with driver_lock(storage):
        stored = read_run(storage) if is_run else None
        rounds = [row.round for row in Dataset(storage).rows(Capability)] if is_run else []
        run_id = stored.run_id if stored is not None else digest("run", uuid4().hex)
        committer = Committer.claim(storage, run_id, stored.config if stored is not None else config)
        yield CatalogFolder(storage, run_id, max(rounds, default=-1) + 1, committer)
        committer.leave()


def write_catalog(
    out: str, capabilities: Sequence[Capability], calls: Sequence[ModelCall], config: Mapping[str, Any]
) -> None:
    """Write a catalog to a file by its ending, or as a new round of a dataset folder; raises RunError or SinkError."""
    if out.endswith(FILES):
        _write_file(Path(out), capabilities)
        return
    with catalog_folder(out, config) as folder:
        writer = PartWriter(folder.storage, folder.run_id, folder.committer.epoch, _WRITER)
        writer.add(capability.model_copy(update={"round": folder.round}) for capability in capabilities)
        writer.add(calls)
        batch = writer.flush()
        if batch is not None:
            folder.committer.publish(batch)


def read_catalog(place: str) -> list[Capability]:
    """The newest row of every capability in a file or a dataset folder; raises ConfigError or RunError."""
    rows = _read_file(Path(place)) if place.endswith(FILES) else Dataset(place).rows(Capability)
    newest = {(row.capability_id, row.language): row for row in sorted(rows, key=lambda row: row.round)}
    return [newest[key] for key in sorted(newest)]


def _write_file(path: Path, capabilities: Sequence[Capability]) -> None:
    rows = [_plain(capability) for capability in capabilities]
    if path.suffix == ".jsonl":
        text = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
    else:
        text = yaml.safe_dump({"capabilities": rows}, allow_unicode=True, sort_keys=False, width=120)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise ConfigError(f"--out: '{path}' cannot be written ({error})") from error


def _plain(row: Model) -> dict[str, Any]:
    """What a person reads: nothing that is as it would be anyway."""
    tree: dict[str, Any] = row.model_dump(mode="json", exclude_defaults=True)
    return tree


def _read_file(path: Path) -> list[Capability]:
    text, name = text_of(path), str(path)
    if path.suffix == ".jsonl":
        rows = [(line.place, row) for line, row in rows_of(text, name)]
    else:
        tree = yaml_of(text, name)
        listed = tree.get("capabilities") if isinstance(tree, dict) else None
        if not isinstance(listed, list):
            raise ConfigError(f"{path}: a catalog holds a list of `capabilities`")
        rows = [(f"{path}, capability {number}", row) for number, row in enumerate(listed, 1)]
    if not rows:
        raise ConfigError(f"{path}: holds no capabilities")
    return [_capability(place, row) for place, row in rows]


def _capability(place: str, row: object) -> Capability:
    try:
        return Capability.model_validate(row)
    except ValidationError as error:
        raise ConfigError(f"{place}: {first_problem(error)}") from error
