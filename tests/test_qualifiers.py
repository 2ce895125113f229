"""Superlatives, counts and formats become keypoints of their own, and a judge that cannot compare leaves them open."""

from __future__ import annotations

import pytest

from pipeline.protocols import view_of
from tests.records import Look, click, look, node, record, step, task
from verifiers.evidence import evidence_of
from verifiers.findings import findings_of
from verifiers.keypoints import keypoints_of
from verifiers.qualifiers import qualifiers_of
from verifiers.screen import ScreenJudge


@pytest.mark.parametrize(
    ("clause", "expected"),
    [
        ("Delete the oldest ticket", [("ranked", "oldest ticket")]),
        ("Open the second result of the list", [("ranked", "the second result of the")]),
        ("Archive all messages from her", [("counted", "all messages from her")]),
        ("Keep at most three tags", [("counted", "at most three tags")]),
        ("Write the title in lower case", [("formatted", "lower case")]),
        ("Answer with two decimals", [("formatted", "two decimals")]),
        ("Close the newest of all tickets", [("ranked", "newest of all tickets"), ("counted", "all tickets")]),
        ("请删除最旧的工单", [("ranked", "最旧的工单")]),
        ("把所有未完成的待办标为完成", [("counted", "所有未完成的待办")]),
        ("保留两位小数", [("formatted", "保留两位小数")]),
    ],
)
def test_a_phrase_is_found_with_what_it_is_about(clause: str, expected: list[tuple[str, str]]) -> None:
    assert [(found.quality, found.phrase) for found in qualifiers_of(clause)] == expected


@pytest.mark.parametrize(
    "clause",
    [
        "Set the first name",
        "Change the last name of the customer",
        "How much is it in all",
        "Open the ticket",
        "新建一个工单",
        "Look at the last month",
    ],
)
def test_words_that_compare_nothing_are_no_qualifiers(clause: str) -> None:
    assert qualifiers_of(clause) == []


def test_a_quoted_value_is_a_name_whatever_it_says() -> None:
    wanted = keypoints_of(view_of(task("Delete the list “All the oldest things”.")))

    assert {sought.wanted for sought in wanted}.isdisjoint({"ranked", "counted", "formatted"})


def test_a_qualifier_stands_beside_the_values_of_its_clause_in_the_instructions_language() -> None:
    english = keypoints_of(view_of(task("Delete the oldest ticket of “Lamp”.")))
    chinese = keypoints_of(view_of(task("请删除“Lamp”中最旧的工单。", language="zh")))

    assert english[-1].text == "It is the right one by rank or place: oldest ticket of"
    assert chinese[-1].text == "名次或位置符合要求：最旧的工单"
    assert english[0].value == "Lamp"


def after_creating(name: str) -> tuple[Look, Look]:
    """A form with a name filled in, and the list that shows it after it was sent."""
    form = look(node("textbox", "Summary", value=name), node("button", "Create"))
    return form, look(node("heading", "Tickets"), node("link", name))


@pytest.mark.parametrize("extra", ["", " Use the cheapest supplier."])
def test_without_comparing_a_superlative_stays_open_and_the_judge_abstains(extra: str) -> None:
    form, after = after_creating("Lamp")
    made = record([form, after, after], [click(form, "Create"), step(None)])
    view = view_of(task(f"Create a ticket with the summary “Lamp”.{extra}"))

    vote = ScreenJudge().judge(view, made, "pass").votes[0]

    ranked = [found for found in findings_of(view, evidence_of(made), None) if found.sought.wanted == "ranked"]
    assert [found.state for found in ranked] == (["unclear"] if extra else [])
    assert vote.grade == (None if extra else "complete")
