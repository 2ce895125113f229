"""Self-tests on the real applications: a few shipped tasks of each hold, and a broken one does not."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from pipeline.envs import build
from pipeline.protocols import Environment
from pipeline.reaper import Scratch
from pipeline.tasks import TaskSpec
from pipeline.trials import configured
from taskspecs.selftest import selftest
from taskspecs.store import load_tasks

pytestmark = [pytest.mark.slow, pytest.mark.timeout(300)]

APPS = ("fava", "ihatemoney", "sqlite-web", "trac")
QUICKSTART = load_tasks("quickstart")


def some(app_id: str) -> list[TaskSpec]:
    """A task of each kind: on the state, for an answer, and one that cannot be done."""
    tasks = [task for task in QUICKSTART if task.app_ids == [app_id]]
    state, answer = (
        next(task for task in tasks if task.feasible and task.contract_kind == kind) for kind in ("state", "answer")
    )
    return [state, answer, next(task for task in tasks if not task.feasible)]


@pytest.fixture
async def environment() -> AsyncIterator[Environment]:
    with Scratch("test-selftest") as scratch:
        environment = build(configured(QUICKSTART, 1), scratch)
        try:
            yield environment
        finally:
            await environment.close()


@pytest.mark.parametrize("app_id", APPS)
async def test_shipped_tasks_hold(environment: Environment, app_id: str) -> None:
    trials = [await selftest(task, environment) for task in some(app_id)]

    assert [(trial.held, trial.detail, trial.fault) for trial in trials] == [(True, "", None)] * 3
    assert all(trial.mutants > 0 and trial.claims > 0 for trial in trials)


async def test_a_task_that_is_done_already_does_not(environment: Environment) -> None:
    task = some("trac")[0]
    done = task.checks[0].model_copy(update={"verifier": "count", "expected": ["0"]})
    segments = [task.segments[0].model_copy(update={"checks": [done]})]

    trial = await selftest(task.model_copy(update={"segments": segments}), environment)

    assert (trial.held, trial.reason) == (False, "noop_passes")
