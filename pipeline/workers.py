"""The Ray actors of a run: thin, plain classes that own resources and pass small references, never pictures.

A rollout worker owns one scratch folder and one environment for its life and writes what it records itself; a judge
reads published records back; the committer is the one writer of the manifest. Each class works without Ray as well.
Who starts them, replaces them and decides what counts is not known here.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from pipeline import envs, manifest, policies
from pipeline.actions import Model
from pipeline.apps import install_for
from pipeline.budget import consumed
from pipeline.clients import Access, Clients
from pipeline.clients import Place as ModelPlace
from pipeline.config import RunConfig
from pipeline.dataset import Dataset
from pipeline.episode import AttemptPlan
from pipeline.errors import ConfigError, RunError, SetupError, WorkerError
from pipeline.held_steps import HeldStep, HeldSteps
from pipeline.judging import Judgement, build_bench, judge_record, longest
from pipeline.manifest import Assigned
from pipeline.policies.models import Models
from pipeline.prefix import Prefix
from pipeline.protocols import Environment
from pipeline.reaper import Scratch, sweep
from pipeline.records import ModelCall, Record
from pipeline.rollout import StoppedError, rollout
from pipeline.safety import gate_of
from pipeline.sinks import Batch, Committer, PartWriter
from pipeline.storage import Address, storage_of
from pipeline.structs import Fault, Usage
from pipeline.tasks import Capability, TaskSpec
from pipeline.vault import Vault, forget_variables, hushed
from pipeline.words import Termination

_KEEP_SECONDS = 2.0
"""How long a finished attempt may wait in the buffer for company: what is buffered dies with the worker."""

_PREFIXES = 32
"""So many are held, with their pictures; a further one takes the place of the oldest."""


class Post(NamedTuple):
    """What a worker is told once: whose rows it writes, where, under which name, and how it reaches the models."""

    folder: Address
    run_id: str
    epoch: int
    name: str
    config: RunConfig
    access: Mapping[ModelPlace, Access] | None = None
    online_pass: str = ""
    known: tuple[Capability, ...] = ()
    """Capabilities as this round knows them, where that differs from the shipped catalogs."""
    vault: Vault = Vault()


class AttemptReport(NamedTuple):
    """How an attempt ended, without anything heavy."""

    attempt_id: str
    final: bool
    termination: Termination
    fault: Fault | None
    usage: Usage


class Delivery(NamedTuple):
    """What a rollout worker has put on disk, and the attempts in it; empty while it buffers.

    `stop` says why the run as a whole cannot go on, if so.
    """

    batch: Batch | None
    reports: list[AttemptReport]
    stop: RunError | None = None


class Judgements(NamedTuple):
    """What a judge has put on disk, and how often it gave which grade or other status to trajectories.

    `left` are attempts it could not judge to the end; their calls are on disk too. `stop` says why, if not because it
    was told to end.
    """

    batch: Batch | None
    attempts: int
    grades: Counter[str]
    usage: Usage
    left: tuple[str, ...] = ()
    stop: RunError | WorkerError | None = None


class _Brought(NamedTuple):
    """An attempt before a judge: what is held of its steps so far, and where the calls made for it are noted."""

    task: TaskSpec
    record: Record
    standing: list[HeldStep]
    ledger: list[ModelCall]


class _Hearing(NamedTuple):
    """What became of one attempt before a judge: its judgement, or none, or what went wrong; and the calls made."""

    attempt_id: str
    outcome: Judgement | BaseException
    calls: list[ModelCall]


class RolloutWorker:
    """Runs attempts, one at a time."""

    def __init__(self, post: Post) -> None:
        self._post = post
        self._writer = PartWriter(post.folder, post.run_id, post.epoch, post.name)
        self._scratch: Scratch | None = None
        self._environment: Environment | None = None
        self._clients = Clients(post.config.llm, post.access or {})
        self._models = Models(post.config, self._clients, post.online_pass)
        self._prefixes: dict[tuple[str, int], Prefix] = {}
        self._known = {capability.capability_id: capability for capability in post.known}
        self._quiet = contextlib.ExitStack()
        self._running: asyncio.Task[Record] | None = None
        self._reports: list[AttemptReport] = []
        self._waiting_since = 0.0

    async def ready(self) -> str:
        """Make the scratch folder and the environment; the name of this machine. Raises RunError or SetupError.

        What dead workers of earlier runs left on this machine, because their guardian died with them, is removed.
        """
        node = _come_up(self._post)
        if self._post.vault:
            forget_variables(self._post.config.secrets)
            self._quiet.enter_context(hushed(self._post.vault))
        if self._post.config.provider != "fake":
            await asyncio.to_thread(_install, self._post.config)
        await asyncio.to_thread(sweep)
        self._scratch = await asyncio.to_thread(Scratch, self._post.name)
        self._environment = envs.build(self._post.config, self._scratch, self._post.vault)
        return node

    async def beat(self) -> None:
        """Answer, to show that the process and its loop are alive."""

    async def run(self, task: TaskSpec, plan: AttemptPlan) -> Delivery:
        """Make one attempt; the delivery is what the buffer gave up, often nothing. Raises SinkError."""
        if self._environment is None:
            raise RunError(f"worker {self._post.name} was not made ready")
        policy = policies.build(self._post.config, task, plan.seed, self._models, self._known)
        gate = gate_of(self._post.config, self._models.second_opinion())
        prefix = self._prefix(plan)  # at once: a cancellation must find the attempt running
        self._running = asyncio.create_task(rollout(task, self._environment, policy, gate, plan, prefix))
        try:
            return self._keep(await self._running)
        except StoppedError as stopped:
            self._buffer(stopped.record)
            return self._deliver(self._writer.flush())._replace(stop=stopped.reason)
        finally:
            self._running = None

    async def cancel(self) -> None:
        """End the running attempt as `cancelled`; its `run` still answers."""
        if self._running is not None:
            self._running.cancel()

    async def flush(self) -> Delivery:
        """Write and hand over what is buffered; raises SinkError."""
        return self._deliver(self._writer.flush())

    async def close(self) -> None:
        """Leave nothing behind."""
        await self._clients.close()
        if self._environment is not None:
            await self._environment.close()
        if self._scratch is not None:
            await asyncio.to_thread(self._scratch.close)
        self._quiet.close()

    def _prefix(self, plan: AttemptPlan) -> Prefix | None:
        """What the attempt begins with; raises RunError when it is not in its dataset any more."""
        if plan.prefix_attempt_id is None:
            return None
        key = plan.prefix_attempt_id, plan.start_segment
        if key not in self._prefixes:
            source = Dataset(self._post.config.prefix_from or self._post.folder)
            if len(self._prefixes) >= _PREFIXES:
                self._prefixes.pop(next(iter(self._prefixes)))
            self._prefixes[key] = Prefix(source.record(plan.prefix_attempt_id), plan.start_segment)
        return self._prefixes[key]

    def _keep(self, record: Record) -> Delivery:
        self._buffer(record)
        overdue = time.monotonic() - self._waiting_since > _KEEP_SECONDS
        return self._deliver(self._writer.flush() if overdue or record.attempt.fault else self._writer.take())

    def _buffer(self, record: Record) -> None:
        if not self._reports:
            self._waiting_since = time.monotonic()
        attempt = record.attempt
        usage = record.trajectory.usage
        self._reports.append(
            AttemptReport(attempt.attempt_id, attempt.final, attempt.termination, attempt.fault, usage)
        )
        self._writer.write(record)

    def _deliver(self, batch: Batch | None) -> Delivery:
        if batch is None:
            return Delivery(None, [])
        written = set(batch.attempts)
        reports = [report for report in self._reports if report.attempt_id in written]
        self._reports = [report for report in self._reports if report.attempt_id not in written]
        return Delivery(batch, reports)


class JudgeWorker:
    """Judges published attempts of one verification pass."""

    def __init__(self, post: Post, pass_id: str) -> None:
        self._post, self._pass_id = post, pass_id
        self._writer = PartWriter(post.folder, post.run_id, post.epoch, post.name)
        self._clients = Clients(post.config.llm, post.access or {})
        self._bench = build_bench(post.config, self._clients)
        self._dataset: Dataset | None = None
        self._held: HeldSteps | None = None
        self._running: list[asyncio.Task[Judgement]] = []

    async def ready(self) -> str:
        """The name of this machine, from which the dataset can be seen; raises RunError."""
        node = _come_up(self._post)
        self._dataset = Dataset(self._post.folder)
        self._held = HeldSteps(self._dataset, self._pass_id)
        return node

    async def beat(self) -> None:
        """Answer, to show that the process and its loop are alive."""

    async def judge(self, attempt_ids: Sequence[str]) -> Judgements:
        """Judge attempts from their published rows, at once where models are asked; raises RunError or SinkError."""
        if self._dataset is None:
            raise RunError(f"judge {self._post.name} was not made ready")
        await asyncio.to_thread(self._dataset.refresh)
        heard = await self._heard(self._dataset, attempt_ids)
        judged = [one.outcome for one in heard if isinstance(one.outcome, Judgement)]
        calls = [call for one in heard for call in one.calls]
        for judgement in judged:
            self._writer.add([*judgement.votes, *judgement.keypoints, *judgement.checks, *judgement.verdicts])
        self._writer.add(calls)
        batch = await asyncio.to_thread(self._writer.flush)
        stop = self._stop_of(heard)
        if batch is None and stop is None and judged:
            raise RunError(f"judge {self._post.name} had nothing to say of {', '.join(attempt_ids)}")
        traces = [verdict for one in judged for verdict in one.verdicts if verdict.target == "trace"]
        return Judgements(
            batch,
            len(judged),
            Counter(verdict.grade or verdict.status for verdict in traces),
            consumed(calls),
            tuple(one.attempt_id for one in heard if not isinstance(one.outcome, Judgement)),
            stop,
        )

    async def cancel(self) -> None:
        """End what is being judged; its `judge` still answers."""
        for hearing in self._running:
            hearing.cancel()

    async def close(self) -> None:
        """Close the connections."""
        await self._clients.close()

    async def _heard(self, dataset: Dataset, attempt_ids: Sequence[str]) -> list[_Hearing]:
        """Every attempt's judgement; programs take the processor, so without models one is made after the other."""
        held = await asyncio.to_thread(self._held.of, attempt_ids) if self._held else {}
        read = [
            _Brought(*await asyncio.to_thread(_stored, dataset, attempt_id), held.get(attempt_id, []), [])
            for attempt_id in attempt_ids
        ]
        if self._bench.models or self._bench.escalate:
            return await self._hear(read)
        heard: list[_Hearing] = []
        for brought in read:
            heard += await self._hear([brought])
            if not isinstance(heard[-1].outcome, Judgement):
                break
        untouched = attempt_ids[len(heard) :]
        return [*heard, *(_Hearing(attempt_id, asyncio.CancelledError(), []) for attempt_id in untouched)]

    async def _hear(self, read: Sequence[_Brought]) -> list[_Hearing]:
        """These attempts at once, until one fails or their time is over; then the others are ended."""
        self._running = [asyncio.create_task(self._judge(brought)) for brought in read]
        seconds = longest(self._post.config, [len(brought.record.steps) for brought in read])
        try:
            _, late = await asyncio.wait(self._running, timeout=seconds, return_when=asyncio.FIRST_EXCEPTION)
        finally:
            await self.cancel()
            outcomes = await asyncio.gather(*self._running, return_exceptions=True)
            self._running = []
        if late and all(isinstance(one, Judgement | asyncio.CancelledError) for one in outcomes):
            outcomes = [self._late(one, seconds) for one in outcomes]
        return [
            _Hearing(brought.record.attempt.attempt_id, outcome, brought.ledger)
            for brought, outcome in zip(read, outcomes, strict=True)
        ]

    def _late(self, outcome: Judgement | BaseException, seconds: float) -> Judgement | BaseException:
        if isinstance(outcome, Judgement):
            return outcome
        return WorkerError("judge_stuck", f"judge {self._post.name}: no judgement in {seconds:g} s")

    def _stop_of(self, heard: Sequence[_Hearing]) -> RunError | WorkerError | None:
        """Why not everything was judged; a bug is raised."""
        for one in heard:
            if isinstance(one.outcome, RunError | WorkerError):
                return one.outcome
            if not isinstance(one.outcome, Judgement | asyncio.CancelledError):
                raise one.outcome
        return None

    async def _judge(self, brought: _Brought) -> Judgement:
        task, record, standing, ledger = brought
        panel = self._post.config.panel
        return await judge_record(task, record, self._bench, panel, self._pass_id, ledger, standing)


class CommitterActor:
    """The one committer of a run, in a process of its own so that the driver's memory does not grow with the parts."""

    def __init__(self, folder: Address, run_id: str, config: RunConfig) -> None:
        self._folder, self._run_id, self._config = folder, run_id, config
        self._committer: Committer | None = None

    def claim(self) -> int:
        """Begin the next epoch; its number. Raises RunError or SinkError."""
        self._committer = Committer.claim(self._folder, self._run_id, self._config.model_dump(mode="json"))
        return self._committer.epoch

    def assign(self, attempt: Assigned) -> None:
        """Note that an attempt is about to begin."""
        self._claimed.assign([attempt])

    def publish(self, batch: Batch) -> bool:
        """Make a batch count; false when it was refused."""
        return self._claimed.publish(batch)

    def revoke(self, attempt: Assigned, final: bool, fault: Fault) -> bool:
        """Write an attempt down as lost; false when it has reported."""
        return self._claimed.revoke(attempt, final=final, fault=fault)

    def record(self, rows: Sequence[Model]) -> None:
        """Write the driver's own rows."""
        self._claimed.record(rows)

    def finish(self) -> None:
        """Mark the run as ended."""
        self._claimed.finish()

    def leave(self) -> None:
        """End the epoch, and leave the run as it was found."""
        self._claimed.leave()

    @property
    def _claimed(self) -> Committer:
        if self._committer is None:
            raise RunError("the committer was used before it had claimed an epoch")
        return self._committer


def _stored(dataset: Dataset, attempt_id: str) -> tuple[TaskSpec, Record]:
    record = dataset.record(attempt_id)
    return dataset.task(record.attempt.task_id), record


def _install(config: RunConfig) -> None:
    """Have the applications on this machine; one that cannot be had is a fault of the attempts that need it."""
    for app_id in config.apps:
        with contextlib.suppress(SetupError):
            install_for(app_id, config.provider)


def _come_up(post: Post) -> str:
    """Name of this machine, after proof that it sees the same dataset folder as the driver."""
    node = os.uname().nodename
    address = storage_of(post.folder).address
    try:
        seen = manifest.read_run(post.folder).run_id
    except (RunError, ConfigError) as error:
        raise RunError(f"out: {node} does not see {address}; use storage that every node shares") from error
    if seen != post.run_id:
        raise RunError(f"out: {address} is another folder on {node}; use storage that every node shares")
    return node
