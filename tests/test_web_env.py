"""Looking at pages, and what happens when they or the browser break."""

import asyncio
import io
from collections.abc import AsyncIterator
from typing import Any

import numpy as np
import pytest
import pytest_asyncio
from PIL import Image
from playwright.async_api import CDPSession
from playwright.async_api import Error as PlaywrightError

from pipeline.actions import Pixel
from pipeline.envs.browser import Browser, Screen
from pipeline.envs.web import WebEnvironment
from pipeline.envs.web_sites import StaticSite
from pipeline.errors import ActionError, ConfigError, EnvError, SetupError
from pipeline.protocols import Environment, Observation
from tests.webserver import WebServer, page, redirect
from tests.webworld import World, node, running_browser, running_world, spot, task_at

pytestmark = pytest.mark.asyncio(loop_scope="module")


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def browser() -> AsyncIterator[Browser]:
    async with running_browser() as running:
        yield running


@pytest_asyncio.fixture(loop_scope="module")
async def world(browser: Browser) -> AsyncIterator[World]:
    async with running_world(browser) as made:
        yield made


def pixels(seen: Observation) -> np.ndarray:
    assert seen.frame is not None
    return np.asarray(Image.open(io.BytesIO(seen.frame.image.bytes)).convert("RGB"))


def refuse_pictures(monkeypatch: pytest.MonkeyPatch, times: int) -> list[str]:
    """Let Chromium refuse the next pictures as it does now and then; what it refused."""
    send, refused = CDPSession.send, list[str]()

    async def refusing(session: CDPSession, method: str, parameters: dict[str, Any] | None = None) -> Any:
        if method == "Page.captureScreenshot" and len(refused) < times:
            refused.append(method)
            raise PlaywrightError("Protocol error (Page.captureScreenshot): Unable to capture screenshot")
        return await send(session, method, parameters)

    monkeypatch.setattr(CDPSession, "send", refusing)
    return refused


async def test_an_observation_shows_one_page_at_one_moment(world: World) -> None:
    seen = await world.open("<title>Hello</title><h1>A heading</h1>")
    assert (seen.title, seen.location, seen.flags) == ("Hello", f"{world.server.url}/", [])
    assert seen.frame is not None
    assert (seen.frame.width, seen.frame.height) == (1280, 720)
    assert node(seen, "heading", "A heading").box is not None


async def test_an_episode_says_what_it_runs_in(world: World, browser: Browser) -> None:
    world.server.answers["/"] = page("")
    info = await world.environment.start(task_at())
    assert (info.driver, info.provider, info.device) == ("web", "chromium", "1280x720@1")
    assert info.build == browser.version


async def test_every_episode_has_a_fresh_context(world: World) -> None:
    html = """<script>document.title = document.cookie + localStorage.x;
        document.cookie = 'a=1'; localStorage.x = 1</script>"""
    assert (await world.open(html)).title == "undefined"
    assert (await world.open(html)).title == "undefined"


async def test_pages_see_fixed_circumstances(world: World) -> None:
    seen = await world.open("""<script>document.title = [navigator.language, new Date().getTimezoneOffset(),
        matchMedia('(prefers-reduced-motion: reduce)').matches].join(' ')</script>""")
    assert seen.title == "en-US 0 true"


async def test_going_back_does_not_leave_the_episodes_first_page(world: World) -> None:
    await world.open("<title>first</title>")
    with pytest.raises(ActionError, match="no earlier page"):
        await world.do("PressBack")


async def test_a_start_page_that_does_not_open_is_a_setup_fault(browser: Browser) -> None:
    with WebServer() as server:
        gone = server.url
    environment = WebEnvironment(browser, lambda _: StaticSite(gone))
    with pytest.raises(SetupError, match="502"):
        await environment.start(task_at())
    await environment.finish()


async def test_a_font_that_never_arrives_is_not_waited_for(world: World) -> None:
    world.server.stalled.add("/font.woff2")
    html = """<style>@font-face { font-family: Slow; src: url(/font.woff2); } h1 { font: 60px Slow; }</style>
        <h1>Readable</h1><button onclick="document.title = 'clicked'">Next</button>"""
    seen = await world.open(html)
    assert seen.seconds < 5
    assert seen.flags == ["fonts_pending"]
    assert (pixels(seen)[:200] != 255).any(axis=2).sum() > 200
    await world.do("Click", spot(seen, "button", "Next"))
    seen = await world.look()
    assert (seen.title, seen.flags) == ("clicked", ["fonts_pending"])
    assert seen.seconds < 2


async def test_a_page_that_keeps_changing_is_flagged_as_torn(world: World) -> None:
    seen = await world.open("<p id=p></p><script>setInterval(() => { p.textContent += '.'; }, 1)</script>")
    assert seen.flags == ["torn"]
    assert seen.frame is not None


async def test_an_endless_animation_is_still(world: World) -> None:
    seen = await world.open("""<style>@keyframes turn { to { rotate: 360deg } }
        p { animation: turn 1s infinite }</style><p>spinner</p>""")
    assert seen.flags == []


async def test_an_address_that_redirects_is_recorded_as_where_it_led(world: World) -> None:
    world.server.answers["/end"] = page("<title>end</title>")
    world.server.answers["/"] = redirect("/end")
    await world.environment.start(task_at())
    assert (await world.look()).location == f"{world.server.url}/end"


async def test_a_hung_page_gives_no_picture_and_says_so(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pipeline.envs.web_tab.CALL_SECONDS", 1.0)
    monkeypatch.setattr("pipeline.envs.web_actions.CALL_SECONDS", 1.0)
    await world.open("<button onclick='for (;;);'>Hang</button>")
    with pytest.raises(ActionError, match="did not answer") as caught:
        await world.click("button", "Hang")
    assert caught.value.code is None
    seen = await world.look()
    assert (seen.tree, seen.tree_error) == (None, "timeout")
    assert "app_not_responding" in seen.flags
    assert seen.frame is None or seen.capture_error is None
    assert "app_not_responding" in [event.kind for event in world.events()]


async def test_a_picture_that_the_browser_refuses_once_is_taken_all_the_same(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    await world.open("<title>Hello</title>")
    refused = refuse_pictures(monkeypatch, times=1)
    assert (await world.picture()).startswith(b"\x89PNG")
    assert refused == ["Page.captureScreenshot"]


async def test_a_browser_that_goes_on_refusing_gives_no_picture_and_says_so(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    refuse_pictures(monkeypatch, times=1000)
    seen = await world.open("<title>Hello</title>")
    assert (seen.title, seen.frame, seen.capture_error) == ("Hello", None, "empty")


async def test_a_crashed_page_is_replaced_and_that_is_told(world: World) -> None:
    await world.open("<title>fragile</title>")
    await world.crash()
    seen = await world.look()
    assert (seen.title, seen.flags, seen.capture_error) == ("fragile", ["reloaded"], None)
    kinds = [(event.kind, event.detail) for event in world.events()]
    assert kinds == [("crash", "the page crashed"), ("reload", "crashed")]
    assert (await world.look()).flags == []


async def test_a_page_that_crashes_under_an_action_fails_the_action(world: World) -> None:
    await world.open("<title>fragile</title><a href='chrome://crash'>x</a>")
    crashing = asyncio.ensure_future(world.crash())
    with pytest.raises(ActionError, match="crash"):
        await world.do("Wait")
    await crashing
    assert (await world.look()).flags == ["reloaded"]


async def test_an_action_meant_for_a_page_that_crashed_is_not_done_to_its_successor(world: World) -> None:
    seen = await world.open("<button onclick=\"document.title = 'pressed'\">Press</button>")
    await world.crash()
    pixel = spot(seen, "button", "Press")
    await world.environment.target(pixel)
    with pytest.raises(ActionError, match="loaded again"):
        await world.do("Click", pixel)
    assert (await world.look()).title == ""


async def test_a_page_that_keeps_crashing_is_a_fault(world: World) -> None:
    await world.open("")
    with pytest.raises(EnvError) as caught:
        for _ in range(5):
            await world.crash()
            await world.look()
    assert caught.value.code == "page_lost"


async def test_a_site_that_has_ended_is_a_fault(browser: Browser) -> None:
    with WebServer() as server:
        site = StaticSite(server.url)
        environment = WebEnvironment(browser, lambda _: site)
        server.answers["/"] = page("")
        await environment.start(task_at())
        site.alive = False
        with pytest.raises(EnvError) as caught:
            await environment.observe()
        await environment.finish()
    assert caught.value.code == "app_gone"


async def test_a_browser_that_dies_is_a_fault_and_the_next_episode_has_a_new_one() -> None:
    async with running_browser() as browser, running_world(browser) as world:
        await world.open("<title>before</title>")
        for process in browser._driver[0].children():
            process.kill()
        with pytest.raises(EnvError) as caught:
            for _ in range(50):
                await world.look()
        assert caught.value.code in ("browser_gone", "page_lost")
        assert (await world.open("<title>after</title>")).title == "after"


async def test_points_are_pixels_of_the_picture_at_any_ratio(browser: Browser) -> None:
    screen = Screen(width=640, height=400, ratio=2)
    async with running_world(browser, screen) as world:
        seen = await world.open("""<button style="position:fixed;left:100px;top:50px;width:20px;height:20px"
            onclick="document.title = [event.clientX, event.clientY]"></button>""")
        assert seen.frame is not None
        assert (seen.frame.width, seen.frame.height) == (1280, 800)
        box = node(seen, "button", "").box
        assert box is not None
        assert (box.left, box.top, box.right, box.bottom) == (200, 100, 240, 140)
        target = await world.environment.target(Pixel(x=220, y=120))
        assert target is not None
        assert target.box == box
        await world.do("Click", Pixel(x=220, y=120))
        assert (await world.look()).title == "110,60"


async def test_a_scrolled_page_is_pictured_where_it_is_at_any_ratio(browser: Browser) -> None:
    async with running_world(browser, Screen(width=640, height=400, ratio=2)) as world:
        await world.open(
            "<body style='margin:0;height:3000px'><div style='height:100px;background:red;margin-top:600px'>"
        )
        await world.do("Scroll", Pixel(x=600, y=400), direction="down")
        seen = await world.look()
        red = (pixels(seen) == (255, 0, 0)).all(axis=2)
        assert red.any()
        top = int(red.any(axis=1).argmax())
        assert top == 2 * (600 - 800 // 3) or abs(top - 2 * (600 - 800 // 3)) <= 2


async def test_an_allow_list_that_cannot_be_read_is_refused_at_once(browser: Browser) -> None:
    with pytest.raises(ConfigError, match="allow"):
        WebEnvironment(browser, lambda _: StaticSite(""), allow=["http://example.com"])


async def test_it_is_an_environment(browser: Browser) -> None:
    environment: Environment = WebEnvironment(browser, lambda _: StaticSite("http://127.0.0.1:1"))
    with pytest.raises(EnvError):
        await environment.observe()


async def test_pages_cannot_see_the_scripts_that_read_them(world: World) -> None:
    await world.open("<title>page</title>")
    assert await world.environment._evaluate("() => typeof pathproof") == "undefined"


async def test_a_page_that_breaks_its_own_javascript_is_read_all_the_same(world: World) -> None:
    seen = await world.open("""<h1>still</h1><script>Promise = setTimeout = MutationObserver = null;
        Document.prototype.querySelectorAll = () => { throw 1; }</script>""")
    assert node(seen, "heading", "still").box is not None


async def test_finishing_again_is_harmless(world: World) -> None:
    await world.open("")
    await world.environment.finish()
    await world.environment.finish()
    assert world.events() == []


async def test_a_context_that_was_closed_under_it_is_an_error_of_the_environment(world: World) -> None:
    await world.open("")
    await world.environment._watching().tab.page.context.close()  # type: ignore[union-attr]

    with pytest.raises(EnvError, match="could not be opened again"):
        await world.look()


async def test_pages_reach_nothing_beyond_the_list(world: World) -> None:
    with WebServer() as other:
        await world.open(f"""<img src="{other.url}/img"><iframe src="{other.url}/frame"></iframe><script>
            Promise.allSettled([
              fetch('{other.url}/fetch', {{ mode: 'no-cors' }}),
              new Promise((done) => {{ new WebSocket('ws://{other.address}/socket').onerror = done }}),
              new Promise((done) => {{ new EventSource('{other.url}/stream').onerror = done }}),
              fetch('http://169.254.169.254/latest', {{ mode: 'no-cors' }}),
            ]).then(() => {{ navigator.sendBeacon('{other.url}/beacon'); document.title = 'tried' }});</script>""")
        assert (await world.look()).title == "tried"
        assert other.requests == []
    refused = {event.address for event in world.events() if event.kind == "blocked_address"}
    assert {f"{other.url}/{name}" for name in ("img", "frame", "fetch", "stream")} | {other.address} <= refused
    assert "http://169.254.169.254/latest" in refused
