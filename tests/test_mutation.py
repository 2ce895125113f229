"""Near misses: what they are, and which checks take them for right."""

from __future__ import annotations

import pytest

from pipeline.tasks import VerifierName
from taskspecs.mutation import mutants, near_miss, survives
from tests.records import check
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
    ("matches", [r"^[a-d]+ \d{2} by (?P<who>ann)$"], [["add 12 by ann"]]),
    ("matches", [r"(?i)^DONE\s"], [["done it"]]),
    ("matches", [r"^(new|open)$"], [["new"]]),
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
    ("matches", [r"^\w+$"], [["accepted"]], "the text is another one of the same shape"),
    ("matches", [r"^\d{4}-\d\d-\d\d$"], [["2026-05-04"]], "the text is another one of the same shape"),
    ("matches", [""], [["accepted"]], "the text is empty"),
    ("matches", ["accepted|.*soon"], [["accepted soon"]], "'acceptee' stands in place of 'accepted'"),
    ("matches", [r"^Lunch (?:12\.50|\d+\.\d+)$"], [["Lunch 12.50"]], "'51' stands in place of '50'"),
    ("matches", [r"note( by ann)?"], [["a note by ann"]], "'ano' stands in place of 'ann'"),
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
