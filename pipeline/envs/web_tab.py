"""One tab: pictures, page scripts in a world of their own, and waiting until the page has settled.

Every call has a deadline: `TimeoutError` says that the page did not answer, Playwright's own error that it is gone.
What any of that means for an episode is not decided here.
"""

from __future__ import annotations

import asyncio
import base64
import contextlib
import json
import time
from collections.abc import Coroutine
from typing import Any, NamedTuple, TypeVar

from playwright.async_api import CDPSession, Page
from playwright.async_api import Error as PlaywrightError

from pipeline.egress import Proxy
from pipeline.envs.browser import Screen
from pipeline.envs.scripts import page_script
from pipeline.errors import CaptureError, TreeError

CALL_SECONDS = 8.0
"""What a page has for one answer."""

T = TypeVar("T")

_WORLD = "pathproof"
_FOCUSED = """() => {
    let element = document.activeElement;
    while (element?.shadowRoot?.activeElement) element = element.shadowRoot.activeElement;
    return element;
}"""
_OPEN_SECONDS = 10.0
_ARRIVE_SECONDS = 10.0
_STILL_SECONDS = 0.07
_SETTLE_SECONDS = 1.5
_ARRIVED_SECONDS = 3.0
_MOVES = 50
"""How many times a page may move on by itself while it settles."""
_STALE = ("Cannot find context", "context was destroyed", "navigated or closed", "No frame for given id")

_REFUSED = "Unable to capture screenshot"
"""What Chromium says now and then of a page that it can show a moment later."""


class Look(NamedTuple):
    """What the page says of itself at one moment."""

    address: str
    title: str
    stamp: str
    fonts: float | None
    """Milliseconds since a font was first seen missing."""
    nodes: list[list[Any]]


class Tab:
    """A page with its protocol session."""

    def __init__(self, page: Page, session: CDPSession, frame: str, screen: Screen, proxy: Proxy) -> None:
        self.page = page
        self.screen = screen
        self.windows_due = 0
        """Windows this page has asked for that have not appeared yet."""
        self.accept_next = False
        """Whether this page's next question is answered with yes."""
        self._session = session
        self._frame = frame
        self._proxy = proxy
        self._world: int | None = None
        self._arrived = asyncio.Event()
        self._arrived.set()
        self._lost: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        page.on("crash", self._lose)
        page.on("close", self._lose)

    @classmethod
    async def open(cls, page: Page, screen: Screen, proxy: Proxy) -> Tab:
        """Attach to a page; raises TimeoutError or Playwright's error."""
        async with asyncio.timeout(_OPEN_SECONDS):
            session = await page.context.new_cdp_session(page)
            tree = await session.send("Page.getFrameTree")
            tab = cls(page, session, tree["frameTree"]["frame"]["id"], screen, proxy)
            session.on("Page.frameStartedNavigating", tab._leaving)
            session.on("Page.frameNavigated", tab._navigated)
            session.on("Page.frameStoppedLoading", tab._stopped)
            session.on("Page.windowOpen", tab._window_asked)
            await session.send("Page.enable")
            return tab

    async def focused_address(self) -> str:
        """The address of what takes the keys, the page or a frame in it; raises TimeoutError or Playwright's error."""
        frame = self.page.main_frame
        address = frame.url
        async with asyncio.timeout(CALL_SECONDS):
            while True:
                element = (await frame.evaluate_handle(_FOCUSED)).as_element()
                inner = await element.content_frame() if element is not None else None
                if inner is None:
                    return address
                frame = inner
                if not frame.url.startswith("about:"):  # those have no address of their own
                    address = frame.url

    async def call(self, function: str, *arguments: object, seconds: float = CALL_SECONDS) -> Any:
        """The value of a page script's function; asked again when the page moves on meanwhile."""
        expression = f"pathproof.{function}({', '.join(json.dumps(argument) for argument in arguments)})"
        async with asyncio.timeout(seconds):
            while True:
                try:
                    world = self._world or await self._enter()
                    answer = await self._evaluate(expression, world)
                except PlaywrightError as error:
                    if not any(words in error.message for words in _STALE) or self.page.is_closed():
                        raise
                    self._world = None
                    continue
                return answer

    async def unless_lost(self, work: Coroutine[Any, Any, T]) -> T:
        """The result of something done to the page; ends at once when the page crashes, which nobody else notices."""
        task = asyncio.ensure_future(work)
        task.add_done_callback(lambda done: done.cancelled() or done.exception())
        try:
            await asyncio.wait((task, self._lost), return_when=asyncio.FIRST_COMPLETED)
            if task.done():
                return task.result()
            raise PlaywrightError("the page crashed or was closed")
        finally:
            task.cancel()

    async def look(self, scale: float) -> Look:
        """Address, title, tree and stamp of the document as it is now; boxes are CSS pixels times `scale`."""
        return Look(**await self.call("look", scale))

    async def picture(self) -> bytes:
        """The viewport as it is painted now, as PNG; raises CaptureError. Waits for no font and no stalled request."""
        options: dict[str, Any] = {"format": "png", "optimizeForSpeed": True}
        try:
            async with asyncio.timeout(CALL_SECONDS):
                if self.screen.ratio != 1:
                    options["clip"] = await self._clip()
                return await self._captured(options)
        except TimeoutError as error:
            raise CaptureError("timeout", f"no picture within {CALL_SECONDS:g} s") from error

    async def _captured(self, options: dict[str, Any]) -> bytes:
        """What Chromium refused once is asked for a second time."""
        try:
            answer = await self._send("Page.captureScreenshot", options)
        except PlaywrightError as error:
            if _REFUSED not in str(error):
                raise
            answer = await self._send("Page.captureScreenshot", options)
        return base64.b64decode(answer["data"])

    async def settle(self, since: float) -> str:
        """Wait until the page has settled after something done at `since` (monotonic clock); its stamp then.

        The rule: a navigation under way gets to its new document and that to its end (10 s each). From then on the
        document must not change for 70 ms and no request begun since may wait for its answer or have got it just now;
        that is waited for at most 1.5 s, after a navigation 3 s.
        """
        deadline = time.monotonic() + _SETTLE_SECONDS
        for _ in range(_MOVES):
            if await self._arrival():
                deadline = time.monotonic() + _ARRIVED_SECONDS
            left = max(deadline - time.monotonic(), 0.0)
            patience = _ARRIVED_SECONDS + _ARRIVE_SECONDS + CALL_SECONDS
            limits = (_STILL_SECONDS * 1000, left * 1000, _ARRIVE_SECONDS * 1000)
            stamp, parsing = await self.call("quiet", *limits, seconds=patience)
            deadline += parsing / 1000
            left = deadline - time.monotonic()
            if self._arrived.is_set() and (left <= 0 or not self._proxy.busy(since, _STILL_SECONDS)):
                break
            await self._proxy.idle(since, max(left, 0.0))
        return str(stamp)

    async def fonts(self, seconds: float) -> None:
        """Wait for fonts that are under way."""
        await self.call("fontsCome", seconds * 1000, seconds=seconds + CALL_SECONDS)

    async def history(self) -> int:
        """How many earlier pages one can go back to."""
        async with asyncio.timeout(CALL_SECONDS):
            return int((await self._send("Page.getNavigationHistory"))["currentIndex"])

    async def forget_history(self) -> None:
        """Make the present page the first one."""
        async with asyncio.timeout(CALL_SECONDS):
            await self._send("Page.resetNavigationHistory")

    async def _arrival(self) -> bool:
        """Wait for the document that is being fetched, if any; one that takes too long is given up on."""
        if self._arrived.is_set():
            return False
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(_ARRIVE_SECONDS):
                await self._arrived.wait()
        self._arrived.set()
        return True

    async def _enter(self) -> int:
        """The scripts' own world in the present document: pages neither see nor break it."""
        made = await self._send(
            "Page.createIsolatedWorld",
            {"frameId": self._frame, "worldName": _WORLD, "grantUniveralAccess": True},
        )
        world = int(made["executionContextId"])
        await self._evaluate(page_script(), world)
        self._world = world
        return world

    async def _evaluate(self, expression: str, world: int) -> Any:
        answer = await self._send(
            "Runtime.evaluate",
            {"expression": expression, "contextId": world, "returnByValue": True, "awaitPromise": True},
        )
        if "exceptionDetails" in answer:
            details = answer["exceptionDetails"]
            raise TreeError("unavailable", str(details.get("exception", {}).get("description", details["text"]))[:500])
        return answer["result"].get("value")

    async def _clip(self) -> dict[str, float]:
        """The viewport in the document's coordinates: only with a clip is the picture taken at the device's ratio."""
        view = (await self._send("Page.getLayoutMetrics"))["cssVisualViewport"]
        size = {"width": self.screen.width, "height": self.screen.height, "scale": self.screen.ratio}
        return {"x": view["pageX"], "y": view["pageY"], **size}

    async def _send(self, method: str, parameters: dict[str, Any] | None = None) -> dict[str, Any]:
        return await self.unless_lost(self._session.send(method, parameters))

    def _lose(self, page: Page) -> None:
        del page
        if not self._lost.done():
            self._lost.set_result(None)

    def _leaving(self, event: dict[str, Any]) -> None:
        if event["frameId"] == self._frame and not event["navigationType"].lower().endswith("samedocument"):
            self._arrived.clear()

    def _navigated(self, event: dict[str, Any]) -> None:
        if event["frame"]["id"] == self._frame:
            self._world = None
            self.accept_next = False
            self._arrived.set()

    def _stopped(self, event: dict[str, Any]) -> None:
        """Loading has ended, perhaps without a new document: a download, an empty answer."""
        if event["frameId"] == self._frame:
            self._arrived.set()

    def _window_asked(self, event: dict[str, Any]) -> None:
        del event
        self.windows_due += 1
