"""Puzzles in which a button turns a thing step by step, until it is turned as another one is."""

from __future__ import annotations

import math
from collections.abc import Iterator
from random import Random
from typing import Any, ClassVar, NamedTuple

from pipeline.puzzles.answers import Answer, Spot, Stepped
from pipeline.puzzles.art import paper, part
from pipeline.puzzles.kinds.turning import HEIGHT, RIM, TurnPuzzle, dial
from pipeline.puzzles.puzzle import Language, Level, PuzzleType, State
from pipeline.puzzles.scene import Motion, Scene, Stepper

_CYCLES: dict[Level, int] = {1: 4, 2: 8, 3: 12}
"""Steps for a whole turn."""
_MODEL: Spot = (64.0, HEIGHT / 2)
_TURNED: Spot = (220.0, HEIGHT / 2)
_MODEL_RADIUS = 52.0

Cells = tuple[tuple[int, int], ...]
_BLOCKS: tuple[Cells, ...] = (
    ((1, 0), (2, 0), (0, 1), (1, 1), (1, 2)),
    ((0, 0), (1, 0), (0, 1), (1, 1), (0, 2)),
    ((0, 0), (0, 1), (0, 2), (1, 2)),
    ((1, 0), (1, 1), (1, 2), (1, 3), (0, 3)),
    ((0, 0), (0, 1), (1, 1), (0, 2), (0, 3)),
    ((0, 0), (1, 0), (1, 1), (1, 2), (2, 1)),
)
"""Shapes of squares (across, down) that look another way after any turn that is not a whole one."""
_NEAR = 0.3
"""Squares that are less than this part of their side apart are in the same place."""
_PAIRS = (("#2563eb", "#f59e0b"), ("#7c3aed", "#34d399"), ("#db2777", "#38bdf8"), ("#059669", "#f87171"))


class Steps(State):
    """What a button turns, in so many steps for a whole turn: directions in degrees clockwise from the top."""

    cycle: int
    start: float
    target: float
    meant: int


def steps(rng: Random, level: Level) -> Steps:
    """Any target, and a beginning that is at least two steps away from it where there are many."""
    cycle = _CYCLES[level]
    meant = rng.randint(1, 3) if level == 1 else rng.randint(2, cycle - 2)
    target = rng.randrange(360)
    return Steps(
        variant=rng.randrange(10_000),
        cycle=cycle,
        start=float((target - 360 // cycle * meant) % 360),
        target=float(target),
        meant=meant,
    )


def stepper(state: Steps) -> Stepper:
    """The button that turns what is drawn on the dial."""
    curve = [(0.0, state.start), (float(state.cycle), state.start + 360.0)]
    return Stepper(motions=[Motion(part="p0", how="turn", curve=curve, pivot=_TURNED)], cycle=state.cycle)


def panel(model: str, thing: str, variant: int) -> str:
    """The model on a card on the left, the thing on its dial on the right."""
    x, y = _MODEL
    side = 2 * _MODEL_RADIUS + 8
    card = (
        f'<rect x="{x - side / 2:g}" y="{y - side / 2:g}" width="{side:g}" height="{side:g}" rx="14" '
        'fill="#ffffff" stroke="#cbd5e1" stroke-width="2"/>'
    )
    return "".join((paper(variant, HEIGHT), card, model, dial(_TURNED, RIM), part("p0", thing)))


class Blocks(Steps):
    """A shape of squares, one of which has a colour of its own."""

    cells: Cells
    marked: int


class Step(TurnPuzzle[Blocks]):
    """Press the button until a shape is turned like its model."""

    name: ClassVar[str] = "rot_step"

    def draw(self, rng: Random, level: Level, language: Language) -> Blocks:
        """Any of the shapes."""
        cells = rng.choice(_BLOCKS)
        return Blocks(**steps(rng, level).model_dump(), cells=cells, marked=rng.randrange(len(cells)))

    def solve(self, state: Blocks) -> Iterator[Answer]:
        """All numbers of presses after which each square is where it is in the model."""
        model = squares(state, (0.0, 0.0), 1.0, state.target)
        for presses in range(1, state.cycle):
            turned = squares(state, (0.0, 0.0), 1.0, state.start + presses * 360 / state.cycle)
            at_home = math.dist(turned[state.marked], model[state.marked]) < _NEAR
            if at_home and all(any(math.dist(spot, other) < _NEAR for other in model) for spot in turned):
                yield Stepped(presses=presses, cycle=state.cycle)

    def scene(self, state: Blocks, language: Language) -> Scene:
        """The model is drawn smaller."""
        return Scene(
            ask=self.ask(state, language),
            art=panel(blocks(state, _MODEL, 22.0, state.target), blocks(state, _TURNED, 36.0, 0.0), state.variant),
            height=HEIGHT,
            control=stepper(state),
            answer=Stepped(presses=state.meant, cycle=state.cycle),
        )


def squares(state: Blocks, spot: Spot, side: float, degrees: float) -> list[Spot]:
    """The middles of the squares of a shape that is turned around a place, which is the middle of their box."""
    middle_x = (min(x for x, _ in state.cells) + max(x for x, _ in state.cells)) / 2
    middle_y = (min(y for _, y in state.cells) + max(y for _, y in state.cells)) / 2
    cosine, sine = math.cos(math.radians(degrees)), math.sin(math.radians(degrees))
    found = []
    for x, y in state.cells:
        across, down = (x - middle_x) * side, (y - middle_y) * side
        found.append((spot[0] + across * cosine - down * sine, spot[1] + across * sine + down * cosine))
    return found


def blocks(state: Blocks, spot: Spot, side: float, degrees: float) -> str:
    """A shape of squares as it is drawn."""
    plain, accent = _PAIRS[state.variant % len(_PAIRS)]
    drawn = [
        f'<rect x="{x - side / 2 + 1:.2f}" y="{y - side / 2 + 1:.2f}" width="{side - 2:g}" height="{side - 2:g}" '
        f'rx="{side / 8:g}" fill="{accent if number == state.marked else plain}"/>'
        for number, (x, y) in enumerate(squares(state, spot, side, 0.0))
    ]
    return f'<g transform="rotate({degrees:g} {spot[0]:g} {spot[1]:g})">{"".join(drawn)}</g>'


class Animal(NamedTuple):
    """An animal seen from above, its head at the top of a square of 100 units: names and drawing."""

    en: str
    zh: str
    drawn: str


_ANIMALS = {
    "turtle": Animal(
        "turtle",
        "乌龟",
        '<g fill="#65a30d"><ellipse cx="50" cy="15" rx="10" ry="13"/><ellipse cx="22" cy="34" rx="9" ry="14" '
        'transform="rotate(-40 22 34)"/><ellipse cx="78" cy="34" rx="9" ry="14" transform="rotate(40 78 34)"/>'
        '<ellipse cx="25" cy="78" rx="8" ry="12" transform="rotate(35 25 78)"/><ellipse cx="75" cy="78" rx="8" ry="12" '
        'transform="rotate(-35 75 78)"/><path d="M45 84L50 99L55 84Z"/></g><ellipse cx="50" cy="55" rx="30" ry="34" '
        'fill="#3f6212"/><path d="M50 32L64 44V64L50 76L36 64V44Z" fill="#84cc16"/><path d="M50 32V21M64 44L74 37M64 64'
        'L74 73M50 76V89M36 64L26 73M36 44L26 37" stroke="#84cc16" stroke-width="3"/><circle cx="45" cy="10" r="2.4" '
        'fill="#1f2937"/><circle cx="55" cy="10" r="2.4" fill="#1f2937"/>',
    ),
    "mouse": Animal(
        "mouse",
        "老鼠",
        '<path d="M50 84C50 100 74 84 66 99" fill="none" stroke="#f9a8d4" stroke-width="4" stroke-linecap="round"/>'
        '<ellipse cx="50" cy="62" rx="22" ry="28" fill="#94a3b8"/><path d="M50 2C60 14 68 26 66 38C60 48 40 48 34 38'
        'C32 26 40 14 50 2Z" fill="#94a3b8"/><circle cx="31" cy="34" r="11" fill="#64748b"/><circle cx="69" cy="34" '
        'r="11" fill="#64748b"/><circle cx="31" cy="34" r="6" fill="#f9a8d4"/><circle cx="69" cy="34" r="6" '
        'fill="#f9a8d4"/><circle cx="44" cy="20" r="2.6" fill="#1f2937"/><circle cx="56" cy="20" r="2.6" '
        'fill="#1f2937"/><circle cx="50" cy="4" r="3.4" fill="#db2777"/>',
    ),
    "ladybird": Animal(
        "ladybird",
        "瓢虫",
        '<path d="M44 14L34 2M56 14L66 2M24 44L8 36M22 60H5M26 76L12 88M76 44L92 36M78 60H95M74 76L88 88" '
        'stroke="#1f2937" stroke-width="4" stroke-linecap="round"/><ellipse cx="50" cy="24" rx="19" ry="15" '
        'fill="#1f2937"/><ellipse cx="50" cy="60" rx="31" ry="35" fill="#dc2626"/><path d="M50 26V95" stroke="#1f2937" '
        'stroke-width="3"/><g fill="#1f2937"><circle cx="35" cy="46" r="6"/><circle cx="65" cy="46" r="6"/><circle '
        'cx="33" cy="68" r="7"/><circle cx="67" cy="68" r="7"/><circle cx="42" cy="85" r="4"/><circle cx="58" cy="85" '
        'r="4"/></g><circle cx="42" cy="18" r="3.4" fill="#ffffff"/><circle cx="58" cy="18" r="3.4" fill="#ffffff"/>',
    ),
    "fish": Animal(
        "fish",
        "鱼",
        '<path d="M50 74C38 82 32 92 34 99C42 99 48 94 50 88C52 94 58 99 66 99C68 92 62 82 50 74Z" fill="#ea580c"/>'
        '<path d="M34 38C22 42 14 52 14 62C24 60 32 58 36 54ZM66 38C78 42 86 52 86 62C76 60 68 58 64 54Z" '
        'fill="#ea580c"/><path d="M50 2C64 10 70 30 66 50C62 68 56 76 50 84C44 76 38 68 34 50C30 30 36 10 50 2Z" '
        'fill="#fb923c"/><path d="M36 34Q50 42 64 34M37 50Q50 58 63 50M42 66Q50 71 58 66" fill="none" stroke="#ffffff" '
        'stroke-width="5"/><circle cx="41" cy="17" r="4" fill="#1f2937"/><circle cx="59" cy="17" r="4" '
        'fill="#1f2937"/>',
    ),
    "bird": Animal(
        "bird",
        "小鸟",
        '<path d="M43 72L34 99L50 90L66 99L57 72Z" fill="#1e40af"/><path d="M46 34C30 28 12 36 2 62C18 54 34 56 45 60Z'
        'M54 34C70 28 88 36 98 62C82 54 66 56 55 60Z" fill="#2563eb"/><ellipse cx="50" cy="54" rx="13" ry="27" '
        'fill="#3b82f6"/><path d="M44 14L50 1L56 14Z" fill="#f59e0b"/><circle cx="50" cy="23" r="12" fill="#3b82f6"/>'
        '<circle cx="44" cy="18" r="2.6" fill="#ffffff"/><circle cx="56" cy="18" r="2.6" fill="#ffffff"/>',
    ),
}
_SKINS = (("#f2c9a5", "#d9a27a"), ("#c98e62", "#a36b42"), ("#8d5a3b", "#6b4029"))
_CUFFS = ("#2563eb", "#dc2626", "#059669", "#7c3aed")


class Facing(Steps):
    """An animal, by its name, that a button turns; the target is where a hand points."""

    animal: str


class FaceHand(TurnPuzzle[Facing]):
    """Press the button until an animal faces the way that a hand points."""

    name: ClassVar[str] = "rot_face_hand"

    def draw(self, rng: Random, level: Level, language: Language) -> Facing:
        """Any of the animals."""
        return Facing(**steps(rng, level).model_dump(), animal=rng.choice(sorted(_ANIMALS)))

    def solve(self, state: Facing) -> Iterator[Answer]:
        """All numbers of presses after which the head is where the finger points."""
        for presses in range(1, state.cycle):
            if math.isclose((state.start + presses * 360 / state.cycle - state.target) % 360, 0.0, abs_tol=1e-6):
                yield Stepped(presses=presses, cycle=state.cycle)

    def scene(self, state: Facing, language: Language) -> Scene:
        """The hand on its card, the animal on its dial."""
        animal = _ANIMALS[state.animal]
        skin, shade = _SKINS[state.variant % len(_SKINS)]
        cuff = _CUFFS[state.variant % len(_CUFFS)]
        return Scene(
            ask=self.ask(state, language, animal=animal.zh if language == "zh" else animal.en),
            art=panel(
                drawn_at(_hand(skin, shade, cuff), _MODEL, 0.92, state.target),
                drawn_at(animal.drawn, _TURNED, 1.35, 0.0),
                state.variant,
            ),
            height=HEIGHT,
            control=stepper(state),
            answer=Stepped(presses=state.meant, cycle=state.cycle),
        )


def drawn_at(drawing: str, spot: Spot, scale: float, degrees: float) -> str:
    """A drawing of 100 x 100 units around a place."""
    x, y = spot
    return (
        f'<g transform="translate({x:g} {y:g}) rotate({degrees:g}) scale({scale:g}) translate(-50 -50)">{drawing}</g>'
    )


def _hand(skin: str, shade: str, cuff: str) -> str:
    """A fist whose first finger points to the top."""
    fingers = "".join(
        f'<rect x="{x}" y="46" width="11" height="22" rx="5.5" fill="{skin}" stroke="{shade}" stroke-width="2"/>'
        for x in (51, 61, 71)
    )
    return (
        f'<rect x="36" y="82" width="36" height="17" rx="4" fill="{cuff}"/>'
        f'<rect x="35" y="44" width="44" height="42" rx="13" fill="{skin}"/>'
        f'<rect x="37" y="1" width="13" height="58" rx="6.5" fill="{skin}" stroke="{shade}" stroke-width="2"/>'
        f'<rect x="38.5" y="44" width="10" height="20" fill="{skin}"/>{fingers}'
        f'<rect x="30" y="56" width="34" height="13" rx="6.5" fill="{skin}" stroke="{shade}" stroke-width="2" '
        f'transform="rotate(24 36 62)"/><path d="M40 4h7v6q-3.5 3-7 0Z" fill="#ffffff" fill-opacity="0.55"/>'
    )


TYPES: tuple[PuzzleType[Any], ...] = (Step(), FaceHand())
