"""Fingerprints of what a task begins from."""

from __future__ import annotations

from pathlib import Path

import pytest

from pipeline.app_entry import AppEntry, PipInstall
from pipeline.app_install import place_of
from pipeline.entry_state import FilesState
from pipeline.tasks import SetupOperation, TaskSpec
from taskspecs import fixture
from taskspecs.fixture import fingerprint_of
from tests.episodes import fake_task

TASK = fake_task("Add a to-do")


def prepared(content: str) -> TaskSpec:
    operation = SetupOperation(kind="append", app_id="fake-todo", target="todos", content=content)
    return TASK.model_copy(update={"setup": [operation]})


def test_what_is_asked_is_no_part_of_it() -> None:
    other = fake_task("How many to-dos", language="zh", max_steps=3)

    assert fingerprint_of(other) == fingerprint_of(TASK)


def test_the_set_up_is() -> None:
    prints = {fingerprint_of(one) for one in (TASK, prepared("Prune | low"), prepared("Prune | high"))}

    assert len(prints) == 3


@pytest.fixture
def garden(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> TaskSpec:
    """A task on an application whose state is a folder; `version` and `template` can be changed between tests."""
    monkeypatch.setenv("PATHPROOF_HOME", str(tmp_path / "cache"))
    monkeypatch.setattr(fixture, "entry_names", lambda: ["garden"])
    monkeypatch.setattr(fixture, "load_entry", lambda _: entry(tmp_path, "1"))
    monkeypatch.setattr(fixture, "server_of", lambda _: entry(tmp_path, "1"))
    fixture._first_state.cache_clear()
    return TASK.model_copy(update={"app_ids": ["garden"]})


def entry(folder: Path, version: str) -> AppEntry:
    made = AppEntry(
        app_id="garden",
        title="Garden",
        version=version,
        platform="web",
        licence="MIT",
        install=PipInstall(requirements=["x"]),
        start=["x"],
        state=[FilesState(path="beds")],
        folder=folder,
    )
    (folder / "requirements.lock").touch()
    return made


def test_version_and_first_state_are(garden: TaskSpec, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    prints = []
    for version, content in (("1", "rose"), ("1", "oak"), ("2", "oak"), ("1", "rose")):
        for name in ("load_entry", "server_of"):
            monkeypatch.setattr(fixture, name, lambda _, version=version: entry(tmp_path, version))
        bed = place_of(entry(tmp_path, version)).template / "beds" / "one"
        bed.parent.mkdir(parents=True, exist_ok=True)
        bed.write_text(content, encoding="utf-8")
        fixture._first_state.cache_clear()
        prints.append(fingerprint_of(garden))
    fixture._first_state.cache_clear()

    assert len(set(prints)) == 3
    assert prints[0] == prints[3]
