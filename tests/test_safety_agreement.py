"""What the screen binds against the instruction: near misses, measures, choices, audiences, numbers of things."""

from __future__ import annotations

import pytest

from pipeline.safety.agreement import Bound, disagreement, strangers
from pipeline.safety.scene import Choice

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


def test_who_is_known_by_the_name_before_the_at_is_no_stranger() -> None:
    texts = ["To: anna.berg@corvin.test", "Cc: board@corvin.test"]

    assert strangers("Tell Anna that I will be late.", texts) == ["board@corvin.test"]
