"""What applications of a phone have stored: the rows in what `content query` prints."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.envs.phone_data import rows_of
from pipeline.errors import ProbeError

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
