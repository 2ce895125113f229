"""What happens beside the actions of an episode: dialogs, new windows, downloads, crashes. Each becomes an event.

`Watch` listens to one browser context from its first moment, answers every dialog at once, keeps the windows that
follow from the agent's own actions and closes the others. It goes by fixed rules and knows nothing of tasks or actions.
"""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
from collections.abc import Coroutine
from typing import Any, NamedTuple

from playwright.async_api import BrowserContext, Dialog, Download, Page
from playwright.async_api import Error as PlaywrightError

from pipeline.egress import Proxy
from pipeline.envs.browser import Screen
from pipeline.envs.web_tab import Tab
from pipeline.records import Event
from pipeline.words import EventKind

_ANSWER_SECONDS = 1.0
_DOWNLOAD_SECONDS = 20.0
_CATCH_UP_SECONDS = 5.0
_WINDOW_SECONDS = 3.0


class Ruling(NamedTuple):
    """How a dialog is answered, and who decided it: a rule, or the policy by what it said or left unsaid."""

    accepted: bool
    decided_by: str


class Watch:
    """The watcher of one context."""

    def __init__(self, context: BrowserContext, screen: Screen, proxy: Proxy) -> None:
        self.acting = False
        """Whether the agent is acting now: what opens or leaves a page meanwhile is its doing."""
        self.crashed: set[Page] = set()
        self._context = context
        self._screen = screen
        self._proxy = proxy
        self._tabs: list[Tab] = []
        self._opening = False
        self._events: list[Event] = []
        self._notes: list[str] = []
        self._tasks: set[asyncio.Task[None]] = set()
        self._late: set[asyncio.Task[None]] = set()
        self._window_came = asyncio.Event()
        context.on("dialog", self._dialog)
        context.on("page", self._page)

    @property
    def tab(self) -> Tab | None:
        """The tab that is acted on: the newest that is left; a closed one gives way to the one that opened it."""
        while self._tabs and self._tabs[-1].page.is_closed():
            self._tabs.pop()
        return self._tabs[-1] if self._tabs else None

    @property
    def has_opener(self) -> bool:
        """Whether another tab is behind the active one."""
        return len(self._tabs) > 1

    async def open(self) -> Tab:
        """A new tab on top of the others; raises TimeoutError or Playwright's error."""
        self._opening = True
        try:
            page = await self._context.new_page()
        finally:
            self._opening = False
        tab = await Tab.open(page, self._screen, self._proxy)
        self._tabs.append(tab)
        return tab

    def happened(self, kind: EventKind, **fields: str | None) -> None:
        """Write an event down."""
        # Pages may say what cannot be written: halves of characters.
        clean = {name: text.encode("utf-8", "replace").decode() if text else text for name, text in fields.items()}
        self._events.append(Event(attempt_id="", step_index=0, kind=kind, **clean))

    def drain_events(self) -> list[Event]:
        """Events since the last call, in order."""
        events, self._events = self._events, []
        return events

    def drain_notes(self) -> list[str]:
        """What the policy should hear of since the last call, such as a download."""
        notes, self._notes = self._notes, []
        return notes

    async def catch_up(self) -> None:
        """Wait, within limits, for windows the active page has asked for and for downloads that have begun."""
        tab = self.tab
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(_WINDOW_SECONDS):
                while tab is not None and tab.windows_due > 0:
                    self._window_came.clear()
                    await self._window_came.wait()
        if tab is not None:
            tab.windows_due = 0
        begun = self._tasks - self._late
        if begun:
            _, late = await asyncio.wait(begun, timeout=_CATCH_UP_SECONDS)
            self._late |= late

    async def close(self) -> None:
        """Stop what is still under way."""
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    def _page(self, page: Page) -> None:
        page.on("download", lambda download: self._spawn(self._download(download)))
        page.on("crash", self._crash)
        if not self._opening:
            self._spawn(self._window(page))

    async def _window(self, page: Page) -> None:
        """Follow a new window when the active page has opened it while the agent was acting; else close it."""
        tab = self.tab
        due = self.acting and tab is not None and tab.windows_due > 0
        opener = await _opener(page)
        followed = due and tab is not None and opener is tab.page and not page.is_closed()
        opened_by = opener.url if opener is not None else None
        answer = "followed" if followed else "closed"
        self.happened("popup", address=page.url, opener=opened_by, answer=answer, decided_by="rule")
        if tab is not None and due:
            tab.windows_due -= 1
            self._window_came.set()
        if followed:
            self._tabs.append(await Tab.open(page, self._screen, self._proxy))
            return
        async with asyncio.timeout(_WINDOW_SECONDS):
            await page.close()

    def _dialog(self, dialog: Dialog) -> None:
        ruling = self._ruling(dialog)
        answer = "accepted" if ruling.accepted else "dismissed"
        self.happened(
            "dialog",
            dialog_type=dialog.type,
            message=dialog.message,
            answer=answer,
            decided_by=ruling.decided_by,
        )
        self._notes.append(f'{dialog.type} "{dialog.message}" was {answer}')
        self._spawn(_answer(dialog, ruling.accepted))

    def _ruling(self, dialog: Dialog) -> Ruling:
        if dialog.type == "alert":
            return Ruling(True, "rule")
        if dialog.type == "beforeunload":
            # Who is going elsewhere must be let go; a page that leaves by itself is kept.
            return Ruling(self.acting, "rule")
        tab = next((tab for tab in self._tabs if tab.page is dialog.page), None)
        accepted = tab is not None and tab.accept_next
        if tab is not None:
            tab.accept_next = False
        return Ruling(accepted, "policy")

    async def _download(self, download: Download) -> None:
        name = download.suggested_filename
        try:
            async with asyncio.timeout(_DOWNLOAD_SECONDS):
                path = await download.path()
                with path.open("rb") as file:
                    sha256 = (await asyncio.to_thread(hashlib.file_digest, file, "sha256")).hexdigest()
                size = path.stat().st_size
        except (PlaywrightError, OSError, TimeoutError) as error:
            self.happened("download", message=name, address=download.url, detail=f"failed: {error}")
            return
        self.happened("download", message=name, address=download.url, detail=f"{name}, {size} bytes, sha256 {sha256}")
        self._notes.append(f"downloaded {name} ({size} bytes)")

    def _crash(self, page: Page) -> None:
        self.crashed.add(page)
        self.happened("crash", address=page.url, detail="the page crashed")

    def _spawn(self, work: Coroutine[Any, Any, None]) -> None:
        """Run beside the episode; pages and windows may vanish at any moment, which ends the work quietly."""
        task = asyncio.ensure_future(_quietly(work))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)


async def _quietly(work: Coroutine[Any, Any, None]) -> None:
    with contextlib.suppress(PlaywrightError, TimeoutError):
        await work


async def _opener(page: Page) -> Page | None:
    """The page that opened a window; nothing when the window is gone again, as one that only holds a download."""
    with contextlib.suppress(PlaywrightError, TimeoutError):
        async with asyncio.timeout(_WINDOW_SECONDS):
            return await page.opener()
    return None


async def _answer(dialog: Dialog, accepted: bool) -> None:
    async with asyncio.timeout(_ANSWER_SECONDS):
        await (dialog.accept(dialog.default_value) if accepted else dialog.dismiss())
