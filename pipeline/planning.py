"""What is to be done and in which order: pure bookkeeping, no files, no Ray.

`missing` is the set difference between what a configuration asks for and what a dataset already holds; `Desk` hands
the missing work out, keeps a worker on the application it has already started, and takes faulty attempts back.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Collection, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import NamedTuple

from pipeline.episode import AttemptPlan, plan_attempt
from pipeline.identity import attempt_id_of
from pipeline.tasks import TaskSpec


class Tried(NamedTuple):
    """Attempts already made at a trajectory that has no final one: the last number, and how many broke."""

    last: int
    broken: int


class Origin(NamedTuple):
    """Where a trajectory begins, and with the steps of which earlier attempt; by default at its beginning."""

    start_segment: int = 0
    prefix_attempt_id: str | None = None


Origins = Mapping[tuple[int, str], Origin]
"""By round and task; what is not in it begins at its beginning."""

_ANEW: Origins = MappingProxyType({})


class Order(NamedTuple):
    """Everything that decides which trajectories a run consists of; `rounds` are the tasks of each, as far as known."""

    run_id: str
    policy_id: str
    rounds: Sequence[Sequence[TaskSpec]]
    seed: int
    attempts: int
    max_steps: int | None = None
    max_seconds: float | None = None
    origins: Origins = _ANEW

    @property
    def total(self) -> int:
        """How many trajectories these rounds have when they are whole."""
        return sum(map(len, self.rounds))


class Work(NamedTuple):
    """One attempt to be made."""

    task: TaskSpec
    plan: AttemptPlan

    @property
    def app_id(self) -> str:
        """The application it starts in."""
        return self.task.start.app_id


def missing(order: Order, final: Collection[str], tried: Mapping[str, Tried]) -> Iterator[list[Work]]:
    """Round by round, the work without a final attempt. Each round has its own seed, or it would repeat the first."""
    for round_, tasks in enumerate(order.rounds):
        planned = (_work(order, task, round_, tried) for task in tasks)
        yield [work for work in planned if work.plan.trajectory_id not in final]


def again(work: Work) -> Work | None:
    """The next attempt after a broken one; None when that was the last."""
    if work.plan.number >= work.plan.attempts:
        return None
    number = work.plan.number + 1
    attempt_id = attempt_id_of(work.plan.trajectory_id, number)
    return work._replace(plan=work.plan.model_copy(update={"number": number, "attempt_id": attempt_id}))


def _work(order: Order, task: TaskSpec, round_: int, tried: Mapping[str, Tried]) -> Work:
    origin = order.origins.get((round_, task.task_id), Origin())
    plan = plan_attempt(
        order.run_id,
        task.task_id,
        order.policy_id,
        seed=order.seed + round_,
        round=round_,
        attempts=order.attempts,
        max_steps=order.max_steps,
        max_seconds=order.max_seconds,
        **origin._asdict(),
    )
    before = tried.get(plan.trajectory_id)
    if before is None:
        return Work(task, plan)
    number = before.last + 1
    update = {
        "number": number,
        "attempt_id": attempt_id_of(plan.trajectory_id, number),
        "attempts": before.last + max(1, order.attempts - before.broken),
    }
    return Work(task, plan.model_copy(update=update))


class Desk:
    """Hands out work and knows how much is under way. Holds one round at a time."""

    def __init__(self, rounds: Iterator[list[Work]]) -> None:
        self._rounds = rounds
        self._queues: dict[str, deque[Work]] = {}
        self._seats: dict[int, str] = {}
        self._under_way = 0

    @property
    def idle(self) -> bool:
        """Whether nothing is under way and nothing is left."""
        return self._under_way == 0 and not self.waiting

    @property
    def waiting(self) -> bool:
        """Whether any work waits; opens the next round when this one is handed out."""
        while not any(self._queues.values()):
            following = next(self._rounds, None)
            if following is None:
                return False
            for work in following:
                self._queues.setdefault(work.app_id, deque()).append(work)
        return True

    def take(self, seat: int) -> Work | None:
        """Work for a worker: of the application it is on, else of the one with the fewest workers; None when out."""
        if not self.waiting:
            return None
        app_id = self._seats.get(seat)
        if app_id is None or not self._queues.get(app_id):
            app_id = min((app for app, queue in self._queues.items() if queue), key=self._crowding)
        self._seats[seat] = app_id
        self._under_way += 1
        return self._queues[app_id].popleft()

    def settle(self) -> None:
        """One piece of work has reached its end: a final attempt, or a cancelled one."""
        self._under_way -= 1

    def give_back(self, work: Work) -> None:
        """A broken attempt comes back as its next one; its application lets the others go first."""
        self._under_way -= 1
        queue = self._queues.pop(work.app_id, deque())
        queue.append(work)
        self._queues[work.app_id] = queue
        self._seats = {seat: app for seat, app in self._seats.items() if app != work.app_id}

    def _crowding(self, app_id: str) -> int:
        return sum(app == app_id for app in self._seats.values())
