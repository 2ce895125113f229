"""The ways that a page may go without being told of, in a browser without a policy and in ours.

Without one, with a profile of its own and no proxy, each of them arrives: that a second server's log stays empty in
`test_reaching_out.py` is the policy's doing. Three have no such control, for this browser never goes them: a sheet of
XSLT from elsewhere, what a PDF does when it is opened, and reports of pages without a certificate that it trusts.
"""

import json
import os
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio
from playwright.async_api import BrowserContext, async_playwright

from pipeline.envs import browser as our_browser
from pipeline.envs.browser import Browser, find_chromium
from tests.elsewhere import Elsewhere, second_server
from tests.test_reaching_out import NOTHING, refused, until
from tests.ways import WAYS, page_of, prepare
from tests.webserver import WebServer, page
from tests.webworld import World, running_browser, running_world

pytestmark = pytest.mark.asyncio(loop_scope="module")

CONNECTING = ("preconnect", "payment", "identity", "late", "speculation")
DATAGRAMS = ("stun", "turn", "web-transport")
NAME = "secret.somewhere.invalid"
NAMING = f"""<link rel=dns-prefetch href='//{NAME}'><link rel=preconnect href='https://{NAME}'>
<img src='http://{NAME}/x'><script>new WebSocket('ws://{NAME}/x')</script>"""
"""Ways to tell a secret to whoever answers for a name: looking it up is enough."""


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def free(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[BrowserContext]:
    async with async_playwright() as playwright:
        context = await _launched(playwright, tmp_path_factory.mktemp("profile"))
        yield context
        await context.close()


@pytest_asyncio.fixture(loop_scope="module")
async def other() -> AsyncIterator[Elsewhere]:
    async with second_server() as listening:
        yield listening


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def browser() -> AsyncIterator[Browser]:
    async with running_browser() as running:
        yield running


@pytest.mark.parametrize("name", [*CONNECTING, "turn-tcp"])
async def test_a_connection_arrives_without_a_policy(free: BrowserContext, other: Elsewhere, name: str) -> None:
    with WebServer() as server:
        await _gone(free, server, other, name)

        await until(lambda: other.connections > 0)
    assert other.connections > 0


@pytest.mark.parametrize("name", DATAGRAMS)
async def test_datagrams_arrive_without_a_policy(free: BrowserContext, other: Elsewhere, name: str) -> None:
    with WebServer() as server:
        await _gone(free, server, other, name)

        await until(lambda: other.datagrams > 0)
    assert other.datagrams > 0


async def test_a_manifest_is_fetched_from_a_listed_server_and_from_no_other(browser: Browser, other: Elsewhere) -> None:
    async with running_world(browser) as world:
        await _with_manifest(world, other)
        await refused(world, {f"{other.url}/manifest"})
    assert other.log == NOTHING

    async with running_world(browser, allow=(other.address,)) as world:
        await _with_manifest(world, other)
        await until(lambda: "manifest" in other.paths)


async def test_names_are_looked_up_without_a_policy(tmp_path: Path) -> None:
    with WebServer() as server:
        server.answers["/"] = page(NAMING)
        async with async_playwright() as playwright:
            context = await _launched(playwright, tmp_path, f"--log-net-log={tmp_path / 'net.json'}")
            await (await context.new_page()).goto(server.url)
            await context.close()

    assert _looked_up(tmp_path / "net.json")


async def test_no_name_is_ever_looked_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    flags = (*our_browser._FLAGS, f"--log-net-log={tmp_path / 'net.json'}")
    monkeypatch.setattr("pipeline.envs.browser._FLAGS", flags)
    async with running_browser() as browser, running_world(browser) as world:
        await world.open(NAMING)
        await refused(world, {f"http://{NAME}/x", f"{NAME}:80"})

    assert NAME in (tmp_path / "net.json").read_text(encoding="utf-8")
    assert _looked_up(tmp_path / "net.json") == []


async def _launched(playwright: Any, folder: Path, *flags: str) -> BrowserContext:
    """Chromium as it is, with a profile: without one it does nothing beforehand."""
    context: BrowserContext = await playwright.chromium.launch_persistent_context(
        folder / "profile",
        executable_path=find_chromium(playwright.chromium.executable_path),
        chromium_sandbox=os.geteuid() != 0,
        args=list(flags),
    )
    return context


async def _gone(free: BrowserContext, server: WebServer, other: Elsewhere, name: str) -> None:
    """Open a page that goes this way."""
    prepare(server, other.address)
    server.answers["/"] = page(page_of({name: {**WAYS.silent, **WAYS.by_word}[name]}, other.address))
    await (await free.new_page()).goto(server.url)


async def _with_manifest(world: World, other: Elsewhere) -> None:
    """Open a page with a manifest, and have the browser ask for it as it does before it installs a page."""
    await world.open(page_of({"manifest": WAYS.silent["manifest"]}, other.address))
    tab = world.environment._watching().tab
    assert tab is not None
    await tab._session.send("Page.getAppManifest")


def _looked_up(log: Path) -> list[str]:
    """What the browser's own log of its network tells of looking up the name: the kinds of these events."""
    told = json.loads(log.read_text(encoding="utf-8"))
    kinds = {number: name for name, number in told["constants"]["logEventTypes"].items()}
    named = [kinds[event["type"]] for event in told["events"] if NAME in json.dumps(event.get("params"))]
    return [kind for kind in named if kind.startswith(("HOST_RESOLVER", "DNS_"))]
