"""What one page showed: its controls and texts, and the records they belong to.

Boxes are in CSS pixels here. Knows nothing of instructions.
"""

from __future__ import annotations

from typing import Any, Literal

from pydantic import Field

from pipeline.actions import Model

Edges = tuple[float, float, float, float]
"""Left, top, right, bottom."""

_SMALLEST = 9
"""Narrower or lower than this many CSS pixels, and nobody points at it reliably."""

_NEARLY = 1.0
"""Boxes are cut by less than this only because pixels are whole."""


class Element(Model):
    """A control, or a text outside any control."""

    kind: Literal["control", "text"]
    role: str
    name: str
    text: str
    states: list[str]
    icon: str
    act: str
    colour: str
    box: Edges
    seen: Edges
    """The part of the box that no ancestor and no edge of the screen cuts off."""
    shown: bool
    hits: list[bool]
    """Whether each of nine points of the box leads to the element or into it."""
    record: int
    """The record it belongs to, by number; -1 for none."""
    lines: int = 1
    labels: bool = False
    """Whether it is the label of a control, so that a click on it acts on that one."""
    cut: bool = False
    """Whether its text is cut short."""

    @property
    def whole(self) -> bool:
        """Whether all of it can be seen, and every point of it is its own."""
        return self.shown and all(self.hits) and _within(self.box, self.seen) and self.large

    @property
    def large(self) -> bool:
        """Whether it can be pointed at."""
        left, top, right, bottom = self.box
        return right - left >= _SMALLEST and bottom - top >= _SMALLEST

    @property
    def enabled(self) -> bool:
        """Whether it does anything."""
        return "disabled" not in self.states

    @property
    def centre(self) -> tuple[float, float]:
        """The middle of its box."""
        return (self.box[0] + self.box[2]) / 2, (self.box[1] + self.box[3]) / 2


class Entry(Model):
    """A record that the page lists: a message, a flight, a row; with the facts it shows."""

    en: str
    zh: str
    title: str
    by: str
    facts: dict[str, float]
    text: str
    box: Edges
    seen: Edges
    group: int
    """Records of one list share it."""

    @property
    def whole(self) -> bool:
        """Whether all of it can be seen."""
        return _within(self.box, self.seen)

    @property
    def showing(self) -> bool:
        """Whether any of it can be seen."""
        left, top, right, bottom = self.seen
        return right - left > _NEARLY and bottom - top > _NEARLY

    def noun(self, language: str) -> str:
        """What one calls such a record."""
        return self.zh if language == "zh" else self.en


class Shown(Model):
    """Everything a page showed."""

    title: str
    width: int
    height: int
    ratio: float
    told: bool = True
    """Whether it is known what its icons and acts are for; of pages that others wrote it is not."""
    drawn: list[str] = Field(default_factory=list)
    """Every icon on it by name, those outside of controls too."""
    said: list[str] = Field(default_factory=list)
    """Every text and every name, title and hint on it, hidden ones too."""
    elements: list[Element]
    records: list[Entry]

    def members(self, group: int) -> list[tuple[int, Entry]]:
        """The records of one list, with their numbers, from top to bottom."""
        found = [(number, entry) for number, entry in enumerate(self.records) if entry.group == group]
        return sorted(found, key=lambda pair: (round(pair[1].box[1]), pair[1].box[0]))

    def within(self, number: int) -> list[Element]:
        """The elements of one record."""
        return [element for element in self.elements if element.record == number]


def shown_of(read: dict[str, Any]) -> Shown:
    """What the reading script gave, checked."""
    return Shown.model_validate(read)


def _within(box: Edges, seen: Edges) -> bool:
    return all(abs(one - other) < _NEARLY for one, other in zip(box, seen, strict=True))
