"""Elements, records and screens for tests of synthetic data."""

from __future__ import annotations

import asyncio
import io
import random
from collections.abc import Sequence
from typing import Any

from PIL import Image as Pictures

from pipeline.reaper import Scratch
from pipeline.synth.asking import Scene
from pipeline.synth.drawing import Screen
from pipeline.synth.elements import Element, Entry, Shown
from pipeline.synth.recording import Pixels, Recorder, Sighting


def element(name: str, place: tuple[float, float] = (0, 0), **given: Any) -> Element:
    """A button of this name, 80 by 20, all of which can be seen, unless something else is given."""
    left, top = place
    box = given.pop("box", (left, top, left + 80, top + 20))
    plain = {
        "kind": "control",
        "role": "button",
        "text": name,
        "states": [],
        "icon": "",
        "act": "",
        "colour": "",
        "seen": box,
        "shown": True,
        "hits": [True] * 9,
        "record": -1,
    }
    return Element.model_validate({**plain, "name": name, "box": box, **given})


def entry(title: str, top: float, **given: Any) -> Entry:
    """A parcel of this title in a list; its text is its title and its facts."""
    facts = given.pop("facts", {})
    box = (0, top, 400, top + 30)
    text = " ".join([title, *map(str, facts.values())])
    plain = {"en": "parcel", "zh": "包裹", "by": "", "text": text, "seen": box, "group": 0}
    return Entry.model_validate({**plain, "title": title, "box": box, "facts": facts, **given})


def shown(elements: Sequence[Element], records: Sequence[Entry] = ()) -> Shown:
    """A page with these."""
    return Shown(title="", width=800, height=600, ratio=1, elements=list(elements), records=list(records))


def scene(page: Shown, language: str = "en", seed: int = 1) -> Scene:
    """The page with all that is whole in it."""
    return Scene(page, [one for one in page.elements if one.whole], language, random.Random(seed))


def png_of(pixels: Pixels) -> bytes:
    """The picture of these pixels."""
    held = io.BytesIO()
    Pictures.fromarray(pixels).save(held, "PNG")
    return held.getvalue()


def recorded(screens: Sequence[Screen]) -> list[Sighting]:
    """What real Chromium sees of these screens."""

    async def see() -> list[Sighting]:
        with Scratch("synth-test") as scratch:
            async with Recorder(scratch) as recorder:
                return [await recorder.see(screen) for screen in screens]

    return asyncio.run(see())
