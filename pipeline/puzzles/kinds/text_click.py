"""Puzzles whose characters are clicked, by the order or the rule that the page asks for."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations, permutations
from random import Random
from typing import ClassVar

from pipeline.puzzles.answers import Answer, Clicked, Region, Spot, around
from pipeline.puzzles.art import FONTS, INKS, glyph
from pipeline.puzzles.colours import COLOURS
from pipeline.puzzles.kinds.characters import Character, CharacterPuzzle, Characters, names, orders, placed, tilts
from pipeline.puzzles.kinds.text_click_words import idioms, pairs, sayings, script_of, scripts
from pipeline.puzzles.puzzle import Language, Level, PuzzleType

_LETTERS = "ABDEFGHKMNPQRTWXYZ"
"""Letters that are hard to take for another letter or digit."""
_WRYLY = 15.0
"""From so many degrees on a letter is tilted, ..."""
_STRAIGHT = 4.0
"""... and up to so many it is upright; between them it could be either."""
_LARGER = 1.25
"""A character is seen to be larger than another from this factor on."""


class PromptOrder(CharacterPuzzle):
    """Click the characters in the order in which the page names them."""

    name: ClassVar[str] = "tc_prompt_order"
    ordered: ClassVar[bool] = True

    def draw(self, rng: Random, level: Level, language: Language) -> Characters:
        """Two to four of up to nine characters."""
        texts = rng.sample(_LETTERS, 3 + 2 * level)
        characters = placed(rng, texts, angles=tilts(rng, len(texts), 8.0 * level))
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


class Alphabet(CharacterPuzzle):
    """Click all letters from A to Z."""

    name: ClassVar[str] = "tc_alphabet"
    ordered: ClassVar[bool] = True

    def draw(self, rng: Random, level: Level, language: Language) -> Characters:
        """Four to six letters; neighbours in the alphabet where it is hard."""
        first = rng.randrange(len(_LETTERS) - 8)
        letters = _LETTERS if level < 3 else _LETTERS[first : first + 8]
        texts = rng.sample(letters, 3 + level)
        characters = placed(rng, texts, angles=tilts(rng, len(texts), 8.0 * level))
        meant = [one.mark for one in sorted(characters, key=lambda one: one.text)]
        return Characters(variant=rng.randrange(10_000), characters=characters, meant=meant)

    def solve(self, state: Characters) -> Iterator[Answer]:
        """Every order that goes with the alphabet."""
        for marks in orders(state.characters, lambda one, later: one.text > later.text):
            yield Clicked(marks=marks, ordered=True)


class Ascending(CharacterPuzzle):
    """Click all numbers from small to large."""

    name: ClassVar[str] = "tc_ascending"
    ordered: ClassVar[bool] = True

    def draw(self, rng: Random, level: Level, language: Language) -> Characters:
        """Three to five numbers of one to three digits; larger ones need not be longer nor shown larger."""
        numbers = rng.sample(range(1, (10, 100, 1000)[level - 1]), 2 + level)
        sizes = [float(rng.choice((26, 30, 34))) for _ in numbers]
        characters = placed(rng, [str(number) for number in numbers], sizes=sizes)
        meant = [one.mark for one in sorted(characters, key=lambda one: int(one.text))]
        return Characters(variant=rng.randrange(10_000), characters=characters, meant=meant)

    def solve(self, state: Characters) -> Iterator[Answer]:
        """Every order that goes up."""
        for marks in orders(state.characters, lambda one, later: int(one.text) > int(later.text)):
            yield Clicked(marks=marks, ordered=True)


class Idiom(CharacterPuzzle):
    """Click the characters of an idiom, or the words of a saying, as it is said; some may be left over."""

    name: ClassVar[str] = "tc_idiom"
    ordered: ClassVar[bool] = True

    def draw(self, rng: Random, level: Level, language: Language) -> Characters:
        """Up to six tiles, in cells of their own; up to two of them belong to other sayings."""
        said = idioms() if language == "zh" else sayings()
        wanted = rng.choice([one for one in said if len(one) <= 7 - level])
        others = rng.sample([one for one in said if one != wanted], 3)
        strange = [text for other in others for text in other if text not in wanted]
        texts = [*wanted, *rng.sample(sorted(set(strange)), level - 1)]
        size = 30.0 if language == "zh" else 17.0
        cells = rng.sample(
            [(80.0 + 160 * column, 36.0 + 64 * row) for column in (0, 1) for row in (0, 1, 2)], len(texts)
        )
        characters = [
            Character(mark=name, text=text, size=size, spot=_jolted(rng, cell, 75 - tile_width(text, size) / 2))
            for name, text, cell in zip(names(rng, len(texts)), texts, cells, strict=True)
        ]
        meant = [one.mark for one in characters[: len(wanted)]]
        return Characters(variant=rng.randrange(10_000), characters=characters, meant=meant)

    def solve(self, state: Characters) -> Iterator[Answer]:
        """Every row of tiles that is an idiom or a saying."""
        known = {*idioms(), *sayings()}
        for length in sorted({len(one) for one in known}):
            for row in permutations(state.characters, length):
                if tuple(one.text for one in row) in known:
                    yield Clicked(marks=[one.mark for one in row], ordered=True)

    def drawn(self, one: Character, variant: int) -> str:
        """A tile with a shadow."""
        left, top, right, bottom = self.region(one).edges
        box = f'width="{right - left:g}" height="{bottom - top:g}" rx="8"'
        return (
            f'<rect x="{left:g}" y="{top + 2:g}" {box} fill="#0f172a" fill-opacity="0.25"/>'
            f'<rect x="{left:g}" y="{top:g}" {box} fill="#fffdf7" stroke="{INKS[variant % len(INKS)]}"/>'
            + glyph(one.text, one.spot, one.size, fill=one.colour, font=FONTS[variant % len(FONTS)])
        )

    def region(self, one: Character) -> Region:
        """The tile."""
        return around(one.spot, tile_width(one.text, one.size), round(one.size * 0.7 + 22))


def tile_width(text: str, size: float) -> float:
    """How wide the tile of a word is."""
    letters = sum(0.4 if letter in "fijlrt" else 1.0 if letter > "z" or letter in "mw" else 0.7 for letter in text)
    return float(round(letters * size + 22))


def _jolted(rng: Random, spot: Spot, room: float) -> Spot:
    return round(spot[0] + rng.uniform(-room, room), 1), round(spot[1] + rng.uniform(-10, 10), 1)


class Inverted(CharacterPuzzle):
    """Click the one letter that stands on its head."""

    name: ClassVar[str] = "tc_inverted"
    single: ClassVar[bool] = True
    letters: ClassVar[str] = "AFGJKLQRTVY"
    """Upside down, none of them is a letter or digit again; P would be d."""

    def draw(self, rng: Random, level: Level, language: Language) -> Characters:
        """One of up to ten letters; the more difficult, the more the others lean."""
        texts = rng.sample(self.letters, 4 + 2 * level)
        lean = tilts(rng, len(texts), 8.0 * level)
        characters = placed(rng, texts, angles=[180.0 + lean[0], *lean[1:]])
        return Characters(
            variant=rng.randrange(10_000), characters=characters, meant=[one.mark for one in characters[:1]]
        )

    def solve(self, state: Characters) -> Iterator[Answer]:
        """Each letter that points down rather than up."""
        for one in state.characters:
            if abs(one.angle) % 360 > 120:
                yield Clicked(marks=[one.mark])


class Rotated(CharacterPuzzle):
    """Click every letter that is tilted."""

    name: ClassVar[str] = "tc_rotated"

    def draw(self, rng: Random, level: Level, language: Language) -> Characters:
        """One to four of up to nine letters; the more difficult, the less they are tilted."""
        texts = rng.sample("ABDEFGHKLMNPRTWY", 3 + 2 * level)
        tilted = rng.randint(1, 1 + level)
        most, least = ((60, 45), (45, 32), (32, 22))[level - 1]
        angles = [float(rng.choice((-1, 1)) * rng.randint(least, most)) for _ in range(tilted)]
        characters = placed(rng, texts, angles=angles + [0.0] * (len(texts) - tilted))
        meant = sorted(one.mark for one in characters[:tilted])
        return Characters(variant=rng.randrange(10_000), characters=characters, meant=meant)

    def solve(self, state: Characters) -> Iterator[Answer]:
        """What is tilted, with and without each letter that could be either."""
        tilted = [one.mark for one in state.characters if abs(one.angle) >= _WRYLY]
        either = [one.mark for one in state.characters if _STRAIGHT < abs(one.angle) < _WRYLY]
        for count in range(len(either) + 1):
            for more in combinations(either, count):
                if tilted or more:
                    yield Clicked(marks=sorted([*tilted, *more]))


class Vowels(CharacterPuzzle):
    """Click all vowels."""

    name: ClassVar[str] = "tc_vowel"

    def draw(self, rng: Random, level: Level, language: Language) -> Characters:
        """One to three vowels among up to nine letters."""
        vowels = rng.sample("AEOU", rng.randint(1, level))
        texts = vowels + rng.sample("BDFGHKMNPRTWXZ", 3 + 2 * level - len(vowels))
        characters = placed(rng, texts, angles=tilts(rng, len(texts), 8.0 * level))
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


class Coloured(CharacterPuzzle):
    """Click every character of the colour that the page names."""

    name: ClassVar[str] = "tc_colour"

    def draw(self, rng: Random, level: Level, language: Language) -> Characters:
        """One to four of up to nine letters, in two to four colours."""
        texts = rng.sample(_LETTERS, 3 + 2 * level)
        wanted, *others = rng.sample(COLOURS, 1 + level)
        count = rng.randint(1, 1 + level)
        paints = [wanted.paint] * count + [rng.choice(others).paint for _ in texts[count:]]
        characters = placed(rng, texts, colours=paints, angles=tilts(rng, len(texts), 8.0 * level))
        return Characters(
            variant=rng.randrange(10_000),
            characters=characters,
            meant=sorted(one.mark for one in characters[:count]),
            asked=wanted.zh if language == "zh" else wanted.en,
        )

    def solve(self, state: Characters) -> Iterator[Answer]:
        """Whatever is painted with a colour of that name."""
        paints = {one.paint for one in COLOURS if state.asked in (one.en, one.zh)}
        marks = sorted(one.mark for one in state.characters if one.colour in paints)
        if marks:
            yield Clicked(marks=marks)


class Sized(CharacterPuzzle):
    """Click from the smallest character to the largest."""

    name: ClassVar[str] = "tc_size"
    ordered: ClassVar[bool] = True

    def draw(self, rng: Random, level: Level, language: Language) -> Characters:
        """Three to five capitals, which are equally high at the same size."""
        texts = rng.sample("ABDEFHKMNPRTXZ", 2 + level)
        smallest, factor = ((22, 1.6), (22, 1.4), (20, 1.28))[level - 1]
        sizes = [round(smallest * factor**step, 1) for step in range(len(texts))]
        characters = placed(rng, texts[::-1], sizes=sizes[::-1])[::-1]
        return Characters(variant=rng.randrange(10_000), characters=characters, meant=[one.mark for one in characters])

    def solve(self, state: Characters) -> Iterator[Answer]:
        """Every order in which none is seen to be larger than a later one."""
        for marks in orders(state.characters, lambda one, later: one.size >= _LARGER * later.size):
            yield Clicked(marks=marks, ordered=True)


class Foreign(CharacterPuzzle):
    """Click the one character that is of another script."""

    name: ClassVar[str] = "tc_script"
    single: ClassVar[bool] = True

    def draw(self, rng: Random, level: Level, language: Language) -> Characters:
        """One among up to eight of another script; the more difficult, the more alike the two."""
        many, few = rng.choice(pairs(level))
        letters = scripts()
        texts = [rng.choice(letters[few]), *rng.sample(letters[many], 2 + 2 * level)]
        characters = placed(rng, texts)
        return Characters(
            variant=rng.randrange(10_000), characters=characters, meant=[one.mark for one in characters[:1]]
        )

    def solve(self, state: Characters) -> Iterator[Answer]:
        """Each character whose script is its own, among others that are all of one."""
        for one in state.characters:
            others = {script_of(other.text) for other in state.characters if other.mark != one.mark}
            if len(others) == 1 and script_of(one.text) not in others:
                yield Clicked(marks=[one.mark])


TYPES: tuple[PuzzleType[Characters], ...] = (
    PromptOrder(),
    Alphabet(),
    Ascending(),
    Idiom(),
    Inverted(),
    Rotated(),
    Vowels(),
    Coloured(),
    Sized(),
    Foreign(),
)
