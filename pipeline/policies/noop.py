"""The policy that does nothing and claims success: every contract must fail it."""

from __future__ import annotations

from pipeline.actions import Finished
from pipeline.policies.script import decision_of
from pipeline.policies.wording import thought
from pipeline.protocols import Decision, Policy, Turn
from pipeline.tasks import TaskSpec


class NoopPolicy(Policy):
    """Declares the task done at once."""

    name = "noop"

    def __init__(self, policy_id: str, task: TaskSpec) -> None:
        self.policy_id = policy_id
        self._language = task.language

    async def decide(self, turn: Turn) -> Decision:
        """Finished, with nothing said."""
        action = Finished()
        return decision_of(action, thought(self._language, action), turn.observation)
