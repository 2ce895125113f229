"""One task followed through the whole code, on the fake environment: read this first.

Everything a run does happens here once, in order and by hand, without Ray and without a browser:

    spec -> configuration -> plan -> assigned -> look -> decide -> act -> probe -> record
         -> checks, votes, verdicts -> parts -> manifest -> query -> report

`run.py` does the same for many tasks at a time; `workers.py` puts the parts of it into processes.
"""

from __future__ import annotations

from pathlib import Path

from pipeline import policies
from pipeline.actions import Click
from pipeline.check import check
from pipeline.config import load_config
from pipeline.dataset import Dataset
from pipeline.envs.fake import FakeEnvironment
from pipeline.episode import AttemptPlan, plan_attempt
from pipeline.judging import Bench, build_judges, judge_record
from pipeline.manifest import Assigned
from pipeline.protocols import Turn
from pipeline.provenance import opening_rows, pass_row
from pipeline.query import query
from pipeline.records import now
from pipeline.report import write_report
from pipeline.rollout import rollout
from pipeline.safety import sandbox_gate
from pipeline.sinks import Committer, PartWriter
from pipeline.tasks import TaskSpec
from taskspecs.store import load_tasks

RUN = "walkthrough"
CONFIG = load_config("fake", ["policy=scripted", "seed=1"])


def chosen() -> TaskSpec:
    """A task in two parts: lower one to-do's priority, tick another."""
    return next(task for task in load_tasks(CONFIG.tasks.set) if "Buy coffee beans" in task.instruction)


def test_a_task_is_an_instruction_bound_to_a_contract() -> None:
    task = chosen()
    assert task.instruction == 'Set the priority of "Buy coffee beans" to "low" and mark "Pay the rent" as done.'
    # Two sub-goals, each with checks. A check names a read-only question and what its answer must be.
    assert [segment.name for segment in task.segments] == ["priority", "done"]
    assert task.checks[0].call == "todo(title=Buy coffee beans)"
    assert (task.checks[0].verifier, task.checks[0].expected) == ("equals", ["low", "open", ""])
    # Only these entries may change; anything else would be a side effect.
    assert task.expected_changes == ["todo/4", "todo/2"]
    # The oracle proves that it can be done. It was compiled from the procedures of the two capabilities it calls.
    assert task.capability_ids == ["fake-todo.set-priority", "fake-todo.complete"]
    assert [step.action for step in task.oracle] == [
        *("Click", "Click", "SelectOption", "Click"),
        *("Click", "Click"),
        "Finished",
    ]


async def test_one_turn_is_look_decide_act() -> None:
    task, environment = chosen(), FakeEnvironment()
    policy, gate = policies.build(CONFIG, task, seed=1), sandbox_gate()
    # Look: a picture and a UI tree of the same moment.
    await environment.start(task)
    before = await environment.observe()
    assert before.frame is not None and before.tree is not None
    assert (before.title, before.frame.width, before.frame.height) == ("To-dos", 640, 400)
    # Decide: the first step of the oracle, found on this screen, with the reason in words.
    decision = await policy.decide(Turn(step_index=0, observation=before, last_step=None, feedback=None))
    assert isinstance(decision.action, Click)
    assert decision.thought == 'Click the link "To-dos" to carry on with the task.'
    # What lies under the point is read before acting, and the gate is asked.
    pixel = decision.device_points[0]
    target = await environment.target(pixel)
    assert target is not None and (target.role, target.name) == ("link", "To-dos")
    assert (await gate.decide(task, before, decision.action, target)).decision == "allow"
    # Act, and read what the contract asks while the world lives: nothing has changed yet.
    await environment.act(decision.action, decision.device_points)
    reads = {read.probe: read.value for read in await environment.probe(task.checks, observation_index=1)}
    assert reads == {
        "todo(title=Buy coffee beans)": [["normal", "open", ""]],
        "todo(title=Pay the rent)": [["high", "open", ""]],
        "changes": [],
    }
    await environment.finish()


def planned(task: TaskSpec) -> AttemptPlan:
    return plan_attempt(RUN, task.task_id, policies.policy_id(CONFIG), seed=CONFIG.seed, attempts=CONFIG.attempts)


def assigned(task: TaskSpec, plan: AttemptPlan, epoch: int) -> Assigned:
    return Assigned(
        epoch=epoch,
        attempt_id=plan.attempt_id,
        trajectory_id=plan.trajectory_id,
        task_id=task.task_id,
        policy_id=policies.policy_id(CONFIG),
        policy=CONFIG.policy.name,
        seed=plan.seed,
        number=plan.number,
        app_id=task.start.app_id,
        app_ids=task.app_ids,
        platform=task.platform,
        worker=plan.worker,
        node=plan.node,
        assigned_at=now(),
    )


async def test_from_a_task_to_a_graded_row(tmp_path: Path) -> None:
    # A run begins by claiming an epoch of its folder; only this committer decides what counts in it.
    committer = Committer.claim(tmp_path, RUN, CONFIG.model_dump(mode="json"))
    task = chosen()
    plan = planned(task)
    committer.record(opening_rows(CONFIG, [task]))
    committer.assign([assigned(task, plan, committer.epoch)])

    # The rollout: one task, one environment, one policy give one record.
    policy, gate = policies.build(CONFIG, task, plan.seed), sandbox_gate()
    record = await rollout(task, FakeEnvironment(), policy, gate, plan)
    assert (record.trajectory.termination, record.trajectory.claim) == ("finished", "success")
    assert len(record.steps) == 8 and len(record.observations) == 9
    assert record.probe_reads[-1].value == [["todo/2", "changed"], ["todo/4", "changed"]]

    # A worker writes it to disk and reports the parts; they count once the committer has listed them.
    writer = PartWriter(tmp_path, RUN, committer.epoch, "w0")
    writer.write(record)
    batch = writer.flush()
    assert batch is not None and committer.publish(batch)

    # Verification needs nothing but the stored rows. The agent's own claim counts for nothing.
    stored = Dataset(tmp_path).record(plan.attempt_id)
    assert stored == record
    passed = pass_row(RUN, "collect", CONFIG)
    bench = Bench(build_judges(CONFIG.judges))
    judgement = await judge_record(task, stored, bench, CONFIG.panel, passed.pass_id)
    assert [(found.segment, found.state) for found in judgement.checks] == [("priority", "passed"), ("done", "passed")]
    assert {keypoint.state for keypoint in judgement.keypoints} == {"met"}
    verdict = next(verdict for verdict in judgement.verdicts if verdict.target == "trace")
    assert (verdict.status, verdict.grade, verdict.rule) == ("graded", "complete", "contract_only")
    assert len([verdict for verdict in judgement.verdicts if verdict.target == "step"]) == len(record.steps)
    committer.record([passed, *judgement.votes, *judgement.keypoints, *judgement.checks, *judgement.verdicts])
    committer.finish()
    look_at(tmp_path, task)


def look_at(folder: Path, task: TaskSpec) -> None:
    """What a person does with a finished run: check it, query it, read its report."""
    assert check(folder) == []
    grades = (
        "SELECT app_id, grade, count(*) AS n FROM trace_grades JOIN trajectories USING (trajectory_id) GROUP BY ALL"
    )
    assert query(grades, [folder]).to_pylist() == [{"app_id": "fake-todo", "grade": "complete", "n": 1}]
    accepted = query("SELECT trajectory_id FROM accepted", [folder]).to_pylist()
    assert [row["trajectory_id"] for row in accepted] == [planned(task).trajectory_id]
    steps = query("SELECT action.type AS action, thought FROM steps ORDER BY step_index LIMIT 1", [folder]).to_pylist()
    assert steps == [{"action": "Click", "thought": 'Click the link "To-dos" to carry on with the task.'}]
    report = Path(write_report(folder)).read_text(encoding="utf-8")
    assert "Buy coffee beans" in report and "fake-todo" in report
