"""Wrong answers, near the right one: what a puzzle must refuse.

Each is a plan for the page, made as the right one is, of another answer or with the places of marks moved. Knows
nothing of types of puzzles.
"""

from __future__ import annotations

from collections.abc import Iterator
from random import Random

from pipeline.puzzles.answers import (
    Answer,
    Arranged,
    Clicked,
    Dropped,
    Joined,
    Pointed,
    Region,
    Slid,
    Spot,
    Stepped,
    Tapped,
    Typed,
    Walked,
)
from pipeline.puzzles.plan import Act, plan
from pipeline.puzzles.scene import HANDLE, WIDTH, Buttons, Pointer, Scene, Sliders

_ROUNDED = 2.0
"""Units by which a place that is missed lies outside of every mark, for canonical points are rounded."""
_BESIDE = (2.2, 6.0)
"""Units beyond what is accepted at which a wrong shift is near: just more than what canonical points round off."""
_FAR_OFF = 120.0
"""Units beyond what is accepted that other wrong shifts go at most."""
_TURNED_BESIDE = (2.5, 6.0)
"""Degrees beyond its tolerance at which a wrong hand is near: just more than what canonical points round off."""
_TRIES = 60
_OTHER = "xk7"
"""Letters that a text is spoilt with."""


def wrong_plans(scene: Scene, rng: Random) -> Iterator[list[Act]]:
    """Wrong ways to answer, without end; none for a scene that has no wrong way."""
    for _ in range(_TRIES):
        found = _wrong(scene, rng)
        if found is not None:
            yield found
            break
    else:
        return
    while True:
        found = _wrong(scene, rng)
        if found is not None:
            yield found


def _wrong(scene: Scene, rng: Random) -> list[Act] | None:
    """A wrong plan; nothing when the draw came to the right answer, or to one that cannot be given."""
    if isinstance(scene.answer, Clicked | Dropped) and rng.random() < 0.3:
        return _missing(scene, rng)
    other = _other(scene, rng)
    return plan(scene, other) if other is not None and other != scene.answer else None


def _missing(scene: Scene, rng: Random) -> list[Act] | None:
    """The right answer, but one of its places is missed: it goes where no mark is."""
    answer = scene.answer
    names = answer.marks if isinstance(answer, Clicked) else sorted(getattr(answer, "rests", {}).values())
    name = rng.choice(names)
    spot = (rng.uniform(4, WIDTH - 4), rng.uniform(4, scene.height - 4))
    x, y = spot
    near = [spot, (x - _ROUNDED, y), (x + _ROUNDED, y), (x, y - _ROUNDED), (x, y + _ROUNDED)]
    if any(region.holds(one) for region in scene.marks.values() for one in near):
        return None
    marks = scene.marks | {name: _moved(scene.marks[name], spot)}
    return plan(scene.model_copy(update={"marks": marks}), answer)


def _moved(region: Region, middle: Spot) -> Region:
    x, y = region.centre
    return Region(corners=[(left + middle[0] - x, top + middle[1] - y) for left, top in region.corners])


def _other(scene: Scene, rng: Random) -> Answer | None:
    match scene.answer:
        case Typed() as answer:
            return _misspelt(answer, rng)
        case Clicked() as answer:
            return _misclicked(answer, scene, rng)
        case Slid() as answer:
            return _slipped(answer, scene, rng)
        case Pointed() as answer:
            beyond = rng.choice((rng.uniform(*_TURNED_BESIDE), rng.uniform(_TURNED_BESIDE[1], 170)))
            off = (answer.tolerance + beyond) * rng.choice((-1, 1))
            return answer.model_copy(update={"degrees": (answer.degrees + off) % 360})
        case Stepped() as answer:
            presses = rng.randint(1, answer.cycle - 1)
            return answer.model_copy(update={"presses": presses}) if presses % answer.cycle != answer.presses else None
        case _:
            return _misplaced(scene, rng)


def _misplaced(scene: Scene, rng: Random) -> Answer | None:
    match scene.answer:
        case Dropped(rests=rests):
            item = rng.choice(sorted(rests))
            return Dropped(rests=rests | {item: rng.choice(sorted(scene.marks))})
        case Arranged(order=order):
            other = list(order)
            one, two = rng.sample(range(len(order)), 2)
            other[one], other[two] = other[two], other[one]
            return Arranged(order=other)
        case Joined(pairs=pairs):
            return _crossed(pairs, rng)
        case Walked() as answer:
            short = answer.way[: rng.randint(2, len(answer.way) - 1)] if len(answer.way) > 2 else answer.way
            return answer.model_copy(update={"way": rng.choice((short, [answer.way[0], answer.way[-1]]))})
        case Tapped() as answer:
            return _mistapped(answer, scene, rng)
        case _:
            return None


def _misspelt(answer: Typed, rng: Random) -> Typed | None:
    text = answer.accepted[0]
    at = rng.randrange(len(text))
    spoilt = rng.choice(
        (text[:at] + rng.choice(_OTHER) + text[at + 1 :], text + rng.choice(_OTHER), text[:at] + text[at + 1 :])
    )
    return Typed(accepted=[spoilt]) if spoilt.strip() and spoilt.strip() not in answer.accepted else None


def _misclicked(answer: Clicked, scene: Scene, rng: Random) -> Clicked | None:
    """One mark more, less or another; or two in the other order, where it matters."""
    marks, others = list(answer.marks), sorted(scene.marks.keys() - set(answer.marks))
    single = isinstance(scene.control, Pointer) and scene.control.single
    match rng.choice(("other",) if single else ("other", "more", "less", "order")):
        case "other" if others:
            marks[rng.randrange(len(marks))] = rng.choice(others)
        case "more" if others:
            marks.insert(rng.randint(0, len(marks)), rng.choice(others))
        case "less" if len(marks) > 1:
            del marks[rng.randrange(len(marks))]
        case "order" if answer.ordered and len(marks) > 1:
            one, two = rng.sample(range(len(marks)), 2)
            marks[one], marks[two] = marks[two], marks[one]
        case _:
            return None
    return answer.model_copy(update={"marks": marks})


def _slipped(answer: Slid, scene: Scene, rng: Random) -> Slid | None:
    assert isinstance(scene.control, Sliders)
    name = rng.choice(sorted(answer.shifts))
    reach = scene.control.reach_of(name)
    low, high = answer.range_of(name)
    beyond = rng.choice((rng.uniform(*_BESIDE), rng.uniform(_BESIDE[1], _FAR_OFF)))
    shift = rng.choice((low - beyond, high + beyond))
    return Slid(shifts=answer.shifts | {name: shift}) if HANDLE / 4 < shift <= reach else None


def _crossed(pairs: list[tuple[str, str]], rng: Random) -> Joined | None:
    """Two lines that end at each other's mark, or one line less."""
    if len(pairs) < 2:
        return None
    one, two = rng.sample(range(len(pairs)), 2)
    crossed = list(pairs)
    crossed[one], crossed[two] = (pairs[one][0], pairs[two][1]), (pairs[two][0], pairs[one][1])
    return Joined(pairs=rng.choice((crossed, pairs[:-1])))


def _mistapped(answer: Tapped, scene: Scene, rng: Random) -> Tapped | None:
    """Another last button, a box left out, or not held for long."""
    assert isinstance(scene.control, Buttons)
    ends = sorted(one.name for one in scene.control.buttons if one.ends and not one.wait)
    others = [name for name in ends if name != answer.taps[-1]]
    match rng.choice(("other", "less", "short")):
        case "other" if others:
            return Tapped(taps=[*answer.taps[:-1], rng.choice(others)])
        case "less" if len(answer.taps) > 1:
            return Tapped(taps=answer.taps[1:], held=answer.held)
        case "short" if answer.held:
            return Tapped(taps=answer.taps)
        case _:
            return None
