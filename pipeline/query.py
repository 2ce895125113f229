"""SQL over datasets: the shipped views, and DuckDB over the sound, listed parts of one or several folders.

A view's definition is a file of `pipeline/views`. The tables themselves are views too; pictures and trees, which may
repeat across parts, show each hash once. A folder that is damaged gives fewer rows, never an error: `check` tells what
is wrong. This module knows nothing of records.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import cache
from importlib import resources
from typing import Any, NamedTuple

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
from duckdb.sqltypes import DuckDBPyType
from fsspec import AbstractFileSystem

from pipeline import manifest
from pipeline.errors import ConfigError
from pipeline.manifest import PartRef
from pipeline.schema import RENAMED, RUN_ID, SCHEMA_VERSION, TABLES, schema_of
from pipeline.soundness import inspected
from pipeline.storage import Address, Storage, storage_of
from pipeline.vanishing import looked_again, vanishing

VIEWS = (
    "trace_grades",
    "step_grades",
    "usable",
    "accepted",
    "accepted_refusals",
    "yield_by_app",
    "cost_per_accepted",
    "coverage",
    "faults",
    "contract_scores",
    "rl_steps",
    "verdict_changes",
    "grounding_balance",
    "puzzle_scores",
)
"""The shipped views; each may use the ones before it."""

_DISTINCT = frozenset({"frames", "trees"})
"""Tables whose rows may repeat across parts; also the ones too heavy to be hashed where they are not asked for."""

_READING = frozenset({duckdb.StatementType.SELECT, duckdb.StatementType.EXPLAIN, duckdb.StatementType.CREATE})
"""Kinds of statement that are run; DESCRIBE, SHOW, SUMMARIZE and FROM are of the first."""

_WRITE_RESULTS = "to keep its rows: --format parquet > rows.parquet"

_HEADER = "-- Paths are those of the last publish; for a folder that was moved, use `pathproof query`.\n"


def views_sql(parts: Mapping[str, PartRef]) -> str:
    """Statements that define every table and view over these parts, each by the address at which DuckDB finds it."""
    listed = {name: _Listed([], []) for name in TABLES}
    for address, part in parts.items():
        found = listed[part.table]
        (found.older if part.schema_version < SCHEMA_VERSION else found.current).append(address)
    tables = [f"CREATE OR REPLACE VIEW {name} AS\n{_table_sql(name, listed[name])};\n" for name in TABLES]
    views = [f"{view_sql(name)}\n" for name in VIEWS]
    return "\n".join([_HEADER, *tables, *views])


class Damage(NamedTuple):
    """What a statement did not see of a dataset: parts of these tables, and files of the manifest."""

    address: str
    parts: int
    tables: list[str]
    manifest_files: int


class Answer(NamedTuple):
    """The rows of a statement, and every dataset of which they do not show all."""

    rows: pa.Table
    damaged: list[Damage]


def query(sql: str, folders: Sequence[Address]) -> pa.Table:
    """The rows that `ask` finds."""
    return ask(sql, folders).rows


def ask(sql: str, folders: Sequence[Address]) -> Answer:
    """The answer to a statement over the folders' tables and views; only parts whose hash is right are read.

    Pictures and trees are hashed only for a statement that names them; no other one reads any. Raises ConfigError for
    bad SQL, a wrong folder, or folders that hold the same run.
    """
    _refuse_writing(sql)
    storages = list({storage.address: storage for storage in map(storage_of, folders)}.values())
    try:
        return looked_again(lambda: _answer(sql, storages))
    except duckdb.Error as error:
        raise _bad_sql(error) from error


def _answer(sql: str, storages: Sequence[Storage]) -> Answer:
    views = {storage: _seen(storage, _named(sql)) for storage in storages}
    found = {storage: seen.parts for storage, seen in views.items()}
    with vanishing(found):
        _refuse_copies(found)
        return Answer(_run(sql, found), [seen.damage for seen in views.values() if seen.damage])


def _refuse_writing(sql: str) -> None:
    """Only statements that read, and definitions that live as long as the statement, are run."""
    try:
        statements = duckdb.extract_statements(sql)
    except duckdb.Error as error:
        raise _bad_sql(error) from error
    if not statements:
        raise ConfigError("query: the SQL is empty; for example: SELECT * FROM yield_by_app")
    for statement in statements:
        kind = statement.type
        if kind is duckdb.StatementType.EXPLAIN and re.search(r"\bcopy\b", statement.query, re.IGNORECASE):
            kind = duckdb.StatementType.COPY  # EXPLAIN ANALYZE carries it out
        if kind not in _READING:
            raise ConfigError(f"query: {kind.name} is refused, for a statement may only read; {_WRITE_RESULTS}")
    if any(statement.type is not duckdb.StatementType.CREATE for statement in statements[:-1]):
        raise ConfigError("query: one answer at a time: before the last statement only CREATE can stand")


def _named(sql: str) -> frozenset[str]:
    """The heavy tables that a statement can read; one that is named without being read costs time, nothing else."""
    return frozenset(table for table in _DISTINCT if re.search(rf"\b{table}\b", sql, re.IGNORECASE))


def _refuse_copies(found: Mapping[Storage, Sequence[PartRef]]) -> None:
    """A copy keeps its run's identity, so that beside its original every row would count twice."""
    first: dict[str, str] = {}
    for storage, parts in found.items() if len(found) > 1 else ():
        run_id = _run_id(storage, parts)
        if run_id in first:
            raise ConfigError(
                f"query: {first[run_id]} and {storage.address} hold the same run, {run_id}, one perhaps as a copy that "
                "was redacted, so every row would count twice: give one of them"
            )
        if run_id:
            first[run_id] = storage.address


def _run_id(storage: Storage, parts: Sequence[PartRef]) -> str | None:
    """Whose rows these are, which is not for `run.json` to say here; null when there are none."""
    filled = [part for part in parts if part.rows and part.table not in _DISTINCT]
    if not filled:
        return None
    least = min(filled, key=lambda part: part.bytes)
    found = pq.read_table(least.path, columns=[RUN_ID], filesystem=storage.files, partitioning=None)
    return str(found.column(0)[0])


def connect(parts: Mapping[Any, Sequence[PartRef]]) -> duckdb.DuckDBPyConnection:
    """A connection with every table and view over these parts, by dataset; it opens no other file or address."""
    listed: dict[str, PartRef] = {}
    shown: dict[str, AbstractFileSystem] = {}
    for address, refs in parts.items():
        storage = storage_of(address)
        if storage.shown is not None:
            shown[storage.shown.protocol] = storage.shown
        listed.update({storage.url(ref.path): ref for ref in refs})
    connection = duckdb.connect(
        config={"autoinstall_known_extensions": "false", "python_enable_replacements": "false", "TimeZone": "UTC"}
    )
    for files in shown.values():
        connection.register_filesystem(files)
    connection.execute(views_sql(listed))
    _confine(connection, listed)
    return connection


def _confine(connection: duckdb.DuckDBPyConnection, addresses: Iterable[str]) -> None:
    """Leave a connection these files and no others, for good."""
    # DuckDB asks for the pattern first, then for the file that matches it.
    allowed = sorted({spelling for address in addresses for spelling in (address, _pattern(address))})
    connection.execute(f"SET allowed_paths = [{', '.join(map(_quoted, allowed))}]")
    connection.execute("SET enable_external_access = false")
    connection.execute("SET lock_configuration = true")


def sound_parts(address: Address, hashed: Collection[str] = ()) -> list[PartRef]:
    """The listed parts that can be read; what is damaged, also in the manifest, is left out.

    Heavy tables are trusted by size and footer, unless they are to be `hashed` too.
    """
    return _seen(address, hashed).parts


class _Seen(NamedTuple):
    """What can be read of a dataset, and what cannot."""

    parts: list[PartRef]
    damage: Damage | None


def _seen(address: Address, hashed: Collection[str]) -> _Seen:
    storage = manifest.storage_with_manifest(address)
    found = inspected(storage, hashed=lambda part: part.table in hashed or part.table not in _DISTINCT)
    bad = [part for path, part in found.parts.items() if found.flaws[path]]
    lost = len(found.survey.problems) + len(found.survey.missing)
    damage = Damage(storage.address, len(bad), sorted({part.table for part in bad}), lost) if bad or lost else None
    return _Seen(found.sound, damage)


def _run(sql: str, parts: Mapping[Storage, Sequence[PartRef]]) -> pa.Table:
    with connect(parts) as connection:
        relation = connection.sql(sql)
        return pa.table({}) if relation is None else _legible(relation).to_arrow_table()


def _legible(relation: duckdb.DuckDBPyRelation) -> duckdb.DuckDBPyRelation:
    """The rows, with text for what Arrow, Parquet or JSON would refuse or garble: intervals, for example."""
    kinds = list(map(_legible_type, relation.types))
    if not any(kinds):
        return relation
    columns = (f"#{place}{f'::{kind}' if kind else ''}" for place, kind in enumerate(kinds, 1))
    named = zip(columns, relation.columns, strict=True)
    return relation.project(", ".join(f"{column} AS {_name(name)}" for column, name in named))


def _legible_type(kind: DuckDBPyType) -> str | None:
    """The type to cast to, at any depth; null where the type can stay as it is."""
    if kind.id in _ILLEGIBLE:
        return "VARCHAR"
    if kind.id not in _NESTED:
        return None
    inner = {name: child for name, child in kind.children if isinstance(child, DuckDBPyType)}
    found = {name: _legible_type(child) for name, child in inner.items()}
    if not any(found.values()):
        return None
    types = {name: found[name] or str(child) for name, child in inner.items()}
    match kind.id:
        case "struct":
            return f"STRUCT({', '.join(f'{_name(name)} {type_}' for name, type_ in types.items())})"
        case "map":
            return f"MAP({types['key']}, {types['value']})"
        case _:
            return f"{types['child']}[]"


_NESTED = frozenset({"array", "list", "map", "struct"})
_ILLEGIBLE = frozenset({"bignum", "bit", "geometry", "interval", "time with time zone", "uhugeint", "union", "variant"})


def _bad_sql(error: duckdb.Error) -> ConfigError:
    lines = str(error).strip().splitlines()
    said = lines[-1 if lines[0].startswith("Traceback") else 0]  # what a file system raised is shown whole
    if isinstance(error, duckdb.PermissionException):
        return ConfigError(f"query: nothing but the dataset can be read ({said}); {_WRITE_RESULTS}")
    return ConfigError(f"query: {said}")


class _Listed(NamedTuple):
    """The addresses of a table's parts: those of the present schema version, and those of any older one."""

    current: list[str]
    older: list[str]


def _table_sql(name: str, listed: _Listed) -> str:
    if not listed.current and not listed.older:
        return f"SELECT * FROM ({empty_sql(name)})"
    if name in _DISTINCT:
        return _distinct_sql(name, listed)
    return f"SELECT * FROM {_source(name, listed)}"


def _distinct_sql(name: str, listed: _Listed) -> str:
    # Picking the first place of each hash before reading anything else keeps scans of pictures in bounded memory.
    place = ("filename", "file_row_number")
    rows, places = _source(name, listed, place), _parquet([*listed.current, *listed.older], place)
    return (
        f"SELECT part.* EXCLUDE (filename, file_row_number) FROM {rows} AS part\n"
        f"SEMI JOIN (SELECT min((filename, file_row_number)) AS place FROM {places} GROUP BY sha256) AS first\n"
        "ON (part.filename, part.file_row_number) = first.place"
    )


def _source(name: str, listed: _Listed, extra: Sequence[str] = ()) -> str:
    """The rows of a table's parts in its declared columns, with these of DuckDB's own beside them."""
    if not listed.older:
        return _parquet(listed.current, extra)
    # Parts of different versions agree only by name; the empty relation in front says what every column is.
    columns = ", ".join([*(_completed(name, column) for column in schema_of(name).names), *extra])
    parts = [empty_sql(name), f"SELECT *{_renamed(name)} FROM {_parquet(listed.older, [*extra, 'union_by_name'])}"]
    if listed.current:
        parts.append(f"SELECT * FROM {_parquet(listed.current, extra)}")
    return f"(SELECT {columns} FROM ({' UNION ALL BY NAME '.join(parts)}))"


def _renamed(table: str) -> str:
    """What gives fields in a table's lists of structs the names they have now; nothing for most tables."""
    changes = []
    for column in schema_of(table):
        names = {new: old for (place, old), new in RENAMED.items() if place == f"{table}.{column.name}"}
        if names:
            fields = (field.name for field in column.type.value_type)
            packed = ", ".join(f'"{field}" := entry."{names.get(field, field)}"' for field in fields)
            transformed = f'list_transform("{column.name}", lambda entry: struct_pack({packed}))'
            changes.append(f'{transformed} AS "{column.name}"')
    return f" REPLACE ({', '.join(changes)})" if changes else ""


def _parquet(addresses: Sequence[str], options: Sequence[str]) -> str:
    listed = "[\n    " + ",\n    ".join(_quoted(_pattern(address)) for address in addresses) + "]"
    return f"read_parquet({', '.join([listed, 'hive_partitioning = false', *(f'{name} = true' for name in options)])})"


def _pattern(address: str) -> str:
    """The pattern that this address alone matches: DuckDB takes every address for one."""
    return re.sub(r"[*?\[]", r"[\g<0>]", address)


def _completed(table: str, column: str) -> str:
    """A column that older parts may lack: then it has the record's plain default, else it is null."""
    info = TABLES[table].model_fields.get(column)
    name = f'"{column}"'
    match info.get_default(call_default_factory=True) if info else None:
        case bool() | int() | float() | str() as default:
            return f"coalesce({name}, {_quoted(str(default))}) AS {name}"
        case []:
            return f"coalesce({name}, []) AS {name}"
        case _:
            return name


def empty_sql(name: str) -> str:
    """No rows, in the declared columns of a table: `UNION ALL BY NAME` gives others their types."""
    columns = ", ".join(f"NULL::{_sql_type(field.type)} AS {_name(field.name)}" for field in schema_of(name))
    return f"SELECT {columns} WHERE false"


def _sql_type(kind: pa.DataType) -> str:
    if pa.types.is_list(kind):
        return f"{_sql_type(kind.value_type)}[]"
    if pa.types.is_struct(kind):
        return "STRUCT(" + ", ".join(f'"{field.name}" {_sql_type(field.type)}' for field in kind) + ")"
    return _SQL_TYPES[kind]


_SQL_TYPES = {
    pa.string(): "VARCHAR",
    pa.int64(): "BIGINT",
    pa.float64(): "DOUBLE",
    pa.bool_(): "BOOLEAN",
    pa.binary(): "BLOB",
    pa.timestamp("us", tz="UTC"): "TIMESTAMP WITH TIME ZONE",
}


@cache
def view_sql(name: str) -> str:
    """The statement that defines a shipped view over tables and views of the usual names."""
    text = (resources.files("pipeline") / "views" / f"{name}.sql").read_text(encoding="utf-8").rstrip().rstrip(";")
    return f"CREATE OR REPLACE VIEW {name} AS\n{text};\n"


def _name(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def _quoted(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"
