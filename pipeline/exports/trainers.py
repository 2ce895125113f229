"""Each trainer's own keys: one row model and one renderer per shape it can read.

Trainers that load Parquet get pictures in their rows; the others get JSON lines and picture files beside them. What a
trainer cannot read has no entry in `RENDERERS`. This module knows nothing of where rows come from.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Literal, NamedTuple

from pipeline.actions import Model, render
from pipeline.errors import ConfigError
from pipeline.exports.preflight import PLACEHOLDER
from pipeline.exports.prompts import said, text
from pipeline.exports.rows import (
    ChatRow,
    LabelRow,
    Message,
    ProcessRow,
    Row,
    SpanRow,
    StepRow,
)
from pipeline.structs import Image
from pipeline.words import Domain, StepGrade, TraceGrade

Trainer = Literal["hf", "llama-factory", "ms-swift", "trl", "verl"]

PICTURES = "images"
"""Folder of picture files, beside the JSON lines."""


class PlainMessage(Model):
    """A message whose pictures are placeholders in its text."""

    role: str
    content: str


class GroundTruth(Model):
    """verl: what a reward function is given: what was done, right or not, and the components, which stay apart."""

    contract_id: str
    action: str
    step_grade: StepGrade | None
    step_share: float | None
    trace_grade: TraceGrade | None
    trace_share: float | None
    contract_score: float | None
    segment_score: float | None


class RewardModel(Model):
    """verl: how a row is rewarded."""

    style: Literal["rule"] = "rule"
    ground_truth: GroundTruth


class NoTool(Model):
    """verl: arguments of tools by the tool's name, of which there are none; a struct without fields is no column."""

    none: str | None = None


class NoInteraction(Model):
    """verl: the interaction that answers the model, which has no name, for there is none."""

    name: str | None = None


class ExtraInfo(Model):
    """verl: what else a row says of itself; `answer` is the right one, and null where none is known."""

    split: str
    index: int
    answer: str | None
    question: str
    need_tools_kwargs: bool = False
    tools_kwargs: NoTool = NoTool()
    interaction_kwargs: NoInteraction = NoInteraction()
    row_id: str


class VerlRow(Model):
    """verl, `rl-step`."""

    data_source: str
    prompt: list[PlainMessage]
    images: list[Image]
    ability: str
    reward_model: RewardModel
    extra_info: ExtraInfo


class TrlChat(Model):
    """TRL, `sft`."""

    messages: list[Message]
    images: list[Image]


class TrlStep(Model):
    """TRL, `rl-step` for GRPO: columns besides prompt and images are given to the reward functions.

    `action` is what was done, right or not.
    """

    prompt: list[Message]
    images: list[Image]
    row_id: str
    data_source: str
    domain: Domain
    action: str
    step_grade: StepGrade | None
    step_share: float | None
    trace_grade: TraceGrade | None
    trace_share: float | None
    contract_score: float | None
    segment_score: float | None


class TrlProcess(Model):
    """TRL, `prm`: text only, for its trainer reads no pictures."""

    prompt: str
    completions: list[str]
    labels: list[bool]


class TrlLabel(Model):
    """TRL, `kto`."""

    prompt: list[Message]
    completion: list[Message]
    label: bool
    images: list[Image]


class LlamaFactoryChat(Model):
    """LLaMA-Factory, `sft`, messages as OpenAI spells them."""

    messages: list[PlainMessage]
    images: list[str]


class LlamaFactoryLabel(LlamaFactoryChat):
    """LLaMA-Factory, `kto`."""

    kto_tag: bool


class SwiftChat(Model):
    """ms-swift, `sft`."""

    messages: list[PlainMessage]
    images: list[str]


class SwiftLabel(SwiftChat):
    """ms-swift, `kto`."""

    label: bool


class SwiftStep(SwiftChat):
    """ms-swift, `rl-step` for GRPO: further columns are given to the reward plug-in.

    `solution` is the right action, null where none is known; `action` is what was done, right or not.
    """

    solution: str | None
    row_id: str
    data_source: str
    domain: Domain
    action: str
    step_grade: StepGrade | None
    step_share: float | None
    trace_grade: TraceGrade | None
    trace_share: float | None
    contract_score: float | None
    segment_score: float | None


class Renderer(NamedTuple):
    """How a trainer reads a shape: its row, how to make it of a canonical row, a split and an index, and the files."""

    model: type[Model]
    render: Callable[[Any, str, int], Model]
    storage: Literal["parquet", "json"]


def renderer_for(shape: str, trainer: str) -> Renderer:
    """The renderer of a pair; raises ConfigError naming what there is."""
    found = RENDERERS.get((shape, trainer))
    if found is None:
        raise ConfigError(f"export: {trainer} cannot read {shape}; supported: {supported()}")
    return found


def supported() -> str:
    """Every pair there is, by trainer."""
    trainers = sorted({trainer for _, trainer in RENDERERS})
    return "; ".join(
        f"{trainer}: {', '.join(sorted(shape for shape, one in RENDERERS if one == trainer))}" for trainer in trainers
    )


def _itself(row: Row, _split: str, _index: int) -> Model:
    return row


def _verl_step(row: StepRow, split: str, index: int) -> VerlRow:
    return VerlRow(
        data_source=row.data_source,
        prompt=_plain(row.messages),
        images=row.images,
        ability=row.domain,
        reward_model=RewardModel(ground_truth=GroundTruth(contract_id=row.task_id, **_components(row))),
        extra_info=ExtraInfo(
            split=split, index=index, answer=_right_action(row), question=row.instruction, row_id=row.row_id
        ),
    )


def _trl_chat(row: ChatRow, _split: str, _index: int) -> TrlChat:
    return TrlChat(messages=row.messages, images=row.images)


def _trl_step(row: StepRow, _split: str, _index: int) -> TrlStep:
    return TrlStep(prompt=row.messages, images=row.images, **_origin(row), **_components(row))


def _trl_process(row: ProcessRow, _split: str, _index: int) -> TrlProcess:
    words = [part.text for message in row.messages if message.role == "system" for part in message.content]
    return TrlProcess(
        prompt=f"{words[0]}\n\nTask: {row.instruction}\n",
        completions=row.completions,
        labels=[label for label in row.labels if label is not None],
    )


def _trl_label(row: LabelRow, _split: str, _index: int) -> TrlLabel:
    answer = said("assistant", text(row.reply))
    return TrlLabel(prompt=row.messages, completion=[answer], label=row.label, images=row.images)


def _llama_factory_chat(row: ChatRow, _split: str, _index: int) -> LlamaFactoryChat:
    return LlamaFactoryChat(messages=_plain(row.messages), images=_files(row))


def _llama_factory_label(row: LabelRow, _split: str, _index: int) -> LlamaFactoryLabel:
    return LlamaFactoryLabel(messages=_answered(row), images=_files(row), kto_tag=row.label)


def _swift_chat(row: ChatRow, _split: str, _index: int) -> SwiftChat:
    return SwiftChat(messages=_plain(row.messages), images=_files(row))


def _swift_label(row: LabelRow, _split: str, _index: int) -> SwiftLabel:
    return SwiftLabel(messages=_answered(row), images=_files(row), label=row.label)


def _swift_step(row: StepRow, _split: str, _index: int) -> SwiftStep:
    return SwiftStep(
        messages=_plain(row.messages),
        images=_files(row),
        solution=_right_action(row),
        **_origin(row),
        **_components(row),
    )


RENDERERS = {
    ("kto", "hf"): Renderer(LabelRow, _itself, "parquet"),
    ("kto", "llama-factory"): Renderer(LlamaFactoryLabel, _llama_factory_label, "json"),
    ("kto", "ms-swift"): Renderer(SwiftLabel, _swift_label, "json"),
    ("kto", "trl"): Renderer(TrlLabel, _trl_label, "parquet"),
    ("mopd", "hf"): Renderer(SpanRow, _itself, "parquet"),
    ("prm", "hf"): Renderer(ProcessRow, _itself, "parquet"),
    ("prm", "trl"): Renderer(TrlProcess, _trl_process, "parquet"),
    ("rl-step", "hf"): Renderer(StepRow, _itself, "parquet"),
    ("rl-step", "ms-swift"): Renderer(SwiftStep, _swift_step, "json"),
    ("rl-step", "trl"): Renderer(TrlStep, _trl_step, "parquet"),
    ("rl-step", "verl"): Renderer(VerlRow, _verl_step, "parquet"),
    ("sft", "hf"): Renderer(ChatRow, _itself, "parquet"),
    ("sft", "llama-factory"): Renderer(LlamaFactoryChat, _llama_factory_chat, "json"),
    ("sft", "ms-swift"): Renderer(SwiftChat, _swift_chat, "json"),
    ("sft", "trl"): Renderer(TrlChat, _trl_chat, "parquet"),
}
"""Every pair of shape and trainer there is, sorted."""


def _plain(messages: Sequence[Message]) -> list[PlainMessage]:
    return [
        PlainMessage(
            role=message.role,
            content="".join(PLACEHOLDER if part.type == "image" else part.text or "" for part in message.content),
        )
        for message in messages
    ]


def _answered(row: LabelRow) -> list[PlainMessage]:
    return [*_plain(row.messages), PlainMessage(role="assistant", content=row.reply)]


def _right_action(row: StepRow) -> str | None:
    """What a reward for accuracy may compare with: the executed action where it was right, else nothing is known."""
    return render(row.action) if row.step_grade == "correct" else None


def _origin(row: StepRow) -> dict[str, Any]:
    """What tells rows apart when several sets are mixed: which one, from where, and for which training domain."""
    return {"row_id": row.row_id, "data_source": row.data_source, "domain": row.domain}


def _components(row: StepRow) -> dict[str, Any]:
    """The action and the parts of a reward, never summed."""
    return {
        "action": render(row.action),
        "step_grade": row.step_grade,
        "step_share": row.step_share,
        "trace_grade": row.trace_grade,
        "trace_share": row.trace_share,
        "contract_score": row.contract_score,
        "segment_score": row.segment_score,
    }


def _files(row: Row) -> list[str]:
    return [f"{PICTURES}/{image.path}" for image in row.images]
