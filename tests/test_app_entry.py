"""Application entries: what ships is sound, what is wrong is said in one line."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from pipeline.app_entry import AppEntry, app_names, filled, load_app, read_entry
from pipeline.errors import ConfigError
from tests.tinyapp import ENTRY


def test_the_shipped_applications_are_listed_in_order() -> None:
    assert {"fava", "ihatemoney", "sqlite-web", "trac"} <= set(app_names())
    assert app_names() == sorted(app_names())


@pytest.mark.parametrize("app_id", app_names())
def test_every_shipped_entry_is_sound(app_id: str) -> None:
    entry = load_app(app_id)
    assert entry.app_id == app_id
    assert "--hash=sha256:" in entry.lock.read_text()
    pinned = [requirement for requirement in entry.install.requirements if "==" in requirement]
    assert any(requirement.endswith(f"=={entry.version}") for requirement in pinned)
    for requirement in pinned:
        assert f"{requirement} " in entry.lock.read_text()


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
    with pytest.raises(ConfigError, match="not a readable application entry"):
        read_entry(path)


def test_the_folder_is_part_of_no_identity(tmp_path: Path) -> None:
    entry = AppEntry.model_validate({**ENTRY, "folder": tmp_path})
    assert str(tmp_path) not in entry.model_dump_json()


def test_only_known_placeholders_are_filled() -> None:
    assert filled("{a} {b} {{a}} {", {"a": "1"}) == "1 {b} {1} {"
