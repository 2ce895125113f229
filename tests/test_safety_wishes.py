"""What an instruction wants done, only wants to know, or forbids."""

from __future__ import annotations

import pytest

from pipeline.safety.classes import kind_of
from pipeline.safety.wishes import acting_part, forbidden, hands_off, wants
from pipeline.words import Consequence


@pytest.mark.parametrize(
    ("instruction", "kind", "wanted"),
    [
        ("Delete the old invoices.", "delete", True),
        ("Which invoices did Ann delete?", "delete", False),
        ("Check whether there are updates to install.", "run", False),
        ("See what is new, then install the update.", "run", True),
        ("看看有哪些更新可以安装。", "run", False),
        ("看看有哪些更新,然后安装。", "run", True),
        ("Sell all my shares.", "order", True),
        ("Show me my orders.", "order", False),
        ("Don't delete anything.", "delete", False),
        ("Find me a table for two.", "order", False),
        ("Put two tickets in my basket.", "order", False),
        ("Give Nadia access to the budget.", "send", True),
    ],
)
def test_a_question_wants_nothing_done(instruction: str, kind: Consequence, wanted: bool) -> None:
    assert wants(instruction, kind_of(kind)) is wanted


def test_the_clauses_that_want_something_done() -> None:
    assert acting_part("Look at the cart, pay the bill and tell me the total.") == "pay the bill"
    assert acting_part("现在有几个未读?把它们归档。") == "把它们归档"
    assert acting_part("What time is it?") == ""


@pytest.mark.parametrize(
    ("instruction", "words"),
    [
        ("Put the post online. No mailing this time.", {"email"}),
        ("Block Dana. Keep the chat, I need it.", {"chat"}),
        ("Order it without the insurance.", {"insurance"}),
        ("下单,不要餐具。", {"餐具"}),
        ("进会议,摄像头别开", {"摄像", "像头"}),
        ("Order it with the insurance.", set()),
    ],
)
def test_what_is_not_wanted(instruction: str, words: set[str]) -> None:
    assert forbidden(instruction) == words


@pytest.mark.parametrize(
    ("instruction", "untouched"),
    [
        ("Show me the contract, but don't change anything.", True),
        ("看看押金怎么写,原文件别改", True),
        ("Change the deposit.", False),
    ],
)
def test_nothing_is_to_be_changed(instruction: str, untouched: bool) -> None:
    assert (hands_off(instruction) is not None) is untouched
