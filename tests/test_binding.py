"""Values that an instruction tells and its oracle enters, and what in a contract looks at them."""

from __future__ import annotations

import pytest

from pipeline.structs import Param
from pipeline.tasks import ANSWER, CapabilityCall, Check, ProcedureStep, TaskSpec
from taskspecs.binding import telling, unchecked_values
from tests.records import check, task
from verifiers.contract import Rows


def entering(value: str, *checks: Check, said: str | None = None, **changes: object) -> TaskSpec:
    """A task whose oracle types a value that its instruction tells."""
    fields: dict[str, object] = {
        "calls": [CapabilityCall(capability_id="c", params=[Param(name="slot", value=value)])],
        "oracle": [ProcedureStep(action="Type", content=value)],
    }
    return task(f"Enter “{value if said is None else said}”.", list(checks), **(fields | changes))


def unchecked(made: TaskSpec, rows: Rows | None = None, changes: Rows | None = None) -> list[str]:
    return unchecked_values(made, [(one, rows or []) for one in made.checks], changes or [])


def test_a_value_is_looked_at_where_a_check_names_it() -> None:
    assert unchecked(entering("critical", check("equals", "p", "task", "critical"))) == []
    assert unchecked(entering("Lamp", check("count", "p", "1", summary="Lamp"))) == []
    assert unchecked(entering("7.50", check("equals", "p", "7.5"))) == []
    assert unchecked(entering("1.1", check("matches", "p", r"Checked for 1\.1"))) == []


def test_a_value_is_looked_at_where_its_change_would_not_be_expected_with_another() -> None:
    made = entering("Lamp", check("count", "p", "1"), expected_changes=["file|* Lamp", "added:file|note Lamp"])

    assert unchecked(made, changes=[["file|2026 Lamp", "added"]]) == []
    assert unchecked(made, changes=[["file|note Lamp", "added"], ["file|2026", "added"]]) == []
    assert unchecked(made, changes=[["file|2026", "added"]]) == ["Lamp"]
    assert unchecked(made) == ["Lamp"]


def test_the_number_of_a_row_and_a_wide_pattern_tell_no_value() -> None:
    made = entering("11", check("count", "p", "1"), expected_changes=["todo/11"])
    wide = entering("Lamp", check("count", "p", "1"), expected_changes=["file|*"])

    assert unchecked(made, changes=[["todo/11", "added"]]) == ["11"]
    assert unchecked(wide, changes=[["file|Lamp", "added"]]) == ["Lamp"]


def test_a_value_is_looked_at_where_a_pattern_fails_without_it() -> None:
    made = entering("two words", check("matches", "p", r"^two\s+words$"))

    assert unchecked(made, [["two words"]]) == []
    assert unchecked(made, [["two  words"]]) == ["two words"]


def test_a_value_that_is_entered_and_not_looked_at_is_found() -> None:
    assert unchecked(entering("critical", check("count", "p", "1"))) == ["critical"]
    assert unchecked(entering("12", check("equals", "p", "13"))) == ["12"]


def test_a_check_that_held_before_tells_nothing_unless_another_asks_for_what_it_says() -> None:
    bought = (check("equals", "in_cart", "3", product="12"), [["3"]])
    looked_up = (check("equals", "product", "12", title="Notebook"), [["12"]])
    beside = (check("equals", "product", "7", title="Clock"), [["7"]])

    assert telling([looked_up, bought, beside], [True, False, True]) == [bought, looked_up]
    assert telling([looked_up, beside], [True, True]) == []


def test_a_text_that_is_kept_tells_of_its_copy() -> None:
    kept = (check("equals", "text", "One\ntwo", folder="notes"), [["One\ntwo"]])
    copied = (check("equals", "text", "One\ntwo\nthree", folder="data"), [["One\ntwo\nthree"]])

    assert telling([copied, kept], [False, True]) == [copied, kept]


def test_a_piece_of_another_value_is_not_the_value() -> None:
    assert unchecked(entering("low", check("equals", "p", "yellow"))) == ["low"]
    assert unchecked(entering("1", check("equals", "p", "10"))) == ["1"]
    assert unchecked(entering("1", check("equals", "p", "2026-01-01"))) == ["1"]


ENTRY = "Add an expense “Lunch” of 12.50, paid on 3 March 2026."


def booked(*checks: Check, **changes: object) -> TaskSpec:
    """A task that was written without calls: its oracle types a name, an amount, and a day in another spelling."""
    typed = [ProcedureStep(action="Type", content=text) for text in ("Lunch", "12.5", "2026-03-03", "a tip")]
    return task(ENTRY, list(checks), **({"oracle": typed} | changes))


def test_every_value_of_an_entry_must_be_looked_at_though_no_call_names_it() -> None:
    assert unchecked(booked(check("count", "entry", "1", title="Lunch"))) == ["12.5", "2026-03-03"]
    assert unchecked(booked(check("equals", "entry", "12.50", title="Lunch"))) == ["2026-03-03"]
    assert unchecked(booked(check("equals", "entry", "12.50", "03.03.2026", title="Lunch"))) == []


def test_a_quoted_part_of_what_is_typed_must_be_looked_at() -> None:
    line = [ProcedureStep(action="Type", content="open Expenses:Pets USD")]
    made = task(
        "Open the account “Expenses:Pets” in “USD”.", [check("count", "p", "1", a="Expenses:Pets")], oracle=line
    )

    assert unchecked(made) == ["USD"]


def test_parts_of_an_amount_are_looked_at_where_a_check_names_the_whole() -> None:
    typed = [ProcedureStep(action="Type", content=text) for text in ("6", "30")]
    asked = "Make a timer of “6” minutes and “30” seconds."

    assert unchecked(task(asked, [check("equals", "timer", "390")], oracle=typed)) == []
    assert unchecked(task(asked, [check("equals", "timer", "360")], oracle=typed)) == ["6", "30"]


@pytest.mark.parametrize(
    ("capability_id", "left"), [("fake-todo.add", ["Lamp"]), ("fake-todo.read-notes", []), ("c", [])]
)
def test_of_a_task_for_an_answer_only_what_is_written_must_be_looked_at(capability_id: str, left: list[str]) -> None:
    call = CapabilityCall(capability_id=capability_id, params=[Param(name="title", value="Lamp")])

    assert unchecked(entering("Lamp", check("text", ANSWER, "x"), calls=[call], contract_kind="answer")) == left


@pytest.mark.parametrize(
    "changes",
    [
        {"said": "something"},
        {"oracle": [ProcedureStep(action="Click", name="critical")]},
        {"contract_kind": "answer"},
        {"contract_kind": "rubric"},
        {"feasible": False},
    ],
    ids=["not told", "not entered", "an answer", "a rubric", "infeasible"],
)
def test_only_what_is_told_and_entered_must_be_looked_at(changes: dict[str, object]) -> None:
    assert unchecked(entering("critical", check("count", "p", "1"), **changes)) == []  # type: ignore[arg-type]
