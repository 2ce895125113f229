"""Four ways to go about a MiniWoB++ page: solving it, solving it clumsily, claiming success at once, and at random.

What the clumsy one does wrong on purpose is marked in the record, where judges do not see it.
"""

from __future__ import annotations

import random

from bench.miniwob_moves import Plan, Solver
from pipeline.actions import Action, CallUser, Click, Finished, Point, Type, canonical_point
from pipeline.policies.grounding import INTERACTIVE, shown
from pipeline.policies.mistakes import slip
from pipeline.policies.script import Missing, Move, Planned, Script, decision_of
from pipeline.policies.wording import Aim, thought
from pipeline.protocols import Decision, Policy, Turn
from pipeline.tasks import ProcedureStep

_LANGUAGE = "en"
_MOST_AT_RANDOM = 6
_WORDS = ("lamp", "Monday", "42", "green", "yes")


class SolvingPolicy(Policy):
    """Follows a page's program; with `mistakes` above zero it errs that often on purpose."""

    def __init__(self, name: str, solver: Solver, asked: str, seed: int, mistakes: float = 0.0) -> None:
        self.policy_id = self.name = name
        self._solver, self._asked, self._mistakes = solver, asked, mistakes
        self._random = random.Random(f"{seed}/{asked}")
        self._plan: Plan | None = None
        self._script = Script([], _LANGUAGE)
        self._due = True

    async def decide(self, turn: Turn) -> Decision:
        """The program's next move on the current screen, or a mistake in its place."""
        if self._due:
            self._advance(turn)
        move = self._script.propose(turn)
        if isinstance(move, Missing):
            return _said(CallUser(content=move.detail), turn)
        mistake = slip(self._random, self._mistakes, move, turn.observation, _LANGUAGE)
        if mistake is None:
            self._take(move)
            return decision_of(move.action, move.thought, turn.observation)
        if mistake.stands:
            self._take(move)
        else:
            self._script.disturbed()
        return decision_of(mistake.action, mistake.thought, turn.observation, mistake.kind)

    def _take(self, move: Move) -> None:
        self._script.take(move)
        self._due = not move.preparing

    def _advance(self, turn: Turn) -> None:
        """Ask the program for its next step, given what the last one has led to."""
        nodes = turn.observation.tree.nodes if turn.observation.tree else []
        try:
            if self._plan is None:
                self._plan = self._solver(self._asked, nodes)
                step = next(self._plan)
            else:
                step = self._plan.send(nodes)
        except StopIteration:
            step = ProcedureStep(action="Finished")
        self._script = Script([Planned(step)], _LANGUAGE)
        self._due = False


class IdlePolicy(Policy):
    """Claims success without having done anything."""

    policy_id = name = "idle"

    async def decide(self, turn: Turn) -> Decision:
        """The end."""
        action = Finished()
        return decision_of(action, thought(_LANGUAGE, action), turn.observation, "premature")


class RandomPolicy(Policy):
    """Presses and types anything, then claims success."""

    policy_id = name = "random"

    def __init__(self, seed: int, asked: str) -> None:
        self._random = random.Random(f"{seed}/{asked}")
        self._left = self._random.randint(1, _MOST_AT_RANDOM)

    async def decide(self, turn: Turn) -> Decision:
        """Anything, or the end."""
        self._left -= 1
        nodes = turn.observation.tree.nodes if turn.observation.tree else []
        frame = turn.observation.frame
        if self._left < 0 or frame is None:
            return _said(Finished(), turn)
        if (
            any("focused" in node.states and "editable" in node.states for node in nodes)
            and self._random.random() < 0.5
        ):
            return _said(Type(content=self._random.choice(_WORDS)), turn)
        size = frame.width, frame.height
        seen = [(node, box) for node in nodes if (box := shown(node, *size)) is not None]
        places = [pair for pair in seen if pair[0].role in INTERACTIVE or "clickable" in pair[0].states] or seen
        if not places:
            return _said(Click(point=Point(x=500, y=500)), turn)
        node, box = self._random.choice(places)
        action = Click(point=canonical_point(box.centre, *size))
        return decision_of(action, thought(_LANGUAGE, action, Aim(node.role, node.name)), turn.observation)


def _said(action: Action, turn: Turn) -> Decision:
    return decision_of(action, thought(_LANGUAGE, action), turn.observation)


CLUMSY_RATE = 0.35


def policy_of(name: str, solver: Solver, asked: str, seed: int) -> Policy:
    """The policy of a name for one episode."""
    match name:
        case "idle":
            return IdlePolicy()
        case "random":
            return RandomPolicy(seed, asked)
        case _:
            return SolvingPolicy(name, solver, asked, seed, CLUMSY_RATE if name == "clumsy" else 0.0)
