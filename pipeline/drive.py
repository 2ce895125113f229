"""One epoch of a run: workers, judges and the committer, from the claim to the finish.

What is missing is done stretch by stretch: a fixed set of tasks is one stretch, tasks that are made round by round are
one each, so that a round is judged before the next one is made. How tasks are made is not known here.
"""

from __future__ import annotations

import asyncio
import contextlib
import signal
from collections import Counter
from collections.abc import Callable, Coroutine, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

from pipeline import exposure, judging, manifest, policies
from pipeline.clients import Access
from pipeline.clients import Place as ModelPlace
from pipeline.cluster import Cluster, Place
from pipeline.config import GENERATE, RunConfig
from pipeline.crew import Office, Seat
from pipeline.dataset import Dataset
from pipeline.errors import PathproofError, RunError
from pipeline.jury import Chamber, Jury
from pipeline.planning import Desk, Work, missing
from pipeline.provenance import opening_rows, pass_row, prompt_rows
from pipeline.reaching import reach
from pipeline.records import ModelCall, PassRow, Prompt
from pipeline.serving import served
from pipeline.sinks import LOST, Batch
from pipeline.standing import Rounds, Run, Survey, order_of, rounds_of, survey_of, unexpired
from pipeline.stoprules import Meter
from pipeline.supervision import PUBLISH_SECONDS, Agency, Halt, actor, ask, offered, spelled, stop_for
from pipeline.tasks import TaskSpec
from pipeline.vault import load_vault
from pipeline.workers import AttemptReport, CommitterActor, Judgements, Post
from pipeline.workshop import Shop, Workshop

_LOCAL_START_SECONDS = 180.0
_CLUSTER_START_SECONDS = 1800.0
_CLOCK_SECONDS = 1.0
_WORKERS_PER_JUDGE = 8


class Outcome(NamedTuple):
    """How a run ended: whole, or stopped for a reason. `started` is false when there was nothing to do."""

    folder: str
    reason: str | None
    started: bool


class Drive:
    """One epoch of a run, from claim to finish."""

    def __init__(self, run: Run, cluster: Cluster) -> None:
        self._run, self._cluster = run, cluster
        self._halt = Halt()
        self._grades: Counter[str] = Counter()
        self._seats = 0
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
        with _signals(self._halt, self._run.board.say):
            async with served(self._run.config, self._cluster, self._halt, self._run.board.say) as reachable:
                await self._roll_out(tasks, reachable)
        return await self._end(self._committer.finish)

    async def rejudge(self, config: RunConfig) -> Outcome:
        """Judge every final attempt once more."""
        with _signals(self._halt, self._run.board.say):
            async with served(config, self._cluster, self._halt, self._run.board.say) as reachable:
                await self._judge_all(config, reachable)
        return await self._end(self._committer.leave)

    async def _judge_all(self, config: RunConfig, reachable: RunConfig) -> None:
        calls: list[ModelCall] = []
        access = await reach(reachable, calls, scheduling_strategy=self._here)
        epoch = await ask(self._committer.claim.remote(), PUBLISH_SECONDS, "committer")
        again = pass_row(self._run.run_id, "rejudge", config, str(epoch))
        dataset = Dataset(self._run.folder)
        attempts = dataset.table("trajectories", ["attempt_id"]).column(0).to_pylist()
        await self._record([*calls, *_new_prompts(dataset, judging.prompts(config)), again])
        jury = Jury(self._chamber(self._post(epoch, reachable, access), again))
        jury.add(attempts)
        self._run.board.expect("judged", len(attempts), 0)
        await self._together(jury)

    async def _roll_out(self, tasks: Sequence[TaskSpec], reachable: RunConfig) -> None:
        """Do what is missing; `reachable` is the configuration with the addresses of the servers we run."""
        config, calls = self._run.config, list[ModelCall]()
        access = await reach(reachable, calls, scheduling_strategy=self._here)
        epoch = await ask(self._committer.claim.remote(), PUBLISH_SECONDS, "committer")
        rounds = rounds_of(config, tasks)
        survey = await self._settle_past(rounds)
        online, collected = (pass_row(self._run.run_id, kind, config) for kind in ("online", "collect"))
        begun = [online, collected] if config.step_judge.online else [collected]
        await self._record([*calls, *(row for row in begun if row.pass_id not in survey.passes)])
        post = self._post(epoch, reachable, access)
        jury = Jury(self._chamber(post, collected))
        jury.add(survey.unjudged)
        post = post._replace(online_pass=online.pass_id, vault=load_vault(config.secrets))
        await self._together(jury, self._rounds(epoch, rounds, jury, post))

    async def _rounds(self, epoch: int, rounds: Rounds, jury: Jury, post: Post) -> None:
        """All rounds at once where none depends on what came of the one before."""
        config = self._run.config
        if config.tasks.set == GENERATE:
            await self._generated(epoch, jury, post)
        elif config.start_from_segment and config.prefix_from is None:
            await self._resampled(rounds, jury, post)
        else:
            await self._stretch(rounds, jury, post)

    async def _resampled(self, rounds: Rounds, jury: Jury, post: Post) -> None:
        """Round after round: later ones begin with steps that were judged in earlier ones."""
        for number, tasks in enumerate(rounds):
            known = rounds[: number + 1]
            left_out = len(tasks) - len(order_of(self._run, known).rounds[number])
            if left_out:
                self._run.board.say(f"round {number}: {left_out} of {len(tasks)} tasks have nothing to begin with")
            await self._stretch(known, jury, post)
            await jury.settled()
            if self._halt.called.is_set():
                return

    async def _generated(self, epoch: int, jury: Jury, post: Post) -> None:
        """Round after round: make its tasks, roll them out, have them judged, write them back."""
        config, folder, halt = self._run.config, self._run.folder, self._halt
        shop = Shop(
            self._cluster, self._agency, halt, epoch, self._record, self._publish, post.config, post.access or {}
        )
        try:
            workshop = Workshop(self._run, shop, manifest.read_run(folder).started_at.date())
            for number in range(config.rounds):
                known = await workshop.make(number)
                rounds = rounds_of(config, Dataset(folder).rows(TaskSpec))[: number + 1]
                await self._stretch(rounds, jury, post._replace(known=tuple(known.values())))
                await jury.settled()
                if halt.called.is_set():
                    return
            await workshop.catalog(config.rounds)
        except PathproofError as error:
            halt.call(stop_for(error))

    async def _stretch(self, rounds: Rounds, jury: Jury, post: Post) -> None:
        """Roll out what is missing of these rounds, until it is done or the run halts."""
        rounds = unexpired(self._run.folder, rounds)
        order, survey = order_of(self._run, rounds), survey_of(self._run, rounds)
        left = order.total - len(survey.final)
        board = self._run.board
        board.expect("trajectories", order.total, len(survey.final))
        board.expect("judged", order.total, len(survey.final) - len(survey.unjudged))
        place = self._cluster.worker
        if left and not offered(place):
            board.say(f"waiting for a node that offers {spelled(place)}")
        desk = Desk(missing(order, survey.final, survey.tried))
        office = self._office(desk, jury, post)
        seats = [self._seats + number for number in range(min(left, self._run.config.workers))]
        self._seats += len(seats)
        await asyncio.gather(*(Seat(number, office).occupy() for number in seats))

    async def _settle_past(self, rounds: Rounds) -> Survey:
        """Write down what older epochs left open, and the opening rows if they are not there yet."""
        survey = survey_of(self._run, rounds)
        for attempt, final in survey.lost:
            await ask(self._committer.revoke.remote(attempt, final, LOST), PUBLISH_SECONDS, "committer")
        config = self._run.config
        prompts = [*policies.prompts(config), *judging.prompts(config)]
        if not survey.opened:
            await self._record(opening_rows(config, rounds[0], prompts))
        elif changed := _new_prompts(Dataset(self._run.folder), prompts):
            await self._record(changed)
        return survey_of(self._run, rounds) if survey.lost else survey

    async def _together(self, jury: Jury, work: Coroutine[Any, Any, None] | None = None) -> None:
        """Work with verification behind it, until both are done or the run halts."""
        judges = 1 + self._run.config.workers // _WORKERS_PER_JUDGE
        async with asyncio.TaskGroup() as group:
            watches = [group.create_task(self._watch_clock())]
            if self._cluster.local and all(server.listen == "loopback" for server in self._run.config.serving):
                watches.append(group.create_task(exposure.watch(self._halt.call)))
            sitting = [group.create_task(jury.sit(number)) for number in range(judges)]
            if work is not None:
                await work
            jury.close()
            await asyncio.gather(*sitting)
            for watch in watches:
                watch.cancel()

    async def _end(self, ending: Any) -> Outcome:
        reason = self._halt.reason
        try:
            await ask(ending.remote(), PUBLISH_SECONDS, "committer")
        except PathproofError as error:
            reason = reason or stop_for(error)
        return Outcome(self._run.folder.address, str(reason) if reason else None, started=True)

    async def _watch_clock(self) -> None:
        while not self._halt.called.is_set():
            await asyncio.sleep(_CLOCK_SECONDS)
            reason = self._meter.stop_reason()
            if reason is not None:
                self._halt.call(RunError(reason))

    async def _publish(self, batch: Batch) -> bool:
        return bool(await ask(self._committer.publish.remote(batch), PUBLISH_SECONDS, "committer"))

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
            say=self._run.board.say,
        )


def _new_prompts(dataset: Dataset, texts: Sequence[str]) -> list[Prompt]:
    """The rows of texts that the dataset does not have yet."""
    known = {row.prompt_sha256 for row in dataset.rows(Prompt)}
    return [row for row in prompt_rows(texts) if row.prompt_sha256 not in known]


@contextlib.contextmanager
def _signals(halt: Halt, say: Callable[[str], None]) -> Iterator[None]:
    """The first Ctrl-C (or SIGTERM) ends the run in order, the second one at once."""
    loop = asyncio.get_running_loop()
    main = asyncio.current_task()

    def interrupted() -> None:
        if halt.called.is_set() and main is not None:
            main.cancel()
            return
        say("interrupted: what is under way is being put away; Ctrl-C again ends it at once")
        halt.call(RunError("interrupted"))

    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, interrupted)
    try:
        yield
    finally:
        for number in (signal.SIGINT, signal.SIGTERM):
            loop.remove_signal_handler(number)
