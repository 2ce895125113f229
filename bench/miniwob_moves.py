"""The words in which programs for MiniWoB++ pages are written: presses, texts, and what a request and a screen hold."""

from __future__ import annotations

import re
from collections.abc import Callable, Generator, Sequence

from pipeline.structs import Node
from pipeline.tasks import ProcedureStep

Screen = Sequence[Node]
Plan = Generator[ProcedureStep, Screen, None]
Solver = Callable[[str, Screen], Plan]
"""From what is asked and the first screen to the steps."""

_ORDINAL = re.compile(r"(\d+)(?:st|nd|rd|th)")


def press(name: str | None = None, role: str | None = None, nth: int = 0, near: str | None = None) -> ProcedureStep:
    """A click on what has a name, a role, a place among its like, or another text nearby."""
    return ProcedureStep(action="Click", role=role, name=name, nth=nth, near=near)


def write(text: str, name: str | None = None, nth: int = 0, near: str | None = None) -> ProcedureStep:
    """A text typed into a field."""
    return ProcedureStep(action="Type", role="textbox", name=name, nth=nth, near=near, content=text)


SUBMIT = press("Submit", "button")
"""The button that ends most pages."""


def quoted(asked: str) -> list[str]:
    """What stands in quotation marks."""
    return re.findall(r'"([^"]*)"', asked)


def ordinals(asked: str) -> list[int]:
    """Numbers that count: `2nd`, `3rd`."""
    return [int(number) for number in _ORDINAL.findall(asked)]


def listed(asked: str) -> list[str]:
    """`Select a, b from the list and click Submit`: a and b."""
    found = re.match(r"Select (.*?)(?: from the (?:scroll )?list)? and click Submit", asked)
    names = found[1].split(", ") if found else []
    return [] if names == ["nothing"] else names


def places(screen: Screen, role: str) -> list[Node]:
    """The nodes of a role."""
    return [node for node in screen if node.role == role]


def shows(screen: Screen, name: str) -> bool:
    """Whether a name is on the screen."""
    return any(node.name == name and node.box is not None for node in screen)
