"""SQL over datasets: the shipped views, and DuckDB over the sound, listed parts of one or several folders.

A view's definition is a file of `pipeline/views`. The tables themselves are views too; pictures and trees, which may
repeat across parts, show each hash once. A folder that is damaged gives fewer rows, never an error: `check` tells what
is wrong. This module knows nothing of records.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from importlib import resources
from typing import Any

import duckdb
import pyarrow as pa
from fsspec import AbstractFileSystem

from pipeline import manifest
from pipeline.errors import ConfigError
from pipeline.manifest import PartRef
from pipeline.schema import TABLES, schema_of
from pipeline.soundness import flaws_of
from pipeline.storage import Address, Storage, storage_of

VIEWS_FILE = "views.sql"

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
    "rl_steps",
)
"""The shipped views; each may use the ones before it."""

_DISTINCT = frozenset({"frames", "trees"})
"""Tables whose rows may repeat across parts; also the ones too heavy to be hashed before every query."""

_HEADER = "-- Paths are those of the last publish; for a folder that was moved, use `pathproof query`.\n"


def views_sql(paths: Mapping[str, Sequence[str]]) -> str:
    """Statements that define every table and view over these absolute paths."""
    tables = [f"CREATE OR REPLACE VIEW {name} AS\n{_table_sql(name, paths.get(name, ()))};\n" for name in TABLES]
    views = [f"CREATE OR REPLACE VIEW {name} AS\n{_view_text(name)};\n" for name in VIEWS]
    return "\n".join([_HEADER, *tables, *views])


def query(sql: str, folders: Sequence[Address]) -> pa.Table:
    """The result of a statement over the folders' tables and views; raises ConfigError for bad SQL or a wrong folder.

    Small tables are read only from parts whose hash is right. Pictures and trees are trusted by size and footer, and
    hashed only when reading fails.
    """
    storages = {storage.address: storage for storage in map(storage_of, folders)}
    found = {storage: sound_parts(storage) for storage in storages.values()}
    try:
        return _run(sql, found)
    except (duckdb.ParserException, duckdb.BinderException, duckdb.CatalogException) as error:
        raise _bad_sql(error) from error
    except duckdb.Error as error:
        unhurt = {storage: _unchanged(storage, parts) for storage, parts in found.items()}
        if unhurt == found:
            raise _bad_sql(error) from error
    return _run(sql, unhurt)


def connect(parts: Mapping[Any, Sequence[PartRef]]) -> duckdb.DuckDBPyConnection:
    """A connection with every table and view over these parts, by dataset."""
    paths: dict[str, list[str]] = {name: [] for name in TABLES}
    shown: dict[str, AbstractFileSystem] = {}
    for address, refs in parts.items():
        storage = storage_of(address)
        if storage.shown is not None:
            shown[storage.shown.protocol] = storage.shown
        for ref in refs:
            paths[ref.table].append(storage.url(ref.path))
    connection = duckdb.connect(
        config={"autoinstall_known_extensions": "false", "python_enable_replacements": "false", "TimeZone": "UTC"}
    )
    for files in shown.values():
        connection.register_filesystem(files)
    connection.execute(views_sql(paths))
    return connection


def sound_parts(address: Address) -> list[PartRef]:
    """The listed parts that can be read; what is damaged, also in the manifest, is left out."""
    storage = manifest.storage_with_manifest(address)
    parts = manifest.current_parts(manifest.survey(storage).lines)
    return [part for part in parts.values() if not flaws_of(storage, part, hashed=part.table not in _DISTINCT)]


def _run(sql: str, parts: Mapping[Storage, Sequence[PartRef]]) -> pa.Table:
    with connect(parts) as connection:
        relation = connection.sql(sql)
        return relation.to_arrow_table() if relation else pa.table({})


def _unchanged(storage: Storage, parts: Iterable[PartRef]) -> list[PartRef]:
    return [part for part in parts if not flaws_of(storage, part, hashed=True)]


def _bad_sql(error: duckdb.Error) -> ConfigError:
    return ConfigError(f"query: {str(error).splitlines()[0]}")


def _table_sql(name: str, paths: Sequence[str]) -> str:
    if not paths:
        return f"SELECT * FROM ({_nothing(name)})"
    listed = "[\n    " + ",\n    ".join(_quoted(path) for path in paths) + "]"
    if name not in _DISTINCT:
        return f"SELECT * FROM read_parquet({listed}, hive_partitioning = false)"
    # Picking the first place of each hash before reading anything else keeps scans of pictures in bounded memory.
    source = f"read_parquet({listed}, hive_partitioning = false, filename = true, file_row_number = true)"
    return (
        f"SELECT part.* EXCLUDE (filename, file_row_number) FROM {source} AS part\n"
        f"SEMI JOIN (SELECT min((filename, file_row_number)) AS place FROM {source} GROUP BY sha256) AS first\n"
        "ON (part.filename, part.file_row_number) = first.place"
    )


def _nothing(name: str) -> str:
    columns = ", ".join(f'NULL::{_sql_type(field.type)} AS "{field.name}"' for field in schema_of(name))
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


def _view_text(name: str) -> str:
    return (resources.files("pipeline") / "views" / f"{name}.sql").read_text(encoding="utf-8").rstrip().rstrip(";")


def _quoted(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"
