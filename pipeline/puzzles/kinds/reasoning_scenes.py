"""Puzzles that are looked at: classes of things, piles of sheets, roads that cross."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from itertools import pairwise
from random import Random
from typing import Any, ClassVar

from pipeline.actions import Model
from pipeline.puzzles.answers import Answer, Clicked, Region, Spot, rectangle
from pipeline.puzzles.art import mark, panel, paper, shuffled_marks
from pipeline.puzzles.colours import COLOURS
from pipeline.puzzles.forms import FORMS, form, form_outline
from pipeline.puzzles.icons import APART, GROUP_NAMES, PAINTS, Group, icon, icon_names, icons
from pipeline.puzzles.kinds.reasoning import OptionPuzzle, Options, land, tiles
from pipeline.puzzles.puzzle import Language, Level, PuzzleType, State
from pipeline.puzzles.scene import WIDTH, Pointer, Scene
from pipeline.words import PuzzleKind


class Grid(State):
    """The icon on each of nine tiles, their marks, row by row, and the class that is asked for."""

    icons: list[str]
    marks: list[str]
    meant: list[str]
    asked: Group


class GridClass(PuzzleType[Grid]):
    """Click all tiles of a grid that show one class of things."""

    name: ClassVar[str] = "vr_grid_class"
    kind: ClassVar[PuzzleKind] = "visual_reasoning"

    def draw(self, rng: Random, level: Level, language: Language) -> Grid:
        """Two to five tiles of the class; the harder it is, the fewer classes are among the others."""
        group = rng.choice(list(GROUP_NAMES))
        others = rng.sample(APART[group], 5 - level)
        wanted = rng.sample(icon_names(group), rng.randint(2, 5))
        shown = wanted + rng.sample(icon_names(*others), 9 - len(wanted))
        rng.shuffle(shown)
        marks = shuffled_marks(rng, 9)
        meant = sorted(name for name, one in zip(marks, shown, strict=True) if one in wanted)
        return Grid(variant=rng.randrange(10_000), icons=shown, marks=marks, meant=meant, asked=group)

    def solve(self, state: Grid) -> Iterator[Answer]:
        """Whatever belongs to the class; also with those that might be counted to it."""
        groups = [icons()[one].group for one in state.icons]
        sure = [name for name, group in zip(state.marks, groups, strict=True) if group == state.asked]
        apart = (state.asked, *APART[state.asked])
        perhaps = [name for name, group in zip(state.marks, groups, strict=True) if group not in apart]
        if sure:
            yield Clicked(marks=sorted(sure))
        if perhaps:
            yield Clicked(marks=sorted(sure + perhaps))

    def scene(self, state: Grid, language: Language) -> Scene:
        """Nine tiles, each with a tint of its own."""
        rng = Random(f"grid {state.variant}")
        regions = tiles(state.marks, 0, 290, 3)
        drawn = []
        for name, one in zip(state.marks, state.icons, strict=True):
            spot, paint = regions[name].centre, rng.choice(PAINTS)
            ground = _ground(rng, regions[name])
            drawn.append(mark(name, ground, icon(one, spot, rng.uniform(54, 68), paint, angle=rng.randint(-10, 10))))
        return Scene(
            ask=self.ask(state, language, asked=GROUP_NAMES[state.asked][language == "zh"]),
            art=paper(state.variant, 290) + "".join(drawn),
            height=290,
            control=Pointer(),
            answer=Clicked(marks=state.meant),
            marks=regions,
        )


_TINTS = (("#e0f2fe", "#dcfce7"), ("#fef3c7", "#fde8d0"), ("#ede9fe", "#e2e8f0"), ("#fce7f3", "#f1f5f9"))
"""Sky and land, both pale."""


def _ground(rng: Random, region: Region) -> str:
    """A tile with a horizon in pale colours."""
    sky, ground = rng.choice(_TINTS)
    return panel(region, sky) + land(region, region.edges[3] - rng.uniform(18, 34), ground, rng.uniform(-8, 14))


class Sheet(Model):
    """A sheet of a pile: form, number of its colour, middle, longer side, tilt in degrees."""

    form: str
    colour: int
    spot: Spot
    size: float
    angle: float

    @property
    def outline(self) -> Region:
        """What it covers."""
        return form_outline(self.form, self.spot, self.size, self.angle)


class Pile(Options):
    """Sheets from the back to the front; the options show them in this order of numbers."""

    sheets: list[Sheet]
    shown: list[int]
    asked: str


class Layer(OptionPuzzle[Pile]):
    """Click, below a pile, the sheet that lies at its back or on top."""

    name: ClassVar[str] = "vr_layer"
    _step: ClassVar[int] = 8
    _pile: ClassVar[float] = 190.0
    """Height of the pile."""

    def draw(self, rng: Random, level: Level, language: Language) -> Pile:
        """Three to five sheets, each of them near the one before."""
        count = 2 + level
        forms = rng.sample([name for name in FORMS if name not in ("moon", "cross")], count)
        colours = rng.sample(range(len(COLOURS)), count)
        sheets = [
            Sheet(
                form=name,
                colour=colour,
                spot=spot,
                size=rng.randint(76, 104),
                angle=rng.randint(-25, 25),
            )
            for name, colour, spot in zip(forms, colours, _heap(rng, count), strict=True)
        ]
        asked = rng.choice(("back", "front"))
        marks = shuffled_marks(rng, count)
        shown = rng.sample(range(count), count)
        meant = marks[shown.index(0 if asked == "back" else count - 1)]
        return Pile(variant=rng.randrange(10_000), marks=marks, meant=meant, sheets=sheets, shown=shown, asked=asked)

    def solve(self, state: Pile) -> Iterator[Answer]:
        """Each sheet that is seen to lie on (or under) no other one; any of them when one is hardly seen."""
        covers, seen, whole = self._looked_at(state.sheets)
        hidden = any(places < 0.3 * all_places for places, all_places in zip(seen, whole, strict=True))
        side = 0 if state.asked == "back" else 1
        for name, number in zip(state.marks, state.shown, strict=True):
            if hidden or all(pair[side] != number for pair, places in covers.items() if places > 1):
                yield Clicked(marks=[name])

    def _looked_at(self, sheets: Sequence[Sheet]) -> tuple[dict[tuple[int, int], int], list[int], list[int]]:
        """At how many places one sheet (first) is seen on another; at how many each is seen; and how many it has."""
        covers: dict[tuple[int, int], int] = {}
        seen, whole = [0] * len(sheets), [0] * len(sheets)
        outlines = [sheet.outline for sheet in sheets]
        for y in range(0, int(self._pile), self._step):
            rows = [_row(outline, y, self._step) for outline in outlines]
            higher = 0
            for number in reversed(range(len(sheets))):
                free = rows[number] & ~higher
                for lower in range(number):
                    places = (free & rows[lower]).bit_count()
                    covers[number, lower] = covers.get((number, lower), 0) + places
                seen[number] += free.bit_count()
                whole[number] += rows[number].bit_count()
                higher |= rows[number]
        return covers, seen, whole

    def scene(self, state: Pile, language: Language) -> Scene:
        """The pile, and a row of tiles with each of its sheets alone."""
        pile = "".join(
            form(
                one.form, (one.spot[0] + 2, one.spot[1] + 3), one.size, 'fill="#0f172a" fill-opacity="0.18"', one.angle
            )
            + form(one.form, one.spot, one.size, _sheet_paint(one), one.angle)
            for one in state.sheets
        )
        regions = tiles(state.marks, self._pile, 70, len(state.marks))
        drawn = [
            form(state.sheets[number].form, regions[name].centre, 34, _sheet_paint(state.sheets[number]))
            for name, number in zip(state.marks, state.shown, strict=True)
        ]
        words = {"back": ("at the very back", "最底层"), "front": ("on top of all", "最上层")}
        asked = words[state.asked][language == "zh"]
        return self.picked(state, language, regions, drawn, height=262, above=pile, asked=asked)


def _heap(rng: Random, count: int) -> list[Spot]:
    """The middles of sheets in a pile."""
    spots = [(rng.uniform(90, 230), rng.uniform(62, 128))]
    while len(spots) < count:
        turn, far = rng.uniform(0, math.tau), rng.uniform(42, 64)
        x, y = spots[-1][0] + far * math.cos(turn), spots[-1][1] + far * math.sin(turn)
        if 60 <= x <= 260 and 58 <= y <= 132:
            spots.append((x, y))
    return [(round(x, 1), round(y, 1)) for x, y in spots]


def _row(outline: Region, y: float, step: int) -> int:
    """Which places of a level line are inside an outline: a bit for each."""
    every, corners, row = (1 << int(WIDTH) // step) - 1, outline.corners, 0
    for (left, top), (right, bottom) in zip(corners, [*corners[1:], corners[0]], strict=True):
        if (top > y) != (bottom > y):
            border = left + (right - left) * (y - top) / (bottom - top)
            row ^= (every << math.ceil(border / step)) & every
    return row


def _sheet_paint(one: Sheet) -> str:
    return f'fill="{COLOURS[one.colour].paint}" stroke="#ffffff" stroke-width="2"'


class Roads(Options):
    """Lanes that change places: for each column the upper one of each pair that crosses; icons at both ends."""

    crossings: list[list[int]]
    starts: list[str]
    ends: list[str]
    asked: int


class RoadPath(OptionPuzzle[Roads]):
    """Click the place that a road leads to."""

    name: ClassVar[str] = "vr_path"
    _left: ClassVar[float] = 54.0
    _right: ClassVar[float] = 262.0
    _height: ClassVar[float] = 220.0

    def draw(self, rng: Random, level: Level, language: Language) -> Roads:
        """Three to five roads, which cross in four to eight columns."""
        lanes = 2 + level
        crossings = []
        for _ in range(2 + 2 * level):
            first = rng.randrange(lanes - 1)
            more = [lane for lane in range(lanes - 1) if abs(lane - first) > 1]
            crossings.append(sorted([first, *rng.sample(more, min(1, len(more)))]))
        asked = rng.randrange(lanes)
        marks = shuffled_marks(rng, lanes)
        return Roads(
            variant=rng.randrange(10_000),
            marks=marks,
            meant=marks[_lanes(crossings, asked)[-1]],
            crossings=crossings,
            starts=rng.sample(icon_names("vehicle"), lanes),
            ends=rng.sample(icon_names("building"), lanes),
            asked=asked,
        )

    def solve(self, state: Roads) -> Iterator[Answer]:
        """Each place from which the road, followed back, comes from the asked beginning."""
        for lane, name in enumerate(state.marks):
            if _lanes(state.crossings[::-1], lane)[-1] == state.asked:
                yield Clicked(marks=[name])

    def scene(self, state: Roads, language: Language) -> Scene:
        """Vehicles on the left, roads that cross, and places on tiles on the right."""
        rng = Random(f"roads {state.variant}")
        lanes = len(state.marks)
        apart = self._height / lanes
        roads = [
            _road(_lanes(state.crossings, lane), apart, (self._left, self._right))
            for lane in rng.sample(range(lanes), lanes)
        ]
        starts = "".join(icon(one, (27, apart * (lane + 0.5)), 34, PAINTS[1]) for lane, one in enumerate(state.starts))
        regions = {
            name: rectangle(self._right + 6, apart * lane + 3, 46, apart - 6) for lane, name in enumerate(state.marks)
        }
        drawn = [
            icon(one, regions[name].centre, min(34.0, apart - 12), PAINTS[3])
            for name, one in zip(state.marks, state.ends, strict=True)
        ]
        one = icons()[state.starts[state.asked]]
        asked = one.zh if language == "zh" else one.en
        above = "".join(roads) + starts
        return self.picked(state, language, regions, drawn, height=self._height, above=above, asked=asked)


def _lanes(crossings: Sequence[Sequence[int]], lane: int) -> list[int]:
    """The lanes that a road is on, from its beginning to its end."""
    on = [lane]
    for column in crossings:
        lane = next((upper + (lane == upper) for upper in column if lane in (upper, upper + 1)), lane)
        on.append(lane)
    return on


def _road(lanes: Sequence[int], apart: float, ends: tuple[float, float]) -> str:
    """A road with a light border, so that it is seen which one goes over the other."""
    step = (ends[1] - ends[0]) / (len(lanes) - 1)
    across = [ends[0] + step * place for place in range(len(lanes))]
    down = [apart * (lane + 0.5) for lane in lanes]
    curves = "".join(
        f"C{left + step / 2:.1f} {high:.1f} {left + step / 2:.1f} {low:.1f} {left + step:.1f} {low:.1f}"
        for left, (high, low) in zip(across, pairwise(down), strict=False)
    )
    path = f'd="M{across[0]:.1f} {down[0]:.1f}{curves}" fill="none"'
    return f'<path {path} stroke="#ffffff" stroke-width="9"/><path {path} stroke="#475569" stroke-width="4.5"/>'


TYPES: tuple[PuzzleType[Any], ...] = (GridClass(), Layer(), RoadPath())
