"""Facts of the shop's database that the tasks for sqlite-web take for granted, computed from its seed."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing

import pytest

from pipeline.app_entry import SqlSeed
from pipeline.apps import load_app
from pipeline.tasks import ANSWER, TaskSpec
from taskspecs.store import load_tasks

TASKS = [task for task in load_tasks("quickstart") if task.start.app_id == "sqlite-web"]


@pytest.fixture
def shop() -> Iterator[sqlite3.Connection]:
    entry = load_app("sqlite-web")
    (seed,) = entry.seed
    assert isinstance(seed, SqlSeed)
    with closing(sqlite3.connect(":memory:")) as connection:
        connection.executescript((entry.folder / seed.script).read_text(encoding="utf-8"))
        yield connection


def values(shop: sqlite3.Connection, query: str, *args: str) -> list[str]:
    return [str(row[0]) for row in shop.execute(query, args)]


def answers(capability: str) -> list[tuple[TaskSpec, str]]:
    """The tasks that read with one capability, and the answer that each accepts."""
    found = [task for task in TASKS if [call.capability_id for call in task.calls] == [f"sqlite-web.{capability}"]]
    assert found
    return [(task, check.expected[0]) for task in found for check in task.checks if check.probe == ANSWER]


def param(task: TaskSpec, name: str) -> str:
    return next(given.value for call in task.calls for given in call.params if given.name == name)


def test_numbers_asked_for_are_what_the_recorded_query_gives(shop: sqlite3.Connection) -> None:
    for task, expected in answers("query.read_value"):
        assert values(shop, param(task, "query")) == [expected]
        assert '"cancelled"' in task.instruction or "“cancelled”" in task.instruction


def test_the_address_asked_for_is_the_customers(shop: sqlite3.Connection) -> None:
    for task, expected in answers("rows.read_email"):
        assert values(shop, "SELECT email FROM customers WHERE name = ?", param(task, "name")) == [expected]


def test_one_product_is_the_dearest(shop: sqlite3.Connection) -> None:
    for task, expected in answers("rows.find_highest"):
        assert param(task, "column") == "price"
        assert values(shop, "SELECT name FROM products WHERE price = (SELECT max(price) FROM products)") == [expected]


def test_rows_to_be_changed_are_named_by_a_text_that_occurs_once(shop: sqlite3.Connection) -> None:
    for task in TASKS:
        for call in task.calls:
            given = {param.name: param.value for param in call.params}
            if "row" in given and task.feasible and not task.setup:
                rows = [list(map(str, row)) for row in shop.execute(f"SELECT * FROM {given['table']}")]
                assert sum(row.count(given["row"]) for row in rows) == 1, given


def test_what_is_changed_was_not_so_before(shop: sqlite3.Connection) -> None:
    assert values(shop, "SELECT stock FROM products WHERE sku = 'TEA-002'") != ["36"]
    assert values(shop, "SELECT status FROM orders WHERE id = 42") != ["paid"]
    assert values(shop, "SELECT max(id) FROM orders") == ["48"]
    assert values(shop, "SELECT id FROM orders WHERE customer_id = 14") == []


def test_the_table_fits_on_its_first_page(shop: sqlite3.Connection) -> None:
    rows_per_page = 50
    for table in ("customers", "products", "orders"):
        assert int(values(shop, f"SELECT count(*) FROM {table}")[0]) <= rows_per_page
