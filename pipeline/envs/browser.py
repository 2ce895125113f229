"""A real Chromium for one worker, with the egress proxy in front of it.

Everything it starts lies in the worker's scratch folder and carries its mark, so that the guardian can end it. The
browser is started when first needed, again when it has died, and again after a number of episodes, because automation
keeps what it has seen in memory. Knows nothing of pages, tasks or actions.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import shutil
import threading
from collections.abc import AsyncIterator, Iterator, Mapping
from pathlib import Path

import psutil
from playwright.async_api import Browser as Chromium
from playwright.async_api import BrowserContext, Playwright, ProxySettings, async_playwright
from playwright.async_api import Error as PlaywrightError

from pipeline.actions import Model
from pipeline.egress import Proxy
from pipeline.errors import RunError, SetupError
from pipeline.guardian import end
from pipeline.reaper import Scratch

_SYSTEM_NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
_START_SECONDS = 60.0
_TRIES = 2
_CONTEXT_SECONDS = 20.0
_CLOSE_SECONDS = 8.0
_KILL_SECONDS = 2.0
_TURN_SECONDS = 0.02
_STARTING = threading.Lock()
"""Held while a browser starts: this process's own environment is changed meanwhile, and its children are counted."""
_OFF = (
    # Of several such flags the browser heeds the last one only: what automation relies on must be said again.
    "AutofillServerCommunication",
    "AimEnabled",
    "AvoidCorsURLLoaderRestartOnRedirect",
    "AvoidUnnecessaryBeforeUnloadCheckSync",
    "DestroyProfileOnBrowserClose",
    "HttpsFirstBalancedModeAutoEnable",
    "HttpsUpgrades",
    "LensOverlay",
    "MediaRouter",
    "NetworkTimeServiceQuerying",
    "OptimizationHints",
    "PaintHolding",
    "PreconnectToSearch",
    "ThirdPartyStoragePartitioning",
    # Pages of the browser's own address bar, two a window: most of the processor time of a short episode.
    "WebUIOmniboxAimPopup",
    "WebUIOmniboxFullPopup",
    "WebUIOmniboxPopup",
)
_FLAGS = (
    f"--disable-features={','.join(_OFF)}",
    # No traffic of the browser's own, and none past the proxy.
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-domain-reliability",
    "--disable-quic",
    "--disable-sync",
    "--dns-prefetch-disable",
    # Two names of one switch: which of them is heeded depends on version and build.
    "--force-webrtc-ip-handling-policy=disable_non_proxied_udp",
    "--webrtc-ip-handling-policy=disable_non_proxied_udp",
    "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",
    "--no-first-run",
    "--no-pings",
    # A wheel turn has ended when the page has settled.
    "--disable-smooth-scrolling",
)


class Screen(Model):
    """Size of the viewport in CSS pixels, and how many picture pixels one of them has."""

    width: int = 1280
    height: int = 720
    ratio: float = 1.0


def find_chromium(downloaded: str = "") -> Path:
    """The system's Chromium, else the one Playwright has downloaded; raises RunError naming the fix."""
    for name in _SYSTEM_NAMES:
        found = shutil.which(name)
        if found:
            return Path(found)
    if downloaded and Path(downloaded).is_file():
        return Path(downloaded)
    raise RunError(
        "no Chromium found: install one with `apt-get install chromium`, or run `python -m playwright install chromium`"
    )


class Browser:
    """Chromium under Playwright; one context at a time per episode."""

    def __init__(self, scratch: Scratch, *, executable: Path | None = None, episodes: int = 50) -> None:
        self.proxy = Proxy()
        # Pages go through `proxy`; what the browser asks for on its own account meets a proxy that allows nothing.
        self._closed_door = Proxy()
        self.downloads = scratch.path / "downloads"
        self._scratch = scratch
        self._executable = executable
        self._episodes = episodes
        self._used = 0
        self._playwright: Playwright | None = None
        self._chromium: Chromium | None = None
        self._driver: list[psutil.Process] = []

    @property
    def alive(self) -> bool:
        """Whether a browser runs and answers."""
        return self._chromium is not None and self._chromium.is_connected()

    @property
    def version(self) -> str:
        """Version of the running browser; empty before the first context."""
        return self._chromium.version if self._chromium is not None else ""

    async def context(self, screen: Screen) -> BrowserContext:
        """A fresh context in a running browser, with nothing of earlier episodes; raises SetupError or RunError."""
        if self._used >= self._episodes:
            await self._stop()
        failure: Exception | None = None
        for _ in range(_TRIES):
            # A browser may be dying without our knowing yet: then the next one serves.
            try:
                chromium = self._chromium if self._chromium is not None and self.alive else await self._started()
                made = await self._fresh(chromium, screen)
            except (PlaywrightError, TimeoutError) as error:
                failure = error
                await self._stop()
            else:
                self._used += 1
                return made
        raise SetupError("no_context", f"the browser gave no context: {failure}") from failure

    async def discard(self, context: BrowserContext) -> None:
        """End an episode's context; a browser that cannot do so in time is ended itself."""
        try:
            async with asyncio.timeout(_CLOSE_SECONDS):
                await context.close()
        except (PlaywrightError, TimeoutError):
            await self._stop()

    async def close(self) -> None:
        """End the browser, its driver and the proxy; again is harmless."""
        await self._stop()
        await self.proxy.close()
        await self._closed_door.close()

    async def _started(self) -> Chromium:
        """A new browser in place of any before it."""
        await self._stop()
        await self.proxy.start()
        await self._closed_door.start()
        self.downloads.mkdir(exist_ok=True)
        try:
            async with asyncio.timeout(_START_SECONDS):
                async with _alone():
                    known = {child.pid for child in psutil.Process().children()}
                    with _environment(self._scratch.environment):
                        self._playwright = await async_playwright().start()
                    self._driver = _drivers(known)
                self._chromium = await self._launch(self._playwright)
        except RunError:
            await self._stop()
            raise
        except (PlaywrightError, OSError, TimeoutError) as error:
            await self._stop()
            raise SetupError("no_browser", f"Chromium did not start: {error}") from error
        self._used = 0
        return self._chromium

    async def _fresh(self, chromium: Chromium, screen: Screen) -> BrowserContext:
        async with asyncio.timeout(_CONTEXT_SECONDS):
            return await chromium.new_context(
                viewport={"width": screen.width, "height": screen.height},
                device_scale_factor=screen.ratio,
                locale="en-US",
                timezone_id="UTC",
                color_scheme="light",
                reduced_motion="reduce",
                accept_downloads=True,
                proxy=_through(self.proxy),
            )

    async def _launch(self, playwright: Playwright) -> Chromium:
        executable = self._executable or find_chromium(playwright.chromium.executable_path)
        return await playwright.chromium.launch(
            executable_path=executable,
            headless=True,
            # Chromium's sandbox does not work for root; elsewhere it stays on.
            chromium_sandbox=os.geteuid() != 0,
            env={key: value for key, value in self._scratch.environment.items()},
            args=list(_FLAGS),
            proxy=_through(self._closed_door),
            downloads_path=self.downloads,
            handle_sigint=False,
            handle_sigterm=False,
            handle_sighup=False,
        )

    async def _stop(self) -> None:
        chromium, self._chromium = self._chromium, None
        playwright, self._playwright = self._playwright, None
        driver, self._driver = self._driver, []
        processes = _families(driver)
        with contextlib.suppress(PlaywrightError, TimeoutError):
            async with asyncio.timeout(_CLOSE_SECONDS):
                if chromium is not None:
                    await chromium.close()
                if playwright is not None:
                    await playwright.stop()
        await asyncio.to_thread(end, processes, _KILL_SECONDS)


def _through(proxy: Proxy) -> ProxySettings:
    """Everything through the proxy, loopback as well, which browsers leave out unless told."""
    return {"server": f"http://127.0.0.1:{proxy.port}", "bypass": "<-loopback>"}


@contextlib.asynccontextmanager
async def _alone() -> AsyncIterator[None]:
    """One start at a time in this process, whatever loop or thread it is on."""
    # The lock is one of threads, so that no event of this loop tells that it is free.
    while not _STARTING.acquire(blocking=False):  # noqa: ASYNC110
        await asyncio.sleep(_TURN_SECONDS)
    try:
        yield
    finally:
        _STARTING.release()


@contextlib.contextmanager
def _environment(variables: Mapping[str, str]) -> Iterator[None]:
    """Our own environment for a moment: Playwright's driver inherits it and takes no other."""
    changed = {key: value for key, value in variables.items() if os.environ.get(key) != value}
    before = {key: os.environ.get(key) for key in changed}
    os.environ.update(changed)
    try:
        yield
    finally:
        for key, value in before.items():
            if value is None:
                os.environ.pop(key, None)
            else:
                os.environ[key] = value


def _drivers(known: set[int]) -> list[psutil.Process]:
    """Playwright drivers that this process has started since; other programs may have been started meanwhile."""
    found = []
    for child in psutil.Process().children():
        with contextlib.suppress(psutil.Error):
            if child.pid not in known and "run-driver" in child.cmdline():
                found.append(child)
    return found


def _families(processes: list[psutil.Process]) -> list[psutil.Process]:
    """The processes with all their descendants, as they are now."""
    family: list[psutil.Process] = []
    for process in processes:
        with contextlib.suppress(psutil.Error):
            family += [process, *process.children(recursive=True)]
    return family
