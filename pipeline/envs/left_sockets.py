"""Sockets in the file system that programs are bound to, which stay there when a program is killed.

Some programs make theirs in a place of their own choice, whatever folder for temporary files they are told of. Knows
nothing of sessions.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import psutil

_INODE, _PATH = 6, 7
"""Columns of the kernel's table of sockets."""


def sockets_of(processes: Iterable[psutil.Process]) -> set[Path]:
    """Where processes of ours that run are bound to."""
    return {path for process in processes for path in _bound(Path(f"/proc/{process.pid}"))}


def _bound(process: Path) -> set[Path]:
    """By the table of the network that the process is in, which has the sockets of others too."""
    try:
        held = {str(file.readlink()) for file in (process / "fd").iterdir()}
        rows = (process / "net/unix").read_text(encoding="utf-8", errors="surrogateescape").splitlines()
    except OSError:
        return set()  # it has ended
    cells = [row.split(maxsplit=_PATH) for row in rows]
    return {
        Path(row[_PATH])
        for row in cells
        if len(row) > _PATH and row[_PATH].startswith("/") and f"socket:[{row[_INODE]}]" in held
    }
