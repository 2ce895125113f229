"""Faults of the handset: each shows as it would on a real phone, and ends when it is told to."""

from __future__ import annotations

import asyncio
import io
import subprocess
import time
from collections.abc import Iterator

import psutil
import pytest
from PIL import Image

from pipeline.envs.handset import HandsetProcess
from pipeline.errors import SetupError
from pipeline.reaper import Scratch
from tests.handsets import Held, held

pytestmark = pytest.mark.slow

NOTES = "org.pathproof.notes"


@pytest.fixture(scope="module")
def phone() -> Iterator[Held]:
    with held() as hand:
        yield hand


@pytest.fixture(autouse=True)
def calm(request: pytest.FixtureRequest) -> Iterator[None]:
    yield
    if "phone" in request.fixturenames:
        hand: Held = request.getfixturevalue("phone")
        hand.host("connect", hand.serial)
        hand.until("settings put global pathproof_fault ''; getprop sys.boot_completed", "1")
        hand.fresh(NOTES)


def order(phone: Held, text: str) -> None:
    phone.sh(f"settings put global pathproof_fault '{text}'")


def shot(phone: Held) -> bytes:
    return phone.adb("exec-out", "screencap -p").stdout


def test_an_unknown_fault_is_refused(phone: Held) -> None:
    code, _, said = phone.ran("settings put global pathproof_fault burnt")

    assert code == 1
    assert "'burnt' is no fault" in said


def test_one_command_hangs_while_others_answer(phone: Held) -> None:
    order(phone, "hang:screencap*1")
    with pytest.raises(subprocess.TimeoutExpired):
        phone.adb("exec-out", "screencap -p", seconds=2)

    assert phone.sh("echo here") == "here"
    assert shot(phone).startswith(b"\x89PNG")


def test_black_and_secure_are_told_apart_by_the_window_alone(phone: Held) -> None:
    order(phone, "black*1")
    black, plain = Image.open(io.BytesIO(shot(phone))), phone.sh("dumpsys window windows")
    order(phone, "secure")
    secure, flagged = Image.open(io.BytesIO(shot(phone))), phone.sh("dumpsys window windows")

    assert black.getextrema() == secure.getextrema() == ((0, 0),) * 3
    assert "SECURE" not in plain
    assert " SECURE " in flagged


def test_a_torn_picture_arrives_torn(phone: Held) -> None:
    whole = shot(phone)
    order(phone, "torn*1")

    assert shot(phone) == whole[: len(whole) // 2]
    assert shot(phone) == whole


def test_a_screen_that_is_never_idle_leaves_the_old_tree_where_it_is(phone: Held) -> None:
    phone.sh("uiautomator dump")
    order(phone, "tree_never:0.3*1")
    began = time.monotonic()
    _, _, said = phone.ran("uiautomator dump")

    assert said.strip() == "ERROR: could not get idle state."
    assert time.monotonic() - began >= 0.3
    assert phone.sh("cat /sdcard/window_dump.xml").endswith("</hierarchy>")
    assert phone.sh("uiautomator dump") == "UI hierchary dumped to: /sdcard/window_dump.xml"


def test_a_slow_tree_and_one_without_a_root(phone: Held) -> None:
    order(phone, "tree_slow:0.5*1,tree_null*1")
    began = time.monotonic()
    first = phone.ran("uiautomator dump")[2]
    second = phone.sh("uiautomator dump")

    assert "null root node" in first
    assert second.startswith("UI hierchary dumped")
    assert time.monotonic() - began >= 0.5


def test_a_broadcast_is_lost_or_fails(phone: Held) -> None:
    phone.fresh(NOTES)
    phone.open(NOTES)
    phone.tap("New note", "Title")
    order(phone, "broadcast_lost*1")
    lost = phone.sh("am broadcast -a ADB_INPUT_TEXT --es msg one")
    order(phone, "broadcast_failed*1")
    failed = phone.sh("am broadcast -a ADB_INPUT_TEXT --es msg two")
    arrived = phone.sh("am broadcast -a ADB_INPUT_TEXT --es msg three")

    results = [said.splitlines()[-1] for said in (lost, failed, arrived)]
    assert results == [
        "Broadcast completed: result=0",
        "Broadcast completed: result=1",
        "Broadcast completed: result=0",
    ]
    assert phone.find("title").text == "three"


@pytest.mark.parametrize(("button", "stays"), [("Wait", True), ("Close app", False)])
def test_an_application_does_not_respond(phone: Held, button: str, stays: bool) -> None:
    order(phone, f"anr:{NOTES}*1")
    phone.open(NOTES)
    focus, log = phone.sh("dumpsys window displays"), phone.sh("logcat -d -b events")
    phone.tap(button)
    phone.until("dumpsys window displays", phone.sh("dumpsys window displays"))

    assert f"Application Not Responding: {NOTES}" in focus
    assert f"am_anr  : [0,4242,{NOTES}," in log
    assert ("Search notes" in phone.texts()) == stays


def test_an_application_does_not_respond_and_no_window_says_so(phone: Held) -> None:
    order(phone, f"anr_hidden:{NOTES}*1")
    phone.open(NOTES)
    focus, log = phone.sh("dumpsys window displays"), phone.sh("logcat -d -b events -s am_anr")
    tree = phone.ran("uiautomator dump /dev/tty")[2]
    phone.sh("input keyevent HOME")
    at_home = phone.texts()
    phone.sh(f"am force-stop {NOTES}")
    phone.open(NOTES)

    assert "Not Responding" not in focus
    assert f"am_anr  : [0,4242,{NOTES}," in log
    assert "null root node" in tree
    assert "Notes" in at_home and "Search notes" in phone.texts()


def test_the_display_turns_on_order(phone: Held) -> None:
    order(phone, "rotate:1")
    turned = Image.open(io.BytesIO(shot(phone))).size
    order(phone, "rotate:0")

    assert turned == (1688, 780)
    assert Image.open(io.BytesIO(shot(phone))).size == (780, 1688)


def test_an_application_that_does_not_respond_behind_the_launcher_is_ended_with_its_window(phone: Held) -> None:
    phone.open(NOTES)
    order(phone, f"anr:{NOTES}*1")
    phone.sh("input keyevent KEYCODE_HOME")
    shown = phone.sh("dumpsys window displays")
    phone.sh(f"am force-stop {NOTES}")

    assert f"Application Not Responding: {NOTES}" in shown
    assert "Application Not Responding" not in phone.sh("dumpsys window displays")


def test_it_goes_offline_and_comes_back(phone: Held) -> None:
    order(phone, "offline:1")
    phone.host("disconnect", phone.serial)
    gone = phone.adb("shell", "echo here").returncode
    until = time.monotonic() + 20
    while phone.adb("shell", "echo here").stdout != b"here\n":
        assert time.monotonic() < until
        phone.host("connect", phone.serial)

    assert gone != 0


def test_a_reboot_is_another_incarnation(phone: Held) -> None:
    before = phone.sh("cat /proc/sys/kernel/random/boot_id")
    phone.open(NOTES)
    phone.sh("settings put system font_scale 1.15")
    order(phone, "reboot")
    until = time.monotonic() + 20
    while phone.ran("cat /proc/sys/kernel/random/boot_id")[1].strip() in ("", before):
        assert time.monotonic() < until
        phone.host("connect", phone.serial)
    phone.until("getprop sys.boot_completed", "1")

    again = phone.sh("cat /proc/sys/kernel/random/boot_id")
    assert float(phone.sh("cat /proc/uptime").split()[0]) < 20
    assert phone.sh("cat /proc/sys/kernel/random/boot_id") == again
    assert "launcher" in phone.sh("dumpsys activity activities")
    assert phone.sh("settings get system font_scale") == "1.15"
    phone.sh("settings put system font_scale 1.0")


def test_a_page_that_crashes_takes_its_application_along(phone: Held) -> None:
    phone.ran("am start -a android.intent.action.VIEW -d chrome://crash org.pathproof.browser")
    until = time.monotonic() + 15
    while "am_crash: [4242,0,org.pathproof.browser" not in phone.ran("logcat -d -b events")[1]:
        assert time.monotonic() < until
        phone.ran("dumpsys input_method")
    phone.open(NOTES)

    assert "Search notes" in phone.texts()
    phone.sh("pm clear org.pathproof.browser")


def listening_at(serial: str) -> psutil.Process:
    """The handset of this address; others may run beside it."""
    port = int(serial.rpartition(":")[2])
    children = psutil.Process().children(recursive=True)
    found = [child for child in children if "pipeline.handset" in child.cmdline()]
    return next(child for child in found if port in {one.laddr.port for one in child.net_connections("tcp")})


def test_a_screen_that_is_gone_makes_the_phone_boot_again(phone: Held) -> None:
    before = phone.sh("cat /proc/sys/kernel/random/boot_id")
    handset = listening_at(phone.serial)
    browsers = [child for child in handset.children(recursive=True) if "--remote-debugging-pipe" in child.cmdline()]
    browsers[0].kill()
    until = time.monotonic() + 30
    while phone.ran("cat /proc/sys/kernel/random/boot_id")[1].strip() in ("", before):
        assert time.monotonic() < until
        phone.host("connect", phone.serial)
        phone.ran("screencap -p /sdcard/x.png")
    phone.until("getprop sys.boot_completed", "1")

    assert shot(phone).startswith(b"\x89PNG")


async def test_a_handset_starts_with_its_faults_and_ends_with_its_owner() -> None:
    with Scratch("handset-test") as scratch:
        phone = HandsetProcess(scratch)
        with pytest.raises(SetupError, match="'burnt' is no fault"):
            await phone.start(fault="burnt")
        await phone.start(fault="torn")
        started = phone.alive
        host, _, port = phone.serial.partition(":")
        await phone.close()

        assert (started, phone.alive) == (True, False)
        with pytest.raises(OSError):
            await asyncio.open_connection(host, int(port))
