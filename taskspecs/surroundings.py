"""What the gate needs to know about the shipped applications: their capabilities, their probes, that they are put back.

Knows nothing of the candidates beyond their names of applications and probes.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Sequence
from datetime import date

from catalogs.store import NOTHING_NEW, Known, load_catalog
from pipeline.allowlist import AllowList
from pipeline.app_entry import entry_names, load_entry
from pipeline.errors import ConfigError
from pipeline.tasks import Capability, TaskSpec
from taskspecs.gate_cases import Surroundings

_IN_MEMORY = frozenset({"fake-todo"})
"""Applications that live in this process, new for every episode."""


def around_tasks(
    tasks: Sequence[TaskSpec], today: date, allow: Collection[str] = (), known: Known = NOTHING_NEW
) -> Surroundings:
    """The surroundings of tasks on the applications that ship; others are unknown, and so not available."""
    capabilities = {
        app_id: _capabilities(app_id, known) for app_id in sorted({name for task in tasks for name in task.app_ids})
    }
    named = _named_probes(tasks)
    # An application in memory, or a site, has a catalog but no entry: its probes are those that are asked.
    probes = {
        app_id: frozenset(load_entry(app_id).asked) if app_id in entry_names() else named[app_id]
        for app_id, found in capabilities.items()
        if found
    }
    return Surroundings(
        capabilities={one.capability_id: one for found in capabilities.values() for one in found},
        probes=probes,
        # A site that has a catalog and no entry is somebody else's: what is done there lasts.
        resettable=frozenset(probes) & (frozenset(entry_names()) | _IN_MEMORY),
        allow=AllowList(allow),
        today=today,
    )


def _capabilities(app_id: str, known: Known) -> list[Capability]:
    try:
        shipped = {one.capability_id: one for one in load_catalog(app_id)}
    except ConfigError:
        shipped = {}
    return list((shipped | {name: one for name, one in known.items() if one.app_id == app_id}).values())


def _named_probes(tasks: Sequence[TaskSpec]) -> defaultdict[str, frozenset[str]]:
    named: defaultdict[str, frozenset[str]] = defaultdict(frozenset)
    for task in tasks:
        for check in (*task.checks, *task.absence_checks, *task.preflight):
            named[check.app_id or task.start.app_id] |= {check.probe}
    return named
