"""The driver on whatever device `PATHPROOF_SERIAL` names: a phone on the bus, an emulator, a container, a handset.

    PATHPROOF_SERIAL=127.0.0.1:5555 python -m pytest tests/test_android_serial.py

It wakes the device, goes to the launcher, opens the settings, looks, and goes back; it changes nothing else than the
rotation, which it locks upright.
"""

import os
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from pipeline.actions import LaunchApp, PressBack, PressHome
from pipeline.envs.android import Phone
from pipeline.envs.android_actions import Hands
from pipeline.envs.android_capture import capture
from pipeline.envs.android_display import View, read_display
from pipeline.envs.android_launch import Launcher, go_home
from pipeline.envs.android_tree import TreeReader
from pipeline.envs.device_leases import Leases
from pipeline.envs.devices import SharedDevices
from pipeline.reaper import Scratch

SERIAL = os.environ.get("PATHPROOF_SERIAL", "")

pytestmark = pytest.mark.skipif(not SERIAL, reason="PATHPROOF_SERIAL names no device")


@pytest.fixture
async def phone(tmp_path: Path) -> AsyncIterator[Phone]:
    with Scratch("serial") as scratch:
        fleet = SharedDevices(scratch, [SERIAL], Leases(tmp_path))
        taken = await fleet.take()
        await go_home(taken.device)
        yield taken
        await fleet.give_back(taken, worked=True)
        await fleet.close()


async def test_its_screen_is_read_whole(phone: Phone) -> None:
    display = await read_display(phone.device)
    frame = await capture(phone.device)
    dumped = await TreeReader(phone.device, 15.0).read(display.focus)

    assert phone.build
    assert View.of(frame.width, frame.height, display) is not None
    assert dumped.rotation == display.rotation
    assert any(node.name for node in dumped.nodes)


async def test_its_settings_open_and_close(phone: Phone) -> None:
    launcher = Launcher(phone.device, {})
    hands = Hands(phone.device, launcher)
    home = await read_display(phone.device)
    settings = [name for name in await launcher.launchable() if "settings" in name.partition("/")[0].split(".")]
    package = settings[0].partition("/")[0]

    await hands.act(LaunchApp(app=package), [])
    opened = await read_display(phone.device)
    await hands.act(PressBack(), [])
    await hands.act(PressHome(), [])

    assert opened.package == package != home.package
