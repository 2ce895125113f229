"""Which changes a task expects: patterns for any of them, and patterns that stand for one."""

from __future__ import annotations

import pytest

from verifiers.changes import Expected, expected_of, unaccounted

ADDED, CHANGED, REMOVED = (["todo/11", "added"], ["todo/4", "changed"], ["todo/5", "removed"])
ALL = [ADDED, CHANGED, REMOVED]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("todo/*", Expected("todo/*")),
        ("added:todo/*", Expected("todo/*", "added")),
        ("one:book|a: b", Expected("book|a: b", "one")),
        ("book|added: b", Expected("book|added: b")),
        ("other:todo/*", Expected("other:todo/*")),
    ],
)
def test_only_a_kind_at_its_beginning_makes_a_pattern_one_of_a_single_change(text: str, expected: Expected) -> None:
    assert expected_of(text) == expected


@pytest.mark.parametrize(
    ("patterns", "left"),
    [
        (["todo/*"], []),
        ([], ["todo/11", "todo/4", "todo/5"]),
        (["added:todo/*"], ["todo/4", "todo/5"]),
        (["changed:todo/*"], ["todo/11", "todo/5"]),
        (["one:todo/*"], ["todo/4", "todo/5"]),
        (["one:todo/*", "one:todo/*", "one:todo/*"], []),
        (["added:todo/*", "changed:todo/?", "removed:todo/5"], []),
        (["added:TODO/*"], ["todo/11", "todo/4", "todo/5"]),
    ],
)
def test_a_pattern_of_a_kind_accounts_for_one_change_of_that_kind(patterns: list[str], left: list[str]) -> None:
    assert unaccounted(ALL, patterns) == left


def test_patterns_are_shared_out_so_that_as_many_changes_as_possible_have_one() -> None:
    rows = [["todo/1", "changed"], ["todo/2", "changed"], ["todo/3", "changed"]]

    assert unaccounted(rows, ["changed:todo/*", "changed:todo/[13]", "changed:todo/1"]) == []
    assert unaccounted(rows, ["changed:todo/[12]", "changed:todo/1"]) == ["todo/3"]


def test_what_comes_later_takes_nothing_from_what_came_first() -> None:
    rows = [["todo/1", "changed"], ["todo/2", "changed"]]

    assert unaccounted(rows, ["changed:todo/*"]) == ["todo/2"]
    assert unaccounted(rows[::-1], ["changed:todo/*"]) == ["todo/1"]


def test_a_pattern_for_any_change_leaves_those_for_one_to_others() -> None:
    rows = [["todo/1", "changed"], ["todo/2", "changed"]]

    assert unaccounted(rows, ["changed:todo/*", "todo/1"]) == []
