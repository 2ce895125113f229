"""Who has which device of this machine, and which are to be left alone: one small file for each.

A lease is a lock on the file, so it ends with its holder's process whatever becomes of it. In the file stands how often
the device has failed in a row; one that failed too often is in quarantine for a while. Knows nothing of adb.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import time
from pathlib import Path
from urllib.parse import quote

from pydantic import Field, ValidationError

from pipeline.actions import Model
from pipeline.app_install import home

MOST_FAILURES = 3
QUARANTINE_SECONDS = 600.0


class _Health(Model):
    failures: int = Field(default=0, ge=0)
    until: float = 0.0
    """When the quarantine ends, by the clock of this machine."""


class Lease:
    """A device that is ours until it is released."""

    def __init__(self, name: str, file: int, leases: Leases) -> None:
        """`file` is open and locked."""
        self.name = name
        self._file, self._leases = file, leases

    def note(self, *, worked: bool) -> None:
        """Remember whether the device did what devices do."""
        failures = 0 if worked else _read(self._file).failures + 1
        until = time.time() + self._leases.quarantine_seconds if failures >= self._leases.most_failures else 0.0
        os.lseek(self._file, 0, os.SEEK_SET)
        os.truncate(self._file, 0)
        os.write(self._file, _Health(failures=failures, until=until).model_dump_json().encode())

    def release(self) -> None:
        """Let others have it; again is harmless."""
        if self._file >= 0:
            os.close(self._file)
            self._file = -1


class Leases:
    """The devices of this machine and user, by name."""

    def __init__(
        self,
        folder: Path | None = None,
        *,
        most_failures: int = MOST_FAILURES,
        quarantine_seconds: float = QUARANTINE_SECONDS,
    ) -> None:
        """`most_failures` in a row put a device in quarantine."""
        self._folder = folder or home() / "devices"
        self.most_failures = most_failures
        self.quarantine_seconds = quarantine_seconds

    def claim(self, name: str) -> Lease | None:
        """The device's lease; nothing when somebody has it or it is in quarantine."""
        self._folder.mkdir(parents=True, exist_ok=True)
        file = os.open(self._path(name), os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(file)
            return None
        if time.time() < _read(file).until:
            os.close(file)
            return None
        return Lease(name, file, self)

    def in_quarantine(self, name: str) -> bool:
        """Whether a device is to be left alone at the moment."""
        with contextlib.suppress(FileNotFoundError, ValidationError):
            health = _Health.model_validate_json(self._path(name).read_bytes() or b"{}")
            return time.time() < health.until
        return False

    def _path(self, name: str) -> Path:
        return self._folder / f"{quote(name, safe='')}.lease"


def _read(file: int) -> _Health:
    """What stands in the file; what a dead holder left half written says nothing."""
    os.lseek(file, 0, os.SEEK_SET)
    try:
        return _Health.model_validate_json(os.read(file, 4096) or b"{}")
    except ValidationError:
        return _Health()
