"""Templates of tasks as data: `taskspecs/templates/<app_id>.yaml`.

A template is a task with slots: which capabilities it calls, how it is worded, what proves it. Values come from pools
(`taskspecs/values.yaml`), from a list, or from a probe that reads what exists in the application. Knows nothing of how
values are drawn; whether what is written fits together is asked in `template_rules`.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from importlib import resources
from typing import Any

from pydantic import ValidationError

from pipeline.errors import ConfigError, first_problem
from pipeline.user_files import text_of, yaml_of
from taskspecs.store import calls_of, check_of, params_of, segments_of
from taskspecs.template_records import SlotSource, Template
from taskspecs.template_rules import first_fault
from taskspecs.values import ANY

__all__ = ["SlotSource", "Template", "load_templates", "parse_templates", "template_apps"]

_SLOT_KEYS = ("pool", "values", "probe")


def template_apps() -> list[str]:
    """The applications that have templates, sorted."""
    folder = resources.files("taskspecs") / "templates"
    return sorted(entry.name[:-5] for entry in folder.iterdir() if entry.name.endswith(".yaml"))


@cache
def load_templates(app_id: str) -> tuple[Template, ...]:
    """The templates of an application, in file order; raises ConfigError naming file, template and key."""
    source = resources.files("taskspecs") / "templates" / f"{app_id}.yaml"
    if not source.is_file():
        raise ConfigError(f"apps: no task templates for '{app_id}'; there are some for: {', '.join(template_apps())}")
    return parse_templates(app_id, f"taskspecs/templates/{app_id}.yaml", text_of(source))


def parse_templates(app_id: str, place: str, text: str) -> tuple[Template, ...]:
    """The templates in a text, checked; `place` names it in what is raised, a ConfigError."""
    tree = yaml_of(text, place)
    if not isinstance(tree, dict) or not isinstance(tree.get("templates"), list):
        raise ConfigError(f"{place}: templates: a list of templates is missing")
    if tree.get("app_id") != app_id:
        raise ConfigError(f"{place}: app_id: must be '{app_id}'")
    found: list[Template] = []
    for number, entry in enumerate(tree["templates"], 1):
        name = entry.get("id") if isinstance(entry, dict) else None
        template = _template(app_id, f"{place}: template {number} ({name})", entry)
        if any(template.template_id == other.template_id for other in found):
            raise ConfigError(f"{place}: template {number} ({name}): id: another template has it")
        found.append(template)
    return tuple(found)


def _template(app_id: str, place: str, entry: Any) -> Template:
    if not isinstance(entry, dict) or not isinstance(entry.get("id"), str):
        raise ConfigError(f"{place}: id: missing")
    fields = {**entry, "app_id": app_id, "template_id": entry["id"]}
    del fields["id"]
    for key, read in _READERS.items():
        if key in fields:
            fields[key] = _shaped(f"{place}: {key}", fields[key], read)
    try:
        template = Template.model_validate(fields)
    except ValidationError as error:
        raise ConfigError(f"{place}: {first_problem(error)}") from error
    fault = first_fault(template)
    if fault:
        raise ConfigError(f"{place}: {fault}")
    return template


def _shaped(place: str, written: Any, read: Callable[[Any], Any]) -> Any:
    try:
        return read(written)
    except KeyError as error:
        raise ConfigError(f"{place}: {error.args[0]}: missing") from error
    except ValidationError as error:
        raise ConfigError(f"{place}: {first_problem(error)}") from error
    except (AttributeError, TypeError) as error:
        raise ConfigError(f"{place}: not in the expected form: {error}") from error


def _slots(written: dict[str, dict[str, Any]]) -> list[SlotSource]:
    return [_slot(name, source) for name, source in written.items()]


def _slot(name: str, source: dict[str, Any]) -> SlotSource:
    if sum(key in source for key in _SLOT_KEYS) != 1:
        raise TypeError(f"slot '{name}' needs one of {', '.join(_SLOT_KEYS)}")
    fields = dict(source)
    if "values" in fields:
        values = fields["values"]
        listed = values if isinstance(values, dict) else {ANY: values}
        fields["values"] = {language: [str(value) for value in some] for language, some in listed.items()}
    if "args" in fields:
        fields["args"] = params_of(fields["args"])
    if isinstance(fields.get("differs"), str):
        fields["differs"] = [fields["differs"]]
    return SlotSource(name=name, **fields)


def _checks(written: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [check_of(check) for check in written]


_READERS: dict[str, Callable[[Any], Any]] = {
    "calls": calls_of,
    "slots": _slots,
    "segments": segments_of,
    "absence_checks": _checks,
    "preflight": _checks,
}
