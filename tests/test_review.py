"""Reviewing over real HTTP and in a real browser: who is let in, what is shown and when, how it ends."""

from __future__ import annotations

import asyncio
import re
import signal
import socket
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import NamedTuple
from urllib.parse import urlsplit

import aiohttp
import httpx
import pytest
from playwright.async_api import Page, async_playwright

from pipeline.check import check
from pipeline.doctor import chromium
from pipeline.errors import ConfigError, RunError, SinkError
from pipeline.query import query
from pipeline.review import review, serve
from pipeline.review_session import Selection, Session
from pipeline.storage import Storage, driver_lock, storage_of
from tests.reviews import ACCEPTED, INSTRUCTION, REASON, UNDECIDED, vote, waiting

THOUGHT = "I click &#39;New&#39;."
FAIL = {"grade": "fail", "reason": "价格没有改"}


@pytest.fixture
def folder(tmp_path: Path) -> Storage:
    """A dataset on this machine."""
    return waiting(storage_of(tmp_path / "run"))


class Site(NamedTuple):
    """A review that is being served, and a client that knows its token."""

    address: str
    origin: str
    client: aiohttp.ClientSession
    session: Session

    def link(self, path: str) -> str:
        """The address of a page, with the token."""
        return f"{self.origin}{path}?{urlsplit(self.address).query}"

    async def get(self, path: str) -> str:
        """The text of a page."""
        async with self.client.get(self.link(path)) as response:
            assert response.status == 200
            return await response.text()

    async def post(self, path: str, form: dict[str, str]) -> tuple[int, str]:
        """Status and text of what follows a form that was sent from the review's own page."""
        async with self.client.post(self.link(path), data=form, headers={"Origin": self.origin}) as response:
            return response.status, await response.text()


@asynccontextmanager
async def served(folder: Storage, name: str | None = "ann", audit: int = 0) -> AsyncIterator[Site]:
    """A review, as the command serves it."""
    ending, announced = asyncio.Event(), asyncio.get_running_loop().create_future()
    with Session(folder, Selection(audit=audit)) as session:
        if name is not None:
            session.begin(name)
        async with aiohttp.ClientSession() as client:
            serving = asyncio.create_task(serve(session, 0, announced.set_result, ending))
            address = await announced
            parts = urlsplit(address)
            yield Site(address, f"{parts.scheme}://{parts.netloc}", client, session)
        ending.set()
        await serving


def grade_of(folder: Storage, attempt_id: str) -> tuple[str | None, str]:
    """Grade and rule of what now holds."""
    row = query(f"SELECT grade, rule FROM trace_grades WHERE attempt_id = '{attempt_id}'", [folder]).to_pylist()[0]
    return row["grade"], row["rule"]


# --- who is let in ---------------------------------------------------------------------------------------------------


async def test_it_listens_on_loopback_under_a_random_token(folder: Storage) -> None:
    async with served(folder) as first:
        one = first.address
    async with served(folder) as second:
        other = second.address

    assert re.fullmatch(r"http://127\.0\.0\.1:\d+/\?token=[\w-]{32}", one)
    assert one.partition("token=")[2] != other.partition("token=")[2]


@pytest.mark.parametrize("query_", ["", "?token=", "?token=guess", "?token=%ff%fe"])
async def test_without_the_token_nothing_is_shown(folder: Storage, query_: str) -> None:
    async with served(folder) as site:
        for path in ("/", "/trajectories/u1-1", "/trajectories/u1-1/looks/0", "/nowhere"):
            async with site.client.get(f"{site.origin}{path}{query_}") as response:
                assert response.status == 403
                assert "trajector" not in await response.text()


async def test_another_hosts_name_is_refused(folder: Storage) -> None:
    async with served(folder) as site:
        for host in ("evil.example", f"evil.example:{urlsplit(site.address).port}", "127.0.0.1"):
            async with site.client.get(site.address, headers={"Host": host}) as response:
                assert response.status == 403


@pytest.mark.parametrize("origin", [None, "null", "http://evil.example", "http://127.0.0.1:1"])
async def test_a_form_of_another_site_is_refused(folder: Storage, origin: str | None) -> None:
    headers = {"Origin": origin} if origin else {}
    async with served(folder) as site:
        async with site.client.post(site.link("/trajectories/u1-1"), data=FAIL, headers=headers) as response:
            assert response.status == 403
        assert site.session.answer_of("u1-1") is None


async def test_every_answer_forbids_what_a_page_does_not_need(folder: Storage) -> None:
    async with served(folder) as site:
        for address in (site.address, site.link("/trajectories/u1-1"), site.origin, site.link("/nowhere")):
            async with site.client.get(address) as response:
                policy = response.headers["Content-Security-Policy"]
                assert policy.startswith("default-src 'none'; base-uri 'none'; frame-ancestors 'none'")
                assert "unsafe-inline" not in policy.replace("style-src-attr 'unsafe-inline'", "")
                assert response.headers["X-Content-Type-Options"] == "nosniff"
                assert response.headers["Cache-Control"] == "no-store"


async def test_a_trajectory_that_is_not_part_of_it_is_not_there(folder: Storage) -> None:
    async with served(folder) as site:
        for path in (f"/trajectories/{ACCEPTED[0]}", "/trajectories/x", "/trajectories/u1-1/looks/9"):
            async with site.client.get(site.link(path)) as response:
                assert response.status == 404


# --- what is shown ---------------------------------------------------------------------------------------------------


async def test_the_reviewer_is_blind_until_the_answer(folder: Storage) -> None:
    waited = [vote("u1-1", "bob", None, reason="bob had doubts")]
    folder = waiting(storage_of(Path(folder.address).with_name("other")), waited)
    async with served(folder) as site:
        before = await site.get("/trajectories/u1-1")
        status, after = await site.post("/trajectories/u1-1", FAIL)

    assert status == 200
    for told in (
        REASON,
        "judge-a",
        THOUGHT,
        "judge-a dislikes it",
        "no_quorum",
        "the ticket is there",
        "bob had doubts",
    ):
        assert told not in before
        assert told in after


async def test_a_drawn_trajectory_looks_like_one_that_waits(folder: Storage) -> None:
    async with served(folder, audit=4) as site:
        waits, drawn = [plain(await site.get(f"/trajectories/{one}-1"), one) for one in ("u1", "a1")]
        listed = await site.get("/")

    assert waits == drawn
    assert listed.count('<span class="badge none">waiting</span>') == len(UNDECIDED) + len(ACCEPTED)


def plain(page: str, name: str) -> str:
    """A page without its pictures, its own name and its nonce."""
    return (
        re.sub(r'(?<=[";])(data:image|nonce=")[^"]*|nonce="[^"]*"', "", page).replace(f"{name}-1", "").replace(name, "")
    )


async def test_texts_are_shown_and_never_obeyed(folder: Storage) -> None:
    async with served(folder) as site:
        await site.post("/trajectories/u1-1", {"grade": "fail", "reason": "</textarea><script>alert(1)</script>"})
        pages = [await site.get("/"), await site.get("/trajectories/u1-1")]

    for page in pages:
        assert "创建工单“灯”" in page and "&lt;script&gt;document.title" in page
        assert "<script>document" not in page and "<script>alert" not in page


async def test_every_look_can_be_opened_as_it_was_taken(folder: Storage) -> None:
    async with served(folder) as site:
        for look in ("0", "1", "last"):
            async with site.client.get(site.link(f"/trajectories/u1-1/looks/{look}")) as response:
                assert response.content_type == "image/png"
                assert (await response.read()).startswith(b"\x89PNG")


async def test_a_second_opinion_hides_the_first(folder: Storage) -> None:
    async with served(folder, "ann") as site:
        await site.post("/trajectories/u1-1", {"grade": "complete", "reason": "ann is sure"})
    async with served(folder, "bob") as site:
        assert "/trajectories/u1-1" in await site.get("/")
        before = await site.get("/trajectories/u1-1")
        _, after = await site.post("/trajectories/u1-1", FAIL)

    assert "ann is sure" not in before and "ann is sure" in after
    assert "Persons disagree" in after


# --- answering -------------------------------------------------------------------------------------------------------


async def test_the_page_asks_for_a_name_when_none_was_given(folder: Storage) -> None:
    async with served(folder, None) as site:
        assert "Your name" in await site.get("/")
        async with site.client.get(site.link("/trajectories/u1-1")) as response:
            assert response.status == 404
        assert (await site.post("/name", {"name": "   "}))[0] == 422
        status, listed = await site.post("/name", {"name": "  Ann  Lee "})

        assert (status, site.session.reviewer) == (200, "Ann Lee")
        assert "0 of 3 answered" in listed


@pytest.mark.parametrize(
    ("kind", "data"),
    [
        ("application/x-www-form-urlencoded", b"grade=fail&reason=\xff"),
        ("application/x-www-form-urlencoded; charset=nowhere", b"grade=fail"),
        ("multipart/form-data", b"no boundary"),
    ],
)
async def test_a_form_that_is_no_text_is_refused_and_nothing_is_stored(folder: Storage, kind: str, data: bytes) -> None:
    async with served(folder) as site:
        headers = {"Origin": site.origin, "Content-Type": kind}
        async with site.client.post(site.link("/trajectories/u1-1"), data=data, headers=headers) as response:
            assert response.status == 400

        assert site.session.progress.answered == 0


async def test_an_answer_that_cannot_be_taken_comes_back_with_what_was_written(folder: Storage) -> None:
    async with served(folder) as site:
        status, page = await site.post(
            "/trajectories/u1-1", {"grade": "infeasible", "reason": "找不到", "step-0": "wrong"}
        )

        assert status == 422
        assert "did not say that the task cannot be done" in page
        assert "找不到" in page and '<option value="wrong" selected>' in page
        assert REASON not in page
        assert site.session.answer_of("u1-1") is None


async def test_what_could_not_be_written_is_told(folder: Storage, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> None:
        raise SinkError("disk_full", "publishing: no space left")

    async with served(folder) as site:
        monkeypatch.setattr(site.session, "store", full)
        status, page = await site.post("/trajectories/u1-1", FAIL)

    assert status == 500
    assert "no space left" in page and "give it again" in page


# --- in a browser ----------------------------------------------------------------------------------------------------


@asynccontextmanager
async def opened(address: str, width: int, dark: bool) -> AsyncIterator[tuple[Page, list[str]]]:
    """The address in Chromium, and what its console says."""
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(executable_path=chromium(), chromium_sandbox=False)
        page = await browser.new_page(
            viewport={"width": width, "height": 800}, color_scheme="dark" if dark else "light"
        )
        told: list[str] = []
        page.on("console", lambda message: told.append(message.text))
        page.on("pageerror", lambda error: told.append(str(error)))
        await page.goto(address)
        yield page, told
        await browser.close()


async def test_a_person_answers_with_the_keyboard_alone(folder: Storage) -> None:
    async with served(folder) as site, opened(site.address, 1280, dark=False) as (page, told):
        await page.keyboard.press("n")
        await page.locator("form.answer").wait_for()
        assert await page.locator("h1").inner_text() == INSTRUCTION
        await page.keyboard.press("1")
        await page.keyboard.press("Control+Enter")
        await page.get_by_text("Your answer is stored.").wait_for()
        assert await page.locator("header").inner_text() == "pathproof review\n1 of 3 answered\nann"
        await page.keyboard.press("n")
        await page.locator("aside > form.answer").wait_for()
        await page.keyboard.press("5")
        await page.keyboard.press("Control+Enter")
        assert await page.locator("textarea:invalid").count() == 1
        await page.locator("textarea").fill("1 too dark")
        await page.keyboard.press("Control+Enter")
        await page.get_by_text("Your answer is stored.").wait_for()
        first, second, _ = site.session.items

    assert told == []
    assert grade_of(folder, first) == ("complete", "human")
    assert grade_of(folder, second) == (None, "no_quorum")


async def test_a_change_of_mind_and_a_step_grade_are_stored(folder: Storage) -> None:
    async with served(folder) as site, opened(site.link("/trajectories/u1-1"), 1280, dark=True) as (page, _):
        await page.get_by_label("Complete").check()
        await page.get_by_role("button", name="Store the answer").click()
        await page.get_by_text("Change the answer").click()
        await page.locator("select[name=step-1]").select_option("explore")
        await page.get_by_label("Fail").check()
        await page.get_by_role("button", name="Store the answer").click()
        await page.locator(".reveal .badge.fail").wait_for()

    assert grade_of(folder, "u1-1") == ("fail", "human")
    steps = query("SELECT step_index, grade FROM step_grades WHERE rule = 'human'", [folder]).to_pylist()
    assert steps == [{"step_index": 1, "grade": "explore"}]


@pytest.mark.parametrize("width", [390, 1280])
async def test_nothing_runs_out_of_the_page(folder: Storage, width: int) -> None:
    async with served(folder) as site, opened(site.address, width, dark=width == 390) as (page, told):
        for path in ("/", "/trajectories/u1-1"):
            await page.goto(site.link(path))
            assert await page.evaluate("document.documentElement.scrollWidth") <= width
        picture = await page.locator(".shot img").first.bounding_box()
        ring = await page.locator(".ring").first.bounding_box()

    assert told == []
    assert picture is not None and picture["width"] > min(0.85 * width, 800)
    assert ring is not None and picture["x"] <= ring["x"] and ring["x"] + ring["width"] < picture["x"] + 200


# --- the command -----------------------------------------------------------------------------------------------------


def test_ctrl_c_ends_it_with_every_answer_stored(folder: Storage) -> None:
    command = [sys.executable, "-m", "pipeline.cli", "review", folder.address, "--name", "ann", "--audit", "1"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        address = urlsplit(process.stdout.readline().strip())
        origin = f"{address.scheme}://{address.netloc}"
        with httpx.Client(headers={"Origin": origin}, timeout=30) as client:
            stored = client.post(f"{origin}/trajectories/u1-1?{address.query}", data=FAIL)
            process.send_signal(signal.SIGINT)
            _, told = process.communicate(timeout=30)

    assert stored.status_code == 303
    assert (process.returncode, told) == (0, "1 of 4 answered\n")
    assert grade_of(folder, "u1-1") == ("fail", "human")
    assert check(folder) == []
    with driver_lock(folder):
        pass


def test_a_dataset_in_use_is_refused(folder: Storage) -> None:
    with driver_lock(folder), pytest.raises(RunError, match="in use"):
        review(folder, Selection(), print)


def test_a_port_that_is_taken_is_named(folder: Storage) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken, pytest.raises(ConfigError, match=r"--port: cannot listen"):
        review(folder, Selection(), print, port=taken.getsockname()[1])


@pytest.mark.parametrize("name", ["", "  ", "x" * 61, "a\x00b"])
def test_a_name_must_be_one(folder: Storage, name: str) -> None:
    with pytest.raises(ConfigError, match="--name"):
        review(folder, Selection(), print, name=name)
