"""What was known when a step was decided: the screen, the target under the point, the thought, and what came before.

The step judge sees this and nothing later: no outcome of the step, no later screen, no mark of an injected mistake.
"""

from __future__ import annotations

from typing import Literal, NamedTuple

from pipeline.actions import Action, Pixel
from pipeline.protocols import JudgeView
from pipeline.records import Record
from pipeline.structs import Node, TargetUnderPoint
from pipeline.words import ActionErrorCode, StepGrade
from verifiers.evidence import CONTROLS, is_field, nodes_at

_FORM_ERRORS: frozenset[ActionErrorCode] = frozenset(
    {
        "ambiguous_coordinates",
        "bad_arguments",
        "empty_content",
        "multiple_actions",
        "no_action",
        "out_of_range",
        "refused",
        "truncated",
        "unknown_action",
    }
)
"""What is wrong with a reply or action by its own form, before anything happens."""

Why = Literal[
    "form",
    "nothing_there",
    "not_interactive",
    "disabled",
    "covered",
    "repeated",
    "no_focus",
    "no_option",
    "other_target",
    "other_value",
    "destructive",
    "too_early",
    "unfounded",
    "looks",
    "serves",
    "unknown",
]
"""Why a step got its grade."""


class Assessment(NamedTuple):
    """A step's grade (null: nothing is known), the kind of reason, and the reason in words."""

    grade: StepGrade | None
    why: Why
    reason: str


class Moment(NamedTuple):
    """The facts known before a step was carried out."""

    view: JudgeView
    past: Record
    """The record up to the screen the step was decided on."""
    action: Action | None
    form_error: ActionErrorCode | None
    thought: str
    target: TargetUnderPoint | None
    point: Pixel | None
    nodes: list[Node]

    @property
    def hit(self) -> Node | None:
        """The control under the point by the tree: the smallest that contains it."""
        if self.point is None:
            return None
        under = [node for node in self.nodes if node.box is not None and node.box.contains(self.point)]
        controls = [node for node in under if node.role in CONTROLS or is_field(node)]
        return min(controls or under, key=_area, default=None)

    @property
    def focus(self) -> Node | None:
        """The node with the focus; of nested ones the smallest."""
        return min((node for node in self.nodes if "focused" in node.states), key=_area, default=None)


def moment_of(view: JudgeView, record: Record, index: int) -> Moment:
    """The moment before a step."""
    step = record.steps[index]
    seen = record.observations[: index + 1]
    return Moment(
        view=view,
        past=record.model_copy(update={"steps": record.steps[:index], "observations": seen}),
        action=step.action,
        form_error=step.action_error if step.action is None or step.action_error in _FORM_ERRORS else None,
        thought=step.thought,
        target=step.target,
        point=step.device_point,
        nodes=nodes_at(record, index),
    )


def unchanged_since(past: Record, steps: int) -> bool:
    """Whether the last so many steps left the screen as it was."""
    looks = past.observations[-steps - 1 :]
    first = looks[0] if len(looks) == steps + 1 else None
    if first is None or first.tree_sha256 is None:
        return False
    return all((look.tree_sha256, look.location) == (first.tree_sha256, first.location) for look in looks)


def _area(node: Node) -> int:
    box = node.box
    return (box.right - box.left) * (box.bottom - box.top) if box else 0
