"""Debian packages: which are missing, how a person installs them, and their installation where that is asked for.

Packages belong to the whole system, so nothing here removes or changes one, and only root is let do it. Knows nothing
of what the packages hold.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Sequence

from pipeline.errors import SetupError

DESKTOP = (
    "xvfb",
    "x11-xkb-utils",
    "openbox",
    "dbus-daemon",
    "at-spi2-core",
    "libatk-adaptor",
    "libgail-common",
    "python3-gi",
    "gir1.2-atspi-2.0",
    "locales",
    "adwaita-icon-theme",
    "fonts-dejavu-core",
    "fonts-noto-cjk",
    "fonts-noto-color-emoji",
)
"""Debian packages that a desktop of this machine is made of, without its programs."""

_LOOK_SECONDS = 30.0
_INSTALL_SECONDS = 1800.0
_LOCK_SECONDS = 600
_TAIL_CHARACTERS = 1500
_APT = ("apt-get", "-o", f"DPkg::Lock::Timeout={_LOCK_SECONDS}")
"""Waits while somebody else installs."""


def missing(packages: Sequence[str]) -> list[str]:
    """The packages that are not installed, in order; all of them on a system that has no such packages."""
    if shutil.which("dpkg-query") is None:
        return list(packages)
    command = ["dpkg-query", "-W", "-f", "${Package} ${db:Status-Status}\n", *packages]
    try:
        said = subprocess.run(command, capture_output=True, text=True, timeout=_LOOK_SECONDS, check=False)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise SetupError("packages_unknown", f"dpkg-query does not tell which packages there are: {error}") from error
    there = {line.split()[0] for line in said.stdout.splitlines() if line.endswith(" installed")}
    return [package for package in packages if package not in there]


def advice(packages: Sequence[str]) -> str:
    """What a person has to type."""
    return f"as root: apt-get install --no-install-recommends {' '.join(packages)}"


def demand(packages: Sequence[str], what: str) -> None:
    """Raise SetupError, which says what to do, when a package is missing that something needs."""
    absent = missing(packages)
    if absent:
        raise SetupError("packages_missing", f"{what} needs more Debian packages; {advice(absent)}")


def install(packages: Sequence[str]) -> list[str]:
    """Install what is missing; its names. Raises SetupError."""
    absent = missing(packages)
    if not absent:
        return []
    if os.geteuid() != 0 or shutil.which("apt-get") is None:
        raise SetupError("packages_missing", f"only root of a Debian system can install packages; {advice(absent)}")
    _run([*_APT, "update", "-qq"], absent)
    _run([*_APT, "install", "-y", "--no-install-recommends", *absent], absent)
    demand(absent, "after an installation, this machine")
    return absent


def _run(command: Sequence[str], packages: Sequence[str]) -> None:
    variables = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    try:
        done = subprocess.run(
            command,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=_INSTALL_SECONDS,
            env=variables,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise SetupError("packages_missing", f"{' '.join(packages)} could not be installed: {error}") from error
    if done.returncode != 0:
        end = (done.stdout + done.stderr).strip()[-_TAIL_CHARACTERS:]
        raise SetupError("packages_missing", f"{' '.join(command)} failed with code {done.returncode}: {end}")
