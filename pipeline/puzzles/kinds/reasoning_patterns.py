"""Puzzles of patterns: the piece that completes a square, the tile that continues a row."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import product
from random import Random
from typing import Any, ClassVar, TypeVar

from pipeline.actions import Model
from pipeline.puzzles.answers import Answer, Clicked, Region, Spot, rectangle
from pipeline.puzzles.art import glyph, panel, polygon, shuffled_marks
from pipeline.puzzles.colours import COLOURS
from pipeline.puzzles.forms import form
from pipeline.puzzles.icons import turned
from pipeline.puzzles.kinds.reasoning import DARK, OptionPuzzle, Options, tiles
from pipeline.puzzles.puzzle import Language, Level, PuzzleType
from pipeline.puzzles.scene import Scene

Cell = tuple[int, int]

_BLOCKS = (("#2563eb", "#1e3a8a"), ("#0d9488", "#134e4a"), ("#d97706", "#7c2d12"), ("#7c3aed", "#4c1d95"))
"""Fills of pieces and their borders."""


def _laid(cells: Sequence[Cell], quarters: int) -> list[Cell]:
    """A piece after so many quarters of a turn, at 0, 0, in order."""
    for _ in range(quarters):
        cells = [(-y, x) for x, y in cells]
    left, top = min(x for x, _ in cells), min(y for _, y in cells)
    return sorted((x - left, y - top) for x, y in cells)


class Pieces(Options):
    """The cells of a square that are filled, and a piece for each tile."""

    side: int
    filled: list[Cell]
    pieces: list[list[Cell]]
    turns: bool
    """Whether pieces may be turned."""


class Polyomino(OptionPuzzle[Pieces]):
    """Click the piece that completes a square."""

    name: ClassVar[str] = "vr_polyomino"

    def draw(self, rng: Random, level: Level, language: Language) -> Pieces:
        """A gap of four to six cells; pieces are turned from level 2 on, and one is a mirror's image in level 3."""
        side = 4 if level == 1 else 5
        gap = _piece(rng, side, 3 + level)
        pieces = [gap]
        if level == 3:
            pieces.append(_laid([(-x, y) for x, y in gap], 0))
        while len(pieces) < 4:
            other = _piece(rng, side, 3 + level)
            if not any(_laid(other, quarters) == _laid(one, 0) for one in pieces for quarters in range(4)):
                pieces.append(other)
        laid = [_laid(piece, rng.randrange(4) if level > 1 else 0) for piece in pieces]
        marks = shuffled_marks(rng, 4)
        order = rng.sample(range(4), 4)
        return Pieces(
            variant=rng.randrange(10_000),
            marks=[marks[place] for place in order],
            meant=marks[0],
            side=side,
            filled=[cell for cell in product(range(side), repeat=2) if cell not in gap],
            pieces=[laid[place] for place in order],
            turns=level > 1,
        )

    def solve(self, state: Pieces) -> Iterator[Answer]:
        """Each piece that, laid somewhere in some way, leaves no cell of the square free and covers none twice."""
        square = sorted(product(range(state.side), repeat=2))
        for name, piece in zip(state.marks, state.pieces, strict=True):
            ways = [_laid(piece, quarters) for quarters in range(4 if state.turns else 1)]
            if any(
                sorted([*state.filled, *((x + across, y + down) for x, y in way)]) == square
                for way, across, down in product(ways, range(state.side), range(state.side))
            ):
                yield Clicked(marks=[name])

    def scene(self, state: Pieces, language: Language) -> Scene:
        """The square with its gap above, the pieces on tiles."""
        fill, border = _BLOCKS[state.variant % len(_BLOCKS)]
        edge = 112 / state.side
        left, top = (320 - 112) / 2, 10
        square = panel(rectangle(left - 5, top - 5, 122, 122))
        square += _cells(state.filled, (left, top), edge, f'fill="{fill}" stroke="{border}" stroke-width="1.2"')
        regions = tiles(state.marks, 128, 106, 4)
        drawn = []
        for name, piece in zip(state.marks, state.pieces, strict=True):
            x, y = regions[name].centre
            width, tall = (max(cell[axis] for cell in piece) + 1 for axis in (0, 1))
            small = min(20.0, 64 / width, 80 / tall)
            start = (x - width * small / 2, y - tall * small / 2)
            drawn.append(_cells(piece, start, small, f'fill="{fill}" stroke="{border}" stroke-width="1.2"'))
        said = _TURNS[state.turns][language == "zh"]
        return self.picked(state, language, regions, drawn, height=236, above=square, turns=said)


_TURNS = {
    True: ("It may be turned, but not flipped over", "可以旋转，但不能翻面"),
    False: ("It is not turned", "不需要旋转"),
}


def _piece(rng: Random, side: int, count: int) -> list[Cell]:
    """Cells that hang together, somewhere in a square."""
    cells = [(rng.randrange(side), rng.randrange(side))]
    while len(cells) < count:
        x, y = rng.choice(cells)
        a, b = rng.choice(((1, 0), (-1, 0), (0, 1), (0, -1)))
        near = (x + a, y + b)
        if near not in cells and 0 <= near[0] < side and 0 <= near[1] < side:
            cells.append(near)
    return cells


def _cells(cells: Sequence[Cell], start: Spot, edge: float, attributes: str) -> str:
    return "".join(
        f'<rect x="{start[0] + x * edge:.2f}" y="{start[1] + y * edge:.2f}" width="{edge:.2f}" height="{edge:.2f}" '
        f"{attributes}/>"
        for x, y in cells
    )


class Term(Model):
    """A picture of a row: so many of a form in a colour, or one arrow that is turned clockwise."""

    form: str
    count: int
    turn: int
    colour: int

    @property
    def looks(self) -> tuple[str | int, ...]:
        """All that may follow a rule."""
        return self.form, self.count, self.turn, self.colour


def continued(values: Sequence[str | int]) -> set[str | int]:
    """What may come next: by going around one, two or three values, or by steps that are all as large."""
    following = {
        values[len(values) % period]
        for period in (1, 2, 3)
        if all(value == values[place % period] for place, value in enumerate(values))
    }
    numbers = [value for value in values if isinstance(value, int)]
    if len(numbers) == len(values):
        step = numbers[1] - numbers[0]
        if all(number == numbers[0] + step * place for place, number in enumerate(numbers)):
            following.add(numbers[-1] + step)
    return following


class Row(Options):
    """The pictures of a row, and one for each tile."""

    shown: list[Term]
    options: list[Term]


class NextInRow(OptionPuzzle[Row]):
    """Click what comes next in a row."""

    name: ClassVar[str] = "vr_sequence"
    _length: ClassVar[int] = 5

    def draw(self, rng: Random, level: Level, language: Language) -> Row:
        """One to three things that change: the form, the number or the turn, the colour."""
        terms = _row(rng, level, self._length + 1)
        right = terms.pop()
        options = _options(rng, right, terms)
        marks = shuffled_marks(rng, len(options))
        order = rng.sample(range(len(options)), len(options))
        return Row(
            variant=rng.randrange(10_000),
            marks=[marks[place] for place in order],
            meant=marks[0],
            shown=terms,
            options=[options[place] for place in order],
        )

    def solve(self, state: Row) -> Iterator[Answer]:
        """Each picture whose form, number, turn and colour may all come next."""
        may = [continued(values) for values in zip(*(term.looks for term in state.shown), strict=True)]
        for name, term in zip(state.marks, state.options, strict=True):
            # A turn is the same after 360 degrees, which steps go beyond.
            turns = {int(turn) % 360 for turn in may[2]}
            fits = [look in following for look, following in zip(term.looks, may, strict=True)]
            fits[2] = term.turn % 360 in turns
            if all(fits):
                yield Clicked(marks=[name])

    def scene(self, state: Row, language: Language) -> Scene:
        """The row with a question mark at its end, and four tiles."""
        places = tiles([f"{number}" for number in range(6)], 0, 66, 6)
        row = "".join(
            panel(place) + _term(term, place, 8.5) for place, term in zip(places.values(), state.shown, strict=False)
        )
        last = places["5"]
        row += panel(last, "#fef3c7") + glyph("?", last.centre, 28, fill=DARK)
        regions = tiles(state.marks, 78, 92, len(state.marks))
        drawn = [_term(term, regions[name], 13) for name, term in zip(state.marks, state.options, strict=True)]
        line = f'<path d="M20 74H300" stroke="{DARK}" stroke-opacity="0.2" stroke-dasharray="4 4"/>'
        return self.picked(state, language, regions, drawn, height=172, above=row + line)


_ROW_FORMS = ("circle", "square", "triangle", "star", "heart", "cross")


def _row(rng: Random, level: Level, length: int) -> list[Term]:
    """A row in which as many things change as it is hard."""
    arrows = level < 3 and rng.random() < 0.5
    changing = set(["main", "colour"][:level] if arrows else rng.sample(["main", "colour", "form"], level))
    colours = rng.sample(range(len(COLOURS)), 3)
    forms = rng.sample(_ROW_FORMS, 3)
    colour_period = rng.choice((2, 3)) if "colour" in changing else 1
    form_period = rng.choice((2, 3)) if "form" in changing else 1
    step = rng.choice((45, 90, 135, -45, -90))
    start = rng.randrange(8) * 45
    counts = [rng.randint(1, 5) for _ in range(3)]
    rising = rng.random() < 0.5
    return [
        Term(
            form="arrow" if arrows else forms[place % form_period],
            count=1 if arrows or "main" not in changing else (place + 1 if rising else counts[place % 3]),
            turn=start + step * place if arrows else 0,
            colour=colours[place % colour_period],
        )
        for place in range(length)
    ]


def _options(rng: Random, right: Term, shown: Sequence[Term]) -> list[Term]:
    """The right picture, with one thing changed, with another one, and with both.

    Every look is so that of two pictures, and what most of them have in common tells nothing.
    """
    colour = rng.choice([one for one in range(len(COLOURS)) if one != right.colour])
    changes: list[dict[str, str | int]] = [{"colour": _another([one.colour for one in shown], right.colour, colour)}]
    if right.form == "arrow":
        changes.append({"turn": right.turn + rng.choice((45, 90, 180, 270))})
    else:
        form_name = rng.choice([one for one in _ROW_FORMS if one != right.form])
        changes.append({"form": _another([one.form for one in shown], right.form, form_name)})
        changes.append({"count": rng.choice([one for one in range(1, 7) if one != right.count])})
    one, other = rng.sample(changes, 2)
    return [right, *(right.model_copy(update=change) for change in (one, other, one | other))]


_Look = TypeVar("_Look", str, int)


def _another(shown: Sequence[_Look], right: _Look, else_: _Look) -> _Look:
    """A look that others in the row have, where there is one."""
    return next((look for look in shown if look != right), else_)


_GROUPS: dict[int, Sequence[Spot]] = {
    1: [(0, 0)],
    2: [(-0.7, 0), (0.7, 0)],
    3: [(-0.7, 0.6), (0.7, 0.6), (0, -0.6)],
    4: [(-0.7, -0.7), (0.7, -0.7), (-0.7, 0.7), (0.7, 0.7)],
    5: [(-1, -1), (1, -1), (0, 0), (-1, 1), (1, 1)],
    6: [(-0.7, -1.3), (0.7, -1.3), (-0.7, 0), (0.7, 0), (-0.7, 1.3), (0.7, 1.3)],
}
"""Where so many forms stand, in their sizes from the middle."""


def _term(term: Term, region: Region, size: float) -> str:
    (x, y), paint = region.centre, COLOURS[term.colour].paint
    if term.form == "arrow":
        corners = [(0.0, -1.7), (1.2, -0.3), (0.4, -0.3), (0.4, 1.6), (-0.4, 1.6), (-0.4, -0.3), (-1.2, -0.3)]
        placed = [turned((x + a * size, y + b * size), (x, y), term.turn) for a, b in corners]
        return polygon(placed, f'fill="{paint}"')
    big = size * (1.8 if term.count == 1 else 1.15)
    return "".join(
        form(term.form, (x + a * size * 1.15, y + b * size * 1.15), big, f'fill="{paint}"')
        for a, b in _GROUPS[term.count]
    )


TYPES: tuple[PuzzleType[Any], ...] = (Polyomino(), NextInRow())
