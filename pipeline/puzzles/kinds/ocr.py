"""Puzzles whose picture is read, and whose text or result is typed into a field."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import product
from random import Random
from typing import ClassVar

from pipeline.actions import Model
from pipeline.puzzles.answers import Answer, Spot, Typed
from pipeline.puzzles.art import FONTS, INKS, glyph, paper
from pipeline.puzzles.backdrops import pale
from pipeline.puzzles.colours import COLOURS
from pipeline.puzzles.kinds.ocr_texts import hanzi
from pipeline.puzzles.puzzle import Language, Level, PuzzleType, State
from pipeline.puzzles.scene import WIDTH, Scene, TextField
from pipeline.words import PuzzleKind

HEIGHT = 110.0
"""Units down every picture that is read."""
_SIGNS = "ADEFHJLMNRT347"
"""Capitals and digits of which none is taken for another, nor for a small letter, even when warped."""
_SMALL = "adehnrt"
"""Small letters that are no smaller copy of their capitals, nor like any of the signs."""
_ALIKE = (*("0OoQ", "1lI|", "2Zz", "5Ss", "8B", "6Gb", "9gq", "cCG", "uUvV", "kK", "pP", "xX", "yY", "wW"),)
_ALIKE_HANZI = (
    *("未末", "土士", "己已巳", "日曰", "人入八", "大太犬", "千干于", "天夫无", "午牛", "刀力", "田由甲申"),
)
_WIDE = {"M": 1.0, "W": 1.1, "J": 0.45, "L": 0.64, "r": 0.5, "t": 0.5}
"""How wide letters are, as parts of their size; others are about as wide as 0.75."""


class Letter(Model):
    """A letter, number or sign in the art: its middle, size, tilt in degrees and colour."""

    text: str
    spot: Spot
    size: float
    angle: float = 0.0
    colour: str = INKS[0]


class Written(State):
    """Letters in the art, and what was meant when they were drawn."""

    letters: list[Letter]
    meant: str
    asked: str = ""
    """What the page names: a colour."""
    strength: float = 0.0
    """How much is drawn over the letters, or how far they are warped."""


def set_out(
    rng: Random,
    texts: Sequence[str],
    size: float,
    *,
    space: float = 1.12,
    tilt: float = 0.0,
    colours: Sequence[str] = (),
) -> list[Letter]:
    """Letters in a row around the middle of the art; `space` 1 is the distance of letters in a book."""
    wide = [_width(text) * size * space for text in texts]
    left = (WIDTH - sum(wide)) / 2
    return [
        Letter(
            text=text,
            spot=(
                round(left + sum(wide[:place]) + wide[place] / 2, 1),
                round(HEIGHT / 2 + rng.uniform(-1, 1) * min(tilt / 2, 9), 1),
            ),
            size=size,
            angle=float(round(rng.uniform(-tilt, tilt))),
            colour=colours[place] if colours else rng.choice(INKS),
        )
        for place, text in enumerate(texts)
    ]


def _width(text: str) -> float:
    return sum(1.05 if letter > "一" else _WIDE.get(letter, 0.75) for letter in text)


def in_reading_order(letters: Sequence[Letter]) -> list[Letter]:
    """Letters from left to right."""
    return sorted(letters, key=lambda one: one.spot[0])


def readings(text: str) -> Iterator[str]:
    """A text, and each other one that it could be taken for."""
    alike = [next((group for group in (*_ALIKE, *_ALIKE_HANZI) if letter in group), letter) for letter in text]
    return map("".join, product(*alike))


class ReadPuzzle(PuzzleType[Written]):
    """A picture with letters; the whole row is typed as it is read, unless a type has another rule."""

    kind: ClassVar[PuzzleKind] = "ocr"
    outline: ClassVar[bool] = False

    def solve(self, state: Written) -> Iterator[Answer]:
        """Whatever the row can be read as."""
        for reading in readings("".join(one.text for one in in_reading_order(state.letters))):
            if reading:
                yield Typed(accepted=[reading])

    def scene(self, state: Written, language: Language) -> Scene:
        """A strip with the letters, and with what is drawn under and over them."""
        ground = pale if state.variant % 3 else paper
        return Scene(
            ask=self.ask(state, language, asked=state.asked),
            art=ground(state.variant, HEIGHT) + self.written(state) + self.over(state),
            height=HEIGHT,
            control=TextField(),
            answer=Typed(accepted=[state.meant]),
        )

    def written(self, state: Written) -> str:
        """The letters."""
        font = FONTS[state.variant % len(FONTS)]
        return "".join(
            glyph(one.text, one.spot, one.size, fill=one.colour, angle=one.angle, font=font, outline=self.outline)
            for one in state.letters
        )

    def over(self, state: Written) -> str:
        """What is drawn over them: nothing."""
        return ""


class Plain(ReadPuzzle):
    """Type letters and digits; capitals and small letters matter."""

    name: ClassVar[str] = "ocr_plain"

    def draw(self, rng: Random, level: Level, language: Language) -> Written:
        """Four to six signs, with small letters among them where it is hard."""
        signs = _SIGNS if level == 1 else _SIGNS + _SMALL
        text = "".join(rng.sample(signs, 3 + level))
        letters = set_out(rng, text, 42.0, tilt=8.0 * level)
        return Written(variant=rng.randrange(10_000), letters=letters, meant=text)


class Warped(ReadPuzzle):
    """Type a word that is drawn as if on moving water."""

    name: ClassVar[str] = "ocr_warp"

    def draw(self, rng: Random, level: Level, language: Language) -> Written:
        """Four to six signs of one colour, the more warped the more difficult."""
        text = "".join(rng.sample(_SIGNS, 3 + level))
        letters = set_out(rng, text, 44.0, tilt=6.0, space=1.05, colours=[rng.choice(INKS)] * len(text))
        return Written(variant=rng.randrange(10_000), letters=letters, meant=text, strength=10.0 + 8.0 * level)

    def written(self, state: Written) -> str:
        """The letters, moved about by a slow noise."""
        return (
            f'<filter id="warp{state.variant}" x="0" y="0" width="1" height="1" color-interpolation-filters="sRGB">'
            f'<feTurbulence type="fractalNoise" baseFrequency="0.018 0.03" numOctaves="1" seed="{state.variant}"/>'
            f'<feDisplacementMap in="SourceGraphic" scale="{state.strength:g}" xChannelSelector="R" '
            f'yChannelSelector="G"/></filter><g filter="url(#warp{state.variant})">'
            f'<rect width="{WIDTH:g}" height="{HEIGHT:g}" fill="none"/>{super().written(state)}</g>'
        )


class Noisy(ReadPuzzle):
    """Type letters that lie under lines and dots."""

    name: ClassVar[str] = "ocr_noise"

    def draw(self, rng: Random, level: Level, language: Language) -> Written:
        """Four to six signs."""
        text = "".join(rng.sample(_SIGNS, 3 + level))
        letters = set_out(rng, text, 42.0, tilt=15.0)
        return Written(variant=rng.randrange(10_000), letters=letters, meant=text, strength=float(level))

    def over(self, state: Written) -> str:
        """Lines and dots, too thin to make a letter out of another one."""
        return scribble(state.variant, state.strength)


def scribble(variant: int, strength: float) -> str:
    """Thin lines through the whole picture and small dots; more of them with more strength."""
    rng = Random(f"scribble {variant}")
    lines = "".join(
        f'<path fill="none" stroke="{rng.choice(COLOURS).paint}" stroke-opacity="0.6" stroke-width="1.3" '
        f'd="M0 {rng.uniform(10, 100):.0f}C{rng.uniform(60, 140):.0f} {rng.uniform(-20, 130):.0f} '
        f'{rng.uniform(180, 260):.0f} {rng.uniform(-20, 130):.0f} {WIDTH:g} {rng.uniform(10, 100):.0f}"/>'
        for _ in range(round(2 + 2 * strength))
    )
    dots = "".join(
        f'<circle cx="{rng.uniform(0, WIDTH):.0f}" cy="{rng.uniform(0, HEIGHT):.0f}" r="{rng.uniform(0.8, 1.8):.1f}" '
        f'fill="{rng.choice(COLOURS).paint}" fill-opacity="0.7"/>'
        for _ in range(round(30 * strength))
    )
    return lines + dots


class Touching(ReadPuzzle):
    """Type letters that touch or cover each other a little."""

    name: ClassVar[str] = "ocr_overlap"

    def draw(self, rng: Random, level: Level, language: Language) -> Written:
        """Four to six signs; of one colour, but less close, where it is hard."""
        text = "".join(rng.sample(_SIGNS, 3 + level))
        two = rng.sample(INKS, 2)
        colours = [two[0] if level == 3 else two[place % 2] for place in range(len(text))]
        letters = set_out(rng, text, 50.0, space=(0.88, 0.85, 0.91)[level - 1], tilt=8.0, colours=colours)
        return Written(variant=rng.randrange(10_000), letters=letters, meant=text)


class Hollow(ReadPuzzle):
    """Type letters of which only the outline is drawn."""

    name: ClassVar[str] = "ocr_hollow"
    outline: ClassVar[bool] = True

    def draw(self, rng: Random, level: Level, language: Language) -> Written:
        """Four to six signs, with lines behind and before them where it is hard."""
        text = "".join(rng.sample(_SIGNS, 3 + level))
        letters = set_out(rng, text, 46.0, tilt=7.0 * level)
        return Written(variant=rng.randrange(10_000), letters=letters, meant=text, strength=(level - 1) / 4)

    def over(self, state: Written) -> str:
        """A few lines."""
        return scribble(state.variant, state.strength) if state.strength else ""


class OneColour(ReadPuzzle):
    """Type only the letters of the colour that the page names, from left to right."""

    name: ClassVar[str] = "ocr_colour_filter"

    def draw(self, rng: Random, level: Level, language: Language) -> Written:
        """Two to five of up to nine signs, the others in one to three colours."""
        texts = rng.sample(_SIGNS, 3 + 2 * level)
        wanted, *others = rng.sample(COLOURS, 1 + level)
        chosen = set(rng.sample(range(len(texts)), 1 + level + rng.randint(0, 1)))
        colours = [(wanted if place in chosen else rng.choice(others)).paint for place in range(len(texts))]
        return Written(
            variant=rng.randrange(10_000),
            letters=set_out(rng, texts, 40.0 - 3 * level, tilt=6.0 * level, colours=colours),
            meant="".join(text for place, text in enumerate(texts) if place in chosen),
            asked=wanted.zh if language == "zh" else wanted.en,
        )

    def solve(self, state: Written) -> Iterator[Answer]:
        """Whatever the letters of a colour of that name can be read as."""
        paints = {one.paint for one in COLOURS if state.asked in (one.en, one.zh)}
        text = "".join(one.text for one in in_reading_order(state.letters) if one.colour in paints)
        for reading in readings(text):
            if reading:
                yield Typed(accepted=[reading])


class Hanzi(ReadPuzzle):
    """Type Chinese characters."""

    name: ClassVar[str] = "ocr_hanzi"

    def draw(self, rng: Random, level: Level, language: Language) -> Written:
        """Two to four common characters."""
        text = "".join(rng.sample(hanzi(), 1 + level))
        letters = set_out(rng, text, 46.0, tilt=7.0 * level)
        return Written(variant=rng.randrange(10_000), letters=letters, meant=text, strength=(level - 1) / 4)

    def over(self, state: Written) -> str:
        """A few lines."""
        return scribble(state.variant, state.strength) if state.strength else ""


class Arithmetic(ReadPuzzle):
    """Type the result of a sum."""

    name: ClassVar[str] = "ocr_arith"

    def draw(self, rng: Random, level: Level, language: Language) -> Written:
        """Two numbers, three where it is hard; the result is not negative."""
        most = (9, 40, 12)[level - 1]
        signs = [rng.choice("+−×" if level != 2 else "+−") for _ in range(2 if level == 3 else 1)]
        numbers = [rng.randint(2, most) for _ in range(len(signs) + 1)]
        texts = [str(numbers[0])]
        for sign, number in zip(signs, numbers[1:], strict=True):
            texts += [sign, str(number)]
        letters = set_out(rng, [*texts, "=", "?"], 34.0 if level == 3 else 40.0, tilt=4.0 * level)
        meant = str(results(texts)[0])
        return Written(variant=rng.randrange(10_000), letters=letters, meant=meant, strength=(level - 1) / 3)

    def solve(self, state: Written) -> Iterator[Answer]:
        """The result, however the sum is gone through; none that is below zero either way."""
        texts = [one.text for one in in_reading_order(state.letters)]
        ways = results(texts[: texts.index("=")])
        if min(ways) >= 0:
            yield from (Typed(accepted=[str(result)]) for result in dict.fromkeys(ways))

    def over(self, state: Written) -> str:
        """A few lines."""
        return scribble(state.variant, state.strength) if state.strength else ""


def results(texts: Sequence[str]) -> list[int]:
    """What numbers and signs between them come to: with products first, and plainly from left to right."""
    sums = [int(texts[0])]
    plain = int(texts[0])
    for sign, text in zip(texts[1::2], texts[2::2], strict=True):
        number = int(text)
        if sign == "×":
            sums[-1] *= number
            plain *= number
        else:
            sums.append(number if sign == "+" else -number)
            plain += sums[-1]
    return [sum(sums), plain]


TYPES: tuple[PuzzleType[Written], ...] = (
    Plain(),
    Warped(),
    Noisy(),
    Touching(),
    Hollow(),
    OneColour(),
    Hanzi(),
    Arithmetic(),
)
