"""CASE-3: a screen that is never idle, through the real adb server."""

import asyncio
import time
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from pipeline.actions import Click, Pixel, Point
from pipeline.envs import android_tree
from pipeline.handset.wire import Output
from tests.androids import AndroidPhone, environment_of, node, phone_task, tree
from tests.phones import Plugged, plugged

OLD = tree(node(text="Old", clickable="true"))
NOT_IDLE = b"ERROR: could not get idle state.\n"


class Restless(AndroidPhone):
    """Its tree tool gives up after two seconds; a file of an earlier tree still lies there."""

    def __init__(self) -> None:
        super().__init__()
        self.files["/sdcard/window_dump.xml"] = OLD
        self.on("uiautomator dump", self._never)
        self.on("cat ", OLD)
        self.on("cat /proc", self._boot_id)

    async def _never(self, command: str, output: Output) -> int:
        del command
        await asyncio.sleep(2.0)
        await output.err(NOT_IDLE)
        return 0


@pytest.fixture
async def there(tmp_path: Path) -> AsyncIterator[Plugged]:
    async with plugged(tmp_path, Restless()) as found:
        yield found


async def test_three_steps_ask_for_the_tree_once(there: Plugged) -> None:
    environment = environment_of(there.device, idle_seconds=1.0)
    await environment.start(phone_task())
    click, spot = Click(point=Point(x=500, y=500)), [Pixel(x=100, y=200)]
    seconds, seen = [], []

    for _ in range(3):
        began = time.monotonic()
        await environment.act(click, spot)
        seen.append(await environment.observe())
        seconds.append(time.monotonic() - began)

    assert seconds[0] < 3.5 and max(seconds[1:]) < 1.0
    assert there.phone.count("uiautomator") == 1
    assert [(look.tree, look.tree_error) for look in seen] == [(None, "not_idle")] * 3
    assert all(look.frame is not None for look in seen)
    await environment.close()


async def test_it_is_asked_again_after_the_quiet_time_and_on_another_screen(
    there: Plugged, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(android_tree, "QUIET_SECONDS", 1.0)
    environment = environment_of(there.device, idle_seconds=0.2)
    await environment.start(phone_task())
    await environment.observe()
    assert isinstance(there.phone, Restless)

    there.phone.focus = "org.example.notes/.Other"
    await environment.observe()
    await environment.observe()
    elsewhere = there.phone.count("uiautomator")
    await asyncio.sleep(1.0)
    there.phone.on("uiautomator dump", tree(node(text="New", clickable="true")))
    seen = await environment.observe()

    assert elsewhere == 2
    assert seen.tree is not None and [found.name for found in seen.tree.nodes] == ["New"]
    await environment.close()


async def test_a_tool_that_says_so_at_once_is_believed(there: Plugged) -> None:
    there.phone.on("uiautomator dump", NOT_IDLE)
    environment = environment_of(there.device, idle_seconds=5.0)
    await environment.start(phone_task())

    seen = [await environment.observe() for _ in range(2)]

    assert [look.tree_error for look in seen] == ["not_idle"] * 2
    assert there.phone.count("uiautomator") == 1
    await environment.close()
