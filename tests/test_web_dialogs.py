"""What happens beside the actions: dialogs, new windows, downloads."""

import hashlib
import time
from collections.abc import AsyncIterator

import pytest
import pytest_asyncio

from pipeline.envs.browser import Browser
from pipeline.records import Event
from tests.webserver import file, page
from tests.webworld import World, running_browser, running_world

pytestmark = pytest.mark.asyncio(loop_scope="module")


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def browser() -> AsyncIterator[Browser]:
    async with running_browser() as running:
        yield running


@pytest_asyncio.fixture(loop_scope="module")
async def world(browser: Browser) -> AsyncIterator[World]:
    async with running_world(browser) as made:
        yield made


CONFIRM = """<title>waiting</title><button onclick="document.title = confirm('Delete all?') ? 'deleted' : 'kept'">
Delete</button>"""
GUARDED = """<title>guarded</title><label>Note <input id="note"></label>
<script>addEventListener('beforeunload', (event) => { if (note.value) event.preventDefault(); });</script>"""


def dialogs(events: list[Event]) -> list[tuple[str | None, ...]]:
    return [(e.dialog_type, e.message, e.answer, e.decided_by) for e in events if e.kind == "dialog"]


async def test_a_question_is_answered_with_no_unless_asked_otherwise(world: World) -> None:
    await world.open(CONFIRM)
    started = time.monotonic()
    result = await world.click("button", "Delete")
    assert time.monotonic() - started < 5
    seen = await world.look()
    assert seen.title == "kept"
    assert dialogs(world.events()) == [("confirm", "Delete all?", "dismissed", "policy")]
    assert result.feedback == 'confirm "Delete all?" was dismissed'


async def test_a_question_is_accepted_when_the_policy_says_so_first(world: World) -> None:
    await world.open(CONFIRM)
    await world.click("button", "Delete")
    await world.do("AcceptDialog")
    await world.click("button", "Delete")
    assert (await world.look()).title == "deleted"
    assert [answer for _, _, answer, _ in dialogs(world.events())] == ["dismissed", "accepted"]


async def test_consent_counts_for_one_question_only(world: World) -> None:
    await world.open(CONFIRM)
    await world.do("AcceptDialog")
    await world.click("button", "Delete")
    await world.click("button", "Delete")
    assert (await world.look()).title == "kept"


async def test_consent_does_not_outlive_its_page(world: World) -> None:
    await world.open(CONFIRM)
    await world.do("AcceptDialog")
    await world.do("Launch", url="/?again")
    await world.click("button", "Delete")
    assert (await world.look()).title == "kept"


async def test_a_prompt_accepted_keeps_its_default(world: World) -> None:
    await world.open("<button onclick=\"document.title = prompt('Name?', 'Ada')\">Ask</button>")
    await world.do("AcceptDialog")
    await world.click("button", "Ask")
    assert (await world.look()).title == "Ada"


async def test_a_page_that_guards_its_leaving_is_left(world: World) -> None:
    world.server.answers["/elsewhere"] = page("<title>elsewhere</title>")
    await world.open(GUARDED)
    await world.click("textbox", "Note")
    await world.do("Type", content="unsaved")
    await world.do("Launch", url=f"{world.server.url}/elsewhere")
    assert (await world.look()).title == "elsewhere"
    assert [(kind, answer) for kind, _, answer, _ in dialogs(world.events())] == [("beforeunload", "accepted")]


async def test_three_alerts_are_three_events_in_order(world: World) -> None:
    await world.open("<button onclick=\"alert('one'); alert('two'); alert('three')\">Go</button>")
    await world.click("button", "Go")
    assert dialogs(world.events()) == [("alert", text, "accepted", "rule") for text in ("one", "two", "three")]


async def test_an_alert_does_not_use_up_consent(world: World) -> None:
    await world.open("<button onclick=\"alert('first'); document.title = confirm('Sure?')\">Go</button>")
    await world.do("AcceptDialog")
    await world.click("button", "Go")
    assert (await world.look()).title == "true"


LINKS = """<title>opener</title><a target="_blank" href="/new">tab</a>
<button onclick="window.open('/new', '_blank', 'noopener')">script</button>
<button onclick="setTimeout(() => window.open('/new'), 400)">later</button>"""


@pytest.mark.parametrize(("role", "name"), [("link", "tab"), ("button", "script")])
async def test_a_window_opened_by_the_agents_click_is_followed(world: World, role: str, name: str) -> None:
    world.server.answers["/new"] = page("<title>new window</title>")
    await world.open(LINKS)
    await world.click(role, name)
    assert (await world.look()).title == "new window"
    [popup] = [event for event in world.events() if event.kind == "popup"]
    assert (popup.answer, popup.opener) == ("followed", f"{world.server.url}/")


async def test_a_slow_window_is_waited_for(world: World) -> None:
    world.server.answers["/new"] = world.server.later(0.8, page("<title>slow</title>"))
    await world.open(LINKS)
    await world.click("link", "tab")
    assert (await world.look()).title == "slow"


async def test_a_window_that_opens_by_itself_is_recorded_and_closed(world: World) -> None:
    await world.open(LINKS)
    await world.click("button", "later")
    popup = await world.event("popup")
    assert (popup.answer, popup.opener) == ("closed", f"{world.server.url}/")
    assert (await world.look()).title == "opener"


async def test_closing_the_followed_window_leads_back_to_its_opener(world: World) -> None:
    world.server.answers["/new"] = page("<title>new</title><button onclick='window.close()'>Done</button>")
    await world.open(LINKS)
    await world.click("link", "tab")
    await world.click("button", "Done")
    seen = await world.look()
    assert (seen.title, seen.flags) == ("opener", [])


async def test_back_in_a_new_window_leads_to_its_opener(world: World) -> None:
    world.server.answers["/new"] = page("<title>new</title>")
    await world.open(LINKS)
    await world.click("link", "tab")
    await world.do("PressBack")
    assert (await world.look()).title == "opener"


async def test_closing_the_last_tab_opens_its_address_again(world: World) -> None:
    await world.open("<title>only</title><button onclick='window.close()'>Close</button>")
    await world.click("button", "Close")
    seen = await world.look()
    assert (seen.title, seen.flags) == ("only", ["reloaded"])
    assert [event.detail for event in world.events() if event.kind == "reload"] == ["closed"]


async def test_a_download_is_an_event_with_name_size_and_hash(world: World) -> None:
    data = b"a,b\n1,2\n"
    world.server.answers["/report"] = file("report.csv", data)
    await world.open("<title>page</title><a href='/report'>Export</a>")
    result = await world.click("link", "Export")
    [event] = [event for event in world.events() if event.kind == "download"]
    assert event.message == "report.csv"
    assert event.detail == f"report.csv, 8 bytes, sha256 {hashlib.sha256(data).hexdigest()}"
    assert result.feedback == "downloaded report.csv (8 bytes)"
    assert (await world.look()).title == "page"


async def test_going_to_an_address_that_is_a_file_is_no_error(world: World) -> None:
    world.server.answers["/report"] = file("report.csv", b"x")
    await world.open("<title>page</title>")
    result = await world.do("Launch", url="/report")
    assert result.feedback == "downloaded report.csv (1 bytes)"


async def test_a_file_in_a_new_window_leaves_the_page_as_it_was(world: World) -> None:
    world.server.answers["/report"] = file("report.csv", b"x")
    await world.open("<title>page</title><a target='_blank' href='/report'>Export</a>")
    await world.click("link", "Export")
    assert (await world.look()).title == "page"
    assert "download" in [event.kind for event in world.events()]


async def test_what_a_page_says_is_written_down_even_when_it_is_not_text(world: World) -> None:
    await world.open("<button onclick=\"alert('half \\\\ud83d')\">Go</button>")
    await world.click("button", "Go")
    [(_, message, _, _)] = dialogs(world.events())
    assert message is not None
    assert message.encode()
