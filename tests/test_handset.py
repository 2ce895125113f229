"""The emulated phone through the real adb server: its commands, its screen, its back stack."""

from __future__ import annotations

import hashlib
import io
from pathlib import Path

import pytest
from PIL import Image

from tests.handsets import ADB_IME, Held

NOTES = "org.pathproof.notes"


@pytest.fixture
def phone(handset: Held) -> Held:
    return handset


@pytest.fixture(autouse=True)
def fresh(phone: Held, request: pytest.FixtureRequest) -> None:
    # One command line needs no fresh screen.
    if "line" not in request.fixturenames:
        phone.fresh(NOTES)


def picture(phone: Held) -> Image.Image:
    return Image.open(io.BytesIO(phone.adb("exec-out", "screencap -p").stdout))


def focus(phone: Held) -> str:
    said = phone.sh("dumpsys window displays")
    return next(line.split()[-1].rstrip("}") for line in said.splitlines() if "mCurrentFocus" in line)


def test_it_says_what_it_is(phone: Held) -> None:
    assert phone.sh("getprop ro.product.model") == "handset: emulated, not Android"
    assert phone.sh("wm size; wm density") == "Physical size: 780x1688\nPhysical density: 320"
    assert phone.sh("getprop sys.boot_completed") == "1"


@pytest.mark.parametrize(
    ("line", "code", "said"),
    [
        ("false; echo $?", 0, "1"),
        ("nonsense", 127, "/system/bin/sh: nonsense: inaccessible or not found"),
        ("echo $(id)", 2, "/system/bin/sh: '$' is not carried out by this handset; quote it"),
        ("cat /nothing", 1, "cat: /nothing: No such file or directory"),
        ("am start -n a.b/.C", 1, "Error: Activity class {a.b/.C} does not exist."),
        ("monkey -p a.b 1", 252, "** No activities found to run, monkey aborted."),
        ("monkey -p org.pathproof.notes -c android.intent.category.LAUNCHER 1", 0, "Events injected: 1"),
        ("am start -a android.intent.action.MAIN -c android.intent.category.HOME", 0, "Starting: Intent"),
        ("logcat -c; logcat -d -b events", 0, ""),
        ("input keyevent KEYCODE_VOLUME_UP", 0, ""),
        ("input text 你", 255, "Exception occurred while executing 'text'"),
    ],
)
def test_commands_answer_over_adb_as_android_does(phone: Held, line: str, code: int, said: str) -> None:
    ended, out, err = phone.ran(line)

    assert ended == code
    assert said in out + err


def test_packages_and_their_activities_are_listed(phone: Held) -> None:
    listed = phone.sh("cmd package query-activities --brief -a android.intent.action.MAIN"
                      " -c android.intent.category.LAUNCHER")  # fmt: skip

    assert "    org.pathproof.notes/.MainActivity" in listed.splitlines()
    assert "    org.pathproof.web.fava/.MainActivity" in listed.splitlines()
    assert "package:com.android.adbkeyboard" in phone.sh("pm list packages").splitlines()


def test_a_package_is_removed_and_installed_again_from_its_own_file(phone: Held, tmp_path: Path) -> None:
    path = phone.sh(f"pm path {NOTES}").removeprefix("package:")
    phone.adb("pull", path, str(tmp_path / "notes.apk"))

    assert b"Success" in phone.adb("uninstall", NOTES).stdout
    assert phone.ran(f"am start -n {NOTES}/.MainActivity")[0] == 1
    assert b"Success" in phone.adb("install", str(tmp_path / "notes.apk")).stdout
    phone.open(NOTES)


def test_files_go_there_and_back(phone: Held, tmp_path: Path) -> None:
    data = bytes(range(256)) * 300
    (tmp_path / "there").write_bytes(data)
    phone.adb("push", str(tmp_path / "there"), "/sdcard/Download/it is.bin")
    phone.adb("pull", "/storage/emulated/0/Download/it is.bin", str(tmp_path / "back"))

    assert (tmp_path / "back").read_bytes() == data
    assert phone.sh("ls /sdcard/Download") == "it is.bin"
    assert phone.sh("sha256sum '/sdcard/Download/it is.bin'").split()[0] == hashlib.sha256(data).hexdigest()
    assert phone.ran("rm '/sdcard/Download/it is.bin'; ls /sdcard/Download/../../../../../etc")[0] == 1


def test_the_picture_is_of_the_whole_display(phone: Held) -> None:
    home = picture(phone)
    phone.open(NOTES)
    notes = picture(phone)

    assert home.size == notes.size == (780, 1688)
    # The status bar stays, what is below it does not.
    assert home.crop((0, 0, 780, 56)).tobytes() == notes.crop((0, 0, 780, 56)).tobytes()
    assert home.crop((0, 56, 780, 1688)).tobytes() != notes.crop((0, 56, 780, 1688)).tobytes()


def test_the_home_screen_opens_what_is_tapped(phone: Held) -> None:
    phone.tap("Notes")

    phone.find("Search notes")
    assert focus(phone) == "org.pathproof.notes/org.pathproof.notes.MainActivity"
    assert "topResumedActivity=ActivityRecord" in phone.sh("dumpsys activity activities")


def test_back_closes_a_dialog_then_a_screen_then_the_application(phone: Held) -> None:
    phone.open(NOTES)
    phone.tap("Weekly meeting", "More options")
    phone.find("Duplicate")
    phone.sh("input keyevent KEYCODE_BACK")
    assert "Duplicate" not in phone.texts()
    phone.sh("input keyevent BACK")
    phone.find("Search notes")
    phone.sh("input keyevent 4")

    assert focus(phone) == "org.pathproof.launcher/org.pathproof.launcher.HomeActivity"


def test_the_overview_shows_what_was_used_and_goes_back_to_it(phone: Held) -> None:
    phone.open(NOTES)
    phone.tap("Weekly meeting")
    phone.find("Save")
    phone.sh("input keyevent KEYCODE_APP_SWITCH")
    phone.tap("Notes")

    # It is where it was left.
    assert phone.find("Save").kind == "Button"
    assert focus(phone).startswith(f"{NOTES}/")


def test_the_overview_is_emptied(phone: Held) -> None:
    phone.open(NOTES)
    phone.open("org.pathproof.clock")
    phone.sh("input keyevent APP_SWITCH")
    phone.tap("Close Notes")
    phone.sh("input keyevent APP_SWITCH")
    assert "Notes" not in phone.texts()
    phone.tap("Clear all")
    phone.find("Contacts")

    assert "Hist" not in phone.sh("dumpsys activity activities")


def test_keys_write_and_erase(phone: Held) -> None:
    phone.open(NOTES)
    phone.tap("New note", "Title")
    phone.sh("input text ab%sc; input keyevent KEYCODE_D 67 67; input keyevent DPAD_LEFT; input keyevent KEYCODE_9")

    assert phone.find("title").text == "ab9 "


def test_a_finger_is_led_step_by_step(phone: Held) -> None:
    phone.open(NOTES)
    x, y = phone.find("More options").middle
    phone.sh(f"input motionevent DOWN {x} {y}; input motionevent UP {x} {y}")

    phone.find("New checklist")
    assert phone.ran("input draganddrop 390 900 390 700 200")[0] == 0


def test_text_arrives_by_broadcast_only_through_the_chosen_keyboard(phone: Held) -> None:
    text = '你好 "it\'s" $(touch pwned); 🙂 %s\n<b>&'
    phone.open(NOTES)
    phone.tap("New note")
    phone.type("Note", text)
    shown = phone.sh("dumpsys input_method")
    phone.sh("ime set com.android.inputmethod.latin/.LatinIME; am broadcast -a ADB_INPUT_B64 --es msg YQ==")

    assert phone.find("body").text == text
    assert "mInputShown=true" in shown
    assert f"mCurMethodId={ADB_IME}" in shown


def test_the_tree_tells_all_that_a_field_holds(phone: Held) -> None:
    text = "é" * 5000
    phone.open(NOTES)
    phone.tap("New note")
    phone.type("body", text)

    assert phone.find("body").text == text


def test_a_swipe_scrolls(phone: Held) -> None:
    phone.open(NOTES)
    phone.sh("wm user-rotation lock 1")
    before = phone.texts()
    phone.sh("input swipe 800 720 800 420 300")
    after = phone.texts()
    phone.sh("wm user-rotation lock 0")

    assert after != before


def test_a_long_press_is_no_tap(phone: Held) -> None:
    phone.open(NOTES)
    x, y = phone.find("Flat viewing").middle
    phone.sh(f"input swipe {x} {y} {x} {y} 800")
    phone.tap("held_delete")
    phone.find("Search notes")

    assert phone.rows(f"{NOTES}/notes", "deleted=1 AND title='Flat viewing'", "title")


@pytest.mark.parametrize("rotation", [1, 3])
def test_the_display_turns(phone: Held, rotation: int) -> None:
    phone.open(NOTES)
    phone.sh(f"settings put system user_rotation {rotation}")
    display, shown = phone.sh("dumpsys display"), picture(phone)
    x, _ = phone.find("New note").middle
    phone.tap("New note")
    phone.find("Save")
    phone.sh("wm user-rotation lock 0")

    assert shown.size == (1688, 780)
    assert x > 780
    assert f"rotation {rotation}," in display
    assert "mCurrentDisplayRect=Rect(0, 0 - 1688, 780)" in display
    assert picture(phone).size == (780, 1688)


def test_a_locked_note_is_a_secure_window(phone: Held) -> None:
    phone.open(NOTES)
    phone.tap("Weekly meeting", "More options", "Lock", "More options")
    phone.find("Unlock")

    assert picture(phone).getextrema() == ((0, 0), (0, 0), (0, 0))
    assert "SECURE" in phone.sh("dumpsys window windows")
    phone.sh("input keyevent HOME")
    assert "SECURE" not in phone.sh("dumpsys window windows")


def test_clearing_puts_the_very_bytes_back(phone: Held) -> None:
    database = f"/data/data/{NOTES}/databases/notes.db"
    first = len(phone.rows(f"{NOTES}/notes"))
    before = phone.sh(f"sha256sum {database}")
    phone.sh(f"content insert --uri content://{NOTES}/folders --bind name:s:Other")
    changed = phone.sh(f"sha256sum {database}")
    phone.sh(f"pm clear {NOTES}")

    assert changed != before
    assert len(phone.rows(f"{NOTES}/notes")) == first
    assert phone.sh(f"sha256sum {database}") == before


def test_content_is_asked_and_changed(phone: Held) -> None:
    uri = f"content://{NOTES}/notes"
    phone.sh(f"content update --uri {uri} --bind title:s:'a, b=c' --bind pinned:i:1 --where \"title='Groceries'\"")
    found = phone.sh(f"content query --uri {uri} --projection title:pinned --where \"title LIKE 'a,%'\"")
    phone.sh(f"content delete --uri {uri} --where \"title LIKE 'a,%'\"")

    assert found == "Row: 0 title=a, b=c, pinned=1"
    assert phone.sh(f"content query --uri {uri} --where \"title LIKE 'a,%'\"") == "No result found."
    assert "no such column" in phone.ran(f"content query --uri {uri} --where nowhere=1")[2]
    assert "Could not find provider: a.b" in phone.ran("content query --uri content://a.b/c")[2]


def test_settings_are_one_store(phone: Held) -> None:
    phone.sh("settings put global device_name 'My phone'")
    phone.sh("content insert --uri content://settings/system --bind name:s:font_scale --bind value:s:1.3")

    assert phone.sh("content query --uri content://settings/global --projection value"
                    " --where \"name='device_name'\"") == "Row: 0 value=My phone"  # fmt: skip
    assert phone.sh("settings get system font_scale") == "1.3"
    assert "My phone" in phone.texts()
    phone.sh("settings put system font_scale 1.0; settings put global device_name Handset")


def test_the_language_is_the_phones(phone: Held) -> None:
    phone.sh("setprop persist.sys.locale zh-CN")
    home = phone.texts()
    phone.sh(f"pm clear {NOTES}")
    phone.open(NOTES)
    notes = phone.texts()
    phone.sh("setprop persist.sys.locale en-US")

    assert "便签" in home
    assert "新建便签" in notes
    assert any(text.startswith("每周例会") for text in notes)
