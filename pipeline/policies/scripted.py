"""The policy that replays a task's oracle: the proof that a task can be done and that its contract accepts it."""

from __future__ import annotations

from pipeline.actions import CallUser
from pipeline.policies.script import Missing, Planned, Script, decision_of
from pipeline.policies.wording import thought
from pipeline.protocols import Decision, Policy, Turn
from pipeline.tasks import TaskSpec


class ScriptedPolicy(Policy):
    """Follows the oracle step by step; asks the user when the screen does not have what the oracle names."""

    name = "scripted"

    def __init__(self, policy_id: str, task: TaskSpec) -> None:
        self.policy_id = policy_id
        self._language = task.language
        self._script = Script([Planned(step) for step in task.oracle], task.language, task.platform)

    def follow(self, turn: Turn, decision: Decision) -> None:
        """Go on behind what is part of the oracle."""
        self._script.follow(turn, decision)

    async def decide(self, turn: Turn) -> Decision:
        """The oracle's next move on the current screen."""
        move = self._script.propose(turn)
        if isinstance(move, Missing):
            action = CallUser(content=f"{move.planned.step.action}: {move.detail}")
            return decision_of(action, thought(self._language, action), turn.observation)
        self._script.take(move)
        return decision_of(move.action, move.thought, turn.observation)
