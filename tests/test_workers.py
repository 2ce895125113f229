"""The workers as plain classes, without Ray: what they own, deliver, refuse and leave behind."""

from __future__ import annotations

import asyncio
import json
import os
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from pipeline import workers
from pipeline.check import check
from pipeline.clients import Access, place_of
from pipeline.config import SecretConfig, override_config
from pipeline.episode import AttemptPlan
from pipeline.errors import RunError
from pipeline.guardian import OWNER_FILE, machine
from pipeline.llm import Abilities
from pipeline.manifest import Assigned
from pipeline.planning import Order, Work, missing
from pipeline.policies import policy_id
from pipeline.records import PassRow, now
from pipeline.sinks import LOST, Batch
from pipeline.tasks import TaskSpec
from pipeline.vault import load_vault
from pipeline.workers import CommitterActor, JudgeWorker, Post, RolloutWorker
from tests.endpoints import endpoint_of, limiter_of, serving
from tests.episodes import fake_task, with_faults
from tests.runs import fake_config, one, rows

RUN = "run-w"
CONFIG = fake_config("policy.mistakes=0")


def works(*tasks: TaskSpec, rounds: int = 1) -> list[Work]:
    order = Order(RUN, policy_id(CONFIG), [tasks] * rounds, seed=7, attempts=2)
    return [work for round_ in missing(order, (), {}) for work in round_]


def assigned(work: Work, epoch: int) -> Assigned:
    plan, task = work.plan, work.task
    return Assigned(
        epoch=epoch,
        attempt_id=plan.attempt_id,
        trajectory_id=plan.trajectory_id,
        task_id=task.task_id,
        policy_id=policy_id(CONFIG),
        policy="planner",
        seed=plan.seed,
        number=plan.number,
        app_id=task.start.app_id,
        app_ids=task.app_ids,
        platform=task.platform,
        worker=plan.worker,
        node=plan.node,
        assigned_at=now(),
    )


def committed(folder: Path, *tasks: TaskSpec) -> CommitterActor:
    committer = CommitterActor(folder, RUN, CONFIG)
    committer.claim()
    committer.record(list(tasks))
    return committer


@asynccontextmanager
async def ready_worker(folder: Path, name: str = "w0") -> AsyncIterator[RolloutWorker]:
    worker = RolloutWorker(Post(folder, RUN, 1, name, CONFIG))
    await worker.ready()
    try:
        yield worker
    finally:
        await worker.close()


async def test_an_attempt_is_buffered_and_delivered_on_flush(tmp_path: Path) -> None:
    committed(tmp_path)
    (work,) = works(fake_task())

    async with ready_worker(tmp_path) as worker:
        at_once = await worker.run(work.task, work.plan)
        later = await worker.flush()

    assert at_once.batch is None
    assert [report.attempt_id for report in later.reports] == [work.plan.attempt_id]
    assert later.batch is not None
    assert later.batch.attempts == [work.plan.attempt_id]
    assert later.reports[0].final
    assert later.reports[0].termination == "finished"


async def test_what_a_worker_starts_or_says_has_no_secret(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("SHOP_PASSWORD", "Kestrel-7f3a")
    secrets = [SecretConfig(name="SHOP", env="SHOP_PASSWORD")]
    config = CONFIG.model_copy(update={"secrets": secrets})
    committed(tmp_path)
    worker = RolloutWorker(Post(tmp_path, RUN, 1, "w0", config, vault=load_vault(secrets)))

    await worker.ready()
    inherited = dict(os.environ)
    sys.stderr.write("Kestrel-7f3a")
    await worker.close()

    assert "SHOP_PASSWORD" not in inherited
    assert capsys.readouterr().err == "<secret:SHOP>"


async def test_a_full_buffer_is_delivered_without_asking(tmp_path: Path) -> None:
    committed(tmp_path)

    async with ready_worker(tmp_path) as worker:
        deliveries = [await worker.run(work.task, work.plan) for work in works(fake_task(), rounds=4)]

    assert [len(delivery.reports) for delivery in deliveries] == [0, 0, 0, 4]


async def test_nothing_waits_long_in_the_buffer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(workers, "_KEEP_SECONDS", 0.0)
    committed(tmp_path)
    (work,) = works(fake_task())

    async with ready_worker(tmp_path) as worker:
        delivery = await worker.run(work.task, work.plan)

    assert len(delivery.reports) == 1


async def test_a_broken_attempt_is_delivered_at_once(tmp_path: Path) -> None:
    committed(tmp_path)
    (work,) = works(with_faults(fake_task(), "failing_starts: -1"))

    async with ready_worker(tmp_path) as worker:
        delivery = await worker.run(work.task, work.plan)

    (report,) = delivery.reports
    assert report.fault is not None
    assert (report.fault.boundary, report.final) == ("setup", False)


@pytest.mark.parametrize("keep_seconds", [0.0, 60.0])
async def test_what_stops_the_run_is_told_together_with_the_rows_it_left(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, keep_seconds: float
) -> None:
    monkeypatch.setattr(workers, "_KEEP_SECONDS", keep_seconds)
    committed(tmp_path)
    (work,) = works(fake_task())
    with serving(key="another") as server:
        endpoint = endpoint_of(server)
        access = {place_of(endpoint): Access(Abilities((), 9, True, None), limiter_of(endpoint))}
        acting = override_config(
            CONFIG.model_dump(), ["policy=chat", f"model.base_url={server.base_url}", "model.name=scripted"]
        )
        worker = RolloutWorker(Post(tmp_path, RUN, 1, "w0", acting, access))
        await worker.ready()
        delivery = await worker.run(work.task, work.plan)
        await worker.close()

    assert delivery.stop is not None and "refuses the key" in str(delivery.stop)
    assert delivery.batch is not None
    assert delivery.batch.attempts == [work.plan.attempt_id]
    assert [(report.termination, report.final) for report in delivery.reports] == [("cancelled", False)]


async def test_cancelling_gives_a_record_that_is_not_final(tmp_path: Path) -> None:
    committed(tmp_path)
    (work,) = works(with_faults(fake_task(), "act_seconds: 5"))

    async with ready_worker(tmp_path) as worker:
        running = asyncio.create_task(worker.run(work.task, work.plan))
        for _ in range(3):  # let the attempt begin
            await asyncio.sleep(0)
        await worker.cancel()
        await running
        delivery = await worker.flush()

    assert [(report.termination, report.final) for report in delivery.reports] == [("cancelled", False)]


async def test_the_heart_beats_while_an_attempt_runs(tmp_path: Path) -> None:
    committed(tmp_path)
    (work,) = works(with_faults(fake_task(), "act_seconds: 5"))

    async with ready_worker(tmp_path) as worker:
        running = asyncio.create_task(worker.run(work.task, work.plan))
        await asyncio.wait_for(worker.beat(), 1)
        alive = not running.done()
        await worker.cancel()
        running.cancel()

    assert alive


async def test_closing_leaves_no_scratch_folder(tmp_path: Path) -> None:
    committed(tmp_path)

    async with ready_worker(tmp_path) as worker:
        assert worker._scratch is not None
        scratch = worker._scratch.path
        was_there = scratch.is_dir()

    assert was_there
    assert not scratch.exists()


async def test_a_folder_that_is_not_shared_is_refused(tmp_path: Path) -> None:
    worker = RolloutWorker(Post(tmp_path / "elsewhere", RUN, 1, "w0", CONFIG))

    with pytest.raises(RunError, match="storage that every node shares"):
        await worker.ready()


async def test_the_folder_of_another_run_is_refused(tmp_path: Path) -> None:
    committed(tmp_path)
    judge = JudgeWorker(Post(tmp_path, "another run", 1, "j0", CONFIG), "pass")

    with pytest.raises(RunError, match="another folder"):
        await judge.ready()


async def test_a_judge_writes_votes_checks_and_verdicts_of_published_attempts(tmp_path: Path) -> None:
    task = fake_task()
    committer = committed(tmp_path, task)
    (work,) = works(task)
    committer.assign(assigned(work, 1))
    async with ready_worker(tmp_path) as worker:
        await worker.run(work.task, work.plan)
        committer.publish(_whole((await worker.flush()).batch))
    committer.record([_pass()])

    judge = JudgeWorker(Post(tmp_path, RUN, 1, "j0", CONFIG), "pass")
    await judge.ready()
    done = await judge.judge([work.plan.attempt_id])
    committer.publish(_whole(done.batch))
    committer.finish()

    assert done.grades == {"complete": 1}
    steps = one(tmp_path, "SELECT count(*) FROM steps")
    assert rows(tmp_path, "SELECT grade, rule FROM trace_grades") == [("complete", "contract_only")]
    assert one(tmp_path, "SELECT count(*) FROM verdicts WHERE target = 'step'") == steps
    assert check(tmp_path) == []


async def test_judging_again_without_a_judge_of_steps_keeps_the_process_score(tmp_path: Path) -> None:
    task = fake_task()
    committer = committed(tmp_path, task)
    (work,) = works(task)
    committer.assign(assigned(work, 1))
    async with ready_worker(tmp_path) as worker:
        await worker.run(work.task, work.plan)
        committer.publish(_whole((await worker.flush()).batch))
    of_traces = override_config(CONFIG.model_dump(), ["judges=[screen]"])
    for number, (pass_id, config) in enumerate([("pass", CONFIG), ("again", of_traces)]):
        committer.record([_pass().model_copy(update={"pass_id": pass_id})])
        judge = JudgeWorker(Post(tmp_path, RUN, 1, f"j{number}", config), pass_id)
        await judge.ready()
        committer.publish(_whole((await judge.judge([work.plan.attempt_id])).batch))
    committer.finish()

    scores = rows(tmp_path, "SELECT pass_id, process_score FROM verdicts WHERE target = 'trace' ORDER BY pass_id DESC")
    assert scores == [("pass", 1.0), ("again", 1.0)]
    assert check(tmp_path) == []


async def test_a_revoked_attempt_is_lost_and_its_late_batch_refused(tmp_path: Path) -> None:
    task = fake_task()
    committer = committed(tmp_path, task)
    (work,) = works(task)
    committer.assign(assigned(work, 1))
    async with ready_worker(tmp_path) as worker:
        await worker.run(work.task, work.plan)
        late = _whole((await worker.flush()).batch)

    revoked = committer.revoke(assigned(work, 1), False, LOST)
    published = committer.publish(late)

    assert revoked
    assert not published
    assert rows(tmp_path, "SELECT fault.code, final FROM attempts") == [("lost", False)]
    assert rows(tmp_path, "SELECT kind FROM events") == [("late_commit",)]


def test_a_committer_that_has_claimed_nothing_refuses_work(tmp_path: Path) -> None:
    with pytest.raises(RunError, match="before it had claimed"):
        CommitterActor(tmp_path, RUN, CONFIG).record([])


async def test_a_worker_that_is_not_ready_runs_nothing(tmp_path: Path) -> None:
    worker = RolloutWorker(Post(tmp_path, RUN, 1, "w0", CONFIG))
    plan: Any = AttemptPlan(trajectory_id="t", attempt_id="t-1", seed=0)

    with pytest.raises(RunError, match="not made ready"):
        await worker.run(fake_task(), plan)


def _whole(batch: Batch | None) -> Batch:
    assert batch is not None
    return batch


def _pass() -> PassRow:
    return PassRow(pass_id="pass", kind="collect", judge_set=[], rule="quorum", calibration_id=None, judged_at=now())


async def test_what_a_dead_worker_left_is_removed_at_the_next_start(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "temp"))
    left = tmp_path / "temp" / "pathproof-w9g1-left"
    left.mkdir(parents=True)
    owner = {"pid": 2**22 - 1, "created": 1.0, "machine": machine()}
    (left / OWNER_FILE).write_text(json.dumps(owner))
    folder = tmp_path / "run"
    folder.mkdir()
    committed(folder)

    async with ready_worker(folder):
        pass

    assert not left.exists()
