"""The rollout side of a run: each seat keeps one worker busy with one attempt at a time.

A worker that dies or falls silent is ended and replaced; what it had not delivered is written down as lost and comes
back to the desk. At most one attempt per seat is under way, so the driver holds little however long the run is. What a
run consists of is not known here, nor what is done with its trajectories.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable, Coroutine
from typing import Any, NamedTuple

from pipeline.cluster import Place
from pipeline.episode import AttemptPlan
from pipeline.errors import EpisodeError, PathproofError, RunError, WorkerError
from pipeline.manifest import Assigned
from pipeline.planning import Desk, Work, again
from pipeline.records import now
from pipeline.sinks import LOST
from pipeline.stoprules import Meter
from pipeline.structs import Usage
from pipeline.supervision import LOOK_SECONDS, PUBLISH_SECONDS, Agency, Employee, Halt, ask, stop_for, unless, watch
from pipeline.tasks import TaskSpec
from pipeline.workers import AttemptReport, Delivery, Post, RolloutWorker

_FLUSH_SECONDS = 120.0
_SPARE_SECONDS = 120.0


class Office(NamedTuple):
    """What a seat needs to know of the run around it."""

    epoch: int
    policy: str
    policy_id: str
    desk: Desk
    committer: Any
    agency: Agency
    place: Place
    meter: Meter
    halt: Halt
    post: Callable[[str], Post]
    ended: Callable[[Work, AttemptReport], None]
    """Told of every attempt once its rows count."""


class Seat:
    """One place for a worker, and the worker that has it now."""

    def __init__(self, number: int, office: Office) -> None:
        self._number, self._office = number, office
        self._employee: Employee | None = None
        self._generation = 0
        self._open: dict[str, tuple[Work, Assigned]] = {}

    async def occupy(self) -> None:
        """Work until the desk is idle or the run halts; trouble that ends the run is called out, not raised."""
        try:
            while await self._move():
                pass
        except PathproofError as error:
            self._office.halt.call(stop_for(error))
        if self._employee is not None:
            await self._office.agency.retire(self._employee)
            self._employee = None

    async def _move(self) -> bool:
        """One move; false when there is none left to make."""
        office = self._office
        if office.desk.waiting and not office.halt.called.is_set():
            employee = self._employee or await self._hire()
            work = office.desk.take(self._number) if employee else None
            if employee is not None and work is not None:
                await self._attempt(employee, work)
        elif self._employee is not None and self._open:
            answer = self._employee.worker.flush.remote()
            await self._guarded(self._employee, ask(answer, _FLUSH_SECONDS, "flush"))
        elif office.halt.called.is_set() or office.desk.idle:
            return False
        else:
            await asyncio.sleep(LOOK_SECONDS)  # an attempt of another seat may break and come back
        return True

    async def _attempt(self, employee: Employee, work: Work) -> None:
        plan = work.plan.model_copy(update={"worker": employee.name, "node": employee.node})
        assigned = _assigned(work.task, plan, self._office)
        await ask(self._office.committer.assign.remote(assigned), PUBLISH_SECONDS, "committer")
        self._open[plan.attempt_id] = (work, assigned)
        worker = employee.worker
        running = worker.run.remote(work.task, plan)
        limit = _longest(work.task, plan)
        await self._guarded(employee, watch(worker, running, limit, self._office.halt, worker.cancel.remote))

    async def _hire(self) -> Employee | None:
        """A worker for this seat; null when it did not come up, or there is nothing left for it to do."""
        office = self._office
        self._generation += 1
        name = f"w{self._number}g{self._generation}"
        hiring = office.agency.hire(RolloutWorker, office.place, name, office.post(name))
        with contextlib.suppress(EpisodeError):
            # The others may finish while this one waits for a node.
            self._employee = await unless(hiring, lambda: office.desk.idle or office.halt.called.is_set())
        return self._employee

    async def _guarded(self, employee: Employee, work: Coroutine[Any, Any, Delivery]) -> None:
        """Wait for a delivery and make it count; a worker that fails is replaced later, its attempts are lost."""
        try:
            delivery = await work
        except WorkerError as error:
            await self._bury(employee, error)
            return
        if delivery.stop is not None:
            self._office.halt.call(delivery.stop)
        if delivery.batch is None:
            return
        if not await ask(self._office.committer.publish.remote(delivery.batch), PUBLISH_SECONDS, "committer"):
            await self._bury(employee, WorkerError("refused", "its rows came too late"))
            return
        for report in delivery.reports:
            work_done, _ = self._open.pop(report.attempt_id)
            self._settle(work_done, report)

    async def _bury(self, employee: Employee, error: WorkerError) -> None:
        self._office.agency.fire(employee, error)
        self._employee = None
        fault = LOST.model_copy(update={"message": f"worker {employee.name}: {error.message}"[:2000]})
        lost, self._open = self._open, {}
        for work, assigned in lost.values():
            final = again(work) is None
            revoked = self._office.committer.revoke.remote(assigned, final, fault)
            await ask(revoked, PUBLISH_SECONDS, "committer")
            self._settle(work, AttemptReport(assigned.attempt_id, final, "fault", fault, Usage()))

    def _settle(self, work: Work, report: AttemptReport) -> None:
        office = self._office
        following = again(work)
        if report.final or report.termination == "cancelled" or following is None:
            office.desk.settle()
        else:
            office.desk.give_back(following)
        office.meter.count(work.app_id, report.fault, report.usage)
        office.ended(work, report)
        reason = office.meter.stop_reason()
        if reason is not None:
            office.halt.call(RunError(reason))


def _assigned(task: TaskSpec, plan: AttemptPlan, office: Office) -> Assigned:
    return Assigned(
        epoch=office.epoch,
        attempt_id=plan.attempt_id,
        trajectory_id=plan.trajectory_id,
        task_id=task.task_id,
        policy_id=office.policy_id,
        policy=office.policy,
        seed=plan.seed,
        round=plan.round,
        start_segment=plan.start_segment,
        prefix_attempt_id=plan.prefix_attempt_id,
        number=plan.number,
        app_id=task.start.app_id,
        app_ids=task.app_ids,
        platform=task.platform,
        worker=plan.worker,
        node=plan.node,
        assigned_at=now(),
    )


def _longest(task: TaskSpec, plan: AttemptPlan) -> float:
    """Seconds after which a worker that has not answered is broken: all its own deadlines, and some to spare."""
    limits = plan.limits
    seconds = min(task.max_seconds, plan.max_seconds or task.max_seconds)
    seconds += task.max_seconds if plan.prefix_attempt_id else 0.0
    return limits.longest(task.platform, seconds) + _SPARE_SECONDS
