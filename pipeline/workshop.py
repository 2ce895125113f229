"""Makes the rounds of a run whose tasks are generated: catalog, drafts, gate, self-tests; and writes rounds back.

    capabilities of round n -> tasks of round n -> (rolled out and judged elsewhere) -> capabilities of round n + 1

A round's catalog is what ships, or the last round's with its trajectories written back; what broke is explored again.
Coverage so far decides which capabilities the round's tasks ask for. Every step is stored before the next one begins,
and one that is stored is not done again. How trajectories come about is not known here.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable, Mapping, Sequence
from datetime import date, timedelta
from pathlib import Path
from typing import Any, NamedTuple

from catalogs.coverage import SAMPLING, covered
from catalogs.explore import Budget, Line
from catalogs.rollouts import stored_rollouts
from catalogs.store import Known, load_catalog
from catalogs.writeback import taken_out, to_explore, written_back
from pipeline.actions import Model
from pipeline.clients import Access
from pipeline.clients import Place as ModelPlace
from pipeline.cluster import Cluster
from pipeline.config import RunConfig
from pipeline.dataset import Dataset
from pipeline.errors import EpisodeError, RunError
from pipeline.expedition import Camp, Ended, explore_all
from pipeline.exploring import Errand
from pipeline.making import DraftWorker
from pipeline.records import Rejection, Validation, now
from pipeline.sinks import Batch
from pipeline.standing import Run, rounds_of
from pipeline.supervision import Agency, Employee, Halt, watch
from pipeline.tasks import Capability, TaskSpec
from pipeline.trials import try_tasks
from taskspecs.authors import Written
from taskspecs.gate_sets import Contamination, load_contamination
from taskspecs.generate import Ask, Drafts
from taskspecs.proven import proven
from taskspecs.selftest import Trial
from taskspecs.sieve import Sieved, sieve
from taskspecs.validity import VALID_DAYS, validation_of

TASKS_PER_ROUND = 60
"""Where `tasks.limit` does not say how many."""

_EXPLORED_AGAIN = timedelta(days=30)
_BUDGET = Budget(seconds=180.0, states=20, edges=60)
_DRAFT_SECONDS = 1800.0


class Shop(NamedTuple):
    """What a workshop needs of the run around it; `record` and `publish` make rows count."""

    cluster: Cluster
    agency: Agency
    halt: Halt
    epoch: int
    record: Callable[[Sequence[Model]], Awaitable[None]]
    publish: Callable[[Batch], Awaitable[Any]]
    reachable: RunConfig
    access: Mapping[ModelPlace, Access]


class Workshop:
    """Makes round after round."""

    def __init__(self, run: Run, shop: Shop, today: date) -> None:
        self._run, self._shop, self._today = run, shop, today
        named = run.config.tasks.contamination
        self._benchmarks: Contamination | None = load_contamination(Path(named)) if named else None

    async def make(self, number: int) -> Known:
        """Have the tasks of a round; the capabilities as it knows them.

        Raises RunError when no task is left, after what was rejected is stored.
        """
        known = await self.catalog(number)
        earlier = rounds_of(self._run.config, await asyncio.to_thread(self._stored))
        if not earlier[number]:
            accepted = [task for tasks in earlier for task in tasks]
            made = await self._made(number, known, accepted)
            await self._shop.record(await asyncio.to_thread(self._new, made))
            if not any(isinstance(row, TaskSpec) for row in made):
                raise RunError(_none_left(number, made))
        return known

    async def catalog(self, number: int) -> Known:
        """The capabilities of a round, each with a row of its own."""
        board = self._run.board
        base = await asyncio.to_thread(self._base, number)
        left = _without(base, await asyncio.to_thread(self._known, number))
        # The last round is only written back: there is none after it whose tasks could use what was explored.
        wanted = self._to_explore(left, number) if number < self._run.config.rounds else {}
        if wanted:
            board.say(f"round {number}: exploring {', '.join(wanted)}")
            await self._explore(wanted, number)
        stored = await asyncio.to_thread(self._known, number)
        rest = _without(base, stored)
        if rest:
            tasks = await asyncio.to_thread(self._stored)
            whole = [*stored.values(), *rest.values()]
            out = taken_out(tasks, whole, now()) if number else []
            await self._shop.record([*rest.values(), *out])
        return dict(stored) | rest

    def _base(self, number: int) -> dict[str, Capability]:
        """What is known at the start of a round: as shipped, or the last round's with its trajectories written back."""
        if number == 0:
            shipped = [one for app_id in self._run.config.apps for one in load_catalog(app_id)]
            return {one.capability_id: one for one in shipped}
        before = self._known(number - 1)
        rollouts = list(stored_rollouts(self._run.folder, number - 1))
        changed = {one.capability_id: one for one in written_back(before.values(), rollouts, number, now())}
        return {name: one.model_copy(update={"round": number}) for name, one in (before | changed).items()}

    def _known(self, number: int) -> dict[str, Capability]:
        rows = Dataset(self._run.folder).rows(Capability)
        return {row.capability_id: row for row in rows if row.round == number}

    def _stored(self) -> list[TaskSpec]:
        return Dataset(self._run.folder).rows(TaskSpec)

    def _to_explore(self, left: Known, number: int) -> dict[str, list[Capability] | None]:
        """By application, what is to be tried; everything at first, later what broke or was not seen for long."""
        chosen = list(left.values()) if number == 0 else to_explore(left.values(), now(), _EXPLORED_AGAIN)
        wanted: dict[str, list[Capability] | None] = {}
        for app_id in sorted({one.app_id for one in chosen}):
            wanted[app_id] = [one for one in chosen if one.app_id == app_id]
        return wanted

    async def _explore(self, wanted: dict[str, list[Capability] | None], number: int) -> None:
        run, shop = self._run, self._shop
        # Looking for more is for the first round: later ones only look for what has gone from its screen.
        budget = _BUDGET._replace(only_for_broken=number > 0)
        # What writes can be confirmed only where the state can be read.
        asked = run.config.model_copy(update={"probes": "use"})
        errand = Errand(f"explorer{number}-", asked, budget, run.folder, run.run_id, shop.epoch, number)
        expected = sum(len(known or ()) for known in wanted.values())
        run.board.expect("explored", expected, 0)

        def heard(app_id: str, line: Line) -> None:
            run.board.advance("explored", int(not line.found), f"{app_id}: {line.status}")

        def ended(end: Ended) -> None:
            if end.report is None:
                run.board.say(f"warning: {end.app_id} could not be explored: {end.reason}")

        camp = Camp(shop.agency, shop.cluster, heard, shop.halt, shop.publish)
        await explore_all(wanted, errand, run.config.workers, camp, ended)
        if shop.halt.reason is not None:
            raise shop.halt.reason

    async def _made(self, number: int, known: Known, accepted: Sequence[TaskSpec]) -> list[Model]:
        """The rows of a round's tasks: those that hold, with their validations, and every rejection."""
        config = self._run.config
        written = await self._written(await asyncio.to_thread(self._ask, number), known)
        drafts = written.drafts
        sieved = self._sieved(drafts, known, accepted)
        validations: list[Validation] = []
        if config.probes == "use" and sieved.tasks:
            trials = await self._tried(sieved.tasks)
            last = sieved.last_days
            found = [validation_of(trial, now(), VALID_DAYS, last.get(task_id)) for task_id, trial in trials.items()]
            sieved = self._sieved(proven(drafts, sieved, trials), known, accepted)
            kept = {task.task_id for task in sieved.tasks}
            validations = [row for row in found if row is not None and row.task_id in kept]
        self._run.board.say(
            f"round {number}: {len(sieved.tasks)} tasks made, {len(sieved.rejections)} candidates rejected"
        )
        return [*sieved.tasks, *sieved.rejections, *validations, *written.calls]

    def _new(self, made: Sequence[Model]) -> list[Model]:
        """Without the rejections that are stored: a round that left no task rejects the same candidates again."""
        stored = {row.candidate_id for row in Dataset(self._run.folder).rows(Rejection)}
        return [row for row in made if not (isinstance(row, Rejection) and row.candidate_id in stored)]

    def _ask(self, number: int) -> Ask:
        config = self._run.config
        return Ask(
            app_ids=config.apps,
            today=self._today,
            count=config.tasks.limit or TASKS_PER_ROUND,
            seed=config.seed + number,
            weights=SAMPLING[config.tasks.sampling](covered([self._run.folder])),
            infeasible_rate=config.tasks.infeasible_rate,
            probes=config.probes,
        )

    async def _written(self, ask: Ask, known: Known) -> Written:
        shop, name = self._shop, f"d{ask.seed}"
        arguments = (name, shop.reachable, shop.access)
        employee: Employee | None = None
        try:
            employee = await shop.agency.hire(DraftWorker, shop.cluster.worker, name, *arguments)
            worker = employee.worker
            drafting = worker.draft.remote(ask, list(known.values()))
            written: Written = await watch(worker, drafting, _DRAFT_SECONDS, shop.halt, worker.beat.remote)
        except EpisodeError as error:
            raise RunError(f"tasks: nothing could be drafted: {error.code}: {error.message}") from error
        finally:
            if employee is not None:
                await shop.agency.retire(employee)
        for finding in written.findings:
            self._run.board.say(f"warning: {finding}")
        return written

    def _sieved(self, drafts: Drafts, known: Known, accepted: Sequence[TaskSpec]) -> Sieved:
        return sieve(
            drafts,
            self._today,
            allow=self._run.config.allow,
            accepted=accepted,
            contamination=self._benchmarks,
            known=known,
        )

    async def _tried(self, tasks: Sequence[TaskSpec]) -> dict[str, Trial]:
        trials: dict[str, Trial] = {}
        board = self._run.board
        board.expect("self-tested", len(tasks), 0)

        def heard(task: TaskSpec, trial: Trial) -> None:
            trials[task.task_id] = trial
            board.advance("self-tested", 1, f"{task.start.app_id}: {'holds' if trial.held else trial.reason}")

        await try_tasks(tasks, self._run.config, self._shop.cluster, heard, self._shop.halt)
        return trials


def _none_left(number: int, made: Sequence[Model]) -> str:
    reasons = Counter(row.reason for row in made if isinstance(row, Rejection))
    said = ", ".join(f"{count} {reason}" for reason, count in reasons.most_common()) or "none was drafted"
    return f"tasks: no task of round {number} was left ({said}); the table `rejections` says why of each"


def _without(base: Known, stored: Known) -> dict[str, Capability]:
    return {name: one for name, one in base.items() if name not in stored}
