"""A page to look through: screens with their labels drawn on them, and how the rows are spread, as bars.

The page stands by itself. Knows nothing of how rows came about.
"""

from __future__ import annotations

import base64
import io
import random
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from PIL import Image as Pictures

from pipeline.dataset import Dataset
from pipeline.errors import ConfigError
from pipeline.grounding import Grounding
from pipeline.page_templates import page_template
from pipeline.records import Frame
from pipeline.storage import Address
from pipeline.synth.balance import balance

_WIDEST = 1400
"""Pictures are made smaller for the page."""
_QUALITY = 80


class Label(NamedTuple):
    """A row as it is drawn: places in per cent of the picture, none for a refusal."""

    number: int
    kind: str
    instruction: str
    place: tuple[float, float, float, float] | None
    point: tuple[float, float] | None


class Plate(NamedTuple):
    """A screen with its labels."""

    title: str
    picture: str
    labels: Sequence[Label]


def gallery(address: Address, screens: int, seed: int = 0) -> str:
    """The page, with so many screens drawn by lot; raises ConfigError for a dataset without labelled places."""
    dataset = Dataset(address)
    rows = dataset.rows(Grounding)
    if not rows:
        raise ConfigError(f"synth gallery: {dataset.storage.address} holds no labelled places")
    hashes = sorted({row.frame_sha256 for row in rows})
    chosen = set(random.Random(seed).sample(hashes, min(screens, len(hashes))))
    by_frame: dict[str, list[Grounding]] = {}
    for row in rows:
        by_frame.setdefault(row.frame_sha256, []).append(row)
    plates = (_plate(frame, by_frame[frame.sha256]) for frame in _frames(dataset, chosen))
    return page_template("gallery.html.j2").render(
        rows=len(rows), screens=len({row.screen_id for row in rows}), groups=balance(rows), plates=plates
    )


def _plate(frame: Frame, rows: Sequence[Grounding]) -> Plate:
    first = rows[0]
    title = f"{first.family}, {first.shell}, {first.theme}, {first.language}, {first.width} × {first.height}"
    return Plate(title, _small(frame.image.bytes), [_label(number, row) for number, row in enumerate(rows, 1)])


def _label(number: int, row: Grounding) -> Label:
    if row.target is None or row.point is None:
        return Label(number, row.kind, row.instruction, None, None)
    box, across, down = row.target.box, 100 / row.width, 100 / row.height
    place = (box.left * across, box.top * down, (box.right - box.left) * across, (box.bottom - box.top) * down)
    return Label(number, row.kind, row.instruction, place, ((row.point.x + 0.5) / 10, (row.point.y + 0.5) / 10))


def _small(data: bytes) -> str:
    """A picture as text for the page."""
    with Pictures.open(io.BytesIO(data)) as picture:
        plain = picture.convert("RGB")
    plain.thumbnail((_WIDEST, 2 * _WIDEST))
    held = io.BytesIO()
    plain.save(held, "JPEG", quality=_QUALITY)
    return base64.b64encode(held.getvalue()).decode()


def _frames(dataset: Dataset, chosen: set[str]) -> Iterable[Frame]:
    seen: set[str] = set()
    for part in dataset.parts("frames"):
        for frame in dataset.part_rows(part, chosen):
            if isinstance(frame, Frame) and frame.sha256 not in seen:
                seen.add(frame.sha256)
                yield frame
