"""Tables that are narrower than declared, brought to the declared schema without losing anything.

A part of an older schema version lacks columns or has other names in its structs, and one that has drifted lacks struct
fields or has a column of nulls without a type. What is missing becomes null, or the record's own default. What the
declared schema has no place for is refused, never dropped. This module knows tables and records, nothing of files.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from itertools import chain
from types import UnionType
from typing import Any, NamedTuple, Union, get_args, get_origin

import pyarrow as pa

from pipeline.actions import Model
from pipeline.errors import RunError
from pipeline.schema import RENAMED, RUN_ID, TABLES, columns_of, schema_of, without_none

_BATCH = 1000

_RENAMING = frozenset(place for place, _ in RENAMED)
"""Columns whose structs have other names in older parts, all of which are read by name."""


class Misfit(NamedTuple):
    """A column, or a field within it, that cannot be brought to the declared schema."""

    where: str
    why: str
    naive: bool = False
    """It holds times without a zone."""


def misfit(found: pa.Schema, name: str) -> Misfit | None:
    """Why rows of this schema cannot become rows of the table, whatever they hold; null when they can."""
    there, declared = pa.struct(list(found)), pa.struct(list(schema_of(name)))
    if there.get_field_index(RUN_ID) < 0:
        return Misfit(f"{name}.{RUN_ID}", "is missing")
    return next(chain(_foreign(there, declared, name), _lacking(there, TABLES[name], name)), None)


def widened(table: pa.Table, name: str, columns: Collection[str] | None = None) -> pa.Table:
    """The rows in the declared schema of this table, or in these columns of it.

    Raises RunError for what would not be a widening.
    """
    schema = _selected(schema_of(name), columns)
    if table.schema.equals(schema):
        return table.replace_schema_metadata(schema.metadata)
    _refuse_loss(pa.struct(list(table.schema)), pa.struct(list(schema)), name)
    if RUN_ID in set(schema.names) - set(table.schema.names):
        raise RunError(f"{name}.{RUN_ID}: is missing, and nobody knows whose rows these are")
    batches = [_completed(batch, name, schema) for batch in table.to_batches(max_chunksize=_BATCH)]
    return pa.Table.from_batches(batches, schema=schema)


def _selected(schema: pa.Schema, columns: Collection[str] | None) -> pa.Schema:
    if columns is None:
        return schema
    return pa.schema([field for field in schema if field.name in columns], metadata=schema.metadata)


def _completed(batch: pa.RecordBatch, name: str, schema: pa.Schema) -> pa.RecordBatch:
    rows = [_complete(row, TABLES[name], set(schema.names), name) for row in batch.to_pylist()]
    try:
        return pa.RecordBatch.from_pylist(rows, schema=schema)
    except (pa.ArrowException, TypeError) as error:
        raise RunError(f"{name}: rows do not fit the declared schema: {error}") from error


def _complete(row: Mapping[str, Any], model: type[Model], wanted: Collection[str], where: str) -> dict[str, Any]:
    """The row with every wanted field of its model that it lacked; nulls Arrow fills in by itself."""
    found = {RENAMED.get((where, name), name): value for name, value in row.items()}
    for field, info in columns_of(model).items():
        if field not in wanted:
            continue
        bare, optional = without_none(info.annotation)
        place = f"{where}.{field}"
        if found.get(field) is not None:
            found[field] = _nested(found[field], bare, place)
        elif not optional:
            if info.is_required():
                raise RunError(f"{place}: has no value in an older part, and the schema knows no default")
            found[field] = _plain(info.get_default(call_default_factory=True))
    return found


def _nested(value: Any, annotation: Any, where: str) -> Any:
    """The value with what its structs lacked. Of a union each member lacks the others' fields: those are null."""
    if get_origin(annotation) is list:
        (element,) = get_args(annotation)
        return [_nested(one, without_none(element)[0], where) for one in value]
    if get_origin(annotation) in (Union, UnionType) or not isinstance(value, dict):
        return value
    return _complete(value, annotation, set(columns_of(annotation)), where)


def _plain(value: Any) -> Any:
    return value.model_dump(by_alias=True) if isinstance(value, Model) else value


def _foreign(found: pa.DataType, declared: pa.DataType, where: str) -> Iterator[Misfit]:
    """What is there, and has no place or another type in the declared one."""
    if pa.types.is_struct(found) and pa.types.is_struct(declared):
        renamed = {new for (place, _), new in RENAMED.items() if place == where}
        for field in found:
            name = RENAMED.get((where, field.name), field.name)
            if declared.get_field_index(name) < 0 or field.name in renamed:
                yield Misfit(f"{where}.{field.name}", "is not declared")
            else:
                yield from _foreign(field.type, declared.field(name).type, f"{where}.{name}")
    elif pa.types.is_list(found) and pa.types.is_list(declared):
        yield from _foreign(found.value_type, declared.value_type, where)
    elif pa.types.is_timestamp(found) and found.tz is None:
        yield Misfit(where, "has times without a zone", naive=True)
    elif found != declared:
        yield Misfit(where, f"is {found}, declared {declared}")


def _lacking(found: pa.DataType, annotation: Any, where: str) -> Iterator[Misfit]:
    """What is not there, and cannot be filled in; members of a union lack each other's fields."""
    if get_origin(annotation) is list:
        yield from _lacking(found.value_type, without_none(get_args(annotation)[0])[0], where)
    elif isinstance(annotation, type) and issubclass(annotation, Model) and pa.types.is_struct(found):
        names = {RENAMED.get((where, field.name), field.name): field.type for field in found}
        for field, info in columns_of(annotation).items():
            bare, optional = without_none(info.annotation)
            if field in names:
                yield from _lacking(names[field], bare, f"{where}.{field}")
            elif {where, f"{where}.{field}"} & _RENAMING or (info.is_required() and not optional):
                yield Misfit(f"{where}.{field}", "is missing, and the schema knows no default")


def _refuse_loss(found: pa.DataType, declared: pa.DataType, where: str) -> None:
    """Raise for what has no place in the declared type."""
    if pa.types.is_null(found):
        return
    if pa.types.is_struct(found) and pa.types.is_struct(declared):
        for field in found:
            name = RENAMED.get((where, field.name), field.name)
            if declared.get_field_index(name) < 0:
                raise RunError(f"{where}.{field.name}: is not declared, and would be lost")
            _refuse_loss(field.type, declared.field(name).type, f"{where}.{name}")
    elif pa.types.is_list(found) and pa.types.is_list(declared):
        _refuse_loss(found.value_type, declared.value_type, where)
    elif pa.types.is_timestamp(found) and found.tz is None:
        raise RunError(f"{where}: has times without a zone, and nobody knows which was meant")
