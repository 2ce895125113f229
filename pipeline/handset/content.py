"""What `content` can ask of the phone: tables of the applications and of the settings, by address.

Conditions are SQL, as they are on Android; a question cannot change anything.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import NamedTuple

from pipeline.handset.apps import APPS
from pipeline.handset.apps.app import App
from pipeline.handset.database import Database, Row, Value
from pipeline.handset.phone import Phone
from pipeline.handset.state import NAMESPACES

_SCHEME = "content://"
SETTINGS = "settings"


class ContentError(ValueError):
    """The address or the question is wrong; the message is for the person who asked."""


class Table(NamedTuple):
    """One table of one database."""

    database: Database
    name: str
    authority: str

    def rows(self, columns: Sequence[str], where: str, order: str) -> list[Row]:
        """Rows that fit; raises ContentError."""
        chosen = ", ".join(f'"{column}"' for column in columns) or "*"
        query = f'SELECT {chosen} FROM "{self.name}"'
        query += f" WHERE ({where})" if where else ""
        query += f" ORDER BY {order}" if order else " ORDER BY _id"
        with _told():
            return self.database.rows(query)

    def insert(self, values: Mapping[str, Value]) -> None:
        """Add a row; raises ContentError."""
        with _told():
            self.database.insert(self.name, values)

    def update(self, values: Mapping[str, Value], where: str) -> None:
        """Change rows that fit; raises ContentError."""
        names = ", ".join(f'"{name}" = ?' for name in values)
        with _told():
            self.database.run(f'UPDATE "{self.name}" SET {names} WHERE ({where or "1"})', *values.values())

    def delete(self, where: str) -> None:
        """Remove rows that fit; raises ContentError."""
        with _told():
            self.database.run(f'DELETE FROM "{self.name}" WHERE ({where or "1"})')


def database_of(phone: Phone, app: App) -> Database:
    """An application's database; it gets its first rows in the language the phone speaks at that time."""
    return Database(phone.files.place(app.database_path), app.schema, app.seed(phone.language))


def table_at(phone: Phone, uri: str) -> Table:
    """The table that an address names, such as `content://org.pathproof.notes/notes`; raises ContentError."""
    authority, _, path = uri.removeprefix(_SCHEME).partition("/")
    if not uri.startswith(_SCHEME):
        raise ContentError(f"Unsupported argument: {uri}")
    if authority == SETTINGS and path in NAMESPACES:
        return Table(phone.settings.database, path, authority)
    for app in APPS:
        if app.package.name == authority and phone.packages.get(authority):
            if path in app.tables:
                return Table(database_of(phone, app), path, authority)
            raise ContentError(f"Unknown URI {uri}")
    raise ContentError(f"Could not find provider: {authority}")


@contextmanager
def _told() -> Iterator[None]:
    """What the database refuses, in Android's words."""
    try:
        yield
    except sqlite3.Error as error:
        raise ContentError(f"android.database.sqlite.SQLiteException: {error}") from error
