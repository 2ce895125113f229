"""How an answer is given: the clicks, drags and texts on the controls of a page that give it.

A wrong answer is given the same way. As a procedure, controls are named as an accessibility tree names them. Knows
nothing of browsers.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Literal, NamedTuple

from pipeline.puzzles.answers import (
    Answer,
    Arranged,
    Clicked,
    Dropped,
    Joined,
    Pointed,
    Slid,
    Spot,
    Stepped,
    Tapped,
    Typed,
    Walked,
)
from pipeline.puzzles.page import confirms, words
from pipeline.puzzles.puzzle import Language
from pipeline.puzzles.scene import HANDLE, WIDTH, Buttons, Hand, Items, Scene, Token
from pipeline.tasks import ProcedureStep


class Part(NamedTuple):
    """A place relative to a box: how much of its width lies to the left, and of its height above."""

    across: float
    down: float

    def __str__(self) -> str:
        return f"{self.across:g},{self.down:g}"


MIDDLE = Part(across=0.5, down=0.5)

_ROLES = {"art": "image", "field": "textbox", "handle": "slider", "handle_2": "slider"}
"""Roles of the controls; the others are buttons."""
_BRIEF = 0.05
"""Seconds; what is to be held longer is pressed long."""


class Act(NamedTuple):
    """One action: on which control, at which part of its box, and where from there a drag ends."""

    action: Literal["Click", "LongPress", "Drag", "Type", "Wait"]
    control: str = ""
    at: Part = MIDDLE
    to: Part | None = None
    content: str | None = None
    aim: str | None = None
    """The mark or part in the art that it points at; a control's own box where it is on another control."""
    end_aim: str | None = None
    """The mark or part on which a drag in the art must end."""


def plan(scene: Scene, answer: Answer) -> list[Act]:
    """The actions that give an answer, right or wrong, on the page of a scene."""
    acts = _acts(scene, answer)
    return [*acts, Act("Click", "confirm")] if confirms(scene) else acts


def procedure(scene: Scene, language: Language) -> list[ProcedureStep]:
    """The plan of the right answer, for a policy that looks for controls by role and name."""
    return [_step(act, scene, words(language)) for act in plan(scene, scene.answer) if not _is_focus(act)]


def _is_focus(act: Act) -> bool:
    """A policy gives a field the focus by itself before it types."""
    return act.control == "field" and act.action == "Click"


def _step(act: Act, scene: Scene, said: Mapping[str, str]) -> ProcedureStep:
    if not act.control:
        return ProcedureStep(action=act.action)
    role, name = _ROLES.get(act.control, "button"), said.get(act.control, "")
    if isinstance(scene.control, Buttons):
        button = next(one for one in scene.control.buttons if act.control == f"button:{one.name}")
        role, name = "checkbox" if button.look == "box" else "button", button.label
    return ProcedureStep(action=act.action, role=role, name=name, content=act.content or _spelled(act))


def _spelled(act: Act) -> str | None:
    """Where in the box an action points, as procedures say it; nothing for its middle."""
    if act.to is not None:
        return f"{act.at} {act.to}"
    return str(act.at) if act.at != MIDDLE else None


def _acts(scene: Scene, answer: Answer) -> list[Act]:
    match answer:
        case Typed(accepted=[text, *_]):
            return [Act("Click", "field"), Act("Type", "field", content=text), Act("Click", "confirm")]
        case Clicked(marks=marks):
            return [Act("Click", "art", _part(scene, scene.marks[mark].centre), aim=mark) for mark in marks]
        case Slid(shifts=shifts):
            return [Act("Drag", name, to=_shifted(shift)) for name, shift in shifts.items()]
        case Stepped(presses=presses):
            return [Act("Click", "step")] * presses
        case Tapped():
            return _taps(scene, answer)
        case _:
            return [
                Act(
                    "Drag",
                    "art",
                    _part(scene, stroke.start),
                    _part(scene, stroke.end),
                    aim=stroke.aim,
                    end_aim=stroke.end_aim,
                )
                for stroke in _strokes(scene, answer)
            ]


def _part(scene: Scene, spot: Spot) -> Part:
    return Part(across=round(spot[0] / WIDTH, 5), down=round(spot[1] / scene.height, 5))


def _shifted(shift: float) -> Part:
    """Where the middle of a handle is after a shift."""
    return Part(across=round(0.5 + shift / HANDLE, 5), down=0.5)


def _taps(scene: Scene, answer: Tapped) -> list[Act]:
    assert isinstance(scene.control, Buttons)
    waits = {one.name: one.wait for one in scene.control.buttons}
    acts: list[Act] = []
    for number, name in enumerate(answer.taps, 1):
        acts += [Act("Wait")] * math.ceil(waits[name])
        long = number == len(answer.taps) and answer.held > _BRIEF
        acts.append(Act("LongPress" if long else "Click", f"button:{name}"))
    return acts


class _Stroke(NamedTuple):
    """From where to where the pointer is drawn in the art, on what it begins, and on what it must end."""

    start: Spot
    end: Spot
    aim: str
    end_aim: str | None = None


def _strokes(scene: Scene, answer: Answer) -> Sequence[_Stroke]:
    control, marks = scene.control, scene.marks
    match answer:
        case Dropped(rests=rests) if isinstance(control, Items):
            return [_Stroke(control.spots[item], marks[mark].centre, item, mark) for item, mark in rests.items()]
        case Arranged(order=order) if isinstance(control, Items):
            return _swaps(order, control.spots)
        case Joined(pairs=pairs):
            return [_Stroke(marks[one].centre, marks[other].centre, one, other) for one, other in pairs]
        case Walked(way=way, to=to) if isinstance(control, Token):
            ends = [*(None for _ in way[2:]), to]
            return [_Stroke(*leg, control.part, end) for leg, end in zip(pairwise(way), ends, strict=True)]
        case Pointed(degrees=degrees) if isinstance(control, Hand):
            return [_Stroke(control.tip, _turned(control, degrees), control.part)]
        case _:
            raise ValueError(f"{answer.kind} is no answer for {control.kind}")


def _swaps(wanted: Sequence[str], places: Mapping[str, Spot]) -> list[_Stroke]:
    """Swaps that bring the items into an order, place by place."""
    now, spots = list(places), list(places.values())
    strokes = []
    for place, item in enumerate(wanted):
        at = now.index(item)
        if at != place:
            strokes.append(_Stroke(spots[at], spots[place], item, now[place]))
            now[at], now[place] = now[place], now[at]
    return strokes


def _turned(hand: Hand, degrees: float) -> Spot:
    """Where the tip is once the hand points so."""
    angle = math.radians(degrees - hand.start)
    x, y = hand.tip[0] - hand.pivot[0], hand.tip[1] - hand.pivot[1]
    return (
        hand.pivot[0] + x * math.cos(angle) - y * math.sin(angle),
        hand.pivot[1] + x * math.sin(angle) + y * math.cos(angle),
    )
