"""Languages of programs: locales compiled once into the cache folder, so that none needs to be set up by root.

Knows nothing of the programs.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from pathlib import Path

from pipeline.app_install import home
from pipeline.errors import SetupError

_COMPILE_SECONDS = 60.0
_SOURCES = Path("/usr/share/i18n/locales")
"""Of the Debian package locales."""


def folder() -> Path:
    """Where compiled locales lie; programs find them there by LOCPATH."""
    return home() / "locales"


def provide(locale: str) -> str:
    """Compile a locale such as `zh_CN` unless it has been; the name it is asked for by. Raises SetupError."""
    made = folder() / f"{locale}.UTF-8"
    if not made.exists():
        if shutil.which("localedef") is None or not (_SOURCES / locale).exists():
            raise SetupError("no_locale", f"there is no locale {locale} here: install the Debian package locales")
        folder().mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=folder(), prefix=".") as aside:
            _compile(locale, Path(aside) / "made")
            try:
                (Path(aside) / "made").rename(made)
            except OSError:
                if not made.exists():  # else somebody else was faster
                    raise
    return made.name


def _compile(locale: str, target: Path) -> None:
    command = ["localedef", "--no-archive", "-i", locale, "-f", "UTF-8", str(target)]
    try:
        done = subprocess.run(
            command, capture_output=True, timeout=_COMPILE_SECONDS, env={"PATH": os.defpath}, check=False
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise SetupError("no_locale", f"the locale {locale} was not compiled: {error}") from error
    if not target.exists():
        raise SetupError("no_locale", f"the locale {locale} was not compiled: {done.stderr.decode(errors='replace')}")
