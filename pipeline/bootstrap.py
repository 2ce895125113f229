"""Set-up of a bare checkout: `python3 -m pipeline.bootstrap`, run by the Makefile with any Python from 3.11 on.

Makes the environment `.venv` from `requirements.lock`, finds or fetches a Chromium, installs the applications of the
default configuration. What is done is not done again. Needs the standard library only, since it runs before anything
is installed, and so has an error of its own; it knows nothing of the pipeline.
"""

from __future__ import annotations

import hashlib
import importlib.util
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

OLDEST_PYTHON = (3, 11)
ROOT = Path(__file__).resolve().parents[1]
CHROMIUM_NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")

_STAMP = "pathproof.stamp"
_INSTALL_SECONDS = 1200.0
_DOWNLOAD_SECONDS = 600.0
_ANSWER_SECONDS = 60.0
_TAIL_CHARACTERS = 1500
_CERTIFICATES = Path("/etc/ssl/certs/ca-certificates.crt")
_COMMAND = """#!/bin/sh
'''exec' "{python}" "$0" "$@"
' '''
import sys

sys.path.insert(0, {root!r})  # before PYTHONPATH, which may hold another `pipeline`

from pipeline.cli import main

main()
"""
_PLAYWRIGHT_CHROMIUM = (
    "from playwright.sync_api import sync_playwright\n"
    "with sync_playwright() as playwright: print(playwright.chromium.executable_path)"
)


class BootstrapError(Exception):
    """Set-up cannot go on; the message says what to do."""


class CommandError(BootstrapError):
    """A command failed or took too long."""


def main() -> int:
    """Set everything up; the exit code."""
    try:
        check_python(sys.version_info[:2])
        make_environment(ROOT)
        find_chromium(ROOT)
        install_applications(ROOT)
    except BootstrapError as error:
        _say(f"error: {error}")
        return 1
    except KeyboardInterrupt:
        _say("interrupted; run it again to go on")
        return 130
    return 0


def check_python(version: tuple[int, int]) -> None:
    """Refuse a Python that is too old."""
    if version < OLDEST_PYTHON:
        found = ".".join(map(str, version))
        raise BootstrapError(f"Python 3.11 or newer is needed, this is {found}; install python3.11 and python3.11-venv")


def make_environment(root: Path) -> None:
    """`.venv` with everything of the lock and the project itself; a stamp, written last, says that it is done."""
    venv, lock = root / ".venv", (root / "requirements.lock").read_text(encoding="utf-8")
    wanted = hashlib.sha256(f"{root}\n{lock}".encode()).hexdigest()
    stamp = venv / _STAMP
    if stamp.is_file() and stamp.read_text(encoding="ascii") == wanted:
        return
    _say("installing the environment .venv from requirements.lock (about a minute)")
    if not _is_python(venv / "bin" / "python"):
        _make_venv(venv)
    _install_lock(root, venv, lock)
    _install_project(root, venv)
    stamp.write_text(wanted, encoding="ascii")


def find_chromium(root: Path) -> str:
    """A Chromium that answers: the system's, else Playwright's, else one from the system's packages."""
    found = _system_chromium() or _downloaded_chromium(root, fetch=False)
    if not found:
        _say("no Chromium on this machine: asking Playwright to download one")
        found = _downloaded_chromium(root, fetch=True)
    if not found:
        install_packages(["chromium"], "there is no Chromium, and Playwright could not download one")
        found = _system_chromium()
    if not found:
        raise BootstrapError("no Chromium that starts: install one, so that `chromium --version` answers")
    if not _prints(["fc-list", ":lang=zh", "family"]):
        _say("hint: no font for Chinese; pages in it show boxes until `apt-get install fonts-noto-cjk`")
    return found


def install_applications(root: Path) -> None:
    """The applications of the default configuration, each apart."""
    python = root / ".venv" / "bin" / "python"
    run(
        [str(python), "-m", "pipeline.apps", "install", "--config", "quickstart"],
        _INSTALL_SECONDS,
        cwd=root,
        shown=True,
    )


def install_packages(names: Sequence[str], missing: str) -> None:
    """Install packages of the system when we may; otherwise say how."""
    privilege = _privilege()
    if privilege is None or shutil.which("apt-get") is None:
        raise BootstrapError(f"{missing}; run `sudo apt-get install {' '.join(names)}`, then this again")
    _say(f"{missing}: installing {', '.join(names)} with apt-get")
    apt = [*privilege, "env", "DEBIAN_FRONTEND=noninteractive", "apt-get", "--yes"]
    install = [*apt, "install", "--no-install-recommends", *names]
    try:
        run(install, _DOWNLOAD_SECONDS)
    except CommandError:
        run([*apt, "update"], _DOWNLOAD_SECONDS)
        run(install, _DOWNLOAD_SECONDS)


def locked(lock: str, name: str) -> str:
    """The entry of one package in a lock, with its hashes; empty when it has none."""
    lines = iter(lock.splitlines())
    entry = []
    for line in lines:
        if line.startswith(f"{name}=="):
            entry.append(line)
            while entry[-1].endswith("\\"):
                entry.append(next(lines))
    return "\n".join(entry)


def run(argv: Sequence[str], seconds: float, *, cwd: Path | None = None, shown: bool = False) -> str:
    """What a command prints, unless it is shown; raises CommandError with the end of it when the command fails.

    A command that takes too long is ended.
    """
    try:
        process = subprocess.Popen(
            argv,
            cwd=cwd,
            env=_environment(),
            stdin=subprocess.DEVNULL,
            stdout=None if shown else subprocess.PIPE,
            stderr=None if shown else subprocess.STDOUT,
            start_new_session=True,
            text=True,
            errors="replace",
        )
    except OSError as error:
        raise CommandError(f"cannot run {argv[0]}: {error}") from error
    with process:
        try:
            output, _ = process.communicate(timeout=seconds)
        except subprocess.TimeoutExpired as error:
            raise CommandError(f"`{' '.join(argv)}` took longer than {seconds:.0f} s") from error
        finally:
            if process.poll() is None:  # also on Ctrl-C: in a session of its own the command would go on
                os.killpg(process.pid, signal.SIGKILL)
    if process.returncode != 0:
        end = (output or "")[-_TAIL_CHARACTERS:].strip()
        raise CommandError(f"`{' '.join(argv)}` failed" + (f":\n{end}" if end else ""))
    return output or ""


def _environment() -> dict[str, str]:
    """Ours; uv is told of the system's certificates, which pip uses too, for networks with one of their own."""
    return {**os.environ, **({"UV_SYSTEM_CERTS": "true"} if _CERTIFICATES.exists() else {})}


def _make_venv(venv: Path) -> None:
    shutil.rmtree(venv, ignore_errors=True)
    if shutil.which("uv"):
        run([sys.executable, "-m", "venv", "--without-pip", str(venv)], _ANSWER_SECONDS)
        return
    if importlib.util.find_spec("ensurepip") is None:
        package = f"python{sys.version_info.major}.{sys.version_info.minor}-venv"
        install_packages([package], "this Python cannot make environments (module ensurepip is missing)")
    # In a process of its own: this one may have looked for the module in vain.
    run([sys.executable, "-m", "venv", str(venv)], _ANSWER_SECONDS * 2)


def _install_lock(root: Path, venv: Path, lock: str) -> None:
    """By uv, which takes seconds; by pip when uv cannot be had or fails, as behind an index that only pip knows."""
    python = str(venv / "bin" / "python")
    arguments = ["--quiet", "--require-hashes", "-r", str(root / "requirements.lock")]
    try:
        # Compiled here once, as pip does: where bytecode may not be written later, every start would compile it anew.
        run([_uv(venv, lock), "pip", "install", "--compile-bytecode", "--python", python, *arguments], _INSTALL_SECONDS)
    except CommandError as error:
        _say(f"uv did not do it, trying pip: {str(error).splitlines()[-1]}")
        run([*_pip(python), *arguments], _INSTALL_SECONDS)


def _uv(venv: Path, lock: str) -> str:
    """The environment's uv, else the system's, else the lock's, installed by pip."""
    own = venv / "bin" / "uv"
    found = str(own) if _prints([str(own), "--version"]) else shutil.which("uv")
    if found:
        return found
    requirement = venv / "uv.txt"
    requirement.write_text(locked(lock, "uv") + "\n", encoding="utf-8")
    command = [*_pip(str(venv / "bin" / "python")), "--quiet", "--require-hashes", "-r", str(requirement)]
    run(command, _INSTALL_SECONDS)
    return str(own)


def _pip(python: str) -> list[str]:
    if not _prints([python, "-m", "pip", "--version"]):
        run([python, "-m", "ensurepip"], _ANSWER_SECONDS)
    return [python, "-m", "pip", "install", "--disable-pip-version-check"]


def _install_project(root: Path, venv: Path) -> None:
    """The checkout on the environment's path, and the command `pathproof`: no build, no download."""
    for packages in venv.glob("lib/python3*/site-packages"):
        (packages / "pathproof.pth").write_text(f"{root}\n", encoding="utf-8")
    command = venv / "bin" / "pathproof"
    command.write_text(_COMMAND.format(python=venv / "bin" / "python", root=str(root)), encoding="utf-8")
    command.chmod(0o755)


def _system_chromium() -> str:
    return next((name for name in CHROMIUM_NAMES if shutil.which(name) and _prints([name, "--version"])), "")


def _downloaded_chromium(root: Path, fetch: bool) -> str:
    """Path of Playwright's own Chromium when it starts, empty otherwise."""
    playwright = [str(root / ".venv" / "bin" / "python"), "-m", "playwright"]
    path = _prints([playwright[0], "-c", _PLAYWRIGHT_CHROMIUM])
    if not fetch:
        return path if path and _prints([path, "--version"]) else ""
    try:
        run([*playwright, "install", "chromium"], _DOWNLOAD_SECONDS)
        if not _prints([path, "--version"]) and _privilege() is not None:
            run([*playwright, "install-deps", "chromium"], _DOWNLOAD_SECONDS)
    except CommandError as error:
        _say(str(error).splitlines()[-1])
    return path if _prints([path, "--version"]) else ""


def _privilege() -> list[str] | None:
    """What to put before a command that needs root; None when we cannot become root without a question."""
    if os.geteuid() == 0:
        return []
    return ["sudo", "-n"] if _prints(["sudo", "-n", "id"]) else None


def _is_python(path: Path) -> bool:
    """Whether the interpreter runs and is new enough."""
    return bool(_prints([str(path), "-c", f"import sys; print('yes' * (sys.version_info >= {OLDEST_PYTHON}))"]))


def _prints(argv: Sequence[str]) -> str:
    """What a command prints when it succeeds; empty when it does not."""
    try:
        return run(argv, _ANSWER_SECONDS).strip()
    except CommandError:
        return ""


def _say(text: str) -> None:
    sys.stderr.write(f"{text}\n")
    sys.stderr.flush()


if __name__ == "__main__":
    sys.exit(main())
