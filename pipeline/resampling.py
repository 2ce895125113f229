"""Which tasks begin at a later segment, and with whose steps: earlier attempts by which the segments before were done.

They are looked for in another dataset (`prefix_from`), or, where none is named, in what the earlier rounds of the same
run left. What was begun once keeps its prefix, however the datasets grow. Nothing is carried out here, and whether a
prefix still leads where it led is for the rollout to see.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from pipeline import manifest
from pipeline.config import GENERATE, RunConfig
from pipeline.dataset import Dataset
from pipeline.errors import ConfigError
from pipeline.file_names import RUN_FILE
from pipeline.manifest import Assigned
from pipeline.planning import Origin, Origins
from pipeline.query import query
from pipeline.records import Attempt
from pipeline.storage import Address, Storage, storage_of
from pipeline.tasks import TaskSpec

_ACCEPTED = """
SELECT t.task_id, t.attempt_id, e.round, list(c.segment) AS passed
FROM trajectories AS t
JOIN attempts AS e USING (run_id, attempt_id)
JOIN trace_grades AS g USING (run_id, attempt_id)
JOIN (
    SELECT run_id, attempt_id, segment FROM checks GROUP BY ALL HAVING bool_and(state = 'passed')
) AS c USING (run_id, attempt_id)
WHERE g.status = 'graded' AND len(g.side_effects) = 0
GROUP BY t.task_id, t.attempt_id, e.round, e.started_at
ORDER BY e.round, e.started_at, t.attempt_id
"""
"""Attempts that changed nothing they should not have, with the segments that held at their end, the oldest first."""


class _Candidate(NamedTuple):
    """An attempt and what it proved."""

    attempt_id: str
    round: int
    passed: frozenset[str]


def segment_number(task: TaskSpec, wanted: int | str) -> int | None:
    """The place of the segment in the task; null when it has none such, or it is the first."""
    names = [segment.name for segment in task.segments]
    number = wanted if isinstance(wanted, int) else names.index(wanted) if wanted in names else 0
    return number if 0 < number < len(names) else None


def resampled(config: RunConfig, tasks: Sequence[TaskSpec]) -> tuple[RunConfig, list[TaskSpec]]:
    """The configuration with its addresses whole, and the tasks that can begin where it says; raises ConfigError."""
    wanted = config.start_from_segment
    if not wanted:
        if config.prefix_from is not None:
            raise ConfigError("prefix_from: needs start_from_segment, which says where the prefix ends")
        return config, list(tasks)
    if config.tasks.set == GENERATE:
        raise ConfigError("start_from_segment: tasks that the run makes itself have no earlier attempts")
    cut = [task for task in tasks if segment_number(task, wanted) is not None]
    if not cut:
        raise ConfigError(f"start_from_segment: no task of '{config.tasks.set}' has a later segment {wanted!r}")
    if config.prefix_from is None:
        if config.rounds < 2:
            raise ConfigError("start_from_segment: needs prefix_from=DIR, or rounds=2 or more to begin with whole ones")
        return config, cut
    source = _source(config.prefix_from)
    begun = _origins([cut], wanted, _candidates(source), {})
    kept = [task for task in cut if (0, task.task_id) in begun]
    if not kept:
        raise ConfigError(
            f"prefix_from: {source.address} has no attempt at these tasks, with the same versions and limits, "
            f"that did what comes before segment {wanted!r} and nothing else"
        )
    return config.model_copy(update={"prefix_from": source.address}), kept


def origins_of(config: RunConfig, folder: Storage, rounds: Sequence[Sequence[TaskSpec]]) -> Origins:
    """With whose steps each task of each round begins; those that begin anew are not in it. Raises ConfigError."""
    wanted = config.start_from_segment
    if not wanted:
        return {}
    there = folder.size(RUN_FILE) is not None
    pinned = _pinned(folder) if there else {}
    if config.prefix_from is not None:
        return _origins(rounds, wanted, _candidates(_source(config.prefix_from)), pinned)
    later = [[], *rounds[1:]]
    return _origins(later, wanted, _candidates(folder) if there else {}, pinned, own=True)


def planned_rounds(
    config: RunConfig, rounds: Sequence[Sequence[TaskSpec]], origins: Origins
) -> Sequence[Sequence[TaskSpec]]:
    """The rounds without tasks that have nothing to begin with; whole ones come first where the run makes its own."""
    if not config.start_from_segment:
        return rounds
    whole = 0 if config.prefix_from is None else None
    return [
        [task for task in tasks if number == whole or (number, task.task_id) in origins]
        for number, tasks in enumerate(rounds)
    ]


def _origins(
    rounds: Sequence[Sequence[TaskSpec]],
    wanted: int | str,
    candidates: Mapping[str, Sequence[_Candidate]],
    pinned: Origins,
    *,
    own: bool = False,
) -> Origins:
    found = dict(pinned)
    for number, tasks in enumerate(rounds):
        for task in tasks:
            segment = segment_number(task, wanted)
            if segment is None or (number, task.task_id) in found:
                continue
            before = {one.name for one in task.segments[:segment]}
            earlier = [one for one in candidates.get(task.task_id, ()) if not own or one.round < number]
            fit = next((one for one in earlier if before <= one.passed), None)
            if fit is not None:
                found[number, task.task_id] = Origin(segment, fit.attempt_id)
    return found


def _pinned(folder: Storage) -> Origins:
    """What was begun with whose steps, finished or not."""
    dataset = Dataset(folder)
    begun: list[Attempt | Assigned] = [*dataset.rows(Attempt), *dataset.lost_attempts()]
    return {
        (one.round, one.task_id): Origin(one.start_segment, one.prefix_attempt_id)
        for one in begun
        if one.prefix_attempt_id is not None
    }


def _candidates(address: Address) -> dict[str, list[_Candidate]]:
    found: dict[str, list[_Candidate]] = {}
    for row in query(_ACCEPTED, [address]).to_pylist():
        one = _Candidate(row["attempt_id"], row["round"], frozenset(row["passed"]))
        found.setdefault(row["task_id"], []).append(one)
    return found


def _source(address: str) -> Storage:
    """The dataset that prefixes come from; raises ConfigError."""
    try:
        storage = manifest.storage_with_manifest(address)
        copied = manifest.read_run(storage).copied_at is not None
    except ConfigError as error:
        raise ConfigError(f"prefix_from: {error}") from error
    if copied:
        raise ConfigError(f"prefix_from: {storage.address} is a redacted copy: what was typed there cannot be repeated")
    return storage_of(storage)
