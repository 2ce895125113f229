"""SQLite databases of the phone's applications, opened anew for every question, so that a file is never held.

Knows no application: a schema and its first rows are given.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

Value = str | int | float | None
Row = dict[str, Any]

_BUSY_SECONDS = 5.0


class Database:
    """One file; it is made, with its first rows, when it is first asked."""

    def __init__(self, path: Path, schema: str, seed: Mapping[str, Sequence[Mapping[str, Value]]]) -> None:
        """`seed` maps tables to rows."""
        self._path, self._schema, self._seed = path, schema, seed

    def rows(self, query: str, *values: Value) -> list[Row]:
        """The rows of a read-only question."""
        with closing(self._opened()) as connection:
            connection.execute("PRAGMA query_only = ON")
            return [dict(row) for row in connection.execute(query, values)]

    def row(self, query: str, *values: Value) -> Row | None:
        """The first row, if any."""
        return next(iter(self.rows(query, *values)), None)

    def run(self, statement: str, *values: Value) -> int:
        """Carry out one change; the number of the row inserted last."""
        with closing(self._opened()) as connection, connection:
            return int(connection.execute(statement, values).lastrowid or 0)

    def insert(self, table: str, row: Mapping[str, Value]) -> int:
        """Add a row; its number."""
        names = ", ".join(f'"{name}"' for name in row)
        marks = ", ".join("?" for _ in row)
        return self.run(f'INSERT INTO "{table}" ({names}) VALUES ({marks})', *row.values())

    def update(self, table: str, number: int, **fields: Value) -> None:
        """Change fields of the row with this `_id`."""
        names = ", ".join(f'"{name}" = ?' for name in fields)
        self.run(f'UPDATE "{table}" SET {names} WHERE _id = ?', *fields.values(), number)

    def delete(self, table: str, number: int) -> None:
        """Remove the row with this `_id`."""
        self.run(f'DELETE FROM "{table}" WHERE _id = ?', number)

    def _opened(self) -> sqlite3.Connection:
        if not self._path.exists():
            self._path.parent.mkdir(parents=True, exist_ok=True)
            with closing(self._connected()) as fresh:
                fresh.executescript(self._schema)
                with fresh:
                    for table, rows in self._seed.items():
                        _fill(fresh, table, rows)
        return self._connected()

    def _connected(self) -> sqlite3.Connection:
        connection = sqlite3.connect(self._path, timeout=_BUSY_SECONDS)
        connection.row_factory = sqlite3.Row
        connection.execute("PRAGMA foreign_keys = ON")
        # The phone's whole folder is thrown away with the phone: nothing needs to survive a power cut.
        connection.execute("PRAGMA synchronous = OFF")
        return connection


def _fill(connection: sqlite3.Connection, table: str, rows: Iterable[Mapping[str, Value]]) -> None:
    for row in rows:
        names = ", ".join(f'"{name}"' for name in row)
        connection.execute(
            f'INSERT INTO "{table}" ({names}) VALUES ({", ".join("?" for _ in row)})', tuple(row.values())
        )
