"""Home folders by what is in them, and programs as data."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest

from pipeline.app_entry import ProgramEntry, read_entry
from pipeline.app_state import difference
from pipeline.config import parse_config
from pipeline.entry_state import FilesState
from pipeline.envs import build
from pipeline.envs.desktop import DesktopEnvironment
from pipeline.envs.fake_machine import FakeMachine
from pipeline.envs.home_files import fingerprints, shaped, state_of
from pipeline.envs.product_probes import read_product
from pipeline.errors import ConfigError
from pipeline.program_probe import FilesProbe, KeyFileProbe, PdfProbe, TextProbe
from pipeline.reaper import Scratch
from tests.episodes import behind

FILES = {"Documents/": "folder", "Documents/a.txt": "1", "Documents/b.tmp": "2", "Documentsx": "3", ".config/x": "4"}


@pytest.mark.parametrize(
    ("source", "keys"),
    [
        (FilesState(path="Documents"), ["Documents/a.txt", "Documents/b.tmp"]),
        (FilesState(path="Documents", ignore=["*.tmp"]), ["Documents/a.txt"]),
        (FilesState(path="Documents/", folders=True), ["Documents/a.txt", "Documents/b.tmp"]),
        (FilesState(path=".config/x"), [".config/x"]),
        (FilesState(path="", ignore=[".*"]), ["Documents/a.txt", "Documents/b.tmp", "Documentsx"]),
    ],
)
def test_the_state_is_what_its_sources_name(source: FilesState, keys: list[str]) -> None:
    state = state_of(FILES, [source])

    assert sorted(key for key in state if not key.endswith("/")) == keys
    assert any(key.endswith("/") for key in state) == source.folders


def test_links_are_no_files(tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "a").write_bytes(b"")
    (tmp_path / "in" / "link").symlink_to("/etc")

    assert fingerprints(tmp_path, "") == {
        "in/": "folder",
        "in/a": "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
    }
    assert fingerprints(tmp_path, "not-there") == {}


def test_a_mode_a_target_and_a_link_in_the_place_of_a_file_tell_states_apart() -> None:
    shapes = {"Documents": "d755 ", "Documents/a.txt": "f644 ", "Documents/way": "l777 /etc"}
    source = FilesState(path="Documents", folders=True)

    def state(**changes: str | None) -> dict[str, str]:
        after = {path: shape for path, shape in (shapes | changes).items() if shape is not None}
        return state_of(shaped({"Documents/": "folder", "Documents/a.txt": "1"}, after), [source])

    before = state()

    assert set(before) == {"Documents/", "Documents/a.txt", "Documents/way"}
    assert difference(before, state(**{"Documents/a.txt": "f755 "})) == [["Documents/a.txt", "changed"]]
    assert difference(before, state(**{"Documents": "d700 "})) == [["Documents/", "changed"]]
    assert difference(before, state(**{"Documents/way": "l777 /"})) == [["Documents/way", "changed"]]
    assert difference(before, state(**{"Documents/way": None})) == [["Documents/way", "removed"]]


def test_modes_of_folders_count_where_folders_do() -> None:
    assert state_of(shaped({"Documents/": "folder"}, {"Documents": "d700 "}), [FilesState(path="Documents")]) == {}


async def machine_with(**files: bytes) -> FakeMachine:
    machine = FakeMachine()
    for name, content in files.items():
        await machine.write(f"Documents/{name}", content)
    return machine


async def test_files_are_found_by_name_and_arguments_are_no_patterns() -> None:
    machine = await machine_with(a=b"", ab=b"", **{"a*": b""})

    assert await read_product(FilesProbe(kind="files", folder="Documents", fits="*/a*"), {}, machine) == [
        ["Documents/a"],
        ["Documents/a*"],
        ["Documents/ab"],
    ]
    probe = FilesProbe(kind="files", folder="Documents", fits="*/{name}")
    assert await read_product(probe, {"name": "a*"}, machine) == [["Documents/a*"]]


async def test_text_is_matched_with_arguments_taken_literally() -> None:
    machine = await machine_with(a=b"x.y=1\nxzy=2\n")
    probe = TextProbe(kind="text", path="Documents/a", pattern="{key}=(.)")

    assert await read_product(probe, {"key": "x.y"}, machine) == [["1"]]
    assert await read_product(probe.model_copy(update={"path": "gone"}), {"key": "x"}, machine) == []


async def test_a_setting_of_a_key_file_is_read_or_is_not_there() -> None:
    machine = await machine_with(keys=b"[org/View]\nshow-Line=true\n")
    probe = KeyFileProbe(kind="setting", path="Documents/keys", group="org/View", key="{key}")

    assert await read_product(probe, {"key": "show-Line"}, machine) == [["true"]]
    assert await read_product(probe, {"key": "show-line"}, machine) == []


async def test_a_file_that_keeps_its_reader_too_long_is_not_read(monkeypatch: pytest.MonkeyPatch) -> None:
    machine, end = await machine_with(**{"a.pdf": b""}), threading.Event()
    monkeypatch.setattr("pipeline.envs.product_probes._READ_SECONDS", 0.05)
    monkeypatch.setattr("pipeline.envs.product_probes.read_file", lambda *_: end.wait(20))

    with pytest.raises(TimeoutError, match=r"Documents/a\.pdf cannot be read in 0\.05 s"):
        await read_product(PdfProbe(kind="pdf", path="Documents/a.pdf"), {}, machine)
    end.set()


ENTRY = """
app_id: pad
title: Pad
version: "1"
platform: desktop
licence: MIT
install: {packages: [pad]}
start: [pad, --new]
ready: {kind: "^Pad$"}
state: [{kind: files, path: Documents}]
probes:
  note: {kind: text, path: Documents/note.txt, pattern: ".+"}
"""


def test_an_entry_of_the_desktop_is_a_program(tmp_path: Path) -> None:
    file = tmp_path / "app.yaml"
    file.write_text(ENTRY, encoding="utf-8")

    entry = read_entry(file)

    assert isinstance(entry, ProgramEntry)
    assert (entry.locale, entry.layout, list(entry.asked)) == ("en_US", "us", ["note"])


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("packages: [pad]", "packages: [--force]", r"install\.packages\.0"),
        ("note:", "changes:", "probes: every environment answers 'changes' itself"),
        ("state: [{kind: files, path: Documents}]", "state: []", "state"),
    ],
)
def test_what_is_wrong_in_a_programs_entry_is_said(tmp_path: Path, old: str, new: str, said: str) -> None:
    file = tmp_path / "app.yaml"
    file.write_text(ENTRY.replace(old, new), encoding="utf-8")

    with pytest.raises(ConfigError, match=said):
        read_entry(file)


def test_desktops_run_on_private_displays_unless_said_otherwise() -> None:
    assert parse_config({"platform": "desktop"}).provider == "xvfb"
    assert parse_config({"platform": "web"}).provider == "chromium"


async def test_the_environment_of_a_configuration_is_built() -> None:
    with Scratch("test") as scratch:
        environment = build(parse_config({"platform": "desktop"}), scratch)
        await environment.close()
        with pytest.raises(ConfigError, match="'xvfb' does not run the platform 'web'"):
            build(parse_config({"provider": "xvfb"}), scratch)

    assert isinstance(behind(environment), DesktopEnvironment)
