"""The step verifier: a model grades a proposed step from what is known before it happens, never from its outcome.

First what the action would touch, then whether thought and action agree, then whether the action serves the task; the
grade comes last. An answer that cannot be read, or is unsure, is an abstention; a failing endpoint an error. Neither
ever becomes a grade. (Order and grades: UI-Venus-2 report, section on step-level verification.)
"""

from __future__ import annotations

from collections.abc import MutableSequence, Sequence
from typing import Literal, NamedTuple

from pydantic import BaseModel

from pipeline.actions import Action
from pipeline.errors import ModelError
from pipeline.llm import Client, Picture
from pipeline.protocols import JudgeView, Move
from pipeline.records import Frame, ModelCall, Record, Step, Vote
from pipeline.structs import Usage
from pipeline.words import StepGrade, VoteStatus
from verifiers.asking import Asked, NoAnswer, Told, language_of, prompt_sha256, shown, structured
from verifiers.overlay import marked
from verifiers.quoting import quoted

PROMPT = "step"
STAGE = "step"
"""Stage of its calls."""
_HISTORY = 20

_WORDS = {
    "en": {
        "task": "Task:",
        "history": "Done so far, oldest first:",
        "nothing": "(nothing)",
        "thought": "The agent's thought:",
        "action": "The proposed action:",
        "screen": "The screen now, with the place of the action:",
    },
    "zh": {
        "task": "任务：",
        "history": "此前所做（由早到晚）：",
        "nothing": "（无）",
        "thought": "智能体的想法：",
        "action": "打算执行的动作：",
        "screen": "当前屏幕，标出了动作的位置：",
    },
}


class Proposal(NamedTuple):
    """A step before it happens: the screen it was decided on, what the agent thinks, what it would do, in order."""

    view: JudgeView
    frame: Frame
    history: Sequence[str]
    thought: str
    moves: Sequence[Move]


class StepAnswer(BaseModel):
    """What the model answers; the reasons come before the grade."""

    target: str
    thought_and_action: str
    agree: bool
    service_to_task: str
    grade: Literal["correct", "explore", "invalid", "wrong", "unsure"]


class StepVerifier:
    """Grades proposals by one model."""

    def __init__(self, client: Client, name: str, family: str) -> None:
        self._client, self.name, self.family = client, name, family

    async def grade(self, proposal: Proposal, pass_id: str, ledger: MutableSequence[ModelCall]) -> Vote:
        """The vote on a proposal; `attempt_id` and `step_index` are the caller's to fill in. Raises RunError."""
        asked, language = Asked(None, pass_id, ledger), language_of(proposal.view.language)
        try:
            found = await structured(self._client, STAGE, PROMPT, language, _parts(proposal), StepAnswer, asked)
        except ModelError as error:
            return self._vote(proposal, pass_id, ("error", None, f"{error.code}: {error.message}"), None)
        if isinstance(found, NoAnswer):
            return self._vote(proposal, pass_id, ("abstain", None, found.reason), found.told)
        answer, told = found
        reason = f"{answer.target} {answer.thought_and_action} {answer.service_to_task}"
        if answer.grade == "unsure":
            return self._vote(proposal, pass_id, ("abstain", None, reason), told)
        return self._vote(proposal, pass_id, ("graded", answer.grade, reason), told)

    def _vote(
        self, proposal: Proposal, pass_id: str, said: tuple[VoteStatus, StepGrade | None, str], told: Told | None
    ) -> Vote:
        status, grade, reason = said
        return Vote(
            pass_id=pass_id,
            target="step",
            attempt_id="",
            step_index=None,
            judge=self.name,
            judge_kind="model",
            family=self.family,
            status=status,
            grade=grade,
            reason=reason,
            frame_sha256s=[proposal.frame.sha256],
            prompt_sha256=prompt_sha256(PROMPT, language_of(proposal.view.language)),
            reply=told.text if told else None,
            usage=told.usage if told else Usage(),
        )


def proposal_of(view: JudgeView, record: Record, index: int) -> Proposal | None:
    """A stored step as it was before it happened; null when there is no picture or no action to grade."""
    step = record.steps[index]
    frame = record.frames.get(record.observations[index].frame_sha256 or "")
    if frame is None or step.action is None:
        return None
    points = [point for point in (step.device_point, step.device_point_end) if point is not None]
    history = [f"{number}. {told_of(earlier)}" for number, earlier in enumerate(record.steps[:index], 1)]
    return Proposal(view, frame, history, step.thought, [Move(action=step.action, device_points=points)])


def told_of(step: Step) -> str:
    """A step that is over, in one line: the action and what became of it."""
    said = spelled(step.action) if step.action else "(no action)"
    failed = f": {step.action_error}" if step.action_error else ""
    return f"{said} -> {step.status}{failed}"


def _parts(proposal: Proposal) -> list[str | Picture]:
    """What the model is shown beside its instructions."""
    words = _WORDS[language_of(proposal.view.language)]
    history = "\n".join(proposal.history[-_HISTORY:])
    before = [
        words["task"],
        quoted(proposal.view.instruction),
        words["history"],
        quoted(history, most=8000) if history else words["nothing"],
        words["thought"],
        quoted(proposal.thought),
        words["action"],
        quoted("\n".join(spelled(move.action) for move in proposal.moves)),
        words["screen"],
    ]
    points = [point for move in proposal.moves for point in move.device_points]
    return ["\n".join(before), shown(marked(proposal.frame, points))]


def spelled(action: Action) -> str:
    """The action without its numbers, which a judge is not to repeat: the rings show them."""
    hidden = {"point", "start", "end"} & set(type(action).model_fields)
    return action.model_dump_json(exclude=hidden)
