"""Puzzles that are compared by eye: shadows, brightness, areas."""

from __future__ import annotations

import math
from collections.abc import Iterator
from itertools import combinations, permutations
from random import Random
from typing import Any, ClassVar

from pipeline.actions import Model
from pipeline.puzzles.answers import Answer, Clicked, Region, Spot
from pipeline.puzzles.art import mark, paper, polygon, scatter, shuffled_marks
from pipeline.puzzles.forms import form, form_outline
from pipeline.puzzles.icons import PAINTS
from pipeline.puzzles.kinds.reasoning import DARK, OptionPuzzle, Options, area, land, tiles
from pipeline.puzzles.puzzle import Language, Level, PuzzleType, State
from pipeline.puzzles.scene import WIDTH, Pointer, Scene
from pipeline.words import PuzzleKind


class Lit(Model):
    """A picture with a pole on the ground: the sun, the top of the pole and the end of its shadow, from its foot.

    All in units, across to the right and up.
    """

    sun: Spot
    top: float
    shadow: float

    @property
    def cast(self) -> float:
        """Where the straight line from the sun over the top of the pole meets the ground."""
        across, up = self.sun
        return -across * self.top / (up - self.top)


class Shadows(Options):
    """What each picture shows."""

    pictures: list[Lit]


class Shadow(OptionPuzzle[Shadows]):
    """Click the picture whose shadow is where the sun throws it."""

    name: ClassVar[str] = "vr_shadow"

    def draw(self, rng: Random, level: Level, language: Language) -> Shadows:
        """Four pictures; the harder it is, the more shadows are on the right side but not as long as they must be."""
        pictures = []
        for place in range(4):
            side, up, top = rng.choice((-1, 1)), rng.randint(72, 82), rng.randint(30, 37)
            picture = Lit(sun=(side * rng.randint(26, 58), up), top=top, shadow=0)
            cast = picture.cast
            if place:
                cast *= -1 if place > level else (0.4 if abs(cast) > 20 else 2.2)
            pictures.append(picture.model_copy(update={"shadow": round(cast, 1)}))
        marks = shuffled_marks(rng, 4)
        meant = marks[0]
        order = rng.sample(range(4), 4)
        return Shadows(
            variant=rng.randrange(10_000),
            marks=[marks[place] for place in order],
            meant=meant,
            pictures=[pictures[place] for place in order],
        )

    def solve(self, state: Shadows) -> Iterator[Answer]:
        """Each picture whose shadow is not visibly too short, too long or on the wrong side."""
        for name, picture in zip(state.marks, state.pictures, strict=True):
            if 0.55 < picture.shadow / picture.cast < 1.8:
                yield Clicked(marks=[name])

    def scene(self, state: Shadows, language: Language) -> Scene:
        """A sun, a pole with a ball on it and a shadow on each of four tiles."""
        rng = Random(f"light {state.variant}")
        regions = tiles(state.marks, 0, 270, 2)
        fill = rng.choice(PAINTS).main
        drawn = [_lit(regions[name], picture, fill) for name, picture in zip(state.marks, state.pictures, strict=True)]
        return self.picked(state, language, regions, drawn, height=270)


def _lit(region: Region, picture: Lit, fill: str) -> str:
    left, _, right, bottom = region.edges
    x, ground = (left + right) / 2, bottom - 24
    sun_x, sun_y = x + picture.sun[0], ground - picture.sun[1]
    end, rays = x + picture.shadow, range(0, 360, 45)
    shine = "".join(
        f'<path d="M{sun_x:.1f} {sun_y - 11:.1f}v-4" transform="rotate({turn} {sun_x:.1f} {sun_y:.1f})" '
        'stroke="#f59e0b" stroke-width="2"/>'
        for turn in rays
    )
    return (
        land(region, ground - 6, "#e7e5d8")
        + f'<path d="M{x:g} {ground:g}H{end:.1f}" stroke="#57534e" stroke-width="5" stroke-linecap="round"/>'
        f'<path d="M{x:g} {ground:g}V{ground - picture.top:g}" stroke="{DARK}" stroke-width="5"/>'
        f'<path d="M{x - 8:g} {ground - picture.top + 12:g}L{x:g} {ground - picture.top:g}l8 12Z" fill="{fill}"/>'
        f'<circle cx="{sun_x:.1f}" cy="{sun_y:.1f}" r="8" fill="#f59e0b"/>{shine}'
    )


class Patch(Model):
    """A patch: where it is, and its lightness in percent."""

    mark: str
    spot: Spot
    light: int


class Patches(State):
    """Patches of one hue in degrees, and whether the darkest comes first."""

    patches: list[Patch]
    hue: int
    rising: bool
    meant: list[str]


class Brightness(PuzzleType[Patches]):
    """Click patches by their brightness."""

    name: ClassVar[str] = "vr_brightness"
    kind: ClassVar[PuzzleKind] = "visual_reasoning"
    _visible: ClassVar[int] = 12
    """Points of lightness that anybody sees the difference of."""

    def draw(self, rng: Random, level: Level, language: Language) -> Patches:
        """Three to five patches, nearer to each other the harder it is."""
        count, step = 2 + level, 21 - 3 * level
        lights = [rng.randint(16, 22) + rng.randint(0, 1) + step * place for place in range(count)]
        spots = scatter(rng, count, 50, 210)
        patches = [
            Patch(mark=name, spot=spot, light=light)
            for name, spot, light in zip(shuffled_marks(rng, count), spots, lights, strict=False)
        ]
        rising = rng.random() < 0.5
        order = sorted(patches, key=lambda patch: patch.light, reverse=not rising)
        return Patches(
            variant=rng.randrange(10_000),
            patches=patches,
            hue=rng.choice((0, 25, 140, 210, 265, 320)),
            rising=rising,
            meant=[patch.mark for patch in order],
        )

    def solve(self, state: Patches) -> Iterator[Answer]:
        """Every order in which none comes before one that is not visibly on its right side."""
        for chosen in permutations(state.patches):
            lights = [one.light for one in (chosen if state.rising else chosen[::-1])]
            if len(lights) > 2 and all(before < after + self._visible for before, after in combinations(lights, 2)):
                yield Clicked(marks=[one.mark for one in chosen], ordered=True)

    def scene(self, state: Patches, language: Language) -> Scene:
        """Patches of one form."""
        shape = ("circle", "square", "hexagon")[state.variant % 3]
        drawn = "".join(
            mark(
                one.mark,
                form(
                    shape, one.spot, 50, f'fill="hsl({state.hue} 55% {one.light}%)" stroke="#ffffff" stroke-width="2"'
                ),
            )
            for one in state.patches
        )
        words = {
            True: ("the darkest to the brightest", "从暗到亮"),
            False: ("the brightest to the darkest", "从亮到暗"),
        }
        return Scene(
            ask=self.ask(state, language, asked=words[state.rising][language == "zh"]),
            art=paper(state.variant, 210) + drawn,
            height=210,
            control=Pointer(),
            answer=Clicked(marks=state.meant, ordered=True),
            marks={one.mark: form_outline("square", one.spot, 50) for one in state.patches},
        )


class Lake(Model):
    """A lake: its shore."""

    mark: str
    shore: list[Spot]

    @property
    def area(self) -> float:
        """In square units."""
        return area(self.shore)


class Lakes(State):
    """Lakes, and whether the largest or the smallest one is asked for."""

    lakes: list[Lake]
    asked: str
    meant: str


class Area(PuzzleType[Lakes]):
    """Click into the largest or the smallest of some shapes."""

    name: ClassVar[str] = "vr_area"
    kind: ClassVar[PuzzleKind] = "visual_reasoning"
    _visible: ClassVar[float] = 1.35
    """How many times as large an area must be for anybody to see it."""

    def draw(self, rng: Random, level: Level, language: Language) -> Lakes:
        """Four, six or nine lakes, each in a part of the land of its own."""
        columns, rows = ((2, 2), (3, 2), (3, 3))[level - 1]
        cells = [(column, row) for column in range(columns) for row in range(rows)]
        width, tall = WIDTH / columns, 240 / rows
        names = shuffled_marks(rng, len(cells))
        lakes = []
        for name, (column, row) in zip(names, cells, strict=True):
            size = rng.uniform(0.5, 1.0)
            lakes.append(
                Lake(mark=name, shore=_shore(rng, ((column + 0.5) * width, (row + 0.5) * tall), (width, tall), size))
            )
        asked = rng.choice(("largest", "smallest"))
        pick = max if asked == "largest" else min
        return Lakes(
            variant=rng.randrange(10_000), lakes=lakes, asked=asked, meant=pick(lakes, key=lambda lake: lake.area).mark
        )

    def solve(self, state: Lakes) -> Iterator[Answer]:
        """Each lake that no other one is visibly larger (or smaller) than."""
        sizes = [lake.area for lake in state.lakes]
        for lake, size in zip(state.lakes, sizes, strict=True):
            outdone = [
                other >= size * self._visible if state.asked == "largest" else size >= other * self._visible
                for other in sizes
            ]
            if not any(outdone):
                yield Clicked(marks=[lake.mark])

    def scene(self, state: Lakes, language: Language) -> Scene:
        """A map with lakes."""
        rng = Random(f"map {state.variant}")
        land = rng.choice(("#e7f0d8", "#f3ead7", "#e4ede4"))
        dots = "".join(
            f'<circle cx="{rng.uniform(4, WIDTH - 4):.0f}" cy="{rng.uniform(4, 236):.0f}" r="{rng.uniform(1, 3):.1f}" '
            'fill="#4d7c0f" fill-opacity="0.25"/>'
            for _ in range(40)
        )
        drawn = "".join(
            mark(lake.mark, polygon(lake.shore, 'fill="#60a5fa" stroke="#1d4ed8" stroke-width="1.5"'))
            for lake in state.lakes
        )
        words = {"largest": ("largest", "最大"), "smallest": ("smallest", "最小")}
        return Scene(
            ask=self.ask(state, language, asked=words[state.asked][language == "zh"]),
            art=f'<rect width="{WIDTH:g}" height="240" fill="{land}"/>{dots}{drawn}',
            height=240,
            control=Pointer(single=True),
            answer=Clicked(marks=[state.meant]),
            marks={lake.mark: Region(corners=lake.shore) for lake in state.lakes},
        )


def _shore(rng: Random, spot: Spot, cell: tuple[float, float], size: float) -> list[Spot]:
    """A wavy shore around a place, in a part of a cell."""
    waves = [(number, rng.uniform(0.04, 0.12), rng.uniform(0, math.tau)) for number in (2, 3, 5)]
    reach = ((cell[0] / 2 - 5) * size / 1.3, (cell[1] / 2 - 5) * size / 1.3)
    shore = []
    for step in range(40):
        turn = step * math.tau / 40
        far = 1 + sum(high * math.sin(number * turn + start) for number, high, start in waves)
        shore.append(
            (round(spot[0] + reach[0] * far * math.cos(turn), 1), round(spot[1] + reach[1] * far * math.sin(turn), 1))
        )
    return shore


TYPES: tuple[PuzzleType[Any], ...] = (Shadow(), Brightness(), Area())
