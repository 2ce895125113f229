"""Self-tests of many tasks at once: each worker owns an environment and puts one task after the other through it.

The worker is a plain class that works without Ray. A worker that dies or falls silent is replaced, and its task tried
again. What a self-test proves is for taskspecs.selftest; what becomes of a task that does not hold is not known here.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
from collections.abc import Callable, Sequence
from typing import NamedTuple

from pipeline import envs
from pipeline.app_entry import entry_names, load_entry
from pipeline.apps import install_for
from pipeline.cluster import Cluster, connected, joins_cluster
from pipeline.config import RunConfig, parse_config
from pipeline.envs.fake_app import APP_ID
from pipeline.episode import Limits, plan_attempt
from pipeline.errors import ConfigError, EpisodeError, PathproofError, RunError, SetupError, WorkerError, fault_of
from pipeline.planning import Desk, Work, again
from pipeline.protocols import Environment
from pipeline.reaper import Scratch, sweep
from pipeline.supervision import LOOK_SECONDS, Agency, Employee, Halt, stop_for, watch
from pipeline.tasks import TaskSpec
from pipeline.vault import forget_variables
from pipeline.words import Platform
from taskspecs.selftest import ATTEMPTS, Trial, selftest

_START_SECONDS = 180.0
_CLUSTER_START_SECONDS = 1800.0
_SPARE_SECONDS = 60.0
_PLACES: dict[Platform, dict[str, str]] = {
    "web": {"platform": "web", "provider": "chromium"},
    "mobile": {"platform": "mobile", "provider": "handset"},
    "desktop": {"platform": "desktop", "provider": "xvfb"},
}
_TRIES = 2
"""Workers a task may cost before it is left untested."""

Heard = Callable[[TaskSpec, Trial], None]
"""Told of every task that has been tested."""


class TrialWorker:
    """Tests tasks, one at a time, in an environment of its own."""

    def __init__(self, name: str, config: RunConfig) -> None:
        self._name, self._config = name, config
        self._scratch: Scratch | None = None
        self._environment: Environment | None = None
        self._running: asyncio.Task[Trial] | None = None

    async def ready(self) -> str:
        """Have the applications, the scratch folder and the environment; the name of this machine. Raises SetupError.

        An application that cannot be had is a fault of the tasks that need it.
        """
        forget_variables(self._config.secrets)
        await asyncio.to_thread(_install, self._config)
        await asyncio.to_thread(sweep)
        self._scratch = await asyncio.to_thread(Scratch, self._name)
        self._environment = envs.build(self._config, self._scratch)
        return os.uname().nodename

    async def beat(self) -> None:
        """Answer, to show that the process and its loop are alive."""

    async def run(self, task: TaskSpec) -> Trial:
        """Put one task to the test."""
        if self._environment is None:
            raise RunError(f"worker {self._name} was not made ready")
        self._running = asyncio.create_task(selftest(task, self._environment))
        try:
            return await self._running
        finally:
            self._running = None

    async def cancel(self) -> None:
        """End the running test, which then proves nothing; its `run` still answers."""
        if self._running is not None:
            self._running.cancel()

    async def close(self) -> None:
        """Leave nothing behind."""
        if self._environment is not None:
            await self._environment.close()
        if self._scratch is not None:
            await asyncio.to_thread(self._scratch.close)


class _Court(NamedTuple):
    """What a seat needs to know of the whole."""

    config: RunConfig
    cluster: Cluster
    desk: Desk
    agency: Agency
    halt: Halt
    heard: Heard


def try_all(tasks: Sequence[TaskSpec], config: RunConfig, heard: Heard) -> None:
    """Test tasks with the workers of a configuration; raises RunError when not all could be tested."""
    if not joins_cluster():
        _install(config)
    with connected(config.workers, config.platform) as cluster:
        asyncio.run(try_tasks(tasks, config, cluster, heard, Halt()))


async def try_tasks(tasks: Sequence[TaskSpec], config: RunConfig, cluster: Cluster, heard: Heard, halt: Halt) -> None:
    """Test tasks on a Ray that is there, each once; raises RunError when the halt is called before all are tested."""
    works = [
        Work(task, plan_attempt("selftest", task_id, "oracle", seed=0, attempts=_TRIES))
        for task_id, task in {task.task_id: task for task in tasks}.items()
    ]
    start_seconds = _START_SECONDS if cluster.local else _CLUSTER_START_SECONDS
    seats = min(config.workers, len(works))
    court = _Court(config, cluster, Desk(iter([works])), Agency(4 * (seats + 1), start_seconds), halt, heard)
    await asyncio.gather(*(_Seat(number, court).occupy() for number in range(seats)))
    if halt.reason is not None:
        raise halt.reason


class _Seat:
    """One place for a worker, and the worker that has it now."""

    def __init__(self, number: int, court: _Court) -> None:
        self._number, self._court = number, court
        self._employee: Employee | None = None
        self._generation = 0

    async def occupy(self) -> None:
        """Test until nothing is left or the halt is called; trouble that ends the whole is called out."""
        court = self._court
        try:
            while not court.halt.called.is_set() and not court.desk.idle:
                work = court.desk.take(self._number)
                if work is None:
                    await asyncio.sleep(LOOK_SECONDS)  # a test of another seat may break and come back
                else:
                    await self._test(work)
        except PathproofError as error:
            court.halt.call(stop_for(error))
        finally:
            if self._employee is not None:
                await court.agency.retire(self._employee)

    async def _test(self, work: Work) -> None:
        """One test; a worker that fails is replaced, and its task comes back or is left untested."""
        court = self._court
        try:
            employee = self._employee = self._employee or await self._hire()
            worker = employee.worker
            running = worker.run.remote(work.task)
            trial: Trial = await watch(worker, running, _longest(work.task), court.halt, worker.cancel.remote)
        except EpisodeError as error:
            self._dismiss(error)
            following = again(work)
            if following is not None:
                court.desk.give_back(following)
                return
            trial = Trial(task_id=work.task.task_id, held=False, fault=fault_of(error))
        court.desk.settle()
        court.heard(work.task, trial)

    async def _hire(self) -> Employee:
        court = self._court
        self._generation += 1
        name = f"t{self._number}g{self._generation}"
        return await court.agency.hire(TrialWorker, court.cluster.worker, name, name, court.config)

    def _dismiss(self, error: EpisodeError) -> None:
        if self._employee is not None:
            self._court.agency.fire(self._employee, WorkerError(error.code, error.message))
        self._employee = None


def configured(tasks: Sequence[TaskSpec], workers: int) -> RunConfig:
    """The configuration under which tasks are tested; raises ConfigError where their applications do not ship."""
    apps = sorted({app_id for task in tasks for app_id in task.app_ids})
    if apps == [APP_ID]:
        return parse_config({"provider": "fake", "apps": apps, "workers": workers})
    unknown = [app_id for app_id in apps if app_id not in entry_names()]
    if unknown:
        raise ConfigError(f"tasks: '{unknown[0]}' cannot be run; applications: {', '.join(entry_names())}")
    platforms = {load_entry(app_id).platform for app_id in apps}
    if len(platforms) > 1:
        raise ConfigError(f"tasks: test those of one platform at a time, here are {', '.join(sorted(platforms))}")
    return parse_config({"apps": apps, "workers": workers, **_PLACES[next(iter(platforms), "web")]})


def _install(config: RunConfig) -> None:
    if config.provider == "fake":
        return
    for app_id in config.apps:
        with contextlib.suppress(SetupError):
            install_for(app_id, config.provider)


def _longest(task: TaskSpec) -> float:
    """Seconds after which a worker that has not answered is broken: all its own deadlines, and some to spare."""
    return ATTEMPTS * Limits().longest(task.platform, task.max_seconds) + _SPARE_SECONDS
