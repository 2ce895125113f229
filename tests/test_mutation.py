"""Near misses: what they are, and which checks take them for right."""

from __future__ import annotations

import pytest

from pipeline.structs import Param
from pipeline.tasks import CapabilityCall, Check, ProcedureStep, TaskSpec, VerifierName
from taskspecs.mutation import mutants, near_miss, survives, unchecked_values
from tests.records import check, task
from verifiers.contract import Rows, state_of


@pytest.mark.parametrize(
    ("text", "missed"),
    [
        ("Broken lamp", "Broken lamq"),
        ("36", "37"),
        ("9", "0"),
        ("2025-06-24", "2025-06-25"),
        ("7.5 USD", "7.5 USE"),
        ("abz", "aby"),
        ("排查记录", "排查记彖"),
        ("鿿", "一"),
        ('"Open".', '"Opeo".'),
        ("", "x"),
        ("?!", "?!x"),
    ],
)
def test_a_near_miss_is_as_long_and_means_something_else(text: str, missed: str) -> None:
    assert near_miss(text) == missed


SOUND: list[tuple[VerifierName, list[str], Rows]] = [
    ("equals", ["task", "critical", "new"], [["task", "critical", "new"]]),
    ("equals", ["a", "a"], [["a"], ["a"]]),
    ("equals", [], []),
    ("contains", ["town", "TEXT"], [["id", "INTEGER"], ["town", "TEXT"]]),
    ("contains", ["1"], [["1"], ["2"]]),
    ("absent", ["city"], [["id"], ["town"]]),
    ("absent", ["city"], []),
    ("count", ["1"], [["x"]]),
    ("count", ["0"], []),
    ("matches", [r"^note .*on 1\.1\s*$"], [["note added on 1.1\n"]]),
    ("text", ["ahmed"], [["Ahmed"]]),
    ("number", ["3", "three"], [["3"]]),
    ("date", ["2025-06-24"], [["24 June 2025"]]),
    ("unit", ["1 h"], [["60 min"]]),
]


@pytest.mark.parametrize(("verifier", "expected", "rows"), SOUND)
def test_a_sound_check_misses_no_mutant(verifier: VerifierName, expected: list[str], rows: Rows) -> None:
    sound = check(verifier, "p", *expected)
    made = list(mutants(sound, rows))

    assert state_of(sound, rows) == "passed"
    assert made
    assert [mutant.what for mutant in made if survives(mutant)] == []


LOOSE: list[tuple[VerifierName, list[str], Rows, str]] = [
    ("contains", [], [["town"]], "the only row is another one"),
    ("matches", [".*"], [["accepted"]], "the text is empty"),
    ("matches", [r"\w+"], [["accepted"]], "the text is another one"),
]


@pytest.mark.parametrize(("verifier", "expected", "rows", "what"), LOOSE)
def test_a_loose_check_is_found_out(verifier: VerifierName, expected: list[str], rows: Rows, what: str) -> None:
    found = [mutant.what for mutant in mutants(check(verifier, "p", *expected), rows) if survives(mutant)]

    assert what in found


def test_every_cell_row_and_order_of_a_table_is_tried() -> None:
    tried = {mutant.what for mutant in mutants(check("equals", "p", "a", "b", "c"), [["a", "b"], ["c"]])}

    assert {"row 1 is missing", "row 2 is missing", "two cells of row 1 are swapped", "one row too many"} <= tried
    assert {"'b' stands in place of 'a'", "'d' is expected in place of 'c'"} <= tried


def test_an_amount_is_missed_by_its_number_and_by_its_unit() -> None:
    tried = {mutant.what for mutant in mutants(check("unit", "p", "30 kg"), [["30 kg"]])}

    assert {"the answer is '30 kh'", "the answer is '31 kg'", "the answer is '30 kg' or '31 kg'"} <= tried


# --- values that nothing looks at ----------------------------------------------------------------------------------


def entering(value: str, *checks: Check, said: str | None = None, **changes: object) -> TaskSpec:
    """A task whose oracle types a value that its instruction tells."""
    fields: dict[str, object] = {
        "calls": [CapabilityCall(capability_id="c", params=[Param(name="slot", value=value)])],
        "oracle": [ProcedureStep(action="Type", content=value)],
    }
    return task(f"Enter “{value if said is None else said}”.", list(checks), **(fields | changes))


def unchecked(made: TaskSpec, rows: Rows | None = None) -> list[str]:
    return unchecked_values(made, [(one, rows or []) for one in made.checks])


def test_a_value_is_looked_at_where_a_check_names_it() -> None:
    assert unchecked(entering("critical", check("equals", "p", "task", "critical"))) == []
    assert unchecked(entering("Lamp", check("count", "p", "1", summary="Lamp"))) == []
    assert unchecked(entering("7.50", check("equals", "p", "7.5"))) == []
    assert unchecked(entering("1.1", check("matches", "p", r"Checked for 1\.1"))) == []
    assert unchecked(entering("Lamp", check("count", "p", "1"), expected_changes=["file|*Lamp*"])) == []


def test_a_value_is_looked_at_where_a_pattern_fails_without_it() -> None:
    made = entering("two words", check("matches", "p", r"^two\s+words$"))

    assert unchecked(made, [["two words"]]) == []
    assert unchecked(made, [["two  words"]]) == ["two words"]


def test_a_value_that_is_entered_and_not_looked_at_is_found() -> None:
    assert unchecked(entering("critical", check("count", "p", "1"))) == ["critical"]
    assert unchecked(entering("12", check("equals", "p", "13"))) == ["12"]


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
