"""Installs applications apart from our own environment and prepares their data template, once, in a cache folder.

    <home>/apps/<app_id>-<hash>/environment/       the installed programs; `environment.done` is written last
    <home>/apps/<app_id>-<hash>/template-<hash>/   the data every instance starts from; its `.done` likewise

What a crash left half made has no marker and is made again. Knows nothing of running instances.
"""

from __future__ import annotations

import fcntl
import os
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import NamedTuple

from pipeline.app_entry import AppEntry, NpmInstall, OwnInstall, ProgramEntry, SqlSeed, filled, load_entry, server_of
from pipeline.app_state import inside, run_script, snapshot
from pipeline.debian_install import DESKTOP, demand
from pipeline.errors import SetupError, boundary
from pipeline.reaper import Scratch
from pipeline.records import digest

SURROUNDINGS = {
    # What asks the world at start (exchange rates, updates) is refused at once: nobody serves port 9.
    "http_proxy": "http://127.0.0.1:9",
    "https_proxy": "http://127.0.0.1:9",
    "HTTPS_PROXY": "http://127.0.0.1:9",
    "no_proxy": "127.0.0.1,localhost,::1",
    # Times, sorting and languages do not depend on the machine.
    "TZ": "UTC",
    "LC_ALL": "C.UTF-8",
    # Modules of ours, or of whoever started us, are none of the application's.
    "PYTHONPATH": "",
}
"""Environment variables of every application, so that states and screens are the same everywhere."""

_CERTIFICATES = Path("/etc/ssl/certs/ca-certificates.crt")
_INSTALL_SECONDS = 600.0
_VERSION_SECONDS = 20.0
_SEED_SECONDS = 120.0
_LOCK_SECONDS = 900.0
_LOCK_POLL_SECONDS = 0.1
_TAIL_CHARACTERS = 1500
_BESIDE = "{entry}/"
_PACKAGE_ROOT = Path(__file__).resolve().parents[1]
_PROGRAMS = {"pip": "bin", "npm": "node_modules/.bin", "own": "."}
_PACKAGE = "package.json"
_NPM_CI = ("npm", "ci", "--ignore-scripts", "--omit=dev", "--no-audit", "--no-fund", "--no-update-notifier")
"""Exactly what is locked, by hash; programs of packages are not run while they are installed."""


class Place(NamedTuple):
    """Where an application's parts lie, made or not."""

    folder: Path
    environment: Path
    template: Path
    bin: Path
    """Its programs."""

    @property
    def ready(self) -> bool:
        """Whether everything has been made."""
        return _marker(self.environment).exists() and _marker(self.template).exists()


def home() -> Path:
    """The cache folder, `$PATHPROOF_HOME` or `~/.cache/pathproof`.

    It is nobody else's; only a folder that was named, and was there before, keeps the rights that its owner gave it.
    """
    named = os.environ.get("PATHPROOF_HOME")
    folder = Path(named or "~/.cache/pathproof").expanduser().absolute()
    with suppress(OSError):  # told by whoever writes there
        folder.parent.mkdir(parents=True, exist_ok=True)
        folder.mkdir(mode=0o700, exist_ok=True)
        if not named and folder.stat().st_mode & 0o077:
            folder.chmod(0o700)
    return folder


def place_of(entry: AppEntry) -> Place:
    """Where the application lies; folders are named by what they are made from.

    Raises SetupError when the entry has no lock file.
    """
    with boundary(SetupError, "app_not_installed"):
        lock = "" if isinstance(entry.install, OwnInstall) else entry.lock.read_text(encoding="utf-8")
        scripts = [path.read_text(encoding="utf-8") for path in _seed_files(entry)]
        wanted = _wanted(entry)
    installed = digest("install", entry.install.model_dump_json(), lock, *wanted)
    data = entry.model_dump_json(include={"files", "seed", "environment", "state"})
    folder = home() / "apps" / f"{entry.app_id}-{installed[:12]}"
    environment = folder / "environment"
    template = folder / f"template-{digest('template', data, *scripts)[:12]}"
    return Place(folder, environment, template, environment / _PROGRAMS[entry.install.kind])


def install(entry: AppEntry) -> Path:
    """Install the application and make its data template unless that is done; the folder. Raises SetupError."""
    place = place_of(entry)
    if place.ready:
        return place.folder
    with boundary(SetupError, "app_not_installed"):
        place.folder.mkdir(parents=True, exist_ok=True)
        with alone(place.folder / "lock"), Scratch(f"install-{entry.app_id}") as scratch:
            if not _marker(place.environment).exists():
                _make_environment(entry, place, scratch)
            if not _marker(place.template).exists():
                _make_template(entry, place, scratch)
    return place.folder


def install_for(app_id: str, provider: str) -> None:
    """Have what an application needs on this machine, perhaps nothing; raises ConfigError or SetupError.

    Servers are installed. Programs of a private display are of the system's packages, of which none is installed
    unasked: the error says by which command they are.
    """
    entry = load_entry(app_id)
    if isinstance(entry, ProgramEntry) and provider == "xvfb":
        demand([*DESKTOP, *entry.install.packages], entry.title)
    server = server_of(app_id)
    if server is not None:
        install(server)


def render(entry: AppEntry, place: Place, data: Path, port: int | None = None) -> dict[str, str]:
    """Write the entry's files into the data folder; the values of its placeholders."""
    values = {
        "bin": str(place.bin),
        "data": str(data),
        "entry": str(entry.folder),
        "python": sys.executable,
        "package": str(_PACKAGE_ROOT),
    }
    if port is not None:
        values["port"] = str(port)
    for name, text in entry.files.items():
        target = inside(data, name)
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(filled(text, values), encoding="utf-8")
    return values


def variables(entry: AppEntry, values: dict[str, str]) -> dict[str, str]:
    """The environment variables of the entry's programs."""
    return SURROUNDINGS | {name: filled(value, values) for name, value in entry.environment.items()}


def tail(log: Path) -> str:
    """The end of a log."""
    return log.read_bytes()[-4 * _TAIL_CHARACTERS :].decode(errors="replace")[-_TAIL_CHARACTERS:].strip()


def _seed_files(entry: AppEntry) -> Iterator[Path]:
    """Files beside the entry that its seed is made from: SQL scripts, and those that commands name by `{entry}/`."""
    for step in entry.seed:
        if isinstance(step, SqlSeed):
            yield entry.folder / step.script
        else:
            yield from (entry.folder / part.removeprefix(_BESIDE) for part in step if part.startswith(_BESIDE))


def _wanted(entry: AppEntry) -> list[str]:
    """What an environment is made from, beside the lock."""
    if isinstance(entry.install, NpmInstall):
        return [(entry.folder / _PACKAGE).read_text(encoding="utf-8")]
    return [sys.version.split()[0]]


def _make_environment(entry: AppEntry, place: Place, scratch: Scratch) -> None:
    match entry.install:
        case NpmInstall(node=node):
            _install_by_npm(entry, node, place, scratch)
        case OwnInstall():
            place.environment.mkdir(exist_ok=True)
        case _:
            _install_by_pip(entry, place, scratch)
    _marker(place.environment).touch()


def _install_by_npm(entry: AppEntry, oldest: int, place: Place, scratch: Scratch) -> None:
    _check_node(entry, oldest, scratch)
    shutil.rmtree(place.environment, ignore_errors=True)
    place.environment.mkdir()
    for source in (entry.folder / _PACKAGE, entry.lock):
        shutil.copyfile(source, place.environment / source.name)
    try:
        _run(_NPM_CI, scratch, _INSTALL_SECONDS, cwd=place.environment)
    except SetupError as error:
        raise SetupError("app_not_installed", f"{entry.app_id} could not be installed: {error.message}") from error


def _check_node(entry: AppEntry, oldest: int, scratch: Scratch) -> None:
    """Raise SetupError when Node.js or npm is missing, or Node.js is too old."""
    advice = f"{entry.app_id} needs Node.js {oldest} or newer and npm: install the packages nodejs and npm"
    missing = [program for program in ("node", "npm") if shutil.which(program) is None]
    if missing:
        raise SetupError("app_not_installed", f"{advice}; not found: {', '.join(missing)}")
    said = _run(["node", "--version"], scratch, _VERSION_SECONDS)
    major = re.match(r"v(\d+)\.", said)
    if major is None or int(major[1]) < oldest:
        raise SetupError("app_not_installed", f"{advice}; 'node --version' says {said or 'nothing'}")


def _install_by_pip(entry: AppEntry, place: Place, scratch: Scratch) -> None:
    """By uv when it is at hand, else, or when that fails, by venv and pip."""
    failures = []
    # uv asks the system's certificates, as pip does, for networks that have one of their own.
    certificates = {"UV_SYSTEM_CERTS": "true"} if _CERTIFICATES.exists() else {}
    for commands in _installers(place.environment, entry.lock):
        shutil.rmtree(place.environment, ignore_errors=True)
        try:
            for command in commands:
                _run(command, scratch, _INSTALL_SECONDS, environment=certificates)
        except SetupError as error:
            failures.append(error.message)
        else:
            return
    raise SetupError("app_not_installed", f"{entry.app_id} could not be installed: {' / '.join(failures)}")


def _installers(environment: Path, lock: Path) -> Iterator[list[list[str]]]:
    python = str(environment / "bin" / "python")
    pinned = ["--quiet", "--require-hashes", "-r", str(lock)]
    beside = Path(sys.executable).parent / "uv"
    uv = str(beside) if beside.exists() else shutil.which("uv")
    if uv:
        yield [
            [uv, "venv", "--quiet", "--python", sys.executable, str(environment)],
            # As pip does: an application may be started hundreds of times, where bytecode may not be written.
            [uv, "pip", "install", "--compile-bytecode", "--python", python, *pinned],
        ]
    yield [
        [sys.executable, "-m", "venv", str(environment)],
        [python, "-m", "pip", "install", "--disable-pip-version-check", *pinned],
    ]


def _make_template(entry: AppEntry, place: Place, scratch: Scratch) -> None:
    shutil.rmtree(place.template, ignore_errors=True)
    place.template.mkdir()
    values = render(entry, place, place.template)
    for step in entry.seed:
        if isinstance(step, SqlSeed):
            script = (entry.folder / step.script).read_text(encoding="utf-8")
            run_script(inside(place.template, step.into), script)
        else:
            argv = [filled(part, values) for part in step]
            _run(argv, scratch, _SEED_SECONDS, cwd=place.template, environment=variables(entry, values))
    if not snapshot(entry.state, place.template):
        raise SetupError("app_not_installed", f"{entry.app_id}: its seed made no state")
    _marker(place.template).touch()


def _run(
    argv: Sequence[str],
    scratch: Scratch,
    seconds: float,
    *,
    cwd: Path | None = None,
    environment: dict[str, str] | None = None,
) -> str:
    """Run a command to its end; the end of what it wrote. Raises SetupError when it fails or takes too long."""
    log = scratch.path / "command.log"
    log.unlink(missing_ok=True)
    process = scratch.spawn(argv, cwd=cwd, log=log, environment=environment)
    try:
        code = process.wait(timeout=seconds)
    except subprocess.TimeoutExpired:
        scratch.stop(process)
        message = f"'{' '.join(argv)}' took longer than {seconds:.0f} s: {tail(log)}"
        raise SetupError("app_not_installed", message) from None
    if code != 0:
        raise SetupError("app_not_installed", f"'{' '.join(argv)}' failed with code {code}: {tail(log)}")
    return tail(log)


@contextmanager
def alone(lock: Path) -> Iterator[None]:
    """Hold a file lock, which also the death of this process releases."""
    deadline = time.monotonic() + _LOCK_SECONDS
    with lock.open("w") as file:
        while True:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except BlockingIOError:
                if time.monotonic() > deadline:
                    raise SetupError("app_not_installed", f"{lock} is held by another process for too long") from None
                time.sleep(_LOCK_POLL_SECONDS)
        yield


def _marker(made: Path) -> Path:
    return made.with_name(made.name + ".done")
