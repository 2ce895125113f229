"""What an agent may touch beside what it is asked for: rows of the state that the oracle leaves as they are.

They are those of the application's first state; where only the running application knows its rows, those whose numbers
go before the ones that the oracle touches. Knows nothing of what a task expects.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from pipeline.records import ProbeRead, Record
from pipeline.tasks import CHANGES
from taskspecs.fixture import first_keys

_NUMBERED = re.compile(r"(.*/)(\d+)")
_MOST = 1000


def untouched_keys(record: Record) -> list[str]:
    """Keys that stood in the state when a run began and that it has not changed, sorted."""
    end = record.observations[-1].observation_index if record.observations else 0
    reads = [read for read in record.probe_reads if read.probe == CHANGES and read.observation_index == end]
    touched = {row[0] for read in reads for row in read.value or [] if row}
    return sorted({key for read in reads for key in _standing(read)} - touched)


def numbered_before(rows: Iterable[Sequence[str]]) -> set[str]:
    """Keys `table/number` of rows that were there before: of a lower number, and next to one that was there."""
    keys: set[str] = set()
    for key, kind in rows:
        found = _NUMBERED.fullmatch(key)
        if found:
            last = int(found[2]) + (0 if kind == "added" else 2)
            keys |= {f"{found[1]}{number}" for number in range(max(1, last - _MOST), last)} - {key}
    return keys


def _standing(read: ProbeRead) -> Iterable[str]:
    known = first_keys(read.app_id)
    return numbered_before(read.value or []) if known is None else known
