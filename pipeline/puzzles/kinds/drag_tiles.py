"""Puzzles of tiles of a picture, which change places or are put where they are missing, and of cards that are sorted.

Whether tiles fit is computed from the colours on both sides of their seams, not from where they were cut.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import combinations, pairwise, permutations
from random import Random
from typing import Any, ClassVar, NamedTuple

from pipeline.actions import Model
from pipeline.puzzles.answers import Answer, Arranged, Dropped, Spot, around
from pipeline.puzzles.art import glyph, mark, paper, part
from pipeline.puzzles.kinds.drag_things import dots
from pipeline.puzzles.kinds.dragging import BRIGHT, DragPuzzle, names, tray
from pipeline.puzzles.pictures import again, painted, unlike
from pipeline.puzzles.puzzle import Language, Level, PuzzleType, State
from pipeline.puzzles.scene import WIDTH, Items, Scene

_PASSES = 0.35
"""The share of a seam that may disagree before anybody sees that two tiles do not fit."""
_HIT = 0.5
"""Of a hole: near enough to its middle for the tile that is dropped there to fill it."""
_SAMPLES = 10
"""Places along a seam."""


class Layout(NamedTuple):
    """How a picture is cut into tiles of equal size."""

    columns: int
    rows: int
    width: float
    height: float

    @property
    def places(self) -> int:
        """How many tiles there are."""
        return self.columns * self.rows

    @property
    def tile(self) -> tuple[float, float]:
        """Width and height of each."""
        return self.width / self.columns, self.height / self.rows

    def corner(self, place: int) -> Spot:
        """The left and top of a tile, row by row."""
        wide, high = self.tile
        return wide * (place % self.columns), high * (place // self.columns)

    def seams(self) -> Iterator[tuple[int, int, bool]]:
        """Neighbouring places, and whether they are side by side, not one above the other."""
        for place in range(self.places):
            if (place + 1) % self.columns:
                yield place, place + 1, True
            if place + self.columns < self.places:
                yield place, place + self.columns, False


class Edges(NamedTuple):
    """The colours along the sides of a tile."""

    left: tuple[str, ...]
    top: tuple[str, ...]
    right: tuple[str, ...]
    bottom: tuple[str, ...]


@lru_cache(maxsize=512)
def edges(picture: int, layout: Layout, corner: Spot) -> Edges:
    """Those of the tile that is cut from a picture with its left and top at a place."""
    whole, (wide, high) = painted(picture, layout.width, layout.height), layout.tile
    (x, y), parts = corner, [(number + 0.5) / _SAMPLES for number in range(_SAMPLES)]
    return Edges(
        left=tuple(whole.colour((x + 1, y + high * at)) for at in parts),
        top=tuple(whole.colour((x + wide * at, y + 1)) for at in parts),
        right=tuple(whole.colour((x + wide - 1, y + high * at)) for at in parts),
        bottom=tuple(whole.colour((x + wide * at, y + high - 1)) for at in parts),
    )


def fit(picture: int, layout: Layout, shown: Sequence[Spot]) -> bool:
    """Whether every seam passes, where each place shows the tile that was cut at a corner."""
    tiles = [edges(picture, layout, corner) for corner in shown]
    for one, other, beside in layout.seams():
        sides = (tiles[one].right, tiles[other].left) if beside else (tiles[one].bottom, tiles[other].top)
        if sum(unlike(left, right) for left, right in zip(*sides, strict=True)) > _PASSES * _SAMPLES:
            return False
    return True


def whole_picture(rng: Random, layout: Layout) -> int:
    """The number of a picture whose own seams all pass: nothing in it ends right where it is cut."""
    home = [layout.corner(place) for place in range(layout.places)]
    while True:
        number = rng.randrange(100_000)
        if fit(number, layout, home):
            return number


def tile(name: str, pattern: str, corner: Spot, layout: Layout, attributes: str = 'stroke="#ffffff"') -> str:
    """A tile at a place, filled with a pattern of the art."""
    (x, y), (wide, high) = corner, layout.tile
    return part(
        name,
        f'<rect x="{x + 0.5:g}" y="{y + 0.5:g}" width="{wide - 1:g}" height="{high - 1:g}" fill="url(#{pattern})" '
        f"{attributes}/>",
    )


class Mixed(State):
    """A picture by its number, the tile that each place shows, by its place in the picture, and the names of these."""

    picture: int
    shown: list[int]
    items: list[str]
    meant: list[str]


class SwapTiles(DragPuzzle[Mixed]):
    """Drag one tile onto another to swap them, so that the picture is whole."""

    name: ClassVar[str] = "dr_swap_tiles"
    _LAYOUTS: ClassVar[tuple[Layout, ...]] = tuple(Layout(*cut, 300.0, 198.0) for cut in ((2, 2), (3, 2), (3, 3)))

    def draw(self, rng: Random, level: Level, language: Language) -> Mixed:
        """Two of four to nine tiles have changed places."""
        layout = self._LAYOUTS[level - 1]
        shown = list(range(layout.places))
        one, two = rng.sample(shown, 2)
        shown[one], shown[two] = two, one
        items = names(rng, layout.places, "p")
        meant = list(items)
        meant[one], meant[two] = items[two], items[one]
        return Mixed(
            variant=rng.randrange(10_000), picture=whole_picture(rng, layout), shown=shown, items=items, meant=meant
        )

    def solve(self, state: Mixed) -> Iterator[Answer]:
        """All swaps of two tiles after which every seam passes; none when every seam passes already."""
        layout = self._layout(state)
        corners = [layout.corner(place) for place in state.shown]
        if fit(state.picture, layout, corners):
            return
        for one, two in combinations(range(layout.places), 2):
            if fit(state.picture, layout, _swapped(corners, one, two)):
                yield Arranged(order=_swapped(state.items, one, two))

    def scene(self, state: Mixed, language: Language) -> Scene:
        """The tiles in a frame."""
        layout, left, top, name = self._layout(state), 10.0, 10.0, f"mixed-{state.picture}"
        wide, high = layout.tile
        drawn, spots = [painted(state.picture, layout.width, layout.height).pattern(name)], {}
        for place, (item, home) in enumerate(zip(state.items, state.shown, strict=True)):
            (x, y), (from_x, from_y) = layout.corner(place), layout.corner(home)
            drawn.append(again(f"{name}-{item}", name, (left + x - from_x, top + y - from_y)))
            drawn.append(tile(item, f"{name}-{item}", (left + x, top + y), layout))
            spots[item] = (left + x + wide / 2, top + y + high / 2)
        return Scene(
            ask=self.ask(state, language),
            art=paper(state.variant, 218) + "".join(drawn),
            height=218,
            control=Items(spots=spots, swap=True, radius=0.45 * min(wide, high)),
            answer=Arranged(order=state.meant),
        )

    def _layout(self, state: Mixed) -> Layout:
        return next(one for one in self._LAYOUTS if one.places == len(state.items))


def _swapped(values: Sequence[Any], one: int, two: int) -> list[Any]:
    other = list(values)
    other[one], other[two] = values[two], values[one]
    return other


class Cut(Model):
    """A tile in the tray, and its left and top in the picture that it was cut from."""

    part: str
    corner: Spot


class Holed(State):
    """A picture by its number, the places that are missing, by the names of their marks, and the tiles in the tray."""

    picture: int
    holes: dict[str, int]
    tray: list[Cut]
    meant: dict[str, str]


class Jigsaw(DragPuzzle[Holed]):
    """Drag tiles from a tray into the places where they are missing."""

    name: ClassVar[str] = "dr_jigsaw"
    _LAYOUT: ClassVar[Layout] = Layout(4, 3, 288.0, 162.0)
    _LEFT: ClassVar[float] = 16.0
    _TOP: ClassVar[float] = 8.0
    _TRAY: ClassVar[float] = 178.0

    def draw(self, rng: Random, level: Level, language: Language) -> Holed:
        """A missing tile for each level, and one that was cut elsewhere."""
        layout = self._LAYOUT
        wide, high = layout.tile
        places = rng.sample(range(layout.places), level)
        elsewhere = (
            float(rng.randrange(int(layout.width - wide))),
            float(rng.randrange(int(layout.height - high))),
        )
        corners = [*(layout.corner(place) for place in places), elsewhere]
        parts = names(rng, len(corners), "p")
        marks = names(rng, level)
        cuts = [Cut(part=name, corner=corner) for name, corner in zip(parts, corners, strict=True)]
        rng.shuffle(cuts)
        return Holed(
            variant=rng.randrange(10_000),
            picture=whole_picture(rng, layout),
            holes=dict(zip(marks, places, strict=True)),
            tray=cuts,
            meant=dict(sorted(zip(parts, marks, strict=False))),
        )

    def solve(self, state: Holed) -> Iterator[Answer]:
        """All ways to fill the holes with tiles from the tray so that every seam passes."""
        corners = [self._LAYOUT.corner(place) for place in range(self._LAYOUT.places)]
        for chosen in permutations(state.tray, len(state.holes)):
            filled = list(corners)
            for place, cut in zip(state.holes.values(), chosen, strict=True):
                filled[place] = cut.corner
            if fit(state.picture, self._LAYOUT, filled):
                rests = {cut.part: name for name, cut in zip(state.holes, chosen, strict=True)}
                yield Dropped(rests=dict(sorted(rests.items())))

    def scene(self, state: Holed, language: Language) -> Scene:
        """The tray below the picture."""
        layout, name = self._LAYOUT, f"jigsaw-{state.picture}"
        wide, high = layout.tile
        whole = painted(state.picture, layout.width, layout.height)
        drawn = [
            paper(state.variant, 246),
            whole.pattern(name, (self._LEFT, self._TOP)),
            f'<rect x="{self._LEFT:g}" y="{self._TOP:g}" width="{layout.width:g}" height="{layout.height:g}" '
            f'fill="url(#{name})"/>',
            tray(self._TRAY, high + 8),
        ]
        middles = {}
        for hole, place in state.holes.items():
            x, y = layout.corner(place)
            middles[hole] = (self._LEFT + x + wide / 2, self._TOP + y + high / 2)
            drawn.append(mark(hole, _hole((self._LEFT + x, self._TOP + y), layout)))
        spots = {}
        for number, cut in enumerate(state.tray):
            x, y = WIDTH / 2 + (number - len(state.tray) / 2) * (wide + 3) + 1.5, self._TRAY + 4
            drawn.append(again(f"{name}-{cut.part}", name, (x - cut.corner[0], y - cut.corner[1])))
            drawn.append(tile(cut.part, f"{name}-{cut.part}", (x, y), layout))
            spots[cut.part] = (round(x + wide / 2, 2), round(y + high / 2, 2))
        return Scene(
            ask=self.ask(state, language),
            art="".join(drawn),
            height=246,
            control=Items(spots=spots),
            answer=Dropped(rests=state.meant),
            marks={hole: around(middle, _HIT * wide, _HIT * high) for hole, middle in middles.items()},
        )


def _hole(corner: Spot, layout: Layout) -> str:
    (x, y), (wide, high) = corner, layout.tile
    return (
        f'<rect x="{x + 1:g}" y="{y + 1:g}" width="{wide - 2:g}" height="{high - 2:g}" rx="3" fill="#f1f5f9" '
        'stroke="#64748b" stroke-width="1.5" stroke-dasharray="5 3"/>'
    )


class Cards(State):
    """Cards from left to right by their names, with their numbers; written, or as dots."""

    cards: dict[str, str]
    dotted: bool
    meant: list[str]


class Sort(DragPuzzle[Cards]):
    """Drag cards onto each other until they ascend."""

    name: ClassVar[str] = "dr_sort"

    def draw(self, rng: Random, level: Level, language: Language) -> Cards:
        """Three small numbers; four that are easily misread; five with signs and fractions."""
        dotted = level == 1 and rng.random() < 0.5
        numbers = _numbers(rng, level, dotted)
        rng.shuffle(numbers)
        cards = dict(zip(names(rng, len(numbers), "p"), numbers, strict=True))
        return Cards(
            variant=rng.randrange(10_000),
            cards=cards,
            dotted=dotted,
            meant=sorted(cards, key=lambda name: float(cards[name])),
        )

    def solve(self, state: Cards) -> Iterator[Answer]:
        """All orders that ascend; none when the cards do so already."""
        for order in permutations(state.cards):
            values = [float(state.cards[name]) for name in order]
            if list(order) != list(state.cards) and all(one <= other for one, other in pairwise(values)):
                yield Arranged(order=list(order))

    def scene(self, state: Cards, language: Language) -> Scene:
        """Cards in a row above an arrow."""
        step, colour = 300 / len(state.cards), BRIGHT[state.variant % len(BRIGHT)]
        spots = {name: (10 + step * (number + 0.5), 62.0) for number, name in enumerate(state.cards)}
        wide = min(step - 10, 72.0)
        size = min(26.0, (wide - 8) / (0.66 * max(map(len, state.cards.values()))))
        cards = [
            part(name, _card(spots[name], wide, colour), _face(value, spots[name], size, state.dotted))
            for name, value in state.cards.items()
        ]
        arrow = (
            '<path d="M24 124H290M280 117L292 124L280 131" fill="none" stroke="#94a3b8" stroke-width="3" '
            'stroke-linecap="round" stroke-linejoin="round"/>'
        )
        return Scene(
            ask=self.ask(state, language),
            art=paper(state.variant, 144) + arrow + "".join(cards),
            height=144,
            control=Items(spots=spots, swap=True, radius=24),
            answer=Arranged(order=state.meant),
        )


def _numbers(rng: Random, level: Level, dotted: bool) -> list[str]:
    """Numbers of different values."""
    if level == 1:
        return [str(value) for value in rng.sample(range(1, 10) if dotted else range(2, 60), 3)]
    if level == 2:
        digits = rng.sample("1234679", 3)
        return ["".join(one) for one in rng.sample(list(permutations(digits)), 3)] + [str(rng.randrange(20, 100))]
    whole = rng.randrange(1, 9)
    near = [f"{whole}.{one}" for one in rng.sample(("05", "2", "35", "4", "62", "7", "81"), 3)]
    return [*near, f"-{rng.randrange(1, 30)}", f"-{rng.randrange(1, 9)}.5"]


def _card(spot: Spot, wide: float, colour: str) -> str:
    x, y = spot
    return (
        f'<rect x="{x - wide / 2:g}" y="{y - 40:g}" width="{wide:g}" height="80" rx="9" fill="#ffffff" '
        f'stroke="#94a3b8"/><rect x="{x - wide / 2 + 5:g}" y="{y + 27:g}" width="{wide - 10:g}" height="7" rx="3.5" '
        f'fill="{colour}"/>'
    )


def _face(value: str, spot: Spot, size: float, dotted: bool) -> str:
    x, y = spot
    if dotted:
        return dots(int(value), (x, y - 7), 16.0, "#1f2937")
    return glyph(value, (x, y - 6), size)


TYPES: tuple[PuzzleType[Any], ...] = (SwapTiles(), Jigsaw(), Sort())
