"""Reads the capability catalogs that ship as data: `catalogs/apps/<app_id>/capabilities.yaml`.

A file lists atomic capabilities with the fields of `Capability`; slots may be written `name: [example, ...]`, and
identity, application, platform and language come from the file's head. Knows nothing of how a catalog came about.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from importlib import resources
from types import MappingProxyType
from typing import Any

from pydantic import ValidationError

from pipeline.errors import ConfigError, first_problem
from pipeline.tasks import Capability
from pipeline.user_files import decoded, yaml_of


def catalog_names() -> list[str]:
    """Applications that have a capability catalog, sorted."""
    folder = resources.files("catalogs") / "apps"
    return sorted(entry.name for entry in folder.iterdir() if (entry / "capabilities.yaml").is_file())


Known = Mapping[str, Capability]
"""Capabilities by id, as somebody has come to know them."""
NOTHING_NEW: Known = MappingProxyType({})


@cache
def load_catalog(app_id: str) -> tuple[Capability, ...]:
    """The capabilities of an application, in file order; raises ConfigError when the file is missing or malformed."""
    source = resources.files("catalogs") / "apps" / app_id / "capabilities.yaml"
    if not source.is_file():
        raise ConfigError(f"apps: no capability catalog for '{app_id}'")
    place = f"catalogs/apps/{app_id}/capabilities.yaml"
    try:
        tree: Any = yaml_of(decoded(source.read_bytes(), place), place)
        head = {key: tree[key] for key in ("platform", "language")}
        return tuple(_capability(app_id, head, entry) for entry in tree["capabilities"])
    except ValidationError as error:
        raise ConfigError(f"{place}: {first_problem(error)}") from error
    except KeyError as error:
        raise ConfigError(f"{place}: {error.args[0]}: missing") from error


def capability(capability_id: str, known: Known = NOTHING_NEW) -> Capability:
    """One capability by id (`<app_id>.<path>`): as `known` has it, else as shipped. Raises ConfigError for none."""
    if capability_id in known:
        return known[capability_id]
    app_id = capability_id.partition(".")[0]
    for entry in load_catalog(app_id):
        if entry.capability_id == capability_id:
            return entry
    raise ConfigError(f"capability '{capability_id}' is not in the catalog of '{app_id}'")


def _capability(app_id: str, head: dict[str, str], entry: dict[str, Any]) -> Capability:
    slots = [{"name": name, "values": values} for name, values in entry.pop("slots", {}).items()]
    name = entry.pop("id")
    return Capability.model_validate(
        {**head, **entry, "app_id": app_id, "capability_id": f"{app_id}.{name}", "slots": slots}
    )
