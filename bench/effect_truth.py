"""How often the judge `effect` agrees with what the planner knows of its own steps.

The planner marks the mistakes it makes on purpose; the judge never sees the marks. Steps are those of a stored run
(`--run DIR`), else of fresh episodes on the to-do application in memory. A step that was not marked counts as one that
serves the task or looks around; consequences of an earlier unnoticed mistake are therefore counted against the judge.

    python bench/effect_truth.py --seeds 10 --mistakes 0.2
    python bench/effect_truth.py --run runs/2026-03-05-quickstart
"""

from __future__ import annotations

import argparse
import asyncio
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from pipeline.actions import Finished, Wait
from pipeline.config import PanelConfig, PolicyConfig, RunConfig
from pipeline.dataset import Dataset
from pipeline.envs.fake import FakeEnvironment
from pipeline.episode import plan_attempt
from pipeline.judging import Bench, build_judges, judge_record
from pipeline.policies import build, policy_id
from pipeline.records import Record, Step, Trajectory
from pipeline.rollout import rollout
from pipeline.safety import sandbox_gate
from pipeline.tasks import TaskSpec
from pipeline.words import StepGrade
from taskspecs.store import load_tasks
from verifiers.operations import move_of


class Graded(NamedTuple):
    """One step with what is true of it and what the judge said."""

    mark: str
    fitting: frozenset[StepGrade]
    grade: str
    reason: str
    step: Step
    instruction: str


def fitting_grades(step: Step, feasible: bool) -> frozenset[StepGrade]:
    """The grades that fit a step by its mark; where the task cannot be done, going about looking fits as well."""
    if step.injected in ("wrong_target", "wrong_value", "premature"):
        return frozenset(["wrong"])
    if step.injected == "useless" or isinstance(step.action, Wait):
        return frozenset(["explore", "invalid"])
    looking = step.action is not None and move_of(step.action) in ("look", "go")
    return frozenset(["correct", "explore"] if looking or not feasible else ["correct"])


def stored(folder: Path) -> Iterator[tuple[TaskSpec, Record]]:
    """Tasks and records of a stored run."""
    dataset = Dataset(folder)
    for trajectory in dataset.rows(Trajectory):
        yield dataset.task(trajectory.task_id), dataset.record(trajectory.attempt_id)


def played(seeds: int, mistakes: float) -> Iterator[tuple[TaskSpec, Record]]:
    """Fresh episodes of the planner on the application in memory."""
    config = RunConfig(policy=PolicyConfig(name="planner", mistakes=mistakes))
    environment = FakeEnvironment()
    for seed in range(seeds):
        for task in load_tasks("fake"):
            plan = plan_attempt("bench", task.task_id, policy_id(config), seed=seed)
            policy = build(config, task, seed)
            yield task, asyncio.run(rollout(task, environment, policy, sandbox_gate(), plan))


def graded(task: TaskSpec, record: Record, verdicts: Counter[tuple[str, str]]) -> Iterator[Graded]:
    """The steps of a record with their truth and grade; the trajectory's verdict is counted."""
    judgement = asyncio.run(
        judge_record(task, record, Bench(build_judges(["screen", "effect"])), PanelConfig(), "bench")
    )
    for verdict in judgement.verdicts:
        if verdict.target == "trace":
            verdicts[verdict.rule, verdict.grade or verdict.status] += 1
        elif verdict.status != "unscored" and verdict.step_index is not None:
            step = record.steps[verdict.step_index]
            mark = step.injected or ("ends" if isinstance(step.action, Finished) else "none")
            yield Graded(
                mark,
                fitting_grades(step, task.feasible),
                verdict.grade or "undecided",
                verdict.reason,
                step,
                task.instruction,
            )


def report(steps: list[Graded], verdicts: Counter[tuple[str, str]], examples: int) -> None:
    """The confusion table, examples of disagreement, the verdicts, and the figures."""
    columns = ["correct", "explore", "invalid", "wrong", "undecided"]
    table = Counter((one.mark, one.grade) for one in steps)
    print(f"{'mark':<14}" + "".join(f"{name:>11}" for name in columns))
    for mark in sorted({one.mark for one in steps}):
        print(f"{mark:<14}" + "".join(f"{table[mark, name]:>11}" for name in columns))
    missed = [one for one in steps if one.grade not in one.fitting]
    for one in missed[:examples]:
        print(f"- {one.mark} -> {one.grade}: {one.step.thought} | {one.reason} | {one.instruction}")
    print("verdicts: " + ", ".join(f"{rule}/{grade} {count}" for (rule, grade), count in sorted(verdicts.items())))
    decided = [one for one in steps if one.grade != "undecided"]
    accuracy = sum(one.grade in one.fitting for one in steps) / max(len(steps), 1)
    marked = [one for one in steps if one.mark not in ("none", "ends")]
    caught = sum(one.grade in one.fitting for one in marked) / max(len(marked), 1)
    print(
        f"steps={len(steps)} decided={len(decided)} accuracy={accuracy:.3f} "
        f"marked={len(marked)} marked_accuracy={caught:.3f}"
    )


def main() -> None:
    """Parse arguments, judge, print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--run", type=Path, help="a stored run; without it fresh episodes are played")
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--mistakes", type=float, default=0.2)
    parser.add_argument("--examples", type=int, default=0, help="print this many disagreements")
    given = parser.parse_args()
    verdicts: Counter[tuple[str, str]] = Counter()
    records = stored(given.run) if given.run else played(given.seeds, given.mistakes)
    report([one for task, record in records for one in graded(task, record, verdicts)], verdicts, given.examples)


if __name__ == "__main__":
    main()
