"""Templates of tasks: what is read, and what is refused with file, template and key."""

from __future__ import annotations

from typing import Any

import pytest

from pipeline.errors import ConfigError
from taskspecs.template_filling import filled_check, filled_key, filled_setup, put_in
from taskspecs.template_records import SlotSource
from taskspecs.templates import load_templates, parse_templates, template_apps
from tests.candidates import check, params
from tests.templates import ABSENT, ADD, APP, NOTES, changed, parsed

Entry = dict[str, Any]
ADD_CALL = ADD["calls"][0]


def with_slot(**source: Any) -> Entry:
    return changed(ADD, slots={"title": source, "priority": {"values": ["low"]}})


def refused(entry: Any) -> str:
    with pytest.raises(ConfigError) as caught:
        parsed(entry)
    return str(caught.value)


def test_a_template_is_read_with_its_slots_in_order() -> None:
    (template,) = parsed(NOTES)

    assert [slot.name for slot in template.slots] == ["title", "notes"]
    assert template.slots[1] == SlotSource(
        name="notes", probe="todo", args=params(title="{title}"), column=2, told=False
    )
    assert template.calls[0].params == params(title="{title}")
    assert template.checks[0].expected == ["{notes}"]


def test_values_may_differ_by_language() -> None:
    (template,) = parsed(with_slot(values={"en": ["a"], "zh": [1]}))

    assert template.slots[0].values == {"en": ["a"], "zh": ["1"]}


@pytest.mark.parametrize("app_id", template_apps())
def test_shipped_templates_fit_together(app_id: str) -> None:
    templates = load_templates(app_id)

    assert {template.app_id for template in templates} == {app_id}


def test_an_application_without_templates_is_named_beside_those_that_have_some() -> None:
    with pytest.raises(ConfigError, match=r"no task templates for 'nowhere'; there are some for: .*fake-todo"):
        load_templates("nowhere")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("templates: [", "mine.yaml: not readable YAML"),
        ("- a", "mine.yaml: templates: a list of templates is missing"),
        ("app_id: fake-todo", "mine.yaml: templates: a list"),
        ("{app_id: other, templates: []}", "mine.yaml: app_id: must be 'fake-todo'"),
        ("{app_id: fake-todo, templates: [3]}", "mine.yaml: template 1 (None): id: missing"),
    ],
)
def test_a_malformed_file_is_refused(text: str, said: str) -> None:
    with pytest.raises(ConfigError) as caught:
        parse_templates(APP, "mine.yaml", text)
    assert str(caught.value).startswith(said)


def test_two_templates_of_one_name_are_refused() -> None:
    with pytest.raises(ConfigError, match=r"template 2 \(fake-todo.add\): id: another template has it"):
        parsed(ADD, ADD)


@pytest.mark.parametrize(
    ("entry", "said"),
    [
        (changed(ADD, id="other.add"), "id: must begin with 'fake-todo.'"),
        (changed(ADD, colour="red"), "colour: Extra inputs"),
        (changed(ADD, tier="big"), "tier: Input should be"),
        (changed(ADD, calls=[{"with": {}}]), "calls: capability: missing"),
        (changed(ADD, calls=3), "calls: not in the expected form"),
        (changed(ADD, calls=[{**ADD_CALL, "capability": "fake-todo.fly"}]), "calls: capability 'fake-todo.fly' is not"),
        (changed(ADD, calls=[{**ADD_CALL, "with": {"title": "{title}"}}]), "calls: fake-todo.add: 'priority' has no"),
        (
            changed(ADD, calls=[{**ADD_CALL, "with": {**ADD_CALL["with"], "size": "1"}}]),
            "calls: fake-todo.add: 'size' is no slot of it",
        ),
        (changed(ADD, calls=[ADD_CALL, ADD_CALL]), "tier: 2 calls do not make a 'single' task"),
        (changed(ADD, calls=[ADD_CALL] * 3, tier="workflow"), "segments: a workflow has 2 or more"),
        (with_slot(pool="nonsense"), "slots.title.pool: no pool of values is called 'nonsense'"),
        (with_slot(pool="note", probe="todos"), "slots: not in the expected form: slot 'title' needs one of"),
        (with_slot(values=[]), "slots.title.values: none are given"),
        (with_slot(values={"zh": ["a"]}), "slots.title.values: none in 'en'"),
        (with_slot(pool="note", colour="red"), "slots: colour: Extra inputs"),
        (with_slot(probe="todo", args={"title": "{priority}"}), "slots.title: 'priority' is no slot before it"),
        (with_slot(pool="note", differs="priority"), "slots.title: 'priority' is no slot before it"),
        (with_slot(pool="note", told=False), "wording.en: wording 1 tells, without its being a told slot, '{title}'"),
        (changed(ADD, wording={"en": ["Add."] * 3}), "wording.en: 1 different ones, where 3 are needed"),
        (
            changed(ADD, wording={"en": [*ADD["wording"]["en"][:2], 'Add "{title}".']}),
            "wording.en: wording 3 does not tell '{priority}'",
        ),
        (changed(ADD, wording={}), "wording: none is given"),
        (changed(ADD, segments=[]), "segments: nothing proves that it is done"),
        (changed(ADD, segments=[{"name": "a", "checks": []}]), "segments: 'a' has no checks"),
        (changed(ADD, segments=[{"name": "a"}]), "segments: checks: missing"),
        (changed(ADD, expected_changes=["todo/{number}"]), "expected_changes: '{number}' is no slot of the template"),
        (changed(ADD, finish="{number}"), "finish: '{number}' is neither a slot nor captured"),
        (changed(ADD, infeasible_reason="So."), "infeasible: missing"),
        (changed(NOTES, finish=None), "finish: an answer task has one"),
        (changed(ABSENT, absence_checks=None), "absence_checks: nothing proves"),
        (
            changed(ABSENT, absence_checks=[{**ABSENT["absence_checks"][0], "app_id": "trac"}]),
            "checks: 'none' asks another application",
        ),
    ],
)
def test_what_does_not_fit_is_told_with_its_place(entry: Entry, said: str) -> None:
    assert refused(entry).startswith(f"mine.yaml: template 1 ({entry['id']}): {said}")


def test_probes_of_an_application_that_ships_must_exist() -> None:
    slots = {"ticket": {"probe": "nonsense"}}
    entry = changed(
        ABSENT, id="trac.absent", calls=[], slots=slots, wording={"en": [f'{n} "{{ticket}}"' for n in "abc"]}
    )

    with pytest.raises(ConfigError, match=r"slots.ticket.probe: trac has no probe 'nonsense'; known: .*ticket_kind"):
        parsed(entry, app_id="trac")


def test_checks_ask_probes_that_exist() -> None:
    absent = {"name": "none", "verifier": "count", "probe": "nonsense", "expected": 0}
    entry = changed(
        ABSENT,
        id="trac.absent",
        calls=[],
        slots={},
        infeasible_reason=None,
        wording={"en": ["a", "b", "c"]},
        absence_checks=[absent],
    )

    with pytest.raises(ConfigError, match="checks: 'none': trac has no probe 'nonsense'"):
        parsed(entry, app_id="trac")


# --- values put into texts ----------------------------------------------------------------------------------------


def test_a_value_is_put_in_and_what_is_no_slot_stays() -> None:
    assert put_in(r"{a} \d{4} {b}", {"a": "x"}) == r"x \d{4} {b}"


def test_in_a_pattern_a_value_stands_for_itself() -> None:
    filled = filled_check(check(verifier="matches", args=params(name="{v}"), expected=["^{v}$"]), {"v": "1.2 (a)"})

    assert filled.args == params(name="1.2 (a)")
    assert filled.expected == [r"^1\.2\ \(a\)$"]


def test_in_a_key_a_value_stands_for_itself() -> None:
    assert filled_key("page/{v}/*", {"v": "a[1]*"}) == "page/a[[]1][*]/*"


@pytest.mark.parametrize(
    ("kind", "content", "filled"),
    [
        ("sqlite", "INSERT INTO a VALUES ('{v}')", "INSERT INTO a VALUES ('it''s \"x\"')"),
        ("http", '{"name": "{v}"}', '{"name": "it\'s \\"x\\""}'),
        ("append", "- {v}", '- it\'s "x"'),
    ],
)
def test_in_a_set_up_a_value_is_quoted(kind: str, content: str, filled: str) -> None:
    (template,) = parsed(
        changed(
            ADD,
            slots={**ADD["slots"], "v": {"values": ["a"], "told": False}},
            setup=[{"kind": kind, "app_id": APP, "target": "t", "content": content}],
        )
    )

    assert filled_setup(template.setup[0], {"v": 'it\'s "x"'}).content == filled
