"""Explores several applications at once: each is one Ray actor's work, and one committer makes the rows count.

What an exploration does is not known here; neither is who reads the figures.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Awaitable, Callable, Iterator, Sequence
from typing import NamedTuple

from catalogs.explore import Line, Report
from pipeline.cataloguing import catalog_folder
from pipeline.cluster import Cluster, connected
from pipeline.errors import EpisodeError
from pipeline.exploring import CatalogWorker, Errand, Findings
from pipeline.sinks import Committer
from pipeline.storage import Address
from pipeline.supervision import Agency, Employee, Halt, ask, watch

_START_SECONDS = 180.0
_SPARE_SECONDS = 240.0
"""For resets, an installation and writing, beside the budget."""
_LISTEN_SECONDS = 1.0
_ANSWER_SECONDS = 30.0

Heard = Callable[[str, Line], None]


class Ended(NamedTuple):
    """How the exploration of one application ended: with a report, or for a reason."""

    app_id: str
    report: Report | None
    reason: str = ""


class _Camp(NamedTuple):
    """What every application's exploration needs of the whole."""

    agency: Agency
    cluster: Cluster
    committer: Committer | None
    heard: Heard


def explore_apps(
    app_ids: Sequence[str], errand: Errand, out: Address | None, heard: Heard, ended: Callable[[Ended], None]
) -> None:
    """Explore applications, as many at once as the configuration has workers; `ended` is told of each.

    With `out` the rows go to a dataset folder, a new one or one that is there. Raises RunError or ConfigError.
    """
    workers = min(errand.config.workers, len(app_ids))
    with _destination(out, errand) as (sent, committer), connected(workers, errand.config.platform) as cluster:
        camp = _Camp(Agency(2 * len(app_ids), _START_SECONDS), cluster, committer, heard)
        asyncio.run(_all(app_ids, sent, workers, camp, ended))


async def _all(
    app_ids: Sequence[str], errand: Errand, workers: int, camp: _Camp, ended: Callable[[Ended], None]
) -> None:
    places = asyncio.Semaphore(workers)

    async def one(number: int, app_id: str) -> None:
        async with places:
            ended(await _explored(app_id, errand._replace(name=f"explorer{number}"), camp))

    await asyncio.gather(*(one(number, app_id) for number, app_id in enumerate(app_ids)))


async def _explored(app_id: str, errand: Errand, camp: _Camp) -> Ended:
    """One application's exploration; what breaks there does not concern the others."""
    employee: Employee | None = None
    try:
        employee = await camp.agency.hire(CatalogWorker, camp.cluster.worker, errand.name, errand)
        working = employee.worker.explore.remote(app_id)
        findings = await _listening(employee, app_id, working, errand, camp.heard)
    except EpisodeError as error:
        return Ended(app_id, None, f"{error.boundary}/{error.code}: {error.message.splitlines()[0]}")
    finally:
        if employee is not None:
            await camp.agency.retire(employee)
    if findings.batch is not None and camp.committer is not None:
        await asyncio.to_thread(camp.committer.publish, findings.batch)
    return Ended(app_id, findings.report)


async def _listening(
    employee: Employee, app_id: str, working: Awaitable[Findings], errand: Errand, heard: Heard
) -> Findings:
    """Wait for the findings, and pass on what is found out meanwhile."""
    worker = employee.worker

    async def listen() -> None:
        for line in await ask(worker.heard.remote(), _ANSWER_SECONDS, "listening"):
            heard(app_id, line)

    async def keep_listening() -> None:
        while True:
            await asyncio.sleep(_LISTEN_SECONDS)
            await listen()

    listening = asyncio.create_task(keep_listening())
    try:
        findings = await watch(worker, working, errand.budget.seconds + _SPARE_SECONDS, Halt(), worker.beat.remote)
    finally:
        listening.cancel()
        with contextlib.suppress(asyncio.CancelledError, EpisodeError):
            await listening
    await listen()
    return findings


@contextlib.contextmanager
def _destination(out: Address | None, errand: Errand) -> Iterator[tuple[Errand, Committer | None]]:
    """Where the rows go, held for the length of the block; a folder without a run becomes one."""
    if out is None:
        yield errand, None
        return
    with catalog_folder(out, errand.config.model_dump(mode="json")) as folder:
        held = errand._replace(
            folder=folder.storage, run_id=folder.run_id, epoch=folder.committer.epoch, round=folder.round
        )
        yield held, folder.committer
