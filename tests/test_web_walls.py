"""Walls before sites of others: told of once, never solved; a page that only speaks of them is none."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest
import pytest_asyncio

from pipeline.actions import Finished, Launch, Wait
from pipeline.envs.browser import Browser
from pipeline.envs.web_walls import wall_of
from pipeline.structs import Node
from tests.episodes import play
from tests.webserver import WebServer, page
from tests.webworld import running_browser, running_world, task_at

PUZZLE = "<title>Just a moment...</title><h1>Verify you are human</h1><input type=checkbox aria-label='I am human'>"
FRAME = "<h1>News</h1><iframe src='https://www.google.com/recaptcha/api2/anchor' title=x></iframe>"
LOGIN = "<title>Sign in</title><h1>Sign in to go on</h1><input name=u><input type=password aria-label=Password>"

in_module = pytest.mark.asyncio(loop_scope="module")


def texts(*names: str, password: bool = False) -> list[Node]:
    fields = [Node(role="textbox", name="Password", states=["protected"])] if password else []
    return [*(Node(role="StaticText", name=name) for name in names), *fields]


@pytest.mark.parametrize(
    ("nodes", "title", "asked", "kind"),
    [
        (texts("Verify you are human"), "Shop", [], "captcha"),
        (texts("I'm not a robot"), "", [], "captcha"),
        (texts("向右滑动完成拼图"), "安全验证", [], "captcha"),
        (texts("News"), "", ["https://newassets.hcaptcha.com/captcha/v1/x"], "captcha"),
        (texts("News"), "", ["https://www.google.com/recaptcha/api.js"], "captcha"),
        (texts("News"), "", ["https://hcaptcha.com.evil.test/", "https://www.google.com/maps"], None),
        (texts("Welcome back", "Sign in", password=True), "Shop", [], "login"),
        (texts("欢迎", "登录", password=True), "", [], "login"),
        (texts("Set a wifi password", password=True), "Router", [], None),
        (texts("How a captcha works", *map(str, range(80))), "Encyclopedia", [], None),
        (texts("Sign in", *map(str, range(80)), password=True), "Shop", [], None),
        ([], "", [], None),
    ],
)
def test_a_wall_is_told_by_its_provider_or_by_what_the_page_is(
    nodes: list[Node], title: str, asked: list[str], kind: str | None
) -> None:
    wall = wall_of(nodes, title, "https://shop.test/", asked)

    assert (wall.kind if wall else None) == kind


def test_a_login_is_known_by_its_address_too() -> None:
    wall = wall_of(texts("Welcome", password=True), "", "https://shop.test/accounts/login?next=/", [])

    assert wall is not None and wall.kind == "login"


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def browser() -> AsyncIterator[Browser]:
    async with running_browser() as running:
        yield running


@in_module
@pytest.mark.parametrize(
    ("shown", "reason"), [(PUZZLE, "captcha"), (FRAME, "captcha"), (LOGIN, "login"), ("<h1>News</h1>", None)]
)
async def test_before_a_site_of_others_the_episode_ends_blocked(
    browser: Browser, shown: str, reason: str | None
) -> None:
    with WebServer() as other:
        other.answers["/"] = page(shown)
        async with running_world(browser, allow=(other.address,)) as world:
            world.server.answers["/"] = page("<h1>Ours</h1>")
            record = await play([Launch(url=f"{other.url}/"), Wait(), Finished()], task_at(), world.environment)

    told = [event.kind for event in record.events if event.kind in ("captcha", "login")]
    assert told == ([reason] if reason else [])
    ended = (record.trajectory.termination, record.trajectory.reason)
    assert ended == (("blocked", reason) if reason else ("finished", None))


@in_module
async def test_our_own_puzzles_and_logins_are_tasks_like_others(browser: Browser) -> None:
    async with running_world(browser) as world:
        world.server.answers["/"] = page(LOGIN + PUZZLE)
        record = await play([Wait(), Finished()], task_at(), world.environment)

    assert record.trajectory.termination == "finished"


@in_module
async def test_who_was_given_an_account_may_sign_in(browser: Browser) -> None:
    task = task_at().model_copy(update={"instruction": "Sign in with <secret:SHOP> and read the news."})
    with WebServer() as other:
        other.answers["/"] = page(LOGIN)
        async with running_world(browser, allow=(other.address,)) as world:
            world.server.answers["/"] = page("<h1>Ours</h1>")
            record = await play([Launch(url=f"{other.url}/"), Finished()], task, world.environment)

    assert record.trajectory.termination == "finished"
