"""Puzzles whose picture is a card with lines of text, to which the answer is typed."""

from __future__ import annotations

import math
from collections.abc import Iterator
from random import Random
from typing import ClassVar

from pipeline.puzzles.answers import Answer, Typed
from pipeline.puzzles.art import FONTS, INKS, glyph
from pipeline.puzzles.backdrops import pale
from pipeline.puzzles.kinds.ocr import HEIGHT, scribble
from pipeline.puzzles.kinds.ocr_texts import bank, spelled, value_of, word_of
from pipeline.puzzles.puzzle import Language, Level, PuzzleType, State
from pipeline.puzzles.scene import WIDTH, Scene, TextField
from pipeline.words import PuzzleKind


class Lines(State):
    """Lines of text in the art, and what was meant when they were drawn."""

    lines: list[str]
    meant: list[str]
    strength: float = 0.0


class LinesPuzzle(PuzzleType[Lines]):
    """A picture of a card with lines of text."""

    kind: ClassVar[PuzzleKind] = "ocr"

    def scene(self, state: Lines, language: Language) -> Scene:
        """The lines in the middle of a card."""
        longest = max(_breadth(line) for line in state.lines)
        size = min(26.0, round(280 / longest, 1), round(70 / len(state.lines), 1))
        ink, font = INKS[state.variant % len(INKS)], FONTS[state.variant % len(FONTS)]
        top = HEIGHT / 2 - (len(state.lines) - 1) * size * 0.65
        text = "".join(
            glyph(line, (WIDTH / 2, round(top + place * size * 1.3, 1)), size, fill=ink, font=font)
            for place, line in enumerate(state.lines)
        )
        card = f'<rect x="8" y="6" width="304" height="98" rx="12" fill="#fff" fill-opacity="0.8" stroke="{ink}"/>'
        # Under the text: a line over it could be taken for a stroke of a character.
        under = scribble(state.variant, state.strength) if state.strength else ""
        return Scene(
            ask=self.ask(state, language),
            art=pale(state.variant, HEIGHT) + card + under + text,
            height=HEIGHT,
            control=TextField(),
            answer=Typed(accepted=state.meant),
        )


def _breadth(line: str) -> float:
    return sum(1.05 if letter > "一" else 0.68 for letter in line)


class WordSum(LinesPuzzle):
    """Type, in digits, the result of a sum that is written in words."""

    name: ClassVar[str] = "ocr_wordmath"

    def draw(self, rng: Random, level: Level, language: Language) -> Lines:
        """Two or three numbers up to 12, 60 or 99, one to a line."""
        most = (12, 60, 99)[level - 1]
        signs = [rng.choice("+−") for _ in range(2 if level == 3 else 1)]
        numbers = [rng.randint(1, most) for _ in range(len(signs) + 1)]
        said = [spelled(number, language) for number in numbers]
        between = " " if language == "en" else ""
        lines = [said[0]] + [
            word_of(sign, language) + between + word for sign, word in zip(signs, said[1:], strict=True)
        ]
        total = numbers[0] + sum(
            number if sign == "+" else -number for sign, number in zip(signs, numbers[1:], strict=True)
        )
        return Lines(variant=rng.randrange(10_000), lines=lines, meant=[str(total)], strength=(level - 1) / 4)

    def solve(self, state: Lines) -> Iterator[Answer]:
        """What the words come to."""
        total = sum(value_of(line) for line in state.lines)
        if total >= 0:
            yield Typed(accepted=[str(total)])


class Commonsense(LinesPuzzle):
    """Answer a question that everybody can answer."""

    name: ClassVar[str] = "ocr_commonsense"

    def draw(self, rng: Random, level: Level, language: Language) -> Lines:
        """A question of the bank, over lines where it is hard."""
        question, accepted = rng.choice(bank(language))
        return Lines(
            variant=rng.randrange(10_000),
            lines=wrapped(question, 24 if language == "en" else 13),
            meant=accepted,
            strength=(level - 1) / 4,
        )

    def solve(self, state: Lines) -> Iterator[Answer]:
        """The answer to every question of the bank that reads so."""
        shown = "".join(state.lines).replace(" ", "")
        for question, accepted in (*bank("en"), *bank("zh")):
            if question.replace(" ", "") == shown:
                yield Typed(accepted=accepted)


_CLOSING = "、，。：；？！”’）》"


def wrapped(text: str, most: int) -> list[str]:
    """A text in lines of about equal length, of not many more than so many letters; broken between words.

    No line begins with a mark that closes what stands before it.
    """
    count = math.ceil(len(text) / most)
    pieces, glue = (text.split(), " ") if " " in text else (list(text), "")
    lines: list[str] = []
    for piece in pieces:
        if lines and (piece in _CLOSING or len(lines[-1]) < len(text) / count):
            lines[-1] += glue + piece
        else:
            lines.append(piece)
    return lines


TYPES: tuple[PuzzleType[Lines], ...] = (WordSum(), Commonsense())
