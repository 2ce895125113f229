"""Which tasks and capabilities a configuration asks for, read from sets and catalogs and bound to versions and limits.

Knows nothing of what has already been done with them.
"""

from __future__ import annotations

from collections.abc import Sequence

from catalogs.store import load_catalog
from pipeline.app_entry import entry_names, load_entry
from pipeline.config import RunConfig
from pipeline.envs.fake_app import APP_ID as FAKE_APP
from pipeline.errors import ConfigError
from pipeline.structs import Param
from pipeline.tasks import Capability, TaskSpec, identified
from pipeline.words import Platform
from taskspecs.compose import without_probes
from taskspecs.store import load_tasks
from taskspecs.templates import template_apps


def select_tasks(config: RunConfig) -> list[TaskSpec]:
    """The tasks of a run, in order, identities filled in; raises ConfigError naming the key."""
    found = [task for task in load_tasks(config.tasks.set) if task.platform == config.platform]
    if not found:
        raise ConfigError(f"platform: '{config.tasks.set}' has no task on {config.platform}")
    offered = {app_id for task in found for app_id in task.app_ids}
    for app_id in config.apps:
        if config.provider != "fake":
            load_entry(app_id)
        if app_id not in offered:
            known = ", ".join(sorted(offered)) or "none"
            raise ConfigError(f"apps: no task of '{config.tasks.set}' uses '{app_id}'; its applications: {known}")
    wanted = set(config.apps) or offered
    kept = [task for task in found if wanted.issuperset(task.app_ids)][: config.tasks.limit]
    if not kept:
        raise ConfigError(f"tasks: '{config.tasks.set}' has no task for these applications on {config.platform}")
    if config.probes == "withhold":
        kept = [without_probes(task) for task in kept]
    versions = _versions(config, kept)
    return [_bound(task, versions, config) for task in kept]


def select_apps(config: RunConfig) -> list[str]:
    """The applications for which tasks are to be made, sorted; raises ConfigError when one has no templates."""
    offered = template_apps()
    here = [FAKE_APP] if config.provider == "fake" else _entries_on(config.platform, offered)
    for app_id in config.apps:
        if app_id not in offered:
            raise ConfigError(f"apps: no task templates for '{app_id}'; there are some for: {', '.join(offered)}")
    return sorted(set(config.apps)) or [app_id for app_id in offered if app_id in here]


def select_capabilities(tasks: Sequence[TaskSpec]) -> list[Capability]:
    """Every capability in the catalogs that the tasks draw on."""
    apps = sorted({name.partition(".")[0] for task in tasks for name in task.capability_ids})
    return [capability for app_id in apps for capability in load_catalog(app_id)]


def _entries_on(platform: Platform, offered: Sequence[str]) -> list[str]:
    """Those of the offered ones that run there; no other entry is read."""
    return [app_id for app_id in offered if app_id in entry_names() and load_entry(app_id).platform == platform]


def _versions(config: RunConfig, tasks: Sequence[TaskSpec]) -> dict[str, str]:
    if config.provider == "fake":
        return {}
    return {app_id: load_entry(app_id).version for task in tasks for app_id in task.app_ids}


def _bound(task: TaskSpec, versions: dict[str, str], config: RunConfig) -> TaskSpec:
    """The task with the versions and limits it is run under, which are part of what it is."""
    known = [Param(name=app_id, value=versions[app_id]) for app_id in task.app_ids if app_id in versions]
    steps = min(task.max_steps, config.max_steps or task.max_steps)
    seconds = min(task.max_seconds, config.max_seconds or task.max_seconds)
    update = {"app_versions": known or task.app_versions, "max_steps": steps, "max_seconds": seconds}
    return identified(task.model_copy(update=update))
