"""Answers that lie open before any work is done, and words that are no answer."""

from __future__ import annotations

from typing import Any

import pytest

from pipeline.structs import Node, Param
from pipeline.tasks import ANSWER, CapabilityCall, ProcedureStep, TaskSpec, VerifierName
from taskspecs.giveaway import in_wording, on_screen, told_values
from tests.records import check, task

READ = [
    ProcedureStep(action="Click", role="link", name="Tickets"),
    ProcedureStep(action="Finished", content="{owner}", capture=r"Owner: (\w+)", save_as="owner"),
]


def asking(
    expected: str, verifier: VerifierName = "text", said: str = 'Who owns "Rights of guests"?', **more: Any
) -> TaskSpec:
    fields: dict[str, Any] = {"contract_kind": "answer", "oracle": READ}
    return task(said, [check(verifier, ANSWER, expected)], **(fields | more))


def texts(*names: str) -> list[Node]:
    return [Node(role="StaticText", name=name) for name in names]


def test_what_is_told_are_quotations_numbers_and_named_values() -> None:
    calls = [
        CapabilityCall(capability_id="c", params=[Param(name="a", value="maria"), Param(name="b", value="hidden")])
    ]

    told = told_values(asking("x", said='Set "Lamp" of maria to 12.', calls=calls))

    assert told == ["Lamp", "maria", "12", "lamp"]


@pytest.mark.parametrize(("said", "open_"), [("Is ahmed the owner?", True), ("Who is the owner?", False)])
def test_an_answer_in_the_wording_is_open(said: str, open_: bool) -> None:
    assert (in_wording(asking("ahmed", said=said)) is not None) == open_


@pytest.mark.parametrize(
    ("expected", "verifier", "shown"),
    [
        ("ahmed", "text", "Owner: ahmed"),
        ("ahmed", "text", "Ahmed"),
        ("Hand grinder", "text", "Our best: the Hand Grinder!"),
        ("5", "number", "Rights of guests: 5"),
        ("me", "text", "Rights of guests (me)"),
    ],
    ids=["where the oracle reads it", "alone", "several words", "beside what is asked about", "a short one beside it"],
)
def test_an_answer_on_the_start_screen_is_open(expected: str, verifier: VerifierName, shown: str) -> None:
    finding = on_screen(asking(expected, verifier), texts("Home", shown))

    assert finding is not None and finding.reason == "answer_in_fixture"


@pytest.mark.parametrize(
    ("expected", "verifier", "shown"),
    [
        ("ahmed", "text", "Tickets of ahmed and maria"),
        ("5", "number", "Chapter 5"),
        ("me", "text", "me"),
        ("2025-06-24", "date", "2025-06-24"),
        ("ahmed", "text", "Owner: maria"),
    ],
    ids=["one word among others", "a number", "a short word", "a date alone", "another one"],
)
def test_what_may_stand_there_by_chance_is_not(expected: str, verifier: VerifierName, shown: str) -> None:
    assert on_screen(asking(expected, verifier), texts("Home", shown)) is None


def test_a_task_that_only_reads_the_start_screen_may() -> None:
    assert on_screen(asking("ahmed", oracle=READ[1:]), texts("Owner: ahmed")) is None


def test_what_the_question_offers_is_not_given_away_by_the_screen() -> None:
    offered = asking("Rights of guests", said='Which is older, "Rights of guests" or "Map view"?')

    assert on_screen(offered, texts("Rights of guests")) is None


def test_later_captures_build_on_earlier_ones() -> None:
    chained = [
        ProcedureStep(action="Click", role="link", name="Tickets", capture=r"Newest: (\w+)", save_as="newest"),
        ProcedureStep(action="Finished", content="{owner}", capture=r"{newest} of (\w+)", save_as="owner"),
    ]
    made = asking("bo", oracle=chained)

    assert on_screen(made, texts("Newest: Lamp", "Lamp of bo")) is not None
    assert on_screen(made, texts("Newest: Lamp", "Map of bo")) is None


def test_tasks_without_an_answer_have_none_to_give_away() -> None:
    assert on_screen(task("Do it.", [check("count", "p", "1")], oracle=READ), texts("1")) is None
    assert on_screen(asking("ahmed", feasible=False), texts("Owner: ahmed")) is None
