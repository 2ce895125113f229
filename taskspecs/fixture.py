"""What a task's environment is made of, as one fingerprint: equal ones begin from the same state.

Knows nothing of what is asked there.
"""

from __future__ import annotations

from functools import cache

from pipeline.app_entry import app_names, load_app
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
    """An application that lives in this process has no template: its first state is part of its program."""
    if app_id not in app_names():
        return (app_id,)
    entry = load_app(app_id)
    return (app_id, entry.version, checksum(snapshot(entry.state, place_of(entry).template)))
