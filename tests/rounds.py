"""Rounds of trajectories on a small ticket application, written by hand, as a write-back is given them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta
from typing import Any

from catalogs.complaints import Rollout
from pipeline.actions import Action, CallUser, Finished, Type, Wait
from pipeline.records import Event, Step, Verdict
from pipeline.structs import Node, Param
from pipeline.tasks import Capability, CapabilityCall, ProcedureStep, TaskSpec
from tests.datasets import renamed, verdict
from tests.records import NOON, Look, click, look, node, record, step, task

CREATE = "demo.create"
SUMMARY = "Lamp flickers"
HOME = look(node("link", "New"), node("link", "Search"))
FILLED = (node("textbox", "Summary"), node("combobox", "Priority"), node("option", "low"), node("option", "high"))
FORM = look(*FILLED, node("button", "Create"), node("button", "Preview"), path="/new")
BARE = look(*FILLED, node("button", "Preview"), path="/new")
RENAMED = look(*FILLED, node("button", "Create ticket"), path="/new")
LOGIN = look(node("textbox", "Password"), node("button", "Log in"), path="/login")
EMPTY = look(node("heading", "Internal error"), path="/new")
TICKET = look(node("heading", SUMMARY), path="/ticket/1")


def capability(capability_id: str = CREATE, **changes: Any) -> Capability:
    """What the ticket application can do; by default, create a ticket."""
    fields: dict[str, Any] = {
        "capability_id": capability_id,
        "app_id": "demo",
        "platform": "web",
        "language": "en",
        "path": ["tickets", "create"],
        "verb": "create",
        "object": "ticket",
        "effect": "The ticket exists.",
        "procedure": [
            ProcedureStep(action="Click", role="link", name="New"),
            ProcedureStep(action="Type", role="textbox", name="Summary", content="{summary}"),
            ProcedureStep(action="Click", role="button", name="Create"),
        ],
        "consequence": "create",
        "reversible": True,
    }
    return Capability(**{**fields, **changes})


def create_task(*calls: str, **changes: Any) -> TaskSpec:
    """A task that calls these capabilities; by default, the one that creates a ticket."""
    named = calls or (CREATE,)
    fields: dict[str, Any] = {
        "capability_ids": list(named),
        "calls": [CapabilityCall(capability_id=name, params=[Param(name="summary", value=SUMMARY)]) for name in named],
        "app_versions": [Param(name="demo", value="1.0")],
    }
    return task(f"Create a ticket {SUMMARY!r}.", **{**fields, **changes})


def way(*screens: Look, end: Action | None = None) -> tuple[list[Look], list[Step]]:
    """Open the form and fill it in; then these screens, on each of which is waited, and the end."""
    looks = [HOME, BARE, BARE]
    steps = [click(HOME, "New"), click(BARE, "Summary"), step(Type(content=SUMMARY), screen=BARE)]
    for screen in screens:
        looks.append(screen)
        steps.append(step(Wait()))
    looks.append(screens[-1])
    steps.append(step(end or CallUser(content="it is not there")))
    return looks, steps


def rolled_out(
    looks: Sequence[Look],
    steps: Sequence[Step],
    *,
    name: str = "t1",
    of: TaskSpec | None = None,
    grade: str | None = "fail",
    judged: dict[str, Any] | None = None,
    accepted: bool = False,
    events: Iterable[Event] = (),
    at: datetime = NOON,
    **ending: Any,
) -> Rollout:
    """One judged trajectory."""
    given = of or create_task()
    made = record(looks, steps, **ending)
    ids = {"trajectory_id": name, "task_id": given.task_id}
    made = renamed(made, f"{name}-1", ids, {"finished_at": at}).model_copy(update={"events": list(events)})
    found: Verdict = verdict(f"{name}-1", grade, **{"rule": "contract_failed", **(judged or {})})
    return Rollout(given, made, found, accepted)


def worked(name: str = "t1", **changes: Any) -> Rollout:
    """A ticket was created as recorded, and the trajectory was accepted."""
    looks = [HOME, FORM, FORM, FORM, TICKET]
    steps = [
        click(HOME, "New"),
        click(FORM, "Summary"),
        step(Type(content=SUMMARY), screen=FORM),
        click(FORM, "Create"),
        step(Finished()),
    ]
    return rolled_out(looks, steps, name=name, **{"grade": "complete", "accepted": True, **changes})


def without_effect(name: str = "t1", **changes: Any) -> Rollout:
    """Everything was done as recorded, and the checks failed."""
    return worked(name, **{"grade": "fail", "accepted": False, **changes})


def stuck(*screens: Look, name: str = "t1", **changes: Any) -> Rollout:
    """The form was filled in, and then these screens were waited on."""
    return rolled_out(*way(*(screens or (BARE, BARE))), name=name, **changes)


def later(hours: int) -> datetime:
    """So many hours after the first trajectories."""
    return NOON + timedelta(hours=hours)


def nodes_of(screen: Look) -> list[Node]:
    """The nodes of a screen that has a tree."""
    assert screen.nodes is not None
    return screen.nodes
