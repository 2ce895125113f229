"""Debian packages: what is missing is named with the command, and only root is let install."""

from __future__ import annotations

import os
import shutil
from io import StringIO
from pathlib import Path

import pytest
from rich.console import Console

from pipeline.app_install import install_for
from pipeline.apps import main, up
from pipeline.config import parse_config
from pipeline.debian_install import advice, demand, install, missing
from pipeline.doctor import _desktop
from pipeline.errors import ConfigError, SetupError
from pipeline.progress import Board
from pipeline.run import _prepare

NONE = "pathproof-has-no-such-package"

needs_dpkg = pytest.mark.skipif(shutil.which("dpkg-query") is None, reason="this is no Debian system")


@needs_dpkg
def test_what_is_not_installed_is_missing_in_order() -> None:
    assert missing(["zzz-none", "dpkg", NONE]) == ["zzz-none", NONE]


def test_on_other_systems_everything_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nonexistent")

    assert missing(["dpkg"]) == ["dpkg"]


def test_the_command_is_told() -> None:
    assert advice(["a", "b"]) == "as root: apt-get install --no-install-recommends a b"
    with pytest.raises(SetupError, match=f"a desktop needs more Debian packages; as root: apt-get install .* {NONE}"):
        demand([NONE], "a desktop")


def test_only_root_is_let_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 1000)

    with pytest.raises(SetupError, match="only root") as caught:
        install([NONE])
    assert caught.value.code == "packages_missing"


def test_the_doctor_names_what_a_desktop_lacks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nonexistent")

    found = _desktop(parse_config({"platform": "desktop"}))

    assert (found.good, found.needed) == (False, True)
    assert "apt-get install" in found.detail
    assert "xvfb" in found.detail


@needs_dpkg
def test_nothing_is_done_when_all_is_there() -> None:
    assert install(["dpkg"]) == []


def test_a_failed_installation_says_why(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, text in (("apt-get", "echo 'E: no such package' >&2; exit 100"), ("dpkg-query", "exit 1")):
        (tmp_path / name).write_text(f"#!/bin/sh\n{text}\n")
        (tmp_path / name).chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    monkeypatch.setattr(os, "geteuid", lambda: 0)

    with pytest.raises(SetupError, match=r"failed with code 100: E: no such package"):
        install([NONE])


def test_an_unknown_program_is_a_bad_argument(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["install", "no-such-program"]) == 2
    assert "no-such-program" in capsys.readouterr().err
    with pytest.raises(ConfigError, match="no-such-program"):
        up("no-such-program", print)


def test_a_program_of_a_display_that_is_missing_is_named_with_the_command(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nonexistent")

    with pytest.raises(SetupError, match=r"Mousepad needs more Debian packages; as root: apt-get install .* mousepad$"):
        install_for("desktop-mousepad", "xvfb")


def test_a_run_says_which_programs_are_missing_before_it_starts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nonexistent")
    told = StringIO()

    _prepare(parse_config({"platform": "desktop", "apps": ["desktop-mousepad"]}), Board(Console(file=told, width=999)))

    assert "warning: desktop-mousepad: Mousepad needs more Debian packages; as root: apt-get install" in told.getvalue()


def test_virtual_machines_have_programs_of_their_own(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nonexistent")

    install_for("desktop-mousepad", "qemu")
