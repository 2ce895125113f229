"""What the gate needs to know about the shipped applications: their capabilities, their probes, that they are put back.

Knows nothing of the candidates beyond their names of applications and probes.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Sequence
from datetime import date

from catalogs.store import load_catalog
from pipeline.allowlist import AllowList
from pipeline.app_entry import app_names, load_app
from pipeline.errors import ConfigError
from pipeline.tasks import Capability, TaskSpec
from taskspecs.gate_cases import Surroundings


def around_tasks(tasks: Sequence[TaskSpec], today: date, allow: Collection[str] = ()) -> Surroundings:
    """The surroundings of tasks on the applications that ship; others are unknown, and so not available."""
    capabilities = {
        app_id: _capabilities(app_id) for app_id in sorted({name for task in tasks for name in task.app_ids})
    }
    named = _named_probes(tasks)
    # An application that lives in this process has a catalog but no entry: its probes are those that are asked.
    probes = {
        app_id: frozenset(load_app(app_id).probes) if app_id in app_names() else named[app_id]
        for app_id, found in capabilities.items()
        if found
    }
    return Surroundings(
        capabilities={one.capability_id: one for found in capabilities.values() for one in found},
        probes=probes,
        resettable=frozenset(probes),
        allow=AllowList(allow),
        today=today,
    )


def _capabilities(app_id: str) -> Sequence[Capability]:
    try:
        return load_catalog(app_id)
    except ConfigError:
        return ()


def _named_probes(tasks: Sequence[TaskSpec]) -> defaultdict[str, frozenset[str]]:
    named: defaultdict[str, frozenset[str]] = defaultdict(frozenset)
    for task in tasks:
        for check in (*task.checks, *task.absence_checks, *task.preflight):
            named[check.app_id or task.start.app_id] |= {check.probe}
    return named
