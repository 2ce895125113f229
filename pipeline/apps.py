"""Real applications of this machine: which there are, and running one for a person.

    python -m pipeline.apps install [APP ... | --config NAME]

Programs import what they need of an application from here; how it is done is in the `app_` modules.
"""

from __future__ import annotations

import asyncio
import os
import signal
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from pipeline import guardian
from pipeline.app_entry import (
    AppEntry,
    PhoneEntry,
    ProgramEntry,
    app_names,
    entry_names,
    load_app,
    load_entry,
    server_of,
)
from pipeline.app_install import install, install_for, place_of
from pipeline.app_instance import Instance
from pipeline.app_probes import PageEval
from pipeline.config import load_config
from pipeline.debian_install import DESKTOP, missing
from pipeline.debian_install import install as install_packages
from pipeline.errors import ConfigError, PathproofError
from pipeline.reaper import PREFIX, Scratch, sweep

__all__ = [
    "AppEntry",
    "AppStatus",
    "Instance",
    "PageEval",
    "app_names",
    "down",
    "install",
    "install_for",
    "list_apps",
    "load_app",
    "load_entry",
    "reset",
    "up",
]


class AppStatus(NamedTuple):
    """An application and whether this machine has it."""

    app_id: str
    title: str
    version: str
    licence: str
    installed: bool
    desktop: bool
    """Whether it is a program of a desktop, of packages of the system."""


def list_apps() -> list[AppStatus]:
    """Every application of the catalog."""
    return [_status(entry) for entry in map(load_entry, entry_names()) if not isinstance(entry, PhoneEntry)]


def _status(entry: AppEntry | ProgramEntry) -> AppStatus:
    there = place_of(entry).ready if isinstance(entry, AppEntry) else not missing(entry.install.packages)
    return AppStatus(entry.app_id, entry.title, entry.version, entry.licence, there, isinstance(entry, ProgramEntry))


def up(app_id: str, announce: Callable[[str], None]) -> None:
    """Run an application in the foreground until Ctrl-C or `down`; `announce` is told each address to open.

    Of a desktop's program, and of the desktop, the missing packages are installed and announced, which only root can.
    Raises ConfigError for an unknown application and SetupError when it does not start or cannot be installed.
    """
    program = load_entry(app_id)
    if isinstance(program, ProgramEntry):
        added = install_packages([*DESKTOP, *program.install.packages])
        announce(f"{program.title} is installed" + (f": {' '.join(added)}" if added else ""))
        return
    entry = load_app(app_id)
    sweep()  # what an earlier run left when its guardian was killed as well
    with Scratch(f"up-{app_id}") as scratch:
        asyncio.run(_serve(Instance(entry, scratch), announce))


def down(app_id: str) -> int:
    """End what `up` started for the application; how many there were."""
    return _tell(app_id, signal.SIGTERM)


def reset(app_id: str) -> int:
    """Put what `up` started for the application back to its first state; how many there were."""
    return _tell(app_id, signal.SIGHUP)


def main(arguments: Sequence[str]) -> int:
    """`install`: the applications named, those of a configuration, or all; the exit code."""
    try:
        match list(arguments):
            case ["install", "--config", name]:
                names = load_config(name, []).apps
            case ["install", *names]:
                names = names or app_names()
            case _:
                raise ConfigError("usage: python -m pipeline.apps install [APP ... | --config NAME]")
        programs = [entry for entry in map(load_entry, names) if isinstance(entry, ProgramEntry)]
        if programs:
            install_packages([*DESKTOP, *(package for entry in programs for package in entry.install.packages)])
        for entry in filter(None, map(server_of, names)):
            if not place_of(entry).ready:
                sys.stderr.write(f"installing the application {entry.app_id} {entry.version}\n")
                install(entry)
    except PathproofError as error:
        sys.stderr.write(f"error: {error}\n")
        return 2 if isinstance(error, ConfigError) else 1
    return 0


async def _serve(instance: Instance, announce: Callable[[str], None]) -> None:
    orders: asyncio.Queue[signal.Signals] = asyncio.Queue()
    try:
        await instance.start()
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            asyncio.get_running_loop().add_signal_handler(number, orders.put_nowait, number)
        announce(instance.base_url + instance.entry.home)
        while await orders.get() == signal.SIGHUP:
            await instance.reset()
            announce(instance.base_url + instance.entry.home)
    finally:
        await instance.close()


def _tell(app_id: str, number: signal.Signals) -> int:
    owners = list(_owners(load_app(app_id).app_id))
    for owner in owners:
        os.kill(owner, number)
    return len(owners)


def _owners(app_id: str) -> Iterator[int]:
    """Processes that run `up` for the application: the owners of its scratch folders."""
    for folder in sorted(Path(tempfile.gettempdir()).glob(f"{PREFIX}up-{app_id}-*")):
        try:
            owner = guardian.owner_of(folder)
        except LookupError:
            continue
        # Another application's name may begin with this one's.
        if owner is not None and folder.name.rpartition("-")[0] == f"{PREFIX}up-{app_id}":
            yield owner


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
