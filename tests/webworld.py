"""The web environment on pages of the test server, for tests: short words for looking and acting."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from pipeline.actions import ACTION, Action, Pixel, canonical_point
from pipeline.allowlist import AllowList
from pipeline.envs.browser import Browser, Screen
from pipeline.envs.web import WebEnvironment
from pipeline.envs.web_actions import Hands
from pipeline.envs.web_sites import StaticSite
from pipeline.protocols import ActResult, Observation
from pipeline.reaper import Scratch
from pipeline.records import Event
from pipeline.structs import Node
from pipeline.tasks import Start, TaskSpec
from tests.webserver import WebServer, page


def task_at(path: str = "/") -> TaskSpec:
    return TaskSpec(
        task_id="task",
        app_ids=["site"],
        platform="web",
        tier="single",
        instruction="look around",
        language="en",
        capability_ids=[],
        start=Start(app_id="site", path=path),
        contract_kind="state",
        segments=[],
        domain="Web",
    )


class World:
    """One environment and the server of its pages."""

    def __init__(self, server: WebServer, environment: WebEnvironment) -> None:
        self.server = server
        self.environment = environment

    async def open(self, html: str, path: str = "/") -> Observation:
        self.server.answers[path] = page(html)
        await self.environment.start(task_at(path))
        return await self.environment.observe()

    async def look(self) -> Observation:
        return await self.environment.observe()

    async def do(self, action: str, *pixels: Pixel, **fields: object) -> ActResult:
        return await self.environment.act(made(action, *pixels, **fields), list(pixels))

    async def at(self, role: str, name: str) -> Pixel:
        return spot(await self.look(), role, name)

    async def click(self, role: str, name: str) -> ActResult:
        return await self.do("Click", await self.at(role, name))

    def hands(self) -> Hands:
        """Hands on the active tab that do not wait for the page to settle."""
        tab = self.environment._watching().tab
        assert tab is not None
        return Hands(tab, AllowList(), has_opener=False)

    async def picture(self) -> bytes:
        """The active page's picture, asked for once."""
        tab = self.environment._watching().tab
        assert tab is not None
        return await tab.picture()

    async def ask(self, expression: str) -> object:
        """The value of an expression in the page itself."""
        tab = self.environment._watching().tab
        assert tab is not None
        return await tab.page.evaluate(expression)

    async def crash(self) -> None:
        """Crash the active page's renderer, and wait until that is known."""
        tab = self.environment._watching().tab
        assert tab is not None
        crashed = asyncio.Event()
        tab.page.on("crash", lambda _: crashed.set())
        crashing = asyncio.ensure_future(tab._session.send("Page.crash"))
        async with asyncio.timeout(10):
            await crashed.wait()
        crashing.cancel()

    async def event(self, kind: str) -> Event:
        """The next event of a kind, which may be on its way."""
        async with asyncio.timeout(10):
            while True:
                for event in self.events():
                    if event.kind == kind:
                        return event
                await asyncio.sleep(0.02)

    def events(self) -> list[Event]:
        return self.environment.drain_events()


def made(action: str, *pixels: Pixel, **fields: object) -> Action:
    points = [canonical_point(pixel, 2000, 2000).model_dump() for pixel in pixels]
    named = dict(zip(["point"] if len(points) < 2 else ["start", "end"], points, strict=False))
    return ACTION.validate_python({"type": action, **named, **fields})


def node(seen: Observation, role: str, name: str) -> Node:
    found = [node for node in (seen.tree.nodes if seen.tree else []) if node.role == role and node.name == name]
    assert found, f"no {role} {name!r}"
    return found[0]


def spot(seen: Observation, role: str, name: str) -> Pixel:
    box = node(seen, role, name).box
    assert box is not None
    return box.centre


@asynccontextmanager
async def running_browser() -> AsyncIterator[Browser]:
    with Scratch("test-web") as scratch:
        browser = Browser(scratch)
        try:
            yield browser
        finally:
            await browser.close()


@asynccontextmanager
async def running_world(
    browser: Browser, screen: Screen | None = None, allow: tuple[str, ...] = ()
) -> AsyncIterator[World]:
    with WebServer() as server:
        environment = WebEnvironment(browser, lambda _: StaticSite(server.url), allow=allow, screen=screen)
        try:
            yield World(server, environment)
        finally:
            await environment.finish()
