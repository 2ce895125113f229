"""Acts that several applications have: a form is kept, something is turned on or off, a row removed, a group named."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from pipeline.handset.apps.app import Act, Asked, Done
from pipeline.handset.database import Value


def keep(asked: Asked, table: str, fields: Mapping[str, Value]) -> int:
    """Change the row that is meant, or add one where none is; its number."""
    if asked.id:
        asked.data.update(table, asked.id, **fields)
        return asked.id
    return asked.data.insert(table, fields)


def flipping(table: str, column: str, field: str = "id") -> Act:
    """Turns a column of the row that a field names on or off."""

    def act(asked: Asked) -> Done:
        asked.data.run(f'UPDATE "{table}" SET "{column}" = 1 - "{column}" WHERE _id = ?', asked.number(field))
        return Done()

    return act


def removing(table: str, then: Literal["back", "stay"] = "back", field: str = "id") -> Act:
    """Removes the row that a field names."""

    def act(asked: Asked) -> Done:
        asked.data.delete(table, asked.number(field))
        return Done(then)

    return act


def naming(table: str, missing: str, taken: str) -> Act:
    """Gives a row, or a new one, a name that no other has; `missing` and `taken` are the keys of what is said else."""

    def act(asked: Asked) -> Done:
        name = asked.field("name")
        others = asked.data.row(f'SELECT 1 FROM "{table}" WHERE name = ? AND _id <> ?', name, asked.id)
        if not name or others:
            return Done(problem=asked.text(taken if others else missing))
        keep(asked, table, {"name": name})
        return Done()

    return act
