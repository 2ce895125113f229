"""Self-tests of many tasks: a worker that owns an environment and puts one task after the other through it.

The worker is a plain class that works without Ray. What a self-test proves is for taskspecs.selftest.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Sequence

from pipeline import envs
from pipeline.app_entry import app_names
from pipeline.config import RunConfig, parse_config
from pipeline.envs.fake_app import APP_ID
from pipeline.errors import ConfigError, RunError
from pipeline.protocols import Environment
from pipeline.reaper import Scratch, sweep
from pipeline.tasks import TaskSpec
from taskspecs.selftest import Trial, selftest


class TrialWorker:
    """Tests tasks, one at a time, in an environment of its own."""

    def __init__(self, name: str, config: RunConfig) -> None:
        self._name, self._config = name, config
        self._scratch: Scratch | None = None
        self._environment: Environment | None = None

    async def ready(self) -> str:
        """Make the scratch folder and the environment; the name of this machine. Raises SetupError."""
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
        return await selftest(task, self._environment)

    async def close(self) -> None:
        """Leave nothing behind."""
        if self._environment is not None:
            await self._environment.close()
        if self._scratch is not None:
            await asyncio.to_thread(self._scratch.close)


def configured(tasks: Sequence[TaskSpec], workers: int) -> RunConfig:
    """The configuration under which tasks are tested; raises ConfigError where their applications do not ship."""
    apps = sorted({app_id for task in tasks for app_id in task.app_ids})
    if apps == [APP_ID]:
        return parse_config({"provider": "fake", "apps": apps, "workers": workers})
    unknown = [app_id for app_id in apps if app_id not in app_names()]
    if unknown:
        raise ConfigError(f"tasks: '{unknown[0]}' cannot be run; applications: {', '.join(app_names())}")
    return parse_config({"apps": apps, "workers": workers})
