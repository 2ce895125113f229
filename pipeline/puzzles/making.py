"""Makes a dataset of puzzles: draws, proves, shows, solves, tries wrong answers, and writes what passes all of it.

Puzzles are worked on several at a time, but taken in the order of their numbers, so that the same order gives the same
rows. A folder that was left half way is finished from the rows it holds. Knows nothing of the command line.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from contextlib import aclosing
from functools import cache
from itertools import islice
from random import Random
from typing import NamedTuple

from pydantic import Field

from pipeline import manifest
from pipeline.actions import Click, Drag, LongPress, Model, Point
from pipeline.ahead import ahead, batches
from pipeline.dataset import Dataset
from pipeline.errors import ConfigError, EnvError, RunError
from pipeline.file_names import RUN_FILE
from pipeline.puzzle_rows import PuzzleMove, PuzzleRow
from pipeline.puzzles.answers import (
    RISE_ERROR,
    SHIFT_ERROR,
    Answer,
    Arranged,
    Clicked,
    Slid,
    Stepped,
    Tapped,
    Typed,
    Walked,
    around,
)
from pipeline.puzzles.catalog import TYPES
from pipeline.puzzles.page import On
from pipeline.puzzles.plan import Act, plan
from pipeline.puzzles.puzzle import LANGUAGES, LEVELS, Key, Level, Puzzle, PuzzleError
from pipeline.puzzles.replaying import Edges, Replayer, Shown, misplaced, off_at_first
from pipeline.puzzles.scene import HANDLE, WIDTH, Items, Scene, Sliders
from pipeline.puzzles.serving import puzzle_of, served
from pipeline.puzzles.wrong import wrong_plans
from pipeline.reaper import Scratch
from pipeline.records import Frame, RunRow, digest, now
from pipeline.sinks import Committer
from pipeline.storage import Address, storage_of
from pipeline.structs import Box, Param
from pipeline.words import Platform

_AT_ONCE = 4
"""Pages shown at the same time."""
_AHEAD = 12
"""Puzzles that are begun before the first of them is done: one that waits or is held long keeps no page idle."""
_PER_BATCH = 60
"""Puzzles whose rows are written together."""
_PER_BROWSER = 600
"""Puzzles after which the browser is replaced, for it keeps memory."""
_TRIES = 2
_WRONGS = 1
"""Wrong answers that each puzzle must refuse."""
_PHONES = 0.4
"""The part of puzzles that are shown on a phone's screen."""
_TEST_TYPES, _TEST_PUZZLES = 0.1, 0.05
"""Parts of the types of each kind, one at least, and of puzzles of the others, that are held out."""
_MOST_FAULTS = 0.05
"""The part of puzzles that may fail a check before the making is given up."""
_PLATFORMS: dict[On, Platform] = {"web": "web", "phone": "mobile"}


class Order(Model):
    """What is to be made; every type where none is named, every level where none is given."""

    puzzles: int
    seed: int
    types: list[str] = Field(default_factory=list)
    level: Level | None = None


class Made(NamedTuple):
    """How far it has come, and what was left out because it failed a check."""

    puzzles: int
    left_out: list[str]


class _Ticket(NamedTuple):
    """Which puzzle a number stands for."""

    number: int
    key: Key
    on: On


class _Tried(NamedTuple):
    """A puzzle that was shown and answered: its rows, or what is wrong with it."""

    key: Key
    rows: tuple[Frame, PuzzleRow] | None
    faults: Sequence[str] = ()


async def make(address: Address, order: Order, heard: Callable[[Made], None]) -> Made:
    """Make the dataset, or finish it; numbers that fail a check are left out and others take their place.

    Raises ConfigError when the folder holds another order's, RunError when too many fail.
    """
    run_id = digest("puzzles", order.model_dump_json())
    rows = _stored(address, run_id)
    made = Made(len(rows), [])
    if len(rows) >= order.puzzles:
        return made
    committer = Committer.claim(address, run_id, order.model_dump())
    if not rows:
        committer.record([_run_row(order)])
    with Scratch("puzzles") as scratch:
        async with served(_unheard) as site, Replayer(scratch, site, _AT_ONCE) as replayer:
            made = await _fill(committer, replayer, order, rows, heard)
    committer.finish()
    return made


def _unheard(_: Key, __: bool) -> None:
    """Verdicts are read from the page."""


def _stored(address: Address, run_id: str) -> Sequence[PuzzleRow]:
    storage = storage_of(address)
    if storage.size(RUN_FILE) is None:
        return []
    if manifest.read_run(storage).run_id != run_id:
        raise ConfigError(f"{storage.address} holds something else: give another --out, or the same options again")
    return Dataset(storage).rows(PuzzleRow)


async def _fill(
    committer: Committer, replayer: Replayer, order: Order, rows: Sequence[PuzzleRow], heard: Callable[[Made], None]
) -> Made:
    """Write rows, a batch of puzzles at a time, until there are enough."""
    number, made = max((row.number for row in rows), default=-1) + 1, Made(len(rows), [])
    while made.puzzles < order.puzzles:
        numbers = range(number, number + min(_PER_BROWSER, order.puzzles - made.puzzles))
        work = (_tried(replayer, _ticket(order, one)) for one in numbers)
        async with aclosing(ahead(work, _AHEAD)) as all_tried:
            async for batch in batches(all_tried, _PER_BATCH):
                made = _write(committer, batch, made)
                heard(made)
        number = numbers.stop
        await replayer.renew()
    return made


def _write(committer: Committer, batch: Sequence[_Tried], made: Made) -> Made:
    """Write the puzzles that passed; raises RunError when too many do not."""
    passed = [tried.rows for tried in batch if tried.rows is not None]
    committer.record([row for rows in passed for row in rows])
    faults = [f"{one.key.type_name} seed={one.key.seed}: {'; '.join(one.faults)}" for one in batch if one.faults]
    count, left_out = made.puzzles + len(passed), made.left_out + faults
    if len(left_out) > 3 + _MOST_FAULTS * (count + len(left_out)):
        raise RunError(f"{len(left_out)} of {count + len(left_out)} puzzles failed a check, the last: {left_out[-1]}")
    return Made(count, left_out)


def _ticket(order: Order, number: int) -> _Ticket:
    """All types come up equally often, in another order each time around."""
    names = sorted(order.types or TYPES)
    turn, place = divmod(number, len(names))
    Random(f"types {order.seed} {turn}").shuffle(names)
    rng = Random(f"ticket {order.seed} {number}")
    level = rng.choice(LEVELS) if order.level is None else order.level
    key = Key(names[place], rng.randrange(2**31), level, rng.choice(LANGUAGES))
    return _Ticket(number, key, "phone" if rng.random() < _PHONES else "web")


async def _tried(replayer: Replayer, ticket: _Ticket) -> _Tried:
    for _ in range(_TRIES - 1):
        try:
            return await _try(replayer, ticket)
        except EnvError:  # a page was lost: another one will do
            continue
    return await _try(replayer, ticket)


async def _try(replayer: Replayer, ticket: _Ticket) -> _Tried:
    try:
        puzzle = puzzle_of(ticket.key)
    except PuzzleError as error:
        return _Tried(ticket.key, None, [str(error)])
    scene, refused = puzzle.scene, 0
    acts = plan(scene, scene.answer)
    async with replayer.page(ticket.on) as page:
        await page.show(ticket.key)
        shown = await page.see(off_at_first(scene))
        faults = misplaced(scene, shown)
        if not await page.give(shown, acts):
            faults.append("its answer is refused")
        for wrong in islice(wrong_plans(scene, Random(f"wrong {ticket.key}")), _WRONGS):
            await page.again()
            if await page.give(shown, wrong):
                faults.append("a wrong answer is taken")
            refused += 1
    row = _row(ticket, puzzle, shown, acts, refused)
    faults += _off_target(shown, row.moves)
    return _Tried(ticket.key, None if faults else (shown.frame, row), faults)


def _row(ticket: _Ticket, puzzle: Puzzle, shown: Shown, acts: Sequence[Act], refused: int) -> PuzzleRow:
    key, answer = ticket.key, puzzle.scene.answer
    return PuzzleRow(
        row_id=digest("puzzle", *map(str, key), ticket.on),
        number=ticket.number,
        type=key.type_name,
        kind=puzzle.kind,
        seed=key.seed,
        level=key.level,
        language=key.language,
        platform=_PLATFORMS[ticket.on],
        width=shown.frame.width,
        height=shown.frame.height,
        device_ratio=shown.ratio,
        frame_sha256=shown.frame.sha256,
        instruction=puzzle.scene.ask,
        moves=[_move(shown, puzzle.scene, act) for act in acts],
        ordered=_ordered(answer),
        tolerance=SHIFT_ERROR if isinstance(answer, Slid) else None,
        answer=answer.model_dump_json(),
        state=puzzle.state.model_dump_json(),
        refused=refused,
        split=split_of(key),
    )


def _off_target(shown: Shown, moves: Sequence[PuzzleMove]) -> list[str]:
    """Moves whose points do not lie where the row would say that they must."""
    places = ((at, *place) for at, move in enumerate(moves) for place in _places(move))
    wrong = (at for at, point, box in places if point and box and not box.contains(shown.pixel(point)))
    return [f"move {at} lies outside of its target" for at in wrong]


def _places(move: PuzzleMove) -> tuple[tuple[Point | None, Box | None], ...]:
    return (move.point, move.target), (move.end, move.end_target)


def _move(shown: Shown, scene: Scene, act: Act) -> PuzzleMove:
    action = shown.action(act)
    point, end = _points(action)
    return PuzzleMove(
        type=act.action,
        point=point,
        end=end,
        content=act.content,
        target=_target(shown, scene, act),
        end_target=_end_target(shown, scene, act),
    )


def _points(action: object) -> tuple[Point | None, Point | None]:
    match action:
        case Drag():
            return action.start, action.end
        case Click() | LongPress():
            return action.point, None
        case _:
            return None, None


def _target(shown: Shown, scene: Scene, act: Act) -> Box | None:
    """Where the point must lie; a part that was moved before is where it was then, so it is not said."""
    if not act.control or act.action == "Type":
        return None
    if act.control != "art":
        return shown.pixels(shown.controls[act.control])
    edges = _judged(shown, scene, act.aim) or shown.parts.get(act.aim or "")
    return _box(shown, edges, shown.place(act.control, act.at))


def _end_target(shown: Shown, scene: Scene, act: Act) -> Box | None:
    """Where a drag must end: in a mark, near the middle of an item, or as near to a handle's place as is tolerated.

    A handle that is drawn beyond the end of its track stays at the end: where that is right, so is all beyond it.
    """
    if act.to is None:
        return None
    if act.control == "art":
        edges = _judged(shown, scene, act.end_aim)
        if isinstance(scene.control, Items) and scene.control.swap:
            spot = (act.to.across * WIDTH, act.to.down * scene.height)
            edges = shown.edges(around(spot, 2 * scene.control.radius))
        return _box(shown, edges, shown.place(act.control, act.to))
    assert isinstance(scene.answer, Slid) and isinstance(scene.control, Sliders)
    left, top, right, bottom = shown.controls[act.control]
    unit = (right - left) / HANDLE
    low, high = scene.answer.range_of(act.control)
    middle, rise, level = (left + right) / 2, RISE_ERROR * unit, (top + bottom) / 2
    at_most = shown.frame.width / shown.ratio if high >= scene.control.reach_of(act.control) else middle + high * unit
    return shown.pixels((middle + low * unit, level - rise, at_most, level + rise))


def _judged(shown: Shown, scene: Scene, mark: str | None) -> Edges | None:
    """The box of the region that the answer is judged by, which is not always as large as what is drawn."""
    region = scene.marks.get(mark or "")
    return shown.edges(region) if region is not None else None


def _box(shown: Shown, edges: Edges | None, point: Point) -> Box | None:
    """In pixels; nothing where the point is not in it, for what it was around has been moved by then."""
    box = shown.pixels(edges) if edges else None
    return box if box is not None and box.contains(shown.pixel(point)) else None


def _ordered(answer: Answer) -> bool:
    """Whether the order of the moves matters: a field is clicked before it is typed into, a box ticked first."""
    match answer:
        case Clicked(ordered=ordered):
            return ordered
        case Typed() | Arranged() | Stepped() | Tapped() | Walked():
            return True
        case _:
            return False


def split_of(key: Key) -> str:
    """`test` for held-out types and for some puzzles of the others; else `train`."""
    held_out = key.type_name in held_out_types() or _share("puzzle", repr(tuple(key))) < _TEST_PUZZLES
    return "test" if held_out else "train"


@cache
def held_out_types() -> frozenset[str]:
    """Types of every kind, drawn by their names."""
    by_kind: dict[str, list[str]] = {}
    for name, puzzle_type in TYPES.items():
        by_kind.setdefault(puzzle_type.kind, []).append(name)
    drawn = (sorted(names, key=lambda name: _share("type", name)) for names in by_kind.values())
    return frozenset(name for names in drawn for name in names[: max(1, round(_TEST_TYPES * len(names)))])


def _share(kind: str, name: str) -> float:
    return int.from_bytes(hashlib.sha256(f"puzzle split {kind} {name}".encode()).digest()[:8], "big") / 2**64


def _run_row(order: Order) -> RunRow:
    config = [Param(name=name, value=str(value)) for name, value in sorted(order.model_dump().items())]
    return RunRow(started_at=now(), config=config, commit=None, versions=[], prompt_sha256s=[])
