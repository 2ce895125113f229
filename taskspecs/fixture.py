"""What a task's environment is made of, as one fingerprint: equal ones begin from the same state.

Knows nothing of what is asked there.
"""

from __future__ import annotations

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


@cache
def _template(app_id: str) -> tuple[str, ...]:
    """An application that lives in this process or on a phone has no template: its first state is part of it."""
    if app_id not in entry_names():
        return (app_id,)
    stated, server = (app_id, load_entry(app_id).version), server_of(app_id)
    return stated if server is None else (*stated, checksum(snapshot(server.state, place_of(server).template)))
