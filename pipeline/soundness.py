"""Whether a listed part can be trusted: there, whole, unchanged, and of the declared schema.

Whoever makes something new of a dataset asks `require_sound` first, so that damage is never copied into what looks
whole. Knows one part at a time; what parts say about each other is for check.py.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Collection, Iterable
from concurrent.futures import ThreadPoolExecutor
from typing import Literal, NamedTuple

import pyarrow as pa
import pyarrow.parquet as pq

from pipeline import manifest
from pipeline.errors import RunError
from pipeline.manifest import PartRef, Survey
from pipeline.schema import SCHEMA_VERSION, TABLES, schema_of
from pipeline.storage import Address, storage_of, store_errors
from pipeline.widening import misfit

FlawKind = Literal[
    "missing_part",
    "empty_file",
    "half_file",
    "wrong_size",
    "wrong_hash",
    "wrong_rows",
    "schema_drift",
    "naive_timestamp",
    "unknown_table",
    "unknown_schema_version",
]

_CHUNK = 8 << 20
_AT_ONCE = 8


class Flaw(NamedTuple):
    """One thing that is wrong with a part, with what was expected and found."""

    kind: FlawKind
    detail: str


class Inspection(NamedTuple):
    """A manifest, the parts that make up the dataset, and what is wrong with each of them, by path."""

    survey: Survey
    parts: dict[str, PartRef]
    flaws: dict[str, list[Flaw]]

    @property
    def sound(self) -> list[PartRef]:
        """The parts with which nothing is wrong."""
        return [part for path, part in self.parts.items() if not self.flaws[path]]


def inspected(address: Address, *, hashed: Callable[[PartRef], bool]) -> Inspection:
    """A dataset as it is now; never raises for what is inside the files."""
    found = _inspected(address, hashed)
    if any(flaw.kind == "missing_part" for flaws in found.flaws.values() for flaw in flaws):
        # Perhaps a compaction has replaced and removed it since the manifest was read.
        listed = manifest.current_parts(manifest.survey(address).lines)
        return found if listed == found.parts else _inspected(address, hashed)
    return found


def require_sound(address: Address, allowed: Collection[FlawKind] = ()) -> Inspection:
    """A dataset that has lost nothing: every byte of it is read; raises RunError otherwise, but for `allowed` flaws."""
    found = inspected(address, hashed=lambda _: True)
    manifest.refuse_damage(address, found.survey)
    for path, flaws in found.flaws.items():
        for flaw in (flaw for flaw in flaws if flaw.kind not in allowed):
            url = storage_of(address).url(path)
            raise RunError(f"{url}: {flaw.kind}, {flaw.detail}: nothing was done; run `pathproof check`")
    return found


def _inspected(address: Address, hashed: Callable[[PartRef], bool]) -> Inspection:
    found = manifest.survey(address)
    parts = manifest.current_parts(found.lines)
    return Inspection(found, parts, examined(address, parts.values(), hashed=hashed))


def examined(address: Address, parts: Iterable[PartRef], *, hashed: Callable[[PartRef], bool]) -> dict[str, list[Flaw]]:
    """What is wrong with each part, by path; several at a time, for an object store answers slowly but to many."""
    storage = storage_of(address)
    listed = list(parts)
    with ThreadPoolExecutor(_AT_ONCE) as pool, store_errors():
        flaws = pool.map(lambda part: flaws_of(storage, part, hashed=hashed(part)), listed)
        return {part.path: found for part, found in zip(listed, flaws, strict=True)}


def flaws_of(address: Address, part: PartRef, *, hashed: bool) -> list[Flaw]:
    """What is wrong with a part; `hashed` also reads every byte of it."""
    storage = storage_of(address)
    try:
        storage.refuse_odd(part.path)
        file = storage.files.open_input_file(part.path)
    except OSError as error:
        storage.size(part.path)  # a store that does not answer is no missing part: it says so itself
        return [Flaw("missing_part", f"the file is not there: {error}")]
    with file:
        size = file.size()
        if size == 0:
            return [Flaw("empty_file", f"0 of {part.bytes} bytes")]
        sha256 = digest_of(file) if hashed and size == part.bytes else part.sha256
        try:
            metadata = pq.read_metadata(file)
            found = metadata.schema.to_arrow_schema()
        except (OSError, pa.ArrowException) as error:
            return [
                Flaw("half_file", f"{size} of {part.bytes} bytes, no readable footer: {str(error).splitlines()[0]}")
            ]
    flaws = [_byte_flaw(size, sha256, part), _row_flaw(metadata.num_rows, part), schema_flaw(found, part)]
    return [flaw for flaw in flaws if flaw]


def schema_flaw(found: pa.Schema, part: PartRef) -> Flaw | None:
    """How a part's schema differs from the declared one; that of an older version, in what cannot be widened."""
    if part.table not in TABLES:
        return Flaw("unknown_table", part.table)
    if part.schema_version > SCHEMA_VERSION:
        return Flaw("unknown_schema_version", f"version {part.schema_version} is newer than {SCHEMA_VERSION}")
    declared = schema_of(part.table)
    if part.schema_version < SCHEMA_VERSION:
        return _misfit_flaw(found, part)
    if found.equals(declared):
        return None
    for name in [*declared.names, *found.names]:
        finding = _field_flaw(name, declared, found)
        if finding:
            return finding
    return Flaw("schema_drift", "the columns stand in another order")


def _misfit_flaw(found: pa.Schema, part: PartRef) -> Flaw | None:
    wrong = misfit(found, part.table)
    if wrong is None:
        return None
    kind: FlawKind = "naive_timestamp" if wrong.naive else "schema_drift"
    return Flaw(kind, f"{wrong.where} {wrong.why} (version {part.schema_version})")


def _byte_flaw(size: int, sha256: str, part: PartRef) -> Flaw | None:
    if size != part.bytes:
        return Flaw("wrong_size", f"{size} bytes, listed with {part.bytes}")
    if sha256 != part.sha256:
        return Flaw("wrong_hash", "the bytes are not the ones that were listed")
    return None


def _row_flaw(rows: int, part: PartRef) -> Flaw | None:
    return Flaw("wrong_rows", f"{rows} rows, listed with {part.rows}") if rows != part.rows else None


def _field_flaw(name: str, declared: pa.Schema, found: pa.Schema) -> Flaw | None:
    if name not in declared.names:
        return Flaw("schema_drift", f"column {name} is not declared")
    if name not in found.names:
        return Flaw("schema_drift", f"column {name} is missing")
    right, actual = declared.field(name), found.field(name)
    if right.equals(actual):
        return None
    if pa.types.is_timestamp(actual.type) and actual.type.tz is None:
        return Flaw("naive_timestamp", f"column {name} has times without a zone")
    return Flaw("schema_drift", f"column {name} is {actual.type}, declared {right.type}")


def digest_of(file: pa.NativeFile) -> str:
    """The hash of an open file's bytes, read piece by piece."""
    digest = hashlib.sha256()
    while chunk := file.read(_CHUNK):
        digest.update(chunk)
    return digest.hexdigest()
