"""What a step of the web environment costs beside the bare browser calls it is made of, and beside BrowserGym's.

    python bench/web_step.py
    python bench/web_step.py --steps 40 --seed 1

Ours: act, settle, picture and tree, as a rollout does. Raw: Playwright making the same calls with the same settle rule
and nothing around them. Both click the same places of the same pages, one step each in turn, in one browser.

BrowserGym, in an environment of its own, then clicks the same places of the same pages with the same Chromium:
`browsergym` as shipped, `browsergym_nosleep` without its half second before every look, `browsergym_bare` also without
the 0.1 s that its MiniWoB++ tasks add to every browser call. What its step does and ours does not: it marks every
element, takes DOM and accessibility tree from the browser, opens the picture as an array and asks the task for its
reward. What ours does and its step does not: it waits for the page to be still, looks again when the page changed
meanwhile, notices dialogs, pop-ups and downloads, and hashes the picture. As shipped and without the sleep
BrowserGym's pictures are 498x321, which is in its favour; bare they are 1280x720 as ours. It is driven through
Playwright's older synchronous interface, one process a variant, after ours has ended.

The last line has the medians in milliseconds and ratios: ours to raw, and BrowserGym's to ours (larger is better).
"""

from __future__ import annotations

import argparse
import asyncio
import base64
import random
import statistics
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple

if not __package__:
    sys.path[0] = str(Path(__file__).resolve().parent.parent)

from playwright.async_api import CDPSession, Page

from bench import peer
from pipeline.actions import Click, Pixel, canonical_point
from pipeline.envs.browser import Browser, Screen
from pipeline.envs.scripts import page_script
from pipeline.envs.web import WebEnvironment
from pipeline.envs.web_sites import StaticSite
from pipeline.errors import SetupError
from pipeline.reaper import Scratch
from pipeline.tasks import Start, TaskSpec

PAGES = ("book-flight", "choose-list", "click-checkboxes", "click-tab-2", "click-test", "email-inbox", "login-user")
AREA = (8, 8, 152, 200)
"""Where MiniWoB++ pages have their contents: left, top, right, bottom."""


class Timing(NamedTuple):
    """Seconds of one step on the same page and point."""

    ours: float
    raw: float


class Raw(NamedTuple):
    """A page with its protocol session and the scripts' world, called directly."""

    page: Page
    session: CDPSession
    world: int

    async def step(self, point: Pixel) -> tuple[bytes, Any]:
        """Click, wait until the page is still, take picture and tree."""
        await self.page.mouse.click(point.x, point.y)
        await self.evaluate("pathproof.quiet(70, 1500, 10000)")
        picture, look = await asyncio.gather(
            self.session.send("Page.captureScreenshot", {"format": "png", "optimizeForSpeed": True}),
            self.evaluate("pathproof.look(1)"),
        )
        return base64.b64decode(picture["data"]), look

    async def evaluate(self, expression: str) -> Any:
        """The value of an expression in the scripts' world."""
        answer = await self.session.send(
            "Runtime.evaluate",
            {"expression": expression, "contextId": self.world, "returnByValue": True, "awaitPromise": True},
        )
        return answer["result"].get("value")


async def compare(url: str, steps: int, seed: int) -> list[Timing]:
    """Time `steps` clicks on every page, ours and raw in turn, whoever comes first changing."""
    timings = []
    with Scratch("bench") as scratch:
        browser = Browser(scratch)
        environment = WebEnvironment(browser, lambda _: StaticSite(url))
        for name in PAGES:
            await environment.start(_task(f"/miniwob/{name}.html"))
            await environment.observe()
            raw = await _raw(browser, f"{url}/miniwob/{name}.html")
            for index, point in enumerate(_points(steps, seed)):
                ours_first = index % 2 == 0
                early = await _ours(environment, point) if ours_first else await _bare(raw, point)
                late = await _bare(raw, point) if ours_first else await _ours(environment, point)
                timings.append(Timing(early, late) if ours_first else Timing(late, early))
            await raw.page.context.close()
        await environment.close()
    return timings


async def _ours(environment: WebEnvironment, point: Pixel) -> float:
    began = time.perf_counter()
    await environment.act(Click(point=canonical_point(point, 1280, 720)), [point])
    await environment.observe()
    return time.perf_counter() - began


async def _bare(raw: Raw, point: Pixel) -> float:
    began = time.perf_counter()
    await raw.step(point)
    return time.perf_counter() - began


async def _raw(browser: Browser, url: str) -> Raw:
    page = await (await browser.context(Screen())).new_page()
    await page.goto(url)
    session = await page.context.new_cdp_session(page)
    frame = (await session.send("Page.getFrameTree"))["frameTree"]["frame"]["id"]
    world = await session.send("Page.createIsolatedWorld", {"frameId": frame, "worldName": "raw"})
    raw = Raw(page, session, int(world["executionContextId"]))
    await raw.evaluate(page_script())
    return raw


def _points(steps: int, seed: int) -> list[Pixel]:
    """The middle first, which starts the page's episode, then anywhere in its contents."""
    chance = random.Random(seed)
    left, top, right, bottom = AREA
    middle = Pixel(x=(left + right) // 2, y=(top + bottom) // 2)
    return [middle, *(Pixel(x=chance.randint(left, right), y=chance.randint(top, bottom)) for _ in range(steps - 1))]


def _task(path: str) -> TaskSpec:
    return TaskSpec(
        task_id="bench",
        app_ids=["miniwob"],
        platform="web",
        tier="single",
        instruction="click",
        language="en",
        capability_ids=[],
        start=Start(app_id="miniwob", path=path),
        contract_kind="state",
        segments=[],
        domain="Web",
    )


@contextmanager
def _served() -> Iterator[str]:
    """The MiniWoB++ pages of the installed package on a free loopback port; their address."""
    spec = find_spec("miniwob")
    if spec is None or spec.origin is None:
        raise SystemExit("error: the package miniwob is not installed: run `make setup`")
    handler = partial(_Quiet, directory=str(Path(spec.origin).parent / "html"))
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


class _Quiet(SimpleHTTPRequestHandler):
    def log_message(self, format: str, *args: object) -> None:
        del format, args


def peer_figures(url: str, points: Sequence[Pixel], ours: float) -> str:
    """BrowserGym's medians and how many times longer they are than ours; empty when it cannot be had."""
    figures = []
    with Scratch("bench-peer") as scratch:
        try:
            python = peer.install(scratch)
        except SetupError as error:
            print(f"BrowserGym {peer.VERSION} could not be installed and is left out: {error.message.splitlines()[-1]}")
            return ""
        for variant in peer.VARIANTS:
            seconds = statistics.median(peer.step_seconds(scratch, python, url, PAGES, points, variant))
            figures.append(f" {variant}_ms={seconds * 1000:.1f} {variant}_ratio={seconds / ours:.2f}")
    return "".join(figures)


def main() -> None:
    """Run the comparison and print it."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--steps", type=int, default=20, help="clicks on each page (default 20)")
    parser.add_argument("--seed", type=int, default=0, help="which places are clicked (default 0)")
    arguments = parser.parse_args()
    with _served() as url:
        timings = asyncio.run(compare(url, arguments.steps, arguments.seed))
        ours = statistics.median(timing.ours for timing in timings)
        raw = statistics.median(timing.raw for timing in timings)
        print(f"{len(PAGES)} pages, {len(timings)} steps each way", flush=True)
        peers = peer_figures(url, _points(arguments.steps, arguments.seed), ours)
    print(f"step_ms={ours * 1000:.1f} raw_ms={raw * 1000:.1f} raw_ratio={ours / raw:.2f}{peers}")


if __name__ == "__main__":
    main()
