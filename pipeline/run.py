"""The composition root of a run: what is missing, who does it, what is written down, when it ends.

`collect` begins a run in a new folder, `resume` finishes one, `rejudge` verifies what is stored again. Each first
computes, read-only, what is missing, and starts nothing when nothing is.
"""

from __future__ import annotations

import asyncio
import contextlib
import signal
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any, NamedTuple
from uuid import uuid4

import pyarrow.fs as pafs
from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

from pipeline import judging, manifest, policies
from pipeline.apps import install, load_app
from pipeline.clients import Access
from pipeline.clients import Place as ModelPlace
from pipeline.cluster import Cluster, Place, connected, inside_job, joins_cluster
from pipeline.config import JUDGING_PARTS, PolicyConfig, RunConfig, StepJudgeConfig, parse_config
from pipeline.crew import Office, Seat
from pipeline.dataset import Dataset
from pipeline.doctor import chromium
from pipeline.errors import ConfigError, EpisodeError, PathproofError, RunError, SetupError
from pipeline.jury import Chamber, Jury
from pipeline.local_storage import LocalStorage
from pipeline.planning import Desk, Order, Tried, Work, missing
from pipeline.progress import Board
from pipeline.provenance import opening_rows, pass_row, prompt_rows
from pipeline.reaching import reach
from pipeline.records import ModelCall, PassRow, Prompt, digest
from pipeline.selection import select_tasks
from pipeline.serving import served, servers_of
from pipeline.sinks import LOST
from pipeline.stoprules import Meter
from pipeline.storage import LOCK_NAMES, Address, Storage, driver_lock, storage_of, store_errors
from pipeline.supervision import PUBLISH_SECONDS, Agency, Halt, actor, ask, offered, spelled, stop_for
from pipeline.tasks import TaskSpec
from pipeline.workers import AttemptReport, CommitterActor, Judgements, Post

_LOCAL_START_SECONDS = 180.0
_CLUSTER_START_SECONDS = 1800.0
_CLOCK_SECONDS = 1.0
_WORKERS_PER_JUDGE = 8


class Outcome(NamedTuple):
    """How a run ended: whole, or stopped for a reason. `started` is false when there was nothing to do."""

    folder: str
    reason: str | None
    started: bool


class Survey(NamedTuple):
    """What a folder holds of a run, seen without changing anything."""

    tasks: list[TaskSpec]
    final: set[str]
    tried: dict[str, Tried]
    lost: list[tuple[manifest.Assigned, bool]]
    """Attempts begun and never reported, and whether that was their trajectory's last try."""
    unjudged: list[str]
    passes: set[str]


class _Run(NamedTuple):
    """The fixed facts of one start."""

    folder: Storage
    run_id: str
    config: RunConfig
    board: Board


def collect(config: RunConfig, name: str, out: Address | None, board: Board) -> Outcome:
    """Begin a run in a new folder and bring it to its end; raises ConfigError or RunError."""
    tasks = select_tasks(config)
    config = config.model_copy(update={"apps": sorted({app for task in tasks for app in task.app_ids})})
    servers_of(config)  # what is wrong with its models is said before there is a folder
    run_id = digest("run", uuid4().hex)
    folder = new_folder(out or config.out, name, run_id)
    try:
        with _held(folder):
            _prepare(config, board)
            return _start(_Run(folder, run_id, config, board), tasks)
    except KeyboardInterrupt:
        raise RunError("interrupted before anything was written; begin again with the same command") from None
    finally:
        _withdraw(folder)


def resume(address: Address, board: Board) -> Outcome:
    """Finish a run with its stored configuration; raises ConfigError or RunError."""
    folder = storage_of(address)
    stored = manifest.read_run(folder)
    config = parse_config(stored.config)
    run = _Run(folder, stored.run_id, config, board)
    tasks = Dataset(folder).rows(TaskSpec) or select_tasks(config)
    survey = _survey(run, tasks)
    left = _order(run, tasks).total - len(survey.final)
    if not left and not survey.lost and not survey.unjudged:
        return Outcome(folder.address, None, started=False)
    with _held(folder):
        if left:
            _prepare(config, board)
        return _start(run, tasks)


def rejudge(address: Address, wanted: RunConfig, board: Board) -> Outcome:
    """Judge every stored trajectory in a new pass, with the judges and the panel of `wanted`."""
    folder = storage_of(address)
    stored = manifest.read_run(folder)
    own = parse_config(stored.config)
    # Nobody acts in this pass, so that no acting model has to be there.
    idle = {"policy": PolicyConfig(name="noop"), "step_judge": StepJudgeConfig()}
    taken = {part: getattr(wanted, part) for part in JUDGING_PARTS}
    config = own.model_copy(update={**taken, **idle})
    run = _Run(folder, stored.run_id, own.model_copy(update={"budget": wanted.budget}), board)
    with _held(folder), connected(own.workers, own.platform) as cluster:
        return asyncio.run(_Drive(run, cluster).rejudge(config))


class _Drive:
    """One epoch of a run, from claim to finish."""

    def __init__(self, run: _Run, cluster: Cluster) -> None:
        self._run, self._cluster = run, cluster
        self._halt = Halt()
        self._grades: Counter[str] = Counter()
        start_seconds = _LOCAL_START_SECONDS if cluster.local else _CLUSTER_START_SECONDS
        workers = run.config.workers
        self._agency = Agency(starts=4 * (workers + 1) * run.config.attempts, start_seconds=start_seconds)
        self._here = NodeAffinitySchedulingStrategy(cluster.node_id, soft=False)
        self._committer: Any = actor(CommitterActor, Place(0, {}), scheduling_strategy=self._here).remote(
            run.folder, run.run_id, run.config
        )
        self._meter = Meter(run.config.budget, run.config.faults, run.config.apps)

    async def collect(self, tasks: Sequence[TaskSpec]) -> Outcome:
        """Roll out what is missing, and judge what is not judged."""
        with _signals(self._halt):
            async with served(self._run.config, self._cluster, self._halt, self._run.board.say) as reachable:
                await self._roll_out(tasks, reachable)
        return await self._finish()

    async def rejudge(self, config: RunConfig) -> Outcome:
        """Judge every final attempt once more."""
        with _signals(self._halt):
            async with served(config, self._cluster, self._halt, self._run.board.say) as reachable:
                await self._judge_all(config, reachable)
        return await self._finish()

    async def _judge_all(self, config: RunConfig, reachable: RunConfig) -> None:
        calls: list[ModelCall] = []
        access = await reach(reachable, calls, scheduling_strategy=self._here)
        epoch = await ask(self._committer.claim.remote(), PUBLISH_SECONDS, "committer")
        again = pass_row(self._run.run_id, "rejudge", config, str(epoch))
        dataset = Dataset(self._run.folder)
        attempts = dataset.table("trajectories", ["attempt_id"]).column(0).to_pylist()
        known = {row.prompt_sha256 for row in dataset.rows(Prompt)}
        shown = [row for row in prompt_rows(judging.prompts(config)) if row.prompt_sha256 not in known]
        await self._record([*calls, *shown, again])
        jury = Jury(self._chamber(self._post(epoch, reachable, access), again))
        jury.add(attempts)
        self._run.board.expect("judged", len(attempts), 0)
        await self._together(jury, [])

    async def _roll_out(self, tasks: Sequence[TaskSpec], reachable: RunConfig) -> None:
        """Do what is missing; `reachable` is the configuration with the addresses of the servers we run."""
        config, calls = self._run.config, list[ModelCall]()
        access = await reach(reachable, calls, scheduling_strategy=self._here)
        epoch = await ask(self._committer.claim.remote(), PUBLISH_SECONDS, "committer")
        survey = await self._settle_past(tasks)
        order = _order(self._run, tasks)
        online, collected = (pass_row(self._run.run_id, kind, config) for kind in ("online", "collect"))
        begun = [online, collected] if config.step_judge.online else [collected]
        await self._record([*calls, *(row for row in begun if row.pass_id not in survey.passes)])
        post = self._post(epoch, reachable, access)
        jury = Jury(self._chamber(post, collected))
        jury.add(survey.unjudged)
        board = self._run.board
        board.expect("trajectories", order.total, len(survey.final))
        board.expect("judged", order.total, len(survey.final) - len(survey.unjudged))
        left = order.total - len(survey.final)
        desk = Desk(missing(order, survey.final, survey.tried))
        office = self._office(desk, jury, post._replace(online_pass=online.pass_id))
        await self._together(jury, [Seat(number, office) for number in range(min(left, config.workers))])

    async def _settle_past(self, tasks: Sequence[TaskSpec]) -> Survey:
        """Write down what older epochs left open, and the opening rows if they are not there yet."""
        survey = _survey(self._run, tasks)
        for attempt, final in survey.lost:
            await ask(self._committer.revoke.remote(attempt, final, LOST), PUBLISH_SECONDS, "committer")
        if not survey.tasks:
            config = self._run.config
            await self._record(opening_rows(config, tasks, [*policies.prompts(config), *judging.prompts(config)]))
        return _survey(self._run, tasks) if survey.lost else survey

    async def _together(self, jury: Jury, seats: list[Seat]) -> None:
        """Rollouts with verification behind them, until both are done or the run halts."""
        place = self._cluster.worker
        if seats and not offered(place):
            self._run.board.say(f"waiting for a node that offers {spelled(place)}")
        judges = 1 + self._run.config.workers // _WORKERS_PER_JUDGE
        async with asyncio.TaskGroup() as group:
            clock = group.create_task(self._watch_clock())
            sitting = [group.create_task(jury.sit(number)) for number in range(judges)]
            await asyncio.gather(*(group.create_task(seat.occupy()) for seat in seats))
            jury.close()
            await asyncio.gather(*sitting)
            clock.cancel()

    async def _finish(self) -> Outcome:
        reason = self._halt.reason
        try:
            await ask(self._committer.finish.remote(), PUBLISH_SECONDS, "committer")
        except PathproofError as error:
            reason = reason or stop_for(error)
        return Outcome(self._run.folder.address, str(reason) if reason else None, started=True)

    async def _watch_clock(self) -> None:
        while not self._halt.called.is_set():
            await asyncio.sleep(_CLOCK_SECONDS)
            reason = self._meter.stop_reason()
            if reason is not None:
                self._halt.call(RunError(reason))

    async def _record(self, rows: Sequence[Any]) -> None:
        await ask(self._committer.record.remote(rows), PUBLISH_SECONDS, "committer")

    def _office(self, desk: Desk, jury: Jury, post: Post) -> Office:
        def ended(work: Work, report: AttemptReport) -> None:
            if report.final:
                jury.add([report.attempt_id])
            faults = f"{self._meter.faults} faults" if self._meter.faults else ""
            self._run.board.advance("trajectories", int(report.final), f"{work.app_id} {faults}".strip())

        config = self._run.config
        return Office(
            epoch=post.epoch,
            policy=config.policy.name,
            policy_id=policies.policy_id(config),
            desk=desk,
            committer=self._committer,
            agency=self._agency,
            place=self._cluster.worker,
            meter=self._meter,
            halt=self._halt,
            post=lambda name: post._replace(name=name),
            ended=ended,
        )

    def _post(self, epoch: int, reachable: RunConfig, access: Mapping[ModelPlace, Access]) -> Post:
        return Post(self._run.folder, self._run.run_id, epoch, "", reachable, access)

    def _chamber(self, post: Post, row: PassRow) -> Chamber:
        def judged(done: Judgements) -> None:
            self._grades.update(done.grades)
            self._meter.spend(done.usage)
            note = ", ".join(f"{count} {grade}" for grade, count in sorted(self._grades.items()))
            self._run.board.advance("judged", done.attempts, note)

        return Chamber(
            pass_id=row.pass_id,
            committer=self._committer,
            agency=self._agency,
            place=self._cluster.judge,
            halt=self._halt,
            post=lambda name: post._replace(name=name),
            judged=judged,
        )


def _start(run: _Run, tasks: Sequence[TaskSpec]) -> Outcome:
    with connected(run.config.workers, run.config.platform) as cluster:
        try:
            return asyncio.run(_Drive(run, cluster).collect(tasks))
        except asyncio.CancelledError:
            raise RunError(f"interrupted at once; continue with: pathproof resume {run.folder.address}") from None


def _survey(run: _Run, tasks: Sequence[TaskSpec]) -> Survey:
    """What is there; an empty survey for a folder in which nothing has been published."""
    if run.folder.size(manifest.RUN_FILE) is None:
        return Survey([], set(), {}, [], [], set())
    dataset = Dataset(run.folder)
    wanted = {work.plan.trajectory_id for round_ in missing(_order(run, tasks), (), {}) for work in round_}
    final = dataset.finished_trajectories() & wanted
    tried: dict[str, Tried] = {}
    for row in dataset.table("attempts", ["trajectory_id", "number", "termination"]).to_pylist():
        _count(tried, row["trajectory_id"], row["number"], broken=row["termination"] == "fault")
    lost = []
    for attempt in dataset.lost_attempts():
        _count(tried, attempt.trajectory_id, attempt.number, broken=True)
        lost.append((attempt, tried[attempt.trajectory_id].broken >= run.config.attempts))
    passes = {row.pass_id for row in dataset.rows(PassRow)}
    return Survey(dataset.rows(TaskSpec), final, tried, lost, dataset.unjudged_attempts(), passes)


def _count(tried: dict[str, Tried], trajectory_id: str, number: int, *, broken: bool) -> None:
    before = tried.get(trajectory_id, Tried(0, 0))
    tried[trajectory_id] = Tried(max(before.last, number), before.broken + broken)


def _order(run: _Run, tasks: Sequence[TaskSpec]) -> Order:
    config = run.config
    return Order(
        run_id=run.run_id,
        policy_id=policies.policy_id(config),
        tasks=tasks,
        rounds=config.rounds,
        seed=config.seed,
        attempts=config.attempts,
    )


def _prepare(config: RunConfig, board: Board) -> None:
    """Prove there is a browser and install the applications, where the work happens on this machine.

    An application that cannot be installed is left to become a fault of its tasks. In a cluster the workers see to it.
    """
    if config.provider == "fake" or joins_cluster():
        return
    chromium()
    for app_id in config.apps:
        try:
            install(load_app(app_id))
        except SetupError as error:
            board.say(f"warning: {app_id}: {error.message.splitlines()[0]}")


def new_folder(out: Address | None, name: str, run_id: str) -> Storage:
    """Where a new run goes; raises ConfigError when something is there already."""
    home = Path.home() / "pathproof" / "runs" if inside_job() else Path("runs")
    day = datetime.now().astimezone().strftime("%Y%m%d")
    folder = storage_of(out or home / f"{day}-{Path(name).stem}-{run_id[:8]}")
    address = folder.address
    try:
        with store_errors():
            occupied, holds_run = folder.occupied(LOCK_NAMES), folder.size(manifest.RUN_FILE) is not None
    except OSError as error:
        raise ConfigError(f"out: {address} cannot be used ({error})") from error
    if holds_run:
        raise ConfigError(f"out: {address} holds a run; use `pathproof resume {address}`, or another folder")
    if occupied:
        raise ConfigError(f"out: {address} is not an empty folder")
    return folder


def _withdraw(folder: Storage) -> None:
    """Leave no folder of a run that never began: with nothing but its lock in it, it would be taken for a dataset."""
    with contextlib.suppress(OSError):
        found = {entry.base_name for entry in folder.files.get_file_info(pafs.FileSelector("", allow_not_found=True))}
        if not found - LOCK_NAMES:
            for name in found:
                folder.delete(name)
            if isinstance(folder, LocalStorage):
                folder.root.rmdir()


@contextlib.contextmanager
def _held(folder: Storage) -> Iterator[None]:
    """The folder is ours; what goes wrong in the block becomes one line for the user."""
    try:
        with driver_lock(folder):
            yield
    except EpisodeError as error:
        raise stop_for(error) from error


@contextlib.contextmanager
def _signals(halt: Halt) -> Iterator[None]:
    """The first Ctrl-C (or SIGTERM) ends the run in order, the second one at once."""
    loop = asyncio.get_running_loop()
    main = asyncio.current_task()

    def interrupted() -> None:
        if halt.called.is_set() and main is not None:
            main.cancel()
        halt.call(RunError("interrupted"))

    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, interrupted)
    try:
        yield
    finally:
        for number in (signal.SIGINT, signal.SIGTERM):
            loop.remove_signal_handler(number)
