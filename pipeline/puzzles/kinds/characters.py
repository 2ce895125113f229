"""What the character puzzles share: characters at places of their own, and orders of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import combinations, permutations
from random import Random
from typing import ClassVar

from pipeline.actions import Model
from pipeline.puzzles.answers import Clicked, Region, Spot, around
from pipeline.puzzles.art import FONTS, INKS, glyph, marks, scatter
from pipeline.puzzles.backdrops import pale
from pipeline.puzzles.puzzle import Language, PuzzleType, State
from pipeline.puzzles.scene import Pointer, Scene
from pipeline.words import PuzzleKind

_HEIGHT = 200.0


class Character(Model):
    """A character, number or word in the art: its middle, size of letters, tilt in degrees and colour."""

    mark: str
    text: str
    spot: Spot
    size: float
    angle: float = 0.0
    colour: str = INKS[0]

    @property
    def region(self) -> Region:
        """As wide as it is high; a number of several digits as wide as these."""
        return around(self.spot, round(_across(self.text, self.size), 2), self.size)


class Characters(State):
    """Characters, and the marks that were meant when they were drawn, in their order."""

    characters: list[Character]
    meant: list[str]
    asked: str = ""
    """What the page names: the characters to click, a colour."""


class CharacterPuzzle(PuzzleType[Characters]):
    """Characters scattered over a pale landscape; which ones are clicked is the rule of each type."""

    kind: ClassVar[PuzzleKind] = "text_click"
    ordered: ClassVar[bool] = False
    single: ClassVar[bool] = False
    """Whether the page asks for one character. Where it asks for all of something, one may be all there are."""

    def scene(self, state: Characters, language: Language) -> Scene:
        """Every character is a mark, with a white rim."""
        drawn = marks((one.mark, self.drawn(one, state.variant)) for one in state.characters)
        return Scene(
            ask=self.ask(state, language, asked=state.asked),
            art=pale(state.variant, _HEIGHT) + drawn,
            height=_HEIGHT,
            control=Pointer(single=self.single),
            answer=Clicked(marks=state.meant, ordered=self.ordered),
            marks={one.mark: self.region(one) for one in state.characters},
        )

    def drawn(self, one: Character, variant: int) -> str:
        """A character as it is shown."""
        font = FONTS[variant % len(FONTS)]
        letters = glyph(one.text, one.spot, one.size, fill=one.colour, angle=one.angle, font=font)
        return f'<g stroke="#fff" stroke-width="3" stroke-linejoin="round" paint-order="stroke">{letters}</g>'

    def region(self, one: Character) -> Region:
        """Where a character is clicked."""
        return one.region


def placed(
    rng: Random,
    texts: Sequence[str],
    *,
    sizes: Sequence[float] | None = None,
    angles: Sequence[float] | None = None,
    colours: Sequence[str] | None = None,
) -> list[Character]:
    """Characters at places of their own, with marks whose names tell nothing; none when they do not fit."""
    sizes = sizes or [34.0] * len(texts)
    angles = angles or tilts(rng, len(texts), 8.0)
    colours = colours or [rng.choice(INKS) for _ in texts]
    taken: list[tuple[Spot, float]] = []
    for text, size in zip(texts, sizes, strict=True):
        across = _across(text, size)
        spots = scatter(rng, 1, across, _HEIGHT, taken=taken)
        if not spots:
            return []
        taken.append((spots[0], across))
    return [
        Character(mark=name, text=text, spot=spot, size=size, angle=angle, colour=colour)
        for name, text, (spot, _), size, angle, colour in zip(
            names(rng, len(texts)), texts, taken, sizes, angles, colours, strict=True
        )
    ]


def names(rng: Random, count: int) -> list[str]:
    """Names of marks that tell nothing."""
    return rng.sample([f"m{number}" for number in range(count)], count)


def tilts(rng: Random, count: int, most: float) -> list[float]:
    """Angles up to so many degrees to either side."""
    return [float(round(rng.uniform(-most, most))) for _ in range(count)]


def orders(
    characters: Sequence[Character], surely_after: Callable[[Character, Character], bool]
) -> Iterator[list[str]]:
    """The marks in every order in which none comes before one that it surely comes after."""
    for order in permutations(characters):
        if order and not any(surely_after(one, later) for one, later in combinations(order, 2)):
            yield [one.mark for one in order]


def _across(text: str, size: float) -> float:
    return max(size, 0.7 * size * len(text))
