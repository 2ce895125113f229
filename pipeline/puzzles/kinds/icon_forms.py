"""Puzzles whose plain shapes are clicked, by form and colour or by a mark on them."""

from __future__ import annotations

from collections.abc import Iterator
from random import Random
from typing import ClassVar

from pipeline.actions import Model
from pipeline.puzzles.answers import Answer, Clicked, Spot, around
from pipeline.puzzles.art import marks, paper, scatter, shuffled_marks
from pipeline.puzzles.colours import COLOURS
from pipeline.puzzles.forms import FORMS, form, form_outline
from pipeline.puzzles.kinds.icon_click import HEIGHT
from pipeline.puzzles.puzzle import Language, Level, PuzzleType, State
from pipeline.puzzles.scene import Pointer, Scene
from pipeline.words import PuzzleKind


class Shape(Model):
    """A shape in the art: its middle, its longer side and its tilt in degrees."""

    mark: str
    form: str
    """A form, or the look of a dot."""
    colour: int
    spot: Spot
    size: float
    angle: float = 0.0


class Shapes(State):
    """Shapes, the number of the colour and the form that are asked for, and the mark that was meant."""

    shapes: list[Shape]
    meant: str
    colour: int
    form: str


def _drawn(rng: Random, level: Level, forms: list[str], size: float, tilt: int) -> Shapes:
    """Shapes of which the first is asked for; the harder it is, the more have its form or its colour."""
    colours = rng.sample(range(len(COLOURS)), 5)
    kinds = [(colours[0], forms[0]), (colours[1], forms[0]), (colours[0], forms[1])]
    others = [(colour, name) for colour in colours[1:] for name in forms[1:]]
    near = [(colour, forms[0]) for colour in colours[2:]] + [(colours[0], name) for name in forms[2:]]
    kinds += rng.sample(near, level) + rng.sample(others, level + 1)
    spots = scatter(rng, len(kinds), size * (1.3 if tilt else 1), HEIGHT)
    if len(spots) < len(kinds):  # no room for all of them: nothing that could be solved
        return Shapes(variant=0, shapes=[], meant="", colour=colours[0], form=forms[0])
    shapes = [
        Shape(mark=name, form=look, colour=colour, spot=spot, size=size, angle=rng.randint(-tilt, tilt))
        for name, (colour, look), spot in zip(shuffled_marks(rng, len(kinds)), kinds, spots, strict=True)
    ]
    meant = shapes[0].mark
    return Shapes(variant=rng.randrange(10_000), shapes=shapes, meant=meant, colour=colours[0], form=forms[0])


class ShapePuzzle(PuzzleType[Shapes]):
    """Shapes scattered over a paper, of which one has the form and the colour that are asked for."""

    kind: ClassVar[PuzzleKind] = "icon_click"

    def solve(self, state: Shapes) -> Iterator[Answer]:
        """Each shape with both."""
        for one in state.shapes:
            if (one.form, one.colour) == (state.form, state.colour):
                yield Clicked(marks=[one.mark])


class ShapeColour(ShapePuzzle):
    """Click the shape with the form and the colour that are named."""

    name: ClassVar[str] = "ic_shape_colour"

    def draw(self, rng: Random, level: Level, language: Language) -> Shapes:
        """Up to ten shapes."""
        return _drawn(rng, level, rng.sample(list(FORMS), 5), 46.0 - 5 * level, 5 * level)

    def scene(self, state: Shapes, language: Language) -> Scene:
        """Every shape is a mark as large as its box."""
        said = language == "zh"
        art = marks(
            (one.mark, form(one.form, one.spot, one.size, _paint(one.colour), one.angle)) for one in state.shapes
        )
        return Scene(
            ask=self.ask(state, language, form=FORMS[state.form][said], colour=_said(state, language)),
            art=paper(state.variant, HEIGHT) + art,
            height=HEIGHT,
            control=Pointer(single=True),
            answer=Clicked(marks=[state.meant]),
            marks={one.mark: form_outline("square", one.spot, one.size, one.angle) for one in state.shapes},
        )


def _said(state: Shapes, language: Language) -> str:
    colour = COLOURS[state.colour]
    return colour.zh if language == "zh" else colour.en


def _paint(colour: int) -> str:
    return f'fill="{COLOURS[colour].paint}" stroke="#ffffff" stroke-width="1.5"'


_LOOKS: dict[str, tuple[str, str]] = {
    "ring": ("with a ring around it", "外面带圆环的"),
    "cross": ("with a white cross in it", "中间有白色十字的"),
    "hole": ("with a white middle", "中心是白色的"),
    "bar": ("with a white bar across it", "中间有一条白色横杠的"),
    "plain": ("without any mark or ring", "没有任何标记的"),
}
"""Marks on dots: English, Chinese."""


def _dot(one: Shape) -> str:
    (x, y), size = one.spot, one.size
    colour = COLOURS[one.colour].paint
    radius = size * (0.3 if one.form == "ring" else 0.5)
    extra = {
        "ring": f'<circle cx="{x:g}" cy="{y:g}" r="{size * 0.45:g}" fill="none" stroke="{colour}" stroke-width="2.5"/>',
        "cross": f'<path d="M{x:g} {y - size * 0.28:g}v{size * 0.56:g}M{x - size * 0.28:g} {y:g}h{size * 0.56:g}" '
        'stroke="#ffffff" stroke-width="4"/>',
        "hole": f'<circle cx="{x:g}" cy="{y:g}" r="{size * 0.22:g}" fill="#ffffff"/>',
        "bar": f'<path d="M{x - size * 0.32:g} {y:g}h{size * 0.64:g}" stroke="#ffffff" stroke-width="5"/>',
        "plain": "",
    }[one.form]
    return f'<circle cx="{x:g}" cy="{y:g}" r="{radius:g}" fill="{colour}"/>{extra}'


class Dot(ShapePuzzle):
    """Click the dot that has the colour and the mark that are named."""

    name: ClassVar[str] = "ic_dot"

    def draw(self, rng: Random, level: Level, language: Language) -> Shapes:
        """Up to ten dots."""
        return _drawn(rng, level, rng.sample(list(_LOOKS), 5), 34.0 - 3 * level, 0)

    def scene(self, state: Shapes, language: Language) -> Scene:
        """Every dot is a mark."""
        said = language == "zh"
        return Scene(
            ask=self.ask(state, language, look=_LOOKS[state.form][said], colour=_said(state, language)),
            art=paper(state.variant, HEIGHT) + marks((one.mark, _dot(one)) for one in state.shapes),
            height=HEIGHT,
            control=Pointer(single=True),
            answer=Clicked(marks=[state.meant]),
            marks={one.mark: around(one.spot, one.size) for one in state.shapes},
        )


TYPES: tuple[PuzzleType[Shapes], ...] = (ShapeColour(), Dot())
