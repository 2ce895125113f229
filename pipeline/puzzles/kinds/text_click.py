"""Puzzles whose characters are clicked, by the order or the rule that the page asks for."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import permutations
from random import Random
from typing import ClassVar

from pipeline.actions import Model
from pipeline.puzzles.answers import Answer, Clicked, Spot, around
from pipeline.puzzles.art import FONTS, INKS, glyph, mark, paper, scatter
from pipeline.puzzles.puzzle import Language, Level, PuzzleType, State
from pipeline.puzzles.scene import Pointer, Scene
from pipeline.words import PuzzleKind

_HEIGHT = 200.0
_LETTERS = "ABDEFGHKMNPQRTWXYZ"
"""Letters that are hard to take for another letter or digit."""


class Character(Model):
    """A character in the art: its middle, height, tilt in degrees and colour."""

    mark: str
    text: str
    spot: Spot
    size: float
    angle: float = 0.0
    colour: str = INKS[0]


class Characters(State):
    """Characters, and the marks that were meant when they were drawn, in their order."""

    characters: list[Character]
    meant: list[str]
    asked: str = ""
    """What the page names: the characters to click, a colour."""


class CharacterPuzzle(PuzzleType[Characters]):
    """Characters scattered over a paper; which ones are clicked is the rule of each type."""

    kind: ClassVar[PuzzleKind] = "text_click"
    ordered: ClassVar[bool] = False

    def scene(self, state: Characters, language: Language) -> Scene:
        """Every character is a mark as wide as it is high."""
        font = FONTS[state.variant % len(FONTS)]
        drawn = [
            mark(one.mark, glyph(one.text, one.spot, one.size, fill=one.colour, angle=one.angle, font=font))
            for one in state.characters
        ]
        return Scene(
            ask=self.ask(state, language, asked=state.asked),
            art=paper(state.variant, _HEIGHT) + "".join(drawn),
            height=_HEIGHT,
            control=Pointer(single=not self.ordered and len(state.meant) == 1),
            answer=Clicked(marks=state.meant, ordered=self.ordered),
            marks={one.mark: around(one.spot, one.size) for one in state.characters},
        )


def placed(rng: Random, texts: Sequence[str], size: float = 34.0) -> list[Character]:
    """Characters at places of their own, with marks whose names tell nothing; none when they do not fit."""
    spots = scatter(rng, len(texts), size, _HEIGHT)
    names = [f"m{number}" for number in range(len(texts))]
    rng.shuffle(names)
    if len(spots) < len(texts):
        return []
    return [
        Character(mark=name, text=text, spot=spot, size=size, colour=rng.choice(INKS))
        for name, text, spot in zip(names, texts, spots, strict=True)
    ]


class PromptOrder(CharacterPuzzle):
    """Click the characters in the order in which the page names them."""

    name: ClassVar[str] = "tc_prompt_order"
    ordered: ClassVar[bool] = True

    def draw(self, rng: Random, level: Level, language: Language) -> Characters:
        """Two to four of up to nine characters."""
        texts = rng.sample(_LETTERS, 3 + 2 * level)
        characters = placed(rng, texts)
        wanted = rng.sample(characters, min(len(characters), 1 + level))
        return Characters(
            variant=rng.randrange(10_000),
            characters=characters,
            meant=[one.mark for one in wanted],
            asked=" ".join(one.text for one in wanted),
        )

    def solve(self, state: Characters) -> Iterator[Answer]:
        """Every way to find the asked characters one after the other."""
        wanted = state.asked.split()
        for chosen in permutations(state.characters, len(wanted)):
            if wanted and [one.text for one in chosen] == wanted:
                yield Clicked(marks=[one.mark for one in chosen], ordered=True)


class Vowels(CharacterPuzzle):
    """Click all vowels."""

    name: ClassVar[str] = "tc_vowel"

    def draw(self, rng: Random, level: Level, language: Language) -> Characters:
        """One to three vowels among up to ten letters."""
        vowels = rng.sample("AEOU", rng.randint(1, level))
        texts = vowels + rng.sample("BDFGHKMNPRTWXZ", 3 + 2 * level - len(vowels))
        characters = placed(rng, texts)
        return Characters(
            variant=rng.randrange(10_000),
            characters=characters,
            meant=sorted(one.mark for one in characters if one.text in vowels),
        )

    def solve(self, state: Characters) -> Iterator[Answer]:
        """Whatever is a vowel, and nothing else."""
        marks = sorted(one.mark for one in state.characters if one.text in "AEIOU")
        if marks:
            yield Clicked(marks=marks)


TYPES: tuple[PuzzleType[Characters], ...] = (PromptOrder(), Vowels())
