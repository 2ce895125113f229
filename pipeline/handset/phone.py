"""The phone: its tasks and their back stacks, what is in front, what lies over it, and how it turns, boots and shows.

Commands ask it, pages tell it what was tapped. It speaks no protocol and knows none of the applications.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Awaitable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, NamedTuple
from urllib.parse import quote

from PIL import Image
from playwright.async_api import Dialog, Page

from pipeline.addresses import parts_of
from pipeline.allowlist import AllowList
from pipeline.envs.browser import Browser
from pipeline.handset.faults import Faults
from pipeline.handset.files import Files
from pipeline.handset.packages import LAUNCHER, SYSTEM_UI, Package, Packages
from pipeline.handset.screen import BAR, DENSITY, RATIO, Glass, Size, View, composed, display_size, encoded
from pipeline.handset.state import FAULT, LANGUAGES, LOCALE, Boot, Clock, Properties, Settings, first_properties
from pipeline.handset.tree import dumped
from pipeline.handset.windows import Window, not_responding, question
from pipeline.ports import LOOPBACK

BROWSER = "org.pathproof.browser"
"""The package that opens addresses nobody else is asked to open."""

LOOKS = frozenset({"font_scale", "ui_night_mode", "time_12_24", "system_locales", "device_name"})
"""Settings that pages of the phone show by how they look."""

_ADDRESS = "pathproof_address_"
_SETTINGS = "/data/data/com.android.providers.settings/databases/settings.db"


class Build(NamedTuple):
    """What one phone is built with."""

    folder: Path
    packages: Packages
    clock: Clock
    language: str = "en"
    faults: str = ""
    boot_seconds: float = 0.5


@dataclass
class Task:
    """One task: a package and the pages it has opened, the newest last."""

    number: int
    package: Package
    views: list[View] = field(default_factory=list)


class Front(NamedTuple):
    """What has the focus."""

    view: View
    package: Package
    title: str
    """What the window manager calls the window."""


class Phone:
    """One phone."""

    def __init__(self, build: Build, browser: Browser) -> None:
        """Nothing runs before `boot_up`; `base` is then to be set to where the pages are served."""
        self.files = Files(build.folder)
        self.packages = build.packages
        self.clock = build.clock
        self.boot = Boot()
        self.faults = Faults(build.faults)
        locale = LANGUAGES[build.language]
        self.settings = Settings(self.files.place(_SETTINGS), {"system_locales": locale})
        self.properties = Properties(first_properties(locale, DENSITY))
        self.tasks: list[Task] = []
        """The one used last comes first."""
        self.window: Window | None = None
        self.frozen = ""
        """The package that does not respond though no window says so."""
        self.events: list[str] = []
        """The event log."""
        self.booted = False
        self.reboot_asked = asyncio.Event()
        self.base = ""
        self._build, self._browser = build, browser
        self._glass = Glass(browser, self._dialog, self._popup)
        self._front: Task | None = None
        self._shell_shows: Literal["home", "recents"] = "home"
        self._system: dict[str, View] = {}
        self._bars: dict[tuple[object, ...], Image.Image] = {}
        self._numbers = 1
        self._work: set[asyncio.Task[None]] = set()

    @property
    def language(self) -> str:
        """`en` or `zh`."""
        return self.properties.language

    @property
    def rotation(self) -> int:
        """How the display is turned, 0 to 3."""
        value = self.settings.get("system", "user_rotation") or "0"
        return int(value) % 4 if value.isdecimal() else 0

    @property
    def size(self) -> Size:
        """The display as it is turned now."""
        return display_size(self.rotation)

    def label(self, package: Package) -> str:
        """What a package is called in the phone's language."""
        return package.labels[self.language]

    @property
    def front(self) -> Front:
        """What has the focus."""
        if self.window is not None:
            owner = self._front.package if self._front else self._named(LAUNCHER)
            return Front(self._system["window"], owner, self.window.title)
        if self._front is not None:
            package = self._front.package
            return Front(self._front.views[-1], package, package.full_component)
        package = self._named(LAUNCHER if self._shell_shows == "home" else SYSTEM_UI)
        title = package.full_component if self._shell_shows == "home" else f"{SYSTEM_UI}/{SYSTEM_UI}.RecentsActivity"
        return Front(self._system["shell"], package, title)

    @property
    def resumed(self) -> Task | None:
        """The task in front; None for the home screen and the overview."""
        return self._front

    async def boot_up(self) -> None:
        """Start with an empty screen at home; raises SetupError or RunError."""
        self._down()
        self.tasks, self._front, self.window, self.frozen = [], None, None, ""
        self._allow()
        self._glass.locale = self.properties.get(LOCALE)
        await self._glass.start()
        self._glass.turn(self.rotation)
        self._system = {name: await self._glass.open() for name in ("shell", "window")}
        self._system["bar"] = await self._glass.open(Size(self.size.width, BAR * RATIO))
        self._bars.clear()
        await self.home()
        self.booted = True
        self.properties.put("sys.boot_completed", "1")
        self.events.append("boot_completed")

    async def reboot(self) -> None:
        """Boot again: another boot id, no tasks; settings, files and packages stay."""
        self._down()
        self.boot.renew()
        await asyncio.sleep(self._build.boot_seconds)
        await self.boot_up()

    def _down(self) -> None:
        """Until it has booted no service answers."""
        self.booted = False
        self.properties.put("sys.boot_completed", "")

    async def close(self) -> None:
        """Stop what is still under way."""
        for task in self._work:
            task.cancel()
        await asyncio.gather(*self._work, return_exceptions=True)

    async def home(self) -> None:
        """Show the home screen."""
        await self._show_shell("home")

    async def recents(self) -> None:
        """Show the overview of applications used."""
        await self._show_shell("recents")

    async def start(self, package: Package, url: str | None = None) -> bool:
        """Bring a package to the front and, where one is given, open an address in it; whether it ran already."""
        task = next((task for task in self.tasks if task.package.name == package.name), None)
        running = task is not None
        if task is None:
            self._numbers += 1
            task = Task(self._numbers, package, [await self._glass.open()])
        if url is not None:
            self.settings.put("global", _ADDRESS + package.name, url)
        if url is not None or not running:
            self._allow()
            await task.views[0].start_at(self._address(package))
        self.tasks = [task, *(other for other in self.tasks if other is not task)]
        self._front = task
        await self._freeze(package)
        return running

    async def stop(self, name: str) -> None:
        """End a package's task."""
        self.frozen = "" if self.frozen == name else self.frozen
        for task in [task for task in self.tasks if task.package.name == name]:
            self.tasks.remove(task)
            if self._front is task:
                self.window = None
                await self.home()
            elif self.window is not None and self.window.about == name:
                self.window = None
            for view in task.views:
                await view.close()

    async def mend(self) -> None:
        """End applications whose page has crashed; boot again when the screen itself is gone."""
        crashed = [task for task in self.tasks if any(view.crashed for view in task.views)]
        for task in crashed:
            self.events.append(f"am_crash: [4242,0,{task.package.name},0,page crashed]")
            await self.stop(task.package.name)
        if not self._browser.alive or any(view.crashed for view in self._system.values()):
            self.reboot_asked.set()

    async def clear(self, package: Package) -> None:
        """Put a package back to what it is like before its first start."""
        await self.stop(package.name)
        with contextlib.suppress(FileNotFoundError):
            self.files.remove(f"/data/data/{package.name}", tree=True)
        address = self.settings.get("global", _ADDRESS + package.name)
        self.settings.delete("global", _ADDRESS + package.name)
        if package.kind == "web" and address is not None:
            await self._system["shell"].forget(address)

    async def back(self) -> None:
        """What the Back key does."""
        if self.window is not None:
            await self.answer(self.window.dismissal, "")
        elif self._front is None:
            await self.home()
        elif not await self._front.views[-1].back():
            if len(self._front.views) > 1:
                await self._front.views.pop().close()
            else:
                await self.home()

    async def answer(self, key: str, text: str) -> None:
        """Answer the window in front."""
        window, self.window = self.window, None
        if window is not None:
            await window.answer(key, text)

    async def not_responding(self, package: Package) -> None:
        """Say that a package does not respond."""

        async def answer(key: str, text: str) -> None:
            del text
            if key == "close":
                await self.stop(package.name)

        await self._show_window(not_responding(package.name, self.label(package), self.language, answer))

    async def _freeze(self, package: Package) -> None:
        """Let a package not respond, where that is due."""
        hidden = self.faults.take("anr_hidden", package.name)
        shown = self.faults.take("anr", package.name)
        if hidden or shown:
            self.events.append(f"am_anr  : [0,4242,{package.name},-1,Input dispatching timed out]")
        if hidden:
            self.frozen = package.name
        if shown:
            await self.not_responding(package)

    async def turn(self, rotation: int) -> None:
        """Turn the display."""
        self.settings.put("system", "user_rotation", str(rotation % 4))
        size = self._glass.turn(self.rotation)
        await self._system["bar"].resize(Size(size.width, BAR * RATIO))
        for view in self._all_views():
            await view.resize(size)

    async def changed(self, name: str, *, by_page: bool = False) -> None:
        """A setting has another value: let it have its effect. A page that changed it shows it by itself."""
        if name == FAULT:
            await self.order_faults(self.settings.get("global", FAULT) or "")
        elif name == "user_rotation":
            await self.turn(self.rotation)
        elif name == "system_locales":
            self.properties.put(LOCALE, self.settings.get("system", name) or LANGUAGES["en"])
        if name in LOOKS:
            await self._refresh(self._front.views[-1] if by_page and self._front else None)

    async def order_faults(self, text: str) -> None:
        """Replace the faults that are due, and let those happen that need no occasion; raises ValueError."""
        self.faults.order(text)
        turned = self.faults.take("rotate")
        if turned:
            await self.turn(int(turned.argument or "1"))
        if self._front is not None:
            await self._freeze(self._front.package)

    async def is_secure(self) -> bool:
        """Whether what is in front must not be captured."""
        return self.faults.peek("secure") is not None or await self.front.view.is_secure()

    async def picture(self) -> bytes:
        """The whole display as PNG; black where it is secure."""
        if self.faults.take("black") or await self.is_secure():
            self.faults.take("secure")
            return encoded(Image.new("RGB", self.size))
        below = Size(self.size.width, self.size.height - BAR * RATIO)
        page = await self.front.view.picture(below)
        return await asyncio.to_thread(lambda bar: encoded(composed(bar, page)), await self._bar())

    async def tree(self) -> str:
        """The UI tree of what is in front."""
        front = self.front
        nodes = await front.view.call(f"phoneTree({RATIO})")
        package = "android" if self.window is not None else front.package.name
        if front.package.kind != "web" or self.window is not None:
            # The phone's own screens are no pages to whoever looks at them.
            nodes = [{**nodes[0], "box": None}, *nodes[1:]]
        return dumped(nodes, package, self.rotation, self.size)

    async def _bar(self) -> Image.Image:
        """The status bar; taken once for each look of it."""
        switches = [self.settings.is_on("global", name) for name in ("airplane_mode_on", "wifi_on", "bluetooth_on")]
        key = (self.size.width, self.settings.get("system", "time_12_24"), self.night, *switches)
        if key not in self._bars:
            await self._system["bar"].go(f"{self.base}/system/bar")
            self._bars[key] = await self._system["bar"].picture(Size(self.size.width, BAR * RATIO))
        return self._bars[key]

    @property
    def night(self) -> bool:
        """Whether the dark theme is on."""
        return self.settings.get("secure", "ui_night_mode") == "2"

    async def _show_shell(self, shows: Literal["home", "recents"]) -> None:
        self._front, self._shell_shows = None, shows
        await self._system["shell"].start_at(f"{self.base}/system/{shows}")

    async def _show_window(self, window: Window) -> None:
        self.window = window
        await self._system["window"].start_at(f"{self.base}/system/window")

    def _dialog(self, view: View, dialog: Dialog) -> None:
        if dialog.type == "beforeunload":
            view.answered()
            self.later(dialog.accept())
            return
        title = self._front.package.full_component if self._front else LAUNCHER
        self.later(self._show_window(question(dialog, title, self.language, view.answered)))

    def _popup(self, page: Page) -> None:
        self.later(self._follow(page))

    async def _follow(self, page: Page) -> None:
        """A page that an application has opened lies on top of it; Back closes it."""
        opener = await page.opener()
        for task in self.tasks:
            if any(view.page is opener for view in task.views):
                task.views.append(await self._glass.adopted(page))
                return
        await page.close()

    def later(self, work: Awaitable[None]) -> None:
        """Do something that nobody waits for."""
        task: asyncio.Task[None] = asyncio.ensure_future(work)
        self._work.add(task)
        task.add_done_callback(self._work.discard)

    async def _refresh(self, but: View | None) -> None:
        """Show pages of the phone's own anew."""
        self._glass.locale = self.properties.get(LOCALE)
        self._bars.clear()
        own = [view for task in self.tasks if task.package.kind == "builtin" for view in task.views]
        for view in (self._system["shell"], *own):
            if view is not but:
                await view.reload()

    def _all_views(self) -> list[View]:
        views = [view for task in self.tasks for view in task.views]
        return [self._system["shell"], self._system["window"], *views]

    def _address(self, package: Package) -> str:
        """Where a package begins: its own pages, or the address it was opened with last."""
        if package.kind == "builtin" and package.name != BROWSER:
            return f"{self.base}/{package.name}/"
        remembered = self.settings.get("global", _ADDRESS + package.name)
        return remembered or f"{self.base}/system/empty?package={quote(package.name)}"

    def _allow(self) -> None:
        """Pages reach the phone's own server and, on this machine, what packages were told to open; nothing else."""
        addresses = {parts_of(self.base).netloc}
        for name, value in self.settings.all("global"):
            parts = parts_of(value) if name.startswith(_ADDRESS) else None
            if parts is not None and parts.hostname in (LOOPBACK, "localhost"):
                addresses.add(parts.netloc.rpartition("@")[2])
        self._browser.proxy.allow_list = AllowList(addresses)

    def _named(self, name: str) -> Package:
        package = self.packages.known(name)
        assert package is not None, name
        return package
