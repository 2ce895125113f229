"""What applications of a phone have stored: the rows in what `content query` prints."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.entry_state import ContentProbe
from pipeline.envs.phone_data import read_phone, rows_of
from pipeline.errors import ProbeError
from tests.phones import ScriptedPhone, plugged

texts = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\r"), max_size=20)


@given(st.lists(texts.filter(lambda text: "\nRow: " not in f"\n{text}"), min_size=1))
def test_every_value_is_a_row_whatever_it_holds(values: list[str]) -> None:
    printed = "".join(f"Row: {number} {value}\n" for number, value in enumerate(values))

    assert rows_of(printed) == values


def test_a_value_of_several_lines_that_looks_like_a_row_stays_one_value() -> None:
    assert rows_of("Row: 0 body=milk\nRow: 7 is a seat\nbread\nRow: 1 body=eggs\n") == [
        "body=milk\nRow: 7 is a seat\nbread",
        "body=eggs",
    ]


def test_nothing_found_is_no_row() -> None:
    assert rows_of("No result found.\n") == []


@pytest.mark.parametrize("said", ["", "Error while accessing provider:org.example\n", "Row: 1 a=b\n"])
def test_what_is_no_table_is_no_answer(said: str) -> None:
    with pytest.raises(ProbeError, match="the phone answered"):
        rows_of(said)


async def test_a_cell_without_a_value_is_empty_and_a_text_stays_what_it_is(tmp_path: Path) -> None:
    phone = ScriptedPhone()
    query = "content query --uri content://org.example/notes --sort _id --projection"
    phone.on(f"{query} _id", "Row: 0 _id=4\nRow: 1 _id=7\nRow: 2 _id=9\n")
    phone.on(f"{query} _id --where 'body IS NULL'", "Row: 0 _id=7\n")
    phone.on(f"{query} body", "Row: 0 body=NULL\nRow: 1 body=NULL\nRow: 2 body=eggs\n")
    probe = ContentProbe(kind="content", uri="content://org.example/notes", select=["body", "_id"])

    async with plugged(tmp_path, phone) as there:
        assert await read_phone(there.device, probe, {}) == [["NULL", "4"], ["", "7"], ["eggs", "9"]]


@pytest.mark.parametrize("said", ["Row: 0 _id=4\nRow: 1 _id=4\n", "Row: 0 _id=NULL\n"])
async def test_rows_without_numbers_of_their_own_are_no_answer(tmp_path: Path, said: str) -> None:
    phone = ScriptedPhone()
    phone.on("content query", said)
    probe = ContentProbe(kind="content", uri="content://org.example/notes", select=["body"])

    async with plugged(tmp_path, phone) as there:
        with pytest.raises(ProbeError, match="does not number its rows"):
            await read_phone(there.device, probe, {})
