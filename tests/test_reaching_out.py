"""A page and an agent try every way to a second server that is not listed: its log stays empty.

Each way is seen to have been tried, and the same page reaches that server once it is listed. Ways that nobody tells of
are seen to arrive from a browser without a policy: `test_reaching_out_free.py`.
"""

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable

import psutil
import pytest
import pytest_asyncio

from pipeline.envs.browser import Browser
from pipeline.errors import ActionError
from pipeline.ports import listening
from tests.elsewhere import Elsewhere, second_server
from tests.ways import WAYS, page_of, prepare
from tests.webworld import World, running_browser, running_world

pytestmark = pytest.mark.asyncio(loop_scope="module")

NOTHING: tuple[int, int, set[str]] = (0, 0, set())
SPELLINGS = (
    "2130706433",
    "0x7f000001",
    "0x7f.0.0.1",
    "0177.0.0.1",
    "017700000001",
    "127.1",
    "127.0.1",
    "127.0.0.1.",
    "１２７.0.0.1",
    "127。0。0。1",
    "%31%32%37.0.0.1",
    "①②⑦.0.0.1",
)
"""Names of one machine, as a browser reads them."""

OTHER_MACHINES = (
    "localhost",
    "LOCALHOST.",
    "127.0.0.2",
    "0.0.0.0",
    "0",
    "[::1]",
    "[::]",
    "[::ffff:127.0.0.1]",
    "user:word@127.0.0.1",
)
"""Names that lead to the same server by other addresses of this machine, or with somebody's name."""

ODD = (
    "http://OWN@HOST/x",
    "http://OWN\\@HOST/x",
    "http://HOST\\@OWN/x",
    "http://HOST#@OWN/x",
    "//HOST/x",
    "ht\ntp://HOST/x",
    " http://HOST/x",
    "HTTP://HOST/x",
    "HOST/x",
    "https://HOST/x",
    "ws://HOST/x",
    "view-source:http://HOST/x",
    "blob:http://HOST/x",
    "filesystem:http://HOST/x",
    "javascript:location='http://HOST/x'",
    "data:text/html,<img src=http://HOST/x>",
    "about:srcdoc",
    "chrome://net-export",
    "devtools://devtools/bundled/inspector.html?ws=HOST/x",
    "/redirect-301",
    "/two-hops",
    "http://[",
    "//[HOST]/x",
    "http://HOST9/x",
)
"""Addresses that the acting model may give: OWN is where it may go, HOST where it may not."""

CLICKS = {
    "link": "<a href='OTHER/link'>go</a>",
    "download": "<a download href='OTHER/download'>go</a>",
    "new-window": "<a target=_blank href='OTHER/new-window'>go</a>",
    "opened": "<button onclick=\"window.open('OTHER/opened')\">go</button>",
    "posted": "<form method=post action='OTHER/posted'><button>go</button></form>",
    "assigned": "<button onclick=\"location = 'OTHER/assigned'\">go</button>",
    "script-link": "<a href=\"javascript:location.replace('OTHER/script-link')\">go</a>",
    "redirect-307": "<form method=post action='/redirect-307'><button>go</button></form>",
    "two-hops": "<a href='/two-hops'>go</a>",
}
REFUSED_BY_THE_BROWSER = {
    "file": "<a href='file:///etc/passwd'>go</a>",
    "chrome": "<a href='chrome://version'>go</a>",
    "source": "<a href='view-source:OTHER/source'>go</a>",
    "data": "<a href='data:text/html,<img src=OTHER/data>'>go</a>",
    "ping": "<a ping='OTHER/ping' href='#here'>go</a>",
}


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def browser() -> AsyncIterator[Browser]:
    async with running_browser() as running:
        yield running


@pytest_asyncio.fixture(loop_scope="module")
async def other() -> AsyncIterator[Elsewhere]:
    async with second_server() as listening:
        yield listening


@pytest_asyncio.fixture(loop_scope="module")
async def world(browser: Browser, other: Elsewhere) -> AsyncIterator[World]:
    """Pages that may not reach the other server; what comes late is seen as well."""
    async with running_world(browser) as made:
        prepare(made.server, other.address)
        yield made
    assert other.log == NOTHING


@pytest_asyncio.fixture(loop_scope="module")
async def listed(browser: Browser, other: Elsewhere) -> AsyncIterator[World]:
    """Pages that may reach it."""
    async with running_world(browser, allow=(other.address,)) as made:
        prepare(made.server, other.address)
        yield made


async def test_no_request_of_a_page_arrives_elsewhere(world: World, other: Elsewhere) -> None:
    await world.open(page_of(WAYS.by_path, other.address))

    await refused(world, {f"{other.url}/{name}" for name in WAYS.by_path})

    assert other.log == NOTHING
    assert (await world.look()).title == "ways"


async def test_the_same_requests_arrive_where_they_may(listed: World, other: Elsewhere) -> None:
    await listed.open(page_of(WAYS.by_path, other.address))

    await until(lambda: set(WAYS.by_path) <= other.paths)

    assert [event for event in listed.events() if event.kind == "blocked_address"] == []


async def test_no_socket_and_no_datagram_of_a_page_arrives_elsewhere(world: World, other: Elsewhere) -> None:
    await world.open(page_of(WAYS.by_word, other.address))

    async def all_tried() -> bool:
        return await world.ask("window.tried.length") == len(WAYS.by_word)

    await until_comes(all_tried)

    assert other.log == NOTHING
    await refused(world, {other.address})
    assert (await world.look()).title == "ways"


async def test_a_socket_arrives_where_it_may(listed: World, other: Elsewhere) -> None:
    await listed.open(page_of(WAYS.by_word, other.address))

    await until(lambda: "websocket" in other.paths)
    assert (await listed.look()).title == "ways"


async def test_what_a_browser_does_unasked_arrives_nowhere_else(world: World, other: Elsewhere) -> None:
    await world.open(page_of(WAYS.silent, other.address))

    await refused(world, {f"{other.url}/speculation", f"{other.url}/late"})

    assert other.log == NOTHING
    assert (await world.look()).title == "ways"


async def test_the_same_would_arrive_where_it_may(listed: World, other: Elsewhere) -> None:
    await listed.open(page_of(WAYS.silent, other.address))

    await until(lambda: {"speculation", "late"} <= other.paths)
    assert (await listed.look()).title == "ways"


@pytest.mark.parametrize("name", CLICKS)
async def test_a_click_leads_nowhere_else_and_the_episode_goes_on(world: World, other: Elsewhere, name: str) -> None:
    await opened(world, other, CLICKS[name])

    await clicked(world)

    await refused(world, {f"{other.url}/{name}"})
    assert other.log == NOTHING
    await world.do("Launch", url=world.server.url)
    assert (await world.look()).title == "clicks"


async def test_the_same_clicks_lead_there_where_they_may(listed: World, other: Elsewhere) -> None:
    for piece in CLICKS.values():
        await opened(listed, other, piece)
        await clicked(listed)

    await until(lambda: set(CLICKS) <= other.paths)
    assert other.log != NOTHING


@pytest.mark.parametrize("name", REFUSED_BY_THE_BROWSER)
async def test_a_click_on_what_is_no_web_address_leaves_the_page(world: World, other: Elsewhere, name: str) -> None:
    await opened(world, other, REFUSED_BY_THE_BROWSER[name])

    await clicked(world)

    assert (await world.look()).title == "clicks"
    assert other.log == NOTHING


async def test_no_spelling_of_an_address_passes_from_a_page(world: World, other: Elsewhere) -> None:
    await world.open(spelled(other))

    await refused(world, {f"{other.url}/{number}" for number in range(len(SPELLINGS))})

    assert other.log == NOTHING


async def test_each_spelling_leads_there_where_it_may(listed: World, other: Elsewhere) -> None:
    await listed.open(spelled(other))

    await until(lambda: {str(number) for number in range(len(SPELLINGS))} <= other.paths)
    assert other.log != NOTHING


async def test_no_spelling_of_an_address_passes_from_an_action(world: World, other: Elsewhere) -> None:
    await opened(world, other, "")

    codes = {host: await launched(world, f"http://{host}:{other.port}/x") for host in (*SPELLINGS, *OTHER_MACHINES)}

    assert set(codes.values()) == {"blocked_address"}, codes
    assert other.log == NOTHING
    assert (await world.look()).title == "clicks"


async def test_no_odd_address_of_an_action_leads_elsewhere(world: World, other: Elsewhere) -> None:
    await opened(world, other, "")

    codes = {url: await launched(world, placed(url, world, other)) for url in ODD}

    assert set(codes.values()) == {"blocked_address"}, codes
    assert other.log == NOTHING


async def test_half_an_address_stays_with_the_page_s_own_server(world: World, other: Elsewhere) -> None:
    await opened(world, other, "")
    for url in ("http:\\\\HOST/x", "\\\\HOST/x", "///HOST/x", "http:HOST/x", "http:///HOST/x"):
        await world.do("Launch", url=placed(url, world, other))

        assert str(await world.ask("location.origin")) == world.server.url

    assert other.log == NOTHING


def placed(url: str, world: World, other: Elsewhere) -> str:
    return url.replace("OWN", world.server.address).replace("HOST", other.address)


async def test_no_port_leads_into_the_browser(world: World, browser: Browser) -> None:
    await world.open("")

    browsers = [child for child in psutil.Process().children(recursive=True) if "chrom" in child.name()]
    heard = {port for child in browsers for _, port in listening(child.pid)}

    assert browsers
    assert heard == set()


async def opened(world: World, other: Elsewhere, piece: str) -> None:
    await world.open(f"<title>clicks</title>{piece}".replace("OTHER", other.url))


async def clicked(world: World) -> None:
    await world.click("link" if "href" in str(await world.ask("document.body.innerHTML")) else "button", "go")


async def launched(world: World, url: str) -> str | None:
    """The code of the error that opening an address ends in."""
    with pytest.raises(ActionError) as caught:
        await world.do("Launch", url=url)
    return caught.value.code


def spelled(other: Elsewhere) -> str:
    pictures = [f"<img src='http://{host}:{other.port}/{number}'>" for number, host in enumerate(SPELLINGS)]
    return "<meta charset=utf-8>" + "".join(pictures)


async def refused(world: World, addresses: set[str]) -> None:
    """Wait until an event tells of each address."""
    seen: set[str | None] = set()

    def told() -> bool:
        seen.update(event.address for event in world.events() if event.kind == "blocked_address")
        return addresses <= seen

    await until(told, lambda: f"not told of: {addresses - seen}")


async def until(true: Callable[[], bool], failure: Callable[[], str] = lambda: "nothing came") -> None:
    async def come() -> bool:
        return true()

    await until_comes(come, failure)


async def until_comes(come: Callable[[], Awaitable[bool]], failure: Callable[[], str] = lambda: "nothing came") -> None:
    deadline = time.monotonic() + 20
    while not await come():
        assert time.monotonic() < deadline, failure()
        await asyncio.sleep(0.05)
