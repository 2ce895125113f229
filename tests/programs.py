"""Programs and tasks of a desktop for tests: mousepad, which is real, and the pad of the fake machine."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from pipeline.app_entry import DebianInstall, ProgramEntry, WindowReady
from pipeline.debian_install import DESKTOP, missing
from pipeline.entry_state import FilesState
from pipeline.tasks import Start, TaskSpec, identified

NOTE = "Documents/note.txt"
TEXT = "aA<>_@#é你🙂|\"'\\`"
"""What keyboards and layouts lose in different ways."""

needs_desktop = pytest.mark.skipif(
    bool(missing([*DESKTOP, "mousepad", "galculator"])), reason="there is no desktop on this machine"
)


def program(app_id: str, kind: str, **changes: Any) -> ProgramEntry:
    """An entry with a note in its home folder."""
    said: dict[str, Any] = {
        "app_id": app_id,
        "title": app_id.title(),
        "version": "1",
        "platform": "desktop",
        "licence": "MIT",
        "folder": Path("/nonexistent"),
        "install": DebianInstall(packages=[app_id]),
        "start": [app_id],
        "ready": WindowReady(kind=f"^{kind}$", seconds=20),
        "state": [FilesState(path="Documents")],
        "files": {NOTE: "first line\n"},
        "probes": {
            "note": {"kind": "text", "path": NOTE, "pattern": "[^\n]+"},
            "files": {"kind": "files", "folder": "Documents", "fits": "*.txt"},
            "windows": {"kind": "windows"},
        },
    }
    return ProgramEntry.model_validate(said | changes)


MOUSEPAD = program("mousepad", "Mousepad")
PAD = program("pad", "Pad")


def desktop_task(entry: ProgramEntry = PAD, **changes: Any) -> TaskSpec:
    """A task that begins in a program."""
    said: dict[str, Any] = {
        "task_id": "",
        "app_ids": [entry.app_id],
        "platform": "desktop",
        "tier": "single",
        "instruction": "Write it down.",
        "language": "en",
        "capability_ids": [],
        "start": Start(app_id=entry.app_id),
        "contract_kind": "state",
        "segments": [],
        "domain": "Computer",
    }
    return identified(TaskSpec.model_validate(said | changes))
