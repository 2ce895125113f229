"""Tasks and capabilities of ihatemoney against its seeded database: values exist, answers hold, nothing is done yet."""

from __future__ import annotations

import pytest

from pipeline.tasks import TaskSpec
from tests.seeded import ask, examples, tasks_of, untouched

DATABASE = "budget.db"
TASKS = tasks_of("ihatemoney")
INFEASIBLE = [task for task in TASKS if not task.feasible]
FEASIBLE = [task for task in TASKS if task.feasible]
OF_MAY = """
    SELECT printf('%.2f', sum(amount)) FROM bill JOIN person ON person.id = payer_id
    WHERE project_id = 'demo' AND bill_type = 'EXPENSE' AND date BETWEEN '2026-05-01' AND '2026-05-31'
"""
BALANCES = """
    SELECT name, printf('%.2f',
        (SELECT coalesce(sum(amount), 0) FROM bill WHERE payer_id = person.id)
        - (SELECT coalesce(sum(amount * person.weight / (
                SELECT sum(weight) FROM billowers JOIN person AS sharer ON sharer.id = person_id
                WHERE bill_id = bill.id)), 0)
           FROM billowers JOIN bill ON bill.id = bill_id WHERE person_id = person.id))
    FROM person WHERE project_id = 'demo'
"""


def told(task: TaskSpec) -> str:
    return task.instruction[:40]


def answers_of(capability_id: str) -> set[str]:
    return {text for task in TASKS if task.capability_ids == [capability_id] for text in task.checks[0].expected}


@pytest.mark.parametrize("task", FEASIBLE, ids=told)
def test_no_segment_holds_on_the_untouched_state(task: TaskSpec) -> None:
    states = [[untouched("ihatemoney", check) for check in segment.checks] for segment in task.segments]

    assert states and all("failed" in segment for segment in states)


@pytest.mark.parametrize("task", INFEASIBLE, ids=told)
def test_absence_checks_hold_on_the_untouched_state(task: TaskSpec) -> None:
    states = {untouched("ihatemoney", check) for check in task.absence_checks}

    assert states == {"passed"} and not task.segments


@pytest.mark.parametrize(
    ("capability_id", "slot", "query"),
    [
        ("bills.add", "payer", "SELECT name FROM person WHERE project_id = 'demo' AND activated"),
        ("bills.add_for_one", "ower", "SELECT name FROM person WHERE project_id = 'demo' AND activated"),
        ("bills.set_amount", "bill", "SELECT what FROM bill"),
        ("bills.delete", "bill", "SELECT what FROM bill"),
        ("participants.set_weight", "person", "SELECT name FROM person WHERE project_id = 'demo' AND activated"),
    ],
)
def test_example_values_exist(capability_id: str, slot: str, query: str) -> None:
    known = {row[0] for row in ask("ihatemoney", DATABASE, query)}

    values = examples("ihatemoney", capability_id, slot)

    assert values and set(values) <= known


def test_who_is_to_be_added_is_not_there_yet() -> None:
    known = {row[0] for row in ask("ihatemoney", DATABASE, "SELECT name FROM person")}

    assert not known & set(examples("ihatemoney", "participants.add", "person"))


def test_expenses_of_the_month_are_what_the_database_says() -> None:
    assert [tuple(answers_of("ihatemoney.statistics.read_total"))] == ask("ihatemoney", DATABASE, OF_MAY)


def test_the_amount_owed_is_the_debtors_whole_balance() -> None:
    balances = {str(name): float(str(value)) for name, value in ask("ihatemoney", DATABASE, BALANCES)}
    creditors = {name for name, balance in balances.items() if balance > 0}

    assert creditors == {"Amina"}
    assert answers_of("ihatemoney.settlement.read") == {f"{-balances['Tomás']:.2f}"}
