"""The planner: follows the recorded procedures of the capabilities a task calls, and errs on purpose.

It is a program, not a model, and is named as such in every row. It never reads a task's oracle for what to do; only
the form of the answer (a text with captured slots) is taken from its last step.
"""

from __future__ import annotations

import random
from collections import Counter

from catalogs.store import NOTHING_NEW, Known, capability
from pipeline.actions import Action, CallUser, Finished, Point, Pointed, PressBack, Wait
from pipeline.policies.grounding import promising
from pipeline.policies.mistakes import Slip, is_idle, slip
from pipeline.policies.paging import page
from pipeline.policies.script import Missing, Move, Planned, Script, decision_of
from pipeline.policies.wording import is_chinese, thought
from pipeline.protocols import Decision, Observation, Policy, Turn
from pipeline.tasks import Capability, CapabilityCall, ProcedureStep, TaskSpec
from taskspecs.store import bind


class PlannerPolicy(Policy):
    """Follows procedures, re-grounded on each screen; goes back after a wrong click it notices.

    `known` are capabilities as this run has come to know them; the others are as the shipped catalogs have them.
    """

    name = "planner"

    def __init__(
        self,
        policy_id: str,
        task: TaskSpec,
        mistakes: float,
        seed: int,
        known: Known = NOTHING_NEW,
    ) -> None:
        self.policy_id = policy_id
        self._task = task
        self._mistakes = mistakes
        self._seed = seed
        self._known = known
        self._drawn: Counter[tuple[int, bool]] = Counter()
        self._script: Script | None = None
        self._astray = 0
        self._searched = False

    def follow(self, turn: Turn, decision: Decision) -> None:
        """Go on behind what is part of the plan."""
        self._followed(turn.observation).follow(turn, decision)

    async def decide(self, turn: Turn) -> Decision:
        """The plan's next move on the current screen, or a mistake in its place."""
        script = self._followed(turn.observation)
        move = script.propose(turn)
        if self._astray and _at_a_loss(move):
            self._astray -= 1
            return self._say(PressBack(), turn)
        if isinstance(move, Missing):
            return self._without(move, turn)
        mistake = slip(
            self._chance(move), self._mistakes, move, turn.observation, self._task.language, self._task.platform
        )
        if mistake is not None:
            return self._err(mistake, move, script, turn)
        script.take(move)
        self._astray = 0
        return decision_of(move.action, move.thought, turn.observation)

    def _followed(self, seen: Observation) -> Script:
        if self._script is None:
            plan = planned(self._task, self._known) or _search(self._task, seen)
            self._script = Script(plan, self._task.language, self._task.platform)
        return self._script

    def _chance(self, move: Move) -> random.Random:
        """The random source of a move: by its place in the plan and how often it was come to.

        How often the application had to be waited for or scrolled must not change which mistakes are made.
        """
        if is_idle(move):
            return random.Random(0)
        place = (move.after.at, move.after.clicked)
        self._drawn[place] += 1
        return random.Random(f"{self._seed}/{self._task.task_id}/{place}/{self._drawn[place]}")

    def _err(self, mistake: Slip, move: Move, script: Script, turn: Turn) -> Decision:
        if mistake.stands:
            script.take(move)
        elif isinstance(mistake.action, Pointed):
            script.disturbed()
        if mistake.kind == "wrong_target" and not mistake.stands:
            self._astray += 1
        return decision_of(mistake.action, mistake.thought, turn.observation, mistake.kind)

    def _without(self, missing: Missing, turn: Turn) -> Decision:
        """What the plan needs is not there: look once more, then say so if it is what the task names."""
        if not self._searched and turn.observation.frame is not None:
            self._searched = True
            return self._say(page(self._task.platform, Point(x=500, y=500), "down"), turn)
        if missing.planned.slotted:
            return self._say(Finished(content=_infeasible(self._task.language, missing)), turn)
        return self._say(CallUser(content=missing.detail), turn)

    def _say(self, action: Action, turn: Turn) -> Decision:
        return decision_of(action, thought(self._task.language, action), turn.observation)


def planned(task: TaskSpec, known: Known = NOTHING_NEW) -> list[Planned]:
    """The procedures of the capabilities a task calls, and the end; nothing when it calls none."""
    found = [capability(call.capability_id, known) for call in task.calls]
    steps = [step for call, one in zip(task.calls, found, strict=True) for step in _procedure(call, one, task.language)]
    return [*steps, Planned(ProcedureStep(action="Finished", content=_answer_form(task)))] if steps else []


def _procedure(call: CapabilityCall, found: Capability, language: str) -> list[Planned]:
    slots = [f"{{{param.name}}}" for param in call.params]
    same_language = is_chinese(found.language) == is_chinese(language)
    purpose = f"{found.verb} {found.object}" if same_language else ""
    return [
        Planned(bound, _sought_by_slot(raw, slots), purpose)
        for raw, bound in zip(found.procedure, bind(found.procedure, call.params), strict=True)
    ]


def _sought_by_slot(step: ProcedureStep, slots: list[str]) -> bool:
    sought = [step.name, step.near, step.capture, step.content if step.action == "SelectOption" else None]
    return any(slot in text for text in sought if text for slot in slots)


def _answer_form(task: TaskSpec) -> str:
    """The answer's form, such as `{total}`; a text without slots would be the oracle's own answer and is not taken."""
    content = task.oracle[-1].content if task.oracle else None
    return content if content and "{" in content else ""


def _search(task: TaskSpec, seen: Observation) -> list[Planned]:
    """No capability is known for what is asked: look where it would be, then say that it is missing."""
    link = promising(seen.tree.nodes, task.instruction) if seen.tree else None
    chinese = is_chinese(task.language)
    purpose = "寻找所要求的功能" if chinese else "look for what is asked"
    ending = "infeasible: 应用没有提供这项功能" if chinese else "infeasible: the application offers no way to do this"
    steps = [ProcedureStep(action="Click", role="link", name=link.name, optional=True)] if link else []
    steps += [ProcedureStep(action="Scroll", content="down"), ProcedureStep(action="Scroll", content="up")]
    return [Planned(step, purpose=purpose) for step in [*steps, ProcedureStep(action="Finished", content=ending)]]


def _infeasible(language: str, missing: Missing) -> str:
    step = missing.planned.step
    sought = (step.content if step.action == "SelectOption" else step.near or step.name) or ""
    return f"infeasible: 没有找到“{sought}”" if is_chinese(language) else f'infeasible: "{sought}" was not found'


def _at_a_loss(move: Move | Missing) -> bool:
    return isinstance(move, Missing) or (move.preparing and isinstance(move.action, Wait))
