"""How far trajectories followed recorded procedures: whoever acted, by what lay under the points."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from catalogs.following import Followed, followed, way_of
from catalogs.store import load_catalog
from pipeline.actions import Action, Finished, Hotkey, PressBack, Scroll, SelectOption, TakeNote, Type, Wait
from pipeline.actions import Point as Canonical
from pipeline.policies.planner import PlannerPolicy
from pipeline.records import Step
from pipeline.structs import Param
from pipeline.tasks import CapabilityCall, ProcedureStep, TaskSpec
from taskspecs.store import load_tasks
from tests.episodes import play
from tests.records import Look, click, record, step
from tests.rounds import BARE, CREATE, FORM, HOME, SUMMARY, TICKET, capability, create_task, stuck, worked

KNOWN = {CREATE: capability()}
MIDDLE = Canonical(x=500, y=500)


def walked(looks: Sequence[Look], steps: Sequence[Step], *procedure: ProcedureStep) -> Followed:
    """The trajectory compared with a procedure; by default the one that creates a ticket."""
    known = {CREATE: capability(procedure=list(procedure))} if procedure else KNOWN
    return followed(way_of(create_task(), known), record(looks, steps))


def test_a_recorded_procedure_is_followed_to_its_end() -> None:
    made = worked()

    found = followed(way_of(made.task, KNOWN), made.record)

    assert (found.at, found.whole, found.strayed, found.stuck) == (3, True, False, None)


def test_what_is_due_is_the_first_step_that_was_not_taken() -> None:
    made = stuck(BARE, BARE)

    found = followed(way_of(made.task, KNOWN), made.record)

    assert found.stuck is not None and found.stuck.step.name == "Create"
    assert not found.whole
    assert [len(screen.nodes) for screen in found.looks] == [len(BARE.nodes or [])] * 3


def test_a_click_beside_the_target_is_no_step_of_the_way() -> None:
    found = walked([HOME, FORM], [click(HOME, "Search")])

    assert (found.at, len(found.looks)) == (0, 1)


@pytest.mark.parametrize(
    "done",
    [
        step(Type(content="another text"), screen=FORM),
        step(Type(content=SUMMARY), screen=FORM, status="failed", action_error="text_not_delivered"),
        step(None, screen=FORM, status="failed", action_error="no_action"),
        step(Wait()),
    ],
    ids=["another value", "failed", "unreadable", "waiting"],
)
def test_what_is_not_what_was_due_takes_no_step(done: Step) -> None:
    found = walked([HOME, FORM, FORM, FORM], [click(HOME, "New"), click(FORM, "Summary"), done])

    assert found.at == 1


def test_something_else_between_two_steps_is_going_astray() -> None:
    back = [click(HOME, "New"), step(PressBack()), click(HOME, "New"), click(FORM, "Summary")]
    found = walked([HOME, FORM, HOME, FORM, FORM], [*back, step(Type(content=SUMMARY))])

    assert (found.at, found.strayed) == (2, True)


def test_looking_for_the_beginning_is_not_going_astray() -> None:
    found = walked([HOME, TICKET, HOME, FORM], [click(HOME, "Search"), step(PressBack()), click(HOME, "New")])

    assert (found.at, found.strayed) == (1, False)


def test_looking_around_is_not_going_astray() -> None:
    idle: list[Action] = [Wait(), Scroll(point=MIDDLE, direction="down"), TakeNote(content="a form")]
    steps = [click(HOME, "New"), *(step(action) for action in idle), click(FORM, "Summary")]
    found = walked([HOME, *[FORM] * 5], [*steps, step(Type(content=SUMMARY))])

    assert (found.at, found.strayed) == (2, False)


def test_the_screens_end_where_the_way_was_left() -> None:
    found = walked([HOME, BARE, HOME, HOME], [click(HOME, "New"), step(PressBack()), step(Wait())])

    assert [screen.tried and screen.tried.action for screen in found.looks] == [PressBack()]


def test_a_step_may_be_done_once_more() -> None:
    found = walked([HOME, HOME, FORM, FORM], [click(HOME, "New"), click(HOME, "New"), click(FORM, "Summary")])

    assert (found.at, found.strayed) == (1, False)


CHOICE = ProcedureStep(action="SelectOption", role="combobox", name="Priority", content="high")


@pytest.mark.parametrize(("index", "at"), [(1, 1), (0, 0)])
def test_an_option_is_taken_by_its_label(index: int, at: int) -> None:
    found = walked([FORM, FORM, FORM], [click(FORM, "Priority"), step(SelectOption(index=index))], CHOICE)

    assert found.at == at


def test_optional_steps_may_be_left_out() -> None:
    optional = ProcedureStep(action="Click", role="button", name="Accept cookies", optional=True)
    new = ProcedureStep(action="Click", role="link", name="New")

    assert walked([HOME, FORM], [click(HOME, "New")], optional, new).whole


NOTE = ProcedureStep(action="TakeNote", capture=r"^Lamp (\w+)$", save_as="how", content="{how}")


@pytest.mark.parametrize(("screen", "due"), [(TICKET, False), (FORM, True)])
def test_what_is_to_be_read_is_due_unless_it_was_on_a_screen(screen: Look, due: bool) -> None:
    found = walked([screen, screen], [step(Finished(content="flickers"))], NOTE)

    assert (found.stuck is not None) == due
    assert found.whole


def test_a_key_takes_the_step_of_its_kind() -> None:
    found = walked([FORM, FORM], [step(Hotkey(keys=["Control", "a"]))], ProcedureStep(action="Hotkey", content="x"))

    assert found.whole


def test_a_screen_that_could_not_be_read_is_no_look() -> None:
    blind = Look(None)
    found = walked([HOME, blind, FORM], [click(HOME, "New"), step(Wait())])

    assert len(found.looks) == 1


def test_slots_say_what_a_task_names() -> None:
    steps = [
        ProcedureStep(action="Click", role="link", name="New"),
        ProcedureStep(action="Click", role="link", name="{summary}"),
        ProcedureStep(action="Type", role="textbox", name="Summary", content="{summary}"),
        ProcedureStep(action="SelectOption", role="combobox", name="Priority", content="{summary}"),
        ProcedureStep(action="Click", role="link", name="{read_before}"),
    ]

    way = way_of(create_task(), {CREATE: capability(procedure=steps)})

    assert [one.named_by_task for one in way] == [False, True, False, True, True]


def test_there_is_no_way_where_one_procedure_is_not_known() -> None:
    other = capability("demo.other", procedure=[])

    assert way_of(create_task(CREATE, "demo.other"), {**KNOWN, "demo.other": other}) == []
    assert way_of(create_task(CREATE, "demo.unheard"), KNOWN) == []


def test_each_step_knows_its_capability() -> None:
    other = capability("demo.other", procedure=[ProcedureStep(action="Click", role="link", name="Search")])

    way = way_of(create_task(CREATE, "demo.other"), {**KNOWN, "demo.other": other})

    assert [one.capability_id for one in way] == [CREATE] * 3 + ["demo.other"]


POSSIBLE = [task for task in load_tasks("fake")[::2] if task.feasible]


@pytest.mark.parametrize("task", POSSIBLE, ids=lambda task: task.task_id[:6])
async def test_the_planner_follows_its_own_procedures(task: TaskSpec) -> None:
    known = {one.capability_id: one for one in load_catalog("fake-todo")}

    made = await play(PlannerPolicy("p", task, 0.0, 1), task)

    found = followed(way_of(task, known), made)
    assert (found.whole, found.strayed) == (True, False)


def test_calls_are_bound_one_by_one() -> None:
    calls = [CapabilityCall(capability_id=CREATE, params=[Param(name="summary", value=text)]) for text in "ab"]

    way = way_of(create_task(calls=calls), KNOWN)

    assert [one.step.content for one in way if one.step.action == "Type"] == ["a", "b"]
