"""Parts of the handset by themselves: files, databases, state, packages, the tree's XML, points and turns."""

from __future__ import annotations

import argparse
import hashlib
import sqlite3
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from pipeline.handset.__main__ import _parser, packages
from pipeline.handset.commands.call import options
from pipeline.handset.database import Database
from pipeline.handset.files import Files
from pipeline.handset.packages import LAUNCHER, Package, Packages, web_package
from pipeline.handset.screen import Size, Spot, below_bar, display_size
from pipeline.handset.state import LOCALE, Boot, Clock, Properties, Settings, first_properties
from pipeline.handset.tree import dumped

SCHEMA = "CREATE TABLE things (_id INTEGER PRIMARY KEY, name TEXT NOT NULL, size INTEGER NOT NULL DEFAULT 0);"
SIZE = Size(780, 1688)


@pytest.mark.parametrize(
    "path", ["/sdcard/../../../etc/passwd", "../../etc/passwd", "//etc/passwd", "/data/../../../../etc/passwd"]
)
def test_no_path_leads_out_of_the_phone(tmp_path: Path, path: str) -> None:
    files = Files(tmp_path / "phone")

    assert files.place(path).is_relative_to(tmp_path / "phone")
    assert files.stat(path) is None


def test_three_names_are_one_folder(tmp_path: Path) -> None:
    files = Files(tmp_path)
    files.write("/sdcard/new/a", b"1")

    assert files.read("/storage/emulated/0/new/a") == files.read("/storage/self/primary/new/../new/a") == b"1"
    assert [entry.name for entry in files.list("/sdcard/new/")] == ["a"]
    assert files.list("/sdcard/none") == []


def test_some_files_are_made_when_read(tmp_path: Path) -> None:
    files = Files(tmp_path)
    files.made["/proc/uptime"] = lambda: b"12.00 12.00\n"
    known = files.stat("/proc/../proc/uptime")

    assert files.read("/proc/uptime") == b"12.00 12.00\n"
    assert known is not None
    assert known.size == 12


def test_a_folder_is_removed_only_as_a_tree(tmp_path: Path) -> None:
    files = Files(tmp_path)
    files.write("/sdcard/full/a", b"1")
    with pytest.raises(OSError):
        files.remove("/sdcard/full")
    files.remove("/sdcard/full", tree=True)

    assert files.stat("/sdcard/full") is None


def database(path: Path) -> Database:
    return Database(path / "deep" / "x.db", SCHEMA, {"things": [{"name": "one"}, {"name": "two", "size": 2}]})


def test_a_database_is_made_with_its_first_rows_and_always_the_same_bytes(tmp_path: Path) -> None:
    for name in ("a", "b"):
        assert database(tmp_path / name).rows("SELECT name FROM things") == [{"name": "one"}, {"name": "two"}]

    hashes = {hashlib.sha256((tmp_path / name / "deep" / "x.db").read_bytes()).digest() for name in ("a", "b")}
    assert len(hashes) == 1


def test_rows_are_added_changed_and_removed(tmp_path: Path) -> None:
    found = database(tmp_path)
    number = found.insert("things", {"name": "three", "size": 3})
    found.update("things", number, size=33)
    found.delete("things", 1)

    assert found.rows("SELECT * FROM things") == [
        {"_id": 2, "name": "two", "size": 2},
        {"_id": 3, "name": "three", "size": 33},
    ]
    assert found.row("SELECT * FROM things WHERE _id = 9") is None


def test_a_question_changes_nothing(tmp_path: Path) -> None:
    with pytest.raises(sqlite3.OperationalError, match="readonly"):
        database(tmp_path).rows("DELETE FROM things")


def test_settings_keep_their_namespaces_apart(tmp_path: Path) -> None:
    settings = Settings(tmp_path / "s.db", {"system_locales": "zh-CN"})
    settings.put("global", "font_scale", "9")

    assert settings.get("system", "font_scale") == "1.0"
    assert settings.get("system", "system_locales") == "zh-CN"
    assert settings.get("secure", "font_scale") is None
    assert (settings.delete("global", "font_scale"), settings.delete("global", "font_scale")) == (True, False)
    assert settings.is_on("global", "wifi_on")
    assert not settings.is_on("global", "no_such")
    assert ("wifi_on", "1") in settings.all("global")


def test_properties_of_the_build_stay() -> None:
    properties = Properties(first_properties("en-US", 320))

    assert not properties.put("ro.product.model", "Pixel")
    assert properties.put(LOCALE, "zh-TW")
    assert (properties.get("ro.product.model"), properties.language) == ("handset: emulated, not Android", "zh")
    assert properties.get("no.such") == ""


def test_a_boot_is_renewed_and_the_clock_is_not() -> None:
    boot, clock = Boot(), Clock()
    before = boot.boot_id
    boot.renew()

    assert boot.boot_id != before
    assert 0 <= boot.seconds < 5
    assert (clock.text, clock.seconds) == ("2026-06-15 09:30", 1781515800)


def test_packages_are_removed_and_come_back() -> None:
    found = Packages([web_package("fava", "Fava"), Package("a.b", "builtin", {"en": "B", "zh": "B"})])

    assert [package.name for package in found.launchable()] == ["a.b", "org.pathproof.web.fava"]
    assert not found.uninstall(LAUNCHER)
    assert found.uninstall("a.b")
    assert not found.uninstall("a.b")
    assert found.get("a.b") is None
    assert found.known("a.b") is not None
    found.install("a.b")
    assert found.get("a.b") is not None


def test_every_application_has_its_own_name_and_file() -> None:
    installed = packages([("fava", "Fava"), ("wiki", "Wiki")]).installed()

    assert len({package.path for package in installed}) == len(installed)
    for language in ("en", "zh"):
        labels = [package.labels[language] for package in installed if package.launchable]
        assert len(set(labels)) == len(labels)


@pytest.mark.parametrize(("rotation", "size"), [(0, (780, 1688)), (1, (1688, 780)), (2, (780, 1688)), (3, (1688, 780))])
def test_the_display_is_as_large_as_it_is_turned(rotation: int, size: tuple[int, int]) -> None:
    assert display_size(rotation) == size


def test_the_page_begins_below_the_status_bar() -> None:
    assert below_bar(Spot(10, 55)) is None
    assert below_bar(Spot(10, 56)) == Spot(10, 0)


def test_options_of_a_command_are_read() -> None:
    found = options(["-W", "-n", "a/.B", "--es", "msg", "two words", "--es", "x", "y", "rest"], {"-n": 1, "--es": 2})

    assert found.value("-n") == "a/.B"
    assert found.values["--es"] == ["msg", "two words", "x", "y"]
    assert found.switches == {"-W"}
    assert found.rest == ["rest"]


def node(role: str, name: str = "", **more: Any) -> dict[str, Any]:
    plain = {"value": "", "box": [0, 0, 100, 100], "clip": [0, 0, 780, 1632], "states": [], "parent": -1, "id": ""}
    extras = {"field": False, "hint": "", "labelled": False, "hold": False, "scrolls": False}
    return {**plain, **extras, "role": role, "name": name, **more}


def written(*nodes: dict[str, Any]) -> ElementTree.Element:
    """The window's own node."""
    (window,) = ElementTree.fromstring(dumped([*nodes], "a.b", 0, SIZE))
    return window


def test_the_tree_nests_and_lies_below_the_status_bar() -> None:
    (outer,) = written(
        node("generic", scrolls=True, box=[0, 0, 780, 1632]), node("button", "Go", parent=0, id="go", hold=True)
    )
    (inner,) = outer

    assert (outer.attrib["scrollable"], outer.attrib["bounds"]) == ("true", "[0,56][780,1688]")
    assert (inner.attrib["text"], inner.attrib["class"]) == ("Go", "android.widget.Button")
    assert (inner.attrib["resource-id"], inner.attrib["bounds"]) == ("a.b:id/go", "[0,56][100,156]")
    assert (inner.attrib["clickable"], inner.attrib["long-clickable"]) == ("true", "true")


def test_only_what_shows_is_told_and_children_of_what_does_not_move_up() -> None:
    window = written(
        node("generic", box=[0, -500, 100, -400]),
        node("StaticText", "inside", parent=0),
        node("StaticText", "beyond", states=["offscreen"]),
        node("StaticText", "cut", clip=[50, 50, 780, 1632]),
        node("option", "closed", box=None),
    )

    assert [child.attrib["text"] for child in window] == ["inside", "cut"]
    assert window[1].attrib["bounds"] == "[50,106][100,156]"


def test_a_field_tells_its_label_its_hint_and_what_it_holds() -> None:
    empty, full = written(
        node("textbox", "Title", hint="Write", labelled=True),
        node("textbox", "PIN", value="••", labelled=True, states=["protected", "focused"]),
    )

    assert (empty.attrib["text"], empty.attrib["hint"], empty.attrib["content-desc"]) == ("Write", "Write", "Title")
    assert (full.attrib["text"], full.attrib["password"], full.attrib["focused"]) == ("••", "true", "true")


def test_a_field_that_completes_what_is_typed_holds_a_text_and_a_list_to_choose_from_does_not() -> None:
    typed, chosen = written(
        node("combobox", "Account", value="Cash", field=True, labelled=True), node("combobox", "Priority", value="low")
    )

    assert (typed.attrib["class"], typed.attrib["text"]) == ("android.widget.AutoCompleteTextView", "Cash")
    assert chosen.attrib["class"] == "android.widget.Spinner"


def test_states_are_flags() -> None:
    switch, chip = written(
        node("switch", "Wi-Fi", states=["checked", "disabled"]), node("tab", "All", states=["selected"])
    )

    assert [switch.attrib[name] for name in ("checkable", "checked", "enabled")] == ["true", "true", "false"]
    assert chip.attrib["selected"] == "true"


def test_no_text_breaks_the_xml() -> None:
    (found,) = written(node("button", "<a> & \"b\" 'c'\n\x00 🙂"))

    assert found.attrib["text"] == "<a> & \"b\" 'c'\n. 🙂"


@pytest.mark.parametrize("words", [["--web", "fava"], ["--web", "a b=C"], ["--fault", "burnt"], ["--language", "de"]])
def test_wrong_arguments_are_refused(words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    parser: argparse.ArgumentParser = _parser()
    with pytest.raises(SystemExit) as ended:
        parser.parse_args(words)

    assert ended.value.code == 2
    assert words[0] in capsys.readouterr().err
