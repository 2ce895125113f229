from __future__ import annotations

import pytest

from pipeline.actions import Finished
from pipeline.records import Record
from pipeline.tasks import Check
from pipeline.words import CheckState
from tests.records import check, look, node, read, record, step, task
from verifiers.contract import ABSENCE, CONTRACT, Rows, evaluate, outcome_of, rows_of, segments_told, state_of

PASS_ID = "pass"


@pytest.mark.parametrize(
    ("tried", "good", "bad"),
    [
        (check("equals", "p", "new", "minor"), [["new", "minor"]], [["new", "major"]]),
        (check("equals", "p"), [], [["left"]]),
        (check("contains", "p", "Lamp"), [["1", "Desk"], ["2", "Lamp"]], [["1", "Lampshade"]]),
        (check("contains", "p", "2", "Lamp"), [["2", "Lamp"]], [["1", "Lamp"], ["2", "Desk"]]),
        (check("absent", "p", "Lamp"), [["Desk"]], [["Desk"], ["Lamp"]]),
        (check("count", "p", "2"), [["a"], ["b"]], [["a"]]),
        (check("matches", "p", r"^\d+ rows$"), [["12 rows"]], [["12 lines"]]),
        (check("text", "answer", "won't fix", "wontfix"), [["“Won’t fix.”"]], [["fixed"]]),
        (check("number", "answer", "1234.5"), [["1,234.50 USD"]], [["1234.6"]]),
        (check("date", "answer", "2026-03-05"), [["March 5, 2026"]], [["March 5"]]),
        (check("unit", "answer", "21 inches"), [['21"']], [["21 cm"]]),
    ],
    ids=lambda value: f"{value.verifier}-{len(value.expected)}" if isinstance(value, Check) else None,
)
def test_verifier_passes_a_good_example_and_fails_a_bad_one(tried: Check, good: Rows, bad: Rows) -> None:
    assert state_of(tried, good) == "passed"
    assert state_of(tried, bad) == "failed"


@pytest.mark.parametrize(
    "tried",
    [
        check("equals", "p", "x"),
        check("contains", "p", "x"),
        check("count", "p", "1"),
        check("matches", "p", "x"),
        check("text", "p", "x"),
        check("number", "p", "1"),
        check("date", "p", "2026-03-05"),
        check("unit", "p", "1 kg"),
    ],
    ids=lambda tried: tried.verifier,
)
def test_nothing_read_fails_but_an_unread_probe_is_unreadable(tried: Check) -> None:
    assert state_of(tried, []) == "failed"
    assert state_of(tried, None) == "unreadable"


@pytest.mark.parametrize(
    "broken",
    [
        check("matches", "p", "("),
        check("count", "p", "two"),
        check("count", "p"),
        check("number", "p", "many"),
        check("unit", "p", "21"),
    ],
)
def test_a_check_that_cannot_be_evaluated_is_unreadable(broken: Check) -> None:
    assert state_of(broken, [["1"]]) == "unreadable"


def test_absence_of_a_year_is_allowed_only_when_none_is_expected() -> None:
    assert state_of(check("date", "answer", "March 5"), [["2026-03-05"]]) == "passed"


def test_rows_are_those_of_the_last_read_at_the_end() -> None:
    asked = check("contains", "ticket", "x", summary="Lamp")
    reads = [read("ticket(summary=Lamp)", [["new"]], 0), read("ticket(summary=Lamp)", [["closed"]], 2)]

    assert rows_of(asked, reads, since=2) == [["closed"]]
    assert rows_of(asked, reads, since=3) is None
    assert rows_of(check("contains", "ticket", "x", summary="Desk"), reads) is None


def test_a_failed_last_read_hides_earlier_ones() -> None:
    reads = [read("p", [["new"]], 1), read("p", None, 1, error="database is locked")]

    assert rows_of(check("contains", "p", "new"), reads, since=1) is None


@pytest.mark.parametrize(
    "tried",
    [check("absent", "p", "x"), check("count", "p", "0"), check("equals", "p"), check("contains", "p", "x")],
    ids=lambda tried: tried.verifier,
)
def test_what_the_episode_made_unsound_fails_whatever_is_asked(tried: Check) -> None:
    reads = [read("p", [["x"]], 0), read("p", [], 1, error="BadZipFile: no zip")]
    made = record([look(), look()], [step(Finished())], reads)

    [found] = evaluate(task("Do", [tried]), made, PASS_ID).results

    assert (found.state, found.observed) == ("failed", ["BadZipFile: no zip"])
    assert rows_of(tried, reads) is None


def test_rows_belong_to_the_app_that_is_asked() -> None:
    other = check("contains", "p", "x").model_copy(update={"app_id": "other"})

    assert rows_of(other, [read("p", [["x"]], 0)]) is None


def ended(*answer: str, path: str = "/", **reads: Rows) -> Record:
    done = step(Finished(content=answer[0] if answer else ""))
    screens = [
        look(node("heading", "Home")),
        look(node("heading", "Ticket 5"), node("textbox", "Owner", "ann"), path=path),
    ]
    return record(screens, [done], [read(name, rows, 1) for name, rows in reads.items()])


@pytest.mark.parametrize(
    ("tried", "state"),
    [
        (check("text", "answer", "12 items"), "passed"),
        (check("equals", "address", "/ticket/5?tab=1#top"), "passed"),
        (check("matches", "address", r"^/wiki"), "failed"),
        (check("contains", "tree", "Ticket 5"), "passed"),
        (check("contains", "tree", "Owner", "ann"), "passed"),
        (check("absent", "tree", "Home"), "passed"),
    ],
)
def test_reserved_probes_read_the_record(tried: Check, state: CheckState) -> None:
    found = evaluate(task("Do", [tried]), ended("12 items", path="/ticket/5?tab=1#top"), PASS_ID)

    assert [result.state for result in found.results] == [state]


def test_reserved_probes_without_material_are_unreadable_or_unanswered() -> None:
    asked = task("Do", [check("contains", "tree", "x"), check("text", "answer", "x")])
    blind = record([look().__class__(None)], [])

    states = [result.state for result in evaluate(asked, blind, PASS_ID).results]

    assert states == ["unreadable", "failed"]


@pytest.mark.parametrize("address", ["https://example.com/a", "http://[", "http://127.0.0.1:x/a"])
def test_an_address_elsewhere_or_nowhere_keeps_its_host(address: str) -> None:
    there = record([look()._replace(location=address)], [])

    found = evaluate(task("Go", [check("equals", "address", address)]), there, PASS_ID)

    assert found.results[0].state == "passed"


def test_results_name_segment_expectation_and_bounded_observation() -> None:
    asked = task("Do", [check("equals", "p", "x", name="one")], absence_checks=[check("absent", "q", "y", name="none")])

    first, second = evaluate(asked, ended(p=[["z" * 500]] * 50, q=[]), PASS_ID).results

    assert (first.segment, first.name, first.state, first.expected) == ("part 1", "one", "failed", ["x"])
    assert len(first.observed) == 20
    assert {len(cell) for cell in first.observed} == {200}
    assert (second.segment, second.state, second.observed) == (ABSENCE, "passed", [])


def test_changes_outside_the_expected_ones_are_side_effects() -> None:
    asked = task(expected_changes=["ticket/*"], always_ignore=["session/?"])
    rows = [["ticket/3", "changed"], ["session/9", "added"], ["wiki/1", "removed"], ["TICKET/4", "added"]]

    assert evaluate(asked, ended(changes=rows), PASS_ID).side_effects == ["wiki/1", "TICKET/4"]


def test_a_second_change_is_a_side_effect_where_one_is_expected() -> None:
    asked = task(expected_changes=["changed:ticket/*"])
    rows = [["ticket/3", "changed"], ["ticket/4", "changed"], ["ticket/5", "added"]]

    assert evaluate(asked, ended(changes=rows), PASS_ID).side_effects == ["ticket/4", "ticket/5"]


def test_one_change_is_expected_in_all_applications_together() -> None:
    reads = [read("changes", [["note/1", "added"]], 1).model_copy(update={"app_id": one}) for one in "ab"]
    left = ended().model_copy(update={"probe_reads": reads})

    assert evaluate(task(expected_changes=["added:note/*"]), left, PASS_ID).side_effects == ["note/1"]


@pytest.mark.parametrize(
    "unread", [read("changes", None, 1, error="locked"), read("changes", [], 0)], ids=["failed", "only at the start"]
)
def test_changes_that_were_not_read_are_not_taken_for_none(unread: object) -> None:
    left = ended().model_copy(update={"probe_reads": [unread]})

    assert evaluate(task(), left, PASS_ID).side_effects[0].startswith("unknown: ")


def test_outcome_counts_segments_and_keeps_unreadable_apart() -> None:
    asked = task(
        "Do",
        [check("count", "a", "1")],
        [check("count", "b", "1")],
        [check("count", "unread", "1")],
        absence_checks=[check("count", "a", "1")],
    )

    found = outcome_of(asked, evaluate(asked, ended(a=[["x"]], b=[]), PASS_ID))

    assert found.checks == "failed"
    assert found.absence == "passed"
    assert (found.segments_passed, found.segments_unread) == (1, 1)


def test_every_segment_is_a_keypoint_that_says_what_its_checks_found() -> None:
    asked = task(
        "Do", [check("count", "a", "1", name="one")], [check("count", "b", "1"), check("count", "unread", "1")]
    )
    made = ended(a=[["x"]], b=[["x"]])

    first, second = segments_told(asked, evaluate(asked, made, PASS_ID), made, PASS_ID)

    assert (first.text, first.state, first.reason, first.check_name) == ("part 1", "met", "one: passed", "one")
    assert (second.text, second.state, second.check_name) == ("part 2", "unclear", None)
    assert {row.judge for row in (first, second)} == {CONTRACT}


def test_only_address_and_tree_checks_of_a_rubric_bind() -> None:
    asked = task("Do", [check("count", "a", "1")], [check("equals", "address", "/x")], contract_kind="rubric")

    found = outcome_of(asked, evaluate(asked, ended(path="/x"), PASS_ID))

    assert (found.checks, found.segments_passed, found.segments_unread) == ("passed", 1, 0)


def test_a_task_without_checks_has_no_outcome() -> None:
    assert outcome_of(task(), evaluate(task(), ended(), PASS_ID)) == (None, None, None, 0)
