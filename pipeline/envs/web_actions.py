"""Carries actions out on a tab, and afterwards asks the page what became of them.

`begin` does what the action says; once the page has settled, `conclude` compares: text that did not arrive, a choice
that was taken back, a click on something covered. Points are in CSS pixels. Which tab is acted on, and
what is recorded, is decided elsewhere.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Sequence
from typing import NamedTuple

from playwright.async_api import Error as PlaywrightError

from pipeline.actions import (
    AcceptDialog,
    Action,
    Click,
    DoubleClick,
    Drag,
    GetUrl,
    Hotkey,
    Hover,
    Launch,
    LongPress,
    PressBack,
    PressEnter,
    RightClick,
    Scroll,
    SelectOption,
    Swipe,
    TakeNote,
    Type,
    Wait,
)
from pipeline.addresses import joined
from pipeline.allowlist import AllowList
from pipeline.egress import REFUSED_HEADER
from pipeline.envs.web_keys import key_names
from pipeline.envs.web_tab import CALL_SECONDS, Tab
from pipeline.errors import ActionError
from pipeline.room import let_pass
from pipeline.structs import TargetUnderPoint

NAVIGATION_SECONDS = 15.0

_HOLD_SECONDS = 0.8
_WAIT_SECONDS = 1.0
_DRAG_STEPS = 12
_SHARE = 2 / 3
_SECONDS_PER_CHARACTER = 0.02
_MOST_KEYS = 300
_NOT_A_PAGE = ("Download is starting", "ERR_ABORTED")
"""What the browser says when it has been given a file, or nothing, in place of a page."""
_BARE_HOST = re.compile(r"(localhost|[\w-]+(\.[\w-]+)+)(:\d+)?(/|$)")
_UNVERIFIED = "text_unverified"
"""Step flag: the text was given to something that does not show what it holds."""


class Spot(NamedTuple):
    """A point of the viewport in CSS pixels."""

    x: float
    y: float


class Aim(NamedTuple):
    """What lay under the point before the action, and the page's stamp then."""

    target: TargetUnderPoint
    stamp: str


class Hands:
    """Acts on one tab, within an allow-list."""

    def __init__(self, tab: Tab, allow_list: AllowList, *, has_opener: bool) -> None:
        self._tab = tab
        self._page = tab.page
        self._allow_list = allow_list
        self._has_opener = has_opener
        self._typed_nowhere: str | None = None
        self._typed_beyond = False

    async def begin(self, action: Action, spots: Sequence[Spot]) -> str | None:
        """Do what the action says; what the policy should hear. Raises ActionError, TimeoutError, Playwright's own."""
        match action:
            case Click() | DoubleClick() | RightClick() | LongPress() | Hover() | Scroll():
                await self._point(action, spots[0])
            case Drag() | Swipe():
                await self._stroke(action, spots[0], spots[1])
            case Type() | Hotkey() | PressEnter() | SelectOption():
                await self._enter(action)
            case _:
                return await self._other(action)
        return None

    async def conclude(self, action: Action, aim: Aim | None, stamp: str) -> list[str]:
        """Flags of the step, once the page has settled with `stamp`; raises ActionError when it came to nothing."""
        match action:
            case Type():
                return await self._text_arrived(stamp)
            case SelectOption():
                outcome, chosen = await self._tab.call("choiceOutcome")
                if outcome == "reverted":
                    raise ActionError("value_reverted", f"the page changed the choice back to '{chosen}'")
            case Click() | DoubleClick() | RightClick() | LongPress():
                if aim is not None and aim.target.covered_by is not None and aim.stamp == stamp:
                    target = f"{aim.target.role} '{aim.target.name}'"
                    detail = f"{target} is covered by {aim.target.covered_by}; nothing changed"
                    raise ActionError("target_covered", detail)
        return []

    async def _point(self, action: Action, spot: Spot) -> None:
        mouse = self._page.mouse
        async with asyncio.timeout(CALL_SECONDS):
            match action:
                case Click():
                    await mouse.click(*spot)
                case DoubleClick():
                    await mouse.dblclick(*spot)
                case RightClick():
                    await mouse.click(*spot, button="right")
                case LongPress():
                    await mouse.click(*spot, delay=_HOLD_SECONDS * 1000)
                case Hover():
                    await mouse.move(*spot)
                case Scroll():
                    await self._scroll(action, spot)

    async def _scroll(self, action: Scroll, spot: Spot) -> None:
        """Turn the wheel by two thirds of what scrolls there: the page's viewport, or a smaller part with its own."""
        width, height = await self._tab.call("scroller", *spot, action.direction)
        across, along = {"left": (-1, 0), "right": (1, 0), "up": (0, -1), "down": (0, 1)}[action.direction]
        await self._page.mouse.move(*spot)
        await self._page.mouse.wheel(across * width * _SHARE, along * height * _SHARE)

    async def _stroke(self, action: Drag | Swipe, start: Spot, end: Spot) -> None:
        """A drag presses and moves; a swipe moves the content along with the finger, which a wheel does on the web."""
        mouse = self._page.mouse
        async with asyncio.timeout(CALL_SECONDS):
            await mouse.move(*start)
            if isinstance(action, Swipe):
                await mouse.wheel(start.x - end.x, start.y - end.y)
                return
            await mouse.down()
            await mouse.move(*end, steps=_DRAG_STEPS)
            await mouse.up()

    async def _enter(self, action: Type | Hotkey | PressEnter | SelectOption) -> None:
        match action:
            case Type():
                await self._type(action.content.replace("\r\n", "\n"))
            case SelectOption():
                await self._choose(action.index)
            case Hotkey():
                await self._press(key_names(action.keys))
            case PressEnter():
                await self._press(["Enter"])

    async def _press(self, keys: Sequence[str]) -> None:
        async with asyncio.timeout(CALL_SECONDS):
            for key in keys:
                await self._page.keyboard.down(key)
            for key in reversed(keys):
                await self._page.keyboard.up(key)

    async def _type(self, text: str) -> None:
        if not text:
            raise ActionError("bad_arguments", "there is no text to type")
        place = await self._tab.call("expectText", text)
        if place == "one_line":
            raise ActionError("text_not_delivered", "the field takes a single line of text; press Enter by PressEnter")
        self._typed_beyond = place == "beyond"
        keyboard = self._page.keyboard
        async with asyncio.timeout(CALL_SECONDS + len(text) * _SECONDS_PER_CHARACTER):
            if place == "nowhere":
                self._typed_nowhere = await self._tab.call("stamp")
                await keyboard.type(text[:_MOST_KEYS])
                return
            # The last character is a real key press, so that pages which listen to keys notice the whole text.
            keyed = text[-1:] if text[-1].isascii() and text[-1].isprintable() else ""
            if text[: len(text) - len(keyed)]:
                await keyboard.insert_text(text[: len(text) - len(keyed)])
            if keyed:
                await keyboard.press("Space" if keyed == " " else keyed)

    async def _text_arrived(self, stamp: str) -> list[str]:
        if self._typed_nowhere is not None:
            if self._typed_nowhere == stamp:
                raise ActionError("text_not_delivered", "no text field has the focus")
            return [_UNVERIFIED]
        if self._typed_beyond:
            return [_UNVERIFIED]
        outcome, held = await self._tab.call("textOutcome")
        if outcome == "reverted":
            raise ActionError("value_reverted", f"the page changed the field back to '{held}'")
        if outcome == "missing":
            raise ActionError("text_not_delivered", f"the field now holds '{held}'")
        return [_UNVERIFIED] if outcome == "unverified" else []

    async def _choose(self, index: int) -> None:
        outcome, detail = await self._tab.call("choose", index)
        match outcome:
            case "none":
                raise ActionError("option_not_found", "no native drop-down has the focus or was clicked")
            case "missing":
                raise ActionError("option_not_found", f"there is no option {index}; the drop-down has {detail}")
            case "disabled":
                raise ActionError("option_not_found", f"option {index}, '{detail}', cannot be chosen")

    async def _other(self, action: Action) -> str | None:
        match action:
            case Launch():
                await self._launch(full_address(action.url, self._page.url))
            case PressBack():
                await self._back()
            case Wait():
                await let_pass(_WAIT_SECONDS)
            case AcceptDialog():
                self._tab.accept_next = True
                return "the next question of this page will be accepted"
            case GetUrl():
                return self._page.url
            case TakeNote():
                return action.content
            case _:
                raise ActionError("unknown_action", f"{action.type} is not an action of the web")
        return None

    async def _launch(self, url: str) -> None:
        if not self._allow_list.permits_url(url):
            raise ActionError("blocked_address", f"{url} is not an address that may be opened")
        try:
            response = await self._page.goto(url, wait_until="commit", timeout=NAVIGATION_SECONDS * 1000)
        except PlaywrightError as error:
            if any(words in error.message for words in _NOT_A_PAGE):
                return
            if "ERR_TUNNEL_CONNECTION_FAILED" in error.message:
                raise _refused(url) from error
            raise
        if response is not None and REFUSED_HEADER in response.headers:
            raise _refused(url)

    async def _back(self) -> None:
        """Go to the earlier page; in a window that has none, close it, for there is no other way back to its opener."""
        if await self._tab.history() > 0:
            await self._page.go_back(wait_until="commit", timeout=NAVIGATION_SECONDS * 1000)
        elif self._has_opener:
            async with asyncio.timeout(CALL_SECONDS):
                await self._page.close()
        else:
            raise ActionError(None, "there is no earlier page")


def full_address(url: str, base: str) -> str:
    """An address as a person may type it, seen from a page: with a scheme, a bare host, or relative to the page."""
    if "://" in url or not _BARE_HOST.match(url):
        return joined(base, url)
    return f"http://{url}"


def _refused(url: str) -> ActionError:
    return ActionError("blocked_address", f"{url} leads to an address that may not be opened")
