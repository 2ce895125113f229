"""Puzzles in which one thing is drawn to the place where it belongs.

Those on grids are in drag_grids, of several things in drag_things, of tiles and cards in drag_tiles, of a maze in
drag_maze.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from random import Random
from typing import Any, ClassVar

from pipeline.actions import Model
from pipeline.puzzles.answers import Answer, Dropped, Spot, around
from pipeline.puzzles.art import marks, paper, part, polygon, scatter
from pipeline.puzzles.forms import FORMS, form, form_outline
from pipeline.puzzles.kinds.dragging import BRIGHT, DragPuzzle, grip, names, tray
from pipeline.puzzles.pictures import again, painted
from pipeline.puzzles.puzzle import Language, Level, PuzzleType, State
from pipeline.puzzles.scene import WIDTH, Items, Scene

_HIT = 0.45
"""Of an outline: near enough to its middle for what is dropped there to cover it."""


class Slot(Model):
    """The outline of a form that is turned clockwise."""

    mark: str
    spot: Spot
    form: str
    angle: int


class Slots(State):
    """A form, where it lies at the beginning, and outlines."""

    form: str
    angle: int
    start: Spot
    slots: list[Slot]
    meant: str


class ShapeSlot(DragPuzzle[Slots]):
    """Drag a form to its outline."""

    name: ClassVar[str] = "dr_shape_slot"
    _SIZE: ClassVar[float] = 46.0

    def draw(self, rng: Random, level: Level, language: Language) -> Slots:
        """Other forms on the lower levels; on the highest the same one turned, too."""
        meant = rng.choice(("triangle", "heart", "moon") if level == 3 else sorted(FORMS))
        angle = 90 * rng.randrange(4) if level == 3 else 0
        others = rng.sample(sorted(FORMS.keys() - {meant}), 1 + level)
        kinds = [(meant, angle), *((other, 0) for other in others)]
        if level == 3:
            kinds += [(meant, (angle + 90) % 360), (meant, (angle + 180) % 360)]
        marks = names(rng, len(kinds))
        spots = scatter(rng, len(kinds), self._SIZE, 152)
        slots = [
            Slot(mark=name, spot=spot, form=kind, angle=turn)
            for name, spot, (kind, turn) in zip(marks, spots, kinds, strict=False)
        ]
        return Slots(
            variant=rng.randrange(10_000),
            form=meant,
            angle=angle,
            start=(float(rng.randrange(50, 271)), 184.0),
            slots=slots,
            meant=marks[0],
        )

    def solve(self, state: Slots) -> Iterator[Answer]:
        """All outlines that the form covers as it lies."""
        own = _corners(state.form, state.angle)
        for slot in state.slots:
            if _corners(slot.form, slot.angle) == own:
                yield Dropped(rests={"p0": slot.mark})

    def scene(self, state: Slots, language: Language) -> Scene:
        """The form in a tray, the outlines dashed."""
        colour = BRIGHT[state.variant % len(BRIGHT)]
        dashed = 'fill="#ffffff" fill-opacity="0.75" stroke="#475569" stroke-width="2" stroke-dasharray="5 3"'
        solid = f'fill="{colour}" stroke="#ffffff" stroke-width="2"'
        outlines = marks((one.mark, form(one.form, one.spot, self._SIZE, dashed, one.angle)) for one in state.slots)
        lying = grip(state.start, self._SIZE) + form(state.form, state.start, self._SIZE, solid, state.angle)
        return Scene(
            ask=self.ask(state, language),
            art="".join((paper(state.variant, 212), tray(154, 54), outlines, part("p0", lying))),
            height=212,
            control=Items(spots={"p0": state.start}),
            answer=Dropped(rests={"p0": state.meant}),
            marks={one.mark: around(one.spot, self._SIZE * _HIT) for one in state.slots},
        )


def _corners(kind: str, angle: int) -> frozenset[Spot]:
    corners = form_outline(kind, (0.0, 0.0), 100.0, angle).corners
    return frozenset((float(round(x)), float(round(y))) for x, y in corners)


Tabs = tuple[int, int, int, int]
"""Of the top, right, bottom and left side of a piece: out (1), in (-1) or straight (0)."""


class Hole(Model):
    """A hole in a picture."""

    mark: str
    spot: Spot
    tabs: Tabs


class Holes(State):
    """A picture by its number, a piece that was cut out of it, where this lies, and holes."""

    picture: int
    tabs: Tabs
    start: Spot
    holes: list[Hole]
    meant: str


class Gap(DragPuzzle[Holes]):
    """Drag a piece of a picture to its hole."""

    name: ClassVar[str] = "dr_gap_2d"
    _SIDE: ClassVar[float] = 42.0
    _HIT: ClassVar[float] = 24.0
    """Across and down in the middle of a hole: what is dropped there covers most of it."""
    _PICTURE: ClassVar[tuple[float, float]] = (WIDTH, 180.0)

    def draw(self, rng: Random, level: Level, language: Language) -> Holes:
        """A hole for each level; those that do not fit differ in three sides, on the highest level in one."""
        own: Tabs = tuple(rng.choice((-1, 0, 1)) for _ in range(4))  # type: ignore[assignment]
        differing = 1 if level == 3 else 3
        others = [
            tabs
            for tabs in product((-1, 0, 1), repeat=4)
            if sum(one != other for one, other in zip(tabs, own, strict=True)) == differing
        ]
        marks = names(rng, level)
        holes = [
            Hole(mark=name, spot=spot, tabs=tabs)
            for name, spot, tabs in zip(
                marks,
                scatter(rng, level, self._SIDE + 16, self._PICTURE[1]),
                [own, *rng.sample(others, level - 1)],
                strict=False,
            )
        ]
        return Holes(
            variant=rng.randrange(10_000),
            picture=rng.randrange(100_000),
            tabs=own,
            start=(float(rng.randrange(50, 271)), 214.0),
            holes=holes,
            meant=marks[0],
        )

    def solve(self, state: Holes) -> Iterator[Answer]:
        """All holes with the outline of the piece."""
        for hole in state.holes:
            if hole.tabs == state.tabs:
                yield Dropped(rests={"p0": hole.mark})

    def scene(self, state: Holes, language: Language) -> Scene:
        """The piece in a tray shows what is missing in its hole."""
        (x, y), name = state.start, f"holed-{state.picture}"
        home = next(one.spot for one in state.holes if one.mark == state.meant)
        whole = painted(state.picture, *self._PICTURE)
        dark = 'fill="#0f172a" fill-opacity="0.72" stroke="#ffffff" stroke-width="1.5"'
        piece = polygon(
            piece_outline(state.start, self._SIDE, state.tabs),
            f'fill="url(#{name}-p)" stroke="#94a3b8" stroke-width="1"',
        )
        return Scene(
            ask=self.ask(state, language),
            art="".join(
                (
                    paper(state.variant, 246),
                    whole.pattern(name),
                    again(f"{name}-p", name, (x - home[0], y - home[1])),
                    f'<rect width="{self._PICTURE[0]:g}" height="{self._PICTURE[1]:g}" fill="url(#{name})"/>',
                    tray(184, 58),
                    marks(
                        (one.mark, polygon(piece_outline(one.spot, self._SIDE, one.tabs), dark)) for one in state.holes
                    ),
                    part("p0", piece),
                )
            ),
            height=246,
            control=Items(spots={"p0": state.start}),
            answer=Dropped(rests={"p0": state.meant}),
            marks={one.mark: around(one.spot, self._HIT) for one in state.holes},
        )


def piece_outline(spot: Spot, side: float, tabs: Tabs) -> list[Spot]:
    """The corners of a square piece around a place, with a pointed tab or notch on each side."""
    half, wide, deep = side / 2, side / 6, side / 8
    corners: list[Spot] = []
    for quarter, tab in enumerate(tabs):
        along = [
            (-half, -half),
            (-wide, -half),
            (-wide * 0.6, -half - deep * tab),
            (wide * 0.6, -half - deep * tab),
            (wide, -half),
        ]
        for x, y in along if tab else along[:1]:
            for _ in range(quarter):
                x, y = -y, x
            corners.append((spot[0] + x, spot[1] + y))
    return corners


TYPES: tuple[PuzzleType[Any], ...] = (ShapeSlot(), Gap())
