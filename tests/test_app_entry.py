"""Application entries: what ships is sound, what is wrong is said in one line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import yaml

from pipeline.app_entry import (
    AppEntry,
    PhoneEntry,
    PipInstall,
    app_names,
    entry_names,
    filled,
    load_app,
    load_entry,
    read_entry,
)
from pipeline.errors import ConfigError
from tests.tinyapp import ENTRY


def test_the_shipped_applications_are_listed_in_order() -> None:
    assert {"fava", "ihatemoney", "sqlite-web", "trac"} <= set(app_names())
    assert app_names() == sorted(app_names())


ENTRIES = [load_app(name) for name in app_names()]


@pytest.mark.parametrize("app_id", entry_names())
def test_every_shipped_entry_has_the_id_of_its_folder(app_id: str) -> None:
    assert load_entry(app_id).app_id == app_id


@pytest.mark.parametrize("entry", [e for e in ENTRIES if e.install.kind == "pip"], ids=lambda entry: entry.app_id)
def test_what_comes_by_pip_is_pinned_by_hash(entry: AppEntry) -> None:
    assert isinstance(entry.install, PipInstall)
    assert "--hash=sha256:" in entry.lock.read_text()
    pinned = [requirement for requirement in entry.install.requirements if "==" in requirement]
    assert any(requirement.endswith(f"=={entry.version}") for requirement in pinned)
    for requirement in pinned:
        assert f"{requirement} " in entry.lock.read_text()


@pytest.mark.parametrize("entry", [e for e in ENTRIES if e.install.kind == "npm"], ids=lambda entry: entry.app_id)
def test_what_comes_by_npm_is_pinned_by_hash_and_from_no_named_host(entry: AppEntry) -> None:
    wanted = json.loads((entry.folder / "package.json").read_text())["dependencies"]
    locked = json.loads(entry.lock.read_text())["packages"]
    assert locked.pop("")["dependencies"] == wanted
    assert entry.version in wanted.values()
    assert all(package.get("inBundle") or package["integrity"].startswith("sha512-") for package in locked.values())
    assert not any("resolved" in package for package in locked.values())


def test_an_unknown_application_is_refused_with_the_known_ones() -> None:
    with pytest.raises(ConfigError, match=r"apps: unknown application 'nope'; known: .*fava.*trac"):
        load_app("nope")


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"reset": "perhaps"}, "reset: "),
        ({"colour": "red"}, "colour: Extra inputs are not permitted"),
        ({"state": []}, "state: "),
        ({"probes": {"p": {"kind": "oracle"}}}, "probes.p: "),
        ({"app_id": "../x"}, "app_id: "),
        ({"probes": {"changes": {"kind": "page", "script": "1"}}}, "probes: every environment answers 'changes'"),
    ],
)
def test_a_wrong_field_is_named(tmp_path: Path, change: dict[str, object], said: str) -> None:
    path = tmp_path / "app.yaml"
    path.write_text(yaml.safe_dump({**ENTRY, **change}))
    with pytest.raises(ConfigError, match=r"app\.yaml") as caught:
        read_entry(path)
    assert said in str(caught.value)


@pytest.mark.parametrize("text", ["a: [", "just words", ""])
def test_what_is_no_mapping_is_refused(tmp_path: Path, text: str) -> None:
    path = tmp_path / "app.yaml"
    path.write_text(text)
    with pytest.raises(ConfigError, match=r"app\.yaml: not (a readable application entry|readable YAML)"):
        read_entry(path)


PHONE = {
    "app_id": "jotter",
    "title": "Jotter",
    "version": "1",
    "platform": "mobile",
    "licence": "MIT",
    "package": "org.example.jotter",
    "state": [{"kind": "content", "uri": "content://org.example.jotter/notes", "key": ["_id"]}],
    "probes": {"note": {"kind": "content", "uri": "content://org.example.jotter/notes", "select": ["body"]}},
}


def test_an_application_of_a_phone_is_asked_through_the_phone(tmp_path: Path) -> None:
    path = tmp_path / "app.yaml"
    path.write_text(yaml.safe_dump(PHONE))

    entry = read_entry(path)

    assert isinstance(entry, PhoneEntry)
    assert list(entry.asked) == ["note"]


def test_pages_on_a_phone_are_asked_as_the_application_they_are_of(tmp_path: Path) -> None:
    path = tmp_path / "app.yaml"
    path.write_text(yaml.safe_dump({**PHONE, "state": [], "probes": {}, "page_of": "fava"}))

    scripts = {"pages"}
    assert read_entry(path).asked == {
        name: probe for name, probe in load_app("fava").probes.items() if name not in scripts
    }


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"package": "org example"}, "package: "),
        ({"page_of": "fava"}, "state, probes, bookkeeping and apk are those of 'fava'"),
        ({"apk": {"file": "a.apk", "sha256": "abc"}}, "apk.sha256: "),
        ({"start": ["run"]}, "start: Extra inputs are not permitted"),
        ({"probes": {"p": {"kind": "sqlite", "path": "x", "query": "y"}}}, "probes.p: "),
        (
            {"probes": {name: {"kind": "setting", "namespace": "system", "name": "x"} for name in ("tree", "address")}},
            "probes: every environment answers 'address', 'tree' itself; choose another name",
        ),
    ],
)
def test_a_wrong_field_of_a_phone_s_application_is_named(tmp_path: Path, change: dict[str, object], said: str) -> None:
    path = tmp_path / "app.yaml"
    path.write_text(yaml.safe_dump({**PHONE, **change}))
    with pytest.raises(ConfigError, match=r"app\.yaml") as caught:
        read_entry(path)
    assert said in str(caught.value)


def test_the_folder_is_part_of_no_identity(tmp_path: Path) -> None:
    entry = AppEntry.model_validate({**ENTRY, "folder": tmp_path})
    assert str(tmp_path) not in entry.model_dump_json()


def test_only_known_placeholders_are_filled() -> None:
    assert filled("{a} {b} {{a}} {", {"a": "1"}) == "1 {b} {1} {"
