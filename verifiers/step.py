"""The step verifier: a model grades a proposed step from what is known before it happens, never from its outcome.

First what the action would touch, then whether thought and action agree, then whether the action serves the task; the
grade comes last. An answer that cannot be read, or is unsure, is an abstention; a failing endpoint an error. Neither
ever becomes a grade. (Order and grades: UI-Venus-2 report, section on step-level verification.)
"""

from __future__ import annotations

import hashlib
from collections.abc import MutableSequence, Sequence
from importlib import resources
from typing import Literal, NamedTuple, get_args

from pydantic import BaseModel

from pipeline.actions import Action, Pixel, render
from pipeline.errors import ModelError
from pipeline.llm import Client, Message, Picture, Prompt, Reply, Unreadable, picture_of, read_structured
from pipeline.protocols import JudgeView, Move
from pipeline.records import Frame, ModelCall, Vote
from pipeline.words import StepGrade, VoteStatus
from verifiers.overlay import marked
from verifiers.quoting import quoted

NAME = "step"
"""The judge's name in rows, and the stage of its calls."""
LANGUAGES = ("en", "zh")
_MAX_TOKENS = 1024
_HISTORY = 20
_GRADES: tuple[StepGrade, ...] = get_args(StepGrade)

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

    def __init__(self, client: Client, family: str) -> None:
        self._client, self.family = client, family

    async def grade(self, proposal: Proposal, pass_id: str, ledger: MutableSequence[ModelCall]) -> Vote:
        """The vote on a proposal; `attempt_id` and `step_index` are the caller's to fill in. Raises RunError."""
        language = language_of(proposal.view.language)
        try:
            reply = await self._client.ask(
                prompt_of(proposal),
                stage=NAME,
                ledger=ledger,
                pass_id=pass_id,
                schema=StepAnswer,
                max_tokens=_MAX_TOKENS,
                temperature=0.0,
            )
        except ModelError as error:
            return self._vote(proposal, pass_id, language, "error", f"{error.code}: {error.message}", None)
        answer = _answer(reply)
        if isinstance(answer, str):
            return self._vote(proposal, pass_id, language, "abstain", answer, reply)
        reason = f"{answer.target} {answer.thought_and_action} {answer.service_to_task}"
        if answer.grade == "unsure":
            return self._vote(proposal, pass_id, language, "abstain", reason, reply)
        return self._vote(proposal, pass_id, language, "graded", reason, reply, answer.grade)

    def _vote(
        self,
        proposal: Proposal,
        pass_id: str,
        language: str,
        status: VoteStatus,
        reason: str,
        reply: Reply | None,
        grade: StepGrade | None = None,
    ) -> Vote:
        return Vote(
            pass_id=pass_id,
            target="step",
            attempt_id="",
            step_index=None,
            judge=NAME,
            judge_kind="model",
            family=self.family,
            status=status,
            grade=grade,
            reason=reason,
            frame_sha256s=[proposal.frame.sha256],
            prompt_sha256=hashlib.sha256(system_text(language).encode()).hexdigest(),
            reply=reply.text if reply else None,
            **({"usage": reply.usage} if reply else {}),
        )


def prompt_of(proposal: Proposal) -> Prompt:
    """What the model is shown."""
    language = language_of(proposal.view.language)
    words = _WORDS[language]
    history = "\n".join(proposal.history[-_HISTORY:])
    proposed = "\n".join(_told(move.action) for move in proposal.moves)
    before = [
        words["task"],
        quoted(proposal.view.instruction),
        words["history"],
        quoted(history, most=8000) if history else words["nothing"],
        words["thought"],
        quoted(proposal.thought),
        words["action"],
        quoted(proposed),
        words["screen"],
    ]
    return [Message("system", (system_text(language),)), Message("user", ("\n".join(before), _picture(proposal)))]


def system_text(language: str) -> str:
    """The instructions in one of the languages."""
    return (resources.files("verifiers") / "prompts" / f"step.{language}.md").read_text(encoding="utf-8")


def language_of(language: str) -> str:
    """The language of the prompts for a task's language."""
    return "zh" if language.startswith("zh") else "en"


def _picture(proposal: Proposal) -> Picture:
    points: list[Pixel] = [point for move in proposal.moves for point in move.device_points]
    return picture_of(marked(proposal.frame, points))


def _told(action: Action) -> str:
    """The action without its numbers, which a judge is not to repeat: the rings show them."""
    hidden = {"point", "start", "end"} & set(type(action).model_fields)
    return render(action) if not hidden else action.model_dump_json(exclude=hidden)


def _answer(reply: Reply) -> StepAnswer | str:
    if reply.outcome != "answered":
        return f"the judge's reply is {reply.outcome}"
    answer = read_structured(reply.text, StepAnswer)
    return answer.reason if isinstance(answer, Unreadable) else answer
