"""Puzzles in which several things are drawn into boxes, or joined by lines."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import permutations, product
from random import Random
from typing import Any, ClassVar, Literal

from pipeline.actions import Model
from pipeline.puzzles.answers import Answer, Dropped, Joined, Region, Spot, around, rectangle
from pipeline.puzzles.art import INKS, glyph, letters_for, mark, paper, part, scatter
from pipeline.puzzles.forms import FORMS, form
from pipeline.puzzles.icons import APART, GROUP_NAMES, PAINTS, Group, Paint, icon, icon_names, icons
from pipeline.puzzles.kinds.dragging import BRIGHT, DragPuzzle, grip, names
from pipeline.puzzles.puzzle import Language, Level, PuzzleType, State
from pipeline.puzzles.scene import WIDTH, Items, Lines, Scene


class Thing(Model):
    """A thing that lies about: the name of its icon."""

    part: str
    icon: str
    spot: Spot


class Bin(Model):
    """A box for the things of a group."""

    mark: str
    group: Group


class Sorting(State):
    """Things, and boxes from left to right; the box of each thing that has one."""

    things: list[Thing]
    bins: list[Bin]
    meant: dict[str, str]


class Bins(DragPuzzle[Sorting]):
    """Drag things into the boxes that they belong in."""

    name: ClassVar[str] = "dr_bins"
    _SIZE: ClassVar[float] = 42.0
    _HEIGHT: ClassVar[float] = 232.0

    def draw(self, rng: Random, level: Level, language: Language) -> Sorting:
        """Two things in two boxes to five in three; on the highest level, one more that belongs in none."""
        groups = _groups(rng, 3 if level == 1 else 4)
        if len(groups) < 3:
            return Sorting(variant=0, things=[], bins=[], meant={})
        boxed = groups[: 2 if level == 1 else 3]
        kinds = [*boxed, *(rng.choice(boxed) for _ in range(level - 1))]
        if level == 3:
            kinds.append(groups[-1])
        chosen: list[str] = []
        for group in kinds:
            chosen.append(rng.choice([name for name in icon_names(group) if name not in chosen]))
        spots = scatter(rng, len(chosen), self._SIZE, 132)
        things = [
            Thing(part=name, icon=one, spot=spot)
            for name, one, spot in zip(names(rng, len(chosen), "p"), chosen, spots, strict=False)
        ]
        rng.shuffle(boxed)
        bins = [Bin(mark=name, group=group) for name, group in zip(names(rng, len(boxed)), boxed, strict=True)]
        home = {one.group: one.mark for one in bins}
        meant = {one.part: home[icons()[one.icon].group] for one in things if icons()[one.icon].group in home}
        return Sorting(variant=rng.randrange(10_000), things=things, bins=bins, meant=dict(sorted(meant.items())))

    def solve(self, state: Sorting) -> Iterator[Answer]:
        """All ways to put every thing into a box of its group, and to leave those alone that have none."""
        homes = [
            [one.mark for one in state.bins if one.group == icons()[thing.icon].group] or [""] for thing in state.things
        ]
        for chosen in product(*homes):
            rests = {thing.part: box for thing, box in zip(state.things, chosen, strict=True) if box}
            if rests:
                yield Dropped(rests=dict(sorted(rests.items())))

    def scene(self, state: Sorting, language: Language) -> Scene:
        """The boxes stand below the things, with the names of their groups."""
        rng = Random(f"things {state.variant}")
        paints = [rng.choice(PAINTS) for _ in state.things]
        regions = self._boxes(state)
        boxes = [
            mark(one.mark, _box(regions[one.mark], GROUP_NAMES[one.group][language == "zh"], BRIGHT[number]))
            for number, one in enumerate(state.bins)
        ]
        things = [
            part(one.part, grip(one.spot, self._SIZE), icon(one.icon, one.spot, self._SIZE, paint))
            for one, paint in zip(state.things, paints, strict=True)
        ]
        return Scene(
            ask=self.ask(state, language),
            art="".join((paper(state.variant, self._HEIGHT), *boxes, *things)),
            height=self._HEIGHT,
            control=Items(spots={one.part: one.spot for one in state.things}),
            answer=Dropped(rests=state.meant),
            marks=regions,
        )

    def _boxes(self, state: Sorting) -> dict[str, Region]:
        wide = (WIDTH - 12) / len(state.bins)
        return {one.mark: rectangle(10 + number * wide, 142, wide - 8, 80) for number, one in enumerate(state.bins)}


def _groups(rng: Random, count: int) -> list[Group]:
    """Groups of which no icon could be counted to another one."""
    found: list[Group] = []
    for group in rng.sample(sorted(APART), len(APART)):
        if len(found) < count and all(group in APART[other] and other in APART[group] for other in found):
            found.append(group)
    return found


def _box(region: Region, label: str, colour: str) -> str:
    left, top, right, bottom = region.edges
    return (
        f'<rect x="{left:g}" y="{top:g}" width="{right - left:g}" height="{bottom - top:g}" rx="12" fill="#ffffff" '
        f'stroke="{colour}" stroke-width="2"/><path d="M{left + 2:g} {bottom - 24:g}H{right - 2:g}V{bottom - 12:g}'
        f'q0 10 -10 10H{left + 12:g}q-10 0 -10 -10Z" fill="{colour}"/>'
        + glyph(label, ((left + right) / 2, bottom - 13), letters_for(label, right - left - 10, 12.5), fill="#ffffff")
    )


Look = Literal["shape", "outline", "numeral", "dots", "letter", "word", "icon"]
_LETTERS = "ABDEGHMNQRT"
"""Letters that look another way when they are small."""


class End(Model):
    """A card that shows something in one way: its form, a number, a letter, the name of an icon or the icon."""

    mark: str
    look: Look
    value: str


class Ends(State):
    """The cards on the left and on the right, from top to bottom, and which belong together."""

    left: list[End]
    right: list[End]
    meant: list[tuple[str, str]]


class Connect(DragPuzzle[Ends]):
    """Draw lines between cards that mean the same."""

    name: ClassVar[str] = "dr_connect"
    _ROW: ClassVar[float] = 46.0

    def draw(self, rng: Random, level: Level, language: Language) -> Ends:
        """Two cards more than the level on the left; on the highest level one more on the right."""
        count = 2 + level - (level == 3)
        left, right = rng.choice(_faces(rng, count + (level == 3), language))
        marks = names(rng, len(left) + len(right))
        pairs = list(zip(left, right, strict=True))
        rng.shuffle(pairs)
        ends = [
            (End(mark=marks.pop(), look=one[0], value=one[1]), End(mark=marks.pop(), look=other[0], value=other[1]))
            for one, other in pairs
        ]
        shown = ends[:count]
        rights = [other for _, other in ends]
        rng.shuffle(rights)
        return Ends(
            variant=rng.randrange(10_000),
            left=[one for one, _ in shown],
            right=rights,
            meant=[(one.mark, other.mark) for one, other in shown],
        )

    def solve(self, state: Ends) -> Iterator[Answer]:
        """All ways to give every card on the left one on the right that means the same."""
        for chosen in permutations(state.right, len(state.left)):
            if all(_meaning(one) == _meaning(other) for one, other in zip(state.left, chosen, strict=True)):
                yield Joined(pairs=[(one.mark, other.mark) for one, other in zip(state.left, chosen, strict=True)])

    def scene(self, state: Ends, language: Language) -> Scene:
        """Two columns of cards."""
        height = self._ROW * len(state.right) + 14
        spots: dict[str, Spot] = {}
        for across, column in ((62.0, state.left), (258.0, state.right)):
            top = (height - self._ROW * (len(column) - 1)) / 2
            spots |= {one.mark: (across, top + self._ROW * row) for row, one in enumerate(column)}
        colour = BRIGHT[state.variant % len(BRIGHT)]
        cards = [mark(one.mark, _card(one, spots[one.mark], colour)) for one in (*state.left, *state.right)]
        return Scene(
            ask=self.ask(state, language),
            art=paper(state.variant, height) + "".join(cards),
            height=height,
            control=Lines(),
            answer=Joined(pairs=state.meant),
            marks={name: around(spot, _CARD, 38) for name, spot in spots.items()},
        )


Face = tuple[Look, str]
_CARD = 92.0
"""Units across a card."""
_SMALLEST = 9.5
"""The size of the smallest words."""


def _faces(rng: Random, count: int, language: Language) -> list[tuple[list[Face], list[Face]]]:
    """Of each theme so many faces for the left, and those that mean the same for the right."""
    forms = rng.sample(sorted(FORMS), count)
    numbers = rng.sample("23456789", count)
    letters = rng.sample(_LETTERS, count)
    things = [rng.choice(_nameable(group, language)) for group in rng.sample(sorted(GROUP_NAMES), count)]
    words = [_named(name, language) for name in things]
    return [
        ([("shape", one) for one in forms], [("outline", one) for one in forms]),
        ([("numeral", one) for one in numbers], [("dots", one) for one in numbers]),
        ([("letter", one) for one in letters], [("letter", one.lower()) for one in letters]),
        ([("word", one) for one in words], [("icon", one) for one in things]),
    ]


def _named(name: str, language: Language) -> str:
    return icons()[name].zh if language == "zh" else icons()[name].en


def _nameable(group: Group, language: Language) -> list[str]:
    """The icons of a group whose names fit on a card in letters that can be read."""
    return [name for name in icon_names(group) if _word_size(_named(name, language)) >= _SMALLEST]


def _word_size(word: str) -> float:
    return letters_for(word, _CARD - 8, 13.0)


def _meaning(end: End) -> str:
    match end.look:
        case "letter":
            return end.value.lower()
        case "word":
            return next((name for name, one in icons().items() if end.value in (one.en, one.zh)), "")
        case _:
            return end.value


def _card(end: End, spot: Spot, colour: str) -> str:
    x, y = spot
    plate = (
        f'<rect x="{x - _CARD / 2:g}" y="{y - 19:g}" width="{_CARD:g}" height="38" rx="9" fill="#ffffff" '
        'stroke="#cbd5e1"/>'
    )
    return plate + _shown(end, spot, colour)


def _shown(end: End, spot: Spot, colour: str) -> str:
    match end.look:
        case "shape":
            return form(end.value, spot, 26, f'fill="{colour}"')
        case "outline":
            return form(end.value, spot, 26, 'fill="none" stroke="#475569" stroke-width="2"')
        case "dots":
            return dots(int(end.value), spot, 9.0, colour)
        case "icon":
            return icon(end.value, spot, 31, Paint(colour, "#fbbf24"))
        case _:
            return glyph(end.value, spot, _word_size(end.value) if end.look == "word" else 22, fill=INKS[0])


def dots(count: int, spot: Spot, step: float, colour: str) -> str:
    """Up to nine dots in rows of three, the last row in its middle."""
    rows = [min(3, count - start) for start in range(0, count, 3)]
    places = [
        (spot[0] + (column - (wide - 1) / 2) * step, spot[1] + (row - (len(rows) - 1) / 2) * step)
        for row, wide in enumerate(rows)
        for column in range(wide)
    ]
    return "".join(f'<circle cx="{x:g}" cy="{y:g}" r="{step * 0.36:.2f}" fill="{colour}"/>' for x, y in places)


TYPES: tuple[PuzzleType[Any], ...] = (Bins(), Connect())
