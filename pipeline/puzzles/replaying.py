"""Shows the pages of puzzles in Chromium, reads back what was drawn where, and gives answers by our web environment.

Clicks, drags and keys are those of `envs.web_actions`, at canonical points, as a policy's are. Pages are used again and
again; one browser serves many of them at the same time. Knows nothing of rows.
"""

from __future__ import annotations

import asyncio
import contextlib
import math
from collections.abc import AsyncIterator, Sequence
from collections.abc import Set as AbstractSet
from contextlib import asynccontextmanager
from typing import NamedTuple

from playwright.async_api import Error as PlaywrightError

from pipeline.actions import ACTION, Action, Pixel, Point, canonical_point, device_pixel, points_of
from pipeline.allowlist import AllowList
from pipeline.envs.browser import Browser, Screen
from pipeline.envs.web_actions import Hands, Spot
from pipeline.envs.web_tab import Tab
from pipeline.errors import EnvError
from pipeline.frames import frame_of
from pipeline.puzzles.answers import Region
from pipeline.puzzles.page import On
from pipeline.puzzles.plan import Act, Part
from pipeline.puzzles.puzzle import Key
from pipeline.puzzles.scene import WIDTH, Buttons, Scene
from pipeline.puzzles.serving import address_of
from pipeline.reaper import Scratch
from pipeline.records import Frame
from pipeline.structs import Box

SCREENS: dict[On, Screen] = {
    "web": Screen(width=1280, height=720, ratio=1.0),
    "phone": Screen(width=390, height=844, ratio=2.0),
}
_SECONDS = 40.0
_SIGHTS = 5
_DRIFT = 5.0
"""Units by which the middle of a mark may differ from that of its region: letters are not as wide as their region."""
_ROOM, _MARGIN = 0.35, 6.0
"""Part of its size, and units, by which a region may be larger on each side than what is drawn, and the other way."""
_READ = """() => {
    const box = (element) => {
        const { left, top, right, bottom } = element.getBoundingClientRect();
        return [left, top, right, bottom];
    };
    const named = (attribute) => Object.fromEntries(
        [...document.querySelectorAll(`[data-${attribute}]`)].map((one) => [one.dataset[attribute], box(one)]));
    const off = [...document.querySelectorAll("[data-control]:disabled")].map((one) => one.dataset.control);
    return { controls: named("control"), marks: named("mark"), parts: named("part"), off };
}"""

_SAYS = """(name) => new Promise((said) => {
    const look = () => {
        const word = document.body.dataset[name];
        if (word) said(word);
        else setTimeout(look, 5);
    };
    look();
})"""
"""What the page says of its `state` or its `verdict`, as soon as it says it."""
_AGAIN = "() => document.dispatchEvent(new Event('again'))"
_READS = ("controls", "marks", "parts")

Edges = tuple[float, float, float, float]
"""Left, top, right, bottom."""


class Shown(NamedTuple):
    """A page that is shown: its picture, and boxes in CSS pixels."""

    frame: Frame
    controls: dict[str, Edges]
    marks: dict[str, Edges]
    parts: dict[str, Edges]
    ratio: float
    off: frozenset[str]
    """Controls that cannot be used yet."""

    def pixels(self, edges: Edges) -> Box:
        """A box in pixels of the picture, rounded inwards."""
        left, top, right, bottom = (edge * self.ratio for edge in edges)
        return Box(left=math.ceil(left), top=math.ceil(top), right=int(right), bottom=int(bottom))

    def edges(self, region: Region) -> Edges:
        """The box around a region of the art, in CSS pixels."""
        left, top, right, _ = self.controls["art"]
        scale = (right - left) / WIDTH
        west, north, east, south = region.edges
        return (left + west * scale, top + north * scale, left + east * scale, top + south * scale)

    def place(self, control: str, part: Part) -> Point:
        """The canonical point of a part of a control; the nearest one of the picture."""
        left, top, right, bottom = (edge * self.ratio for edge in self.controls[control])
        x, y = left + part.across * (right - left), top + part.down * (bottom - top)
        width, height = self.frame.width, self.frame.height
        pixel = Pixel(x=min(max(math.floor(x), 0), width - 1), y=min(max(math.floor(y), 0), height - 1))
        return canonical_point(pixel, width, height)

    def pixel(self, point: Point) -> Pixel:
        """The pixel of the picture that a canonical point stands for."""
        return device_pixel(point, self.frame.width, self.frame.height)

    def action(self, act: Act) -> Action:
        """What a policy would say to do it."""
        fields: dict[str, object] = {"type": act.action}
        match act.action:
            case "Type":
                fields["content"] = act.content or ""
            case "Drag":
                fields |= {"start": self.place(act.control, act.at), "end": self.place(act.control, act.to or act.at)}
            case "Click" | "LongPress":
                fields["point"] = self.place(act.control, act.at)
        return ACTION.validate_python(fields)


class Replayer:
    """One Chromium with some pages of each screen; an asynchronous context manager."""

    def __init__(self, scratch: Scratch, address: str, pages: int) -> None:
        """`address` (host:port) is where `serving.site` answers; `pages` are shown at the same time."""
        self._browser = Browser(scratch, episodes=1_000_000)
        self._base_url = f"http://{address}"
        self._allow_list = AllowList([address])
        self._free = asyncio.Semaphore(pages)
        self._idle: dict[On, list[Tab]] = {on: [] for on in SCREENS}
        self._opening = asyncio.Lock()

    async def __aenter__(self) -> Replayer:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._browser.close()

    async def renew(self) -> None:
        """End the browser, which keeps what it has seen in memory; nothing may be shown meanwhile."""
        self._idle = {on: [] for on in SCREENS}
        await self._browser.close()

    @asynccontextmanager
    async def page(self, on: On) -> AsyncIterator[ShownPage]:
        """A page of our own for a while; raises EnvError when it does not answer, SetupError without a browser."""
        async with self._free:
            tab = self._idle[on].pop() if self._idle[on] else await self._open(on)
            try:
                async with asyncio.timeout(_SECONDS):
                    yield ShownPage(tab, self._base_url, on, self._allow_list)
            except (PlaywrightError, TimeoutError) as error:
                with contextlib.suppress(PlaywrightError):
                    await tab.page.context.close()
                raise EnvError("page_lost", f"a page of puzzles did not answer: {error}") from error
            self._idle[on].append(tab)

    async def _open(self, on: On) -> Tab:
        async with self._opening:  # a browser that is not there yet is started once
            self._browser.proxy.allow_list = self._allow_list
            context = await self._browser.context(SCREENS[on])
        return await Tab.open(await context.new_page(), SCREENS[on], self._browser.proxy)


class ShownPage:
    """A page on which puzzles are shown and answered, one after the other."""

    def __init__(self, tab: Tab, base_url: str, on: On, allow_list: AllowList) -> None:
        self._tab, self._base_url, self._on = tab, base_url, on
        self._hands = Hands(tab, allow_list, has_opener=False)

    async def show(self, key: Key) -> None:
        """Open the page of a puzzle."""
        await self._tab.page.goto(self._base_url + address_of(key, self._on))
        await self._tab.page.evaluate(_SAYS, "state")

    async def again(self) -> None:
        """Set the page to what it was before it was answered."""
        await self._tab.page.evaluate(_AGAIN)

    async def see(self, off: AbstractSet[str] = frozenset()) -> Shown:
        """The picture of the page, and what stands where.

        Controls that are `off` at first are so in the picture: otherwise the page is set back and seen again.
        """
        shown = await self._seen()
        for _ in range(_SIGHTS):
            if off <= shown.off:
                break
            await self.again()
            shown = await self._seen()
        return shown

    async def _seen(self) -> Shown:
        """What is off after the picture has been taken was off in it."""
        frame = frame_of(await self._tab.picture())
        read = await self._tab.page.evaluate(_READ)
        controls, marks, parts = ({name: tuple(box) for name, box in read[what].items()} for what in _READS)
        return Shown(frame, controls, marks, parts, SCREENS[self._on].ratio, frozenset(read["off"]))

    async def give(self, shown: Shown, acts: Sequence[Act]) -> bool:
        """Do it as a policy does, and read the page's own verdict."""
        for act in acts:
            action = shown.action(act)
            pixels = map(shown.pixel, points_of(action))
            await self._hands.begin(action, [Spot(pixel.x / shown.ratio, pixel.y / shown.ratio) for pixel in pixels])
        return str(await self._tab.page.evaluate(_SAYS, "verdict")) == "right"


def misplaced(scene: Scene, shown: Shown) -> list[str]:
    """What is drawn elsewhere than the latent state has it, or cannot be seen whole; nothing when all is well."""
    left, top, right, _ = shown.controls["art"]
    scale = (right - left) / WIDTH
    faults = [f"{name} is drawn, but is no mark" for name in shown.marks.keys() - scene.marks.keys()]
    for name, region in scene.marks.items():
        if name not in shown.marks:
            faults.append(f"{name} is not drawn")
            continue
        drawn = [(edge - start) / scale for edge, start in zip(shown.marks[name], (left, top, left, top), strict=True)]
        faults += [f"{name} {fault}" for fault in _off(region.edges, drawn)]
    width, height = shown.frame.width / shown.ratio, shown.frame.height / shown.ratio
    for name, (west, north, east, south) in shown.controls.items():
        if west < 0 or north < 0 or east > width or south > height:
            faults.append(f"{name} is not wholly on the screen")
    faults += [f"{name} can be used at once" for name in sorted(off_at_first(scene) - shown.off)]
    return faults


def off_at_first(scene: Scene) -> frozenset[str]:
    """Controls that can be used only after a while."""
    buttons = scene.control.buttons if isinstance(scene.control, Buttons) else []
    return frozenset(f"button:{one.name}" for one in buttons if one.wait > 0)


def _off(region: Sequence[float], drawn: Sequence[float]) -> list[str]:
    """How a drawn box differs from the box of its region; both left, top, right, bottom in units."""
    faults = []
    for low, high, name in ((0, 2, "across"), (1, 3, "down")):
        wanted, found = region[high] - region[low], drawn[high] - drawn[low]
        middles = abs(region[low] + region[high] - drawn[low] - drawn[high]) / 2
        if middles > _DRIFT:
            faults.append(f"is {middles:.1f} units off, {name}")
        if max(wanted, found) > min(wanted, found) * (1 + 2 * _ROOM) + 2 * _MARGIN:
            faults.append(f"is {found:.0f} units {name}, not {wanted:.0f}")
    return faults
