"""What on a screen may lead on: links, buttons, boxes to tick, menu entries and tabs, in reading order.

Three or more of the same kind in a column or a row are a line: entries of a list, or of a menu. Which of the two it is
shows when they are pressed. Pure functions.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from catalogs.forms import forms_in, named
from catalogs.meaning import senses, to_be_avoided
from pipeline.policies.grounding import OFFSCREEN
from pipeline.structs import Node
from pipeline.tasks import ProcedureStep

_PRESSED = frozenset({"button", "checkbox", "link", "menuitem", "switch", "tab"})
_LINE = 3
_CLOSE = 3
"""Pixels by which the entries of a line may be out of it."""
_LONGEST_NAME = 80


Spot = tuple[str, str, int, int]
"""Role, name and rough place of a control."""


class Lead(NamedTuple):
    """Something to press: the step that does it, and where it is."""

    role: str
    name: str
    left: int
    top: int
    spot: Spot
    step: ProcedureStep


class Group(NamedTuple):
    """Leads that are tried together: one alone, or three and more in a line."""

    leads: list[Lead]

    @property
    def is_line(self) -> bool:
        """Whether these may be entries of a list."""
        return len(self.leads) > 1


def groups_of(nodes: Sequence[Node]) -> list[Group]:
    """Everything that may be pressed by itself; equal names count once, and what sends a form is left to the form.

    First what says that it does something, then lines, which may be menus, then the rest; each in reading order.
    """
    sending = {form.submit for form in forms_in(nodes)}
    leads: dict[tuple[str, str], Lead] = {}
    for index, node in enumerate(nodes):
        if index not in sending and _pressable(node):
            leads.setdefault((node.role, node.name), _lead(nodes, index))
    lines: dict[tuple[str, str, int], list[Lead]] = {}
    for lead in leads.values():
        for line in _lines_of(lead):
            lines.setdefault(line, []).append(lead)
    groups: list[Group] = []
    taken: set[Spot] = set()
    for lead in leads.values():
        if lead.spot not in taken:
            longest = max((lines[line] for line in _lines_of(lead)), key=len)
            members = [other for other in longest if other.spot not in taken]
            groups.append(Group(members if len(members) >= _LINE else [lead]))
            taken.update(member.spot for member in groups[-1].leads)
    return sorted(groups, key=_urgency)


def _lines_of(lead: Lead) -> tuple[tuple[str, str, int], ...]:
    """The column and the row that a lead stands in."""
    return (lead.role, "column", lead.left // _CLOSE), (lead.role, "row", lead.top // _CLOSE)


def spot_of(node: Node) -> Spot:
    """What makes controls of two screens the same one: what every page has need be tried only once."""
    box = node.box
    return node.role, node.name, box.left // 10 if box else -1, box.top // 10 if box else -1


def _urgency(group: Group) -> int:
    first = group.leads[0]
    if first.role != "link" or senses(first.name):
        return 0
    return 1 if group.is_line else 2


def _pressable(node: Node) -> bool:
    if node.role not in _PRESSED or not node.name.strip() or len(node.name) > _LONGEST_NAME or to_be_avoided(node.name):
        return False
    box = node.box
    shown = box is not None and box.right > box.left and box.bottom > box.top
    return shown and OFFSCREEN not in node.states and "disabled" not in node.states


def _lead(nodes: Sequence[Node], index: int) -> Lead:
    node = nodes[index]
    assert node.box is not None
    step = ProcedureStep.model_validate({"action": "Click", **named(nodes, index)})
    return Lead(node.role, node.name, node.box.left, node.box.top, spot_of(node), step)
