"""Locales are compiled once, into the cache folder."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from pipeline.envs import locales
from pipeline.errors import SetupError

needs_sources = pytest.mark.skipif(
    shutil.which("localedef") is None or not Path("/usr/share/i18n/locales/en_US").exists(), reason="no sources here"
)


@pytest.fixture(autouse=True)
def _own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATHPROOF_HOME", str(tmp_path))


@needs_sources
@pytest.mark.slow
def test_a_locale_is_compiled_once_and_nothing_is_left_beside() -> None:
    assert locales.provide("en_US") == "en_US.UTF-8"
    made = locales.folder() / "en_US.UTF-8"
    stamp = (made / "LC_CTYPE").stat().st_mtime_ns

    locales.provide("en_US")

    assert (made / "LC_CTYPE").stat().st_mtime_ns == stamp
    assert [path.name for path in locales.folder().iterdir()] == ["en_US.UTF-8"]


def test_a_language_that_is_none_names_the_package() -> None:
    with pytest.raises(SetupError, match="no locale xx_YY here: install the Debian package locales"):
        locales.provide("xx_YY")


@needs_sources
def test_a_compiler_that_fails_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    broken = tmp_path / "localedef"
    broken.write_text("#!/bin/sh\necho broken >&2\nexit 4\n")
    broken.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}")
    monkeypatch.setattr("os.defpath", str(tmp_path))

    with pytest.raises(SetupError, match="en_US was not compiled"):
        locales.provide("en_US")
