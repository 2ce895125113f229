"""A policy whose decisions are given beforehand, to put a rollout through situations that are rare on their own."""

from __future__ import annotations

from collections.abc import Sequence

from pipeline.actions import Action
from pipeline.errors import ModelError
from pipeline.policies.script import decision_of
from pipeline.protocols import Decision, Policy, Turn

Given = Action | Decision | ModelError


class CannedPolicy(Policy):
    """Gives what it was given, in order, the last one for ever; an error is raised. Remembers the turns it saw."""

    name = "canned"
    policy_id = "canned"

    def __init__(self, given: Sequence[Given]) -> None:
        self.turns: list[Turn] = []
        self._given = list(given)

    async def decide(self, turn: Turn) -> Decision:
        """The next decision; an action becomes one with its points in the picture."""
        self.turns.append(turn)
        given = self._given.pop(0) if len(self._given) > 1 else self._given[0]
        if isinstance(given, ModelError):
            raise given
        return given if isinstance(given, Decision) else decision_of(given, "", turn.observation)
