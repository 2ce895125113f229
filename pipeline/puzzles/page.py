"""The page of a puzzle: its art and control in the looks of a service that does not exist, on the web or on a phone.

The page is told what can be done, never the answer. Knows nothing of servers and browsers.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cache
from importlib import resources
from random import Random
from typing import Any, Literal, NamedTuple

import yaml
from markupsafe import Markup

from pipeline.page_templates import page_template
from pipeline.puzzles.puzzle import Language, Puzzle
from pipeline.puzzles.scene import WIDTH, Buttons, Hand, Items, Lines, Pointer, Scene, Sliders, TextField

On = Literal["web", "phone"]
"""What the page is made for: a viewport of 1280 x 720, or a phone's of 390 x 844, in CSS pixels."""

_SCALES = (1.0, 1.1, 1.2, 1.35)
_WEB_ROOM = 420.0
"""CSS pixels that page and controls leave for the art's height on the web."""
_FONTS = (
    "system-ui, DejaVu Sans, Noto Sans CJK SC, sans-serif",
    "Verdana, DejaVu Sans, Noto Sans CJK SC, sans-serif",
    "Georgia, DejaVu Serif, Noto Serif CJK SC, serif",
)


class Look(NamedTuple):
    """Sizes in CSS pixels."""

    theme: Mapping[str, str]
    radius: int
    gap: int
    side: str
    font: str
    scale: float
    width: float
    height: float


def words(language: Language) -> Mapping[str, str]:
    """What the controls are called."""
    said: Mapping[str, str] = _surroundings()["words"][language]
    return said


def html_of(puzzle: Puzzle, on: On) -> str:
    """The page; the same puzzle has the same one."""
    scene, language = puzzle.scene, puzzle.key.language
    rng = Random(f"look {on} {puzzle.key}")
    control = scene.control
    spec = {"control": control.model_dump(), "words": dict(words(language))}
    return page_template("puzzle.html.j2").render(
        language=language,
        place=rng.choice(_surroundings()["places"][language]),
        look=_look(rng, scene, on),
        phone=on == "phone",
        scene=scene,
        control=control,
        art=Markup(scene.art),
        words=words(language),
        spec=Markup(json.dumps(spec, ensure_ascii=False).replace("<", "\\u003c")),
        points=isinstance(control, Pointer | Lines),
        clears=isinstance(control, Lines) or (isinstance(control, Pointer) and not control.single),
        confirms=confirms(scene),
    )


def confirms(scene: Scene) -> bool:
    """Whether an answer is confirmed by a button of its own."""
    match scene.control:
        case TextField() | Hand() | Buttons():
            return False
        case Pointer(single=single):
            return not single
        case Sliders(handles=handles):
            return len(handles) > 1
        case Items(spots=spots):
            return len(spots) > 1
        case _:
            return True


def _look(rng: Random, scene: Scene, on: On) -> Look:
    scale = 1.0 if on == "phone" else min(rng.choice(_SCALES), max(1.0, _WEB_ROOM / scene.height))
    return Look(
        theme=rng.choice(_surroundings()["themes"]),
        radius=rng.choice((4, 10, 16)),
        gap=rng.choice((12, 16, 20)),
        side=rng.choice(("center", "space-around", "space-between")),
        font=rng.choice(_FONTS),
        scale=scale,
        width=WIDTH * scale,
        height=scene.height * scale,
    )


@cache
def _surroundings() -> Any:
    return yaml.safe_load((resources.files("pipeline.puzzles") / "surroundings.yaml").read_text(encoding="utf-8"))
