"""The state of an application as it lies in its data folder: looked at, compared, put back, prepared.

A state is a dictionary from keys (`table/rowid`, `path|line`, `path`, `path/field`) to fingerprints. Everything here
works on files; it knows nothing of processes, ports or pages. Paths cannot leave the data folder: those that try raise
ValueError.
"""

from __future__ import annotations

import filecmp
import json
import shutil
import sqlite3
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from fnmatch import fnmatchcase
from pathlib import Path
from urllib.parse import quote

from pipeline.entry_state import FilesState, JsonState, LinesState, SqliteState, StateSource
from pipeline.found_files import FOLDER, clear, files_below, fingerprint, folders_below, read, spelled
from pipeline.records import digest
from pipeline.tasks import SetupOperation

_LOCK_SECONDS = 5.0
_QUERY_SECONDS = 5.0
_STEPS_BETWEEN_LOOKS = 10_000

Cell = str | int | float | bytes | None


def snapshot(sources: Sequence[StateSource], root: Path) -> dict[str, str]:
    """The state: a fingerprint for every key of every source."""
    state: dict[str, str] = {}
    for source in sources:
        match source:
            case SqliteState():
                state.update(_rows_state(source, inside(root, source.path)))
            case LinesState():
                state.update(_lines_state(source, inside(root, source.path)))
            case FilesState():
                state.update(_files_state(source, root))
            case JsonState():
                state.update(_objects_state(source, inside(root, source.path)))
    return state


def checksum(state: Mapping[str, str]) -> str:
    """One fingerprint of a whole state."""
    return digest("state", *(f"{key}\x1e{state[key]}" for key in sorted(state)))


def difference(before: Mapping[str, str], after: Mapping[str, str]) -> list[list[str]]:
    """Rows [key, added|removed|changed], sorted by key."""
    rows = [[key, "added"] for key in after.keys() - before.keys()]
    rows += [[key, "removed"] for key in before.keys() - after.keys()]
    rows += [[key, "changed"] for key in before.keys() & after.keys() if before[key] != after[key]]
    return sorted([spelled(key), kind] for key, kind in rows)


def restore(sources: Sequence[StateSource], template: Path, root: Path) -> None:
    """Put the state of `template` back into `root` while the application runs."""
    for source in sources:
        original, current = inside(template, source.path), inside(root, source.path)
        if isinstance(source, SqliteState):
            _restore_database(original, current)
        else:
            _restore_files(original, current)


def prepare(operation: SetupOperation, root: Path) -> None:
    """Carry out one set-up operation on a file or database of the data folder."""
    target = inside(root, operation.target)
    if operation.kind == "sqlite":
        run_script(target, operation.content)
        return
    target.parent.mkdir(parents=True, exist_ok=True)
    clear(target)
    with target.open("a" if operation.kind == "append" else "w", encoding="utf-8") as file:
        file.write(operation.content)


def run_script(database: Path, script: str) -> None:
    """Run SQL statements in a database as one transaction."""
    with closing(sqlite3.connect(database, timeout=_LOCK_SECONDS)) as connection:
        try:
            connection.executescript(f"BEGIN;\n{script}\n;COMMIT;")
        except sqlite3.Error:
            connection.rollback()
            raise


def query(database: Path, sql: str, parameters: Mapping[str, str] | None = None) -> list[tuple[Cell, ...]]:
    """Rows of a query in a database opened read-only, within a time limit."""
    with _opened(database) as connection:
        return connection.execute(sql, parameters or {}).fetchall()


def inside(root: Path, relative: str) -> Path:
    """The path below `root`; raises ValueError when it would leave it."""
    path = (root / relative).resolve()
    if not path.is_relative_to(root.resolve()):
        raise ValueError(f"'{relative}' leaves the data folder")
    return path


@contextmanager
def _opened(database: Path) -> Iterator[sqlite3.Connection]:
    if database.exists() and not database.is_file():
        raise OSError(f"{database.name} is no file")
    address = f"file:{quote(str(database))}?mode=ro"
    with closing(sqlite3.connect(address, uri=True, timeout=_LOCK_SECONDS)) as connection:
        deadline = time.monotonic() + _LOCK_SECONDS + _QUERY_SECONDS
        connection.set_progress_handler(lambda: time.monotonic() > deadline, _STEPS_BETWEEN_LOOKS)
        yield connection


def _rows_state(source: SqliteState, database: Path) -> Iterator[tuple[str, str]]:
    if not database.is_file():
        return
    with _opened(database) as connection:
        connection.execute("BEGIN")  # one view of all tables
        schema = connection.execute(
            "SELECT type, name, sql FROM sqlite_master WHERE name NOT LIKE 'sqlite!_%' ESCAPE '!'"
        )
        for kind, name, sql in schema.fetchall():
            if any(fnmatchcase(name, pattern) for pattern in source.ignore_tables):
                continue
            yield f"schema/{name}", _fingerprint([kind, sql] if kind != "table" else _structure(connection, name))
            if kind == "table":
                yield from _table_state(connection, name)


def _table_state(connection: sqlite3.Connection, table: str) -> Iterator[tuple[str, str]]:
    keys = _key_columns(connection, table)
    width = len(keys)
    for row in connection.execute(f"SELECT {', '.join(keys)}, * FROM {_quoted(table)}"):
        yield f"{table}/{','.join(map(str, row[:width]))}", _fingerprint(row[width:])


def _structure(connection: sqlite3.Connection, table: str) -> list[Cell]:
    """Columns and foreign keys. Not the statement: migrations spell the same table in different ways."""
    columns = connection.execute(f"PRAGMA table_info({_quoted(table)})").fetchall()
    keys = connection.execute(f"PRAGMA foreign_key_list({_quoted(table)})").fetchall()
    return [repr(columns), repr(sorted(key[2:] for key in keys))]


def _key_columns(connection: sqlite3.Connection, table: str) -> list[str]:
    """`rowid`, or the primary key of a table that has none."""
    try:
        connection.execute(f"SELECT rowid FROM {_quoted(table)} LIMIT 0")
    except sqlite3.OperationalError:
        columns = connection.execute(f"PRAGMA table_info({_quoted(table)})").fetchall()
        return [_quoted(column[1]) for column in sorted(columns, key=lambda column: column[5]) if column[5]]
    return ["rowid"]


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def _lines_state(source: LinesState, path: Path) -> dict[str, str]:
    if not path.is_file():
        return {}
    text = read(path).decode(errors="backslashreplace")
    lines = Counter(line for line in text.splitlines() if line.strip())
    return {f"{source.path}|{line}": str(count) for line, count in lines.items()}


def _objects_state(source: JsonState, path: Path) -> Iterator[tuple[str, str]]:
    if not path.is_file():
        return
    for found in json.loads(read(path)):
        kept = {name: value for name, value in found.items() if name not in source.ignore}
        key = "/".join([source.path, *(str(found.get(name, "")) for name in source.key)])
        yield key, _fingerprint([json.dumps(kept, sort_keys=True)])


def _files_state(source: FilesState, root: Path) -> Iterator[tuple[str, str]]:
    base, path = root.resolve(), inside(root, source.path)
    found = {spelled(str(file.relative_to(base))): fingerprint(file) for file in files_below(path)}
    for folder, kind in folders_below(path).items():
        if source.folders or kind != FOLDER:
            found[spelled(f"{folder.relative_to(base)}/")] = kind
    for key, value in found.items():
        if value is not None and not any(fnmatchcase(key, pattern) for pattern in source.ignore):
            yield key, value


def _fingerprint(values: Sequence[Cell]) -> str:
    return digest("row", *map(repr, values))


def _restore_database(original: Path, current: Path) -> None:
    """Through SQLite itself, so that connections the application holds see a whole database at every moment."""
    if not original.exists():
        current.unlink(missing_ok=True)
        return
    clear(current)
    deadline = time.monotonic() + _LOCK_SECONDS

    def watch(status: int, _remaining: int, _total: int) -> None:
        if status != sqlite3.SQLITE_DONE and time.monotonic() > deadline:  # else a busy database is tried for ever
            raise sqlite3.OperationalError(f"{current.name} stayed locked")

    with _opened(original) as source, closing(sqlite3.connect(current, timeout=_LOCK_SECONDS)) as target:
        source.backup(target, progress=watch)


def _restore_files(original: Path, current: Path) -> None:
    clear(current)
    if original.is_file():
        _replace(original, current)
        return
    kept = {file.relative_to(original) for file in files_below(original)} if original.exists() else set()
    for file in files_below(current):
        if file.relative_to(current) not in kept:
            file.unlink()
    known = {folder.relative_to(original) for folder in folders_below(original)}
    for folder in reversed(folders_below(current)):
        if folder.relative_to(current) not in known and not any(folder.iterdir()):
            folder.rmdir()
    for relative in known:
        (current / relative).mkdir(parents=True, exist_ok=True)
    for relative in kept:
        _replace(original / relative, current / relative)


def _replace(original: Path, current: Path) -> None:
    clear(current)
    if current.exists() and filecmp.cmp(current, original, shallow=False):
        return
    current.parent.mkdir(parents=True, exist_ok=True)
    # Not copy2: a modification time of the past would tell a watching application that nothing changed.
    shutil.copyfile(original, current)
