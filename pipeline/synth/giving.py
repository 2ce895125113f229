"""Labelled places as rows for trainers: a question with its picture, and where to point or that there is nothing.

Replies are `[x,y]` and `[-1,-1]` for a refusal. Numbers are canonical, 0 to 999, but for UI-Venus-2, whose go from 0 to
1000. ms-swift gets the box as one of its `objects`, in pixels, which it brings into the form of each model by itself.
Knows nothing of how rows came about.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Literal, get_args

import pyarrow.parquet as pq
from pydantic import Field

from pipeline.actions import Model, device_pixel
from pipeline.dataset import Dataset
from pipeline.dialects.base import Picture
from pipeline.dialects.spaces import RELATIVE_1000, Spot
from pipeline.errors import ConfigError
from pipeline.exports.files import whole_folder
from pipeline.grounding import Grounding, GroundingTarget
from pipeline.records import Frame
from pipeline.schema import schema_of_model, to_rows
from pipeline.storage import Address
from pipeline.structs import Image

Trainer = Literal["hf", "ms-swift", "ui-venus-2", "verl"]

PICTURES = "images"
"""Folder of picture files, beside the JSON lines."""

NOTHING = "[-1,-1]"
"""The reply where nothing fits."""

_ASK = "<image>Point at what this asks for, as [x,y] from 0 to 999, or [-1,-1] if it is not there: "
_ASK_VENUS = "<image>Point at what this asks for, as [x,y] from 0 to 1000, or [-1,-1] if it is not there: "
_ASK_BOX = "<image>Give the box of what this asks for, or [-1,-1] if it is not there: "
"""Questions are worded alike whether or not there is something: nothing but the picture tells."""


class Said(Model):
    """A message."""

    role: Literal["user", "assistant"]
    content: str


class Objects(Model):
    """ms-swift: what the marks in the messages stand for; there are only marks for boxes."""

    ref: list[str] = Field(default_factory=list)
    bbox: list[list[int]]
    bbox_type: Literal["real"] = "real"


class Conversation(Model):
    """A row of JSON lines; `objects` for ms-swift only, where every row has them."""

    messages: list[Said]
    images: list[str]
    objects: Objects | None = None


class GroundTruth(Model):
    """verl: what a reward function is given: the box in pixels, nothing for a refusal."""

    box: list[int]
    point: list[int]
    refusal: bool
    width: int
    height: int


class RewardModel(Model):
    """verl: how a row is rewarded."""

    style: Literal["rule"] = "rule"
    ground_truth: GroundTruth


class Extra(Model):
    """verl: where a row comes from."""

    split: str
    index: int
    row_id: str
    kind: str


class VerlRow(Model):
    """A row of Parquet for verl, its picture in it."""

    data_source: Literal["pathproof/grounding"] = "pathproof/grounding"
    prompt: list[Said]
    images: list[Image]
    ability: Literal["grounding"] = "grounding"
    reward_model: RewardModel
    extra_info: Extra


def reply_of(row: Grounding) -> str:
    """Where to point, from 0 to 999."""
    return f"[{row.point.x},{row.point.y}]" if row.point else NOTHING


def venus_reply_of(row: Grounding) -> str:
    """Where to point, from 0 to 1000, as UI-Venus-2 says it."""
    if row.point is None:
        return NOTHING
    spot = Spot(device_pixel(row.point, row.width, row.height), row.point)
    x, y = RELATIVE_1000.numbers(spot, Picture(row.width, row.height))
    return f"[{x},{y}]"


def conversation(row: Grounding, picture: str, trainer: Trainer) -> Conversation:
    """The row as messages."""
    objects = None
    match trainer:
        case "ms-swift":
            ask, answer = _ASK_BOX, "<bbox>" if row.target else NOTHING
            objects = Objects(bbox=[_edges(row.target)] if row.target else [])
        case "ui-venus-2":
            ask, answer = _ASK_VENUS, venus_reply_of(row)
        case _:
            ask, answer = _ASK, reply_of(row)
    messages = [Said(role="user", content=ask + row.instruction), Said(role="assistant", content=answer)]
    return Conversation(messages=messages, images=[picture], objects=objects)


def _edges(target: GroundingTarget) -> list[int]:
    box = target.box
    return [box.left, box.top, box.right, box.bottom]


def verl_row(row: Grounding, frame: Frame, index: int) -> VerlRow:
    """The row as verl reads it."""
    truth = GroundTruth(
        box=_edges(row.target) if row.target else [],
        point=[row.point.x, row.point.y] if row.point else [-1, -1],
        refusal=row.refusal,
        width=row.width,
        height=row.height,
    )
    return VerlRow(
        prompt=[Said(role="user", content=_ASK + row.instruction)],
        images=[frame.image],
        reward_model=RewardModel(ground_truth=truth),
        extra_info=Extra(split=row.split, index=index, row_id=row.row_id, kind=row.kind),
    )


def give(address: Address, out: Path, trainer: str) -> Counter[str]:
    """Write the rows of a dataset for a trainer, a file per split; how many each has.

    Raises ConfigError for a trainer that cannot read them, a folder without labelled places, or an `out` that is there.
    """
    for known in get_args(Trainer):
        if known == trainer:
            return _given(Dataset(address), out, known)
    raise ConfigError(f"export: grounding is for {', '.join(get_args(Trainer))}, not {trainer}")


def _given(dataset: Dataset, out: Path, trainer: Trainer) -> Counter[str]:
    rows = dataset.rows(Grounding)
    if not rows:
        raise ConfigError(f"export: {dataset.storage.address} holds no labelled places")
    by_frame: dict[str, list[Grounding]] = {}
    for row in rows:
        by_frame.setdefault(row.frame_sha256, []).append(row)
    with whole_folder(out) as folder:
        return _verl(dataset, folder, by_frame) if trainer == "verl" else _lines(dataset, folder, by_frame, trainer)


def _lines(dataset: Dataset, folder: Path, by_frame: Mapping[str, list[Grounding]], trainer: Trainer) -> Counter[str]:
    counts: Counter[str] = Counter()
    (folder / PICTURES).mkdir()
    for frame in _frames(dataset, by_frame):
        picture = f"{PICTURES}/{frame.sha256}.png"
        (folder / picture).write_bytes(frame.image.bytes)
        for row in by_frame[frame.sha256]:
            line = conversation(row, picture, trainer).model_dump_json(exclude_none=True)
            with (folder / f"{row.split}.jsonl").open("a", encoding="utf-8") as file:
                file.write(f"{line}\n")
            counts[row.split] += 1
    return counts


def _verl(dataset: Dataset, folder: Path, by_frame: Mapping[str, list[Grounding]]) -> Counter[str]:
    counts: Counter[str] = Counter()
    schema = schema_of_model(VerlRow)
    splits = sorted({row.split for rows in by_frame.values() for row in rows})
    writers = {split: pq.ParquetWriter(folder / f"{split}.parquet", schema, compression="zstd") for split in splits}
    try:
        for frame in _frames(dataset, by_frame):
            own = by_frame[frame.sha256]
            for split in sorted({row.split for row in own}):
                found = [verl_row(row, frame, counts[split] + at) for at, row in enumerate(own) if row.split == split]
                writers[split].write_table(to_rows(found, schema))
                counts[split] += len(found)
    finally:
        for writer in writers.values():
            writer.close()
    return counts


def _frames(dataset: Dataset, wanted: Mapping[str, object]) -> Iterator[Frame]:
    """Each picture once; those of one part are in memory together."""
    seen: set[str] = set()
    for part in dataset.parts("frames"):
        for frame in dataset.part_rows(part):
            if isinstance(frame, Frame) and frame.sha256 in wanted and frame.sha256 not in seen:
                seen.add(frame.sha256)
                yield frame
