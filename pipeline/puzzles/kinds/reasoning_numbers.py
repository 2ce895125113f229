"""Puzzles whose answer is a number that is typed: panes of a colour, things that are partly covered."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from random import Random
from typing import Any, ClassVar

from pipeline.actions import Model
from pipeline.puzzles.answers import Answer, Region, Spot, Typed, rectangle
from pipeline.puzzles.art import paper, polygon, scatter
from pipeline.puzzles.colours import COLOURS
from pipeline.puzzles.icons import PAINTS, icon, icon_names, icon_region, icons
from pipeline.puzzles.kinds.reasoning import area
from pipeline.puzzles.puzzle import Language, Level, PuzzleType, State
from pipeline.puzzles.scene import WIDTH, Scene, TextField
from pipeline.words import PuzzleKind


class Pane(Model):
    """A pane of a window: its corners and the number of its colour."""

    corners: list[Spot]
    colour: int


class Window(State):
    """Panes of coloured glass, and the number of the colour that is counted."""

    panes: list[Pane]
    asked: int


class ColourCount(PuzzleType[Window]):
    """Type how many panes of a window have a colour."""

    name: ClassVar[str] = "vr_colour_count"
    kind: ClassVar[PuzzleKind] = "visual_reasoning"
    _height: ClassVar[float] = 210.0

    def draw(self, rng: Random, level: Level, language: Language) -> Window:
        """Nine to nineteen panes in three to five colours."""
        colours = rng.sample(range(len(COLOURS)), 2 + level)
        panes = [
            Pane(corners=corners, colour=rng.choice(colours))
            for corners in _broken(rng, 4 + 5 * level, rectangle(6, 6, WIDTH - 12, self._height - 12).corners)
        ]
        return Window(variant=rng.randrange(10_000), panes=panes, asked=colours[0])

    def solve(self, state: Window) -> Iterator[Answer]:
        """Every number that is the count."""
        for number in range(1, len(state.panes) + 1):
            if sum(pane.colour == state.asked for pane in state.panes) == number:
                yield Typed(accepted=[str(number)])

    def scene(self, state: Window, language: Language) -> Scene:
        """Panes with white lead between them."""
        colour = COLOURS[state.asked]
        frame = f'<rect width="{WIDTH:g}" height="{self._height:g}" fill="#ffffff"/>'
        drawn = [
            polygon(pane.corners, f'fill="{COLOURS[pane.colour].paint}" stroke="#ffffff" stroke-width="6"')
            for pane in state.panes
        ]
        count = sum(pane.colour == state.asked for pane in state.panes)
        return Scene(
            ask=self.ask(state, language, colour=colour.zh if language == "zh" else colour.en),
            art=frame + "".join(drawn),
            height=self._height,
            control=TextField(),
            answer=Typed(accepted=[str(count)]),
        )


def _broken(rng: Random, count: int, corners: list[Spot]) -> list[list[Spot]]:
    """A convex shape in so many pieces: the largest one is broken near its middle, again and again."""
    pieces = [corners]
    while len(pieces) < count:
        pieces.sort(key=area)
        piece = pieces.pop()
        x, y = Region(corners=piece).centre
        left, top, right, bottom = Region(corners=piece).edges
        turn = (0.0 if right - left > bottom - top else math.pi / 2) + rng.uniform(-0.35, 0.35)
        normal = (math.cos(turn), math.sin(turn))
        level = x * normal[0] + y * normal[1]
        pieces += [_side(piece, normal, level), _side(piece, (-normal[0], -normal[1]), -level)]
    return pieces


def _side(corners: Sequence[Spot], normal: Spot, level: float) -> list[Spot]:
    """What of a convex shape lies on one side of a line."""
    kept: list[Spot] = []
    for (x, y), (a, b) in zip(corners, [*corners[1:], corners[0]], strict=True):
        here, there = (level - place[0] * normal[0] - place[1] * normal[1] for place in ((x, y), (a, b)))
        if here >= 0:
            kept.append((x, y))
        if here * there < 0:
            part = here / (here - there)
            kept.append((round(x + (a - x) * part, 1), round(y + (b - y) * part, 1)))
    return kept


class Thing(Model):
    """An icon that may be partly covered: the middle of its box and its longer side."""

    icon: str
    spot: Spot


class Bush(Model):
    """A round cover."""

    spot: Spot
    radius: float


class Covered(State):
    """Things, what covers them, and the icon that is counted."""

    things: list[Thing]
    bushes: list[Bush]
    asked: str


_SEVERAL = ("cherry", "grapes")
"""Icons of several things, which may be counted as one or as many."""


class OccludedCount(PuzzleType[Covered]):
    """Type how many things of a sort there are, partly covered ones too."""

    name: ClassVar[str] = "vr_occluded_count"
    kind: ClassVar[PuzzleKind] = "visual_reasoning"
    _height: ClassVar[float] = 220.0
    _size: ClassVar[float] = 42.0

    def draw(self, rng: Random, level: Level, language: Language) -> Covered:
        """Six to ten things of two or three sorts, and as many bushes as levels, and some more."""
        single = [name for name in icon_names("animal", "vehicle", "fruit") if name not in _SEVERAL]
        sorts = rng.sample(single, 1 + min(level, 2))
        spots = scatter(rng, 4 + 2 * level, self._size, self._height, gap=3)
        things = [Thing(icon=rng.choice(sorts), spot=spot) for spot in spots]
        bushes = []
        for thing in rng.sample(things, min(len(things), 2 + level)):
            turn, radius = rng.uniform(0, math.tau), round(rng.uniform(15, 22), 1)
            far = radius + rng.uniform(2, 8)
            x, y = thing.spot[0] + far * math.cos(turn), thing.spot[1] + far * math.sin(turn)
            bushes.append(Bush(spot=(round(x, 1), round(y, 1)), radius=radius))
        return Covered(variant=rng.randrange(10_000), things=things, bushes=bushes, asked=sorts[0])

    def solve(self, state: Covered) -> Iterator[Answer]:
        """Every number that a person may come to: those that are hardly seen may be counted or not."""
        wanted = [self._seen(state, thing) for thing in state.things if thing.icon == state.asked]
        unsure = any(self._seen(state, thing) < 0.6 for thing in state.things)
        for number in range(2, len(state.things) + 1):
            if number == len(wanted) or (unsure and number == len(wanted) - 1):
                yield Typed(accepted=[str(number)])

    def _seen(self, state: Covered, thing: Thing) -> float:
        """The part of its box that is not covered."""
        left, top, right, bottom = icon_region(thing.icon, thing.spot, self._size).edges
        places = [
            (left + (right - left) * (column + 0.5) / 6, top + (bottom - top) * (row + 0.5) / 6)
            for column in range(6)
            for row in range(6)
        ]
        return sum(all(math.dist(place, bush.spot) > bush.radius for bush in state.bushes) for place in places) / 36

    def scene(self, state: Covered, language: Language) -> Scene:
        """Things in the colours of their sort, with bushes before them."""
        rng = Random(f"covered {state.variant}")
        paints = dict(zip(sorted({thing.icon for thing in state.things}), rng.sample(PAINTS, 3), strict=False))
        drawn = "".join(icon(thing.icon, thing.spot, self._size, paints[thing.icon]) for thing in state.things)
        one = icons()[state.asked]
        count = sum(thing.icon == state.asked for thing in state.things)
        return Scene(
            ask=self.ask(state, language, asked=one.zh if language == "zh" else one.en),
            art=paper(state.variant, self._height) + drawn + "".join(_bush(rng, bush) for bush in state.bushes),
            height=self._height,
            control=TextField(),
            answer=Typed(accepted=[str(count)]),
        )


def _bush(rng: Random, bush: Bush) -> str:
    """A round bush: leaves that do not reach beyond its radius."""
    (x, y), radius = bush.spot, bush.radius
    leaves = "".join(
        f'<circle cx="{x + radius * 0.55 * math.cos(turn):.1f}" cy="{y + radius * 0.55 * math.sin(turn):.1f}" '
        f'r="{radius * 0.4:.1f}" fill="{rng.choice(("#4d7c0f", "#3f6212", "#65a30d"))}"/>'
        for turn in (number * math.tau / 7 for number in range(7))
    )
    return f'<circle cx="{x:g}" cy="{y:g}" r="{radius:g}" fill="#4d7c0f"/>{leaves}'


TYPES: tuple[PuzzleType[Any], ...] = (ColourCount(), OccludedCount())
