"""Facts of Beancount's example ledger that the tasks for Fava take for granted, computed from the ledger's text."""

from __future__ import annotations

import re
from decimal import Decimal

import pytest

from pipeline.app_install import install, place_of
from pipeline.apps import load_app
from pipeline.tasks import ANSWER, TaskSpec
from taskspecs.store import load_tasks

TASKS = [task for task in load_tasks("quickstart") if task.start.app_id == "fava"]

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def ledger() -> str:
    entry = load_app("fava")
    install(entry)
    return (place_of(entry).template / "ledger.beancount").read_text(encoding="utf-8")


def entries(ledger: str) -> list[str]:
    """Dated entries with the lines that belong to them."""
    return re.findall(r"^\d{4}-\d\d-\d\d .*(?:\n[ \t]+\S.*)*", ledger, re.MULTILINE)


def count(ledger: str, kind: str) -> int:
    return len([entry for entry in entries(ledger) if entry.split()[1] == kind])


def spent(ledger: str, account: str, month: str = "") -> Decimal:
    amounts = [
        amount
        for entry in entries(ledger)
        if entry.startswith(month)
        for amount in re.findall(rf"^ +{account} +(-?[\d.]+) USD", entry, re.MULTILINE)
    ]
    return sum(map(Decimal, amounts), Decimal(0))


def answer(capability: str) -> tuple[dict[str, str], str]:
    """What the task that reads with a capability asks for, and the answer that it accepts."""
    name = f"fava.{capability}"
    (task,) = [task for task in TASKS if task.tier != "workflow" and name in task.capability_ids[:1]]
    (expected,) = [check.expected[0] for check in task.checks if check.probe == ANSWER]
    return {param.name: param.value for param in task.calls[0].params}, expected


def test_the_latest_visit(ledger: str) -> None:
    asked, expected = answer("transactions.find_latest")
    assert max(entry[:10] for entry in entries(ledger) if f'"{asked["payee"]}"' in entry) == expected


def test_the_months_total(ledger: str) -> None:
    asked, expected = answer("reports.read_month")
    assert spent(ledger, f"Expenses:Food:{asked['category']}", asked["month"]) == Decimal(expected)


def test_the_sum_of_the_query(ledger: str) -> None:
    asked, expected = answer("query.run")
    account = asked["query"].split('"')[1]
    assert spent(ledger, account) == Decimal(expected)


def test_the_price_of_the_day(ledger: str) -> None:
    asked, expected = answer("prices.read_on_day")
    assert re.findall(rf"^{asked['date']} price {asked['commodity']} +([\d.]+) USD$", ledger, re.MULTILINE) == [
        expected
    ]


def test_the_number_of_entries(ledger: str) -> None:
    asked, expected = answer("statistics.count_entries")
    kind = asked["type"].lower()
    assert count(ledger, kind) == int(expected)


def test_the_number_of_entries_after_a_workflow(ledger: str) -> None:
    (task,) = [task for task in TASKS if task.tier == "workflow" and task.contract_kind == "answer"]
    recorded = task.capability_ids.count("fava.events.record")
    assert [check.expected for check in task.checks if check.probe == ANSWER] == [
        [str(count(ledger, "event") + recorded)]
    ]


def test_transactions_to_be_changed_are_told_by_payee_and_date(ledger: str) -> None:
    for task in TASKS:
        for date, payee in named(task):
            added = "".join(operation.content for operation in task.setup)
            found = [one for one in entries(ledger + added) if one.startswith(date) and f'"{payee}"' in one]
            assert len(found) == (1 if task.feasible else 0), (date, payee)


def test_what_is_added_was_not_there(ledger: str) -> None:
    for text in (
        "#reviewed",
        "#shared",
        " note ",
        "Expenses:Pets",
        "Assets:US:Savings",
        'event "location"',
        "Expenses:Hobby",
        "Harbour",
        "balance Assets:US:ETrade:Cash",
    ):
        assert text not in ledger, text


def named(task: TaskSpec) -> list[tuple[str, str]]:
    """Date and payee of each transaction that the task changes."""
    calls = [{param.name: param.value for param in call.params} for call in task.calls]
    return [(given["date"], given["payee"]) for given in calls if {"date", "payee"} <= given.keys()]
