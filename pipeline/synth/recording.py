"""Shows pages in Chromium and reads, in one go, what stands where; and takes the picture.

Several pages may be shown at the same time, each in a sandbox: it can draw and run its own scripts, but reach nothing.
What cannot be seen in the picture, whatever the page says of itself, is told by `painted`. Knows nothing of
instructions.
"""

from __future__ import annotations

import asyncio
import io
from collections.abc import Sequence
from functools import cache
from importlib import resources
from typing import Any, NamedTuple

import numpy as np
from PIL import Image as Pictures
from playwright.async_api import BrowserContext, ConsoleMessage, Page, Route
from playwright.async_api import Error as PlaywrightError

from pipeline.envs.browser import Browser, Screen
from pipeline.errors import EnvError, RunError
from pipeline.frames import frame_of
from pipeline.reaper import Scratch
from pipeline.records import Frame
from pipeline.structs import Box
from pipeline.synth import drawing
from pipeline.synth.elements import Edges, Shown, shown_of

_SECONDS = 60.0
_TRIES = 2
_SHADES = 8
"""A pixel differs when one of its colours does by more than this."""
_SHARE = 0.003
"""The part of a box's pixels that must be the element's own."""

_LONGEST = 200
"""More is not told of a complaint."""
_ADDRESS = "http://screen.invalid/"
"""Where a page believes to be; nothing is ever asked of it."""
_POLICY = (
    "sandbox allow-scripts; default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; "
    "img-src data:; font-src data:"
)
"""What a page may do: draw, with what it brings along."""


Pixels = np.ndarray[Any, np.dtype[np.uint8]]
"""Rows of columns of red, green and blue."""


class Sighting(NamedTuple):
    """What a page showed, and its picture."""

    shown: Shown
    frame: Frame
    pixels: Pixels
    bare: Pixels
    """The same without its controls and texts."""
    complaints: Sequence[str] = ()
    """What went wrong while it was shown: scripts that failed, things asked for from outside."""

    def pixels_of(self, edges: Edges) -> Box:
        """A box of the page in pixels of the picture, rounded inwards."""
        left, top, right, bottom = (edge * self.shown.ratio for edge in edges)
        return Box(left=int(np.ceil(left)), top=int(np.ceil(top)), right=int(right), bottom=int(bottom))


class Recorder:
    """One Chromium that shows any number of pages, each for itself; an asynchronous context manager.

    A page that needs more than so many seconds is given up.
    """

    def __init__(self, scratch: Scratch, seconds: float = _SECONDS) -> None:
        self._seconds = seconds
        self._browser = Browser(scratch, episodes=10_000_000)
        self._opening = asyncio.Lock()
        self._literate = False

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
        """Show a page and read it, in a sandbox that lets nothing in or out.

        Raises RunError where there is no font for Chinese, SetupError when there is no browser, EnvError when the page
        does not answer.
        """
        failure: Exception | None = None
        for _ in range(_TRIES):
            look = Screen(width=screen.look.width, height=screen.look.height, ratio=screen.look.ratio)
            async with self._opening:  # a browser that is not there yet is started once
                context = await self._browser.context(look)
            try:
                async with asyncio.timeout(self._seconds):
                    return await self._seen(context, screen)
            except (PlaywrightError, TimeoutError) as error:
                failure = error
            finally:
                await self._browser.discard(context)
        raise EnvError("not_recorded", f"screen {screen.screen_id} could not be shown: {failure}") from failure

    async def _seen(self, context: BrowserContext, screen: drawing.Screen) -> Sighting:
        complaints: list[str] = []
        page = await context.new_page()
        await _shut_in(context, page, screen.html, complaints)
        await page.goto(_ADDRESS, wait_until="load")
        self._literate = self._literate or await _literate(page)
        read = await page.evaluate(_script("record"), screen.told)
        frame = frame_of(await page.screenshot())
        await page.evaluate(_script("hide"))
        bare = frame_of(await page.screenshot())
        return Sighting(shown_of(read), frame, _pixels_of(frame), _pixels_of(bare), complaints)


async def _shut_in(context: BrowserContext, page: Page, html: str, complaints: list[str]) -> None:
    """Give the page to whoever asks for its address, and nothing else to anybody; note what goes wrong."""

    async def answer(route: Route) -> None:
        if route.request.url == _ADDRESS:
            headers = {"Content-Security-Policy": _POLICY}
            await route.fulfill(body=html, content_type="text/html; charset=utf-8", headers=headers)
        else:
            complaints.append(f"it asks for {route.request.url[:_LONGEST]}")
            await route.abort()

    def said(message: ConsoleMessage) -> None:
        if "Content Security Policy" in message.text:
            complaints.append(f"it asks for what its sandbox forbids: {message.text[:_LONGEST]}")

    await context.route("**/*", answer)
    page.on("console", said)
    page.on("pageerror", lambda error: complaints.append(f"a script of it fails: {error.message[:_LONGEST]}"))


async def _literate(page: Page) -> bool:
    """True when the page can write Chinese; raises RunError when every letter is the same empty box."""
    if await page.evaluate(_script("literate")):
        return True
    raise RunError("no font for Chinese on this machine: install one, for example `apt-get install fonts-noto-cjk`")


def _pixels_of(frame: Frame) -> Pixels:
    with Pictures.open(io.BytesIO(frame.image.bytes)) as picture:
        return np.asarray(picture.convert("RGB"), dtype=np.uint8)


@cache
def _script(name: str) -> str:
    return (resources.files("pipeline.synth") / f"{name}.js").read_text(encoding="utf-8")


def painted(sighting: Sighting, edges: Edges) -> bool:
    """Whether an element draws anything in its box that can be seen: without it, the picture is another there."""
    box = sighting.pixels_of(edges)
    rows, columns = slice(max(box.top, 0), box.bottom), slice(max(box.left, 0), box.right)
    shown, bare = (pixels[rows, columns].astype(np.int16) for pixels in (sighting.pixels, sighting.bare))
    if not shown.size:
        return False
    return float((np.abs(shown - bare).max(axis=2) > _SHADES).mean()) > _SHARE


def fingerprint(sighting: Sighting, edges: Edges | None) -> str:
    """What a box looks like (the whole picture without one), so that likenesses have the same: 16 hex digits."""
    height, width, _ = sighting.pixels.shape
    box = sighting.pixels_of(edges) if edges else Box(left=0, top=0, right=width, bottom=height)
    crop = Pictures.fromarray(sighting.pixels[box.top : box.bottom, box.left : box.right]).convert("L")
    small = np.asarray(crop.resize((9, 8), Pictures.Resampling.BOX), dtype=np.int16)
    bits = (small[:, 1:] > small[:, :-1]).ravel()
    return f"{int(''.join('1' if bit else '0' for bit in bits), 2):016x}"
