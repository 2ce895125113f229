"""Makes a dataset of labelled screens: draws, shows, asks, chooses and writes, until there are enough rows.

Screens are shown several at a time, but taken in the order of their numbers, so that the same seed gives the same rows.
A folder that was left half way is finished from the rows it holds. Knows nothing of the command line.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence
from contextlib import aclosing
from typing import NamedTuple

from pipeline import manifest
from pipeline.actions import Model, Pixel, Point, canonical_point, device_pixel
from pipeline.ahead import ahead
from pipeline.dataset import Dataset
from pipeline.errors import ConfigError, RunError
from pipeline.file_names import RUN_FILE
from pipeline.grounding import Grounding, GroundingTarget
from pipeline.reaper import Scratch
from pipeline.records import RunRow, digest, now
from pipeline.sinks import Committer
from pipeline.storage import Address, storage_of
from pipeline.structs import Box, Param
from pipeline.synth.asking import Scene
from pipeline.synth.choosing import Choice, Chooser
from pipeline.synth.drawing import Screen, draw
from pipeline.synth.looks import Platform as ScreenPlatform
from pipeline.synth.recording import Recorder, Sighting, fingerprint, painted
from pipeline.synth.wording import LANGUAGES
from pipeline.words import Platform

_AT_ONCE = 4
"""Pages shown at the same time."""
_PER_BATCH = 48
"""Screens whose rows are written together."""
_PER_BROWSER = 240
"""Screens after which the browser is replaced, for it keeps memory; a multiple of a batch."""
_BARREN = 60
"""Screens in a row that give nothing: then nothing new is to be had."""
_OTHER_LANGUAGE = 0.2
"""The part of screens that are asked about in the other language."""
_TEST_FAMILIES, _TEST_SCREENS = 0.1, 0.05
"""Parts of families, and of screens of the others, that are held out."""

_PLATFORMS: Mapping[ScreenPlatform, Platform] = {"desktop": "desktop", "web": "web", "phone": "mobile"}


class Order(Model):
    """What is to be made."""

    rows: int
    seed: int
    written: str = ""
    """Stands for the screens that a model wrote; see `order_of`."""


class Made(NamedTuple):
    """How far it has come."""

    rows: int
    screens: int


class _Page(NamedTuple):
    """A screen that was shown."""

    screen: Screen
    sighting: Sighting


def order_of(rows: int, seed: int, written: Sequence[Screen]) -> Order:
    """An order for so many rows, of these screens first."""
    return Order(rows=rows, seed=seed, written=digest(*(one.screen_id for one in written)) if written else "")


async def make(address: Address, order: Order, heard: Callable[[Made], None], written: Sequence[Screen] = ()) -> Made:
    """Make the dataset, or finish it; screens that a model wrote come first, then drawn ones.

    Raises ConfigError when the folder holds another order's, RunError when no more rows can be found.
    """
    run_id = digest("grounding", str(order.rows), str(order.seed), order.written)
    chooser, screens = Chooser(order.rows), _stored(address, run_id)
    for row in screens.rows:
        chooser.remember(row)
    made = Made(chooser.chosen, screens.known)
    if chooser.chosen >= order.rows:
        return made
    committer = Committer.claim(address, run_id, order.model_dump())
    if not screens.rows:
        committer.record([_run_row(order)])
    with Scratch("synth") as scratch:
        async with Recorder(scratch) as recorder:
            made = await _fill(committer, recorder, order, chooser, screens, heard, written)
    committer.finish()
    if made.rows < order.rows:
        raise RunError(f"{made.rows} rows of {order.rows}: {_BARREN} screens in a row gave nothing new")
    return made


class _Stored(NamedTuple):
    """What a folder holds already."""

    rows: Sequence[Grounding]
    next_number: int
    known: int


def _stored(address: Address, run_id: str) -> _Stored:
    storage = storage_of(address)
    if storage.size(RUN_FILE) is None:
        return _Stored([], 0, 0)
    if manifest.read_run(storage).run_id != run_id:
        raise ConfigError(f"{storage.address} holds something else: give another --out, or the same --n and --seed")
    rows = Dataset(storage).rows(Grounding)
    numbers = {row.screen_number for row in rows}
    return _Stored(rows, max(numbers, default=-1) + 1, len(numbers))


async def _fill(
    committer: Committer,
    recorder: Recorder,
    order: Order,
    chooser: Chooser,
    stored: _Stored,
    heard: Callable[[Made], None],
    written: Sequence[Screen],
) -> Made:
    """Write rows, a batch of screens at a time, until there are enough."""
    number, screens, barren = stored.next_number, stored.known, 0
    while chooser.chosen < order.rows and barren < _BARREN:
        batch: list[Model] = []
        screens_next = (_screen(order.seed, at, written) for at in range(number, number + _PER_BATCH))
        async with aclosing(ahead((_show(recorder, screen) for screen in screens_next), _AT_ONCE)) as pages:
            async for page in pages:
                rows = _rows(page, order, chooser)
                barren = 0 if rows else barren + 1
                if rows:
                    batch += [page.sighting.frame, *rows]
                    screens += 1
                if chooser.chosen >= order.rows:
                    break
        number += _PER_BATCH
        committer.record(batch)
        heard(Made(chooser.chosen, screens))
        if number % _PER_BROWSER < _PER_BATCH:
            await recorder.renew()
    return Made(chooser.chosen, screens)


def _screen(seed: int, number: int, written: Sequence[Screen]) -> Screen:
    """The screen of this number."""
    if number < len(written):
        return written[number]._replace(number=number)
    return draw(seed, number - len(written))._replace(number=number)


async def _show(recorder: Recorder, screen: Screen) -> _Page:
    return _Page(screen, await recorder.see(screen))


def _rows(page: _Page, order: Order, chooser: Chooser) -> Sequence[Grounding]:
    screen, sighting = page
    rng = random.Random(f"ask {screen.screen_id}")
    language = screen.language
    if rng.random() < _OTHER_LANGUAGE:
        language = next(other for other in LANGUAGES if other != language)
    usable = [
        element
        for element in sighting.shown.elements
        if element.whole and _point(sighting, sighting.pixels_of(element.box)) and painted(sighting, element.box)
    ]
    scene = Scene(sighting.shown, usable, language, rng)
    chosen = chooser.choose(scene, lambda box: fingerprint(sighting, box), order.rows - chooser.chosen)
    return [_row(page, order, choice) for choice in chosen]


def _row(page: _Page, order: Order, choice: Choice) -> Grounding:
    screen, sighting = page
    question, element = choice.question, choice.question.target
    box = sighting.pixels_of(element.box) if element else None
    target = (
        GroundingTarget(role=element.role, name=element.name, text=element.text, box=box) if element and box else None
    )
    return Grounding(
        row_id=digest(
            "grounding", screen.screen_id, question.kind, question.instruction, choice.label_hash, choice.phash
        ),
        screen_id=screen.screen_id,
        screen_number=screen.number,
        family=screen.family,
        platform=_PLATFORMS[screen.look.platform],
        shell=screen.look.shell,
        theme=screen.look.theme,
        language=screen.language,
        width=sighting.frame.width,
        height=sighting.frame.height,
        device_ratio=screen.look.ratio,
        frame_sha256=sighting.frame.sha256,
        instruction=question.instruction,
        instruction_language=question.language,
        kind=question.kind,
        target=target,
        point=_point(sighting, box) if box else None,
        refusal=target is None,
        seed=order.seed,
        split=split_of(screen.family, screen.screen_id),
        label_hash=choice.label_hash,
        phash=choice.phash,
    )


def _point(sighting: Sighting, box: Box) -> Point | None:
    """The canonical point in the middle of a box; null when the pixel it means is outside, so small is the box."""
    width, height = sighting.frame.width, sighting.frame.height
    middle = Pixel(x=(box.left + box.right) // 2, y=(box.top + box.bottom) // 2)
    point = canonical_point(middle, width, height)
    at = device_pixel(point, width, height)
    return point if box.left <= at.x < box.right and box.top <= at.y < box.bottom else None


def split_of(family: str, screen_id: str) -> str:
    """`test` for held-out families and for some screens of the others, all rows of a screen alike; else `train`."""
    held_out = _share("family", family) < _TEST_FAMILIES or _share("screen", screen_id) < _TEST_SCREENS
    return "test" if held_out else "train"


def _share(kind: str, name: str) -> float:
    return int(digest("grounding split", kind, name), 16) / 16**24


def _run_row(order: Order) -> RunRow:
    config = [Param(name=name, value=str(value)) for name, value in sorted(order.model_dump().items())]
    return RunRow(started_at=now(), config=config, commit=None, versions=[], prompt_sha256s=[])
