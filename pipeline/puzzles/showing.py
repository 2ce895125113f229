"""A page to look through: puzzles with their answers drawn on them, each type at least once where there is room.

The page stands by itself. Knows nothing of how rows came about.
"""

from __future__ import annotations

import base64
import io
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from itertools import chain, zip_longest
from random import Random
from typing import NamedTuple

from PIL import Image as Pictures

from pipeline.actions import Point
from pipeline.dataset import Dataset
from pipeline.errors import ConfigError
from pipeline.page_templates import page_template
from pipeline.puzzle_rows import PuzzleMove, PuzzleRow
from pipeline.puzzles.puzzle import wordings
from pipeline.records import Frame
from pipeline.storage import Address
from pipeline.structs import Box

_WIDEST = 1280
"""Pictures are made smaller for the page."""
_QUALITY = 82


_Place = tuple[float, float, float, float]
"""Left, top, width, height in per cent of the picture."""


class Step(NamedTuple):
    """A move as it is drawn: places in per cent of the picture, from the left and from the top."""

    number: int
    text: str
    point: tuple[float, float] | None
    end: tuple[float, float] | None
    place: _Place | None
    """Where the point must lie."""
    goal: _Place | None
    """Where a drag must end."""


class Plate(NamedTuple):
    """A puzzle with its answer."""

    kind: str
    title: str
    about: str
    instruction: str
    answer: str
    picture: str
    steps: Sequence[Step]
    wide: bool


def holds_puzzles(address: Address) -> bool:
    """Whether a dataset is one of puzzles; every dataset has a part of that table, mostly an empty one."""
    return bool(Dataset(address).table("puzzles", ["row_id"]).num_rows)


def puzzle_gallery(address: Address, count: int, seed: int = 0) -> str:
    """The page, with so many puzzles drawn by lot, type by type; raises ConfigError for a dataset without puzzles."""
    dataset = Dataset(address)
    rows = dataset.rows(PuzzleRow)
    if not rows:
        raise ConfigError(f"synth gallery: {dataset.storage.address} holds no puzzles")
    chosen = sorted(_chosen(rows, count, seed), key=lambda row: (row.kind, row.type, row.number))
    pictures = dict(_pictures(dataset, {row.frame_sha256 for row in chosen}))
    return page_template("puzzle_gallery.html.j2").render(
        rows=len(rows),
        types=len({row.type for row in rows}),
        kinds=sorted(Counter(row.kind for row in rows).items()),
        plates=[_plate(row, pictures[row.frame_sha256]) for row in chosen],
    )


def _chosen(rows: Sequence[PuzzleRow], count: int, seed: int) -> list[PuzzleRow]:
    """One of each type, then a second one of each, until there are enough."""
    by_type: dict[str, list[PuzzleRow]] = defaultdict(list)
    for row in Random(seed).sample(rows, len(rows)):
        by_type[row.type].append(row)
    in_turn = chain.from_iterable(zip_longest(*(by_type[name] for name in sorted(by_type))))
    return [row for row in in_turn if row is not None][:count]


def _plate(row: PuzzleRow, picture: str) -> Plate:
    return Plate(
        kind=row.kind,
        title=_title(row),
        about=f"level {row.level}, {row.language}, {row.platform}, {row.width} × {row.height}, seed {row.seed}",
        instruction=row.instruction,
        answer=row.answer,
        picture=picture,
        steps=[_step(number, move, row) for number, move in enumerate(row.moves, 1)],
        wide=row.width > row.height,
    )


def _title(row: PuzzleRow) -> str:
    """The type and what it is called; one that is not known any more has its name only."""
    known = wordings(row.kind).get(row.type)
    return f"{row.type}: {known.title}" if known else row.type


def _step(number: int, move: PuzzleMove, row: PuzzleRow) -> Step:
    return Step(
        number,
        f"{move.type} {move.content}" if move.content else move.type,
        _per_cent(move.point),
        _per_cent(move.end),
        _place(move.target, row),
        _place(move.end_target, row),
    )


def _place(box: Box | None, row: PuzzleRow) -> _Place | None:
    if box is None:
        return None
    across, down = 100 / row.width, 100 / row.height
    return (box.left * across, box.top * down, (box.right - box.left) * across, (box.bottom - box.top) * down)


def _per_cent(point: Point | None) -> tuple[float, float] | None:
    return None if point is None else ((point.x + 0.5) / 10, (point.y + 0.5) / 10)


def _pictures(dataset: Dataset, chosen: set[str]) -> Iterator[tuple[str, str]]:
    """Pictures by their hashes, made smaller, as text for the page."""
    for part in dataset.parts("frames"):
        for frame in dataset.part_rows(part, chosen):
            if isinstance(frame, Frame):
                yield frame.sha256, _small(frame.image.bytes)


def _small(data: bytes) -> str:
    with Pictures.open(io.BytesIO(data)) as picture:
        plain = picture.convert("RGB")
    plain.thumbnail((_WIDEST, 2 * _WIDEST))
    held = io.BytesIO()
    plain.save(held, "JPEG", quality=_QUALITY)
    return base64.b64encode(held.getvalue()).decode()
