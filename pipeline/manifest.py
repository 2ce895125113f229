"""The manifest: which parts make up a dataset, which attempts were begun, which epochs wrote.

`manifest/{epoch}-{n}.jsonl` are immutable objects, one JSON line per committed part or begun attempt.
`epochs/{epoch}.json` claims an epoch and seals the last object of every older one, so that what an overtaken driver
still publishes is never read. `run.json` says whose folder it is and whether the newest epoch ended. This module
reads all of it and writes nothing; it knows nothing of what is inside a part.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from pathlib import PurePosixPath
from typing import Annotated, Any, Literal, NamedTuple

from pydantic import AwareDatetime, Field, TypeAdapter, ValidationError

from pipeline.actions import Model
from pipeline.errors import ConfigError, RunError
from pipeline.storage import Address, Storage, storage_of, store_errors
from pipeline.words import Platform

MANIFEST = "manifest"
EPOCHS = "epochs"
RUN_FILE = "run.json"

_OBJECT = re.compile(r"\d+-\d+\.jsonl")
_EPOCH = re.compile(r"\d+\.json")
WORKER = r"[A-Za-z0-9][A-Za-z0-9_.-]*"
"""What a worker's name looks like, as part of a file name."""

_PART = re.compile(rf"part-(\d+)-({WORKER})-(\d+)\.parquet")
_PART_PATH = rf"^[a-z_]+/part-\d+-{WORKER}-\d+\.parquet$"


class PartRef(Model):
    """A committed part; `path` is relative to the folder. Readers drop the parts it `replaces`."""

    kind: Literal["part"] = "part"
    table: str
    path: str = Field(pattern=_PART_PATH)
    rows: int
    bytes: int
    sha256: str
    schema_version: int
    replaces: list[str] = Field(default_factory=list)

    @property
    def stem(self) -> str:
        """The file's name without its ending; parts of one flush share it across tables."""
        return PurePosixPath(self.path).stem


class Assigned(Model):
    """An attempt that is about to begin: enough to write it down as lost when it is never reported."""

    kind: Literal["assigned"] = "assigned"
    epoch: int
    attempt_id: str
    trajectory_id: str
    task_id: str
    policy_id: str
    policy: str
    seed: int
    round: int = 0
    start_segment: int = 0
    prefix_attempt_id: str | None = None
    number: int
    app_id: str
    app_ids: list[str]
    platform: Platform
    worker: str
    node: str
    assigned_at: AwareDatetime


ManifestLine = Annotated[PartRef | Assigned, Field(discriminator="kind")]

_LINE: TypeAdapter[PartRef | Assigned] = TypeAdapter(ManifestLine)


class Seal(Model):
    """The last manifest object of an older epoch that counts; 0 when it published none."""

    epoch: int
    last: int


class Epoch(Model):
    """One start of a driver on the folder."""

    epoch: int
    claimed_at: AwareDatetime
    sealed: list[Seal]


class RunFile(Model):
    """`run.json`: whose folder this is, and whether the newest epoch ended by itself."""

    run_id: str
    config: dict[str, Any]
    epoch: int
    state: Literal["running", "finished"]
    started_at: AwareDatetime
    finished_at: AwareDatetime | None = None


class Problem(NamedTuple):
    """A file of the manifest that cannot be read, and why."""

    path: str
    detail: str


class ObjectName(NamedTuple):
    """The name of a manifest object; sorts in the order of publishing."""

    epoch: int
    number: int

    @property
    def path(self) -> str:
        """Relative to the folder."""
        return f"{MANIFEST}/{self.epoch}-{self.number}.jsonl"


class PartName(NamedTuple):
    """What a part's file name says."""

    epoch: int
    worker: str
    number: int

    def __str__(self) -> str:
        return f"part-{self.epoch}-{self.worker}-{self.number}.parquet"


class Survey(NamedTuple):
    """Everything that could be read of a manifest, and what could not."""

    epochs: list[Epoch]
    counted: list[ObjectName]
    sealed_out: list[ObjectName]
    lines: list[PartRef | Assigned]
    problems: list[Problem]


def part_name(file_name: str) -> PartName | None:
    """What a file name says, or null when it is not a part's."""
    match = _PART.fullmatch(file_name)
    return PartName(int(match[1]), match[2], int(match[3])) if match else None


def storage_with_manifest(address: Address) -> Storage:
    """The storage of a dataset; raises ConfigError when there is no manifest in it."""
    storage = storage_of(address)
    with store_errors():
        there = storage.has(MANIFEST)
    if not there:
        raise ConfigError(f"{storage.address} is not a dataset folder: it has no {MANIFEST}")
    return storage


def read_run(address: Address) -> RunFile:
    """`run.json`; raises ConfigError when the folder is no dataset, RunError when the file is damaged."""
    storage = storage_of(address)
    try:
        with store_errors():
            return RunFile.model_validate_json(storage.read(RUN_FILE))
    except FileNotFoundError:
        missing = f"it has no {RUN_FILE} (`pathproof collect --out` begins one)"
        raise ConfigError(f"{storage.address} is not a dataset folder: {missing}") from None
    except (OSError, ValidationError) as error:
        raise _damaged(storage, RUN_FILE, error) from error


def survey(address: Address) -> Survey:
    """Read what can be read; never raises for what is inside the files."""
    # Objects are listed before epochs: whatever a later claim seals out was then either seen by that claim or not yet
    # written when we looked.
    storage = storage_of(address)
    objects = _objects(storage)
    claimed: list[Epoch] = []
    problems: list[Problem] = []
    for key in _keys(storage, EPOCHS, _EPOCH):
        try:
            with store_errors():
                claimed.append(Epoch.model_validate_json(storage.read(key)))
        except (OSError, ValidationError) as error:
            problems.append(Problem(key, _first_line(error)))
    claimed.sort(key=lambda epoch: epoch.epoch)
    counted = _counted(objects, claimed)
    lines: list[PartRef | Assigned] = []
    for name in counted:
        try:
            lines += _lines_of(storage, name)
        except (OSError, ValidationError) as error:
            problems.append(Problem(name.path, _first_line(error)))
    return Survey(claimed, counted, [name for name in objects if name not in set(counted)], lines, problems)


def epochs(address: Address) -> list[Epoch]:
    """Every claimed epoch, oldest first; raises RunError when one cannot be read."""
    storage = storage_of(address)
    found = (_read_epoch(storage, key) for key in _keys(storage, EPOCHS, _EPOCH))
    return sorted(found, key=lambda epoch: epoch.epoch)


def object_names(address: Address) -> list[ObjectName]:
    """The manifest objects that count, in order of publishing; raises RunError when an epoch cannot be read."""
    objects = _objects(storage_of(address))
    return _counted(objects, epochs(address))


def read_object(address: Address, name: ObjectName) -> list[PartRef | Assigned]:
    """The lines of one manifest object; raises RunError when it cannot be read."""
    storage = storage_of(address)
    try:
        return _lines_of(storage, name)
    except (OSError, ValidationError) as error:
        raise _damaged(storage, name.path, error) from error


def current_parts(found: Iterable[PartRef | Assigned]) -> dict[str, PartRef]:
    """The parts that make up the dataset, by path: those listed and not replaced."""
    parts: dict[str, PartRef] = {}
    for line in found:
        if isinstance(line, PartRef):
            parts[line.path] = line
            for path in line.replaces:
                parts.pop(path, None)
    return parts


def encoded(found: Sequence[PartRef] | Sequence[Assigned]) -> bytes:
    """Lines as a manifest object holds them."""
    return "".join(f"{line.model_dump_json()}\n" for line in found).encode()


def _objects(storage: Storage) -> list[ObjectName]:
    """Every manifest object there is, also those that do not count, in order."""
    names = (PurePosixPath(key).stem.split("-") for key in _keys(storage, MANIFEST, _OBJECT))
    return sorted(ObjectName(int(epoch), int(number)) for epoch, number in names)


def _counted(objects: list[ObjectName], claimed: list[Epoch]) -> list[ObjectName]:
    """The objects that no later epoch has sealed out."""
    last: dict[int, int] = {}
    for seal in (seal for epoch in claimed for seal in epoch.sealed):
        last[seal.epoch] = min(seal.last, last.get(seal.epoch, seal.last))
    return [name for name in objects if name.number <= last.get(name.epoch, name.number)]


def _lines_of(storage: Storage, name: ObjectName) -> list[PartRef | Assigned]:
    with store_errors():
        return [_LINE.validate_json(line) for line in storage.read(name.path).splitlines()]


def _read_epoch(storage: Storage, key: str) -> Epoch:
    try:
        with store_errors():
            return Epoch.model_validate_json(storage.read(key))
    except (OSError, ValidationError) as error:
        raise _damaged(storage, key, error) from error


def _keys(storage: Storage, folder: str, pattern: re.Pattern[str]) -> list[str]:
    with store_errors():
        return [f"{folder}/{name}" for name in storage.sizes(folder) if pattern.fullmatch(name)]


def _damaged(storage: Storage, key: str, error: Exception) -> RunError:
    return RunError(f"{storage.url(key)} cannot be read ({_first_line(error)}): run `pathproof check`")


def _first_line(error: Exception) -> str:
    return str(error).splitlines()[0]
