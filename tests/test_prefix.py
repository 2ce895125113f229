"""An attempt that begins with an earlier one's steps: made again or loaded, verified, and nobody's own."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pipeline.actions import Action, CallUser, Finished, Pixel, Wait
from pipeline.config import PanelConfig
from pipeline.envs.fake import FakeEnvironment
from pipeline.errors import ActionError, ModelError
from pipeline.judging import Bench, build_judges, judge_record
from pipeline.policies.canned import CannedPolicy
from pipeline.policies.scripted import ScriptedPolicy
from pipeline.prefix import SEEDED, Prefix, decision_of
from pipeline.protocols import ActResult, Decision
from pipeline.records import Record, Step
from pipeline.structs import Usage
from pipeline.tasks import CHANGES, TaskSpec
from tests.episodes import FixedGate, fake_task, play
from tests.prefixes import long_task, planner, rest, states, whole


class Watched(FakeEnvironment):
    """Tells what was done in it, and what it holds at the end."""

    def __init__(self) -> None:
        super().__init__()
        self.acted: list[Action] = []
        self.state: dict[str, str] = {}

    async def act(self, action: Action, points: Sequence[Pixel]) -> ActResult:
        self.acted.append(action)
        return await super().act(action, points)

    async def finish(self) -> None:
        self.state = self._app.state()
        await super().finish()


class Forgetful(Watched):
    """Drops whatever it keeps."""

    async def keep(self, name: str) -> None:
        del name


def actions(record: Record) -> list[Action | None]:
    return [step.action for step in record.steps]


def replayed(record: Record) -> list[bool]:
    return [step.replayed for step in record.steps]


def fault(record: Record) -> tuple[str, str] | None:
    found = record.trajectory.fault
    return (found.boundary, found.code) if found else None


def again(step: Step) -> Decision:
    """A stored step as a decision."""
    points = [point for point in (step.device_point, step.device_point_end) if point is not None]
    return Decision(thought="", action=step.action, reply=step.reply, device_points=points)


# --- the steps are made again -------------------------------------------------------------------------------------


@pytest.mark.parametrize("segment", [1, 2])
async def test_the_policy_takes_over_where_the_segments_before_are_done(segment: int) -> None:
    task, environment = long_task(), Watched()
    earlier = await whole(task)

    record = await rest(Prefix(earlier, segment), task, environment)

    own = replayed(record).index(False)
    assert actions(record)[:own] == actions(earlier)[:own] == environment.acted[:own]
    assert not any(replayed(record)[own:]) and record.trajectory.step_count == len(record.steps) - own
    assert set(states(task, record)) == {"passed"} and record.trajectory.termination == "finished"
    assert (record.attempt.start_segment, record.attempt.prefix_attempt_id) == (segment, earlier.attempt.attempt_id)


@settings(max_examples=4, deadline=None)
@given(st.integers(0, 10_000), st.sampled_from(["Add the to-dos", "Write the notes", "Set the priority of"]))
async def test_a_prefix_and_the_rest_lead_where_the_whole_led(seed: int, beginning: str) -> None:
    task, direct = fake_task(beginning), Watched()
    earlier = await play(planner(task, 0.2, seed), task, direct)
    for segment in range(1, len(task.segments)):
        prefix, environment = Prefix(earlier, segment), Watched()
        for _ in range(2):  # made again, then loaded
            reached = await rest(prefix, task, environment, CannedPolicy([Finished()]))
            if fault(reached) is not None:
                assert fault(reached) == ("setup", "prefix_not_reached") and not reached.own_steps
                continue
            done = [one for reply in prefix.replies for one in reply][: replayed(reached).count(True)]
            left = [step for step in earlier.steps if step.step_index > done[-1].step.step_index]

            record = await rest(prefix, task, environment, CannedPolicy([again(step) for step in left]))

            assert environment.state == direct.state
            assert [row.tree_sha256 for row in record.observations[-len(left) :]] == [
                row.tree_sha256 for row in earlier.observations[-len(left) :]
            ]


async def test_replayed_steps_cost_nothing_and_ask_nobody() -> None:
    task = long_task()
    policy = CannedPolicy([Finished()])

    record = await rest(Prefix(await whole(task), 1), task, policy=policy)

    (turn,) = policy.turns
    assert turn.step_index == len(record.steps) - 1
    assert [step.seconds_decide for step in record.steps[:-1]] == [0.0] * (len(record.steps) - 1)
    assert record.trajectory.usage == Usage() and record.model_calls == []


async def test_the_gate_is_asked_of_every_replayed_step() -> None:
    task, gate = long_task(), FixedGate()

    record = await rest(Prefix(await whole(task), 1), task, gate=gate, policy=CannedPolicy([Finished()]))

    assert [asked[2] for asked in gate.asked] == actions(record)[:-1]


async def test_what_did_not_take_place_is_not_made_again() -> None:
    task = long_task()
    earlier = await whole(task)
    steps = [
        step.model_copy(update={"status": "failed"} if number == 0 else {}) for number, step in enumerate(earlier.steps)
    ]

    prefix = Prefix(earlier.model_copy(update={"steps": steps}), 1)

    assert [done.action for reply in prefix.replies for done in reply] == actions(earlier)[1:-1]


async def test_steps_of_one_reply_stay_together() -> None:
    task = long_task()
    earlier = await whole(task)
    joined = [
        step.model_copy(update={"reply_id": "r", "substep": number} if number < 3 else {})
        for number, step in enumerate(earlier.steps)
    ]
    prefix = Prefix(earlier.model_copy(update={"steps": joined}), 1)
    policy = CannedPolicy([Finished()])

    record = await rest(prefix, task, policy=policy)

    assert decision_of(prefix.replies[0]).then == [done.move for done in prefix.replies[0][1:]]
    assert len({step.reply_id for step in record.steps[:3]}) == 1
    assert [step.substep for step in record.steps[:4]] == [0, 1, 2, 0]


async def test_an_attempt_that_began_later_is_a_prefix_itself() -> None:
    task = long_task()
    second = await rest(Prefix(await whole(task), 1), task)

    third = await rest(Prefix(second, 2), task)

    assert set(states(task, third)) == {"passed"}
    assert third.trajectory.step_count < second.trajectory.step_count


async def test_own_steps_alone_count_towards_the_limit() -> None:
    task = long_task()
    earlier = await whole(task)
    short = task.model_copy(update={"max_steps": 3})

    record = await rest(Prefix(earlier, 2), short, policy=CannedPolicy([Wait()]))

    assert (record.trajectory.termination, record.trajectory.step_count) == ("step_limit", 3)


# --- a prefix that no longer works ---------------------------------------------------------------------------------


async def test_a_prefix_that_does_not_do_its_segments_is_a_fault_of_the_set_up() -> None:
    task = long_task()
    idle = await play(CannedPolicy([Wait(), CallUser(content="?")]), task)

    record = await rest(Prefix(idle, 1), task)

    assert fault(record) == ("setup", "prefix_not_reached") and replayed(record) == [True]
    assert "suitcase, camera" in (record.attempt.fault.message if record.attempt.fault else "")
    assert not record.attempt.final or record.attempt.number == 1


async def test_a_step_that_fails_now_ends_it_before_the_policy_acts() -> None:
    class Covered(FakeEnvironment):
        async def act(self, action: Action, points: Sequence[Pixel]) -> ActResult:
            del action, points
            raise ActionError("target_covered", "a banner lies over it")

    task = long_task()

    record = await rest(Prefix(await whole(task), 1), task, Covered())

    assert fault(record) == ("setup", "prefix_not_reached") and record.own_steps == []
    assert [(step.replayed, step.status) for step in record.steps] == [(True, "failed")]
    assert "step 0 (Click) failed: a banner" in (record.attempt.fault.message if record.attempt.fault else "")


async def test_a_prefix_with_a_side_effect_is_not_taken() -> None:
    task = long_task()
    prefix = Prefix(await whole(task), 1)
    strict = task.model_copy(update={"expected_changes": ["todo/11"]})

    record = await rest(prefix, strict)

    assert fault(record) == ("setup", "prefix_not_reached")
    assert "todo/12" in (record.attempt.fault.message if record.attempt.fault else "")


@pytest.mark.parametrize("ruling", ["ask", "refuse"])
async def test_a_step_that_the_gate_forbids_now_ends_it_as_a_fault(ruling: str) -> None:
    task = long_task()

    record = await rest(Prefix(await whole(task), 1), task, gate=FixedGate(ruling))

    assert fault(record) == ("setup", "prefix_not_reached") and record.trajectory.termination == "fault"


async def test_a_prefix_that_does_not_lead_there_is_never_graded() -> None:
    task = long_task()
    record = await rest(Prefix(await play(CannedPolicy([Finished()]), task), 1), task)

    judged = await judge_record(task, record, Bench(build_judges(["screen", "effect"])), PanelConfig(), "pass")

    assert [(one.target, one.status, one.rule) for one in judged.verdicts] == [("trace", "unscored", "fault")]


# --- states that are kept ------------------------------------------------------------------------------------------


async def test_a_kept_state_is_loaded_and_nothing_is_done_again() -> None:
    task, environment = long_task(), Watched()
    prefix = Prefix(await whole(task), 2)
    first = await rest(prefix, task, environment)
    environment.acted.clear()

    second = await rest(prefix, task, environment, number=2)

    own = replayed(first).index(False)
    assert actions(second) == actions(first) and environment.acted == actions(first)[own:-1]
    assert [SEEDED in step.flags for step in second.steps] == replayed(second) == replayed(first)
    assert [row.frame_sha256 for row in second.observations] == [row.frame_sha256 for row in first.observations]
    assert {row.attempt_id for row in second.observations} == {second.attempt.attempt_id}
    assert states(task, second) == states(task, first)


async def test_a_policy_is_told_the_same_of_steps_that_are_loaded() -> None:
    class Hearing(CannedPolicy):
        def follow(self, turn: object, decision: object) -> None:
            heard.append((turn, decision))

    task, environment = long_task(), FakeEnvironment()
    prefix = Prefix(await whole(task), 1)
    heard: list[tuple[object, object]] = []
    await rest(prefix, task, environment, Hearing([Finished()]))
    made, heard = heard, []

    await rest(prefix, task, environment, Hearing([Finished()]))

    assert [decision for _, decision in heard] == [decision for _, decision in made]


async def test_a_state_that_was_dropped_is_reached_step_by_step() -> None:
    task, environment = long_task(), Forgetful()
    prefix = Prefix(await whole(task), 1)

    for _ in range(2):
        record = await rest(prefix, task, environment)

    assert set(states(task, record)) == {"passed"} and not any(SEEDED in step.flags for step in record.steps)


async def test_a_kept_state_that_is_not_what_was_kept_is_a_fault_once() -> None:
    class Mistaken(FakeEnvironment):
        async def keep(self, name: str) -> None:
            spoilt = self._app.todos.pop(11)
            await super().keep(name)
            self._app.todos[11] = spoilt

    task, environment = long_task(), Mistaken()
    prefix = Prefix(await whole(task), 1)
    records = [await rest(prefix, task, environment) for _ in range(3)]

    assert [fault(record) for record in records] == [None, ("setup", "prefix_not_reached"), None]


async def test_reads_are_told_once_also_when_the_model_fails_at_once() -> None:
    task, environment = long_task(), FakeEnvironment()
    prefix = Prefix(await whole(task), 1)
    for _ in range(2):
        record = await rest(prefix, task, environment, CannedPolicy([ModelError("down", "no answer")]))
        places = [(row.observation_index, row.probe) for row in record.probe_reads]
        assert len(places) == len(set(places)) and (0, CHANGES) in places


# --- who goes on ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("mistakes", [0.0, 0.2])
async def test_the_oracle_goes_on_behind_what_another_policy_did(mistakes: float) -> None:
    task = long_task()
    earlier = await play(planner(task, mistakes, seed=1), task)

    record = await rest(Prefix(earlier, 1), task, policy=ScriptedPolicy("scripted", task))

    assert set(states(task, record)) == {"passed"}


# --- nobody's own --------------------------------------------------------------------------------------------------


async def judged_steps(task: TaskSpec, record: Record) -> tuple[set[int | None], set[int | None]]:
    """Which steps have votes, and which verdicts."""
    judged = await judge_record(task, record, Bench(build_judges(["screen", "effect"])), PanelConfig(), "pass")
    votes = {vote.step_index for vote in judged.votes if vote.target == "step"}
    return votes, {one.step_index for one in judged.verdicts if one.target == "step"}


async def test_replayed_steps_have_neither_votes_nor_verdicts() -> None:
    task = long_task()
    record = await rest(Prefix(await whole(task), 1), task)

    own = {step.step_index for step in record.own_steps}
    assert await judged_steps(task, record) == (own, own)


@pytest.mark.parametrize("policy", [CannedPolicy([Finished()]), CannedPolicy([Wait(), Finished()])])
async def test_segments_of_the_prefix_make_nobody_partly_right(policy: CannedPolicy) -> None:
    task = long_task()
    record = await rest(Prefix(await whole(task), 2), task, policy=policy)

    judged = await judge_record(task, record, Bench(build_judges(["screen", "effect"])), PanelConfig(), "pass")

    trace = judged.verdicts[0]
    assert (trace.grade, trace.segments_passed) == ("fail", 2)
