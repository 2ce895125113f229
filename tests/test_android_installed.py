"""Applications on a device, on the emulated handset through the real adb server: put back, asked, told apart."""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio

from pipeline.app_entry import ApkFile, PhoneEntry, load_phone_app
from pipeline.envs.adb import AdbServer
from pipeline.envs.adb_device import AdbDevice
from pipeline.envs.android_display import read_display
from pipeline.envs.android_installed import InstalledApp
from pipeline.envs.handset import HandsetProcess
from pipeline.errors import ProbeError, SetupError
from pipeline.reaper import Scratch
from pipeline.structs import Param
from pipeline.tasks import Check, SetupOperation

NOTES = "content://org.pathproof.notes/notes"
_TIMES = ("--bind", "created:s:2026-06-15 09:30", "--bind", "updated:s:2026-06-15 09:30")
ENTRY = PhoneEntry.model_validate(
    {
        "app_id": "jotter",
        "title": "Jotter",
        "version": "1",
        "platform": "mobile",
        "licence": "MIT",
        "folder": Path(),
        "package": "org.pathproof.notes",
        "locale": "en-US",
        "state": [
            {"kind": "content", "uri": NOTES, "key": ["_id"]},
            {"kind": "setting", "namespace": "system", "names": ["screen_brightness", "made_up"]},
        ],
        "bookkeeping": ["system/made_up"],
        "probes": {
            "note": {"kind": "content", "uri": NOTES, "select": ["body", "pinned"], "where": {"title": "{title}"}},
            "pinned": {"kind": "content", "uri": NOTES, "select": ["body"], "where": {"pinned": "1"}},
            "pinned_numbers": {"kind": "content", "uri": NOTES, "select": ["_id"], "where": {"pinned": "1"}},
            "brightness": {"kind": "setting", "namespace": "system", "name": "screen_brightness"},
            "absent": {"kind": "content", "uri": "content://org.pathproof.notes/nothing", "select": ["_id"]},
        },
    }
)


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def device() -> AsyncIterator[AdbDevice]:
    """One handset for this file, and the driver's device for it; each test makes its application ready anew."""
    with Scratch("installed-test") as scratch:
        server, handset = AdbServer(scratch), HandsetProcess(scratch)
        await asyncio.gather(server.start(), handset.start())
        device = AdbDevice(server, handset.serial)
        await device.attach()
        yield device
        await handset.close()


pytestmark = pytest.mark.asyncio(loop_scope="module")


def check(probe: str, **args: str) -> Check:
    """A question."""
    given = [Param(name=name, value=value) for name, value in args.items()]
    return Check(name=probe, verifier="equals", probe=probe, args=given, expected=[])


async def test_an_application_of_a_device_is_put_back_asked_and_told_apart(device: AdbDevice) -> None:
    app = InstalledApp(ENTRY, device)
    await app.start()
    await app.reset()
    await app.mark()
    first = await app.read(check("brightness"))

    await app.open("/")
    await device.done(
        "content", "insert", "--uri", NOTES, "--bind", "title:s:it's", "--bind", "body:s:a\nRow: 9 b", *_TIMES
    )
    await device.done("content", "delete", "--uri", NOTES, "--where", "title='Groceries'")
    await device.done("settings", "put", "system", "screen_brightness", "7")
    await device.done("settings", "put", "system", "made_up", "x")

    assert (await read_display(device)).package == "org.pathproof.notes"
    assert await app.read(check("note", title="it's")) == [["a\nRow: 9 b", "0"]]
    assert await app.read(check("note", title="Groceries")) == []
    assert await app.read(check("brightness")) == [["7"]]
    assert {(key.rpartition("/")[0], kind) for key, kind in await app.changes()} == {
        ("org.pathproof.notes/notes", "added"),
        ("org.pathproof.notes/notes", "removed"),
        ("system", "changed"),
    }
    with pytest.raises(ProbeError, match=r"content://org\.pathproof\.notes/nothing"):
        await app.read(check("absent"))
    with pytest.raises(ProbeError, match="jotter has no probe 'colour'"):
        await app.read(check("colour"))

    await app.reset()

    await app.mark()
    assert await app.read(check("note", title="it's")) == []
    assert await app.read(check("brightness")) == first
    assert (await device.run("settings", "get", "system", "made_up")).text.strip() == "null"
    assert (await read_display(device)).package != "org.pathproof.notes"


async def test_settings_are_put_back_when_an_application_is_left_and_its_rows_are_not(device: AdbDevice) -> None:
    app = InstalledApp(ENTRY, device)
    await app.start()
    first = await app.read(check("brightness"))
    await device.done("content", "delete", "--uri", NOTES, "--where", "title='Groceries'")
    await device.done("settings", "put", "system", "screen_brightness", "7")
    await device.done("settings", "put", "system", "made_up", "x")

    await app.leave()

    assert await app.read(check("brightness")) == first
    assert (await device.run("settings", "get", "system", "made_up")).text.strip() == "null"
    assert await app.read(check("note", title="Groceries")) == []


@pytest.mark.parametrize("body", ["a\nRow: 1 body=b", "a\nRow: 7 body=b\nRow: 1 body=c\n", "NULL", ""])
async def test_no_text_passes_for_a_row_or_for_nothing(device: AdbDevice, body: str) -> None:
    app = InstalledApp(ENTRY, device)
    await app.start()
    await app.mark()
    for title, text in (("x", body), ("y", "plain")):
        bound = ("--bind", f"title:s:{title}", "--bind", f"body:s:{text}", *_TIMES)
        await device.done("content", "insert", "--uri", NOTES, *bound)
    await device.done("content", "update", "--uri", NOTES, "--bind", "pinned:i:1", "--where", "title='x' OR title='y'")

    bodies = await app.read(check("pinned"))

    assert bodies[-2:] == [[body], ["plain"]]
    assert len(bodies) == len(await app.read(check("pinned_numbers")))
    assert [kind for _, kind in await app.changes()] == ["added", "added"]


async def test_the_phone_speaks_the_language_of_the_application(device: AdbDevice) -> None:
    english, chinese = (
        InstalledApp(ENTRY.model_copy(update={"locale": locale}), device) for locale in ("en-US", "zh-CN")
    )
    await english.start()
    await chinese.start()

    await chinese.reset()
    assert await chinese.read(check("note", title="买菜")) != []
    await english.reset()
    assert await english.read(check("note", title="Groceries")) != []


async def test_what_is_not_there_or_cannot_be_done_is_said(device: AdbDevice) -> None:
    absent = InstalledApp(ENTRY.model_copy(update={"package": "org.example.absent"}), device)
    with pytest.raises(SetupError, match=r"has no package org\.example\.absent"):
        await absent.start()
    app = InstalledApp(ENTRY, device)
    with pytest.raises(SetupError, match="'sqlite' cannot be done on a device"):
        await app.apply([SetupOperation(kind="sqlite", app_id="jotter", target="x", content="y")])
    await app.apply([SetupOperation(kind="write", app_id="jotter", target="/sdcard/Download/a.txt", content="é你")])
    assert (await device.raw("cat", "/sdcard/Download/a.txt")).decode() == "é你"


async def test_an_application_without_a_known_state_is_always_put_back(device: AdbDevice) -> None:
    app = InstalledApp(ENTRY.model_copy(update={"state": []}), device)
    await app.start()
    await device.done("content", "delete", "--uri", NOTES, "--where", "title='Groceries'")

    await app.reset()

    assert await app.read(check("note", title="Groceries")) != []


async def packed(device: AdbDevice, folder: Path, **changes: str) -> PhoneEntry:
    """The entry with the file that the handset has of its application, beside it."""
    path = (await device.done("pm", "path", ENTRY.package)).text.strip().removeprefix("package:")
    data = await device.raw("cat", path)
    await asyncio.to_thread((folder / "notes.apk").write_bytes, data)
    apk = ApkFile.model_validate({"file": "notes.apk", "sha256": hashlib.sha256(data).hexdigest(), **changes})
    return ENTRY.model_copy(update={"folder": folder, "apk": apk})


async def test_an_application_with_a_file_is_put_back_by_installing_it(device: AdbDevice, tmp_path: Path) -> None:
    app = InstalledApp(await packed(device, tmp_path), device)
    await device.done("pm", "uninstall", ENTRY.package)

    await app.start()
    await device.done("content", "delete", "--uri", NOTES, "--where", "title='Groceries'")
    await app.reset()

    assert await app.read(check("note", title="Groceries")) != []
    assert (await device.run("ls", "/data/local/tmp")).text.strip() == ""


@pytest.mark.parametrize(
    ("changes", "code", "said"),
    [
        ({"sha256": "0" * 64}, "apk_differs", "notes.apk has the SHA-256"),
        ({"file": "other.apk"}, "apk_missing", "No such file"),
    ],
)
async def test_another_file_than_the_entry_s_is_never_installed(
    device: AdbDevice, tmp_path: Path, changes: dict[str, str], code: str, said: str
) -> None:
    app = InstalledApp(await packed(device, tmp_path, **changes), device)

    with pytest.raises(SetupError, match=said) as caught:
        await app.start()

    assert caught.value.code == code
    assert "package:" in (await device.run("pm", "path", ENTRY.package)).text


async def test_only_entries_of_phones_are_taken_for_them() -> None:
    assert load_phone_app("handset-notes").package == "org.pathproof.notes"
