"""Records made of what the page scripts tell."""

from __future__ import annotations

from typing import Any

from pipeline.envs.web_tab import Look
from pipeline.records import Tree, tree_of
from pipeline.structs import Box, LeadingTarget, Node, TargetUnderPoint


def tree_told(look: Look) -> Tree:
    """The tree of a look."""
    return tree_of(
        Node(role=role, name=name, value=value, box=_box(box), states=states)
        for role, name, value, box, states in look.nodes
    )


def target_told(found: dict[str, Any]) -> TargetUnderPoint:
    """What lies somewhere, and where it leads if the page says so."""
    target = TargetUnderPoint(
        role=found["role"],
        name=found["name"],
        box=_box(found["box"]),
        covered_by=found["covered"],
        states=found["states"],
    )
    leads_to = found.get("leads")
    return LeadingTarget(**dict(target), leads_to=leads_to) if leads_to else target


def _box(sides: list[int] | None) -> Box | None:
    if sides is None:
        return None
    left, top, right, bottom = sides
    return Box(left=left, top=top, right=right, bottom=bottom)
