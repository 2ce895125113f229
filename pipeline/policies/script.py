"""Turns a recorded procedure into actions, one per turn, each grounded anew on the screen as it is now.

A proposed move changes nothing until it is taken, so that a policy may do something else first. Typing and choosing
begin with a click on their field; what lies outside the picture is scrolled to; what is absent is waited for, and on a
phone, whose tree holds only what shows, looked for by paging to both ends of the screen's content.
This module knows nothing of tasks, mistakes or when to give up.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

from pydantic import ValidationError

from pipeline.actions import (
    ACTION,
    Action,
    Click,
    Pixel,
    Point,
    Scroll,
    SelectOption,
    Wait,
    canonical_point,
    device_pixel,
    points_of,
    render,
)
from pipeline.errors import ConfigError, first_problem
from pipeline.policies.grounding import captured, find, option_index, options_of, shown, way_to
from pipeline.policies.paging import Direction, page
from pipeline.policies.wording import Aim, thought
from pipeline.protocols import Decision, Observation, Turn
from pipeline.records import Frame
from pipeline.structs import Box, Node, Param
from pipeline.tasks import ProcedureStep
from pipeline.words import Mistake, Platform
from taskspecs.store import bind

_MIDDLE = Point(x=500, y=500)
_MAX_SCROLLS = 8
_MAX_WAITS = 3
"""For what belongs to the application and must come; one less for what the task names, which may not exist."""
_MAX_REPEATS = 2
_WITH_FIELD = ("Type", "SelectOption")
_AT_FOCUS = (*_WITH_FIELD, "Hotkey", "PressEnter")
_WORTH_REPEATING = ("option_not_found", "target_covered", "text_not_delivered", "value_reverted")


class Planned(NamedTuple):
    """One step of a plan; `slotted` when its object is named by a slot, so that it may not exist."""

    step: ProcedureStep
    slotted: bool = False
    purpose: str = ""


class Paging(NamedTuple):
    """A search through a screen's content: where to, and what showed before the last move."""

    direction: Direction
    shown: frozenset[tuple[str, Box | None]]


class Progress(NamedTuple):
    """How far a script has come: `field_at` is the step that gave a field its focus, `resume` where to go on then."""

    at: int = 0
    clicked: bool = False
    waits: int = 0
    scrolls: int = 0
    sought: Box | None = None
    paging: Paging | None = None
    field_at: int | None = None
    resume: int | None = None


class Move(NamedTuple):
    """A grounded action, and the script's progress once it is taken; `preparing` moves only bring the plan closer."""

    action: Action
    thought: str
    after: Progress
    node: Node | None = None
    preparing: bool = False
    choices: int = 0
    learnt: tuple[Param, ...] = ()


class Missing(NamedTuple):
    """What the plan needs now is not on the screen."""

    planned: Planned
    detail: str


class Script:
    """A plan being followed."""

    def __init__(self, plan: Sequence[Planned], language: str, platform: Platform = "web") -> None:
        self._plan = list(plan)
        self._language, self._platform = language, platform
        self._progress = Progress()
        self._before: Progress | None = None
        self._repeats = 0
        self._params: list[Param] = []

    def propose(self, turn: Turn) -> Move | Missing:
        """The next move on the screen as it is now."""
        self._hear(turn)
        return self._proposed(turn.observation, self._progress)

    def _proposed(self, observation: Observation, progress: Progress) -> Move | Missing:
        if observation.frame is None:
            return self._unseen(self._planned(progress.at), progress, observation)
        if observation.tree is None:
            return self._absent(self._planned(progress.at), progress, "the screen's tree cannot be read")
        while True:
            planned = self._planned(progress.at)
            move = self._ground(planned, progress, observation.frame, observation.tree.nodes)
            if isinstance(move, Move) or not planned.step.optional:
                return move
            progress = _next(progress)

    def follow(self, turn: Turn, decision: Decision) -> None:
        """Somebody else has decided: where that is the plan's next move, or the one after it, go on behind it."""
        move = self.propose(turn)
        further = self._proposed(turn.observation, move.after) if isinstance(move, Move) else move
        for one in (move, further):
            if isinstance(one, Move) and _is(one, decision):
                self.take(one)
                return
        if decision.device_points:
            self.disturbed()

    def take(self, move: Move) -> None:
        """Go on as if the move had been made."""
        self._before, self._progress = self._progress, move.after
        self._params.extend(move.learnt)

    def disturbed(self) -> None:
        """Something else was done: what was scrolled to may be gone again, and so may the focus.

        If the next step needs the focus, begin again with the click that gave it. What was already typed is not typed
        again.
        """
        self._progress = self._progress._replace(sought=None)
        at, field_at = self._progress.at, self._progress.field_at
        step = self._planned(at).step
        if field_at is not None and step.action in _AT_FOCUS and (field_at == at or not _names_target(step)):
            typed = any(planned.step.action == "Type" for planned in self._plan[field_at:at])
            self._progress = Progress(at=field_at, field_at=field_at, resume=at if typed else None)

    def _hear(self, turn: Turn) -> None:
        """Repeat a move that came to nothing for a reason that may pass."""
        failed = turn.last_step is not None and turn.last_step.action_error in _WORTH_REPEATING
        if failed and self._before is not None and self._repeats < _MAX_REPEATS:
            self._repeats += 1
            self._progress = self._before
            self.disturbed()
        self._before = None

    def _planned(self, index: int) -> Planned:
        """The step at this position with its slots filled; a plan that is used up has come to its end."""
        if index >= len(self._plan):
            return Planned(ProcedureStep(action="Finished"))
        planned = self._plan[index]
        return planned._replace(step=bind([planned.step], self._params)[0])

    def _unseen(self, planned: Planned, progress: Progress, seen: Observation) -> Move | Missing:
        """Without a picture nothing is pointed at: it is waited for, but not for ever.

        A window that forbids pictures will not get one; there, what needs no place is done at once.
        """
        if seen.capture_error == "secure_screen" and planned.step.capture is None and not _names_target(planned.step):
            move = self._unaimed(planned, progress, seen.tree.nodes if seen.tree else [])
            if isinstance(move, Move) and not points_of(move.action):
                return move
        if progress.waits < _MAX_WAITS:
            return self._wait(progress._replace(waits=progress.waits + 1))
        # It says nothing about whether what the task names exists.
        return Missing(planned._replace(slotted=False), f"the screen has no picture: {seen.capture_error}")

    def _ground(self, planned: Planned, progress: Progress, frame: Frame, nodes: list[Node]) -> Move | Missing:
        step = planned.step
        learnt: tuple[Param, ...] = ()
        if step.capture is not None:
            value = captured(nodes, step.capture)
            if value is None:
                detail = f"nothing on the screen matches {step.capture!r}"
                return self._absent(planned, progress, detail, nodes)
            learnt = (Param(name=step.save_as or "captured", value=value),)
            planned = planned._replace(step=bind([step], list(learnt))[0])
        move = self._aimed(planned, progress, frame, nodes)
        return move._replace(learnt=learnt) if isinstance(move, Move) and not move.preparing else move

    def _aimed(self, planned: Planned, progress: Progress, frame: Frame, nodes: list[Node]) -> Move | Missing:
        step = planned.step
        if not _names_target(step):
            return self._unaimed(planned, progress, nodes)
        place = find(nodes, step)
        if place is None:
            detail = f"no {step.role or 'element'} {step.name!r} on the screen"
            return self._absent(planned, progress, detail, nodes)
        progress = progress._replace(field_at=progress.at)
        visible = shown(nodes[place], frame.width, frame.height)
        if visible is None:
            return self._scroll(planned, progress, place, frame, nodes)
        if step.action in _WITH_FIELD and progress.clicked:
            return self._unaimed(planned, progress, nodes)
        return self._at(planned, progress, nodes[place], visible, frame)

    def _at(self, planned: Planned, progress: Progress, target: Node, visible: Box, frame: Frame) -> Move:
        """An action with the target's points; for a field to be filled, first the click that gives it the focus."""
        step, box = planned.step, target.box or visible
        point, *ends = (_canonical(pixel, frame) for pixel in _places(box, step) or [visible.centre])
        preparing = step.action in _WITH_FIELD
        action = Click(point=point) if preparing else action_of(step, point, next(iter(ends), None))
        after = progress._replace(clicked=True, scrolls=0, sought=None) if preparing else _next(progress)
        words = thought(self._language, action, Aim(target.role, target.name), planned.purpose)
        return Move(action, words, after, target, preparing)

    def _unaimed(self, planned: Planned, progress: Progress, nodes: list[Node]) -> Move | Missing:
        """An action where the focus is, or one without any place."""
        step = planned.step
        field = find(nodes, self._planned(progress.field_at).step) if progress.field_at is not None else None
        node = nodes[field] if field is not None else None
        aim = Aim(node.role, node.name) if node and step.action in (*_WITH_FIELD, "Hotkey") else None
        after = _next(progress)
        if step.action == "SelectOption":
            options = options_of(nodes, field) if field is not None else [n for n in nodes if n.role == "option"]
            index = option_index(options, step.content or "")
            if index is None:
                return self._absent(planned, progress, f"no option {step.content!r}")
            choice = SelectOption(index=index)
            words = thought(self._language, choice, Aim("option", step.content or ""), planned.purpose)
            return Move(choice, words, after, node, choices=len(options))
        action = action_of(step, _MIDDLE)
        if isinstance(action, Scroll):
            action = page(self._platform, action.point, action.direction)
        return Move(action, thought(self._language, action, aim, planned.purpose), after, node if aim else None)

    def _scroll(
        self, planned: Planned, progress: Progress, place: int, frame: Frame, nodes: list[Node]
    ) -> Move | Missing:
        target = nodes[place]
        if progress.scrolls >= _MAX_SCROLLS or progress.sought == target.box:
            return Missing(planned, f"{target.role} {target.name!r} cannot be scrolled to")
        direction, pixel = way_to(nodes, place, frame.width, frame.height)
        point = canonical_point(pixel, frame.width, frame.height)
        action = page(self._platform, point, direction)
        words = thought(self._language, action, Aim(target.role, target.name), planned.purpose)
        after = progress._replace(scrolls=progress.scrolls + 1, sought=target.box)
        return Move(action, words, after, target, preparing=True)

    def _absent(
        self, planned: Planned, progress: Progress, detail: str, nodes: Sequence[Node] | None = None
    ) -> Move | Missing:
        """Wait for what is not there yet, then look for it; an optional step is neither waited for nor looked for."""
        patience = _MAX_WAITS - 1 if planned.slotted else _MAX_WAITS
        if planned.step.optional:
            return Missing(planned, detail)
        if progress.waits < patience and progress.paging is None:
            return self._wait(progress._replace(waits=progress.waits + 1))
        if self._platform == "mobile" and nodes is not None:
            return self._page(planned, progress, detail, nodes)
        return Missing(planned, detail)

    def _page(self, planned: Planned, progress: Progress, detail: str, nodes: Sequence[Node]) -> Move | Missing:
        """Go on to the content's end, then back to its beginning, until a move shows nothing else."""
        here = frozenset((node.name, node.box) for node in nodes)
        before = progress.paging or Paging("down", frozenset())
        direction = before.direction
        if before.shown == here:
            if direction == "up":
                return Missing(planned, detail)
            direction = "up"
        if progress.scrolls >= 2 * _MAX_SCROLLS:
            return Missing(planned, detail)
        action = page(self._platform, _MIDDLE, direction)
        after = progress._replace(scrolls=progress.scrolls + 1, paging=Paging(direction, here))
        return Move(action, thought(self._language, action), after, preparing=True)

    def _wait(self, progress: Progress) -> Move:
        action = Wait()
        return Move(action, thought(self._language, action), progress, preparing=True)


def _next(progress: Progress) -> Progress:
    at = progress.at + 1 if progress.resume is None else progress.resume
    return Progress(at=at, field_at=progress.field_at)


def _is(move: Move, decision: Decision) -> bool:
    """Whether a decision is this move: the same, or aimed at another place on the same target."""
    action, points, node = decision.action, decision.device_points, move.node
    if action is None or not points or node is None or node.box is None:
        return move.action == action
    same = move.action.model_dump(exclude={"point"}) == action.model_dump(exclude={"point"})
    return same and node.box.contains(points[0])


def _names_target(step: ProcedureStep) -> bool:
    return step.role is not None or step.name is not None


_STROKES = ("Drag", "Swipe")
_POINTED = ("Click", "DoubleClick", "Hover", "LongPress", "MiddleClick", "RightClick", "TripleClick")
_PLACED = (*_POINTED, *_STROKES)
"""Actions whose content is a place in the box they point at."""


def _places(box: Box, step: ProcedureStep) -> list[Pixel]:
    """The pixels at the parts of a box that a pointing step names; none where it names none. Raises ConfigError."""
    if step.action not in _PLACED or not step.content:
        return []
    try:
        parts = [tuple(map(float, part.split(","))) for part in step.content.split()]
        return [
            Pixel(
                x=math.floor(box.left + across * (box.right - box.left)),
                y=math.floor(box.top + down * (box.bottom - box.top)),
            )
            for across, down in parts
        ]
    except (ValueError, OverflowError) as error:
        raise ConfigError(f"procedure step '{step.action}': {step.content!r} is no place in a box") from error


def _canonical(pixel: Pixel, frame: Frame) -> Point:
    """The canonical point of a pixel, or of the nearest one of the picture."""
    inside = Pixel(x=min(max(pixel.x, 0), frame.width - 1), y=min(max(pixel.y, 0), frame.height - 1))
    return canonical_point(inside, frame.width, frame.height)


def action_of(step: ProcedureStep, point: Point, end: Point | None = None) -> Action:
    """The action a procedure step stands for; raises ConfigError when a procedure cannot express it."""
    text = step.content or ""
    stroke: dict[str, object] = {"start": point, "end": end}
    fields: dict[str, dict[str, object]] = {
        "Answer": {"content": text},
        "CallUser": {"content": text},
        "Drag": stroke,
        "Finished": {"content": text},
        "Hotkey": {"keys": text.split("+")},
        "KeyDown": {"keys": text.split("+")},
        "KeyUp": {"keys": text.split("+")},
        "Launch": {"url": text},
        "LaunchApp": {"app": text},
        "Scroll": {"point": point, "direction": text or "down"},
        "Swipe": stroke,
        "TakeNote": {"content": text},
        "Type": {"content": text},
    }
    pointed = {"point": point} if step.action in _POINTED else {}
    try:
        return ACTION.validate_python({"type": step.action, **fields.get(step.action, pointed)})
    except ValidationError as error:
        problem = first_problem(error)
        raise ConfigError(f"procedure step '{step.action}' with content {text!r}: {problem}") from error


def decision_of(action: Action, words: str, seen: Observation, injected: Mistake | None = None) -> Decision:
    """A decision in the canonical dialect; its points are the pixels that the canonical points stand for."""
    frame = seen.frame
    pixels = [device_pixel(point, frame.width, frame.height) for point in points_of(action)] if frame else []
    return Decision(thought=words, action=action, reply=render(action), device_points=pixels, injected=injected)
