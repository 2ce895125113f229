"""Finds on the current screen what a recorded procedure step speaks of: by role, name, neighbour and position.

Pure functions over UI trees. They know nothing of tasks, turns or mistakes, and never reach the world.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from pipeline.actions import Pixel
from pipeline.policies.paging import Direction
from pipeline.structs import Box, Node
from pipeline.tasks import ProcedureStep

INTERACTIVE = frozenset(
    {
        "button",
        "checkbox",
        "combobox",
        "link",
        "listbox",
        "menuitem",
        "option",
        "radio",
        "searchbox",
        "slider",
        "spinbutton",
        "switch",
        "tab",
        "textbox",
    }
)
"""Roles a person would click."""

OFFSCREEN = "offscreen"
"""The state of a node that does not show although its box may lie in the picture: a part of the page clips it."""

_INSIDE_SELECT = frozenset({"MenuListPopup", "StaticText", "generic", "group", "listbox", "none", "presentation"})
_ENOUGH = 8
"""Pixels of an element that must show on each axis (or all of it, when it is smaller) before it is aimed at."""
_ROW_WEIGHT = 4
"""A neighbour in another row is this much farther than one in the same row."""


def find(nodes: Sequence[Node], step: ProcedureStep) -> int | None:
    """The position in `nodes` of what the step speaks of, or nothing.

    An exact name beats a name that contains the text; among equals the one nearest to `near`, else the `nth`.
    """
    candidates = _named(nodes, step)
    if step.near is not None:
        return _nearest(nodes, candidates, step.near, step.nth)
    if not -len(candidates) <= step.nth < len(candidates):
        return None
    return candidates[step.nth]


def shown(node: Node, width: int, height: int) -> Box | None:
    """The part of a node that shows in a picture of this size; nothing when too little of it does."""
    box = node.box
    if box is None or OFFSCREEN in node.states:
        return None
    left, top, right, bottom = max(box.left, 0), max(box.top, 0), min(box.right, width), min(box.bottom, height)
    if right - left < min(_ENOUGH, box.right - box.left) or bottom - top < min(_ENOUGH, box.bottom - box.top):
        return None
    return Box(left=left, top=top, right=right, bottom=bottom) if right > left and bottom > top else None


def way_to(nodes: Sequence[Node], place: int, width: int, height: int) -> tuple[Direction, Pixel]:
    """The direction to scroll so that a node comes into the picture, and where.

    That is over its visible neighbour in reading order, which shares its scrolled area, be that the page or a part.
    What the picture's edge cuts lies behind that edge, also when its neighbour in the same row still shows.
    """
    wanted = nodes[place].box or Box(left=0, top=height, right=width, bottom=height)
    cut: Direction | None = (
        "down" if wanted.top < height < wanted.bottom else "up" if wanted.top < 0 < wanted.bottom else None
    )
    for node in [*reversed(nodes[:place]), *nodes[place + 1 :]]:
        box = shown(node, width, height)
        direction = _direction(box, wanted) if box else None
        if box is not None and direction is not None:
            return cut or direction, box.centre
    picture = Box(left=0, top=0, right=width, bottom=height)
    return _direction(picture, wanted) or "down", picture.centre


def _direction(here: Box, there: Box) -> Direction | None:
    """Where one box lies from another; nothing when they overlap."""
    if there.top >= here.bottom:
        return "down"
    if there.bottom <= here.top:
        return "up"
    if there.left >= here.right:
        return "right"
    return "left" if there.right <= here.left else None


def options_of(nodes: Sequence[Node], select: int) -> list[Node]:
    """The options of the drop-down at a position: they follow it in reading order, visible or not."""
    options: list[Node] = []
    for node in nodes[select + 1 :]:
        if node.role == "option":
            options.append(node)
        elif node.role not in _INSIDE_SELECT:
            break
    return options


def option_index(options: Sequence[Node], label: str) -> int | None:
    """The position of the option with a label: exact first, then contained."""
    wanted = _plain(label)
    names = [_plain(option.name or option.value) for option in options]
    for matches in (lambda name: name == wanted, lambda name: wanted.casefold() in name.casefold()):
        for index, name in enumerate(names):
            if matches(name):
                return index
    return None


def captured(nodes: Sequence[Node], pattern: str) -> str | None:
    """The first group of a pattern found in the names and values on the screen, one per line."""
    lines = [text for node in nodes for text in (node.name, node.value) if text]
    found = re.search(pattern, "\n".join(lines), re.MULTILINE)
    return found[1] if found else None


def promising(nodes: Sequence[Node], instruction: str) -> Node | None:
    """The link whose name shares most with an instruction: where a person would look first."""
    wanted = _pieces(instruction)
    links = [node for node in nodes if node.role == "link" and node.box is not None and node.name]
    shares = [(len(pieces & wanted) / len(pieces), node) for node in links if (pieces := _pieces(node.name))]
    best = max(shares, key=lambda pair: pair[0], default=None)
    return best[1] if best is not None and best[0] > 0 else None


def _named(nodes: Sequence[Node], step: ProcedureStep) -> list[int]:
    places = [index for index, node in enumerate(nodes) if _reachable(node) and step.role in (None, node.role)]
    if step.name is None:
        return places
    wanted = _plain(step.name)
    exact = [index for index in places if _plain(nodes[index].name) == wanted]
    return exact or [index for index in places if wanted.casefold() in _plain(nodes[index].name).casefold()]


def _nearest(nodes: Sequence[Node], candidates: Sequence[int], text: str, nth: int) -> int | None:
    wanted = _plain(text)
    marks = [node.box for node in nodes if node.box is not None and _plain(node.name) == wanted]
    marks = marks or [n.box for n in nodes if n.box is not None and wanted.casefold() in _plain(n.name).casefold()]
    ranked = sorted(
        (min(_distance(box, mark) for mark in marks), index)
        for index in candidates
        if marks and (box := nodes[index].box) is not None
    )
    equal = [index for distance, index in ranked if distance == ranked[0][0]]
    return equal[nth] if -len(equal) <= nth < len(equal) else None


def _distance(one: Box, other: Box) -> float:
    across = max(0, one.left - other.right, other.left - one.right)
    along = max(0, one.top - other.bottom, other.top - one.bottom)
    return across + _ROW_WEIGHT * along


def _reachable(node: Node) -> bool:
    return node.box is not None and node.box.right > node.box.left and node.box.bottom > node.box.top


def _plain(text: str) -> str:
    return " ".join(text.split())


def _pieces(text: str) -> frozenset[str]:
    """Words of four letters and more, and pairs of Chinese characters."""
    words = re.findall(r"[a-z]{4,}", text.casefold())
    runs = re.findall(r"[\u4e00-\u9fff]+", text)
    return frozenset([*words, *(run[at : at + 2] for run in runs for at in range(len(run) - 1))])
