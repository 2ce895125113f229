"""Scores many sites, one line of a file each, and goes on where it was interrupted.

A site in the file is not asked again. When not one site answers, this machine is taken to be offline: then nothing is
written, for nothing was checked. With a browser the page is scored after its scripts have run, picture included.
"""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from playwright.async_api import Error as PlaywrightError
from pydantic import ValidationError

from catalogs.scoring import SiteScore, facts_of, scores_of, visual_of
from catalogs.visitor import Declined, Visitor
from pipeline.allowlist import AllowList
from pipeline.envs.browser import Browser, Screen
from pipeline.errors import ConfigError, first_problem
from pipeline.reaper import Scratch
from pipeline.records import now
from pipeline.user_files import decoded, lines_of

_AT_ONCE = 4
_OFFLINE_AFTER = 8
_LOOK_SECONDS = 30.0
_SETTLE_SECONDS = 5.0


class Look(NamedTuple):
    """A page as a browser shows it."""

    html: str
    picture: bytes


class Surveyed(NamedTuple):
    """How many sites were scored before, were checked now, and were left because nothing answers at all."""

    known: int
    checked: int
    offline: bool


def survey(
    domains: Sequence[str],
    file: Path,
    *,
    look: bool = False,
    pause_seconds: float = 1.0,
    tell: Callable[[SiteScore], None],
) -> Surveyed:
    """Score the sites that the file does not hold yet, and append what came of each to it."""
    known = {score.domain for score in read_scores(file)}
    waiting = [domain for domain in dict.fromkeys(domains) if domain not in known]
    session = _Session(file, tell)
    if waiting:
        with Scratch("survey") as scratch:
            asyncio.run(_visit_all(waiting, session, Browser(scratch) if look else None, pause_seconds))
    return Surveyed(len(set(domains)) - len(waiting), session.written, session.offline)


def read_scores(file: Path) -> list[SiteScore]:
    """The scores in a file, none when it does not exist; a line cut short at the end is dropped from the file."""
    if not file.exists():
        return []
    data = file.read_bytes()
    whole = data[: data.rfind(b"\n") + 1]
    if whole != data:
        file.write_bytes(whole)
    scores = []
    for line in lines_of(decoded(whole, str(file)), str(file)):
        try:
            scores.append(SiteScore.model_validate_json(line.text))
        except ValidationError as error:
            raise ConfigError(f"{line.place}: {first_problem(error)}") from error
    return scores


class _Session:
    """Writes scores down; those of sites that do not answer only once another one has answered."""

    def __init__(self, file: Path, tell: Callable[[SiteScore], None]) -> None:
        self.written = 0
        self._file = file
        self._tell = tell
        self._silent: list[SiteScore] = []
        self._answered = False

    @property
    def offline(self) -> bool:
        """Whether nothing has answered so far, though something was asked."""
        return bool(self._silent) and not self._answered

    @property
    def hopeless(self) -> bool:
        """Whether it is no use to ask on."""
        return self.offline and len(self._silent) >= _OFFLINE_AFTER

    def add(self, score: SiteScore) -> None:
        """Take the score of one site."""
        self._silent.append(score)
        self._answered = self._answered or score.outcome != "unreachable"
        if not self._answered:
            return
        with self._file.open("a", encoding="utf-8") as lines:
            for waiting in self._silent:
                lines.write(waiting.model_dump_json() + "\n")
                self._tell(waiting)
        self.written += len(self._silent)
        self._silent.clear()


class _Eye:
    """Looks at pages in a browser, one at a time, through the same allow-list."""

    def __init__(self, browser: Browser, allow_list: AllowList) -> None:
        self._browser = browser
        self._browser.proxy.allow_list = allow_list
        self._turn = asyncio.Lock()

    async def look(self, url: str) -> Look | None:
        """The page after its scripts have run; None when it does not come in time."""
        async with self._turn:
            context = await self._browser.context(Screen())
            try:
                async with asyncio.timeout(_LOOK_SECONDS):
                    page = await context.new_page()
                    await page.goto(url, timeout=_LOOK_SECONDS * 1000)
                    with contextlib.suppress(PlaywrightError):
                        await page.wait_for_load_state("networkidle", timeout=_SETTLE_SECONDS * 1000)
                    return Look(await page.content(), await page.screenshot(timeout=_SETTLE_SECONDS * 1000))
            except (PlaywrightError, TimeoutError):
                return None
            finally:
                await self._browser.discard(context)


async def _visit_all(domains: list[str], session: _Session, browser: Browser | None, pause_seconds: float) -> None:
    waiting = iter(domains)
    try:
        async with Visitor(domains, pause_seconds) as visitor:
            eye = None if browser is None else _Eye(browser, visitor.allow_list)
            some = (_visit_some(waiting, session, visitor, eye) for _ in range(min(_AT_ONCE, len(domains))))
            await asyncio.gather(*some)
    finally:
        if browser is not None:
            await browser.close()


async def _visit_some(waiting: Iterator[str], session: _Session, visitor: Visitor, eye: _Eye | None) -> None:
    for domain in waiting:
        if session.hopeless:
            return
        session.add(await _scored(domain, visitor, eye))


async def _scored(domain: str, visitor: Visitor, eye: _Eye | None) -> SiteScore:
    began = time.monotonic()
    visit = await visitor.front_page(domain)
    seconds = round(time.monotonic() - began, 3)
    if isinstance(visit, Declined):
        return SiteScore(domain=domain, checked_at=now(), outcome=visit.outcome, seconds=seconds, detail=visit.detail)
    look = await eye.look(visit.url) if eye is not None and visit.status == 200 else None
    return SiteScore(
        domain=domain,
        checked_at=now(),
        outcome="scored",
        status=visit.status,
        seconds=seconds,
        scores=scores_of(visit.status, facts_of(look.html), visual_of(look.picture))
        if look
        else scores_of(visit.status, facts_of(visit.text)),
    )
