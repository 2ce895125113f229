"""Reads task sets: YAML written by hand or JSON lines of `TaskSpec`, in `taskspecs/sets/<name>/` or in a file.

A hand-written entry gives `calls` (capabilities with slot values), from which the oracle is compiled unless it is
written out; `instruction: {en: ..., zh: ...}` makes one task per language. Knows nothing of how tasks are judged.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from importlib import resources
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from catalogs.store import NOTHING_NEW, Known, capability
from pipeline.errors import ConfigError, first_problem
from pipeline.structs import Param
from pipeline.tasks import CapabilityCall, ProcedureStep, TaskSpec, identified
from pipeline.user_files import Line, lines_of, text_of, yaml_of

_SUFFIX = re.compile(r"\.(yaml|jsonl)$")
_SLOT = re.compile(r"\{(\w+)\}")


def load_tasks(source: str) -> list[TaskSpec]:
    """The tasks of a set or file, in order, identities filled in; raises ConfigError naming the entry.

    A file without tasks is refused: whoever names it wants some.
    """
    folder = resources.files("taskspecs") / "sets" / source
    if folder.is_dir():
        files = sorted((entry for entry in folder.iterdir() if _SUFFIX.search(entry.name)), key=lambda e: e.name)
        return [task for entry in files for task in _tasks_in(entry.name, text_of(entry))]
    path = Path(source)
    if not path.is_file():
        raise ConfigError(f"tasks: no task set or file '{source}'")
    found = _tasks_in(source, text_of(path))
    if not found:
        raise ConfigError(f"{source}: holds no tasks; write some by hand, or have `pathproof tasks generate` make them")
    return found


def bind(steps: list[ProcedureStep], params: list[Param]) -> list[ProcedureStep]:
    """The steps with `{slot}` replaced; slots without a value stay, to be filled by a later `capture`.

    Inside `capture`, a regular expression, a value stands for itself.
    """
    values = {param.name: param.value for param in params}
    escaped = {name: re.escape(value) for name, value in values.items()}

    def filled(text: str | None, known: dict[str, str]) -> str | None:
        return None if text is None else _SLOT.sub(lambda m: known.get(m[1], m[0]), text)

    return [
        step.model_copy(
            update={
                **{key: filled(getattr(step, key), values) for key in ("name", "near", "content")},
                "capture": filled(step.capture, escaped),
            }
        )
        for step in steps
    ]


def check_of(entry: dict[str, Any]) -> dict[str, Any]:
    """A check as it is written in YAML, in the form of `Check`: arguments by name, one expected cell or several."""
    expected = entry.get("expected", [])
    return {
        **entry,
        "args": params_of(entry.get("args", {})),
        "expected": [str(cell) for cell in (expected if isinstance(expected, list) else [expected])],
    }


def segments_of(entries: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Segments as they are written in YAML, in the form of `Segment`."""
    return [{**entry, "checks": [check_of(check) for check in entry["checks"]]} for entry in entries]


def calls_of(entries: list[dict[str, Any]]) -> list[CapabilityCall]:
    """Calls as they are written in YAML: `{capability: ..., with: {slot: value}}`."""
    return [
        CapabilityCall(capability_id=call["capability"], params=params_of(call.get("with", {}))) for call in entries
    ]


def params_of(values: dict[str, Any]) -> list[Param]:
    """Named values; numbers and the like as they are spelled."""
    return [Param(name=name, value=str(value)) for name, value in values.items()]


def oracle_of(calls: Sequence[CapabilityCall], finish: str | None, known: Known = NOTHING_NEW) -> list[ProcedureStep]:
    """The procedures of the calls, one after the other, and the end of the task; raises ConfigError."""
    steps = [step for call in calls for step in bind(capability(call.capability_id, known).procedure, call.params)]
    return [*steps, ProcedureStep(action="Finished", content=finish or "")]


def consequence_of(calls: Sequence[CapabilityCall], known: Known = NOTHING_NEW) -> str:
    """The first lasting consequence of the calls; `none` without one."""
    kinds = (capability(call.capability_id, known).consequence for call in calls)
    return next((kind for kind in kinds if kind != "none"), "none")


def _tasks_in(origin: str, text: str) -> list[TaskSpec]:
    """The tasks of a file, which is YAML unless its name ends in `.jsonl`."""
    if origin.endswith(".jsonl"):
        return [_parsed(line) for line in lines_of(text, origin)]
    return list(_from_yaml(origin, text))


def _from_yaml(origin: str, text: str) -> Iterator[TaskSpec]:
    tree = _tree(origin, text)
    defaults = tree.get("defaults", {})
    for number, entry in enumerate(tree["tasks"], 1):
        place = f"{origin}, task {number}"
        try:
            merged = {**defaults, **entry}
            for language, instruction in merged.pop("instruction").items():
                place = f"{origin}, task {number} ({instruction!r})"
                yield _task(merged, language, instruction)
        except ValidationError as error:
            raise ConfigError(f"{place}: {first_problem(error)}") from error
        except KeyError as error:
            raise ConfigError(f"{place}: {error.args[0]}: missing") from error
        except (AttributeError, TypeError) as error:
            raise ConfigError(f"{place}: {error}") from error


def _tree(origin: str, text: str) -> dict[str, Any]:
    tree = yaml_of(text, origin)
    if not isinstance(tree, dict) or not isinstance(tree.get("tasks"), list):
        raise ConfigError(f"{origin}: a task set holds a list of `tasks`")
    return tree


def _task(entry: dict[str, Any], language: str, instruction: str) -> TaskSpec:
    fields = dict(entry)
    finish = fields.pop("finish", None)
    calls = calls_of(fields.pop("calls", []))
    compiled = oracle_of(calls, finish)
    fields.setdefault("oracle", compiled)
    fields["segments"] = segments_of(fields.get("segments", []))
    for key in ("absence_checks", "preflight"):
        fields[key] = [check_of(check) for check in fields.get(key, [])]
    fields.setdefault("consequence", consequence_of(calls))
    return identified(
        TaskSpec(
            task_id="",
            language=language,
            instruction=instruction,
            calls=calls,
            capability_ids=[call.capability_id for call in calls],
            params=params_of(fields.pop("params", {})),
            **fields,
        )
    )


def _parsed(line: Line) -> TaskSpec:
    try:
        return identified(TaskSpec.model_validate_json(line.text))
    except ValidationError as error:
        raise ConfigError(f"{line.place}: {first_problem(error)}") from error
