"""Shows pages in Chromium and reads, in one go, what stands where; and takes the picture.

Several pages may be shown at the same time. What cannot be seen in the picture, whatever the page says of itself, is
told by `painted`. Knows nothing of instructions.
"""

from __future__ import annotations

import asyncio
import io
from functools import cache
from importlib import resources
from typing import Any, NamedTuple

import numpy as np
from PIL import Image as Pictures
from playwright.async_api import BrowserContext
from playwright.async_api import Error as PlaywrightError

from pipeline.envs.browser import Browser, Screen
from pipeline.errors import EnvError
from pipeline.frames import frame_of
from pipeline.reaper import Scratch
from pipeline.records import Frame
from pipeline.structs import Box
from pipeline.synth import drawing
from pipeline.synth.elements import Edges, Shown, shown_of

_SECONDS = 60.0
_TRIES = 2
_RIM = 3
"""Pixels around a box that it is compared with."""
_SPREAD = 3.0
"""Shades by which pixels of a painted box differ from each other, or from its rim."""


class Sighting(NamedTuple):
    """What a page showed, and its picture."""

    shown: Shown
    frame: Frame
    pixels: np.ndarray[Any, np.dtype[np.uint8]]

    def pixels_of(self, edges: Edges) -> Box:
        """A box of the page in pixels of the picture, rounded inwards."""
        left, top, right, bottom = (edge * self.shown.ratio for edge in edges)
        return Box(left=int(np.ceil(left)), top=int(np.ceil(top)), right=int(right), bottom=int(bottom))


class Recorder:
    """One Chromium that shows any number of pages, each for itself; an asynchronous context manager."""

    def __init__(self, scratch: Scratch) -> None:
        self._browser = Browser(scratch, episodes=10_000_000)
        self._opening = asyncio.Lock()

    async def __aenter__(self) -> Recorder:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._browser.close()

    @property
    def version(self) -> str:
        """The browser's version; empty before the first page."""
        return self._browser.version

    async def renew(self) -> None:
        """End the browser, which keeps what it has seen in memory; the next page starts another."""
        await self._browser.close()

    async def see(self, screen: drawing.Screen) -> Sighting:
        """Show a page and read it; raises SetupError when there is no browser, EnvError when it does not answer."""
        failure: Exception | None = None
        for _ in range(_TRIES):
            look = Screen(width=screen.look.width, height=screen.look.height, ratio=screen.look.ratio)
            async with self._opening:  # a browser that is not there yet is started once
                context = await self._browser.context(look)
            try:
                async with asyncio.timeout(_SECONDS):
                    return await _seen(context, screen.html)
            except (PlaywrightError, TimeoutError) as error:
                failure = error
            finally:
                await self._browser.discard(context)
        raise EnvError("not_recorded", f"screen {screen.screen_id} could not be shown: {failure}") from failure


async def _seen(context: BrowserContext, html: str) -> Sighting:
    page = await context.new_page()
    await page.set_content(html, wait_until="load")
    read = await page.evaluate(_script())
    frame = frame_of(await page.screenshot())
    return Sighting(shown_of(read), frame, _pixels_of(frame))


def _pixels_of(frame: Frame) -> np.ndarray[Any, np.dtype[np.uint8]]:
    with Pictures.open(io.BytesIO(frame.image.bytes)) as picture:
        return np.asarray(picture.convert("RGB"), dtype=np.uint8)


@cache
def _script() -> str:
    return (resources.files("pipeline.synth") / "record.js").read_text(encoding="utf-8").partition("\n")[2]


def painted(sighting: Sighting, edges: Edges) -> bool:
    """Whether something is really drawn in a box: it is not one flat colour that goes on around it."""
    box = sighting.pixels_of(edges)
    inside = sighting.pixels[max(box.top, 0) : box.bottom, max(box.left, 0) : box.right].reshape(-1, 3)
    if not inside.size:
        return False
    if float(inside.std(axis=0).max()) > _SPREAD:
        return True
    rim = sighting.pixels[
        max(box.top - _RIM, 0) : box.bottom + _RIM, max(box.left - _RIM, 0) : box.right + _RIM
    ].reshape(-1, 3)
    return float(np.abs(rim.mean(axis=0) - inside.mean(axis=0)).max()) > _SPREAD


def fingerprint(sighting: Sighting, edges: Edges | None) -> str:
    """What a box looks like (the whole picture without one), so that likenesses have the same: 16 hex digits."""
    height, width, _ = sighting.pixels.shape
    box = sighting.pixels_of(edges) if edges else Box(left=0, top=0, right=width, bottom=height)
    crop = Pictures.fromarray(sighting.pixels[box.top : box.bottom, box.left : box.right]).convert("L")
    small = np.asarray(crop.resize((9, 8), Pictures.Resampling.BOX), dtype=np.int16)
    bits = (small[:, 1:] > small[:, :-1]).ravel()
    return f"{int(''.join('1' if bit else '0' for bit in bits), 2):016x}"
