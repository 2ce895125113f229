"""How the values of slots are put into the texts of a template.

What a value is put into decides how it is spelled there: in a pattern it stands for itself. Knows nothing of where
values come from.
"""

from __future__ import annotations

import glob
import json
import re
from collections.abc import Callable, Mapping

from pipeline.structs import Param
from pipeline.tasks import Check, SetupOperation

_SLOT = re.compile(r"\{([a-z_]\w*)\}")


def slots_in(text: str | None) -> set[str]:
    """The names of the slots that a text mentions."""
    return set(_SLOT.findall(text or ""))


def put_in(text: str, values: Mapping[str, str], spelled: Callable[[str], str] = str) -> str:
    """The text with each `{slot}` replaced by its value, as it is spelled there; unknown ones stay."""
    return _SLOT.sub(lambda found: spelled(values[found[1]]) if found[1] in values else found[0], text)


def filled_params(params: list[Param], values: Mapping[str, str]) -> list[Param]:
    """Named values, filled in."""
    return [Param(name=param.name, value=put_in(param.value, values)) for param in params]


def filled_check(check: Check, values: Mapping[str, str]) -> Check:
    """A check, filled in; in the pattern of `matches` a value stands for itself."""
    spelled = re.escape if check.verifier == "matches" else str
    return check.model_copy(
        update={
            "name": put_in(check.name, values),
            "args": filled_params(check.args, values),
            "expected": [put_in(cell, values, spelled) for cell in check.expected],
        }
    )


def filled_key(pattern: str, values: Mapping[str, str]) -> str:
    """A pattern over state keys, filled in; a value stands for itself."""
    return put_in(pattern, values, glob.escape)


def filled_setup(operation: SetupOperation, values: Mapping[str, str]) -> SetupOperation:
    """A change before the episode, filled in; a value is quoted as SQL or JSON wants it."""
    spelled: Callable[[str], str] = str
    if operation.kind == "sqlite":
        spelled = _in_sql
    elif operation.kind == "http":
        spelled = _in_json
    return operation.model_copy(
        update={"target": put_in(operation.target, values), "content": put_in(operation.content, values, spelled)}
    )


def _in_sql(value: str) -> str:
    return value.replace("'", "''")


def _in_json(value: str) -> str:
    return json.dumps(value, ensure_ascii=False)[1:-1]
