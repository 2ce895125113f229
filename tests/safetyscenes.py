"""Screens for tests of the gate: nodes in rows, a dialog around some of them, and the control under the point."""

from __future__ import annotations

from collections.abc import Sequence

from pipeline.actions import Click, Point
from pipeline.permissions import load_profile
from pipeline.protocols import Observation
from pipeline.records import tree_of
from pipeline.safety import ConsequenceGate
from pipeline.structs import Box, GateDecision, Node, TargetUnderPoint
from pipeline.words import Platform
from tests.webworld import task_at

CLICK = Click(point=Point(x=500, y=500))
ROW = 40


def button(name: str) -> Node:
    """A button without a place."""
    return Node(role="button", name=name)


def text(name: str) -> Node:
    """A text without a place."""
    return Node(role="StaticText", name=name)


def ticked(name: str) -> Node:
    """A box that is ticked."""
    return Node(role="checkbox", name=name, states=["checked"])


def screen(*nodes: Node, title: str = "", dialog: Sequence[Node] = ()) -> Observation:
    """Nodes in rows from the top; those of the dialog below them, within it."""
    placed = [node.model_copy(update={"box": _row(row)}) for row, node in enumerate(nodes)]
    inside = [node.model_copy(update={"box": _row(len(nodes) + row)}) for row, node in enumerate(dialog)]
    if inside:
        around = Box(left=0, top=len(nodes) * ROW, right=400, bottom=(len(nodes) + len(inside)) * ROW)
        placed.append(Node(role="dialog", name="", box=around))
    return Observation(frame=None, tree=tree_of([*placed, *inside]), location="", title=title, seconds=0)


def under(seen: Observation, name: str) -> TargetUnderPoint:
    """What lies under a point at a node of this name."""
    assert seen.tree is not None
    node = next(node for node in reversed(seen.tree.nodes) if node.name == name)
    return TargetUnderPoint(role=node.role, name=node.name, box=node.box, states=node.states)


def clicked(
    instruction: str, seen: Observation, name: str, *, profile: str = "supervised", platform: Platform = "web"
) -> GateDecision:
    """What the gate says of a click at a node."""
    task = task_at().model_copy(update={"instruction": instruction, "platform": platform})
    return ConsequenceGate(load_profile(profile)).rule(task, seen, CLICK, under(seen, name))


def _row(row: int) -> Box:
    return Box(left=0, top=row * ROW, right=400, bottom=(row + 1) * ROW - 4)
