"""Self-tests of many tasks: the worker alone, and workers of Ray that die, hang and are stopped."""

from __future__ import annotations

import asyncio
import os
import tempfile
from pathlib import Path

import psutil
import pytest

from pipeline.cluster import Cluster
from pipeline.config import RunConfig
from pipeline.envs.fake import FakeEnvironment
from pipeline.errors import ConfigError, RunError
from pipeline.guardian import owner_of
from pipeline.reaper import PREFIX
from pipeline.supervision import Halt
from pipeline.tasks import TaskSpec, identified
from pipeline.trials import TrialWorker, configured, try_tasks
from taskspecs.selftest import Trial
from taskspecs.store import load_tasks
from tests.candidates import task as stranger
from tests.episodes import behind, fake_task, with_faults

pytestmark = pytest.mark.timeout(300)  # the first of them starts Ray

TASKS = load_tasks("fake")[:6]
BROKEN = fake_task("Add a to-do", expected_changes=["*"])


def config_of(workers: int = 2) -> RunConfig:
    return configured(TASKS, workers)


class Ear:
    """Hears what came of each task."""

    def __init__(self) -> None:
        self.found: dict[str, Trial] = {}
        self.count = 0
        self.first = asyncio.Event()

    def __call__(self, task: TaskSpec, trial: Trial) -> None:
        assert task.task_id == trial.task_id
        self.found[task.task_id] = trial
        self.count += 1
        self.first.set()


async def test_a_worker_tests_one_task_after_the_other_without_ray() -> None:
    worker = TrialWorker("alone", config_of())
    try:
        assert await worker.ready() == os.uname().nodename
        await worker.beat()
        held, lost = [await worker.run(task) for task in (TASKS[0], BROKEN)]
    finally:
        await worker.close()

    assert (held.held, lost.reason) == (True, "mutation_survives")


async def test_a_worker_that_was_not_made_ready_says_so() -> None:
    with pytest.raises(RunError, match="made ready"):
        await TrialWorker("alone", config_of()).run(TASKS[0])


async def test_a_cancelled_test_proves_nothing_and_answers() -> None:
    worker = TrialWorker("alone", config_of())
    try:
        await worker.ready()
        running = asyncio.create_task(worker.run(with_faults(TASKS[0], "hang_at: 0")))
        await acted(worker)
        await worker.cancel()
        trial = await running
    finally:
        await worker.close()

    assert (trial.held, trial.reason) == (False, None)
    assert trial.fault is not None and trial.fault.code == "cancelled"


def test_the_configuration_follows_the_applications() -> None:
    real = configured(load_tasks("quickstart"), 3)

    assert (config_of().provider, config_of().apps) == ("fake", ["fake-todo"])
    assert (real.provider, real.apps, real.workers) == ("chromium", ["fava", "ihatemoney", "sqlite-web", "trac"], 3)


@pytest.mark.parametrize("tasks", [[stranger()], [TASKS[0], stranger()], [*TASKS, *load_tasks("quickstart")]])
def test_applications_that_cannot_be_run_are_named(tasks: list[TaskSpec]) -> None:
    with pytest.raises(ConfigError, match=r"'(notes|fake-todo)' cannot be run"):
        configured(tasks, 1)


async def test_every_task_is_tested_once(ray_here: Cluster) -> None:
    ear = Ear()

    await try_tasks([*TASKS, BROKEN, TASKS[0]], config_of(), ray_here, ear, Halt())

    assert ear.count == len(ear.found) == len(TASKS) + 1
    assert [trial.task_id for trial in ear.found.values() if not trial.held] == [BROKEN.task_id]


@pytest.mark.slow
async def test_a_dead_worker_is_replaced_and_its_task_tested_again(ray_here: Cluster) -> None:
    slow = [identified(with_faults(task, "act_seconds: 0.5")) for task in TASKS[:2]]
    ear = Ear()
    testing = asyncio.create_task(try_tasks(slow, config_of(1), ray_here, ear, Halt()))
    await ear.first.wait()

    psutil.Process(await owner("t0g1")).kill()
    await testing

    assert [trial.held for trial in ear.found.values()] == [True, True]


@pytest.mark.slow
async def test_a_task_that_kills_its_workers_is_left_untested(
    ray_here: Cluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(TrialWorker, "run", _die)
    ear = Ear()

    await try_tasks(TASKS[:1], config_of(1), ray_here, ear, Halt())

    (trial,) = ear.found.values()
    assert (trial.held, trial.reason) == (False, None)
    assert trial.fault is not None and trial.fault.boundary == "worker"


async def test_a_halt_ends_it_early(ray_here: Cluster) -> None:
    slow = [identified(with_faults(task, "act_seconds: 0.3")) for task in TASKS]
    ear, halt = Ear(), Halt()
    testing = asyncio.create_task(try_tasks(slow, config_of(1), ray_here, ear, halt))
    await ear.first.wait()

    halt.call(RunError("interrupted"))
    with pytest.raises(RunError, match="interrupted"):
        await testing

    assert len(ear.found) < len(slow)


async def _die(self: TrialWorker, task: TaskSpec) -> Trial:
    os._exit(1)


async def acted(worker: TrialWorker) -> None:
    """Wait until something is done in the worker's environment."""
    environment = behind(worker._environment)
    assert isinstance(environment, FakeEnvironment)
    async with asyncio.timeout(60):
        while True:
            if environment._acts:
                return
            await asyncio.sleep(0.01)


async def owner(name: str) -> int:
    """The process of a worker, found as the owner of its scratch folder."""
    async with asyncio.timeout(60):
        while True:
            found = await asyncio.to_thread(_owner, name)
            if found is not None:
                return found
            await asyncio.sleep(0.05)


def _owner(name: str) -> int | None:
    owners = (owner_of(scratch) for scratch in Path(tempfile.gettempdir()).glob(f"{PREFIX}{name}-*"))
    return next((found for found in owners if found is not None), None)
