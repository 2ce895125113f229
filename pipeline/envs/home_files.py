"""Files of a home folder by what is in them. Knows nothing of whose home it is."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from fnmatch import fnmatchcase
from pathlib import Path

from pipeline.app_entry import FilesState
from pipeline.app_state import inside

FOLDER = "folder"
"""What stands for the content of a folder, whose path ends in `/`."""


def fingerprints(home: Path, folder: str) -> dict[str, str]:
    """SHA-256 of every file below a folder by its path relative to `home`, and its folders; raises ValueError.

    Links are left out; what goes while it is looked at is not there.
    """
    top, found = inside(home, folder), dict[str, str]()
    for path in sorted(top.rglob("*")):
        name = str(path.relative_to(home.resolve()))
        if path.is_symlink():
            continue
        if path.is_dir():
            found[f"{name}/"] = FOLDER
        elif path.is_file():
            try:
                found[name] = hashlib.sha256(path.read_bytes()).hexdigest()
            except FileNotFoundError:
                continue
    return found


def state_of(files: Mapping[str, str], sources: Iterable[FilesState]) -> dict[str, str]:
    """The state that the sources name, of all files of a home folder."""
    state: dict[str, str] = {}
    for source in sources:
        for name, value in files.items():
            belongs = source.path in ("", ".") or name == source.path or name.startswith(f"{source.path.rstrip('/')}/")
            if not belongs or any(fnmatchcase(name, pattern) for pattern in source.ignore):
                continue
            if source.folders or value != FOLDER:
                state[name] = value
    return state
