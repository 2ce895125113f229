"""Rows that the oracle leaves alone."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from pipeline.actions import Finished
from pipeline.records import Record
from taskspecs import neighbours
from taskspecs.neighbours import numbered_before, untouched_keys
from tests.records import look, read, record, step


def changed(*rows: list[str]) -> Record:
    return record([look(), look()], [step(Finished())], [read("changes", list(rows), 1)])


def knowing(monkeypatch: pytest.MonkeyPatch, keys: Mapping[str, set[str]]) -> None:
    monkeypatch.setattr(neighbours, "first_keys", keys.get)


def test_rows_of_the_first_state_that_were_not_touched_are_its_neighbours(monkeypatch: pytest.MonkeyPatch) -> None:
    made = changed(["todo/4", "changed"], ["todo/11", "added"])
    knowing(monkeypatch, {made.probe_reads[0].app_id: {"todo/4", "todo/5", "schema/todo"}})

    assert untouched_keys(made) == ["schema/todo", "todo/5"]


def test_where_no_first_state_is_known_they_are_numbered_before_what_was_touched(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    knowing(monkeypatch, {})

    assert untouched_keys(changed(["todo/4", "added"], ["todo/2", "changed"], ["book|a line", "added"])) == [
        "todo/1",
        "todo/3",
    ]


def test_a_row_that_was_there_has_one_after_it_and_a_new_one_has_none() -> None:
    assert numbered_before([["todo/2", "removed"]]) == {"todo/1", "todo/3"}
    assert numbered_before([["todo/2", "added"]]) == {"todo/1"}
    assert numbered_before([["work/notes.txt", "changed"]]) == set()


def test_a_great_number_makes_no_endless_list() -> None:
    assert len(numbered_before([["todo/9000000000", "added"]])) == 1000
