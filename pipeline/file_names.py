"""What the files of a dataset are called, and what their names say.

Numbers are written without leading zeros, so that each file has one name. Knows nothing of what the files hold.
"""

from __future__ import annotations

import re
from typing import NamedTuple

MANIFEST = "manifest"
EPOCHS = "epochs"
RUN_FILE = "run.json"
VIEWS_FILE = "views.sql"
REPORT_FILE = "report.html"

WORKER = r"[A-Za-z0-9][A-Za-z0-9_.-]*"
"""What a worker's name looks like, as part of a file name."""

PART_PATH = rf"^[a-z_]+/part-\d+-{WORKER}-\d+\.parquet$"

_PART = re.compile(rf"part-(\d+)-({WORKER})-(\d+)\.parquet")
_OBJECT = re.compile(r"([1-9]\d*)-([1-9]\d*)\.jsonl")
_EPOCH = re.compile(r"([1-9]\d*)\.json")


class ObjectName(NamedTuple):
    """The name of a manifest object; sorts in the order of publishing."""

    epoch: int
    number: int

    @property
    def path(self) -> str:
        """Relative to the folder."""
        return f"{MANIFEST}/{self.epoch}-{self.number}.jsonl"


class PartName(NamedTuple):
    """What a part's file name says."""

    epoch: int
    worker: str
    number: int

    def __str__(self) -> str:
        return f"part-{self.epoch}-{self.worker}-{self.number}.parquet"


def part_name(file_name: str) -> PartName | None:
    """What a file name says, or null when it is not a part's."""
    match = _PART.fullmatch(file_name)
    return PartName(int(match[1]), match[2], int(match[3])) if match else None


def object_name(file_name: str) -> ObjectName | None:
    """What a file name says, or null when it is not a manifest object's."""
    match = _OBJECT.fullmatch(file_name)
    return ObjectName(int(match[1]), int(match[2])) if match else None


def claimed_epoch(file_name: str) -> int | None:
    """The epoch that a file of this name claims, or null when it claims none."""
    match = _EPOCH.fullmatch(file_name)
    return int(match[1]) if match else None


def claim_path(epoch: int) -> str:
    """Where an epoch is claimed, relative to the folder."""
    return f"{EPOCHS}/{epoch}.json"
