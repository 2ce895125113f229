"""Settings of a device are left as they were found, also by an episode of an application that has none of them."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

import pytest
import pytest_asyncio

from pipeline.entry_state import SettingState
from pipeline.envs.adb import AdbServer
from pipeline.envs.adb_device import AdbDevice
from pipeline.envs.android_apps import PhoneApps
from pipeline.envs.android_settings import PLACE, KeptSettings, Settings
from pipeline.envs.handset import HandsetProcess
from pipeline.errors import EnvError
from pipeline.reaper import Scratch
from tests.androids import PlainApp, phone_task

SETTINGS: Settings = {
    "org.pathproof.settings": [
        SettingState(kind="setting", namespace="secure", names=["ui_night_mode"]),
        SettingState(kind="setting", namespace="system", names=["made_up", "font_scale"]),
    ],
    "org.example.absent": [SettingState(kind="setting", namespace="global", names=["zen_mode"])],
}

pytestmark = pytest.mark.asyncio(loop_scope="module")


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def device() -> AsyncIterator[AdbDevice]:
    """One handset for this file."""
    with Scratch("settings-test") as scratch:
        server, handset = AdbServer(scratch), HandsetProcess(scratch)
        await asyncio.gather(server.start(), handset.start())
        device = AdbDevice(server, handset.serial)
        await device.attach()
        yield device
        await handset.close()


async def get(device: AdbDevice, namespace: str, name: str) -> str:
    return (await device.ask("settings", "get", namespace, name)).removesuffix("\n")


async def put(device: AdbDevice, namespace: str, name: str, value: str) -> None:
    await device.done("settings", "put", namespace, name, value)


async def test_what_another_application_has_changed_is_put_back(device: AdbDevice) -> None:
    before = await get(device, "secure", "ui_night_mode")
    apps = PhoneApps(lambda _, device: PlainApp(device), device, KeptSettings(device, SETTINGS))
    await apps.prepare(phone_task())
    await put(device, "secure", "ui_night_mode", "2")
    await put(device, "system", "made_up", "a\nb")
    await put(device, "global", "zen_mode", "1")

    await apps.leave()

    assert await get(device, "secure", "ui_night_mode") == before != "2"
    assert await get(device, "system", "made_up") == "null"
    assert await get(device, "global", "zen_mode") == "1"
    assert (await device.run("ls", PLACE)).code != 0


async def test_what_a_killed_run_has_left_is_no_first_state(device: AdbDevice) -> None:
    await put(device, "system", "made_up", "a\nb")
    before = await get(device, "secure", "ui_night_mode")
    await KeptSettings(device, SETTINGS).keep()
    await put(device, "secure", "ui_night_mode", "2")
    await put(device, "system", "made_up", "c")

    later = KeptSettings(device, SETTINGS)
    await later.keep()

    assert await get(device, "secure", "ui_night_mode") == before
    assert await get(device, "system", "made_up") == "a\nb"
    await later.leave()
    await device.done("settings", "delete", "system", "made_up")


async def test_what_was_changed_by_hand_between_episodes_stays(device: AdbDevice) -> None:
    kept = KeptSettings(device, SETTINGS)
    await kept.keep()
    await kept.leave()
    await put(device, "system", "font_scale", "1.3")

    await kept.keep()
    await kept.leave()

    assert await get(device, "system", "font_scale") == "1.3"
    await put(device, "system", "font_scale", "1.0")


async def test_a_file_that_cannot_be_read_keeps_nothing(device: AdbDevice) -> None:
    await device.push(b'{"secure/ui_night_mode": 7', PLACE)
    before = await get(device, "secure", "ui_night_mode")

    kept = KeptSettings(device, SETTINGS)
    await kept.keep()
    await put(device, "secure", "ui_night_mode", "2")
    await kept.leave()

    assert await get(device, "secure", "ui_night_mode") == before


async def test_a_setting_that_stays_as_it_is_is_said(device: AdbDevice) -> None:
    async def refused(*words: str, seconds: float = 0) -> None:
        del words, seconds

    kept = KeptSettings(device, SETTINGS)
    await kept.keep()
    await put(device, "secure", "ui_night_mode", "2")
    stubborn = pytest.MonkeyPatch()
    stubborn.setattr(device, "done", refused)
    with pytest.raises(EnvError, match="secure/ui_night_mode"):
        await kept.leave()
    stubborn.undo()

    await kept.leave()

    assert await get(device, "secure", "ui_night_mode") != "2"
