"""What the acting model is shown: the task, its notes, its own replies, what became of each, and the newest pictures.

The newest turns stand as a conversation with their pictures; older ones are lines of text. Where all of it does not
fit the model's context, pictures go first, the oldest before the others, then the oldest lines. Outcomes are told as
they are: a failed action did not happen. This module knows nothing of endpoints and decides nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from importlib import resources
from typing import NamedTuple

from pipeline.actions import Action, TakeNote, render
from pipeline.dialects import Dialect
from pipeline.dialects import Picture as Size
from pipeline.errors import ModelError
from pipeline.injection import defused
from pipeline.llm import Message, Picture, picture_of
from pipeline.policies.wording import is_chinese
from pipeline.protocols import Decision, Turn
from pipeline.records import Frame, Step
from pipeline.tasks import TaskSpec
from pipeline.words import Platform

BYTES_PER_TOKEN = 3
"""Of UTF-8; fewer than tokenizers need for English or Chinese, so that the estimate errs on the safe side."""
_LINE = 300

_WORDS = {
    "en": {
        "task": "The task: {}",
        "notes": "Your notes:",
        "earlier": "Earlier actions, oldest first:",
        "now": "The screen now:",
        "blind": "There is no picture of the screen now ({}).",
        "done": "Done.",
        "same": "Done, but the picture is the same as before.",
        "partly": "The first {} of {} actions were carried out.",
        "failed": "It did not happen: {}",
        "unread": "Your reply could not be used: {}",
        "unknown": "It is not known whether it happened.",
        "told": "Answer: {}",
        "rejected": "This proposal was not carried out: {} Propose something else.",
    },
    "zh": {
        "task": "任务：{}",
        "notes": "你的笔记：",
        "earlier": "更早的动作（由早到晚）：",
        "now": "当前屏幕：",
        "blind": "当前没有屏幕图片（{}）。",
        "done": "已执行。",
        "same": "已执行，但画面与之前相同。",
        "partly": "{1} 个动作中执行了前 {0} 个。",
        "failed": "没有执行：{}",
        "unread": "无法使用你的回复：{}",
        "unknown": "不确定是否已执行。",
        "told": "回答：{}",
        "rejected": "该提议没有执行：{} 请提出别的做法。",
    },
}


class Rejected(NamedTuple):
    """A reply of this turn that was not carried out, and why."""

    reply: str
    reason: str


class Past(NamedTuple):
    """A turn that is over: the picture it was decided on, the reply, its actions, and what became of them."""

    frame: Frame | None
    reply: str
    actions: Sequence[Action]
    outcome: str


class Transcript:
    """The conversation of one episode. `room` is how many tokens a prompt may take, null where that is not known."""

    def __init__(self, task: TaskSpec, dialect: Dialect, images: int, room: int | None) -> None:
        self._task, self._dialect, self._images, self._room = task, dialect, images, room
        self._words = _WORDS[language_of(task.language)]
        self._past: list[Past] = []
        self._open: tuple[Frame | None, Decision] | None = None
        self._notes: list[str] = []

    @property
    def history(self) -> list[str]:
        """One line for each turn that is over: its actions and what became of them."""
        return [f"{number}. {_line(past)}" for number, past in enumerate(self._past, 1)]

    def begin(self, turn: Turn) -> None:
        """The world has answered the last decision."""
        if self._open is None or turn.last_step is None:
            return
        frame, decision = self._open
        self._open = None
        actions = [decision.action, *(move.action for move in decision.then)] if decision.action else []
        done = turn.last_step.substep + (turn.last_step.status == "ok")
        self._notes += [action.content for action in actions[:done] if isinstance(action, TakeNote)]
        self._past.append(
            Past(frame, decision.reply, actions, self._outcome(turn, turn.last_step, frame, len(actions)))
        )

    def decided(self, turn: Turn, decision: Decision) -> None:
        """This is what will be done in this turn."""
        self._open = (turn.observation.frame, decision)

    def prompt(self, turn: Turn, rejected: Sequence[Rejected]) -> list[Message]:
        """The messages for a decision; raises ModelError when not even the newest picture fits."""
        for shown in range(min(self._images - 1, len(self._past)), -1, -1):
            messages = self._messages(turn, rejected, shown, len(self._past))
            if self._fits(messages):
                return messages
        lines = len(self._past) // 2
        while lines:
            messages = self._messages(turn, rejected, 0, lines)
            if self._fits(messages):
                return messages
            lines //= 2
        messages = self._messages(turn, rejected, 0, 0)
        if self._fits(messages):
            return messages
        raise ModelError("context_too_small", f"one picture and the task do not fit into {self._room} tokens")

    def _messages(self, turn: Turn, rejected: Sequence[Rejected], shown: int, lines: int) -> list[Message]:
        """The conversation with the newest `shown` turns in full, and at most `lines` of the older ones as text."""
        recent = self._past[len(self._past) - shown :]
        older = self.history[: len(self._past) - shown][-lines:] if lines else []
        said = [self._words["task"].format(self._task.instruction)]
        said += [self._words["notes"], *(f"- {note}" for note in self._notes)] if self._notes else []
        said += [self._words["earlier"], *older] if older else []
        messages = [Message("system", (system_text(self._task.platform, self._task.language, self._dialect),))]
        for past in recent:
            messages.append(Message("user", self._screen(said, past.frame, "")))
            messages.append(Message("assistant", (past.reply or "…",)))
            said = [past.outcome]
        if not recent and self._past and not older:
            said.append(self._past[-1].outcome)
        messages.append(
            Message("user", self._screen(said, turn.observation.frame, turn.observation.capture_error or ""))
        )
        for one in rejected:
            messages.append(Message("assistant", (one.reply or "…",)))
            messages.append(Message("user", (self._words["rejected"].format(one.reason),)))
        return messages

    def _screen(self, said: Sequence[str], frame: Frame | None, error: str) -> tuple[str | Picture, ...]:
        text = "\n".join([*said, self._words["now"] if frame else self._words["blind"].format(error or "?")])
        return (text,) if frame is None else (text, self._sent(frame))

    def _sent(self, frame: Frame) -> Picture:
        size = self._dialect.sent_size(Size(frame.width, frame.height))
        return picture_of(frame, size.width, size.height)

    def _fits(self, messages: Sequence[Message]) -> bool:
        return self._room is None or tokens_in(messages, self._dialect.picture_tokens) <= self._room

    def _outcome(self, turn: Turn, step: Step, frame: Frame | None, count: int) -> str:
        words, detail = self._words, defused(step.error_detail or "")
        if step.action is None:
            return words["unread"].format(f"{step.action_error}: {detail}")
        said = []
        if count > 1 and step.substep + 1 < count:
            said.append(words["partly"].format(step.substep + (step.status == "ok"), count))
        if step.status == "failed":
            said.append(words["failed"].format(detail or step.action_error))
        elif step.status == "unknown":
            said.append(words["unknown"])
        else:
            said.append(words["same" if _same(frame, turn.observation.frame) else "done"])
            said += [words["told"].format(defused(turn.feedback))] if turn.feedback else []
        return " ".join(said)


def system_text(platform: Platform, language: str, dialect: Dialect) -> str:
    """The system prompt: how to work on a platform, and the dialect's actions there."""
    actions = dialect.action_space(platform, language_of(language))
    return template(platform, language_of(language)).replace("{action_space}", actions)


def template(platform: Platform, language: str) -> str:
    """The system prompt of a platform in `en` or `zh`, before the actions are put in."""
    name = f"chat.{platform}.{language}.md"
    return (resources.files("pipeline.policies") / "prompts" / name).read_text(encoding="utf-8")


def language_of(language: str) -> str:
    """The language of the prompts for a task's language."""
    return "zh" if is_chinese(language) else "en"


def tokens_in(messages: Sequence[Message], picture_tokens: Callable[[Size], int]) -> int:
    """An estimate, from above, of what a prompt takes: text by its bytes, pictures by the model's own rule."""
    count = 0
    for message in messages:
        count += 8
        for part in message.parts:
            if isinstance(part, str):
                count += -(-len(part.encode("utf-8")) // BYTES_PER_TOKEN)
            else:
                count += picture_tokens(Size(part.width, part.height))
    return count


def _same(before: Frame | None, after: Frame | None) -> bool:
    return before is not None and after is not None and before.sha256 == after.sha256


def _line(past: Past) -> str:
    said = "; ".join(render(action) for action in past.actions) or past.reply
    return f"{said[:_LINE]} -> {past.outcome}".replace("\n", " ")
