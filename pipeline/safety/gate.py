"""The gate: stands before every execution and decides by what the action would do here, not by who wants it.

Independent of the acting model: it looks at the screen, the action and the instruction, never at the reasoning. What it
cannot see (a screen without tree, a canvas) it cannot classify; the profile then has nothing to go by.
"""

from __future__ import annotations

from pipeline.actions import Action
from pipeline.permissions import Profile
from pipeline.protocols import Observation
from pipeline.safety.permission import refusal_of
from pipeline.safety.reading import Finding, read
from pipeline.structs import GateDecision, TargetUnderPoint
from pipeline.tasks import TaskSpec

_STRICTNESS = ("allow", "ask", "refuse")
_SHOWN = 160


class ConsequenceGate:
    """Allows, asks or refuses by a profile."""

    def __init__(self, profile: Profile) -> None:
        self._profile = profile

    def decide(
        self, task: TaskSpec, observation: Observation, action: Action, target: TargetUnderPoint | None
    ) -> GateDecision:
        """The strictest of what the profile says of everything that the action would bring about."""
        decisions = [self._ruled(task, finding) for finding in read(observation, action, target, task.platform)]
        if not decisions:
            return self._decision("allow", "none", "nothing of consequence")
        return max(decisions, key=lambda decision: _STRICTNESS.index(decision.decision))

    def _ruled(self, task: TaskSpec, finding: Finding) -> GateDecision:
        refusal = refusal_of(task.instruction, finding)
        reversible = "no" if finding.final else finding.kind.reversible
        then = self._profile.then(
            finding.kind.name, reversible, explicit=refusal is None, machine=finding.reaches_machine
        )
        seen = f"{finding.place} '{finding.words[:_SHOWN]}'"
        return self._decision(then, finding.kind.name, f"{seen}: {refusal or 'asked for'}")

    def _decision(self, then: str, consequence: str, reason: str) -> GateDecision:
        return GateDecision(decision=then, consequence=consequence, reason=reason, profile=self._profile.name)
