"""A dataset in a local folder: links and renames make objects whole, fsync makes them durable, flock keeps drivers out.

What is made here is for this user alone. Knows files, nothing of what is in them.
"""

from __future__ import annotations

import errno
import fcntl
import os
import uuid
from collections.abc import Collection, Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import BinaryIO, NamedTuple

import pyarrow.fs as pafs

from pipeline.errors import RunError

LOCK_NAME = "driver.lock"

_OURS = 0o600


class LocalStorage(NamedTuple):
    """The folder, by its absolute path."""

    root: Path

    @property
    def address(self) -> str:
        """The absolute path."""
        return str(self.root)

    @property
    def files(self) -> pafs.FileSystem:
        """Arrow's view of the folder."""
        return pafs.SubTreeFileSystem(self.address, pafs.LocalFileSystem())

    @property
    def shown(self) -> None:
        """DuckDB opens local files by itself."""

    def url(self, key: str) -> str:
        """The absolute path of a file."""
        return f"{self.address}/{key}"

    def prepare(self, folders: list[str]) -> None:
        """Make the folders."""
        for folder in folders:
            self._make_folder(self.root / folder)
        self._make_folder(self.root)

    def drop(self, folders: list[str]) -> None:
        """Remove the folders that are there and empty."""
        for folder in folders:
            with suppress(OSError):
                (self.root / folder).rmdir()

    def has(self, folder: str) -> bool:
        """Whether the folder is there."""
        return (self.root / folder).is_dir()

    def read(self, key: str) -> bytes:
        """The file's bytes."""
        self.refuse_odd(key)
        return (self.root / key).read_bytes()

    def size(self, key: str) -> int | None:
        """The file's size; null when it is no file."""
        path = self.root / key
        return path.stat().st_size if path.is_file() else None

    def sizes(self, folder: str) -> dict[str, int]:
        """The files directly in a folder."""
        path = self.root / folder
        entries = sorted(path.iterdir()) if path.is_dir() else []
        return {entry.name: entry.stat().st_size for entry in entries if entry.is_file()}

    def folders(self) -> list[str]:
        """The folders directly in this one."""
        return sorted(entry.name for entry in self.root.iterdir() if entry.is_dir()) if self.root.is_dir() else []

    def others(self, folder: str) -> dict[str, str]:
        """Folders, pipes, sockets, devices and links to nowhere directly in a folder."""
        path = self.root / folder
        entries = sorted(path.iterdir()) if path.is_dir() else []
        return {entry.name: _kind(entry) for entry in entries if not entry.is_file()}

    def refuse_odd(self, key: str) -> None:
        """Raise for what is there and no plain file."""
        path = self.root / key
        if path.exists() and not path.is_file():
            raise OSError(errno.EINVAL, f"{_kind(path)}, and no plain file", str(path))

    def occupied(self, besides: Collection[str]) -> bool:
        """Whether any file is at the path or below it."""
        if not self.root.is_dir():
            return self.root.exists()
        return any(path.is_file() and path.name not in besides for path in self.root.rglob("*"))

    def create(self, key: str, data: bytes) -> None:
        """Write a new file."""
        path = self.root / key
        temporary = _written_aside(path, data)
        try:
            # A link, unlike a rename, never replaces what is there.
            os.link(temporary, path)
        finally:
            temporary.unlink()
        sync_folder(path.parent)

    def replace(self, key: str, data: bytes) -> None:
        """Write a file in place of what may be there."""
        path = self.root / key
        temporary = _written_aside(path, data)
        try:
            temporary.replace(path)
        finally:
            temporary.unlink(missing_ok=True)
        sync_folder(path.parent)

    def delete(self, key: str) -> None:
        """Remove a file."""
        (self.root / key).unlink(missing_ok=True)

    @contextmanager
    def new_file(self, key: str) -> Iterator[BinaryIO]:
        """A new file under its final name: what a killed process leaves of it was never listed, and is never read."""
        path = self.root / key
        self._make_folder(path.parent)
        raw = _new(path)
        whole = False
        try:
            with raw:
                yield raw
                raw.flush()
                os.fsync(raw.fileno())
            sync_folder(path.parent)
            whole = True
        finally:
            if not whole:
                path.unlink(missing_ok=True)

    def _make_folder(self, folder: Path) -> None:
        """A folder, the dataset's own or below it; what was there keeps its rights, only our files in it are closed."""
        self.root.parent.mkdir(parents=True, exist_ok=True)
        for made in reversed([folder, *(above for above in folder.parents if above.is_relative_to(self.root))]):
            made.mkdir(mode=0o700, exist_ok=True)

    @contextmanager
    def lock(self) -> Iterator[None]:
        """The kernel drops the lock with the process, however it ends, so there is never a stale one to remove."""
        self._make_folder(self.root)
        descriptor = os.open(self.root / LOCK_NAME, os.O_RDWR | os.O_CREAT, _OURS)
        try:
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                holder = os.pread(descriptor, 32, 0).decode(errors="replace").strip()
                raise RunError(
                    f"{self.root} is in use by another driver (process {holder or 'unknown'}); wait for it or stop it"
                ) from None
            os.ftruncate(descriptor, 0)
            os.pwrite(descriptor, f"{os.getpid()}\n".encode(), 0)
            yield
        finally:
            os.close(descriptor)


def sync_folder(folder: Path) -> None:
    """Make the folder's entries durable."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def sync_tree(root: Path) -> None:
    """Make everything in a folder durable, and this user's alone."""
    for folder, _, names in os.walk(root):
        Path(folder).chmod(0o700)
        for name in names:
            with (Path(folder) / name).open("rb") as file:
                os.fchmod(file.fileno(), _OURS)
                os.fsync(file.fileno())
        sync_folder(Path(folder))


@contextmanager
def held_folder(folder: Path) -> Iterator[bool]:
    """Whether the folder is there and nobody else holds it; then it is ours until the block or the process ends."""
    ours = False
    with ExitStack() as held:
        with suppress(OSError):
            descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
            held.callback(os.close, descriptor)
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            ours = os.path.samestat(os.fstat(descriptor), folder.stat())
        yield ours


def _kind(path: Path) -> str:
    """What something is that is no plain file, in words."""
    return "a folder" if path.is_dir() else "a pipe" if path.is_fifo() else "a link, socket or device"


def _new(path: Path) -> BinaryIO:
    """A file that was not there, without rights for others."""
    return os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, _OURS), "wb")


def _written_aside(path: Path, data: bytes) -> Path:
    temporary = path.with_name(f"{path.name}.{uuid.uuid4().hex}.tmp")
    with ExitStack() as undo:
        undo.callback(temporary.unlink, missing_ok=True)
        with _new(temporary) as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        undo.pop_all()
    return temporary
