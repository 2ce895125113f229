"""The seeded state of an application, as its data template holds it, and what a task's checks say of it untouched."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from importlib import resources
from pathlib import Path

from catalogs.store import capability
from pipeline.app_entry import load_app
from pipeline.app_install import install, place_of
from pipeline.app_probes import read_sqlite
from pipeline.entry_state import SqliteProbe
from pipeline.tasks import ANSWER, Check, TaskSpec
from pipeline.words import CheckState
from taskspecs.store import load_tasks
from verifiers.contract import state_of


def tasks_of(app_id: str) -> list[TaskSpec]:
    """The quickstart tasks of an application."""
    return load_tasks(str(resources.files("taskspecs") / "sets" / "quickstart" / f"{app_id}.yaml"))


def ask(app_id: str, database: str, query: str) -> list[tuple[object, ...]]:
    """Rows of a query in a database of the application's data template."""
    with closing(sqlite3.connect(f"file:{_template(app_id) / database}?mode=ro", uri=True)) as connection:
        return connection.execute(query).fetchall()


def untouched(app_id: str, check: Check) -> CheckState:
    """What a check says of the seeded state; nobody has answered anything there."""
    if check.probe == ANSWER:
        return state_of(check, [])
    probe = load_app(app_id).probes[check.probe]
    assert isinstance(probe, SqliteProbe)
    return state_of(check, read_sqlite(probe, {param.name: param.value for param in check.args}, _template(app_id)))


def examples(app_id: str, capability_id: str, slot: str) -> list[str]:
    """The example values of a capability's slot."""
    return next(found.values for found in capability(f"{app_id}.{capability_id}").slots if found.name == slot)


def _template(app_id: str) -> Path:
    entry = load_app(app_id)
    install(entry)
    return place_of(entry).template
