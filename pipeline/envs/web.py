"""The web environment: applications and pages in a real Chromium, one episode at a time.

It looks (picture, tree, address and title of the same page within one bounded window), tells what lies under a point,
acts and waits until the page has settled, answers probes and hands over what happened beside. A page that crashes or
closes is replaced and that is told; only a browser or an application that is gone ends the episode.
"""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import NamedTuple

from playwright.async_api import BrowserContext
from playwright.async_api import Error as PlaywrightError

from pipeline.actions import Action, Pixel
from pipeline.allowlist import AllowList
from pipeline.envs.browser import Browser, Screen
from pipeline.envs.web_actions import NAVIGATION_SECONDS, Aim, Hands, Spot
from pipeline.envs.web_sites import Site, Sites
from pipeline.envs.web_tab import CALL_SECONDS, Look, Tab
from pipeline.envs.web_told import target_told, tree_told
from pipeline.envs.web_walls import SOURCES, sources_of, wall_of
from pipeline.envs.web_watch import Watch
from pipeline.errors import ActionError, CaptureError, EnvError, SetupError, TreeError
from pipeline.frames import frame_of
from pipeline.protocols import ActResult, Observation
from pipeline.records import Event, Frame, ProbeRead
from pipeline.structs import EnvironmentInfo, LeadingTarget, Node, TargetUnderPoint
from pipeline.tasks import Check, TaskSpec
from pipeline.words import CaptureErrorCode, ObservationFlag, TreeErrorCode

_FONT_SECONDS = 3.2
"""Browsers hide text for up to three seconds while its font is under way; then they show it in another one."""
_MOST_RELOADS = 3
_SECRET = "<secret:"
"""What an instruction gives us an account by."""
_NO_CHANGE = ("AcceptDialog", "GetUrl", "TakeNote")
"""Actions that do nothing to a page."""


class _View(NamedTuple):
    """One try at an observation."""

    frame: Frame | None
    capture_error: CaptureErrorCode | None
    look: Look | None
    tree_error: TreeErrorCode | None
    torn: bool


class WebEnvironment:
    """Implements `protocols.Environment`."""

    def __init__(
        self,
        browser: Browser,
        provide: Callable[[str], Site],
        *,
        allow: Iterable[str] = (),
        screen: Screen | None = None,
    ) -> None:
        """`provide` makes the site of an application id; `allow` lists addresses beside those of the applications."""
        self._browser = browser
        self._sites = Sites(provide)
        self._allow = tuple(allow)
        self._screen = screen or Screen()
        self._scale = self._screen.ratio
        self._elsewhere = AllowList(self._allow)
        self._allow_list = self._elsewhere
        self._walled = ""
        self._has_account = False
        self._context: BrowserContext | None = None
        self._watch: Watch | None = None
        self._aim: Aim | None = None
        self._address = ""
        self._reloads = 0
        self._reloaded = False

    async def start(self, task: TaskSpec) -> EnvironmentInfo:
        """Reset, set up and open the task's start in a fresh context; raises SetupError."""
        await self.finish()
        await self._sites.prepare(task)
        self._allow_list = AllowList([*self._allow, *self._sites.addresses()])
        self._browser.proxy.allow_list = self._allow_list
        self._browser.proxy.drain_refused()
        self._context = await self._browser.context(self._screen)
        self._watch = Watch(self._context, self._screen, self._browser.proxy)
        self._address = self._sites.url(task.start.app_id, task.start.path)
        self._aim, self._reloads, self._reloaded, self._scale = None, 0, False, self._screen.ratio
        self._walled, self._has_account = "", _SECRET in task.instruction
        try:
            tab = await self._watch.open()
            status = await self._go(tab, self._address)
            await tab.forget_history()
        except (PlaywrightError, TimeoutError, TreeError) as error:
            raise SetupError("start_page", f"{self._address} did not open: {error}") from error
        if status >= 500:
            raise SetupError("start_page", f"{self._address} answers {status}")
        await self._sites.mark()
        device = f"{self._screen.width}x{self._screen.height}@{self._screen.ratio:g}"
        return EnvironmentInfo(driver="web", provider="chromium", device=device, build=self._browser.version)

    async def observe(self) -> Observation:
        """Look; once more when the page changed meanwhile. Raises EnvError when browser or application is gone."""
        began = time.monotonic()
        view = await self._viewed()
        if _worth_repeating(view):
            view = await self._viewed(view)
        flags: list[ObservationFlag] = []
        if view.torn:
            flags.append("torn")
        if view.look is not None and view.look.fonts is not None:
            flags.append("fonts_pending")
        if view.tree_error == "timeout":
            flags.append("app_not_responding")
        if self._reloaded:
            flags.append("reloaded")
        self._reloaded = False
        if view.frame is not None:
            self._scale = view.frame.width / self._screen.width
        tree = tree_told(view.look) if view.look is not None else None
        if view.look is not None:
            await self._tell_of_walls(view.look, tree.nodes if tree is not None else [])
        return Observation(
            frame=view.frame,
            tree=tree,
            location=view.look.address if view.look is not None else self._address,
            title=view.look.title if view.look is not None else "",
            capture_error=view.capture_error,
            tree_error=view.tree_error,
            flags=flags,
            seconds=round(time.monotonic() - began, 4),
        )

    async def target(self, pixel: Pixel) -> TargetUnderPoint | None:
        """What lies under a pixel now; nothing when the page cannot say."""
        self._aim = None
        spot = self._spot(pixel)
        with contextlib.suppress(PlaywrightError, TimeoutError, TreeError):
            tab = await self._tab()
            found = await tab.call("hit", *spot, self._scale)
            if found is not None:
                self._aim = Aim(target_told(found), found["stamp"])
        return self._aim.target if self._aim is not None else None

    async def leading(self) -> LeadingTarget | None:
        """What the enter key would press, where it leads somewhere; nothing when the page cannot say."""
        with contextlib.suppress(PlaywrightError, TimeoutError, TreeError):
            found = await (await self._tab()).call("entered", self._scale)
            target = target_told(found) if found is not None else None
            return target if isinstance(target, LeadingTarget) else None
        return None

    async def act(self, action: Action, points: Sequence[Pixel]) -> ActResult:
        """Carry out an action and wait until the page has settled; raises ActionError or EnvError."""
        tab, watch = await self._tab(), self._watching()
        aim, self._aim = self._aim, None
        if self._reloaded:
            # The action was meant for what was there before.
            raise ActionError(None, "the page was lost and has been loaded again")
        watch.acting, tab.windows_due = True, 0
        try:
            return await self._acted(tab, action, [self._spot(point) for point in points], aim)
        except TimeoutError as error:
            watch.happened("app_not_responding", address=tab.page.url, detail=f"during {action.type}")
            raise ActionError(None, "the page did not answer in time") from error
        except TreeError as error:
            raise EnvError("page_script", str(error)) from error
        except PlaywrightError as error:
            self._check_browser()
            raise ActionError(None, f"{action.type} failed: {error.message.splitlines()[0]}") from error
        finally:
            watch.acting = False

    async def app_here(self) -> str | None:
        """The application whose page or frame has the focus; nothing on any other, or where the page cannot say."""
        with contextlib.suppress(PlaywrightError, TimeoutError):
            return self._sites.app_at(await (await self._tab()).focused_address())
        return None

    async def probe(self, checks: Sequence[Check], observation_index: int) -> list[ProbeRead]:
        """Read what the checks ask, and the changes since `start`; raises EnvError when an application is gone."""
        self._sites.check()
        return await self._sites.read(checks, observation_index, self._evaluate)

    def drain_events(self) -> list[Event]:
        """Events since the last call, in order, and the addresses refused meanwhile."""
        if self._watch is None:
            return []
        for address in self._browser.proxy.drain_refused():
            self._watch.happened("blocked_address", address=address, answer="refused", decided_by="rule")
        return self._watch.drain_events()

    async def finish(self) -> None:
        """End the episode's context and everything in it."""
        watch, self._watch = self._watch, None
        context, self._context = self._context, None
        if watch is not None:
            await watch.close()
        if context is not None:
            await self._browser.discard(context)

    async def close(self) -> None:
        """End the browser, the proxy and the applications."""
        await self.finish()
        await self._browser.close()
        await self._sites.close()

    async def _tell_of_walls(self, look: Look, nodes: Sequence[Node]) -> None:
        """A site of others that asks for a puzzle or an account is told of once; ours may be what a task is about."""
        if look.address == self._walled or not self._elsewhere.permits_url(look.address):
            return
        sources: object = []
        with contextlib.suppress(PlaywrightError, TimeoutError):
            sources = await self._evaluate(SOURCES)
        wall = wall_of(nodes, look.title, look.address, sources_of(sources))
        if wall is not None and not (wall.kind == "login" and self._has_account):
            self._walled = look.address
            self._watching().happened(wall.kind, address=look.address, detail=wall.shown_by, decided_by="rule")

    async def _acted(self, tab: Tab, action: Action, spots: Sequence[Spot], aim: Aim | None) -> ActResult:
        watch = self._watching()
        hands = Hands(tab, self._allow_list, has_opener=watch.has_opener)
        since = time.monotonic()
        feedback = None
        with _closing(tab):
            feedback = await tab.unless_lost(hands.begin(action, spots))
        flags: list[str] = []
        if action.type not in _NO_CHANGE:
            stamp = await self._settled(tab, since)
            if stamp is not None:
                flags = await hands.conclude(action, aim, stamp)
        told = [text for text in (feedback, *watch.drain_notes()) if text]
        return ActResult(feedback="; ".join(told) or None, flags=flags)

    async def _settled(self, tab: Tab, since: float) -> str | None:
        """Wait for the tab and for what it has opened; the tab's stamp, unless another one has taken its place."""
        watch = self._watching()
        stamp = None
        with _closing(tab):
            stamp = await tab.settle(since)
        await watch.catch_up()
        current = watch.tab
        if current is None:
            return None
        if current is not tab:
            await current.settle(since)
        await self._keep_in_bounds(current)
        return stamp if current is tab else None

    async def _keep_in_bounds(self, tab: Tab) -> None:
        """A page may have gone where the proxy does not see it, to `data:` for example: bring it back."""
        url = tab.page.url
        inner = url.removeprefix("blob:")
        if self._allow_list.permits_url(inner):
            self._address = url if inner == url else self._address
        elif not url.startswith(("about:", "chrome-error:", "http:", "https:")):
            self._watching().happened("blocked_address", address=url[:200], answer="refused", decided_by="rule")
            await self._go(tab, self._address)

    async def _go(self, tab: Tab, url: str) -> int:
        """Open an address and wait until it has settled; its HTTP status, 0 when there was none."""
        since = time.monotonic()
        response = await tab.page.goto(url, wait_until="commit", timeout=NAVIGATION_SECONDS * 1000)
        await tab.settle(since)
        return response.status if response is not None else 0

    async def _viewed(self, earlier: _View | None = None) -> _View:
        """Picture and look at once, and the page's stamp afterwards; `earlier` is the try before."""
        tab = await self._tab()
        pending = _font_wait(earlier)
        if pending > 0:
            with contextlib.suppress(PlaywrightError, TimeoutError):
                await tab.fonts(pending)
        (look, tree_error), (png, capture_error) = await asyncio.gather(_looked(tab, self._scale), _pictured(tab))
        stamped = asyncio.ensure_future(_stamped(tab, look))
        frame = None
        try:
            # The picture is checked while the page is asked for its stamp.
            await asyncio.sleep(0)
            frame = frame_of(png) if png is not None else None
        except CaptureError as error:
            capture_error = error.code
        stamp = await stamped
        torn = look is not None and stamp is not None and stamp != look.stamp
        return _View(frame, capture_error, look, tree_error, torn)

    async def _tab(self) -> Tab:
        """The tab to act on; one that crashed or was closed is replaced at its last address. Raises EnvError."""
        self._check_browser()
        self._sites.check()
        watch = self._watching()
        tab = watch.tab
        if tab is not None and tab.page not in watch.crashed:
            return tab
        self._reloads += 1
        if self._reloads > _MOST_RELOADS:
            raise EnvError("page_lost", f"the page was lost {self._reloads} times")
        try:
            if tab is not None:
                async with asyncio.timeout(CALL_SECONDS):
                    await tab.page.close()
            replaced = await watch.open()
            await self._go(replaced, self._address)
        except (PlaywrightError, TimeoutError, TreeError) as error:
            self._check_browser()
            raise EnvError("page_lost", f"{self._address} could not be opened again: {error}") from error
        watch.happened("reload", address=self._address, detail="crashed" if tab is not None else "closed")
        self._reloaded = True
        return replaced

    def _check_browser(self) -> None:
        if not self._browser.alive:
            raise EnvError("browser_gone", "the browser has ended")

    def _watching(self) -> Watch:
        if self._watch is None:
            raise EnvError("not_started", "no episode has been started")
        return self._watch

    async def _evaluate(self, script: str) -> object:
        """What a probe's script returns in the page."""
        tab = await self._tab()
        async with asyncio.timeout(CALL_SECONDS):
            value: object = await tab.page.evaluate(script)
            return value

    def _spot(self, pixel: Pixel) -> Spot:
        return Spot(pixel.x / self._scale, pixel.y / self._scale)


@contextlib.contextmanager
def _closing(tab: Tab) -> Iterator[None]:
    """A tab may close by what is done in it; then the rest of what was asked of it is void."""
    try:
        yield
    except PlaywrightError:
        if not tab.page.is_closed():
            raise


async def _looked(tab: Tab, scale: float) -> tuple[Look | None, TreeErrorCode | None]:
    try:
        return await tab.look(scale), None
    except TimeoutError:
        return None, "timeout"
    except (PlaywrightError, TreeError):
        return None, "unavailable"


async def _stamped(tab: Tab, look: Look | None) -> str | None:
    """The page's stamp after a look; nothing when there is none to compare."""
    with contextlib.suppress(PlaywrightError, TimeoutError, TreeError):
        return str(await tab.call("stamp")) if look is not None else None
    return None


async def _pictured(tab: Tab) -> tuple[bytes | None, CaptureErrorCode | None]:
    try:
        return await tab.picture(), None
    except CaptureError as error:
        return None, error.code
    except PlaywrightError:
        return None, "empty"


def _font_wait(view: _View | None) -> float:
    """Seconds until the browser shows text whose font has not come."""
    if view is None or view.look is None or view.look.fonts is None:
        return 0.0
    return max(_FONT_SECONDS - view.look.fonts / 1000, 0.0)


def _worth_repeating(view: _View) -> bool:
    """Whether a second try may show more; a page that does not answer will not do so at once."""
    return view.torn or _font_wait(view) > 0 or (view.frame is None and view.tree_error != "timeout")
