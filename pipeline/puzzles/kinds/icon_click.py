"""Puzzles whose icons are clicked, by a strip, a name, a class, a likeness, a size or a mark."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from itertools import combinations, permutations
from random import Random
from typing import ClassVar

from pipeline.actions import Model
from pipeline.puzzles.answers import Answer, Clicked, Spot, rectangle
from pipeline.puzzles.art import marks, panel, paper, scatter, shuffled_marks
from pipeline.puzzles.icons import (
    APART,
    GROUP_NAMES,
    PAINTS,
    Group,
    icon,
    icon_names,
    icon_region,
    icons,
    shadowed,
)
from pipeline.puzzles.puzzle import Language, Level, PuzzleType, State
from pipeline.puzzles.scene import WIDTH, Pointer, Scene
from pipeline.words import PuzzleKind

HEIGHT = 220.0
_STRIP = 48.0
"""So much of the top, or of the left, is kept for what is looked for."""
_APART_PAINTS = (0, 1, 2, 4)
"""Paints that nobody takes for each other."""
_SIDED = (
    "fish",
    "snail",
    "turtle",
    "elephant",
    "duck",
    "truck",
    "train",
    "banana",
    "saw",
    "sock",
    "boot",
    "key",
    "axe",
)
"""Icons that look different in a mirror."""
_COMPACT = ("cat", "pig", "owl", "apple", "pear", "strawberry", "house", "castle", "shirt", "clock", "bell", "cup")
"""Icons that are about as wide as high, so that their sizes are compared at a glance."""
_BIGGER = 1.25
"""How much longer a thing must be for anybody to see which one is bigger."""


class Sticker(Model):
    """An icon in the art: the middle of its box and its longer side, tilt in degrees, number of its paint."""

    mark: str
    icon: str
    spot: Spot
    size: float
    paint: int
    angle: float = 0.0
    mirrored: bool = False

    @property
    def look(self) -> tuple[str, int, float, bool]:
        """Everything but place and size."""
        return self.icon, self.paint, self.angle, self.mirrored


class Stickers(State):
    """Icons, what the page asks for, and the marks that were meant when they were drawn, in their order."""

    stickers: list[Sticker]
    meant: list[str]
    asked: list[str]


class StickerPuzzle(PuzzleType[Stickers]):
    """Icons scattered over a paper; which ones are clicked is the rule of each type."""

    kind: ClassVar[PuzzleKind] = "icon_click"
    ordered: ClassVar[bool] = False
    single: ClassVar[bool] = True

    def scene(self, state: Stickers, language: Language) -> Scene:
        """Every icon is a mark as large as its box."""
        return Scene(
            ask=self.ask(state, language, asked=self.named(state, language)),
            art=paper(state.variant, HEIGHT) + self.above(state) + marks(map(_drawn, state.stickers)),
            height=HEIGHT,
            control=Pointer(single=self.single),
            answer=Clicked(marks=state.meant, ordered=self.ordered),
            marks={one.mark: icon_region(one.icon, one.spot, one.size, one.angle) for one in state.stickers},
        )

    def named(self, state: Stickers, language: Language) -> str:
        """What the page calls that which is asked for."""
        return ""

    def above(self, state: Stickers) -> str:
        """What is drawn besides the icons."""
        return ""


def _drawn(one: Sticker) -> tuple[str, str]:
    paints = PAINTS[one.paint]
    return one.mark, icon(one.icon, one.spot, one.size, paints, angle=one.angle, mirrored=one.mirrored)


def placed(
    rng: Random,
    names: Sequence[str],
    *,
    size: float = 44.0,
    tilt: int = 0,
    paints: Sequence[int] = tuple(range(len(PAINTS))),
    top: float = 0.0,
    left: float = 0.0,
) -> list[Sticker]:
    """Icons at places of their own, right of and below what is kept; none when they do not fit."""
    kept = [((WIDTH / 2, top - WIDTH / 2), WIDTH)] if top else [((left - HEIGHT / 2, HEIGHT / 2), HEIGHT)]
    room = size * (math.cos(math.radians(tilt)) + math.sin(math.radians(tilt)))
    spots = scatter(rng, len(names), room, HEIGHT, gap=4.0, taken=kept)
    if len(spots) < len(names):
        return []
    return [
        Sticker(mark=number, icon=name, spot=spot, size=size, paint=rng.choice(paints), angle=rng.randint(-tilt, tilt))
        for number, name, spot in zip(shuffled_marks(rng, len(names)), names, spots, strict=True)
    ]


def _marks(stickers: Sequence[Sticker], *wanted: str) -> list[str]:
    return sorted(one.mark for one in stickers if one.icon in wanted)


class ReferenceOrder(StickerPuzzle):
    """Click the icons that a strip shows, in its order."""

    name: ClassVar[str] = "ic_reference_order"
    ordered: ClassVar[bool] = True
    single: ClassVar[bool] = False

    def draw(self, rng: Random, level: Level, language: Language) -> Stickers:
        """Two to four of up to nine icons, tilted more the harder it is."""
        names = rng.sample(icon_names(), 3 + 2 * level)
        stickers = placed(rng, names, size=46.0 - 4 * level, tilt=10 * (level - 1), top=_STRIP)
        wanted = rng.sample(stickers, min(len(stickers), 1 + level))
        return Stickers(
            variant=rng.randrange(10_000),
            stickers=stickers,
            meant=[one.mark for one in wanted],
            asked=[one.icon for one in wanted],
        )

    def solve(self, state: Stickers) -> Iterator[Answer]:
        """Every way to find what the strip shows one after the other."""
        for chosen in permutations(state.stickers, len(state.asked)):
            if state.asked and [one.icon for one in chosen] == state.asked:
                yield Clicked(marks=[one.mark for one in chosen], ordered=True)

    def above(self, state: Stickers) -> str:
        """The strip, in one dark colour."""
        width = 44.0 * len(state.asked)
        left = (WIDTH - width) / 2
        paint = PAINTS[7]
        return panel(rectangle(left, 4, width, 40)) + "".join(
            icon(name, (left + 22 + 44 * place, 24), 30, paint) for place, name in enumerate(state.asked)
        )


class ByName(StickerPuzzle):
    """Click the one icon that is named."""

    name: ClassVar[str] = "ic_by_name"

    def draw(self, rng: Random, level: Level, language: Language) -> Stickers:
        """Up to ten different icons."""
        names = rng.sample(icon_names(), 4 + 2 * level)
        stickers = placed(rng, names, size=50.0 - 4 * level, tilt=10 * (level - 1))
        return Stickers(
            variant=rng.randrange(10_000), stickers=stickers, meant=_marks(stickers, names[0]), asked=names[:1]
        )

    def solve(self, state: Stickers) -> Iterator[Answer]:
        """Each icon that is called so."""
        yield from (Clicked(marks=[one.mark]) for one in state.stickers if [one.icon] == state.asked)

    def named(self, state: Stickers, language: Language) -> str:
        """The name of the icon."""
        one = icons()[state.asked[0]]
        return one.zh if language == "zh" else one.en


class AllOf(StickerPuzzle):
    """Click all icons of a class."""

    name: ClassVar[str] = "ic_all_of"
    single: ClassVar[bool] = False

    def draw(self, rng: Random, level: Level, language: Language) -> Stickers:
        """Two to four of the class among others that nobody counts to it."""
        group = rng.choice(list(GROUP_NAMES))
        wanted = rng.sample(icon_names(group), rng.randint(2, 1 + level))
        names = wanted + rng.sample(icon_names(*APART[group]), 3 + 2 * level - len(wanted) + 1)
        stickers = placed(rng, names, size=48.0 - 4 * level, tilt=10 * (level - 1))
        return Stickers(
            variant=rng.randrange(10_000), stickers=stickers, meant=_marks(stickers, *wanted), asked=[group]
        )

    def solve(self, state: Stickers) -> Iterator[Answer]:
        """Whatever belongs to the class, and nothing else; both ways where one might be counted to it."""
        group: Group = state.asked[0]  # type: ignore[assignment]
        sure = [one.mark for one in state.stickers if icons()[one.icon].group == group]
        if sure:
            yield Clicked(marks=sorted(sure))
        perhaps = [one.mark for one in state.stickers if icons()[one.icon].group not in (group, *APART[group])]
        if perhaps:
            yield Clicked(marks=sorted(sure + perhaps))

    def named(self, state: Stickers, language: Language) -> str:
        """The class, in the plural."""
        group: Group = state.asked[0]  # type: ignore[assignment]
        return GROUP_NAMES[group][language == "zh"]


class Pair(StickerPuzzle):
    """Click the two icons that are alike in shape and colour."""

    name: ClassVar[str] = "ic_pair"
    single: ClassVar[bool] = False

    def draw(self, rng: Random, level: Level, language: Language) -> Stickers:
        """A pair among others; the harder it is, the more icons occur twice in two colours."""
        names = rng.sample(icon_names(), 5)
        stickers = placed(rng, [names[0], *names, *names[1:level]], size=44.0, paints=_APART_PAINTS)
        if stickers:
            stickers[1] = stickers[1].model_copy(update={"paint": stickers[0].paint})
        return Stickers(
            variant=rng.randrange(10_000), stickers=stickers, meant=sorted(one.mark for one in stickers[:2]), asked=[]
        )

    def solve(self, state: Stickers) -> Iterator[Answer]:
        """Every two that look the same."""
        for one, other in combinations(state.stickers, 2):
            if one.look == other.look:
                yield Clicked(marks=sorted([one.mark, other.mark]))


class Odd(StickerPuzzle):
    """Click the one icon that differs: in what it is, in its colour, or in the side that it faces."""

    name: ClassVar[str] = "ic_odd"

    def draw(self, rng: Random, level: Level, language: Language) -> Stickers:
        """Five to nine icons; the odd one is another thing, has another colour, or faces the other way."""
        first, second = rng.sample(_SIDED, 2)
        paint, other = rng.sample(_APART_PAINTS, 2)
        stickers = placed(rng, [first] * (3 + 2 * level), size=48.0 - 4 * level, paints=[paint])
        ways: tuple[dict[str, object], ...] = ({"icon": second}, {"paint": other}, {"mirrored": True})
        odd = ways[level - 1]
        stickers[:1] = [one.model_copy(update=odd) for one in stickers[:1]]
        return Stickers(
            variant=rng.randrange(10_000), stickers=stickers, meant=[one.mark for one in stickers[:1]], asked=[]
        )

    def solve(self, state: Stickers) -> Iterator[Answer]:
        """Each without which all others look the same."""
        for one in state.stickers:
            if len({other.look for other in state.stickers if other is not one}) == 1:
                yield Clicked(marks=[one.mark])


class SizeOrder(StickerPuzzle):
    """Click icons by their size."""

    name: ClassVar[str] = "ic_size_order"
    ordered: ClassVar[bool] = True
    single: ClassVar[bool] = False

    def draw(self, rng: Random, level: Level, language: Language) -> Stickers:
        """Three to five sizes of one thing, from the smallest or from the largest."""
        count = 2 + level
        step = 1.5 - 0.06 * level
        sizes = [round(24 * step**place, 1) for place in range(count)]
        asked = rng.choice(("rising", "falling"))
        if asked == "falling":
            sizes.reverse()
        name = rng.choice(_COMPACT)
        places: list[tuple[Spot, float]] = []
        for size in sorted(sizes, reverse=True):
            places += [(spot, size) for spot in scatter(rng, 1, size, HEIGHT, taken=places)]
        stickers = [
            Sticker(mark=number, icon=name, spot=spot, size=size, paint=rng.randrange(len(PAINTS)))
            for number, (spot, size) in zip(shuffled_marks(rng, count), places, strict=False)
        ]
        meant = [one.mark for size in sizes for one in stickers if one.size == size]
        return Stickers(variant=rng.randrange(10_000), stickers=stickers, meant=meant, asked=[asked])

    def solve(self, state: Stickers) -> Iterator[Answer]:
        """Every order in which none comes before one that is not visibly on its right side."""
        rising = state.asked == ["rising"]
        for chosen in permutations(state.stickers):
            sizes = [one.size for one in (chosen if rising else chosen[::-1])]
            if len(sizes) > 2 and all(before < after * _BIGGER for before, after in combinations(sizes, 2)):
                yield Clicked(marks=[one.mark for one in chosen], ordered=True)

    def named(self, state: Stickers, language: Language) -> str:
        """The direction."""
        if language == "zh":
            return "从小到大" if state.asked == ["rising"] else "从大到小"
        return "the smallest to the largest" if state.asked == ["rising"] else "the largest to the smallest"


class Silhouette(StickerPuzzle):
    """Click the icon that makes the silhouette."""

    name: ClassVar[str] = "ic_silhouette"

    def draw(self, rng: Random, level: Level, language: Language) -> Stickers:
        """Four to eight icons, the harder it is the more of the same class."""
        target = rng.choice(icon_names())
        alike = [name for name in icon_names(icons()[target].group) if name != target]
        others = [name for name in icon_names() if name != target and name not in alike]
        near = rng.sample(alike, level)
        stickers = placed(
            rng, [target, *near, *rng.sample(others, 2 + level)], size=46.0 - 4 * level, tilt=8 * level, left=106.0
        )
        return Stickers(
            variant=rng.randrange(10_000), stickers=stickers, meant=_marks(stickers, target), asked=[target]
        )

    def solve(self, state: Stickers) -> Iterator[Answer]:
        """Each icon with this outline."""
        yield from (Clicked(marks=[one.mark]) for one in state.stickers if [one.icon] == state.asked)

    def above(self, state: Stickers) -> str:
        """The silhouette."""
        return panel(rectangle(8, HEIGHT / 2 - 50, 92, 100)) + icon(
            state.asked[0], (54, HEIGHT / 2), 76, shadowed("#1e293b")
        )


TYPES: tuple[PuzzleType[Stickers], ...] = (
    ReferenceOrder(),
    ByName(),
    AllOf(),
    Pair(),
    Odd(),
    SizeOrder(),
    Silhouette(),
)
