"""A second opinion before an action happens: a model says what it would bring about, and whether that was asked for.

It is shown the instruction, the action, the control under the point and the screen; never the agent's reasoning. What
it says can only make the gate stricter. An answer that cannot be read is none, and none is an error: the action does
not happen.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from pydantic import BaseModel

from pipeline.actions import Action
from pipeline.errors import ModelError
from pipeline.llm import Client, Picture
from pipeline.protocols import Observation, Opinion
from pipeline.records import ModelCall
from pipeline.structs import TargetUnderPoint
from pipeline.tasks import TaskSpec
from pipeline.words import Consequence
from verifiers.asking import Asked, NoAnswer, language_of, shown, structured
from verifiers.overlay import marked
from verifiers.quoting import quoted
from verifiers.step import spelled

PROMPT = "consequence"
STAGE = "gate"
"""Stage of its calls."""
_MOST_NODES = 150
_MOST_CHARACTERS = 6000

_WORDS = {
    "en": {
        "task": "What the user asked for:",
        "action": "The action:",
        "target": "The control it works:",
        "nothing": "(none is named)",
        "title": "The window or page:",
        "texts": "What stands on the screen:",
        "screen": "The screen now:",
    },
    "zh": {
        "task": "用户的要求：",
        "action": "动作：",
        "target": "它所作用的控件：",
        "nothing": "（没有名称）",
        "title": "窗口或页面：",
        "texts": "屏幕上的文字：",
        "screen": "当前屏幕：",
    },
}


class ConsequenceAnswer(BaseModel):
    """What the model answers; what the control does comes before the class."""

    what_it_does: str
    consequence: Consequence | Literal["none"]
    asked_for: bool
    why: str


class ConsequenceOpinion:
    """Opinions of one model; a `SecondOpinion`."""

    def __init__(self, client: Client) -> None:
        self._client = client
        self._calls: list[ModelCall] = []

    async def of(
        self, task: TaskSpec, observation: Observation, action: Action, target: TargetUnderPoint | None
    ) -> Opinion:
        """What the model makes of an action; raises ModelError when it gives no answer, and RunError."""
        language = language_of(task.language)
        parts = _parts(task, observation, action, target)
        asked = Asked(None, None, self._calls)
        found = await structured(self._client, STAGE, PROMPT, language, parts, ConsequenceAnswer, asked)
        if isinstance(found, NoAnswer):
            raise ModelError("no_opinion", f"the second opinion of the gate: {found.reason}")
        answer, _ = found
        consequence = None if answer.consequence == "none" else answer.consequence
        return Opinion(consequence, answer.asked_for, f"{answer.what_it_does} {answer.why}".strip())

    def drain_calls(self) -> list[ModelCall]:
        """Its calls since the last time."""
        calls, self._calls[:] = list(self._calls), []
        return calls


def _parts(
    task: TaskSpec, observation: Observation, action: Action, target: TargetUnderPoint | None
) -> list[str | Picture]:
    words = _WORDS[language_of(task.language)]
    nodes = observation.tree.nodes[:_MOST_NODES] if observation.tree is not None else []
    lines = "\n".join(_line(node.role, node.name, node.value, node.states) for node in nodes if node.name or node.value)
    works = _line(target.role, target.name, "", target.states) if target is not None else ""
    said = [
        words["task"],
        quoted(task.instruction),
        words["action"],
        quoted(spelled(action)),
        words["target"],
        quoted(works) if works else words["nothing"],
        words["title"],
        quoted(f"{observation.title} {observation.location}"),
        words["texts"],
        quoted(lines, most=_MOST_CHARACTERS),
    ]
    if observation.frame is None:
        return ["\n".join(said)]
    points = [target.box.centre] if target is not None and target.box is not None else []
    return ["\n".join([*said, words["screen"]]), shown(marked(observation.frame, points))]


def _line(role: str, name: str, value: str, states: Sequence[str]) -> str:
    return " ".join(part for part in (role, name, f"= {value}" if value else "", " ".join(states)) if part)
