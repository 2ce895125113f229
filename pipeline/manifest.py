"""The manifest: which parts make up a dataset, which attempts were begun, which epochs wrote.

`manifest/{epoch}-{n}.jsonl` are immutable objects, one JSON line per committed part or begun attempt; a closing line
proves the others and names the object before it. `epochs/{epoch}.json` claims an epoch and seals the objects of every
older one, so that what an overtaken driver still publishes is never read, and what is lost of the others is missed.
`run.json` says whose folder it is, whether the newest epoch ended, and then seals it too. This module reads all of it
and writes nothing; it knows nothing of what is inside a part.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import chain, islice
from pathlib import PurePosixPath
from types import MappingProxyType
from typing import Annotated, Any, Literal, NamedTuple

from pydantic import AwareDatetime, Field, TypeAdapter, ValidationError

from pipeline.actions import Model
from pipeline.closing import AlteredError, Closing, Content, Expected, closed, hash_of, proved
from pipeline.errors import ConfigError, RunError
from pipeline.file_names import (
    EPOCHS,
    MANIFEST,
    PART_PATH,
    RUN_FILE,
    ObjectName,
    claim_path,
    claimed_epoch,
    object_name,
)
from pipeline.storage import Address, Storage, storage_of, store_errors
from pipeline.words import Platform


class PartRef(Model):
    """A committed part; `path` is relative to the folder. Readers drop the parts it `replaces`."""

    kind: Literal["part"] = "part"
    table: str
    path: str = Field(pattern=PART_PATH)
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


Line = PartRef | Assigned
_LINE: TypeAdapter[Line | Closing] = TypeAdapter(Annotated[Line | Closing, Field(discriminator="kind")])


class Seal(Model):
    """The last manifest object of an epoch that counts, 0 when it published none, and what each one held.

    Contents stand in the first seal of an epoch only; before there were any, in none.
    """

    epoch: int
    last: int
    objects: list[Content] = Field(default_factory=list)


class Epoch(Model):
    """One start of a driver on the folder."""

    epoch: int
    claimed_at: AwareDatetime
    sealed: list[Seal]
    closes: bool = False
    """Whether its objects end with a closing line; those of the first datasets do not."""


RunState = Literal["running", "finished"]


class RunFile(Model):
    """`run.json`: whose folder this is, and whether the newest epoch ended by itself."""

    run_id: str
    config: dict[str, Any]
    epoch: int
    state: RunState
    started_at: AwareDatetime
    finished_at: AwareDatetime | None = None
    sealed: Seal | None = None
    """The newest epoch, once it has ended."""
    views_sha256: str | None = None
    """Hash of `views.sql` as it was written last, once the newest epoch has ended."""
    copied_at: AwareDatetime | None = None
    """When the folder was made as a redacted copy of the run; null for the run itself."""


class Problem(NamedTuple):
    """A file of the manifest that cannot be read, or is not as it was published, and why."""

    path: str
    detail: str
    altered: bool = False
    """It can be read, and says something else than it did."""


class Survey(NamedTuple):
    """Everything that could be read of a manifest, and what could not; nothing is taken from what was altered."""

    epochs: list[Epoch]
    counted: list[ObjectName]
    sealed_out: list[ObjectName]
    objects: dict[ObjectName, list[Line]]
    """The lines of each sound object that had not been read before."""
    contents: dict[ObjectName, Content]
    """What each sound object holds, also of those read before."""
    problems: list[Problem]
    missing: list[str]
    """Objects and claims that must have been there: gaps before later ones, and what is sealed."""

    @property
    def lines(self) -> list[Line]:
        """The lines of the objects, in order of publishing."""
        return [line for name in sorted(self.objects) for line in self.objects[name]]

    @property
    def whole(self) -> bool:
        """Whether no line can have been lost."""
        return not self.problems and not self.missing


_GAPS = 100
"""As many missing files are named: a wrong number in a name or a seal must not stand for millions of them."""

_NOTHING: Mapping[ObjectName, Content] = MappingProxyType({})


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
        raise RunError(
            f"{storage.url(RUN_FILE)} cannot be read ({_first_line(error)}): run `pathproof check`"
        ) from error


def pretty(run: RunFile) -> bytes:
    """`run.json` as it is written."""
    return f"{run.model_dump_json(indent=2)}\n".encode()


def survey(address: Address, known: Mapping[ObjectName, Content] = _NOTHING) -> Survey:
    """Read what can be read; never raises for what is inside the files. Objects that are `known` are not read again."""
    storage = storage_of(address)
    found = _survey(storage, known)
    # While files are added, a listing may show a later one and not yet the one before it.
    return _survey(storage, known) if found.missing else found


def whole(address: Address, known: Mapping[ObjectName, Content] = _NOTHING) -> Survey:
    """A survey of a manifest that has lost nothing; raises RunError when one file is unreadable, altered or missing."""
    found = survey(address, known)
    refuse_damage(address, found)
    return found


def refuse_damage(address: Address, found: Survey) -> None:
    """Raise RunError when a file of the manifest was unreadable, altered or missing."""
    url = storage_of(address).url
    for problem in found.problems:
        raise RunError(f"{url(problem.path)} cannot be read ({problem.detail}): run `pathproof check`")
    for path in found.missing:
        raise RunError(f"{url(path)} is missing: run `pathproof check`")


def current_parts(found: Iterable[Line]) -> dict[str, PartRef]:
    """The parts that make up the dataset, by path: those listed and not replaced."""
    parts: dict[str, PartRef] = {}
    for line in found:
        if isinstance(line, PartRef):
            parts[line.path] = line
            for path in line.replaces:
                parts.pop(path, None)
    return parts


def encoded(name: ObjectName, found: Sequence[Line], after: str) -> bytes:
    """Lines as the object of this name holds them, published after what has this hash."""
    return closed(name.path, [line.model_dump_json() for line in found], after)


class _Read(NamedTuple):
    """A sound object, and what it says it was published after."""

    lines: list[Line]
    content: Content
    after: str | None


def _survey(storage: Storage, known: Mapping[ObjectName, Content]) -> Survey:
    # Objects are listed before epochs: whatever a later claim seals out was then either seen by that claim or not yet
    # written when we looked.
    objects = _objects(storage)
    claims, hashes, problems = _claims(storage)
    seals = [*(seal for epoch in claims for seal in epoch.sealed), *_seal_of_run(storage)]
    counted = _counted(objects, claims)
    reads: dict[ObjectName, _Read] = {}
    for name, expected in _expected(claims, seals, counted).items():
        try:
            if name not in known:
                reads[name] = _read(storage, name, expected)
        except (OSError, ValueError) as error:
            problems.append(_problem(name.path, error))
    contents = {
        name: known[name] if name in known else reads[name].content for name in counted if name in {*known, *reads}
    }
    problems += _unlinked(reads, contents, hashes)
    bad = {problem.path for problem in problems}
    return Survey(
        epochs=claims,
        counted=counted,
        sealed_out=sorted(set(objects) - set(counted)),
        objects={name: read.lines for name, read in reads.items() if name.path not in bad},
        contents={name: content for name, content in contents.items() if name.path not in bad},
        problems=problems,
        missing=list(islice(_missing(claims, counted, seals, bad), _GAPS)),
    )


def _expected(
    claims: Sequence[Epoch], seals: Iterable[Seal], names: Iterable[ObjectName]
) -> dict[ObjectName, Expected]:
    """What claims and seals say of each object."""
    closing = {epoch.epoch for epoch in claims if epoch.closes}
    sealed = {
        ObjectName(seal.epoch, number): content for seal in seals for number, content in enumerate(seal.objects, 1)
    }
    return {name: Expected(name.epoch in closing, sealed.get(name)) for name in names}


def _claims(storage: Storage) -> tuple[list[Epoch], dict[int, str], list[Problem]]:
    """The claims that can be read, oldest first, with the hash of each, and those that cannot."""
    claims: dict[int, Epoch] = {}
    hashes: dict[int, str] = {}
    problems: list[Problem] = []
    for number in filter(None, map(claimed_epoch, _names(storage, EPOCHS))):
        key = claim_path(number)
        try:
            data = _bytes_of(storage, key)
            claims[number], hashes[number] = Epoch.model_validate_json(data), hash_of(data)
            if claims[number].epoch != number:
                raise AlteredError(f"claims epoch {claims.pop(number).epoch}")
        except (OSError, ValueError) as error:
            problems.append(_problem(key, error))
    return [claims[number] for number in sorted(claims)], hashes, problems


def _seal_of_run(storage: Storage) -> list[Seal]:
    """How `run.json` seals the newest epoch; nothing when it does not, or cannot be read, which others find."""
    try:
        sealed = RunFile.model_validate_json(_bytes_of(storage, RUN_FILE)).sealed
    except (OSError, ValidationError):
        return []
    return [sealed] if sealed else []


def _read(storage: Storage, name: ObjectName, expected: Expected) -> _Read:
    """One object; raises OSError, or ValueError for a line that is none and when it is not as it was published."""
    data = _bytes_of(storage, name.path)
    found = [_LINE.validate_json(line) for line in data.splitlines()]
    closings = [line if isinstance(line, Closing) else None for line in found]
    content = proved(name.path, data, closings, expected)
    if not found:
        raise AlteredError("holds no line at all")
    after = closings[-1].after if closings and closings[-1] else None
    return _Read([line for line in found if not isinstance(line, Closing)], content, after)


def _unlinked(
    reads: Mapping[ObjectName, _Read], contents: Mapping[ObjectName, Content], hashes: Mapping[int, str]
) -> Iterator[Problem]:
    """What stands before a sound object, and is not what that one was published after."""
    named = {name: content.sha256 for name, content in contents.items()}
    named |= {ObjectName(epoch, 0): sha256 for epoch, sha256 in hashes.items()}
    for name, read in reads.items():
        before = name._replace(number=name.number - 1)
        if read.after and named.get(before, read.after) != read.after:
            path = before.path if before.number else claim_path(name.epoch)
            yield Problem(path, f"is not what {name.path} was published after", altered=True)


def _missing(
    claims: Sequence[Epoch], counted: Sequence[ObjectName], seals: Iterable[Seal], bad: Collection[str]
) -> Iterator[str]:
    """Gaps in the numbers of epochs and of each epoch's objects, up to the last one known of.

    An object that is not sound tells of no other: it may be a stray file of any number.
    """
    last = {epoch.epoch: 0 for epoch in claims}
    last.update({name.epoch: name.number for name in counted if name.path not in bad})
    for seal in seals:
        last[seal.epoch] = max(seal.last, last.get(seal.epoch, 0))
    there = {name.path for name in counted} | {claim_path(epoch.epoch) for epoch in claims} | set(bad)
    for epoch in range(1, max(last, default=0) + 1):
        objects = (ObjectName(epoch, number).path for number in range(1, last.get(epoch, 0) + 1))
        yield from (path for path in chain([claim_path(epoch)], objects) if path not in there)


def _objects(storage: Storage) -> list[ObjectName]:
    """Every manifest object there is, also those that do not count, in order."""
    return sorted(filter(None, map(object_name, _names(storage, MANIFEST))))


def _counted(objects: list[ObjectName], claimed: list[Epoch]) -> list[ObjectName]:
    """The objects that no later epoch has sealed out."""
    last: dict[int, int] = {}
    for seal in (seal for epoch in claimed for seal in epoch.sealed):
        last[seal.epoch] = min(seal.last, last.get(seal.epoch, seal.last))
    return [name for name in objects if name.number <= last.get(name.epoch, name.number)]


def _bytes_of(storage: Storage, key: str) -> bytes:
    with store_errors():
        return storage.read(key)


def _names(storage: Storage, folder: str) -> list[str]:
    with store_errors():
        return list(storage.sizes(folder))


def _problem(path: str, error: Exception) -> Problem:
    return Problem(path, _first_line(error), isinstance(error, AlteredError))


def _first_line(error: Exception) -> str:
    return str(error).splitlines()[0]
