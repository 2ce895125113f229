"""The gate before every execution. This one allows everything and says so: each executed step has its decision."""

from __future__ import annotations

from pipeline.actions import Action
from pipeline.protocols import Observation
from pipeline.records import ModelCall
from pipeline.structs import GateDecision, TargetUnderPoint
from pipeline.tasks import TaskSpec


class PermissiveGate:
    """Allows every action under a named profile; it does not classify consequences."""

    def __init__(self, profile: str) -> None:
        self._decision = GateDecision(
            decision="allow",
            consequence="unclassified",
            reason="the permissive gate allows every action",
            profile=profile,
        )

    async def decide(
        self, task: TaskSpec, observation: Observation, action: Action, target: TargetUnderPoint | None
    ) -> GateDecision:
        """Allow."""
        del task, observation, action, target
        return self._decision

    def drain_calls(self) -> list[ModelCall]:
        """None: no model is asked."""
        return []
