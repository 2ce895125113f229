"""Puzzles whose slider joins a picture that is cut in two, or brings a key to its lock."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Sequence
from random import Random
from typing import Any, ClassVar, NamedTuple

from pipeline.actions import Model
from pipeline.puzzles.answers import Answer, Reach
from pipeline.puzzles.art import part
from pipeline.puzzles.backdrops import landscape
from pipeline.puzzles.icons import PAINTS, icon, icon_names
from pipeline.puzzles.kinds.slider_puzzle import (
    FITS,
    LONGEST,
    REACH,
    SHORTEST,
    Curve,
    joining,
    slid,
    straight,
    value,
)
from pipeline.puzzles.puzzle import Language, Level, PuzzleType, State, StateT
from pipeline.puzzles.scene import HANDLE, WIDTH, Handle, Motion, Scene, Sliders
from pipeline.words import PuzzleKind


class Drawn(NamedTuple):
    """A picture, its height, and what in it follows the handle."""

    art: str
    height: float
    motion: Motion


class SliderPuzzle(PuzzleType[StateT]):
    """One handle under a picture."""

    kind: ClassVar[PuzzleKind] = "slider_puzzle"
    reach: ClassVar[int] = REACH

    @abstractmethod
    def fits(self, state: StateT, shift: int) -> bool:
        """Whether a shift is exactly right."""

    @abstractmethod
    def right(self, state: StateT, shift: int) -> Reach:
        """The shifts around an exact one at which nobody sees that it is missed."""

    def solve(self, state: StateT) -> Iterator[Answer]:
        """Every whole shift that is exactly right."""
        return (
            slid([shift], [self.right(state, shift)]) for shift in range(1, self.reach + 1) if self.fits(state, shift)
        )

    def shown(self, state: StateT, language: Language, drawn: Drawn, meant: int) -> Scene:
        """A scene with one handle that moves one part."""
        return Scene(
            ask=self.ask(state, language),
            art=drawn.art,
            height=drawn.height,
            control=Sliders(handles=[Handle(reach=self.reach, motions=[drawn.motion])]),
            answer=slid([meant], [self.right(state, meant)]),
        )


class Thing(Model):
    """An icon across the seam of a picture that is cut in two: its middle, from the left, and its paint."""

    name: str
    x: float
    paint: int


class Halves(State):
    """Things whose upper halves stand still, and how far to the left their lower halves begin."""

    uppers: list[Thing]
    lowers: list[Thing]
    curve: Curve
    meant: int


_SEAM, _TALL = 92.0, 180.0


class AlignHalves(SliderPuzzle[Halves]):
    """Slide the lower half of a picture until all things are whole."""

    name: ClassVar[str] = "sl_align_halves"

    def draw(self, rng: Random, level: Level, language: Language) -> Halves:
        """Two to four different things, which move a little slower than the handle where it is hard."""
        names = rng.sample(icon_names("animal", "fruit", "vehicle", "building"), 1 + level)
        room = WIDTH / len(names)
        curve = straight(round(rng.uniform(1.0 - 0.1 * (level - 1), 1.0), 2))
        shift = rng.randint(SHORTEST, LONGEST)
        uppers = [
            Thing(
                name=name,
                x=round(room * (place + 0.5) + rng.uniform(-1, 1) * (room / 2 - 38), 1),
                paint=rng.randrange(len(PAINTS)),
            )
            for place, name in enumerate(names)
        ]
        off = value(curve, shift)
        lowers = [one.model_copy(update={"x": round(one.x - off, 2)}) for one in uppers]
        return Halves(variant=rng.randrange(10_000), uppers=uppers, lowers=lowers, curve=curve, meant=shift)

    def fits(self, state: Halves, shift: int) -> bool:
        """Whether every upper half stands on the lower half of the same thing."""
        off = value(state.curve, shift)
        return all(
            any(_same(one, other) and abs(one.x - other.x - off) <= FITS for other in state.lowers)
            for one in state.uppers
        )

    def right(self, state: Halves, shift: int) -> Reach:
        """The shifts at which no half is seen to stand beside the other."""
        return joining(state.curve, shift)

    def scene(self, state: Halves, language: Language) -> Scene:
        """Both halves of the same landscape, each in a window of its own."""
        ground = landscape(state.variant, _TALL, -REACH, WIDTH + REACH)
        moved = state.uppers[0].x - state.lowers[0].x
        upper = ground + _standing(state.uppers)
        lower = f'<g transform="translate({-moved:.2f} 0)">{ground}</g>{_standing(state.lowers)}'
        art = (
            _window(0, _SEAM, upper)
            + _window(_SEAM, _TALL - _SEAM, part("lower", lower))
            + f'<path stroke="#fff" stroke-width="1.2" stroke-dasharray="5 4" d="M0 {_SEAM:g}H{WIDTH:g}"/>'
        )
        motion = Motion(part="lower", how="across", curve=state.curve)
        return self.shown(state, language, Drawn(art, _TALL, motion), state.meant)


def _same(one: Thing, other: Thing) -> bool:
    return (one.name, one.paint) == (other.name, other.paint)


def _window(top: float, height: float, inside: str) -> str:
    box = f'y="{top:g}" width="{WIDTH:g}" height="{height:g}" viewBox="0 {top:g} {WIDTH:g} {height:g}"'
    return f"<svg {box}>{inside}</svg>"


def _standing(things: Sequence[Thing]) -> str:
    discs = "".join(f'<circle cx="{one.x:g}" cy="{_SEAM:g}" r="44" fill="#fff" fill-opacity="0.8"/>' for one in things)
    return discs + "".join(icon(one.name, (one.x, _SEAM), 66, PAINTS[one.paint]) for one in things)


_SHORT = 2.5
"""Units before the end of a track that are still all the way."""


class Lock(State):
    """A key on its way to a lock, past gates that are no locks."""

    gates: list[float]
    lock: float
    key: float
    """Where the tip of the key begins."""


class Unlock(SliderPuzzle[Lock]):
    """Slide to the far end of the track."""

    name: ClassVar[str] = "sl_unlock"
    reach: ClassVar[int] = int(WIDTH - HANDLE)

    def draw(self, rng: Random, level: Level, language: Language) -> Lock:
        """None to two gates on the way."""
        gates = [round(rng.uniform(100, 130) + 80 * place, 1) for place in range(level - 1)]
        return Lock(variant=rng.randrange(10_000), gates=gates, lock=250.0, key=round(rng.uniform(66, 74), 1))

    def fits(self, state: Lock, shift: int) -> bool:
        """Whether the key is in the lock as far as it goes."""
        return abs(state.key + value(self._curve(state), shift) - state.lock) <= FITS

    def right(self, state: Lock, shift: int) -> Reach:
        """The end of the track, as exactly as canonical points can be drawn to it."""
        return shift - _SHORT, float(self.reach)

    def _curve(self, state: Lock) -> Curve:
        return [(0.0, 0.0), (float(self.reach), round(state.lock - state.key, 1))]

    def scene(self, state: Lock, language: Language) -> Scene:
        """A key before a padlock."""
        rng = Random(f"lock {state.variant}")
        paint = rng.choice(PAINTS)
        middle = 70.0
        rail = f'<rect x="16" y="{middle - 3:g}" width="240" height="6" rx="3" fill="#fff" fill-opacity="0.75"/>'
        gates = "".join(
            f'<path d="M{x:g} {middle - 34:g}V{middle + 34:g}" stroke="#475569" stroke-width="5" '
            'stroke-linecap="round" stroke-dasharray="1 9"/>'
            for x in state.gates
        )
        lock = (
            f'<path fill="none" stroke="#475569" stroke-width="9" d="M252 {middle - 12:g}V{middle - 26:g}'
            f'a19 19 0 0 1 38 0V{middle - 12:g}"/>'
            f'<rect x="234" y="{middle - 16:g}" width="74" height="58" rx="9" fill="{paint.main}"/>'
            f'<path fill="#1f2937" d="M234 {middle - 7:g}H262a7 7 0 0 1 0 14H234Z"/>'
        )
        x = state.key
        key = (
            f'<g fill="#eab308" stroke="#854d0e" stroke-width="1.5"><path fill-rule="evenodd" d="M{x - 50:g} {middle:g}'
            f'a13 13 0 1 1 26 0a13 13 0 1 1 -26 0ZM{x - 44:g} {middle:g}a7 7 0 1 0 14 0a7 7 0 1 0 -14 0Z"/>'
            f'<path d="M{x - 25:g} {middle - 3:g}H{x:g}V{middle + 8:g}H{x - 5:g}V{middle + 3:g}'
            f"H{x - 10:g}V{middle + 7:g}"
            f'H{x - 14:g}V{middle + 3:g}H{x - 25:g}Z"/></g>'
        )
        art = landscape(state.variant, 140.0) + rail + gates + lock + part("key", key)
        motion = Motion(part="key", how="across", curve=self._curve(state))
        return self.shown(state, language, Drawn(art, 140.0, motion), self.reach)


TYPES: tuple[PuzzleType[Any], ...] = (AlignHalves(), Unlock())
