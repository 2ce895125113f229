"""An application's button gets another name: failures, write-back, another look at it, and it is accepted again.

The to-do application in memory plays the application; who acts, judges, writes back and explores is the real thing.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import timedelta

from catalogs.complaints import Rollout
from catalogs.coverage import untried, weights
from catalogs.explore import Budget, explore
from catalogs.store import load_catalog
from catalogs.subject import Subject
from catalogs.writeback import taken_out, to_explore, written_back
from pipeline.actions import Pixel
from pipeline.config import PanelConfig
from pipeline.envs.fake import FakeEnvironment
from pipeline.judging import Bench, judge_record
from pipeline.policies.planner import PlannerPolicy
from pipeline.protocols import Observation
from pipeline.records import now, tree_of
from pipeline.structs import TargetUnderPoint
from pipeline.tasks import Capability, TaskSpec
from taskspecs.store import load_tasks
from tests.episodes import play

ADD = "fake-todo.add"
OLD, NEW = "Add", "Create"
Known = Mapping[str, Capability]
TASKS = [task for task in load_tasks("fake") if task.feasible and task.language == "en"]


class NewRelease(FakeEnvironment):
    """The to-do application after an update: one button has another name."""

    async def observe(self) -> Observation:
        seen = await super().observe()
        assert seen.tree is not None
        nodes = [
            node.model_copy(update={"name": NEW}) if (node.role, node.name) == ("button", OLD) else node
            for node in seen.tree.nodes
        ]
        return seen.model_copy(update={"tree": tree_of(nodes)})

    async def target(self, pixel: Pixel) -> TargetUnderPoint | None:
        under = await super().target(pixel)
        return under.model_copy(update={"name": NEW}) if under and under.name == OLD else under


async def round_of(tasks: Sequence[TaskSpec], environment: FakeEnvironment, known: Known) -> list[Rollout]:
    """Each task once, as the planner does it by what is known, judged by its contract."""
    rollouts = []
    for seed, task in enumerate(tasks):
        record = await play(PlannerPolicy("p", task, 0.0, seed, known), task, environment)
        judgement = await judge_record(task, record, Bench([]), PanelConfig(), "pass")
        verdict = next(one for one in judgement.verdicts if one.target == "trace")
        rollouts.append(Rollout(task, record, verdict, verdict.grade == "complete" and not verdict.side_effects))
    return rollouts


def with_changes(known: Known, changed: Sequence[Capability]) -> Known:
    return {**known, **{one.capability_id: one for one in changed}}


async def test_a_renamed_button_is_found_again() -> None:
    known: Known = {one.capability_id: one for one in load_catalog("fake-todo")}

    first = await round_of(TASKS, FakeEnvironment(), known)
    known = with_changes(known, written_back(known.values(), first, 0, now()))

    assert {one.accepted for one in first} == {True}
    assert {one.status for one in known.values()} == {"confirmed"}

    second = await round_of(TASKS, NewRelease(), known)
    lost = [one.task.task_id for one in second if not one.accepted]
    known = with_changes(known, written_back(known.values(), second, 1, now()))

    assert len(lost) >= 2
    assert [one.capability_id for one in known.values() if one.status != "confirmed"] == [ADD]
    assert known[ADD].status == "renamed"
    sources = {entry.source for entry in known[ADD].evidence}
    assert {f"trajectory:{one.trajectory_id}" for one in second if not one.accepted} <= sources
    assert set(lost) <= {row.task_id for row in taken_out(TASKS, known.values(), now())}
    assert weights([untried(known[ADD])])[ADD] == 0
    stale = to_explore(known.values(), now(), timedelta(days=1))
    assert [one.capability_id for one in stale] == [ADD]

    found = await explore(Subject("fake-todo"), [NewRelease()], stale, Budget(seconds=30, states=0, edges=0), round_=2)
    known = with_changes(known, [one for one in found.capabilities if one.capability_id == ADD])

    assert known[ADD].status == "confirmed"
    assert known[ADD].procedure[-1].name == NEW
    assert taken_out(TASKS, known.values(), now()) == []

    third = await round_of([task for task in TASKS if task.task_id in lost], NewRelease(), known)
    known = with_changes(known, written_back(known.values(), third, 3, now()))

    assert {one.accepted for one in third} == {True}
    assert known[ADD].status == "confirmed"
