"""The browser process: where it is found, what it leaves behind, when it is renewed."""

import asyncio
import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import psutil
import pytest

from pipeline.envs.browser import Browser, Screen, find_chromium
from pipeline.errors import RunError, SetupError
from pipeline.guardian import MARK, marked
from pipeline.reaper import Scratch


def executable(path: Path, content: str = "#!/bin/sh\nexit 1\n") -> Path:
    path.write_text(content)
    path.chmod(0o755)
    return path


def test_the_systems_chromium_comes_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    downloaded = executable(tmp_path / "downloaded")
    executable(tmp_path / "google-chrome")
    chromium = executable(tmp_path / "chromium")
    assert find_chromium(str(downloaded)) == chromium


def test_playwrights_download_is_used_when_the_system_has_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    downloaded = executable(tmp_path / "downloaded")
    assert find_chromium(str(downloaded)) == downloaded


def test_without_any_chromium_the_fix_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(RunError, match=r"apt-get install chromium.*playwright install chromium"):
        find_chromium(str(tmp_path / "nothing"))


def others(scratch: Scratch) -> list[psutil.Process]:
    """Marked processes beside ourselves and the guardian."""
    return [process for process in marked(scratch.path, {os.getpid()}) if "guardian.py" not in str(process.cmdline())]


@asynccontextmanager
async def running(scratch: Scratch, executable: Path | None = None, episodes: int = 50) -> AsyncIterator[Browser]:
    browser = Browser(scratch, executable=executable, episodes=episodes)
    try:
        yield browser
    finally:
        await browser.close()


async def test_everything_started_carries_the_mark_and_nothing_is_left() -> None:
    before = dict(os.environ)
    with Scratch("browser") as scratch:
        async with running(scratch) as browser:
            await browser.discard(await browser.context(Screen()))
            await browser.context(Screen())
            [driver] = browser._driver
            family = [driver, *driver.children(recursive=True)]
            assert {process.environ().get(MARK) for process in family[:2]} == {str(scratch.path)}
            assert any(f"--user-data-dir={scratch.path}/" in part for process in family for part in process.cmdline())
            assert not any(part.startswith("--remote-debugging-port") for p in family for part in p.cmdline())
            assert {process.pid for process in family} <= {process.pid for process in others(scratch)}
        await browser.close()
        assert others(scratch) == []
        assert list(scratch.path.glob("playwright*")) == []
    assert dict(os.environ) == before


async def test_it_is_renewed_after_a_number_of_episodes() -> None:
    with Scratch("browser") as scratch:
        async with running(scratch, episodes=2) as browser:
            drivers = []
            for _ in range(3):
                await browser.discard(await browser.context(Screen()))
                drivers.append(browser._driver[0].pid)
    assert drivers[0] == drivers[1] != drivers[2]


async def test_one_that_died_is_replaced_at_once() -> None:
    with Scratch("browser") as scratch:
        async with running(scratch) as browser:
            context = await browser.context(Screen())
            for process in browser._driver[0].children():
                process.kill()
            assert await browser.context(Screen())
            await browser.discard(context)
            assert browser.alive


async def test_a_program_that_is_no_browser_is_a_setup_fault(tmp_path: Path) -> None:
    with Scratch("browser") as scratch:
        async with running(scratch, executable(tmp_path / "broken")) as browser:
            with pytest.raises(SetupError) as caught:
                await browser.context(Screen())
        assert others(scratch) == []
    assert caught.value.code == "no_browser"


async def test_without_a_chromium_nothing_is_left_running(monkeypatch: pytest.MonkeyPatch) -> None:
    def none(_: str) -> Path:
        raise RunError("no Chromium found")

    monkeypatch.setattr("pipeline.envs.browser.find_chromium", none)
    with Scratch("browser") as scratch:
        async with running(scratch) as browser:
            with pytest.raises(RunError):
                await browser.context(Screen())
            assert others(scratch) == []


async def test_two_that_start_at_once_end_each_its_own_processes() -> None:
    with Scratch("left") as left, Scratch("right") as right:
        async with running(left) as one, running(right) as other:
            await asyncio.gather(one.context(Screen()), other.context(Screen()))

            await one.close()

            assert not others(left) and other.alive
            await (await other.context(Screen())).new_page()
        assert not others(right)
