"""The phone's file system: a private folder of this machine, and a few files that only exist when they are read.

There are no users and no permissions on it: every command may read and write everything, as root may.
"""

from __future__ import annotations

import posixpath
import shutil
import stat
from collections.abc import Callable
from pathlib import Path

from pipeline.handset.wire_services import DirEntry, FileStat

_LINKS = (("/storage/self/primary", "/storage/emulated/0"), ("/sdcard", "/storage/emulated/0"))
_FOLDERS = ("/data/local/tmp", "/data/data", "/storage/emulated/0/Download", "/storage/emulated/0/Pictures", "/system")


class Files:
    """Files by their paths on the phone."""

    def __init__(self, folder: Path) -> None:
        """`folder` stands for `/`."""
        self._folder = folder
        self.made: dict[str, Callable[[], bytes]] = {}
        """Files that are made when read, by path."""
        for path in _FOLDERS:
            self.place(path).mkdir(parents=True, exist_ok=True)

    def place(self, path: str) -> Path:
        """Where a file of the phone lies on this machine; never outside the folder."""
        clean = posixpath.normpath(posixpath.join("/", path)).replace("//", "/")
        for link, target in _LINKS:
            if clean == link or clean.startswith(f"{link}/"):
                clean = target + clean[len(link) :]
        return self._folder / clean.lstrip("/")

    def read(self, path: str) -> bytes:
        """A file's bytes; raises OSError."""
        made = self.made.get(posixpath.normpath(path))
        return made() if made else self.place(path).read_bytes()

    def write(self, path: str, data: bytes) -> None:
        """Write a file, and its folder when there is none; raises OSError."""
        place = self.place(path)
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(data)

    def stat(self, path: str) -> FileStat | None:
        """What is known of a file or folder."""
        made = self.made.get(posixpath.normpath(path))
        if made:
            return FileStat(stat.S_IFREG | 0o444, len(made()), 0)
        try:
            return _stat(self.place(path))
        except OSError:
            return None

    def list(self, path: str) -> list[DirEntry]:
        """What a folder holds, by name; nothing where there is none."""
        place = self.place(path)
        if not place.is_dir():
            return []
        return [DirEntry(one.name, _stat(one)) for one in sorted(place.iterdir())]

    def remove(self, path: str, *, tree: bool = False) -> None:
        """Remove a file or, with `tree`, a folder with all it holds; raises OSError."""
        place = self.place(path)
        if tree and place.is_dir():
            shutil.rmtree(place)
        else:
            place.unlink()


def _stat(place: Path) -> FileStat:
    known = place.stat()
    return FileStat(known.st_mode, known.st_size, int(known.st_mtime))
