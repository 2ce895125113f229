"""The canonical rows of each shape, before any trainer's own keys; the column names are the fields.

Pictures are Hugging Face images whose path is the hash of their bytes. A chat is a list of messages in parts, and
pictures belong to its image parts in order. This module knows nothing of datasets, trainers or files.
"""

from __future__ import annotations

from typing import Literal

from pipeline.actions import Action, Model
from pipeline.exports.mopd import MopdWeights
from pipeline.exports.replies import Span
from pipeline.structs import Image
from pipeline.words import ActionErrorCode, Domain, Platform, StepGrade, StepStatus, TraceGrade

Shape = Literal["kto", "mopd", "prm", "rl-step", "sft"]
Role = Literal["system", "user", "assistant"]
Origin = Literal["executed", "rejected"]


class Part(Model):
    """A piece of a message: text, or the place of the next picture."""

    type: Literal["text", "image"]
    text: str | None = None


class Message(Model):
    """One message of a chat."""

    role: Role
    content: list[Part]


class Row(Model):
    """What every row has: where it comes from, what is shown, and what is said to the model."""

    row_id: str
    run_id: str
    trajectory_id: str
    attempt_id: str
    task_id: str
    template_id: str | None
    app_ids: list[str]
    platform: Platform
    domain: Domain
    language: str
    policy: str
    flags: list[str]
    instruction: str
    messages: list[Message]
    images: list[Image]


class ChatRow(Row):
    """Shape `sft`: a whole trajectory as a chat; `actions` and `step_grades` go with the assistant's messages."""

    actions: list[Action]
    step_grades: list[StepGrade | None]
    trace_grade: TraceGrade | None
    trace_share: float | None
    usable: bool


class StepRow(Row):
    """Shape `rl-step`: one step, what it did, and the components of a reward side by side."""

    step_index: int
    reply: str
    action: Action
    status: StepStatus
    action_error: ActionErrorCode | None
    step_grade: StepGrade | None
    step_share: float | None
    trace_grade: TraceGrade | None
    trace_share: float | None
    contract_score: float | None
    segment_score: float | None
    data_source: str


class ProcessRow(Row):
    """Shape `prm`: the steps of a trajectory, each right or not; one picture per step, as it was before it."""

    completions: list[str]
    actions: list[Action]
    labels: list[bool | None]
    step_grades: list[StepGrade | None]
    trace_grade: TraceGrade | None


class LabelRow(Row):
    """Shape `kto`: one step, wanted or not as its whole trajectory was."""

    step_index: int
    reply: str
    action: Action
    label: bool
    step_grade: StepGrade | None
    trace_grade: TraceGrade | None
    usable: bool


class SpanRow(Row):
    """Shape `mopd`: a student's reply, where its parts lie, what the teacher is told besides, what still counts.

    The reply is that of the executed action, or of one that was rejected before; only for the latter, when its executed
    revision was right, there are weights.
    """

    step_index: int
    origin: Origin
    reply: str
    action: Action
    spans: list[Span]
    teacher_hint: str | None
    weights: MopdWeights | None
    step_grade: StepGrade | None


AnyRow = ChatRow | StepRow | ProcessRow | LabelRow | SpanRow
