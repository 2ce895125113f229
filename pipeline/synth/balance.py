"""How labelled places are spread over what ought to be even: counts, and one picture of them.

Knows nothing of how rows came about.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from pipeline.dataset import Dataset
from pipeline.errors import ConfigError
from pipeline.grounding import Grounding
from pipeline.page_templates import page_template
from pipeline.storage import Address
from pipeline.synth.choosing import QUOTAS

_AREAS = (0.0001, 0.0005, 0.002, 0.01)
"""Parts of the picture between which targets are counted by size."""
_LINE, _HEAD = 19, 44
"""Pixels for a bar, and for a group's name with the room above it."""


class Bar(NamedTuple):
    """A count, its part of the largest of its group in per cent, and the part it was to have (null if none)."""

    name: str
    rows: int
    share: float
    quota: float | None


class Group(NamedTuple):
    """Counts of one kind."""

    name: str
    bars: Sequence[Bar]


class _Placed(NamedTuple):
    """A group and where it stands in the picture, in pixels."""

    group: Group
    left: int
    top: int


def balance(rows: Sequence[Grounding]) -> list[Group]:
    """How the rows are spread."""
    return [
        _group("kind", (row.kind for row in rows), {str(kind): share for kind, share in QUOTAS.items()}),
        _group("size of the target", (_size(row) for row in rows if row.target)),
        _group("platform", (row.platform for row in rows)),
        _group("language of the screen", (row.language for row in rows)),
        _group("language of the instruction", (row.instruction_language for row in rows)),
        _group("split", (row.split for row in rows)),
        _group("family", (row.family for row in rows)),
    ]


def draw_balance(address: Address) -> str:
    """The picture of a dataset, as SVG; raises ConfigError for one without labelled places."""
    dataset = Dataset(address)
    rows = dataset.rows(Grounding)
    if not rows:
        raise ConfigError(f"synth balance: {dataset.storage.address} holds no labelled places")
    placed = _laid_out(balance(rows))
    height = max(one.top + _HEAD + _LINE * len(one.group.bars) for one in placed)
    return page_template("balance.svg.j2").render(
        rows=len(rows), screens=len({row.screen_id for row in rows}), placed=placed, height=height, line=_LINE
    )


def _laid_out(groups: Sequence[Group]) -> list[_Placed]:
    """The groups in four columns, the last one, which is long, over two of them."""
    *short, long = groups
    half = -(-len(long.bars) // 2)
    halves = [Group(long.name, long.bars[:half]), Group(f"{long.name}, continued", long.bars[half:])]
    columns = [short[:2], short[2:], halves[:1], halves[1:]]
    placed: list[_Placed] = []
    for number, column in enumerate(columns):
        top = 60
        for group in column:
            placed.append(_Placed(group, 24 + 330 * number, top))
            top += _HEAD + _LINE * len(group.bars)
    return placed


def _group(name: str, values: Iterable[str], quotas: Mapping[str, float] | None = None) -> Group:
    counts = Counter(values)
    most = max(counts.values(), default=1)
    scale = 100 * counts.total() / most
    bars = [
        Bar(value, count, 100 * count / most, scale * quotas[value] if quotas else None)
        for value, count in sorted(counts.items())
    ]
    return Group(name, bars)


def _size(row: Grounding) -> str:
    """Which of the sizes a target has, as a part of its picture."""
    assert row.target is not None
    box = row.target.box
    area = (box.right - box.left) * (box.bottom - box.top) / (row.width * row.height)
    for number, edge in enumerate(_AREAS, 1):
        if area < edge:
            return f"{number}. under {edge:.2%}"
    return f"{len(_AREAS) + 1}. {_AREAS[-1]:.2%} and more"
