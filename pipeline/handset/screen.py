"""The phone's glass: pages of a real Chromium in phone metrics, touched through its protocol, and pictures of them.

A `View` is one page below the status bar. Coordinates that come from outside are device pixels of the whole display as
it is turned now. Knows no application and no task.
"""

from __future__ import annotations

import asyncio
import base64
import contextlib
import time
from collections.abc import AsyncIterator, Callable, Coroutine, Sequence
from contextlib import asynccontextmanager
from io import BytesIO
from typing import Any, NamedTuple

from PIL import Image
from playwright.async_api import BrowserContext, CDPSession, Dialog, Page
from playwright.async_api import Error as PlaywrightError

from pipeline.addresses import parts_of
from pipeline.envs.browser import Browser
from pipeline.envs.browser import Screen as Metrics
from pipeline.handset.scripts import page_call

RATIO = 2
BAR = 28
"""Height of the status bar in CSS pixels."""
SHORT, LONG = 390, 844
"""Sides of the display in CSS pixels."""
DENSITY = 160 * RATIO

_OPEN_SECONDS = 15.0
_BACK_SECONDS = 1.0
_CALL_SECONDS = 10.0
_FRAME_SECONDS = 0.016
_IDLE_MILLISECONDS = 70
_SECURE = "document.querySelector('meta[name=handset-secure]') !== null"
_STALE = ("context was destroyed", "Cannot find context", "because of a navigation")


class Size(NamedTuple):
    """Width and height in device pixels."""

    width: int
    height: int


class Spot(NamedTuple):
    """A point in device pixels."""

    x: float
    y: float


def display_size(rotation: int) -> Size:
    """The display as it is turned: 0 and 2 upright, 1 and 3 on its side."""
    sides = (LONG, SHORT) if rotation % 2 else (SHORT, LONG)
    return Size(sides[0] * RATIO, sides[1] * RATIO)


class View:
    """One page of the phone."""

    def __init__(self, page: Page, session: CDPSession, on_dialog: Callable[[View, Dialog], None]) -> None:
        """Use `Glass.open`."""
        self.page = page
        self._session = session
        self._on_dialog = on_dialog
        self._asked = asyncio.Event()
        self.crashed = False
        """Whether the page is gone for good."""
        page.on("dialog", self._ask)
        page.on("crash", self._crash)

    def answered(self) -> None:
        """The page's question has been answered: it goes on."""
        self._asked.clear()

    def _crash(self, page: Page) -> None:
        del page
        self.crashed = True

    def _ask(self, dialog: Dialog) -> None:
        self._asked.set()
        self._on_dialog(self, dialog)

    async def go(self, url: str) -> None:
        """Open an address and wait for its document; one that cannot be had shows the browser's own error page."""
        with contextlib.suppress(PlaywrightError):
            await self.page.goto(url, wait_until="load", timeout=_OPEN_SECONDS * 1000)

    async def start_at(self, url: str) -> None:
        """Open an address as the first page: there is nothing to go back to."""
        await self.go(url)
        await self._session.send("Page.resetNavigationHistory")

    async def back(self) -> bool:
        """Close a dialog of the page, else go back in its history; whether either could be done.

        What the last touch has begun comes first: a page that is loading again would undo the way back.
        """
        await self.idle(_BACK_SECONDS)
        if await self.call("closeDialog()"):
            return True
        history = await self._session.send("Page.getNavigationHistory")
        at = int(history["currentIndex"])
        if at <= 0:
            return False
        await self._session.send("Page.navigateToHistoryEntry", {"entryId": history["entries"][at - 1]["id"]})
        return True

    async def call(self, function: str) -> Any:
        """What a function of the page script returns; asked again when the page moves on meanwhile."""
        return await self._evaluated(page_call(function))

    async def is_secure(self) -> bool:
        """Whether the page says that it must not be captured."""
        return bool(await self._evaluated(_SECURE))

    async def _evaluated(self, expression: str) -> Any:
        async with asyncio.timeout(_CALL_SECONDS):
            while True:
                try:
                    return await self.page.evaluate(expression)
                except PlaywrightError as error:
                    if self.page.is_closed() or not any(words in error.message for words in _STALE):
                        raise

    async def idle(self, seconds: float) -> bool:
        """Wait until the page has not changed for a moment; whether that came true in time."""
        began = time.monotonic()
        await self.call(f"quiet({_IDLE_MILLISECONDS}, {seconds * 1000}, {seconds * 1000})")
        return time.monotonic() - began < seconds

    async def picture(self, size: Size) -> Image.Image:
        """What shows now."""
        clip = {"x": 0, "y": 0, "width": size.width / RATIO, "height": size.height / RATIO, "scale": RATIO}
        async with asyncio.timeout(_CALL_SECONDS):
            view = (await self._session.send("Page.getLayoutMetrics"))["cssVisualViewport"]
            clip |= {"x": view["pageX"], "y": view["pageY"]}
            options = {"format": "png", "optimizeForSpeed": True, "clip": clip}
            answer = await self._session.send("Page.captureScreenshot", options)
        return Image.open(BytesIO(base64.b64decode(answer["data"]))).convert("RGB")

    async def touch(self, kind: str, spot: Spot | None) -> None:
        """A finger comes down (`touchStart`), moves (`touchMove`) or leaves (`touchEnd`)."""
        points = [] if spot is None else [{"x": spot.x / RATIO, "y": spot.y / RATIO, "id": 0}]
        await self._unless_asked(self._session.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": points}))

    async def hold(self, spot: Spot, seconds: float) -> None:
        """A finger that stays until the page takes it for a long press; it is no tap then."""
        await self.touch("touchStart", spot)
        await asyncio.sleep(seconds)
        await self.touch("touchCancel", None)
        # This browser has no clock for fingers that stay: what a long press asks for is asked for in its stead.
        await self._unless_asked(self.page.mouse.click(spot.x / RATIO, spot.y / RATIO, button="right"))

    async def type(self, text: str) -> None:
        """Insert text at the caret."""
        await self._unless_asked(self.page.keyboard.insert_text(text))

    async def press(self, key: str) -> None:
        """Press and release a key, by the browser's name for it."""
        await self._unless_asked(self.page.keyboard.press(key))

    async def _unless_asked(self, work: Coroutine[Any, Any, Any]) -> None:
        """Wait for something done to the page; it never returns while the page waits for an answer of a person."""
        task = asyncio.ensure_future(work)
        asked = asyncio.ensure_future(self._asked.wait())
        try:
            async with asyncio.timeout(_CALL_SECONDS):
                await asyncio.wait((task, asked), return_when=asyncio.FIRST_COMPLETED)
            if task.done():
                task.result()
            else:
                task.add_done_callback(_ignored)
        finally:
            asked.cancel()

    async def resize(self, size: Size) -> None:
        """Take another size."""
        await self.page.set_viewport_size({"width": size.width // RATIO, "height": size.height // RATIO})

    async def reload(self) -> None:
        """Load the page again."""
        with contextlib.suppress(PlaywrightError):
            await self.page.reload(wait_until="load", timeout=_OPEN_SECONDS * 1000)

    async def forget(self, address: str) -> None:
        """Remove all that pages of an address's origin have stored in the browser, cookies included."""
        parts = parts_of(address)
        if not parts.netloc:
            return
        asked = {"origin": f"{parts.scheme}://{parts.netloc}", "storageTypes": "all"}
        async with asyncio.timeout(_CALL_SECONDS):
            await self._session.send("Storage.clearDataForOrigin", asked)

    async def close(self) -> None:
        """Close the page; again is harmless."""
        with contextlib.suppress(PlaywrightError, TimeoutError):
            async with asyncio.timeout(_CALL_SECONDS):
                await self.page.close()


class Glass:
    """All pages of one phone, in one browser context."""

    def __init__(
        self,
        browser: Browser,
        on_dialog: Callable[[View, Dialog], None],
        on_window: Callable[[Page], None],
    ) -> None:
        """Nothing runs before `start`."""
        self._browser, self._on_dialog, self._on_window = browser, on_dialog, on_window
        self._opening = 0
        self._context: BrowserContext | None = None
        self._size = _below_bar(0)
        self.locale = "en-US"
        """The language pages are asked for in."""

    async def start(self) -> None:
        """Start the browser, or start over with an empty one; raises SetupError or RunError."""
        if self._context is not None:
            await self._browser.discard(self._context)
        metrics = Metrics(width=self._size.width // RATIO, height=self._size.height // RATIO, ratio=RATIO)
        self._context = await self._browser.context(metrics)
        self._context.on("page", self._page)

    async def open(self, size: Size | None = None) -> View:
        """A new empty page, as large as the display below the status bar unless a size is given."""
        assert self._context is not None, "the glass has not been started"
        self._opening += 1
        try:
            async with asyncio.timeout(_OPEN_SECONDS):
                page = await self._context.new_page()
        finally:
            self._opening -= 1
        return await self._viewed(page, size or self._size)

    async def adopted(self, page: Page) -> View:
        """A page that another one has opened."""
        return await self._viewed(page, self._size)

    def _page(self, page: Page) -> None:
        if not self._opening:
            self._on_window(page)

    async def _viewed(self, page: Page, size: Size) -> View:
        session = await page.context.new_cdp_session(page)
        await session.send("Emulation.setTouchEmulationEnabled", {"enabled": True, "maxTouchPoints": 5})
        await page.set_extra_http_headers({"Accept-Language": f"{self.locale},{self.locale[:2]};q=0.9"})
        view = View(page, session, self._on_dialog)
        await view.resize(size)
        return view

    def turn(self, rotation: int) -> Size:
        """The size of pages from now on."""
        self._size = _below_bar(rotation)
        return self._size


def below_bar(spot: Spot) -> Spot | None:
    """Where a point of the display lies on the page below the status bar."""
    return Spot(spot.x, spot.y - BAR * RATIO) if spot.y >= BAR * RATIO else None


def composed(bar: Image.Image, page: Image.Image) -> Image.Image:
    """The whole display."""
    display = Image.new("RGB", (page.width, bar.height + page.height))
    display.paste(bar, (0, 0))
    display.paste(page, (0, bar.height))
    return display


def encoded(display: Image.Image) -> bytes:
    """The display as PNG."""
    data = BytesIO()
    display.save(data, "PNG", compress_level=1)
    return data.getvalue()


@asynccontextmanager
async def finger(view: View, spot: Spot) -> AsyncIterator[None]:
    """A finger that is down inside the block, and up afterwards."""
    await view.touch("touchStart", spot)
    try:
        yield
    finally:
        await view.touch("touchEnd", None)


async def slide(view: View, spots: Sequence[Spot], seconds: float) -> None:
    """Move the finger that is down from the first to the last spot in a straight line, evenly in time."""
    start, end = spots[0], spots[-1]
    count = max(round(seconds / _FRAME_SECONDS), 2)
    began = time.monotonic()
    for number in range(1, count + 1):
        share = number / count
        await asyncio.sleep(max(began + seconds * share - time.monotonic(), 0.0))
        await view.touch("touchMove", Spot(start.x + (end.x - start.x) * share, start.y + (end.y - start.y) * share))


def _ignored(task: asyncio.Future[Any]) -> None:
    """What becomes of an input that ended in a question is of no interest."""
    if not task.cancelled():
        task.exception()


def _below_bar(rotation: int) -> Size:
    whole = display_size(rotation)
    return Size(whole.width, whole.height - BAR * RATIO)
