"""What a task's environment is made of, as one fingerprint: equal ones begin from the same state.

Knows nothing of what is asked there.
"""

from __future__ import annotations

from fnmatch import fnmatchcase
from functools import cache

from pipeline.app_entry import entry_names, load_entry, server_of
from pipeline.app_install import place_of
from pipeline.app_state import checksum, snapshot
from pipeline.records import digest
from pipeline.tasks import TaskSpec


def fingerprint_of(task: TaskSpec) -> str:
    """Applications by version and first state, and the set-up that is done to them; they must be installed."""
    parts = [part for app_id in sorted(task.app_ids) for part in _template(app_id)]
    stated = [f"{param.name} {param.value}" for param in task.app_versions]
    return digest("fixture", *parts, *sorted(stated), *(operation.model_dump_json() for operation in task.setup))


def first_keys(app_id: str) -> frozenset[str] | None:
    """The keys of an application's first state that count; nothing where only the running application knows them."""
    if app_id not in entry_names():
        return None
    state, kept = _first_state(app_id), load_entry(app_id).bookkeeping
    return None if state is None else frozenset(key for key in state if not any(fnmatchcase(key, one) for one in kept))


def _template(app_id: str) -> tuple[str, ...]:
    """An application that lives in this process or on a phone has no template: its first state is part of it."""
    if app_id not in entry_names():
        return (app_id,)
    stated, state = (app_id, load_entry(app_id).version), _first_state(app_id)
    return stated if state is None else (*stated, checksum(state))


@cache
def _first_state(app_id: str) -> dict[str, str] | None:
    server = server_of(app_id)
    return None if server is None else snapshot(server.state, place_of(server).template)
