"""Icons of everyday things, drawn for this project: flat shapes in two colours, with names and groups.

The drawings are in icons.yaml. Knows nothing of types of puzzles.
"""

from __future__ import annotations

import math
from functools import cache
from importlib import resources
from typing import Literal, NamedTuple

import yaml

from pipeline.actions import Model
from pipeline.puzzles.answers import Region, Spot, around
from pipeline.puzzles.scene import SMALLEST_MARK

Group = Literal["animal", "vehicle", "fruit", "tool", "building", "plant", "clothing", "thing"]

GROUP_NAMES: dict[Group, tuple[str, str]] = {
    "animal": ("animals", "动物"),
    "vehicle": ("vehicles", "交通工具"),
    "fruit": ("fruits", "水果"),
    "tool": ("tools", "工具"),
    "building": ("buildings", "建筑物"),
    "plant": ("plants", "植物"),
    "clothing": ("clothes", "衣物"),
}
"""Groups that can be asked for, in the plural: English, Chinese. A `thing` may be counted to others; it cannot."""

APART: dict[Group, tuple[Group, ...]] = {
    "animal": ("vehicle", "fruit", "tool", "building", "plant", "clothing", "thing"),
    "vehicle": ("animal", "fruit", "tool", "building", "plant", "clothing", "thing"),
    "fruit": ("animal", "vehicle", "tool", "building", "clothing", "thing"),
    "tool": ("animal", "vehicle", "fruit", "building", "plant", "clothing"),
    "building": ("animal", "vehicle", "fruit", "tool", "plant", "clothing", "thing"),
    "plant": ("animal", "vehicle", "tool", "building", "clothing", "thing"),
    "clothing": ("animal", "vehicle", "fruit", "tool", "building", "plant"),
}
"""For each group the groups whose icons nobody would count to it (fruits do belong to plants)."""


class Icon(Model):
    """A thing: names in both languages, its group, its drawing, and the box of 100 units that this is drawn on."""

    en: str
    zh: str
    group: Group
    box: tuple[float, float, float, float]
    """Left, top, right, bottom of what is drawn."""
    drawn: str


class Paint(NamedTuple):
    """What an icon is painted with: two colours, dark for eyes and wheels, light for windows."""

    main: str
    accent: str
    dark: str = "#1f2937"
    light: str = "#ffffff"


PAINTS = (
    Paint("#dc2626", "#f59e0b"),
    Paint("#2563eb", "#93c5fd"),
    Paint("#16a34a", "#a3e635"),
    Paint("#d97706", "#7c2d12"),
    Paint("#7c3aed", "#f0abfc"),
    Paint("#0d9488", "#fbbf24"),
    Paint("#db2777", "#fda4af"),
    Paint("#475569", "#38bdf8"),
)
"""Pairs of colours that are seen on every paper."""


def shadowed(colour: str) -> Paint:
    """One colour for everything: a silhouette."""
    return Paint(colour, colour, colour, colour)


@cache
def icons() -> dict[str, Icon]:
    """All icons, by name; no name means a sort of what another one names."""
    text = (resources.files("pipeline.puzzles") / "icons.yaml").read_text(encoding="utf-8")
    return {name: Icon.model_validate(said) for name, said in yaml.safe_load(text).items()}


def icon_names(*groups: Group) -> list[str]:
    """The names of the icons of these groups, or of all, in the order of the file."""
    return [name for name, one in icons().items() if not groups or one.group in groups]


def icon(name: str, spot: Spot, size: float, paint: Paint, *, angle: float = 0.0, mirrored: bool = False) -> str:
    """An icon whose drawn box has its middle at a place and is `size` along its longer side, turned clockwise."""
    one = icons()[name]
    left, top, right, bottom = one.box
    scale = size / max(right - left, bottom - top)
    across = -scale if mirrored else scale
    turn = f"rotate({angle:g})" if angle else ""
    return (
        f'<g transform="translate({spot[0]:g} {spot[1]:g}){turn}scale({across:.4f} {scale:.4f})'
        f'translate({-(left + right) / 2:g} {-(top + bottom) / 2:g})">{one.drawn.format(**paint._asdict())}</g>'
    )


def icon_region(name: str, spot: Spot, size: float, angle: float = 0.0) -> Region:
    """The box of an icon, turned with it; never smaller than what can be pointed at."""
    left, top, right, bottom = icons()[name].box
    scale = size / max(right - left, bottom - top)
    width, height = (max(SMALLEST_MARK, round(side * scale, 2)) for side in (right - left, bottom - top))
    return Region(corners=[turned(corner, spot, angle) for corner in around(spot, width, height).corners])


def turned(spot: Spot, pivot: Spot, angle: float) -> Spot:
    """A place, turned clockwise around a pivot by so many degrees."""
    sine, cosine = math.sin(math.radians(angle)), math.cos(math.radians(angle))
    x, y = spot[0] - pivot[0], spot[1] - pivot[1]
    return round(pivot[0] + x * cosine - y * sine, 2), round(pivot[1] + x * sine + y * cosine, 2)
