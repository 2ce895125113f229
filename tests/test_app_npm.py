"""Applications from npm, with the real npm and a real package archive: exactly what is locked, and no scripts."""

from __future__ import annotations

import base64
import hashlib
import io
import json
import shutil
import tarfile
from pathlib import Path

import pytest

from pipeline import app_install
from pipeline.app_entry import AppEntry
from pipeline.app_install import install, place_of
from pipeline.errors import SetupError

PROGRAM = "#!/usr/bin/env node\nrequire('fs').writeFileSync(process.argv[2], 'made by a package\\n');\n"
PACKAGE = {
    "name": "tiny",
    "version": "1.0.0",
    "bin": {"tiny": "main.js"},
    "scripts": {"postinstall": "touch was-run"},
}

needs_npm = pytest.mark.skipif(shutil.which("npm") is None, reason="npm is not installed")


@pytest.fixture(autouse=True)
def own_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A cache folder of the test's own, of npm's too."""
    monkeypatch.setenv("PATHPROOF_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("npm_config_cache", str(tmp_path / "npm"))
    monkeypatch.setenv("npm_config_offline", "true")


@pytest.fixture
def entry(tmp_path: Path) -> AppEntry:
    """An application whose only package is an archive beside it."""
    folder = tmp_path / "tiny"
    folder.mkdir()
    archive = folder / "tiny-1.0.0.tgz"
    with tarfile.open(archive, "w:gz") as made:
        for name, text in {"main.js": PROGRAM, "package.json": json.dumps(PACKAGE)}.items():
            member = tarfile.TarInfo(f"package/{name}")
            member.size = len(text)
            made.addfile(member, io.BytesIO(text.encode()))
    wanted = {"name": "wanted", "dependencies": {"tiny": f"file:{archive}"}}
    (folder / "package.json").write_text(json.dumps(wanted))
    integrity = f"sha512-{base64.b64encode(hashlib.sha512(archive.read_bytes()).digest()).decode()}"
    locked = {"version": "1.0.0", "resolved": f"file:{archive}", "integrity": integrity, "bin": PACKAGE["bin"]}
    lock = {"name": "wanted", "lockfileVersion": 3, "packages": {"": wanted, "node_modules/tiny": locked}}
    (folder / "package-lock.json").write_text(json.dumps(lock))
    described = {
        "app_id": "tiny",
        "title": "Tiny",
        "version": "1.0.0",
        "platform": "web",
        "licence": "Apache-2.0",
        "install": {"kind": "npm"},
        "seed": [["{bin}/tiny", "{data}/notes.txt"]],
        "start": ["{bin}/tiny"],
        "state": [{"kind": "lines", "path": "notes.txt"}],
        "folder": folder,
    }
    return AppEntry.model_validate(described)


def programs_on_path(folder: Path, monkeypatch: pytest.MonkeyPatch, **said: str) -> None:
    """Let nothing be found but small programs that say a line."""
    folder.mkdir()
    for name, line in said.items():
        (folder / name).write_text(f"#!/bin/sh\necho {line}\n")
        (folder / name).chmod(0o755)
    monkeypatch.setenv("PATH", str(folder))


@needs_npm
def test_a_locked_package_is_installed_and_its_program_makes_the_data(entry: AppEntry) -> None:
    install(entry)
    place = place_of(entry)

    assert place.ready and place.bin == place.environment / "node_modules" / ".bin"
    assert (place.template / "notes.txt").read_text() == "made by a package\n"
    assert not list(place.environment.rglob("was-run"))


@needs_npm
def test_an_archive_that_is_not_the_locked_one_is_refused(entry: AppEntry) -> None:
    integrity = json.loads(entry.lock.read_text())["packages"]["node_modules/tiny"]["integrity"]
    entry.lock.write_text(entry.lock.read_text().replace(integrity, f"sha512-{'A' * 86}=="))

    with pytest.raises(SetupError, match="tiny could not be installed: 'npm ci") as caught:
        install(entry)

    assert caught.value.code == "app_not_installed" and "EINTEGRITY" in caught.value.message
    assert not place_of(entry).ready


def test_the_version_of_python_is_nothing_to_a_program_of_node(
    entry: AppEntry, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = place_of(entry)
    monkeypatch.setattr("sys.version", "4.0.0 (some day)")
    assert place_of(entry) == before


def test_other_wanted_packages_are_another_environment(entry: AppEntry) -> None:
    before = place_of(entry)
    (entry.folder / "package.json").write_text("{}")
    assert place_of(entry).folder != before.folder


def test_without_node_the_reader_is_told_what_to_install(
    entry: AppEntry, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    programs_on_path(tmp_path / "bin", monkeypatch, npm="10.0.0")
    with pytest.raises(SetupError, match=r"tiny needs Node\.js 18 or newer and npm: install .*; not found: node$"):
        install(entry)


@pytest.mark.parametrize("said", ["v16.20.2", "command not available"])
def test_an_old_node_is_refused(entry: AppEntry, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, said: str) -> None:
    programs_on_path(tmp_path / "bin", monkeypatch, node=said, npm="10.0.0")
    with pytest.raises(SetupError, match=rf"needs Node\.js 18 .*'node --version' says {said}"):
        install(entry)


def test_an_npm_that_hangs_is_ended(entry: AppEntry, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(app_install, "_check_node", lambda *_: None)
    monkeypatch.setattr(app_install, "_NPM_CI", ("sleep", "60"))
    monkeypatch.setattr(app_install, "_INSTALL_SECONDS", 0.3)
    with pytest.raises(SetupError, match="took longer than"):
        install(entry)
