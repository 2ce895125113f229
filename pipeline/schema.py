"""Records <-> Arrow: every table's schema, derived from its record, and exact conversion both ways.

The rules are few: text and closed words become strings, times microseconds in UTC, models structs, lists lists, an
optional field a nullable one; an action becomes one struct with `type` and the fields of all actions. Every table
begins with `run_id`. No type is ever inferred from values, so a column that is all null keeps its type. This module
knows nothing of files.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime
from functools import cache
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, TypeVar, Union, get_args, get_origin

import pyarrow as pa
from pydantic import AwareDatetime
from pydantic.fields import FieldInfo

from pipeline import records as r
from pipeline.actions import Model
from pipeline.grounding import Grounding
from pipeline.puzzle_rows import PuzzleRow
from pipeline.structs import Image
from pipeline.tasks import Capability, TaskSpec

SCHEMA_VERSION = 2
"""Written into every part's footer and manifest line; it rises when a table's columns change."""

RENAMED: Mapping[tuple[str, str], str] = {
    ("frames.sensitive", "kind"): "class",
    ("trees.sensitive", "kind"): "class",
}
"""What fields of structs are called now: by the column that holds the structs, and the name in version 1."""

VERSION_KEY = b"pathproof.schema_version"
RUN_ID = "run_id"

TABLES: Mapping[str, type[Model]] = {
    "attempts": r.Attempt,
    "candidates": r.Candidate,
    "capabilities": Capability,
    "checks": r.CheckResult,
    "events": r.Event,
    "frames": r.Frame,
    "grounding": Grounding,
    "keypoints": r.Keypoint,
    "model_calls": r.ModelCall,
    "observations": r.ObservationRow,
    "passes": r.PassRow,
    "probe_reads": r.ProbeRead,
    "prompts": r.Prompt,
    "puzzles": PuzzleRow,
    "rejections": r.Rejection,
    "runs": r.RunRow,
    "steps": r.Step,
    "tasks": TaskSpec,
    "trajectories": r.Trajectory,
    "transitions": r.Transition,
    "trees": r.Tree,
    "validations": r.Validation,
    "verdicts": r.Verdict,
    "votes": r.Vote,
}
"""Every table, by name, and the record that is its row."""

LATER = frozenset({"grounding", "puzzles"})
"""Tables that came after the first folders of this schema version: those may lack a part of them."""

_IMAGE = pa.struct([pa.field("bytes", pa.binary()), pa.field("path", pa.string())])
"""A picture as Hugging Face stores it."""

_IMAGES = pa.list_(_IMAGE)
"""Several of them."""

_PICTURES: Mapping[Any, pa.DataType] = {Image: _IMAGE, list[Image]: _IMAGES}

_SURROGATES = re.compile("[\ud800-\udfff]")

_NAMES = {kind: name for name, kind in TABLES.items()}

_SCALARS: Mapping[Any, pa.DataType] = {
    str: pa.string(),
    int: pa.int64(),
    float: pa.float64(),
    bool: pa.bool_(),
    bytes: pa.binary(),
    datetime: pa.timestamp("us", tz="UTC"),
    AwareDatetime: pa.timestamp("us", tz="UTC"),
}

Row = TypeVar("Row", bound=Model)


def table_name(kind: type[Model]) -> str:
    """The table that holds rows of this record; raises TypeError for a model that is no row."""
    try:
        return _NAMES[kind]
    except KeyError:
        raise TypeError(f"{kind.__name__} is not the row of any table") from None


@cache
def schema_of(name: str) -> pa.Schema:
    """The declared schema of a table."""
    fields = [pa.field(RUN_ID, pa.string(), nullable=False), *_fields(TABLES[name])]
    return pa.schema(fields, metadata={VERSION_KEY: str(SCHEMA_VERSION).encode(), **_features(fields)})


@cache
def schema_of_model(model: type[Model]) -> pa.Schema:
    """The schema of rows that belong to no table, for example exported ones."""
    fields = _fields(model)
    return pa.schema(fields, metadata=_features(fields))


def to_rows(rows: Iterable[Model], schema: pa.Schema) -> pa.Table:
    """Rows that belong to no table as an Arrow table."""
    return _encoded([row.model_dump(by_alias=True) for row in rows], schema)


def to_table(kind: type[Row], rows: Iterable[Row], run_id: str) -> pa.Table:
    """The rows as an Arrow table of the declared schema."""
    plain = [{RUN_ID: run_id, **row.model_dump(by_alias=True)} for row in rows]
    return _encoded(plain, schema_of(table_name(kind)))


def of_table(kind: type[Row], table: pa.Table) -> list[Row]:
    """The rows of an Arrow table as records: the exact inverse of `to_table`."""
    unions = _union_columns(kind)
    rows = []
    for batch in table.to_batches(max_chunksize=1000):
        for plain in batch.to_pylist():
            plain.pop(RUN_ID, None)
            for column in unions:
                plain[column] = _without_nulls(plain[column])
            rows.append(kind.model_validate(plain))
    return rows


def describe() -> str:
    """Every table's columns as text, for review: one column a line."""
    return "\n".join(line for name in TABLES for line in _described(name)) + "\n"


def _encoded(plain: list[dict[str, Any]], schema: pa.Schema) -> pa.Table:
    try:
        return pa.Table.from_pylist(plain, schema=schema)
    except UnicodeEncodeError:
        # Text from pages may hold halves of surrogate pairs, which no UTF-8 file can store.
        return pa.Table.from_pylist([_encodable(row) for row in plain], schema=schema)


def _features(fields: Iterable[pa.Field]) -> dict[bytes, bytes]:
    """What tells the Hugging Face reader which columns are pictures, or lists of them."""
    image = {"_type": "Image"}
    features = {field.name: image for field in fields if field.type == _IMAGE}
    # Readers of all versions know `Sequence`; the newer word for it, `List`, only newer ones.
    features |= {field.name: {"feature": image, "_type": "Sequence"} for field in fields if field.type == _IMAGES}
    return {b"huggingface": json.dumps({"info": {"features": features}}).encode()} if features else {}


def _described(name: str) -> Iterator[str]:
    yield f"{name}"
    for field in schema_of(name):
        yield f"    {field.name}: {field.type}{'' if field.nullable else ' not null'}"


def _fields(model: type[Model]) -> list[pa.Field]:
    return [_field(name, info.annotation) for name, info in columns_of(model).items()]


def columns_of(model: type[Model]) -> dict[str, FieldInfo]:
    """A model's fields by the names of their columns, which differ where Python keeps a word for itself."""
    return {info.serialization_alias or name: info for name, info in model.model_fields.items()}


def _field(name: str, annotation: Any) -> pa.Field:
    bare, optional = without_none(annotation)
    kind = _type_of(bare)
    # The Hugging Face reader compares whole fields, and its own Image is nullable throughout.
    return pa.field(name, kind, nullable=optional or kind in (_IMAGE, _IMAGES))


def _type_of(annotation: Any) -> pa.DataType:
    origin = get_origin(annotation)
    if annotation in _PICTURES:
        return _PICTURES[annotation]
    if annotation in _SCALARS:
        return _SCALARS[annotation]
    if origin is Literal:
        return pa.string()
    if origin is list:
        return pa.list_(_field("element", *get_args(annotation)))
    if origin in (Union, UnionType):
        return pa.struct(_union_fields(get_args(annotation)))
    if isinstance(annotation, type) and issubclass(annotation, Model):
        return pa.struct(_fields(annotation))
    raise TypeError(f"no column type for {annotation!r}")


def _union_fields(models: Iterable[type[Model]]) -> list[pa.Field]:
    """`type`, then every other field of the models, nullable, by name."""
    kinds = {field.name: field.type for model in models for field in _fields(model)}
    return [pa.field("type", kinds.pop("type"), nullable=False)] + [
        pa.field(name, kinds[name]) for name in sorted(kinds)
    ]


def without_none(annotation: Any) -> tuple[Any, bool]:
    """The annotation without `| None` and `Annotated`, and whether it had `| None`."""
    if get_origin(annotation) is Annotated:
        return without_none(get_args(annotation)[0])
    members = get_args(annotation) if get_origin(annotation) in (Union, UnionType) else ()
    rest = [member for member in members if member is not NoneType]
    if len(rest) == 1:
        return without_none(rest[0])[0], True
    return annotation, False


@cache
def _union_columns(kind: type[Model]) -> tuple[str, ...]:
    return tuple(
        name
        for name, info in kind.model_fields.items()
        if get_origin(without_none(info.annotation)[0]) in (Union, UnionType)
    )


def _without_nulls(struct: dict[str, Any] | None) -> dict[str, Any] | None:
    """Only the fields this action has: none of its own fields is optional."""
    return None if struct is None else {name: value for name, value in struct.items() if value is not None}


def _encodable(value: Any) -> Any:
    """The value with text that cannot be encoded replaced, character by character, by U+FFFD."""
    match value:
        case str():
            return _SURROGATES.sub("\N{REPLACEMENT CHARACTER}", value)
        case dict():
            return {key: _encodable(inner) for key, inner in value.items()}
        case list():
            return [_encodable(inner) for inner in value]
        case _:
            return value
