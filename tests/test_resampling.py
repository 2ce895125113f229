"""Which tasks begin later, and with whose steps: from another dataset, from earlier rounds, after an interruption."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import pytest

from pipeline import policies
from pipeline.actions import Finished
from pipeline.check import check
from pipeline.config import RunConfig
from pipeline.dataset import Dataset
from pipeline.envs.fake import FakeEnvironment
from pipeline.episode import plan_attempt
from pipeline.errors import ConfigError, RunError
from pipeline.judging import Bench, build_judges, judge_record
from pipeline.manifest import Assigned
from pipeline.planning import Origin, Work, missing
from pipeline.policies.canned import CannedPolicy
from pipeline.policies.scripted import ScriptedPolicy
from pipeline.progress import Board
from pipeline.protocols import Policy
from pipeline.provenance import opening_rows, pass_row
from pipeline.query import connect, sound_parts
from pipeline.records import Record, now
from pipeline.report_pages import trajectory_page
from pipeline.resampling import origins_of, planned_rounds, resampled, segment_number
from pipeline.rollout import rollout
from pipeline.sinks import Committer, PartWriter
from pipeline.standing import Run, order_of, survey_of
from pipeline.storage import storage_of
from pipeline.tasks import TaskSpec
from pipeline.workers import Post, RolloutWorker
from tests.episodes import FixedGate, fake_task
from tests.prefixes import long_task
from tests.runs import fake_config, one

LONG, SHORT, OTHER = long_task(), fake_task(), fake_task("Write the notes")
EARLIER, LATER = "run-earlier", "run-later"


class Made(NamedTuple):
    """An attempt to be stored."""

    task: TaskSpec
    policy: Policy
    round: int = 0
    seed: int = 0


async def stored(folder: Path, *wanted: Made, config: RunConfig | None = None, run_id: str = EARLIER) -> list[str]:
    """A judged dataset of these attempts; their ids."""
    config = config or fake_config()
    committer = Committer.claim(folder, run_id, config.model_dump(mode="json"))
    judging = pass_row(run_id, "collect", config)
    committer.record([*opening_rows(config, list({one.task.task_id: one.task for one in wanted}.values())), judging])
    writer = PartWriter(folder, run_id, committer.epoch, "w0")
    ids = []
    for made in wanted:
        plan = plan_attempt(
            run_id, made.task.task_id, policies.policy_id(config), seed=config.seed + made.seed, round=made.round
        )
        record = await rollout(made.task, FakeEnvironment(), made.policy, FixedGate(), plan)
        committer.assign([assigned(Work(made.task, plan), committer.epoch, record)])
        writer.write(record)
        judged = await judge_record(made.task, record, Bench(build_judges(["effect"])), config.panel, judging.pass_id)
        writer.add([*judged.votes, *judged.keypoints, *judged.checks, *judged.verdicts])
        ids.append(plan.attempt_id)
    batch = writer.flush()
    assert batch is not None and committer.publish(batch)
    committer.finish()
    return ids


def assigned(work: Work, epoch: int, record: Record | None = None) -> Assigned:
    """The line that announces an attempt."""
    task = work.task
    return Assigned(
        **work.plan.model_dump(include=set(Assigned.model_fields)),
        epoch=epoch,
        task_id=task.task_id,
        policy_id=record.attempt.policy_id if record else "p",
        policy="planner",
        app_id=task.start.app_id,
        app_ids=task.app_ids,
        platform=task.platform,
        assigned_at=now(),
    )


def oracle(task: TaskSpec) -> Made:
    return Made(task, ScriptedPolicy("scripted", task))


def idle(task: TaskSpec) -> Made:
    return Made(task, CannedPolicy([Finished()]), seed=9)


def begun(folder: Path, config: RunConfig, tasks: Sequence[TaskSpec]) -> Run:
    """A run in a new folder, of which nothing has been done."""
    config, kept = resampled(config, tasks)
    committer = Committer.claim(folder, LATER, config.model_dump(mode="json"))
    committer.record(opening_rows(config, kept))
    return Run(storage_of(folder), LATER, config, Board())


def works(run: Run, rounds: Sequence[Sequence[TaskSpec]]) -> list[Work]:
    return [work for works in missing(order_of(run, rounds), (), {}) for work in works]


# --- which segment ------------------------------------------------------------------------------------------------


def test_a_segment_is_named_by_number_or_name() -> None:
    assert [segment_number(LONG, wanted) for wanted in (0, 1, 2, 3)] == [None, 1, 2, None]
    assert [segment_number(LONG, wanted) for wanted in ("packing", "tickets", "flat", "other")] == [None, 1, 2, None]
    assert segment_number(SHORT, 1) is None


@pytest.mark.parametrize(("text", "value"), [("1", 1), ("tickets", "tickets"), ("null", None)])
def test_the_key_takes_numbers_and_names(text: str, value: int | str | None) -> None:
    assert fake_config(f"start_from_segment={text}").start_from_segment == value


@pytest.mark.parametrize(
    ("keys", "said"),
    [
        (["prefix_from=/nowhere"], "prefix_from: needs start_from_segment"),
        (["start_from_segment=1"], "needs prefix_from=DIR, or rounds=2"),
        (["start_from_segment=9", "rounds=2"], "no task of 'fake' has a later segment 9"),
        (["start_from_segment=other", "rounds=2"], "no task of 'fake' has a later segment 'other'"),
        (["start_from_segment=1", "tasks=generate", "rounds=2"], "tasks that the run makes itself"),
        (["start_from_segment=1", "prefix_from=/nowhere"], "prefix_from: /nowhere is not a dataset folder"),
    ],
)
def test_what_cannot_be_meant_is_refused_by_key(keys: list[str], said: str) -> None:
    with pytest.raises(ConfigError, match=r"^(start_from_segment|prefix_from): ") as caught:
        resampled(fake_config(*keys), [LONG, SHORT])
    assert said in str(caught.value)


def test_without_the_key_nothing_changes() -> None:
    config = fake_config("rounds=2")

    assert resampled(config, [LONG, SHORT]) == (config, [LONG, SHORT])
    assert planned_rounds(config, [[LONG], [LONG]], {}) == [[LONG], [LONG]]


# --- from another dataset -----------------------------------------------------------------------------------------


async def test_tasks_begin_with_the_oldest_attempt_that_did_what_comes_before(tmp_path: Path) -> None:
    _, first, _, _ = await stored(
        tmp_path / "a", idle(LONG), oracle(LONG), oracle(LONG)._replace(seed=1, round=1), idle(OTHER)
    )
    config = fake_config("start_from_segment=1", f"prefix_from={tmp_path / 'a'}", "rounds=2")

    config, kept = resampled(config, [LONG, SHORT, OTHER])

    assert kept == [LONG]
    origins = origins_of(config, storage_of(tmp_path / "b"), [kept, kept])
    assert origins == {(number, LONG.task_id): Origin(1, first) for number in (0, 1)}


async def test_what_changed_more_than_it_should_is_nobodys_beginning(tmp_path: Path) -> None:
    strict = LONG.model_copy(update={"expected_changes": ["todo/11"]})
    await stored(tmp_path / "a", oracle(strict))

    with pytest.raises(ConfigError, match=r"^prefix_from: .* has no attempt at these tasks"):
        resampled(fake_config("start_from_segment=1", f"prefix_from={tmp_path / 'a'}"), [strict])


async def test_what_an_attempt_begins_with_makes_another_trajectory(tmp_path: Path) -> None:
    (first,) = await stored(tmp_path / "a", oracle(LONG))
    later = begun(tmp_path / "b", fake_config("start_from_segment=2", f"prefix_from={tmp_path / 'a'}"), [LONG])

    (work,) = works(later, [[LONG]])

    assert (work.plan.start_segment, work.plan.prefix_attempt_id) == (2, first)
    whole = works(later._replace(config=fake_config()), [[LONG]])[0]
    assert work.plan.trajectory_id != whole.plan.trajectory_id


async def test_what_was_begun_keeps_its_prefix_when_a_better_one_comes(tmp_path: Path) -> None:
    await stored(tmp_path / "a", oracle(LONG))
    config = fake_config("start_from_segment=1", f"prefix_from={tmp_path / 'a'}", "rounds=2")
    run = begun(tmp_path / "b", config, [LONG])
    work = works(run, [[LONG], [LONG]])[0]
    committer = Committer.claim(tmp_path / "b", LATER, run.config.model_dump(mode="json"))
    committer.assign([assigned(work, committer.epoch)])
    await stored(tmp_path / "c", oracle(LONG), run_id="run-other")

    elsewhere = run._replace(config=run.config.model_copy(update={"prefix_from": str(tmp_path / "c")}))
    survey = survey_of(elsewhere, [[LONG], [LONG]])
    first, second = works(elsewhere, [[LONG], [LONG]])

    assert [lost.attempt_id for lost, _ in survey.lost] == [work.plan.attempt_id]
    assert set(survey.tried) == {work.plan.trajectory_id} == {first.plan.trajectory_id}
    assert second.plan.prefix_attempt_id not in (None, work.plan.prefix_attempt_id)


# --- from earlier rounds -------------------------------------------------------------------------------------------


def test_rounds_of_its_own_begin_with_whole_ones(tmp_path: Path) -> None:
    run = begun(tmp_path / "b", fake_config("start_from_segment=1", "rounds=3"), [LONG, SHORT])

    assert [work.plan.start_segment for work in works(run, [[LONG]] * 3)] == [0]


async def test_later_rounds_begin_with_what_earlier_ones_did(tmp_path: Path) -> None:
    config = fake_config("start_from_segment=1", "rounds=2")
    whole, _ = await stored(tmp_path / "b", oracle(LONG), idle(OTHER), config=config)
    run = Run(storage_of(tmp_path / "b"), EARLIER, config, Board())

    planned = works(run, [[LONG, OTHER]] * 2)

    assert [(work.plan.round, work.plan.start_segment, work.plan.prefix_attempt_id) for work in planned] == [
        (0, 0, None),
        (0, 0, None),
        (1, 1, whole),
    ]


# --- a worker ------------------------------------------------------------------------------------------------------


async def resampled_folder(tmp_path: Path) -> Path:
    """A run of two rounds that both begin at the second segment, made by one worker and not judged."""
    await stored(tmp_path / "a", oracle(LONG))
    config = fake_config(
        "start_from_segment=1", f"prefix_from={tmp_path / 'a'}", "rounds=2", "policy.mistakes=0", "workers=1"
    )
    run = begun(tmp_path / "b", config, [LONG])
    planned = works(run, [[LONG]] * 2)
    committer = Committer.claim(tmp_path / "b", LATER, run.config.model_dump(mode="json"))
    committer.assign([assigned(work, committer.epoch) for work in planned])
    worker = RolloutWorker(Post(tmp_path / "b", LATER, committer.epoch, "w0", run.config))
    await worker.ready()
    for work in planned:
        await worker.run(work.task, work.plan)
    batch = (await worker.flush()).batch
    await worker.close()
    assert batch is not None and committer.publish(batch)
    committer.finish()
    return tmp_path / "b"


async def test_a_worker_fetches_the_prefix_and_its_rows_fit_together(tmp_path: Path) -> None:
    folder = await resampled_folder(tmp_path)

    assert check(folder) == []
    sql = "SELECT count(*) FROM steps WHERE list_contains(flags, 'seeded') AND replayed"
    assert one(folder, sql) == one(folder, "SELECT count(*) // 2 FROM steps WHERE replayed") != 0
    assert one(folder, "SELECT count(*) FROM rl_steps") == one(folder, "SELECT sum(step_count) FROM trajectories")


async def test_a_page_tells_which_steps_were_an_earlier_attempts(tmp_path: Path) -> None:
    folder = await resampled_folder(tmp_path)
    attempt_id = str(one(folder, "SELECT min(attempt_id) FROM trajectories"))

    with connect({folder: sound_parts(folder)}) as views:
        page = trajectory_page(Dataset(folder), views, attempt_id)

    assert page.segments == "begun at “tickets” with the steps of an earlier attempt"
    assert [step.replayed for step in page.steps].count(False) == page.step_count > 0


async def test_a_worker_stops_the_run_when_the_prefix_is_gone(tmp_path: Path) -> None:
    await stored(tmp_path / "a", idle(LONG))
    run = begun(tmp_path / "b", fake_config("start_from_segment=1", "rounds=2"), [LONG])
    (work,) = works(run, [[LONG]] * 2)
    worker = RolloutWorker(
        Post(tmp_path / "b", LATER, 1, "w0", run.config.model_copy(update={"prefix_from": str(tmp_path / "a")}))
    )
    await worker.ready()

    with pytest.raises(RunError, match="has no final attempt gone"):
        await worker.run(work.task, work.plan.model_copy(update={"prefix_attempt_id": "gone", "start_segment": 1}))
    await worker.close()
