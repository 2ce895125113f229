"""Which columns repeat when a run is made again with the same configuration and seed, and which cannot.

Identities hang on the run, times on the clock, places on who happened to be free; whatever else a run on applications
in memory writes is the same each time, however it was started. Live applications draw and answer a little differently
each time, so that of them pictures, trees, addresses and what was read off them do not repeat either.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

from pipeline.dataset import Dataset
from pipeline.schema import TABLES

NEVER = frozenset(
    {
        # identities that contain the run's
        "attempt_id",
        "call_id",
        "pass_id",
        "prefix_attempt_id",
        "reply_id",
        "run_id",
        "trajectory_id",
        # the clock
        "finished_at",
        "judged_at",
        "seconds",
        "seconds_act",
        "seconds_decide",
        "started_at",
        "updated_at",
        "validated_at",
        # the place
        "commit",
        "node",
        "versions",
        "worker",
    }
)
"""Columns that cannot repeat, in any table."""

LIVE: Mapping[str, frozenset[str]] = {
    "events": frozenset({"address", "detail", "message", "opener"}),
    "keypoints": frozenset({"frame_sha256s", "reason"}),
    "observations": frozenset(
        {"capture_error", "flags", "frame_sha256", "location", "title", "tree_error", "tree_sha256"}
    ),
    "probe_reads": frozenset({"value"}),
    "steps": frozenset({"action", "device_point", "device_point_end", "reply", "target"}),
    "verdicts": frozenset({"reason"}),
    "votes": frozenset({"frame_sha256s", "reason"}),
}
"""Further columns that need not repeat where a live application was looked at. Its frames and trees do not either."""

_ONCE = frozenset({"frames", "trees"})
_OF_THE_RUN = frozenset({"runs"})


def repeating_rows(folder: Path, *, live: bool) -> dict[str, list[str]]:
    """Every table's rows without what cannot repeat, as sorted JSON: equal for two runs that did the same."""
    dataset = Dataset(folder)
    tables = [table for table in TABLES if table not in _OF_THE_RUN and not (live and table in _ONCE)]
    return {table: _rows(dataset, table, live) for table in tables}


def _rows(dataset: Dataset, table: str, live: bool) -> list[str]:
    left_out = NEVER | (LIVE.get(table, frozenset()) if live else frozenset())
    found = dataset.table(table).to_pylist()
    rows = [
        json.dumps({name: value for name, value in row.items() if name not in left_out}, sort_keys=True, default=str)
        for row in found
    ]
    return sorted(set(rows) if table in _ONCE else rows)
