"""Files of a home folder by what is in them, and by kind, mode and target. Knows nothing of whose home it is."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from fnmatch import fnmatchcase
from pathlib import Path

from pipeline.app_state import inside
from pipeline.entry_state import FilesState
from pipeline.found_files import FOLDER, files_below, fingerprint, folders_below


def fingerprints(home: Path, folder: str) -> dict[str, str]:
    """SHA-256 of every file below a folder by its path relative to `home`, and its folders; raises ValueError.

    Links are left out; what goes while it is looked at is not there. The paths of folders end in `/`.
    """
    top, base = inside(home, folder), home.resolve()
    if top.is_file():
        return {}
    found = {f"{path.relative_to(base)}/": kind for path, kind in folders_below(top).items()}
    for path in files_below(top):
        value = fingerprint(path)
        if value is not None:
            found[str(path.relative_to(base))] = value
    return found


def shaped(files: Mapping[str, str], shapes: Mapping[str, str]) -> dict[str, str]:
    """Files and folders with their shape beside what is in them, and links, which are all shape.

    A shape is a letter for the kind, a mode in octal, and after a space where a link leads; paths of shapes have no
    final `/`.
    """
    links = {path: shape for path, shape in shapes.items() if shape.startswith("l")}
    return links | {path: f"{value} {shapes.get(path.rstrip('/'), '')}" for path, value in files.items()}


def state_of(files: Mapping[str, str], sources: Iterable[FilesState]) -> dict[str, str]:
    """The state that the sources name, of all files of a home folder, shaped or not."""
    state: dict[str, str] = {}
    for source in sources:
        for name, value in files.items():
            belongs = source.path in ("", ".") or name == source.path or name.startswith(f"{source.path.rstrip('/')}/")
            if not belongs or any(fnmatchcase(name, pattern) for pattern in source.ignore):
                continue
            if source.folders or value.partition(" ")[0] != FOLDER:
                state[name] = value
    return state
