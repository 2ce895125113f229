"""Builds the catalogs of several applications at once: each is one Ray actor's work.

What a document says is not known here; neither is where the catalogs are kept.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, MutableSequence, Sequence
from typing import NamedTuple

from catalogs.sources import Source
from pipeline.clients import Access
from pipeline.clients import Place as ModelPlace
from pipeline.cluster import Place, connected
from pipeline.config import GENERATE, RunConfig
from pipeline.errors import EpisodeError
from pipeline.reaching import reach
from pipeline.records import ModelCall
from pipeline.researching import Research, ResearchWorker
from pipeline.supervision import Agency, Employee, Halt, listen

_PLACE = Place(1.0, {})
_START_SECONDS = 180.0
_BUILD_SECONDS = 3600.0


class Question(NamedTuple):
    """What is to be read: a language or all, and at most so many documents of each place."""

    language: str | None = None
    most: int | None = None


class Answered(NamedTuple):
    """How the research of one application ended: with a catalog, or for a reason."""

    app_id: str
    research: Research | None
    reason: str = ""


def research_apps(
    sources: Sequence[Source],
    question: Question,
    config: RunConfig,
    tell: Callable[[str], None],
    ledger: MutableSequence[ModelCall],
) -> list[Answered]:
    """The catalogs of the sources' applications, as many at once as there are workers, sorted by application.

    `ledger` takes the calls that tried the model out. Raises ConfigError or RunError when the model cannot be used.
    """
    by_app = {
        app_id: [source for source in sources if source.app_id == app_id]
        for app_id in sorted({one.app_id for one in sources})
    }
    with connected(config.workers, config.platform):
        return asyncio.run(_research_all(by_app, question, config, tell, ledger))


async def _research_all(
    by_app: Mapping[str, Sequence[Source]],
    question: Question,
    config: RunConfig,
    tell: Callable[[str], None],
    ledger: MutableSequence[ModelCall],
) -> list[Answered]:
    # The one model that is called here is the one that would write tasks; nobody acts and nobody judges.
    reading = config.model_copy(update={"tasks": config.tasks.model_copy(update={"set": GENERATE}), "judges": []})
    access = await reach(reading, ledger) if config.model.name is not None else {}
    agency, places = Agency(2 * len(by_app), _START_SECONDS), asyncio.Semaphore(config.workers)

    async def one(app_id: str) -> Answered:
        async with places:
            return await _answered(app_id, by_app[app_id], question, config, access, agency, tell)

    return list(await asyncio.gather(*(one(app_id) for app_id in by_app)))


async def _answered(
    app_id: str,
    sources: Sequence[Source],
    question: Question,
    config: RunConfig,
    access: Mapping[ModelPlace, Access],
    agency: Agency,
    tell: Callable[[str], None],
) -> Answered:
    """One application's catalog; what breaks there does not concern the others."""
    employee: Employee | None = None
    try:
        employee = await agency.hire(ResearchWorker, _PLACE, app_id, config, access)
        working = employee.worker.build.remote(sources, question.language, question.most)
        return Answered(app_id, await listen(employee.worker, working, _BUILD_SECONDS, Halt(), tell))
    except EpisodeError as error:
        return Answered(app_id, None, f"{error.boundary}/{error.code}: {error.message.splitlines()[0]}")
    finally:
        if employee is not None:
            await agency.retire(employee)
