"""What one trajectory says against a capability: what its screens show, and never what its agent did wrong."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from catalogs.complaints import Rollout, complaint_of
from catalogs.store import load_catalog
from pipeline.actions import CallUser, Finished, PressBack, SelectOption, Type, Wait
from pipeline.config import PanelConfig
from pipeline.envs.fake import FakeEnvironment
from pipeline.judging import Bench, judge_record
from pipeline.policies.noop import NoopPolicy
from pipeline.policies.planner import PlannerPolicy
from pipeline.protocols import Policy
from pipeline.records import Event, Step
from pipeline.structs import Fault
from pipeline.tasks import ProcedureStep, TaskSpec
from taskspecs.store import load_tasks
from tests.episodes import play
from tests.records import Look, click, look, node, step
from tests.rounds import (
    BARE,
    CREATE,
    EMPTY,
    FORM,
    HOME,
    LOGIN,
    RENAMED,
    SUMMARY,
    capability,
    create_task,
    rolled_out,
    stuck,
    way,
    without_effect,
    worked,
)

KNOWN = {CREATE: capability()}


def kind(rollout: Rollout, known: Any = None) -> str | None:
    """The kind of complaint a trajectory makes."""
    found = complaint_of(rollout, known or KNOWN)
    return found and found.kind


# --- what is a complaint ------------------------------------------------------------------------------------------


def test_what_belongs_to_the_application_and_was_never_there_is_missing() -> None:
    found = complaint_of(stuck(BARE, BARE), KNOWN)

    assert found == (CREATE, "missing", "button 'Create' is missing")


def test_something_like_it_in_its_place_is_a_renaming() -> None:
    found = complaint_of(stuck(RENAMED, RENAMED), {CREATE: _asking_for("Submit ticket")})

    assert found == (CREATE, "renamed", "button 'Submit ticket' is missing; there is button 'Create ticket'")


def test_what_another_procedure_needs_is_no_renaming() -> None:
    other = capability("demo.other", procedure=[ProcedureStep(action="Click", role="button", name="Create ticket")])

    assert kind(stuck(RENAMED, RENAMED), {CREATE: _asking_for("Submit ticket"), "demo.other": other}) == "missing"


@pytest.mark.parametrize("ending", ["call_user", "finished", "loop", "step_limit", "time_limit"])
def test_however_the_agent_ended(ending: Any) -> None:
    assert kind(stuck(BARE, BARE, termination=ending, claim="none")) == "missing"


def test_a_control_that_does_not_take_the_action_refuses_it() -> None:
    looks, steps = way(FORM)
    refused = click(FORM, "Create").model_copy(update={"status": "failed", "action_error": "target_covered"})
    found = complaint_of(rolled_out([*looks, FORM], [*steps[:-1], refused, steps[-1]]), KNOWN)

    assert found == (CREATE, "refused", "button 'Create': target_covered")


def test_a_login_wall_asks_for_a_login() -> None:
    events = [Event(attempt_id="t1-1", step_index=0, kind="login")]
    ended: dict[str, Any] = {"termination": "blocked", "reason": "login", "grade": None}

    assert kind(stuck(LOGIN, LOGIN, events=events, judged={"status": "unscored"}, **ended)) == "login"


def test_so_does_a_password_where_the_control_should_be() -> None:
    assert kind(stuck(LOGIN, LOGIN)) == "login"


def test_a_whole_procedure_without_effect_is_a_complaint() -> None:
    assert kind(without_effect()) == "no_effect"


def test_judges_who_see_that_a_function_is_missing_are_heard_where_no_procedure_is_known() -> None:
    known = {CREATE: capability(procedure=[])}

    assert kind(stuck(BARE, BARE, grade="infeasible"), known) == "infeasible"
    assert kind(stuck(BARE, BARE, grade="fail"), known) is None


def test_an_option_that_no_task_names_may_be_missing() -> None:
    choice = ProcedureStep(action="SelectOption", role="combobox", name="Priority", content="urgent")
    known = {CREATE: capability(procedure=[choice])}

    assert kind(rolled_out([FORM, FORM, FORM], [click(FORM, "Priority"), step(CallUser(content="?"))]), known) == (
        "missing"
    )


def test_the_capability_that_was_due_is_blamed() -> None:
    other = capability("demo.other", procedure=[ProcedureStep(action="Click", role="link", name="Archive")])
    made = rolled_out(*_created_and_waited(), of=create_task(CREATE, "demo.other"), grade="partial")

    found = complaint_of(made, {**KNOWN, "demo.other": other})

    assert found is not None and (found.capability_id, found.kind) == ("demo.other", "missing")


# --- what is none -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "rollout",
    [
        pytest.param(worked(), id="accepted"),
        pytest.param(stuck(BARE, BARE, grade=None), id="undecided"),
        pytest.param(stuck(BARE, BARE, grade=None, judged={"status": "unscored"}), id="unscored"),
        pytest.param(stuck(BARE, BARE)._replace(verdict=None), id="not judged"),
        pytest.param(stuck(BARE, BARE, grade="complete"), id="complete, but not accepted"),
        pytest.param(
            stuck(BARE, BARE, termination="fault", fault=Fault(boundary="env", code="crashed", message="x")),
            id="fault",
        ),
        pytest.param(stuck(BARE, BARE, termination="cancelled"), id="cancelled"),
        pytest.param(stuck(BARE, BARE, termination="refused"), id="the model refused"),
        pytest.param(stuck(BARE, BARE, termination="unreadable"), id="unreadable replies"),
        pytest.param(stuck(BARE, BARE, termination="blocked", reason="gate"), id="blocked by the gate"),
        pytest.param(stuck(BARE, BARE, termination="blocked", reason="captcha"), id="blocked by a captcha"),
        pytest.param(stuck(BARE, BARE, of=create_task(feasible=False)), id="made to be infeasible"),
        pytest.param(without_effect(judged={"side_effects": ["ticket/2"]}), id="side effects"),
        pytest.param(stuck(FORM, FORM), id="the control was there"),
        pytest.param(stuck(BARE, FORM), id="the control came late"),
        pytest.param(stuck(EMPTY, EMPTY), id="the application showed an error"),
        pytest.param(stuck(Look(None), Look(None)), id="no screen could be read"),
        pytest.param(without_effect(claim="none"), id="the agent did not say it was done"),
        pytest.param(without_effect(judged={"rule": "quorum"}), id="no check failed"),
        pytest.param(without_effect(of=create_task(contract_kind="answer")), id="the answer was wrong"),
    ],
)
def test_nothing_is_said_against_a_capability(rollout: Rollout) -> None:
    assert complaint_of(rollout, KNOWN) is None


def test_what_the_agent_says_is_no_evidence() -> None:
    words = CallUser(content="infeasible: the button 'Create' is missing, the function was removed")

    assert kind(rolled_out(*way(FORM, FORM, end=words))) is None


def test_a_single_look_may_have_come_too_early() -> None:
    looks, steps = way(BARE)

    assert kind(rolled_out(looks[:3], [*steps[:2], step(CallUser(content="no"))])) is None


def test_an_object_that_the_task_names_may_not_exist() -> None:
    known = {CREATE: capability(procedure=[ProcedureStep(action="Click", role="link", name="{summary}")])}

    assert kind(stuck(BARE, BARE), known) is None


@pytest.mark.parametrize(("mistake", "heard"), [("wrong_target", None), ("wrong_value", None), ("useless", "missing")])
def test_a_mistake_made_on_purpose_is_the_agents(mistake: Any, heard: str | None) -> None:
    looks, steps = way(BARE, BARE)
    steps[3] = steps[3].model_copy(update={"injected": mistake})

    assert kind(rolled_out(looks, steps)) == heard


def test_so_is_a_wrong_value_that_nobody_flagged() -> None:
    looks, steps = way(BARE, BARE)
    steps[2] = step(Type(content="Lamp"), screen=FORM)

    assert kind(rolled_out(looks, steps)) is None


def test_so_is_going_astray() -> None:
    looks = [HOME, FORM, HOME, FORM, BARE, BARE, BARE]
    steps = [click(HOME, "New"), step(PressBack()), click(HOME, "New"), click(FORM, "Summary")]
    steps += [step(Type(content=SUMMARY)), step(CallUser(content="no"))]

    assert kind(rolled_out(looks, steps)) is None


def test_so_is_another_error_than_those_of_the_application() -> None:
    looks, steps = way(FORM)
    refused = click(FORM, "Create").model_copy(update={"status": "failed", "action_error": "blocked_by_gate"})

    assert kind(rolled_out([*looks, FORM], [*steps[:-1], refused, steps[-1]])) is None


def test_so_is_an_error_of_an_action_that_was_not_due() -> None:
    looks, steps = way(FORM)
    failed = step(SelectOption(index=7), status="failed", action_error="option_not_found")

    assert kind(rolled_out([*looks, FORM], [*steps[:-1], failed, steps[-1]])) is None


def test_of_two_capabilities_without_procedures_neither_is_blamed() -> None:
    known = {name: capability(name, procedure=[]) for name in (CREATE, "demo.other")}

    assert kind(stuck(BARE, BARE, grade="infeasible", of=create_task(CREATE, "demo.other")), known) is None


def test_an_unheard_capability_is_not_blamed() -> None:
    assert complaint_of(stuck(BARE, BARE), {}) is None


FAKE = {one.capability_id: one for one in load_catalog("fake-todo")}


@pytest.mark.parametrize("mistakes", [0.0, 0.2, 0.5])
def test_on_an_application_that_works_no_agent_brings_about_a_complaint(mistakes: float) -> None:
    async def round_(task: TaskSpec, policy: Policy, environment: FakeEnvironment) -> Rollout:
        made = await play(policy, task, environment)
        judgement = await judge_record(task, made, Bench([]), PanelConfig(), "pass")
        verdict = next(one for one in judgement.verdicts if one.target == "trace")
        return Rollout(task, made, verdict, verdict.grade == "complete" and not verdict.side_effects)

    async def rounds() -> list[Rollout]:
        environment = FakeEnvironment()
        tasks = [task for task in load_tasks("fake") if task.language == "en"]
        plans = [(task, seed) for task in tasks for seed in range(2 if mistakes else 1)]
        acted = [await round_(task, PlannerPolicy("p", task, mistakes, seed), environment) for task, seed in plans]
        return acted + [await round_(task, NoopPolicy("n", task), environment) for task in tasks]

    made = asyncio.run(rounds())

    assert [found for one in made if (found := complaint_of(one, FAKE))] == []
    assert any(not one.accepted for one in made)


def _asking_for(name: str) -> Any:
    made = capability()
    return made.model_copy(
        update={"procedure": [*made.procedure[:-1], made.procedure[-1].model_copy(update={"name": name})]}
    )


def _created_and_waited() -> tuple[list[Look], list[Step]]:
    done = look(node("heading", SUMMARY), node("link", "Home"), path="/ticket/1")
    steps = [click(HOME, "New"), click(FORM, "Summary"), step(Type(content=SUMMARY), screen=FORM)]
    return [HOME, *[FORM] * 3, *[done] * 3], [*steps, click(FORM, "Create"), step(Wait()), step(Finished())]
