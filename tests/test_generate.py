"""Drafting tasks from templates: the same again, grounded, worded in many ways, and nothing dropped in silence."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pipeline.tasks import ProcedureStep, TaskSpec, identified
from taskspecs.compose import INFEASIBLE, without_probes
from taskspecs.gate_sets import Contamination
from taskspecs.generate import Ask, Drafts, generate
from taskspecs.sieve import largest_share, sieve
from taskspecs.templates import Template, load_templates
from taskspecs.values import load_values
from tests.templates import ABSENT, ADD, APP, DELETE, NOTES, TODAY, TodoFacts, ask, changed, parsed

ALL = parsed(ADD, DELETE, NOTES, ABSENT)


async def drafted(*entries: dict[str, Any], facts: TodoFacts | None = None, **more: Any) -> Drafts:
    return await generate(ask(**more), facts or TodoFacts(), parsed(*entries))


async def tasks_of(*entries: dict[str, Any], **more: Any) -> list[TaskSpec]:
    return [candidate.task for candidate in (await drafted(*entries, **more)).candidates]


async def reason_of(entry: dict[str, Any], **more: Any) -> tuple[str, str]:
    (row,) = (await drafted(entry, count=1, infeasible_rate=0.0, **more)).rejections
    return row.reason, row.detail


# --- the same again -----------------------------------------------------------------------------------------------


async def test_the_same_seed_gives_the_same_tasks_and_another_one_others() -> None:
    first, again, other = [await generate(ask(seed=seed), TodoFacts(), ALL) for seed in (1, 1, 2)]

    assert first == again
    assert first.candidates != other.candidates
    assert {one.candidate_id for one in first.candidates}.isdisjoint(one.candidate_id for one in other.candidates)


@settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(order=st.permutations(load_templates(APP)), backwards=st.booleans(), seed=st.integers(0, 3))
async def test_the_order_of_templates_and_of_rows_is_of_no_account(
    order: list[Template], backwards: bool, seed: int
) -> None:
    asked = ask(count=40, seed=seed)
    expected = sieve(await generate(asked, TodoFacts()), TODAY, template_share=0.2)

    shuffled = await generate(asked, TodoFacts(backwards=backwards), order)
    found = sieve(Drafts(shuffled.candidates[::-1], shuffled.rejections), TODAY, template_share=0.2)

    assert found == expected
    assert found.tasks


async def test_an_identity_is_that_of_its_contents() -> None:
    for task in await tasks_of(ADD, ABSENT):
        assert identified(task) == task


# --- how many of what ---------------------------------------------------------------------------------------------


async def test_the_part_that_cannot_be_done_is_as_asked() -> None:
    tasks = await tasks_of(ADD, DELETE, ABSENT, count=16, infeasible_rate=0.25)

    assert Counter(task.feasible for task in tasks) == {True: 12, False: 4}


async def test_heavy_capabilities_give_more_tasks() -> None:
    tasks = await tasks_of(ADD, NOTES, count=12, infeasible_rate=0.0, weights={"fake-todo.add": 5.0})

    assert Counter(task.template_id for task in tasks)["fake-todo.add"] == 10


async def test_only_the_languages_asked_for_are_drafted() -> None:
    both = await tasks_of(ADD, DELETE, infeasible_rate=0.0)
    chinese = await tasks_of(ADD, DELETE, infeasible_rate=0.0, languages=["zh"])

    assert {task.language for task in both} == {"en", "zh"}
    assert {task.template_id for task in chinese} == {"fake-todo.delete"}


async def test_a_template_gives_no_more_than_its_share() -> None:
    tasks = await tasks_of(ADD, DELETE, count=40, infeasible_rate=0.0, template_share=0.1)

    assert Counter(task.template_id for task in tasks) == {"fake-todo.add": 4, "fake-todo.delete": 4}


def test_the_share_of_nothing_is_nothing() -> None:
    assert largest_share([]) == 0.0


# --- what a task is -----------------------------------------------------------------------------------------------


async def test_values_go_everywhere_they_belong() -> None:
    (task,) = await tasks_of(ADD, count=1, infeasible_rate=0.0)

    values = {param.name: param.value for param in task.params}
    assert values["title"] in load_values().pool("todo_title", "en", TODAY)
    assert f'"{values["title"]}"' in task.instruction
    assert {param.name: param.value for param in task.calls[0].params} == values
    assert task.segments[0].checks[0].args[0].value == values["title"]
    assert task.segments[0].checks[0].expected == [values["priority"], "open", ""]
    typed = [step.content for step in task.oracle if step.action == "Type"]
    assert (typed, task.oracle[-1].action) == ([values["title"]], "Finished")
    assert (task.consequence, task.generator, task.template_id) == ("create", "template", "fake-todo.add")
    assert task.sources == ["catalog:fake-todo.add"]


async def test_an_answer_is_found_out_and_never_told_to_the_oracle() -> None:
    tasks = await tasks_of(NOTES, count=3, infeasible_rate=0.0)

    # The other to-dos have no notes: nothing could be answered.
    assert {task.params[0].value for task in tasks} == {
        "Return library books",
        "Write the report",
        "Renew the passport",
    }
    for task in tasks:
        answer = task.checks[0].expected[0]
        assert task.oracle[-1] == ProcedureStep(action="Finished", content="{notes}")
        assert answer and answer not in task.instruction
        assert [param.name for param in task.params] == ["title"]


async def test_wordings_vary_and_some_are_introduced() -> None:
    tasks = await tasks_of(ADD, count=30, infeasible_rate=0.0)

    openings, closings = load_values().openings["en"], load_values().closings["en"]
    bare = {
        task.instruction.replace(task.params[0].value, "").replace(task.params[1].value, "").split('""')[0]
        for task in tasks
    }
    assert len(bare) > len(ADD["wording"]["en"])
    assert 1 < sum(task.instruction.startswith(tuple(openings)) for task in tasks) < 20
    assert 1 < sum(task.instruction.endswith(tuple(closings)) for task in tasks) < 20


async def test_chinese_sentences_need_no_space_between_them() -> None:
    tasks = await tasks_of(DELETE, count=10, infeasible_rate=0.0)

    assert all("。 " not in task.instruction for task in tasks)
    assert any(task.instruction.startswith(tuple(load_values().openings["zh"])) for task in tasks)


async def test_what_is_absent_is_looked_for_and_reported() -> None:
    (task,) = await tasks_of(ABSENT, count=1, infeasible_rate=1.0)

    title = task.params[0].value
    assert not task.feasible
    assert task.infeasible_reason == f'No to-do is called "{title}".'
    assert task.oracle == [
        ProcedureStep(action="Click", role="link", name="To-dos"),
        ProcedureStep(action="Finished", content=f"{INFEASIBLE}{task.infeasible_reason}"),
    ]
    assert task.absence_checks[0].args[0].value == title


async def test_a_missing_function_is_reported_at_once_or_as_written_out() -> None:
    bare = changed(ABSENT, calls=[], infeasible="missing_function", infeasible_reason=None)
    steps = [{"action": "Click", "role": "link", "name": "Help"}, {"action": "Finished", "content": "infeasible: no"}]

    (at_once,) = await tasks_of(bare, count=1, infeasible_rate=1.0)
    (written,) = await tasks_of(changed(bare, oracle=steps), count=1, infeasible_rate=1.0)

    assert [step.content for step in at_once.oracle] == ["infeasible: The application has no such function."]
    assert written.oracle == [ProcedureStep.model_validate(step) for step in steps]


async def test_a_real_application_gives_its_home_and_its_version() -> None:
    entry = changed(
        ABSENT,
        id="trac.absent",
        calls=[],
        absence_checks=[
            {"name": "none", "verifier": "count", "probe": "ticket", "args": {"summary": "{title}"}, "expected": 0}
        ],
    )
    drafts = await generate(ask(count=1, infeasible_rate=1.0), TodoFacts(), parsed(entry, app_id="trac"))

    task = drafts.candidates[0].task
    assert (task.start.path, task.app_versions[0].name, task.app_versions[0].value) == ("/", "trac", "1.6")


async def test_days_are_counted_from_a_stated_one_that_is_kept() -> None:
    entry = changed(ADD, slots={"title": {"pool": "coming_day"}, "priority": {"values": ["low"]}})

    (task,) = await tasks_of(entry, count=1, infeasible_rate=0.0)

    assert task.params[0].value > TODAY.isoformat()
    assert task.sources == ["catalog:fake-todo.add", "clock:2026-11-30"]


async def test_room_for_detours_comes_with_the_length_of_the_oracle() -> None:
    (short,) = await tasks_of(DELETE, count=1, infeasible_rate=0.0)
    (set_,) = await tasks_of(changed(DELETE, max_steps=7), count=1, infeasible_rate=0.0)

    assert short.max_steps == 3 * len(short.oracle) + 5
    assert set_.max_steps == 7


# --- without probes -----------------------------------------------------------------------------------------------


async def test_without_probes_only_what_is_visible_is_checked() -> None:
    seen = {"name": "list", "verifier": "matches", "probe": "address", "expected": "/$"}
    checks = [*ADD["segments"][0]["checks"], seen]
    entry = changed(ADD, segments=[{"name": "added", "checks": checks}], preflight=ADD["segments"][0]["checks"])

    tasks = await tasks_of(entry, ABSENT, probes="withhold")

    assert tasks
    for task in tasks:
        assert (task.contract_kind, task.preflight, task.feasible) == ("rubric", [], True)
        assert [check.probe for check in task.checks] == ["address"]
    assert not sieve(await drafted(entry, probes="withhold"), TODAY, template_share=1.0).rejections


async def test_a_task_without_visible_checks_has_no_segments() -> None:
    (task,) = await tasks_of(ADD, count=1, infeasible_rate=0.0)

    assert without_probes(task).segments == []
    assert without_probes(task).task_id != task.task_id


# --- what could not be drafted ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("entry", "facts", "reason", "said"),
    [
        (
            changed(NOTES, slots={**NOTES["slots"], "title": {"values": ["Pay the rent"]}}),
            None,
            "underspecified",
            "nothing",
        ),
        (DELETE, TodoFacts(empty=True), "underspecified", "finds nothing that exists now"),
        (DELETE, TodoFacts(broken=True), "not_executable", "could not be read: the disk is gone"),
        (changed(DELETE, slots={"title": {"probe": "todos", "column": 4}}), None, "not_executable", "no column 4"),
        (
            changed(NOTES, slots={**NOTES["slots"], "notes": {"probe": "todos", "told": False}}),
            None,
            "ambiguous",
            "finds 10 values where one is wanted",
        ),
        (
            changed(
                ADD,
                slots={"title": {"values": ["same"]}, "priority": {"values": ["same"], "differs": "title"}},
            ),
            None,
            "underspecified",
            "slot 'priority': no value is left that is not ['same']",
        ),
    ],
)
async def test_a_draft_without_ground_is_rejected_with_its_reason(
    entry: dict[str, Any], facts: TodoFacts | None, reason: str, said: str
) -> None:
    found, detail = await reason_of(entry, facts=facts)

    assert found == reason
    assert said in detail and f"template '{entry['id']}'" in detail


async def test_a_template_that_is_used_up_says_so() -> None:
    entry = changed(ADD, slots={"title": {"values": ["a"]}, "priority": {"values": ["low", "high"]}})

    drafts = await drafted(entry, count=5, infeasible_rate=0.0)

    assert len(drafts.candidates) == 2
    assert {row.reason for row in drafts.rejections} == {"duplicate_of"}
    assert {row.duplicate_of for row in drafts.rejections} <= {one.candidate_id for one in drafts.candidates}
    assert len(drafts.rejections) == 3


async def test_the_gate_adds_its_reasons() -> None:
    drafts = await drafted(ADD, DELETE, count=8, infeasible_rate=0.0)
    public = drafts.candidates[0].task.instruction

    made = sieve(drafts, TODAY, contamination=Contamination([public]), template_share=0.2)

    assert Counter(row.reason for row in made.rejections) == {"contaminated": 1, "template_cap": 3}
    assert len(made.tasks) == 4


async def test_what_is_accepted_already_is_not_made_again() -> None:
    drafts = await drafted(ADD, count=4, infeasible_rate=0.0)

    made = sieve(drafts, TODAY, accepted=[drafts.candidates[1].task], template_share=1.0)

    assert [row.reason for row in made.rejections] == ["duplicate_of"]


@pytest.mark.parametrize("key", ["infeasible_rate", "count"])
def test_an_ask_is_checked(key: str) -> None:
    with pytest.raises(ValueError, match=key):
        Ask.model_validate({"app_ids": [APP], "today": TODAY, "count": 1, key: -1})
