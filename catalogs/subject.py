"""The application that is explored, and the tasks without a contract by which an environment opens it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from pipeline.records import digest
from pipeline.tasks import Capability, ProcedureStep, Start, TaskSpec
from pipeline.words import Domain, Platform

_DOMAINS: dict[Platform, Domain] = {"web": "Web", "mobile": "Mobile", "desktop": "Computer"}


class Subject(NamedTuple):
    """Where the application begins, and whether everything that is done to it can be undone."""

    app_id: str
    platform: Platform = "web"
    language: str = "en"
    home: str = "/"
    resettable: bool = True


def visit(subject: Subject) -> TaskSpec:
    """A task that only opens the application's home."""
    return TaskSpec(
        task_id=digest("visit", subject.app_id, subject.home),
        app_ids=[subject.app_id],
        platform=subject.platform,
        tier="single",
        instruction="look around",
        language=subject.language,
        capability_ids=[],
        start=Start(app_id=subject.app_id, path=subject.home),
        contract_kind="state",
        segments=[],
        domain=_DOMAINS[subject.platform],
    )


def trial_task(subject: Subject, capability: Capability, steps: Sequence[ProcedureStep], seconds: float) -> TaskSpec:
    """The task of one run of a capability's procedure."""
    spelled = [step.model_dump_json() for step in steps]
    return visit(subject).model_copy(
        update={
            "task_id": digest("explore", subject.app_id, capability.capability_id, *spelled),
            "instruction": f"{capability.verb} {capability.object}",
            "language": capability.language,
            "capability_ids": [capability.capability_id],
            "consequence": capability.consequence,
            "max_steps": 5 * len(steps) + 12,
            "max_seconds": seconds,
        }
    )
