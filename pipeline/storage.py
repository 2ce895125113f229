"""The few ways a dataset folder is written to: create once, replace at once, hold for one driver.

Every function leaves either the whole file or none under the given name, on disk when it returns. Errors of the disk
become SinkError in `disk_errors`. This module knows nothing of tables, manifests or runs.
"""

from __future__ import annotations

import errno
import fcntl
import os
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from pipeline.errors import RunError, SinkError

_FULL = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG})

LOCK_NAME = "driver.lock"


@contextmanager
def disk_errors(what: str) -> Iterator[None]:
    """Turn an OSError of the block into a SinkError, code `disk_full` or `write_failed`."""
    try:
        yield
    except OSError as error:
        code = "disk_full" if error.errno in _FULL else "write_failed"
        raise SinkError(code, f"{what}: {error}") from error


def create(path: Path, data: bytes) -> None:
    """Write a new file; raises FileExistsError, and leaves the other file alone, when the name is taken."""
    temporary = _written_aside(path, data)
    try:
        # A link, unlike a rename, never replaces what is there.
        os.link(temporary, path)
    finally:
        temporary.unlink()
    sync_folder(path.parent)


def replace(path: Path, data: bytes) -> None:
    """Write a file in place of what may be there; a reader sees the old text or the new one."""
    temporary = _written_aside(path, data)
    try:
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)
    sync_folder(path.parent)


def sync_folder(folder: Path) -> None:
    """Make the folder's entries durable."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


@contextmanager
def driver_lock(folder: Path) -> Iterator[None]:
    """Hold a dataset folder for one driver; raises RunError when another live driver has it.

    The kernel drops the lock with the process, however it ends, so there is never a stale one to remove.
    """
    with disk_errors(f"cannot use {folder}"):
        folder.mkdir(parents=True, exist_ok=True)
        descriptor = os.open(folder / LOCK_NAME, os.O_RDWR | os.O_CREAT, 0o644)
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            holder = os.pread(descriptor, 32, 0).decode(errors="replace").strip()
            raise RunError(
                f"{folder} is in use by another driver (process {holder or 'unknown'}); wait for it or stop it"
            ) from None
        os.ftruncate(descriptor, 0)
        os.pwrite(descriptor, f"{os.getpid()}\n".encode(), 0)
        yield
    finally:
        os.close(descriptor)


def _written_aside(path: Path, data: bytes) -> Path:
    temporary = path.with_name(f"{path.name}.{uuid.uuid4().hex}.tmp")
    try:
        with temporary.open("xb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
    return temporary
