"""Files that somebody else has made, whatever they are: none is waited for, none is taken into memory whole.

What can neither be hashed nor read still stands for something, so that nobody who looks at a folder is stopped by what
lies in it. Links are left out. Knows nothing of whose folder it is.
"""

from __future__ import annotations

import errno
import hashlib
import io
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

MOST_BYTES = 64_000_000
"""Larger files are told by size and time, and are not read."""

FOLDER = "folder"
SPECIAL = "special"
"""A pipe, a socket or a device."""
UNREADABLE = "unreadable"


def read(path: Path, most: int = MOST_BYTES) -> bytes:
    """The content of a file; raises FileNotFoundError, also for what is no file, and OSError for a larger one."""
    with _opened(path) as file:
        content = file.read(most + 1)
    if len(content) > most:
        raise OSError(errno.EFBIG, f"there are more than {most} bytes", str(path))
    return content


def read_text(path: Path) -> str:
    """The text of a file in UTF-8, its lines ended by newlines; raises as `read`, or UnicodeDecodeError."""
    return io.TextIOWrapper(io.BytesIO(read(path)), encoding="utf-8").read()


def fingerprint(path: Path, most: int = MOST_BYTES) -> str | None:
    """SHA-256 of a file, or what stands for it; nothing where none is any more."""
    try:
        if not stat.S_ISREG(path.lstat().st_mode):
            return SPECIAL
        with _opened(path) as file:
            seen = os.fstat(file.fileno())
            if seen.st_size > most:
                return f"large {seen.st_size} {seen.st_mtime_ns}"
            return hashlib.file_digest(file, "sha256").hexdigest()
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError:
        return UNREADABLE


def files_below(top: Path) -> list[Path]:
    """All below a folder that is neither folder nor link, sorted; the path itself when it is a file."""
    if stat.S_ISREG(_mode(top)):
        return [top]
    found = [Path(folder, name) for folder, _, names in os.walk(top) for name in names]
    return sorted(path for path in found if not stat.S_ISLNK(_mode(path)))


def folders_below(top: Path) -> dict[Path, str]:
    """The folders below one, deeper ones after those they lie in: `folder`, or `unreadable`."""
    found: list[Path] = []
    shut: set[str] = set()

    def missed(error: OSError) -> None:
        if not isinstance(error, FileNotFoundError | NotADirectoryError):
            shut.add(str(error.filename))

    for folder, names, _ in os.walk(top, onerror=missed):
        found += [path for name in names if not stat.S_ISLNK(_mode(path := Path(folder, name)))]
    return {path: UNREADABLE if str(path) in shut else FOLDER for path in sorted(found)}


def spelled(name: str) -> str:
    """A name that can be written down: bytes of it that are no text are spelled out."""
    return name.encode(errors="surrogateescape").decode(errors="backslashreplace")


def clear(path: Path) -> None:
    """Make room for a file: what lies there and is none, so that writing would hang or go elsewhere, is removed."""
    mode = _mode(path)
    if mode and not stat.S_ISREG(mode) and not stat.S_ISDIR(mode):
        path.unlink()


def _mode(path: Path) -> int:
    """What lies there, links not followed; 0 where nothing does or nobody may know."""
    try:
        return path.lstat().st_mode
    except OSError:
        return 0


@contextmanager
def _opened(path: Path) -> Iterator[io.BufferedReader]:
    """A regular file, opened without waiting for anybody; raises FileNotFoundError for anything else."""
    if not path.is_file():
        raise FileNotFoundError(errno.ENOENT, "there is no file", str(path))
    # Meanwhile it may have become a pipe.
    with os.fdopen(os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC), "rb") as file:
        if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
            raise FileNotFoundError(errno.ENOENT, "there is no file", str(path))
        yield file
