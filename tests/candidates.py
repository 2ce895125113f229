"""Candidate tasks for the gate, on an application that can be put back and on one that cannot."""

from __future__ import annotations

from datetime import date
from typing import Any

from pipeline.allowlist import AllowList
from pipeline.structs import Param
from pipeline.tasks import Capability, Check, Segment, Slot, Start, TaskSpec, identified
from taskspecs.gate import gate
from taskspecs.gate_cases import Candidate, Surroundings

TODAY = date(2026, 11, 30)
NOTE = 'Add a note called "Milk" to the list.'


def capability(name: str, app_id: str = "notes", **more: Any) -> Capability:
    fields: dict[str, Any] = {
        "capability_id": f"{app_id}.{name}",
        "app_id": app_id,
        "platform": "web",
        "language": "en",
        "path": ["a", "b", name],
        "verb": name,
        "object": "note",
        "effect": "done",
        "consequence": "none",
        "reversible": True,
    }
    return Capability(**fields | more)


CAPABILITIES = (
    capability("add", slots=[Slot(name="title")]),
    capability("read"),
    capability("look", "shop"),
    capability("walled", status="needs_login"),
    capability("gone", status="unsupported"),
    capability("moved", status="renamed"),
    capability("pay", "shop", consequence="pay"),
    capability("erase", "shop", consequence="delete", reversible=False),
    capability("erase", consequence="delete", reversible=False),
)
AROUND = Surroundings(
    capabilities={found.capability_id: found for found in CAPABILITIES},
    probes={"notes": frozenset({"note", "notes"}), "shop": frozenset({"page"})},
    resettable=frozenset({"notes"}),
    allow=AllowList(["shop.site.net"]),
    today=TODAY,
)


def check(**more: Any) -> Check:
    return Check(**{"name": "exists", "verifier": "count", "probe": "note", "expected": ["1"]} | more)


def params(**values: str) -> list[Param]:
    return [Param(name=name, value=value) for name, value in values.items()]


def task(instruction: str = NOTE, **more: Any) -> TaskSpec:
    """A task on `notes`; `checks` are those of its one segment."""
    app_id = more.pop("app_id", "notes")
    checks = more.pop("checks", None)
    fields: dict[str, Any] = {
        "task_id": "",
        "app_ids": [app_id],
        "platform": "web",
        "tier": "single",
        "instruction": instruction,
        "language": "en",
        "capability_ids": [f"{app_id}.{'look' if app_id == 'shop' else 'read'}"],
        "start": Start(app_id=app_id),
        "contract_kind": "state",
        "segments": [Segment(name="done", checks=[check()] if checks is None else checks)],
        "domain": "Web",
    }
    return identified(TaskSpec(**fields | more))


def live(instruction: str, **more: Any) -> TaskSpec:
    """A task on `shop`, where whatever is done lasts."""
    return task(instruction, app_id="shop", contract_kind="rubric", segments=[], **more)


def asking(instruction: str, *expected: str, verifier: str = "text", **more: Any) -> TaskSpec:
    """A task that ends with an answer."""
    answer = check(probe="answer", verifier=verifier, expected=list(expected))
    return task(instruction, contract_kind="answer", checks=[answer], **more)


def candidates(*tasks: TaskSpec) -> list[Candidate]:
    return [Candidate(f"c{number:04}", one, "test") for number, one in enumerate(tasks)]


def reason_of(one: TaskSpec, around: Surroundings = AROUND) -> str | None:
    """Why a task alone is not admitted; None when it is."""
    rows = gate(candidates(one), around).rejections
    return rows[0].reason if rows else None
