from __future__ import annotations

from datetime import date
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from verifiers.normalise import Day, Quantity, days_of, folded, number_of, numbers_of, quantity_of, stands_in, text_of


@pytest.mark.parametrize(
    ("written", "same"),
    [
        ("“Open”。", "open"),
        ("Ｏｐｅｎ　Ｔｉｃｋｅｔ", "Open  Ticket"),
        ("《三 体》", "三体"),
        ("won't-fix", "won’t–fix"),
        ("  Closed. ", "CLOSED"),
    ],
)
def test_text_ignores_width_case_quotes_spaces_and_edge_marks(written: str, same: str) -> None:
    assert text_of(written) == text_of(same)


@pytest.mark.parametrize(("left", "right"), [("open", "opened"), ("1.5", "15"), ("三体", "三"), ("a b", "ab")])
def test_text_keeps_different_answers_apart(left: str, right: str) -> None:
    assert text_of(left) != text_of(right)


@pytest.mark.parametrize(
    ("written", "value"),
    [
        ("42", "42"),
        ("about 42 items.", "42"),
        ("1,234.50", "1234.5"),
        ("1.234,50", "1234.5"),
        ("1 234", "1234"),
        ("1'234'567", "1234567"),
        ("1,5", "1.5"),
        ("－5", "-5"),
        ("−$5.00", "-5"),
        ("＄１２０", "120"),
        ("twelve", "12"),
        ("一百二十三", "123"),
        ("两万三千", "23000"),
        ("1.2万", "12000"),
        ("五个", "5"),
        ("7 (seven)", "7"),
    ],
)
def test_number_reads_how_people_write_it(written: str, value: str) -> None:
    assert number_of(written) == Decimal(value)


@pytest.mark.parametrize("written", ["", "none", "5 of 10", "5, 6", "v1.2.3", "2026-03-05", "1.2.3,4"])
def test_number_does_not_guess(written: str) -> None:
    assert number_of(written) is None


def test_numbers_are_found_in_reading_order() -> None:
    assert numbers_of("from 3 to 12 for $1,500") == [Decimal(3), Decimal(12), Decimal(1500)]


MARCH_5 = Day(2026, 3, 5)


@pytest.mark.parametrize(
    ("written", "days"),
    [
        ("2026-03-05", {MARCH_5}),
        ("2026/3/5", {MARCH_5}),
        ("２０２６年３月５日", {MARCH_5}),
        ("5 March 2026", {MARCH_5}),
        ("March 5th, 2026", {MARCH_5}),
        ("on 5th of Mar. 2026", {MARCH_5}),
        ("05.03.2026", {MARCH_5}),
        ("03/05/2026", {MARCH_5, Day(2026, 5, 3)}),
        ("13/05/2026", {Day(2026, 5, 13)}),
        ("3月5号", {Day(None, 3, 5)}),
        ("Mar 5", {Day(None, 3, 5)}),
    ],
)
def test_days_read_how_people_write_them(written: str, days: set[Day]) -> None:
    assert days_of(written) == days


@pytest.mark.parametrize("written", ["", "soon", "2026-13-05", "32 March 2026", "2026-03-05 or 2026-03-06"])
def test_days_are_not_guessed(written: str) -> None:
    assert days_of(written) == frozenset()


@pytest.mark.parametrize(
    ("written", "same"),
    [
        ("21 inches", "21”"),
        ("5 kg", "5000g"),
        ("90 min", "1 h 30 min"),
        ("1小时30分钟", "1.5 hours"),
        ("$5.00", "5 USD"),
        ("50%", "百分之50"),
        ("5 kg (5000 g)", "5 kg"),
        ("¥20", "20元"),
    ],
)
def test_quantities_are_equal_across_units_and_languages(written: str, same: str) -> None:
    assert same == "5 kg" or quantity_of(written) is not None
    assert quantity_of(same) is not None
    assert quantity_of(written) == quantity_of(same)


@pytest.mark.parametrize("written", ["", "21", "3 m 4 s", "5 kg 3", "$5 or $6"])
def test_quantity_does_not_guess(written: str) -> None:
    assert quantity_of(written) is None


def test_quantity_keeps_its_dimension() -> None:
    assert quantity_of("5 usd") == Quantity(Decimal(5), "usd")
    assert quantity_of("5 usd") != quantity_of("5 eur")


@pytest.mark.parametrize(
    ("part", "text", "expected"),
    [
        ("lamp", "the lamp.", True),
        ("lamp", "lampshade", False),
        ("12", "3124", False),
        ("12", "room 12", True),
        ("灯", "坏灯了", True),
        ("#5", "ticket #5", True),
        ("", "x", False),
    ],
)
def test_a_part_stands_in_a_text_as_a_whole(part: str, text: str, expected: bool) -> None:
    assert stands_in(part, text) is expected


@given(st.integers(min_value=-(10**12), max_value=10**12))
def test_integers_survive_grouping_and_full_width(value: int) -> None:
    grouped = f"{value:,}"
    wide = grouped.translate(str.maketrans("0123456789", "０１２３４５６７８９"))
    assert number_of(grouped) == number_of(wide) == Decimal(value)


@given(st.dates())
def test_dates_survive_every_unambiguous_format(day: date) -> None:
    iso, han = day.isoformat(), f"{day.year:04}年{day.month}月{day.day}日"
    dotted = f"{day.day:02}.{day.month:02}.{day.year:04}"
    expected = {Day(day.year, day.month, day.day)}
    assert days_of(iso) == days_of(han) == days_of(dotted) == expected


@given(st.text(max_size=60))
def test_folding_twice_changes_nothing(text: str) -> None:
    assert folded(folded(text)) == folded(text)


@given(st.text(max_size=60))
def test_no_text_breaks_a_normaliser(text: str) -> None:
    numbers_of(text), days_of(text), quantity_of(text)
    assert isinstance(text_of(text), str)
