"""The trace verifier: a model grades a whole trajectory from its screens, keypoint by keypoint.

Five stages: keypoints from the task alone; the distinct screens in windows, with the place of each action ringed; per
window, all at once, which keypoints its screens show met; clear cases by rule, the others by a final look; a report
in which every keypoint has its state, its screens and a reason. The agent's claim and thoughts are never evidence, and
what is quoted is marked as such. Where a window gave no answer, or windows contradict each other, nothing is a clear
case. (UI-Venus-2 report, trace-level verification.)
"""

from __future__ import annotations

from collections.abc import MutableSequence, Sequence
from itertools import islice, pairwise
from typing import Literal, NamedTuple

from pydantic import BaseModel

from pipeline.budget import consumed
from pipeline.errors import ModelError
from pipeline.llm import Client, Picture
from pipeline.protocols import Judged, JudgeView
from pipeline.records import Frame, Keypoint, ModelCall, Record, Step, Vote
from pipeline.structs import Usage
from pipeline.words import TraceGrade, VoteStatus
from verifiers.asking import Asked, NoAnswer, language_of, pinned_sha256, shown, structured, together
from verifiers.drafting import KEYPOINTS, PRIOR, Remembered, draft_keypoints, draft_prior
from verifiers.operations import any_task_specific
from verifiers.overlay import close_up, marked
from verifiers.quoting import quoted
from verifiers.shots import Shot, chosen, shots_of, windows_of
from verifiers.step import told_of
from verifiers.window_notes import Finding, Findings, WindowAnswer, findings_of_windows

WINDOW, FINAL = "window", "trace"
"""Names of the prompts, and stages of the calls."""
PROMPTS = (KEYPOINTS, PRIOR, WINDOW, FINAL)
"""All that lead to a vote; one that is cast without the final look is pinned to the same."""
_PICTURES_PER_SHOT = 2
"""A screen, and its place of action once more where that is small and the limit leaves room."""
_MOST_SHOTS = 20
_LAST_SHOTS = 2

_WORDS = {
    "en": {
        "task": "Task:",
        "prior": "General knowledge, which may be wrong here:",
        "keypoints": "Keypoints:",
        "keypoint": "Keypoint {}:",
        "found": "Found `{}`:",
        "screen": "Screen {}:",
        "close": "The same place, larger:",
        "then": "Then:",
        "notes": "What was found, keypoint by keypoint:",
        "unseen": "Nothing is known of screens {} to {}: whoever was to look at them gave no answer.",
        "behaviour": "Behaviour:",
        "end": "It ended as `{}` after {} steps; {} failed, {} were repeated on an unchanged screen.",
        "said": "What the agent said at the end (a claim):",
        "last": "The last screens:",
    },
    "zh": {
        "task": "任务：",
        "prior": "一般知识，在这里可能不对：",
        "keypoints": "要点：",
        "keypoint": "要点 {}：",
        "found": "查得 `{}`：",
        "screen": "屏幕 {}：",
        "close": "同一处，放大：",
        "then": "然后：",
        "notes": "逐个要点的查验情况：",
        "unseen": "屏幕 {} 至 {} 的情况不明：负责查看的一方没有给出答复。",
        "behaviour": "行为：",
        "end": "结束方式为 `{}`，共 {} 步；{} 步失败，{} 步在未变化的屏幕上重复。",
        "said": "智能体最后说的话（只是声称）：",
        "last": "最后的屏幕：",
    },
}


class TraceAnswer(BaseModel):
    """The final look; the reasons stand before the grade."""

    speaks_for: str
    speaks_against: str
    grade: Literal["complete", "partial", "infeasible", "fail", "unsure"]


class Ruling(NamedTuple):
    """What the verifier says in the end, and with which reply."""

    status: VoteStatus
    grade: TraceGrade | None
    reason: str
    reply: str | None = None


class TraceVerifier:
    """Grades trajectories by one model."""

    def __init__(self, client: Client, name: str, family: str, images: int) -> None:
        self._client, self.name, self.family = client, name, family
        self._images, self._size = images, window_size(images)
        self._drafts = Remembered()

    async def judge(self, view: JudgeView, record: Record, pass_id: str, ledger: MutableSequence[ModelCall]) -> Judged:
        """One vote on the trajectory, and the state of every keypoint; raises RunError."""
        calls: list[ModelCall] = []
        asked = Asked(record.attempt.attempt_id, pass_id, calls)
        shots = chosen(shots_of(record), _MOST_SHOTS)
        try:
            texts, prior = await self._drafted(view, shots[0], asked)
            findings = await self._found(view, prior, texts, shots, asked)
            ruling = clear_case(record, findings) or await self._final(view, prior, findings, record, shots, asked)
        except ModelError as error:
            findings, ruling = Findings([], []), Ruling("error", None, f"{error.code}: {error.message}")
        finally:
            ledger.extend(calls)
        usage = consumed(calls)
        vote = self._vote(view, record, ruling, [shot.frame.sha256 for shot in shots], pass_id, usage)
        return Judged([vote], [self._row(n, found, record, pass_id) for n, found in enumerate(findings.of_keypoints)])

    async def _drafted(self, view: JudgeView, first: Shot, asked: Asked) -> tuple[Sequence[str], str]:
        """The task's keypoints, and general knowledge of such tasks."""
        keypoints, prior = await together(
            [
                self._drafts.get(f"keypoints {view.task_id}", lambda: draft_keypoints(self._client, view, asked)),
                self._drafts.get(f"prior {view.task_id}", lambda: draft_prior(self._client, view, first.frame, asked)),
            ]
        )
        return keypoints, "".join(prior)

    async def _found(
        self, view: JudgeView, prior: str, texts: Sequence[str], shots: Sequence[Shot], asked: Asked
    ) -> Findings:
        """The state of every keypoint over all windows."""
        windows = windows_of(shots, self._size)
        answers = await together(self._look(view, prior, texts, window, asked) for window in windows)
        return findings_of_windows(texts, windows, answers)

    async def _look(
        self, view: JudgeView, prior: str, texts: Sequence[str], window: Sequence[Shot], asked: Asked
    ) -> WindowAnswer | None:
        language = language_of(view.language)
        words = _WORDS[language]
        said = [words["task"], quoted(view.instruction)]
        said += [words["prior"], quoted(prior)] if prior else []
        said.append(words["keypoints"])
        said += [f"{words['keypoint'].format(number)}\n{quoted(text)}" for number, text in enumerate(texts)]
        parts: list[str | Picture] = ["\n".join(said)]
        nearer = _close_ups(window, self._images - len(window))
        for shot in window:
            parts += _shown(shot, nearer.get(shot.look), words)
        found = await structured(self._client, WINDOW, WINDOW, language, parts, WindowAnswer, asked)
        return None if isinstance(found, NoAnswer) else found[0]

    async def _final(
        self,
        view: JudgeView,
        prior: str,
        findings: Findings,
        record: Record,
        shots: Sequence[Shot],
        asked: Asked,
    ) -> Ruling:
        language = language_of(view.language)
        words, trajectory = _WORDS[language], record.trajectory
        said = [words["task"], quoted(view.instruction)]
        said += [words["prior"], quoted(prior)] if prior else []
        said += [words["notes"], *_told(findings, words)]
        said += [words["unseen"].format(*looks) for looks in findings.unseen]
        failed = sum(step.status == "failed" for step in record.steps)
        ending = words["end"].format(trajectory.termination, len(record.steps), failed, repeats(record))
        said += [words["behaviour"], ending]
        said += [words["said"], quoted(said_at_end(record)), words["last"]]
        parts: list[str | Picture] = ["\n".join(said)]
        for shot in shots[-min(_LAST_SHOTS, self._images) :]:
            parts += [words["screen"].format(shot.look), shown(shot.frame)]
        found = await structured(self._client, FINAL, FINAL, language, parts, TraceAnswer, asked)
        if isinstance(found, NoAnswer):
            return Ruling("abstain", None, found.reason, found.told.text)
        answer, reply = found
        reason = f"{answer.speaks_for} {answer.speaks_against}"
        if answer.grade == "unsure":
            return Ruling("abstain", None, reason, reply.text)
        return Ruling("graded", answer.grade, reason, reply.text)

    def _vote(
        self, view: JudgeView, record: Record, ruling: Ruling, frames: Sequence[str], pass_id: str, usage: Usage
    ) -> Vote:
        return Vote(
            pass_id=pass_id,
            target="trace",
            attempt_id=record.attempt.attempt_id,
            judge=self.name,
            judge_kind="model",
            family=self.family,
            status=ruling.status,
            grade=ruling.grade,
            reason=ruling.reason,
            frame_sha256s=list(dict.fromkeys(frames)),
            prompt_sha256=pinned_sha256(PROMPTS, language_of(view.language)),
            reply=ruling.reply,
            usage=usage,
        )

    def _row(self, number: int, found: Finding, record: Record, pass_id: str) -> Keypoint:
        return Keypoint(
            pass_id=pass_id,
            attempt_id=record.attempt.attempt_id,
            keypoint_index=number,
            text=found.text,
            state=found.state,
            window=found.window,
            frame_sha256s=found.frame_sha256s,
            reason=found.reason,
            judge=self.name,
        )


def clear_case(record: Record, findings: Findings) -> Ruling | None:
    """What needs no final look: everything met and nothing claimed beyond that, or nothing met and nothing done.

    An answer, or a report that the task cannot be done, is always looked at, and so is what a window left unseen.
    """
    trajectory, found = record.trajectory, findings.of_keypoints
    states = {one.state for one in found}
    if trajectory.answer is not None or trajectory.claim == "infeasible" or not found or findings.unseen:
        return None
    reason = "; ".join(f"{one.text} {one.state}" for one in found)
    if states == {"met"} and trajectory.termination == "finished":
        return Ruling("graded", "complete", reason)
    if states == {"unmet"} and not any_task_specific(record):
        return Ruling("graded", "fail", f"nothing was done that could have changed anything; {reason}")
    return None


def repeats(record: Record) -> int:
    """How many steps did the same as the one before, on the same picture."""
    pictures = [row.frame_sha256 for row in record.observations]
    pairs = pairwise(record.own_steps)
    return sum(
        before.action is not None
        and before.action == after.action
        and pictures[before.step_index] == pictures[after.step_index]
        for before, after in pairs
    )


def said_at_end(record: Record) -> str:
    """The agent's last words: its answer, or what its last action says."""
    if record.trajectory.answer is not None:
        return record.trajectory.answer
    last = record.steps[-1].action if record.steps else None
    return str(getattr(last, "content", "")) if last is not None else ""


def window_size(images: int) -> int:
    """How many screens a window has where so many pictures (two or more) may be shown at once."""
    return max(2, images // _PICTURES_PER_SHOT)


def most_calls(steps: int, images: int) -> int:
    """How often a model is called at most about a trajectory of so many steps."""
    shots, size = min(steps + 1, _MOST_SHOTS), window_size(images)
    windows = max(1, -(-(shots - 1) // (size - 1)))
    return len(PROMPTS) - 1 + windows


def _close_ups(window: Sequence[Shot], most: int) -> dict[int, Frame]:
    """Small places of action once more, by look, as far as screens leave room for more pictures."""
    near = {shot.look: close_up(shot.frame, shot.points[0], shot.box) for shot in window if shot.points}
    return dict(islice(((look, found) for look, found in near.items() if found is not None), most))


def _told(findings: Findings, words: dict[str, str]) -> list[str]:
    """Every keypoint with its state and the reason; its words are a model's that read the task, and so are data."""
    said: list[str] = []
    for number, found in enumerate(findings.of_keypoints):
        said += [words["keypoint"].format(number), quoted(found.text)]
        said += [words["found"].format(found.state), quoted(found.reason)]
    return said


def _shown(shot: Shot, near: Frame | None, words: dict[str, str]) -> list[str | Picture]:
    """A screen with the place of its action, that place again where it is small, and what was done there."""
    parts: list[str | Picture] = [words["screen"].format(shot.look), shown(marked(shot.frame, shot.points))]
    if near is not None:
        parts += [words["close"], shown(near)]
    if shot.steps:
        parts.append("\n".join([words["then"], quoted("\n".join(_step(step) for step in shot.steps))]))
    return parts


def _step(step: Step) -> str:
    """What was done, with the name of what lay under its point."""
    target = f" on {step.target.role} {step.target.name!r}" if step.target else ""
    return f"{told_of(step)}{target}"
