"""The actor that explores applications: it owns a scratch folder and an environment, and writes what it saw itself.

A plain class that works without Ray as well. What is reported back is small: pictures and trees go into parts.
"""

from __future__ import annotations

import asyncio
import os
from typing import NamedTuple

from catalogs.explore import Budget, Explored, Line, Report, explore
from catalogs.store import load_catalog
from catalogs.subject import Subject
from pipeline import envs
from pipeline.apps import install_for, load_entry
from pipeline.config import RunConfig
from pipeline.errors import RunError
from pipeline.protocols import Environment
from pipeline.reaper import Scratch, sweep
from pipeline.sinks import Batch, PartWriter
from pipeline.storage import Address
from pipeline.tasks import Capability


class Errand(NamedTuple):
    """What an explorer is told once: its name, its configuration, and where its rows go, if anywhere."""

    name: str
    config: RunConfig
    budget: Budget
    folder: Address | None = None
    run_id: str = ""
    epoch: int = 0
    round: int = 0
    hands: int = 1
    """So many environments at once, each with an application of its own."""


class Findings(NamedTuple):
    """What an exploration brought back, without anything heavy; `batch` holds the rows where they are written."""

    capabilities: list[Capability]
    report: Report
    batch: Batch | None


class CatalogWorker:
    """Explores applications, one at a time."""

    def __init__(self, errand: Errand) -> None:
        self._errand = errand
        self._scratches: list[Scratch] = []
        self._environments: list[Environment] = []
        self._heard: list[Line] = []

    async def ready(self) -> str:
        """Make scratch folders and environments; the name of this machine. Raises SetupError."""
        await asyncio.to_thread(sweep)
        for hand in range(self._errand.hands):
            scratch = await asyncio.to_thread(Scratch, f"{self._errand.name}.{hand}")
            self._scratches.append(scratch)
            self._environments.append(envs.build(self._errand.config, scratch))
        return os.uname().nodename

    async def beat(self) -> None:
        """Answer, to show that the process and its loop are alive."""

    async def heard(self) -> list[Line]:
        """What has been found out since the last call."""
        lines, self._heard = self._heard, []
        return lines

    async def explore(self, app_id: str, known: list[Capability] | None = None) -> Findings:
        """Explore one application; `known` stands for its shipped catalog. Raises SetupError, EnvError or SinkError."""
        if not self._environments:
            raise RunError(f"explorer {self._errand.name} was not made ready")
        subject = await asyncio.to_thread(subject_of, app_id, self._errand.config)
        explored = await explore(
            subject,
            self._environments,
            load_catalog(app_id) if known is None else known,
            self._errand.budget,
            seed=self._errand.config.seed,
            round_=self._errand.round,
            tell=lambda line: self._heard.append(line),
        )
        batch = await asyncio.to_thread(self._written, explored)
        return Findings(explored.capabilities, explored.report, batch)

    async def close(self) -> None:
        """Leave nothing behind."""
        for environment in self._environments:
            await environment.close()
        for scratch in self._scratches:
            await asyncio.to_thread(scratch.close)

    def _written(self, explored: Explored) -> Batch | None:
        errand = self._errand
        if errand.folder is None:
            return None
        writer = PartWriter(errand.folder, errand.run_id, errand.epoch, errand.name)
        for rows in (explored.capabilities, explored.transitions, explored.frames, explored.trees):
            writer.add(rows)
        return writer.flush()


def subject_of(app_id: str, config: RunConfig) -> Subject:
    """The application as the explorer needs it, installed if need be; raises ConfigError or SetupError."""
    if config.provider == "fake":
        return Subject(app_id, language=load_catalog(app_id)[0].language)
    entry = load_entry(app_id)
    install_for(app_id, config.provider)
    return Subject(
        app_id=app_id,
        platform=entry.platform,
        language=load_catalog(app_id)[0].language,
        home=entry.home,
        resettable=bool(entry.state),
    )
