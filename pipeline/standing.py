"""How far a run has come: its fixed facts, what its folder holds, and what it consists of.

Everything is seen without changing anything. Who does what is missing is not known here.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from pipeline import manifest, policies
from pipeline.config import GENERATE, RunConfig
from pipeline.dataset import Dataset
from pipeline.file_names import RUN_FILE
from pipeline.planning import Order, Tried, missing
from pipeline.progress import Board
from pipeline.records import PassRow, Validation, now
from pipeline.resampling import origins_of, planned_rounds
from pipeline.storage import Storage
from pipeline.tasks import Capability, TaskSpec
from taskspecs.validity import expired_tasks

Rounds = Sequence[Sequence[TaskSpec]]
"""The tasks of each round, as far as they are known."""


def rounds_of(config: RunConfig, tasks: Sequence[TaskSpec]) -> Rounds:
    """The tasks by rounds: a fixed set has the same in each; generated ones carry their round's seed."""
    if config.tasks.set != GENERATE:
        return [tasks] * config.rounds
    return [[task for task in tasks if task.seed == config.seed + number] for number in range(config.rounds)]


def unexpired(folder: Storage, rounds: Rounds) -> Rounds:
    """The rounds without the tasks that the folder's validations no longer hold for: nobody should try those."""
    if folder.size(RUN_FILE) is None:
        return rounds
    expired = expired_tasks(Dataset(folder).rows(Validation), now())
    return [[task for task in tasks if task.task_id not in expired] for tasks in rounds]


class Run(NamedTuple):
    """The fixed facts of one start."""

    folder: Storage
    run_id: str
    config: RunConfig
    board: Board


class Survey(NamedTuple):
    """What a folder holds of a run, seen without changing anything."""

    opened: bool
    """Whether the rows a run begins with are there."""
    final: set[str]
    tried: dict[str, Tried]
    lost: list[tuple[manifest.Assigned, bool]]
    """Attempts begun and never reported, and whether that was their trajectory's last try."""
    unjudged: list[str]
    passes: set[str]


def survey_of(run: Run, rounds: Rounds) -> Survey:
    """What is there; an empty survey for a folder in which nothing has been published."""
    if run.folder.size(RUN_FILE) is None:
        return Survey(False, set(), {}, [], [], set())
    dataset = Dataset(run.folder)
    wanted = {work.plan.trajectory_id for round_ in missing(order_of(run, rounds), (), {}) for work in round_}
    final = dataset.finished_trajectories() & wanted
    tried: dict[str, Tried] = {}
    for row in dataset.table("attempts", ["trajectory_id", "number", "termination"]).to_pylist():
        _count(tried, row["trajectory_id"], row["number"], broken=row["termination"] == "fault")
    lost = []
    for attempt in dataset.lost_attempts():
        _count(tried, attempt.trajectory_id, attempt.number, broken=True)
        lost.append((attempt, tried[attempt.trajectory_id].broken >= run.config.attempts))
    opened = bool(dataset.table("runs", ["run_id"]).num_rows)
    passes = {row.pass_id for row in dataset.rows(PassRow)}
    return Survey(opened, final, tried, lost, dataset.unjudged_attempts(), passes)


def unmade(run: Run, rounds: Rounds) -> bool:
    """Whether rounds are still to be made, or the last one to be written back."""
    if run.config.tasks.set != GENERATE:
        return False
    last = (row.round for row in Dataset(run.folder).rows(Capability))
    return not all(rounds) or run.config.rounds not in last


def _count(tried: dict[str, Tried], trajectory_id: str, number: int, *, broken: bool) -> None:
    before = tried.get(trajectory_id, Tried(0, 0))
    tried[trajectory_id] = Tried(max(before.last, number), before.broken + broken)


def order_of(run: Run, rounds: Rounds) -> Order:
    """Everything that decides which trajectories these rounds consist of."""
    config = run.config
    origins = origins_of(config, run.folder, rounds)
    return Order(
        run_id=run.run_id,
        policy_id=policies.policy_id(config),
        rounds=planned_rounds(config, rounds, origins),
        seed=config.seed,
        attempts=config.attempts,
        origins=origins,
    )
