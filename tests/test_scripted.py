"""The script that turns procedures into actions, the policy that replays an oracle, and the one that does nothing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pytest

from pipeline import policies
from pipeline.actions import Action, Click, Pixel, Point, Scroll, SelectOption, Type, Wait
from pipeline.config import parse_config
from pipeline.envs.fake import FakeEnvironment, Faults
from pipeline.errors import ConfigError
from pipeline.policies.noop import NoopPolicy
from pipeline.policies.script import Move, Planned, Script, action_of
from pipeline.policies.scripted import ScriptedPolicy
from pipeline.policies.wording import Aim, thought
from pipeline.protocols import ActResult, Observation, Turn
from pipeline.records import Record
from pipeline.tasks import ProcedureStep, TaskSpec
from taskspecs.store import load_tasks
from tests.episodes import Curtained, fake_task, play
from verifiers.contract import evaluate, outcome_of
from verifiers.panel import unscored

FAKE_TASKS = load_tasks("fake")
DONE = {"action": "Finished"}


async def replay(
    *oracle: Mapping[str, object], environment: FakeEnvironment | None = None, language: str = "en", path: str = "/"
) -> Record:
    """The record of an oracle on the fake application."""
    base = fake_task()
    task = base.model_copy(
        update={
            "oracle": [ProcedureStep.model_validate(step) for step in oracle],
            "language": language,
            "start": base.start.model_copy(update={"path": path}),
        }
    )
    return await play(ScriptedPolicy("p", task), task, environment or FakeEnvironment())


def kinds(record: Record) -> list[str]:
    return [step.action.type if step.action else "-" for step in record.steps]


# --- every task of the fake set -----------------------------------------------------------------------------------


@pytest.mark.parametrize("task", FAKE_TASKS, ids=lambda task: f"{task.language}-{task.task_id[:6]}")
async def test_oracle_meets_its_contract(task: TaskSpec) -> None:
    record = await play(ScriptedPolicy("p", task), task)
    evaluated = evaluate(task, record, "pass")
    outcome = outcome_of(task, evaluated)
    assert evaluated.side_effects == []
    assert all(step.status == "ok" for step in record.steps)
    if task.feasible:
        assert (outcome.checks, record.trajectory.claim) == ("passed", "success")
    else:
        assert (outcome.absence, record.trajectory.claim) == ("passed", "infeasible")


@pytest.mark.parametrize("task", FAKE_TASKS, ids=lambda task: f"{task.language}-{task.task_id[:6]}")
async def test_doing_nothing_meets_none(task: TaskSpec) -> None:
    record = await play(NoopPolicy("p", task), task)
    assert kinds(record) == ["Finished"]
    assert record.trajectory.claim == "success"
    assert outcome_of(task, evaluate(task, record, "pass")).checks in ("failed", None)


def test_fake_set_has_all_tiers_both_languages_answers_and_what_cannot_be_done() -> None:
    assert {task.tier for task in FAKE_TASKS} == {"single", "multi", "workflow"}
    assert {task.language for task in FAKE_TASKS} == {"en", "zh"}
    assert {task.contract_kind for task in FAKE_TASKS} == {"state", "answer"}
    assert sum(not task.feasible for task in FAKE_TASKS) == 6
    assert len({task.task_id for task in FAKE_TASKS}) == len(FAKE_TASKS)


# --- one step at a time -------------------------------------------------------------------------------------------


async def test_typing_into_a_named_field_clicks_it_first() -> None:
    record = await replay({"action": "Type", "role": "textbox", "name": "New to-do", "content": "x"}, DONE)
    assert kinds(record) == ["Click", "Type", "Finished"]
    assert record.steps[0].target is not None and record.steps[0].target.name == "New to-do"


async def test_an_option_is_chosen_by_its_label() -> None:
    choose = {"action": "SelectOption", "role": "combobox", "name": "Priority", "content": "high"}
    record = await replay(choose, DONE)
    assert kinds(record) == ["Click", "SelectOption", "Finished"]
    assert record.steps[1].action == SelectOption(index=2)
    tree = record.trees[record.observations[2].tree_sha256 or ""]
    assert "high" in [node.value for node in tree.nodes if node.role == "combobox"]


async def test_an_option_without_a_field_belongs_to_the_one_clicked_last() -> None:
    clicked = {"action": "Click", "role": "combobox", "name": "Priority"}
    record = await replay(clicked, {"action": "SelectOption", "content": "low"}, DONE)
    assert record.steps[1].action == SelectOption(index=0)


async def test_what_lies_below_the_picture_is_scrolled_to() -> None:
    record = await replay({"action": "Click", "role": "checkbox", "name": "Done: Renew the passport"}, DONE)
    assert kinds(record) == ["Scroll", "Click", "Finished"]
    assert isinstance(record.steps[0].action, Scroll) and record.steps[0].action.direction == "down"
    assert record.probe_reads[-1].value == [["todo/10", "changed"]]


async def test_the_point_is_the_middle_of_what_shows() -> None:
    record = await replay({"action": "Click", "role": "button", "name": "Add"}, DONE)
    target = record.steps[0].target
    assert target is not None and target.box is not None
    pixel = record.steps[0].device_point
    assert pixel is not None
    assert abs(pixel.x - target.box.centre.x) <= 1 and abs(pixel.y - target.box.centre.y) <= 1


async def test_what_is_absent_is_waited_for_then_the_user_is_asked() -> None:
    record = await replay({"action": "Click", "role": "button", "name": "Publish"}, DONE)
    assert kinds(record) == ["Wait", "Wait", "Wait", "CallUser"]
    assert record.trajectory.claim == "none"
    assert "Publish" in record.steps[-1].reply


async def test_an_optional_step_is_skipped_when_absent() -> None:
    optional = {"action": "Click", "role": "button", "name": "Accept cookies", "optional": True}
    assert kinds(await replay(optional, DONE)) == ["Finished"]


async def test_an_optional_step_is_done_when_present() -> None:
    optional = {"action": "Click", "role": "link", "name": "Help", "optional": True}
    assert kinds(await replay(optional, DONE)) == ["Click", "Finished"]


async def test_a_plan_that_is_used_up_ends() -> None:
    optional = {"action": "Click", "role": "button", "name": "Accept cookies", "optional": True}
    assert kinds(await replay({"action": "Wait"}, optional)) == ["Wait", "Finished"]


async def test_what_is_captured_fills_later_steps() -> None:
    note = {"action": "TakeNote", "capture": r"^Done: (\d+)$", "save_as": "done", "content": "{done}"}
    record = await replay(note, {"action": "Finished", "content": "{done} done"}, path="/statistics")
    assert kinds(record) == ["TakeNote", "Finished"]
    assert record.trajectory.answer == "2 done"


async def test_nothing_to_capture_is_like_something_absent() -> None:
    note = {"action": "TakeNote", "capture": r"^Late: (\d+)$", "save_as": "late", "content": "{late}"}
    assert kinds(await replay(note, DONE, path="/statistics")) == [*("Wait",) * 3, "CallUser"]


async def test_steps_without_a_place() -> None:
    record = await replay(
        {"action": "Launch", "content": "/help"},
        {"action": "PressBack"},
        {"action": "Hotkey", "content": "Control+a"},
        {"action": "GetUrl"},
        {"action": "Scroll", "content": "up"},
        DONE,
    )
    assert kinds(record) == ["Launch", "PressBack", "Hotkey", "GetUrl", "Scroll", "Finished"]
    assert all(step.status == "ok" for step in record.steps)


async def test_a_window_that_forbids_pictures_is_not_waited_on_for_ever() -> None:
    wanted = {"action": "Click", "role": "button", "name": "Add"}

    record = await replay({"action": "Wait"}, wanted, DONE, environment=Curtained(after=1))

    assert kinds(record) == ["Wait", "Wait", "Wait", "Wait", "CallUser"]
    assert record.trajectory.fault is None and record.trajectory.claim == "none"
    assert "no picture: secure_screen" in record.steps[-1].reply


async def test_a_window_that_shows_again_is_gone_on_with() -> None:
    wanted = {"action": "Click", "role": "button", "name": "Add"}

    record = await replay({"action": "Wait"}, wanted, DONE, environment=Curtained(after=1, looks=2))

    assert kinds(record) == ["Wait", "Wait", "Wait", "Click", "Finished"]


async def test_what_needs_no_place_is_done_without_a_picture() -> None:
    record = await replay({"action": "PressBack"}, DONE, environment=Curtained(after=0))

    assert kinds(record) == ["PressBack", "Finished"]
    assert unscored(record) is not None


class Forgetful(FakeEnvironment):
    """Takes the focus away after the first clicks."""

    def __init__(self, times: int) -> None:
        super().__init__()
        self.times = times

    async def act(self, action: Action, points: Sequence[Pixel]) -> ActResult:
        result = await super().act(action, points)
        if isinstance(action, Click) and self.times > 0:
            self.times -= 1
            self._app.focus = None
        return result


async def test_a_lost_focus_is_regained() -> None:
    typed = {"action": "Type", "role": "textbox", "name": "New to-do", "content": "x"}
    record = await replay(typed, DONE, environment=Forgetful(1))
    assert [(step.action.type, step.status) for step in record.steps if step.action] == [
        ("Click", "ok"),
        ("Type", "failed"),
        ("Click", "ok"),
        ("Type", "ok"),
        ("Finished", "ok"),
    ]


async def test_it_is_not_regained_for_ever() -> None:
    typed = {"action": "Type", "role": "textbox", "name": "New to-do", "content": "x"}
    record = await replay(typed, DONE, environment=Forgetful(100))
    assert kinds(record) == ["Click", "Type", "Click", "Type", "Click", "Type", "Finished"]


async def test_without_a_picture_it_waits() -> None:
    base = fake_task()
    record = await play(ScriptedPolicy("p", base), base, faults=Faults(failing_looks=[0]))
    assert kinds(record)[:2] == ["Wait", "Click"]
    assert record.trajectory.termination == "finished"


async def looked() -> Observation:
    environment = FakeEnvironment()
    await environment.start(fake_task())
    return await environment.observe()


async def test_a_proposal_changes_nothing_until_it_is_taken() -> None:
    first = Planned(ProcedureStep(action="Click", role="button", name="Add"))
    script = Script([first, Planned(ProcedureStep(action="Finished"))], "en")
    turn = Turn(0, await looked(), None, None)
    move = script.propose(turn)
    assert script.propose(turn) == move
    assert isinstance(move, Move)
    script.take(move)
    following = script.propose(turn)
    assert isinstance(following, Move) and following.action.type == "Finished"


async def test_a_screen_without_a_tree_is_waited_for() -> None:
    script = Script([Planned(ProcedureStep(action="Click", role="button", name="Add"))], "en")
    blind = (await looked()).model_copy(update={"tree": None, "tree_error": "timeout"})
    waits = 0
    while isinstance(move := script.propose(Turn(waits, blind, None, None)), Move):
        assert isinstance(move.action, Wait)
        script.take(move)
        waits += 1
    assert waits == 3


# --- words --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("language", "words"),
    [
        ("en", ['Click the textbox "New to-do"', 'Type "x" into the textbox "New to-do"', "Finish, since"]),
        ("zh", ["点击输入框“New to-do”", "在输入框“New to-do”中输入“x”", "要求的都已完成"]),
    ],
)
async def test_thoughts_name_action_and_target_in_the_tasks_language(language: str, words: list[str]) -> None:
    typed = {"action": "Type", "role": "textbox", "name": "New to-do", "content": "x"}
    record = await replay(typed, DONE, language=language)
    assert len(record.steps) == len(words)
    for step, expected in zip(record.steps, words, strict=True):
        assert step.thought.startswith(expected)


@pytest.mark.parametrize(
    ("language", "words"), [("en", "Click the textbox to look."), ("zh", "点击输入框，以便look。")]
)
def test_a_thought_of_something_without_a_name_quotes_nothing(language: str, words: str) -> None:
    assert thought(language, Click(point=Point(x=1, y=1)), Aim("textbox", ""), "look") == words


async def test_reply_is_the_action_in_the_canonical_dialect() -> None:
    record = await replay({"action": "Type", "content": "你好"}, DONE)
    assert record.steps[0].reply == '{"type":"Type","content":"你好"}'
    assert record.steps[0].action == Type(content="你好")
    assert (record.steps[0].dialect, record.steps[0].divisor) == ("canonical", 1000)


@pytest.mark.parametrize("fields", [{"action": "Fly"}, {"action": "Drag"}, {"action": "Scroll", "content": "sideways"}])
def test_a_step_no_action_stands_for_is_a_configuration_error(fields: dict[str, str]) -> None:
    with pytest.raises(ConfigError, match=fields["action"]):
        action_of(ProcedureStep.model_validate(fields), point=Point(x=1, y=1))


async def test_a_step_may_point_at_a_part_of_a_box_and_draw_from_there() -> None:
    drag = {"action": "Drag", "role": "textbox", "name": "New to-do", "content": "0.5,0.5 1.5,-0.5"}
    record = await replay(drag, DONE)
    step = record.steps[0]
    target, start, end = step.target, step.device_point, step.device_point_end

    assert target is not None and target.box is not None and start is not None and end is not None
    width, height = target.box.right - target.box.left, target.box.bottom - target.box.top
    assert (abs(end.x - start.x - width) <= 2, abs(start.y - end.y - height) <= 2) == (True, True)


async def test_what_is_no_place_in_a_box_is_a_configuration_error() -> None:
    with pytest.raises(ConfigError, match="is no place in a box"):
        await replay({"action": "Click", "role": "textbox", "name": "New to-do", "content": "left"}, DONE)


# --- building -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["noop", "planner", "scripted"])
def test_a_policy_is_built_by_name_with_the_identity_known_beforehand(name: str) -> None:
    config = parse_config({"policy": name})
    policy = policies.build(config, fake_task(), seed=1)
    assert (policy.name, policy.policy_id) == (name, policies.policy_id(config))


def test_identity_tells_policies_and_their_settings_apart() -> None:
    names = [{"name": "noop"}, {"name": "scripted"}, {"name": "planner"}, {"name": "planner", "mistakes": 0.2}]
    assert len({policies.policy_id(parse_config({"policy": policy})) for policy in names}) == 4


def test_mistakes_do_not_change_the_identity_of_a_policy_that_makes_none() -> None:
    one, other = ({"policy": {"name": "scripted", "mistakes": mistakes}} for mistakes in (0.0, 0.5))
    assert policies.policy_id(parse_config(one)) == policies.policy_id(parse_config(other))
