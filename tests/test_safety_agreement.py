"""What the screen binds against the instruction: near misses, measures, choices, audiences, numbers of things."""

from __future__ import annotations

import pytest

from pipeline.safety.agreement import Bound, disagreement, strangers
from pipeline.safety.scene import Choice, Entry

AGREEING: tuple[tuple[str, list[str]], ...] = (
    ("Delete budget-2022.ods.", ["budget-2022.ods selected (48 kB)"]),
    ("Block Jason Reed.", ["Block Jason Reed? They can no longer call you."]),
    ("Cancel order 70-4418.", ["Order 70-4418 will be cancelled", "Order 70-4481, on its way"]),
    ("Buy 5 shares of Northwind Energy.", ["Buy 5 shares", "Northwind Energy (NWE)"]),
    ("Ask for leave from June 3 to June 5.", ["From June 3", "To June 5"]),
    ("Delete the sheet 'Budget'.", ["Delete 'Budget'?"]),
    ("Publish it so that everyone can read it.", ["Audience: Everyone"]),
    ("Delete all 12 photos.", ["12 selected"]),
    ("把《春游记》发布出去,所有人都能看。", ["可见范围 所有人"]),
    ("Add a note.", []),
    ("Get a ride to terminal 2.", ["To: Airport, Terminal 2"]),
    ("Book a table for two.", ["2 guests"]),
    ("Book it for Saturday.", ["Saturday 13 June", "Not on Friday 12 June"]),
    ("Sell 10 of my Northwind shares.", ["10 shares"]),
    ("Rename draft.txt.", ["draft.txt", "list.txt"]),
    ("把每个“星期五”都替换为“星期六”。", ["星期六"]),
)
DISAGREEING = (
    ("Delete budget-2022.ods.", ["budget-2023.ods selected (48 kB)"], "budget-2023"),
    ("Block Jason Reed.", ["Block Jason Rees? They can no longer call you."], "Jason Rees"),
    ("Cancel order 70-4418.", ["Order 70-4481 will be cancelled"], "70-4481"),
    ("Buy 5 shares of Northwind Energy.", ["Buy 50 shares"], "50 share"),
    ("Delete the sheet 'Budget'.", ["Delete 'Salaries'?"], "salaries"),
    ("Show it to my close friends.", ["Audience: Everyone"], "everyone"),
    ("Roll it out to staging.", ["Environment production-eu"], "production"),
    ("Remove the scanner.", ["This will also remove 14 other packages"], "also remove"),
    ("Delete the blurred photo.", ["248 selected"], "248 things"),
    ("把昨天那张照片删掉。", ["已选择 248 项"], "248 things"),
    ("Get a ride to terminal 2.", ["To: Airport, Terminal 1"], "1 terminal"),
    ("Book a table for two.", ["4 guests"], "for 4"),
    ("Book it for Saturday.", ["Friday 12 June"], "friday"),
    ("Sell 10 of my Northwind shares.", ["100 shares"], "100 share"),
    ("Ask Priya for the money.", ["From Priyanka Rao"], "Priyanka"),
    ("Merge it into develop.", ["into main"], "main"),
    ("订一间大床房。", ["双床房"], "twin room"),
    ("Enrol me in course 101.", ["BIOL 201"], "101"),
)


@pytest.mark.parametrize(("instruction", "texts"), AGREEING)
def test_what_agrees(instruction: str, texts: list[str]) -> None:
    assert disagreement(instruction, Bound(texts, asks=texts)) is None


@pytest.mark.parametrize(("instruction", "texts", "says"), DISAGREEING)
def test_what_does_not(instruction: str, texts: list[str], says: str) -> None:
    found = disagreement(instruction, Bound(texts, asks=texts))

    assert found is not None and says in found


def test_an_alternative_that_was_named_and_not_chosen() -> None:
    asked, home, office = "送到公司。", "家 运河里6幢", "公司 江虹路88号"

    assert disagreement(asked, Bound([], [Choice([office], [home])])) is None
    assert "公司" in (disagreement(asked, Bound([], [Choice([home], [office])])) or "")
    assert disagreement("下单。", Bound([], [Choice([home], [office])])) is None


def test_a_field_has_another_number_than_was_given() -> None:
    def told(value: str, name: str = "数量") -> str | None:
        return disagreement("卖出100股,价格35元", Bound([], fields=[Entry("价格", "35.00"), Entry(name, value)]))

    assert told("100") is None
    assert "1000" in (told("1000") or "")
    assert told("19", name="小时") is None


def test_a_site_that_only_looks_like_the_one_that_was_named() -> None:
    asked = "Log in to my bank, northbank.example."

    assert disagreement(asked, Bound([], location="https://www.northbank.example/login")) is None
    assert "names northbank.example" in (
        disagreement(asked, Bound([], location="https://northbank-secure.example.co/login")) or ""
    )


def test_who_is_known_by_the_name_before_the_at_is_no_stranger() -> None:
    texts = ["To: anna.berg@corvin.test", "Cc: board@corvin.test"]

    assert strangers("Tell Anna that I will be late.", texts) == ["board@corvin.test"]
