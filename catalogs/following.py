"""How far a trajectory followed the recorded procedures of its task, and what it saw where it went no further.

Steps are compared with procedures by what lay under their points on the screens they were decided on, whoever acted.
Nothing that the agent said counts. Pure functions; what follows for a catalog is not decided here.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from pipeline.actions import Action, Click, SelectOption, Type
from pipeline.policies.grounding import captured, find, option_index, options_of
from pipeline.records import Record, Step
from pipeline.structs import Node
from pipeline.tasks import Capability, ProcedureStep, TaskSpec
from taskspecs.store import bind
from verifiers.operations import move_of

_POINTED = frozenset({"Click", "DoubleClick", "RightClick", "LongPress", "Hover"})
_FILLED = frozenset({"Type", "SelectOption"})
_SPARED = frozenset({"Scroll", "TakeNote", "Wait"})
"""Planned steps that another agent may do without."""


class Way(NamedTuple):
    """One step of the way through a task, and of which capability.

    `named_by_task`: what it looks for is said by a slot or was read before, so that it may not exist.
    """

    capability_id: str
    step: ProcedureStep
    named_by_task: bool

    @property
    def may_be_left_out(self) -> bool:
        """Whether someone can come to the goal without this step."""
        return self.step.optional or self.step.action in _SPARED


class Look(NamedTuple):
    """One screen on which the next step was due, and what was tried there."""

    nodes: Sequence[Node]
    tried: Step | None


class Followed(NamedTuple):
    """How far a trajectory came: `at` is the first step of the way that was not taken.

    `looks` are the readable screens from the last step that was taken until the end, or until the trajectory left the
    way. `strayed`: it did something else between two steps of the way, so that its screens prove nothing.
    """

    way: Sequence[Way]
    at: int
    looks: Sequence[Look]
    strayed: bool

    @property
    def whole(self) -> bool:
        """Whether every step that somebody needs was taken, and there are some."""
        return bool(self.way) and all(left.may_be_left_out for left in self.way[self.at :])

    @property
    def stuck(self) -> Way | None:
        """The step that was due and not taken; what could be read on a screen needed no step."""
        return next((left for left in self.way[self.at :] if not self._passed(left)), None)

    def _passed(self, left: Way) -> bool:
        pattern = left.step.capture
        if pattern is not None and not left.step.optional:
            return any(captured(look.nodes, pattern) for look in self.looks)
        return left.may_be_left_out


def way_of(task: TaskSpec, known: Mapping[str, Capability]) -> list[Way]:
    """The procedures of the capabilities that a task calls, slots filled in; nothing when one of them has none."""
    way: list[Way] = []
    for call in task.calls:
        found = known.get(call.capability_id)
        if found is None or not found.procedure:
            return []
        bound = bind(found.procedure, call.params)
        way += [
            Way(found.capability_id, step, sought_by(step) != sought_by(raw) or _open(step))
            for raw, step in zip(found.procedure, bound, strict=True)
        ]
    return way


def sought_by(step: ProcedureStep) -> list[str | None]:
    """Every text by which a procedure step looks for something on the screen."""
    return [step.name, step.near, step.capture, step.content if step.action == "SelectOption" else None]


def _open(step: ProcedureStep) -> bool:
    return any("{" in text for text in sought_by(step) if text)


def followed(way: Sequence[Way], record: Record) -> Followed:
    """Compare what was done with the way, in order."""
    walk = _Walk(way)
    for step in record.steps:
        walk.hear(step, nodes_at(record, step.step_index))
    end = walk.left_at if walk.left_at is not None else len(record.steps)
    return Followed(way, walk.at, list(_looks(record, walk.last + 1, end)), walk.strayed)


def nodes_at(record: Record, index: int) -> Sequence[Node] | None:
    """The tree of a look; nothing when it could not be read."""
    look = next((one for one in record.observations if one.observation_index == index), None)
    tree = record.trees.get(look.tree_sha256) if look and look.tree_sha256 else None
    return tree.nodes if tree else None


class _Walk:
    """The comparison under way: `last` is the last step on the way, `left_at` the first one beside it after that."""

    def __init__(self, way: Sequence[Way]) -> None:
        self._way = way
        self.at = 0
        self.last = -1
        self.left_at: int | None = None
        self.strayed = False

    def hear(self, done: Step, nodes: Sequence[Node] | None) -> None:
        if done.action is None or done.status == "failed" or move_of(done.action) == "end":
            return
        taken = self._taken(done, done.action, nodes or [])
        if taken is not None:
            # Going astray before the way was begun is looking for it.
            self.strayed = self.strayed or (self.left_at is not None and self.last >= 0)
            self.at, self.last, self.left_at = taken, done.step_index, None
        elif move_of(done.action) != "look" and self.left_at is None:
            self.left_at = done.step_index

    def _taken(self, done: Step, action: Action, nodes: Sequence[Node]) -> int | None:
        """The position on the way after this step, or nothing when it is none of the way's."""
        for place in self._due():
            if carries_out(self._way[place].step, done, action, nodes):
                return place + 1
            if prepares(self._way[place].step, done, action, nodes):
                return place
        # What was done last may have to be done once more.
        before = self._way[self.at - 1].step if self.at else None
        return self.at if before and carries_out(before, done, action, nodes) else None

    def _due(self) -> Iterator[int]:
        for place in range(self.at, len(self._way)):
            yield place
            if not self._way[place].may_be_left_out:
                return


def carries_out(planned: ProcedureStep, done: Step, action: Action, nodes: Sequence[Node]) -> bool:
    """Whether an action, decided on this screen, is what a step of a procedure asks for."""
    if action.type != planned.action:
        return False
    match action:
        case Type(content=content):
            return "{" in (planned.content or "") or _plain(content) == _plain(planned.content or "")
        case SelectOption(index=index):
            return _chooses(planned, index, nodes)
    return planned.action not in _POINTED or _hits(planned, done, nodes)


def prepares(planned: ProcedureStep, done: Step, action: Action, nodes: Sequence[Node]) -> bool:
    """Whether an action is the click into the field that a step of a procedure fills in."""
    return planned.action in _FILLED and isinstance(action, Click) and _hits(planned, done, nodes)


def _hits(planned: ProcedureStep, done: Step, nodes: Sequence[Node]) -> bool:
    place = find(nodes, planned) if planned.role is not None or planned.name is not None else None
    box = nodes[place].box if place is not None else None
    return box is not None and done.device_point is not None and box.contains(done.device_point)


def _chooses(planned: ProcedureStep, index: int, nodes: Sequence[Node]) -> bool:
    """Whether the option at an index is the one asked for; where the list is not known, its label is enough."""
    place = find(nodes, planned) if planned.role is not None or planned.name is not None else None
    options = options_of(nodes, place) if place is not None else [node for node in nodes if node.role == "option"]
    return option_index(options, planned.content or "") == index if options else True


def _looks(record: Record, first: int, end: int) -> Iterable[Look]:
    tried = {step.step_index: step for step in record.steps}
    for look in record.observations:
        nodes = nodes_at(record, look.observation_index)
        if nodes is not None and first <= look.observation_index <= end:
            yield Look(nodes, tried.get(look.observation_index))


def _plain(text: str) -> str:
    return " ".join(text.split())
