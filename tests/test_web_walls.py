"""Walls before sites of others: told of once, never solved; a page that only speaks of them is none."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest
import pytest_asyncio

from pipeline.actions import Finished, Launch, Wait
from pipeline.envs.browser import Browser
from pipeline.envs.web_walls import Source, sources_of, wall_of
from pipeline.structs import Node
from tests.episodes import play
from tests.webserver import WebServer, page
from tests.webworld import running_browser, running_world, task_at

PUZZLE = "<title>Just a moment...</title><h1>Verify you are human</h1><input type=checkbox aria-label='I am human'>"
FRAME = "<h1>News</h1><iframe src='https://www.google.com/recaptcha/api2/anchor' title=x></iframe>"
GUARDED = (
    "<title>Contact</title><h1>Write to us</h1><p>We answer within a day.</p>"
    "<script src='https://www.google.com/recaptcha/api.js?render=1'></script>"
    "<script src='https://client.px-cloud.net/PX1/main.min.js'></script>"
    "<iframe style='visibility:hidden' src='https://newassets.hcaptcha.com/captcha/v1/x'></iframe>"
    "<iframe style='position:absolute;top:-9999px' src='https://www.google.com/recaptcha/api2/bframe'></iframe>"
    "<iframe width=256 height=60 src='https://www.google.com/recaptcha/api2/anchor?size=invisible&k=1'></iframe>"
)
LOGIN = "<title>Sign in</title><h1>Sign in to go on</h1><input name=u><input type=password aria-label=Password>"
MAIL_FIRST = "<title>Shop</title><h1>Sign in</h1><input type=email aria-label='E-mail address'><button>Next</button>"
MANY = [f"paragraph {number}" for number in range(80)]
CLOUDFLARE = "https://challenges.cloudflare.com/turnstile/v0/api.js"

in_module = pytest.mark.asyncio(loop_scope="module")


def texts(*names: str) -> list[Node]:
    return [Node(role="StaticText", name=name) for name in names]


def heading(name: str) -> list[Node]:
    return [Node(role="heading", name=name)]


def field(name: str) -> list[Node]:
    return [Node(role="textbox", name=name)]


def button(name: str) -> list[Node]:
    return [Node(role="button", name=name)]


def link(name: str) -> list[Node]:
    return [Node(role="link", name=name)]


def password(name: str = "Password", *states: str) -> list[Node]:
    return [Node(role="textbox", name=name, states=["protected", *states])]


def told(nodes: list[Node], title: str = "", address: str = "https://shop.test/", *sources: Source) -> str | None:
    wall = wall_of(nodes, title, address, sources)
    return wall.kind if wall else None


@pytest.mark.parametrize(
    "source",
    [
        "https://newassets.hcaptcha.com/captcha/v1/x",
        "https://www.google.com/recaptcha/api2/anchor?size=normal",
        "https://geo.captcha-delivery.com/captcha/",
    ],
)
def test_a_providers_frame_in_view_is_a_puzzle_and_out_of_view_none(source: str) -> None:
    page_with = texts("News", *MANY)

    assert told(page_with, "", "https://shop.test/", Source(source, True)) == "captcha"
    assert told(page_with, "", "https://shop.test/", Source(source, False)) is None


@pytest.mark.parametrize(
    "source",
    [
        "https://hcaptcha.com.evil.test/",
        "https://www.google.com/maps",
        "https://www.google.com/recaptcha/api2/anchor?ar=1&size=invisible",
        "https://[nonsense",
    ],
)
def test_other_frames_and_badges_are_no_puzzle(source: str) -> None:
    assert told(texts("News"), "", "https://shop.test/", Source(source, True)) is None


@pytest.mark.parametrize("nodes", [texts("News"), texts("News", *MANY), texts("Human resources"), []])
def test_a_providers_script_alone_is_no_puzzle(nodes: list[Node]) -> None:
    assert told(nodes, "Shop", "https://shop.test/", Source(CLOUDFLARE, False)) is None


def test_a_providers_script_on_a_page_that_only_checks_is_a_puzzle() -> None:
    nodes = texts("Please enable JS and disable any ad blocker")

    assert told(nodes, "shop.test", "https://shop.test/", Source(CLOUDFLARE, False)) == "captcha"
    assert told(nodes, "shop.test") is None


@pytest.mark.parametrize(
    ("nodes", "title"),
    [
        (texts("Verify you are human"), "Shop"),
        (texts("I'm not a robot"), ""),
        (texts("Please complete the captcha to go on"), ""),
        (texts("Checking your browser before accessing shop.test"), ""),
        (texts("Our systems have detected unusual traffic from your computer network."), ""),
        (texts("shop.test"), "Just a moment..."),
        (texts("Enter the characters you see below") + field("Characters"), "Shop"),
        (texts("向右滑动完成拼图"), "安全验证"),
        (texts("请完成下方验证后继续"), ""),
    ],
)
def test_a_page_that_is_nothing_but_a_puzzle_is_told_by_its_words(nodes: list[Node], title: str) -> None:
    assert told(nodes, title) == "captcha"


@pytest.mark.parametrize(
    ("nodes", "title"),
    [
        (texts("We are checking if the train runs on time"), "Trains"),
        (texts("Unusual traffic on the northern line this morning"), "Trains"),
        (texts("Just a moment...", "Loading the map"), "Trains"),
        (texts("How a captcha works", "It shows a picture."), "Encyclopedia"),
        (texts("How a captcha works", *MANY), "Encyclopedia"),
        (texts("Sites verify you are human in many ways. " * 60), "Encyclopedia"),
        (texts("账号安全验证设置"), "设置"),
        (texts("Verify you are human") + field("Name") + field("Your message"), "Contact"),
        ([], ""),
    ],
)
def test_a_page_that_speaks_of_something_else_is_no_puzzle(nodes: list[Node], title: str) -> None:
    assert told(nodes, title) is None


@pytest.mark.parametrize(
    ("nodes", "title", "address"),
    [
        (texts("Welcome back") + button("Sign in") + password(), "Shop", "https://shop.test/"),
        (texts("欢迎", "登录") + password(), "", "https://shop.test/"),
        (texts("Your session has expired") + password(), "", "https://shop.test/"),
        (texts("Welcome") + password(), "", "https://shop.test/accounts/login?next=/"),
        (texts("Welcome") + password(), "", "https://shop.test/users/sign_in"),
        (texts("Welcome") + password(), "", "https://shop.test/wp-login.php"),
        (texts("Welcome") + password(), "", "https://login.shop.test/common/authorize"),
        (texts(*MANY) + password(), "Log in - Shop", "https://shop.test/"),
        (texts(*MANY) + password(), "Shop", "https://shop.test/login"),
        (heading("Sign in") + texts(*MANY) + password(), "Shop", "https://shop.test/"),
    ],
)
def test_a_password_field_of_a_page_that_calls_itself_a_login_is_one(
    nodes: list[Node], title: str, address: str
) -> None:
    assert told(nodes, title, address) == "login"


@pytest.mark.parametrize(
    ("nodes", "title", "address"),
    [
        (heading("Sign in") + field("Email or phone") + button("Next"), "Accounts", "https://shop.test/"),
        (field("Email") + button("Next"), "Shop", "https://accounts.shop.test/v3/signin/identifier"),
        (field("用户名") + button("下一步"), "登录 - 商店", "https://shop.test/"),
        (field("手机号") + field("验证码") + button("获取验证码") + button("登录"), "商店", "https://shop.test/"),
        (texts("手机号登录", "获取验证码"), "登录", "https://shop.test/login"),
        (field("Phone number") + button("Send code"), "Sign in", "https://shop.test/"),
        (button("Continue with Google") + button("Continue with SSO"), "Log in | Shop", "https://shop.test/"),
        (texts("打开手机扫码登录"), "商店", "https://shop.test/login"),
    ],
)
def test_a_login_without_a_password_field_is_one_too(nodes: list[Node], title: str, address: str) -> None:
    assert told(nodes, title, address) == "login"


@pytest.mark.parametrize(
    ("nodes", "title", "address"),
    [
        (texts("Set a wifi password") + password(), "Router", "https://shop.test/"),
        (texts("Set a wifi password", "session timeout 5 min") + password(), "Router", "https://shop.test/"),
        (texts("Set a wifi password", "Login attempts", "Last login") + password(), "Router", "https://shop.test/"),
        (texts("Design interfaces", "A blog in print") + password(), "Router", "https://shop.test/"),
        (heading("Create your account") + button("Sign in") + password(), "Shop", "https://shop.test/"),
        (heading("Forum") + texts(*MANY) + heading("Login") + password(), "Forum", "https://shop.test/"),
        (texts("Sign in", *MANY) + password(), "Shop", "https://shop.test/"),
        (heading("News") + password("Password", "offscreen"), "Shop", "https://shop.test/login"),
        (link("Sign in") + heading("News") + field("Email for our newsletter"), "Shop", "https://shop.test/"),
        (button("Sign in") + heading("News") + field("Email for our newsletter"), "Shop", "https://shop.test/"),
        (button("Sign in") + texts("Get the code of this page"), "Shop", "https://shop.test/"),
        (heading("How to sign in on a router") + field("Email"), "Help", "https://shop.test/help/login-problems"),
        (field("Email") + field("Name") + field("Street") + field("Town"), "Shop", "https://shop.test/login"),
        (texts("News"), "Shop", "https://shop.test/login"),
        (texts("News"), "Shop", "https://[nonsense"),
    ],
)
def test_a_page_that_is_about_something_else_is_no_login(nodes: list[Node], title: str, address: str) -> None:
    assert told(nodes, title, address) is None


def test_a_page_may_answer_any_nonsense_for_its_sources() -> None:
    odd = ["x", [1, True], ["https://a.test/", "yes"], [], ["https://b.test/", True], None]

    assert sources_of(odd) == [Source("https://a.test/", False), Source("https://b.test/", True)]
    assert sources_of({"a": 1}) == []


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def browser() -> AsyncIterator[Browser]:
    async with running_browser() as running:
        yield running


@in_module
@pytest.mark.parametrize(
    ("shown", "reason"),
    [
        (PUZZLE, "captcha"),
        (FRAME, "captcha"),
        (LOGIN, "login"),
        (MAIL_FIRST, "login"),
        (GUARDED, None),
        ("<h1>News</h1>", None),
    ],
)
async def test_before_a_site_of_others_the_episode_ends_blocked(
    browser: Browser, shown: str, reason: str | None
) -> None:
    with WebServer() as other:
        other.answers["/"] = page(shown)
        async with running_world(browser, allow=(other.address,)) as world:
            world.server.answers["/"] = page("<h1>Ours</h1>")
            record = await play([Launch(url=f"{other.url}/"), Wait(), Finished()], task_at(), world.environment)

    walls = [event.kind for event in record.events if event.kind in ("captcha", "login")]
    assert walls == ([reason] if reason else [])
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
