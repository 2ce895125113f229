"""Judges that are late, stopped or dead: what they leave behind, who is told, and what is judged again."""

from __future__ import annotations

import asyncio
import json
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from pipeline import workers
from pipeline.check import check
from pipeline.clients import Access, place_of
from pipeline.cluster import Place
from pipeline.config import BudgetConfig, RunConfig, override_config
from pipeline.dataset import Dataset
from pipeline.errors import RunError, WorkerError
from pipeline.judging import PROGRAM_SECONDS, longest
from pipeline.jury import Chamber, Jury
from pipeline.llm import Abilities, LocalLimiter
from pipeline.protocols import Judged, JudgeView
from pipeline.records import Record
from pipeline.scripted_endpoint import ScriptedEndpoint
from pipeline.structs import Usage
from pipeline.supervision import Employee, Halt
from pipeline.workers import CommitterActor, Judgements, JudgeWorker, Post
from tests.endpoints import endpoint_of, says, serving
from tests.episodes import fake_task
from tests.filmed import keypoints
from tests.runs import fake_config, rows
from tests.test_workers import CONFIG, RUN, _pass, assigned, committed, ready_worker, works
from verifiers.screen import ScreenJudge

# --- how long judging may take -----------------------------------------------------------------------------------


def judged_by(*judges: dict[str, object], **more: int) -> RunConfig:
    models = [{"base_url": "http://127.0.0.1:9/v1", "name": "m", **judge} for judge in judges]
    return fake_config(f"judges={json.dumps(['screen', *models])}", *(f"{key}={value}" for key, value in more.items()))


def test_without_models_a_trajectory_has_two_minutes() -> None:
    assert longest(judged_by(), [3, 80]) == 2 * PROGRAM_SECONDS


def test_with_models_every_call_may_take_all_its_time() -> None:
    slow = judged_by({"in_flight": 1}, workers=1)
    traces = judged_by({"in_flight": 1, "grades": ["trace"]}, workers=1)

    assert longest(traces, [4]) == PROGRAM_SECONDS + 4 * 900
    assert longest(slow, [4]) == PROGRAM_SECONDS + (4 + 4) * 900
    assert longest(slow, [4, 4]) == 2 * longest(slow, [4])


def test_slots_of_an_endpoint_are_shared_by_the_processes_of_a_run() -> None:
    def beyond(config: RunConfig) -> float:
        return longest(config, [4]) - PROGRAM_SECONDS

    assert beyond(judged_by({"in_flight": 12}, workers=1)) == 2 * 900
    assert beyond(judged_by({"in_flight": 12}, workers=100)) == 8 * 900
    assert beyond(judged_by({"in_flight": 1}, {"in_flight": 1}, workers=1)) == 16 * 900


# --- a judge's own deadline ---------------------------------------------------------------------------------------


class Court(list[str]):
    """A judge before whom attempts of an agent wait, by id; and the committer of their run."""

    def __init__(self, attempts: list[str], committer: CommitterActor, judge: JudgeWorker) -> None:
        super().__init__(attempts)
        self.committer, self.judge = committer, judge


@asynccontextmanager
async def court(folder: Path, server: ScriptedEndpoint, **budget: int) -> AsyncIterator[Court]:
    """Two attempts wait for a model behind this server."""
    tasks = [fake_task(), fake_task("Rename")]
    committer = committed(folder, *tasks)
    attempts = []
    async with ready_worker(folder) as worker:
        for work in works(*tasks):
            committer.assign(assigned(work, 1))
            await worker.run(work.task, work.plan)
            attempts.append(work.plan.attempt_id)
        batch = (await worker.flush()).batch
        assert batch is not None
        committer.publish(batch)
    committer.record([_pass()])
    endpoint = endpoint_of(server)
    limiter = LocalLimiter(endpoint.in_flight, endpoint.lease_seconds, BudgetConfig(**budget))
    asked = {"base_url": server.base_url, "name": "scripted", "grades": ["trace"]}
    config = override_config(CONFIG.model_dump(), [f"judges={json.dumps([asked])}"])
    access = {place_of(endpoint): Access(Abilities((), 10, True, None), limiter)}
    judge = JudgeWorker(Post(folder, RUN, 1, "j0", config, access), "pass")
    await judge.ready()
    try:
        yield Court(attempts, committer, judge)
    finally:
        await judge.close()


SILENT = [keypoints("it is there").model_copy(update={"times": 2}), says(fault="silence", times=None)]


def settled(folder: Path, of: Court, done: Judgements) -> list[tuple[str, int]]:
    """Publish what a judge has left on disk; the calls in it, by status."""
    assert done.batch is not None
    of.committer.publish(done.batch)
    of.committer.finish()
    assert check(folder) == []
    counted = rows(folder, "SELECT status, count(*) FROM model_calls GROUP BY ALL ORDER BY ALL")
    return [(str(status), int(str(count))) for status, count in counted]


async def test_a_judge_that_is_late_says_so_and_leaves_its_calls_and_what_it_could_not_judge(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(workers, "longest", lambda *_: 1.0)
    with serving(*SILENT) as server:
        async with court(tmp_path, server) as found:
            done = await found.judge.judge(found)

            calls = settled(tmp_path, found, done)

    assert isinstance(done.stop, WorkerError)
    assert done.stop.code == "judge_stuck"
    assert (done.attempts, list(done.left)) == (0, list(found))
    assert calls[0] == ("answered", 2)
    assert [status for status, _ in calls] == ["answered", "cancelled"]
    assert done.usage.calls >= 4
    assert Dataset(tmp_path).unjudged_attempts() == list(found)


async def test_a_judge_that_is_told_to_end_leaves_its_calls_too(tmp_path: Path) -> None:
    with serving(*SILENT) as server:
        async with court(tmp_path, server) as found:
            judging = asyncio.create_task(found.judge.judge(found))
            while len(server.requests) < 4:  # noqa: ASYNC110 - the server is another thread's
                await asyncio.sleep(0.01)
            await found.judge.cancel()
            done = await judging

            calls = settled(tmp_path, found, done)

    assert (done.stop, list(done.left)) == (None, list(found))
    assert sum(count for _, count in calls) >= 4
    assert "cancelled" in dict(calls)


async def test_a_used_up_budget_stops_judging_and_the_calls_made_are_rows(tmp_path: Path) -> None:
    with serving(keypoints("it is there")) as server:
        async with court(tmp_path, server, calls=3) as found:
            done = await found.judge.judge(found)

            calls = settled(tmp_path, found, done)

    assert isinstance(done.stop, RunError)
    assert "budget.calls" in str(done.stop)
    assert calls == [("answered", 3)]
    assert set(done.left) <= set(found) and done.left


async def test_a_program_that_hangs_is_late_and_the_next_attempt_is_left_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    waiting = asyncio.Event()
    loop = asyncio.get_running_loop()

    def hang(judge: ScreenJudge, view: JudgeView, record: Record, pass_id: str) -> Judged:
        asyncio.run_coroutine_threadsafe(waiting.wait(), loop).result(30)
        return Judged([], [])

    monkeypatch.setattr(workers, "longest", lambda *_: 0.3)
    monkeypatch.setattr(ScreenJudge, "judge", hang)
    with serving() as server:
        async with court(tmp_path, server) as found:
            judge = JudgeWorker(Post(tmp_path, RUN, 1, "j1", CONFIG), "pass")
            await judge.ready()
            done = await judge.judge(found)
            waiting.set()

    assert isinstance(done.stop, WorkerError)
    assert (done.batch, done.attempts, list(done.left)) == (None, 0, list(found))


# --- the jury -----------------------------------------------------------------------------------------------------


class Remote:
    """A method of an actor, without an actor."""

    def __init__(self, work: Callable[..., Awaitable[object]]) -> None:
        self.remote = work


class Judge:
    """A judge that does what it is told, batch after batch."""

    def __init__(self, *answers: Judgements | Exception) -> None:
        self._answers = list(answers)
        self.given: list[list[str]] = []
        self.judge, self.beat, self.cancel = Remote(self._judge), Remote(self._nothing), Remote(self._nothing)

    async def _judge(self, batch: list[str]) -> Judgements:
        self.given.append(list(batch))
        answer = self._answers.pop(0) if self._answers else judgements(len(batch))
        if isinstance(answer, Exception):
            raise answer
        return answer

    async def _nothing(self) -> None: ...


class Staff:
    """Hires the same judge again and again, and keeps who was dismissed and why."""

    def __init__(self, judge: Judge) -> None:
        self._judge = judge
        self.fired: list[tuple[str, str]] = []

    async def hire(self, kind: object, place: Place, name: str, *arguments: object) -> Employee:
        del kind, place, arguments
        return Employee(self._judge, name, "here")

    def fire(self, employee: Employee, error: WorkerError) -> None:
        self.fired.append((employee.name, error.code))

    async def retire(self, employee: Employee) -> None: ...


def judgements(count: int, *left: str, stop: RunError | WorkerError | None = None) -> Judgements:
    return Judgements(None, count, Counter(complete=count), Usage(calls=count), left, stop)


async def sat(judge: Judge, *attempts: str) -> tuple[Staff, Halt, list[str], int]:
    """What came of a jury with one seat: its staff, why it halted, what was said, and how many were judged."""
    staff, halt, said, done = Staff(judge), Halt(), list[str](), list[Judgements]()
    staffed: Any = staff
    post = Post(Path("nowhere"), RUN, 1, "", CONFIG)
    chamber = Chamber(
        "pass", None, staffed, Place(0, {}), halt, lambda name: post._replace(name=name), done.append, said.append
    )
    jury = Jury(chamber)
    jury.add(attempts)
    jury.close()
    async with asyncio.timeout(20):
        await jury.sit(0)
    return staff, halt, said, sum(one.attempts for one in done)


@pytest.mark.parametrize(
    ("first", "code", "again"),
    [
        (judgements(1, "b", "c", stop=WorkerError("judge_stuck", "no judgement in 9 s")), "judge_stuck", ["b", "c"]),
        (WorkerError("lost", "killed"), "lost", ["a", "b", "c"]),
        (WorkerError("no_answer", "attempt: no answer within 9 s"), "no_answer", ["a", "b", "c"]),
    ],
    ids=["late", "killed", "frozen"],
)
async def test_what_a_failed_judge_did_not_judge_is_judged_again_and_the_judge_is_named(
    first: Judgements | Exception, code: str, again: list[str]
) -> None:
    judge = Judge(first)

    staff, halt, said, done = await sat(judge, "a", "b", "c")

    assert judge.given == [["a", "b", "c"], again]
    assert staff.fired == [("j0g1", code)]
    assert (halt.reason, done) == (None, 3)
    assert [line.startswith(f"judge j0g1 failed ({code}): ") for line in said] == [True]
    assert said[0].endswith(f"; {len(again)} to be judged again")


async def test_what_stops_the_run_halts_the_jury_after_its_rows_count() -> None:
    staff, halt, _, done = await sat(Judge(judgements(1, "b", stop=RunError("budget.calls: used up"))), "a", "b")

    assert str(halt.reason) == "budget.calls: used up"
    assert (done, staff.fired) == (1, [])
