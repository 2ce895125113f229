"""Explores several applications at once: each is one Ray actor's work, and one committer makes the rows count.

What an exploration does is not known here; neither is who reads the figures.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import NamedTuple

from catalogs.explore import Line, Report
from pipeline.cataloguing import catalog_folder
from pipeline.cluster import Cluster, connected
from pipeline.errors import EpisodeError
from pipeline.exploring import CatalogWorker, Errand, Findings
from pipeline.sinks import Batch, Committer
from pipeline.storage import Address
from pipeline.supervision import Agency, Employee, Halt, listen
from pipeline.tasks import Capability

_START_SECONDS = 180.0
_SPARE_SECONDS = 240.0
"""For resets, an installation and writing, beside the budget."""

Heard = Callable[[str, Line], None]


class Ended(NamedTuple):
    """How the exploration of one application ended: with a report, or for a reason."""

    app_id: str
    report: Report | None
    reason: str = ""


class Camp(NamedTuple):
    """What every application's exploration needs of the whole; `publish` makes rows count."""

    agency: Agency
    cluster: Cluster
    heard: Heard
    halt: Halt
    publish: Callable[[Batch], Awaitable[object]]


def explore_apps(
    app_ids: Sequence[str], errand: Errand, out: Address | None, heard: Heard, ended: Callable[[Ended], None]
) -> None:
    """Explore applications with the environments of the configuration's workers; `ended` is told of each.

    Each application has its own; those that are left over help where there are fewer applications than workers. With
    `out` the rows go to a dataset folder, a new one or one that is there. Raises RunError or ConfigError.
    """
    workers = errand.config.workers
    with _destination(out, errand) as (sent, committer), connected(workers, errand.config.platform) as cluster:

        async def publish(batch: Batch) -> None:
            if committer is not None:
                await asyncio.to_thread(committer.publish, batch)

        camp = Camp(Agency(2 * len(app_ids), _START_SECONDS), cluster, heard, Halt(), publish)
        asyncio.run(explore_all(dict.fromkeys(app_ids), sent, workers, camp, ended))


async def explore_all(
    known: Mapping[str, list[Capability] | None],
    errand: Errand,
    workers: int,
    camp: Camp,
    ended: Callable[[Ended], None],
) -> None:
    """Explore applications on a Ray that is there; null in place of what is known stands for the shipped catalog."""
    places = asyncio.Semaphore(workers)
    # Several browsers in one actor need a machine that has room for them; of a cluster's nodes nothing is known.
    hands = max(1, workers // max(1, len(known))) if camp.cluster.local else 1

    async def one(number: int, app_id: str) -> None:
        async with places:
            if not camp.halt.called.is_set():
                ended(
                    await _explored(
                        app_id, known[app_id], errand._replace(name=f"{errand.name}{number}", hands=hands), camp
                    )
                )

    await asyncio.gather(*(one(number, app_id) for number, app_id in enumerate(known)))


async def _explored(app_id: str, known: list[Capability] | None, errand: Errand, camp: Camp) -> Ended:
    """One application's exploration; what breaks there does not concern the others."""
    employee: Employee | None = None
    try:
        employee = await camp.agency.hire(CatalogWorker, camp.cluster.worker.times(errand.hands), errand.name, errand)
        working = employee.worker.explore.remote(app_id, known)
        most = errand.budget.seconds + _SPARE_SECONDS
        findings: Findings = await listen(employee.worker, working, most, camp.halt, partial(camp.heard, app_id))
    except EpisodeError as error:
        return Ended(app_id, None, f"{error.boundary}/{error.code}: {error.message.splitlines()[0]}")
    finally:
        if employee is not None:
            await camp.agency.retire(employee)
    if findings.batch is not None:
        await camp.publish(findings.batch)
    return Ended(app_id, findings.report)


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
