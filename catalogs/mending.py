"""What may have become of a control that a procedure names and the screen no longer has.

Candidates are controls of the same kind, ranked by how much their name means the same and how near they follow what
the procedure did before. A candidate is only a guess: whoever asks tries it and looks at the effect. Pure functions.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from difflib import SequenceMatcher

from catalogs.meaning import consequence_of, senses
from pipeline.policies.grounding import OFFSCREEN, find
from pipeline.structs import Node
from pipeline.tasks import ProcedureStep

_MOST = 3
_ALIKE = 0.5
_NEXT_BONUS = 0.45
_SENSE_BONUS = 0.4
_HARMLESS = ("none", "create", "edit")
_KIN = (frozenset({"button", "link", "menuitem", "tab"}), frozenset({"textbox", "searchbox", "spinbutton", "combobox"}))
"""Roles that take each other's place when an application changes its looks."""


def candidates(
    nodes: Sequence[Node], missing: ProcedureStep, before: ProcedureStep | None, used: Iterable[str], consequence: str
) -> list[ProcedureStep]:
    """The step spelled for what may stand in its place, most likely first.

    `before` is the step done last, `used` the names that the procedure needs for something else. What would do another
    kind of harm than the capability itself is never proposed.
    """
    if missing.role is None or not missing.name or "{" in missing.name:
        return []
    taken = set(used)
    start = find(nodes, before) if before is not None and before.role is not None else None
    ranked = sorted(
        (-_likeness(node, index, missing, start, nodes), index)
        for index, node in enumerate(nodes)
        if _may_replace(node, missing, taken, consequence)
    )
    names = dict.fromkeys((nodes[index].role, nodes[index].name) for score, index in ranked if -score >= _ALIKE)
    return [missing.model_copy(update={"role": role, "name": name, "nth": 0}) for role, name in names][:_MOST]


def _may_replace(node: Node, missing: ProcedureStep, taken: set[str], consequence: str) -> bool:
    if not node.name or node.box is None or OFFSCREEN in node.states or node.name in taken:
        return False
    if not any({node.role, missing.role} <= kin for kin in _KIN) and node.role != missing.role:
        return False
    return consequence_of(node.name) in (*_HARMLESS, consequence, consequence_of(missing.name or ""))


def _likeness(node: Node, index: int, missing: ProcedureStep, start: int | None, nodes: Sequence[Node]) -> float:
    """Likeness of the names, a bonus for the same meaning, one for being the next of its kind after the last step."""
    wanted, name = (missing.name or "").casefold(), node.name.casefold()
    shared = _words(wanted) & _words(name)
    alike = max(SequenceMatcher(None, wanted, name).ratio(), len(shared) / max(len(_words(wanted)), 1))
    meaning = _SENSE_BONUS if senses(wanted) & senses(name) else 0.0
    follows = start is not None and index == _following(nodes, start, node.role)
    return alike + meaning + (_NEXT_BONUS if follows else 0.0) + (0.05 if node.role == missing.role else 0.0)


def _following(nodes: Sequence[Node], start: int, role: str) -> int | None:
    return next((index for index in range(start + 1, len(nodes)) if nodes[index].role == role), None)


def _words(text: str) -> frozenset[str]:
    return frozenset(re.findall(r"[a-z]{3,}|[\u4e00-\u9fff]", text))
