from __future__ import annotations

import pytest

from pipeline.actions import CallUser, Finished, Scroll, Type, Wait
from pipeline.protocols import view_of
from pipeline.records import Record, Step
from pipeline.tasks import TaskSpec
from pipeline.words import FailureCategory
from tests.records import Look, at, check, click, look, node, read, record, step, task
from verifiers.contract import evaluate
from verifiers.failures import category_of

FORM = look(node("textbox", "Summary", states=["focused"]), node("button", "Create"), node("link", "Home"), path="/new")
FILLED = look(node("textbox", "Summary", "Lamp"), node("button", "Create"), node("link", "Home"), path="/new")
LIST = look(node("heading", "Tickets"), node("cell", "Owned by: ann"), node("link", "Home"))
MADE = task("Create the ticket “Lamp”.", [check("count", "tickets", "1")])
ASK = task("Who owns “Lamp”?", [check("text", "answer", "ben")])
SEND = click(FILLED, "Create")
DONE = step(Finished())


def category(of: Record, made: TaskSpec = MADE) -> FailureCategory:
    return category_of(made, of, evaluate(made, of, "pass"), view_of(made))


def story(*steps: Step, looks: list[Look] | None = None, **how: object) -> Record:
    screens = looks or [FORM, *[FILLED] * len(steps)]
    reads = [read("tickets", [], len(screens) - 1)]
    return record(screens, steps, [*reads, *how.pop("reads", [])], **how)  # type: ignore[misc, arg-type]


@pytest.mark.parametrize(
    ("of", "expected"),
    [
        (story(step(Wait()), step(Wait()), termination="loop"), "loop"),
        (story(step(CallUser(content="help"))), "gave_up"),
        (story(step(Wait()), step(Finished(content="infeasible: no"))), "gave_up"),
        (story(step(None), termination="unreadable"), "other"),
        (story(DONE), "early_stop"),
        (story(step(Type(content="Lamp")), DONE), "early_stop"),
        (story(step(Type(content="Lampe")), SEND, step(Wait()), termination="step_limit"), "wrong_value"),
        (story(click(FORM, "Home", "Click “Create”."), step(Wait()), termination="step_limit"), "wrong_target"),
        (story(step(Type(content="Lamp")), SEND, step(Wait()), termination="step_limit"), "no_stop"),
        (story(step(Type(content="Lamp")), SEND, DONE, looks=[FORM, FILLED, LIST, LIST]), "missing_step"),
    ],
)
def test_each_way_to_fail_has_its_category(of: Record, expected: FailureCategory) -> None:
    assert category(of) == expected


def test_unexpected_changes_without_another_mistake_are_the_category() -> None:
    touched = read("changes", [["wiki/1", "removed"]], 3)

    of = story(step(Type(content="Lamp")), SEND, DONE, looks=[FORM, FILLED, LIST, LIST], reads=[touched])

    assert category(of) == "side_effect"


@pytest.mark.parametrize(
    ("said", "expected"), [("ann", "misread_screen"), ("zoe", "hallucinated_answer"), ("", "early_stop")]
)
def test_wrong_answers_are_misread_or_made_up(said: str, expected: FailureCategory) -> None:
    looked = step(Scroll(point=at(LIST, "Home"), direction="down"))

    assert category(record([LIST, LIST, LIST], [looked, step(Finished(content=said))]), ASK) == expected


def test_no_answer_at_the_limit_is_a_missing_step() -> None:
    assert category(record([LIST, LIST], [step(Wait())]), ASK) == "missing_step"


@pytest.mark.parametrize(("said", "expected"), [("done", "hallucinated_answer"), ("", "misread_screen")])
def test_claiming_what_cannot_be_done_is_made_up_or_misread(said: str, expected: FailureCategory) -> None:
    absent = task("Delete “Lamp”.", absence_checks=[check("count", "tickets", "0")])

    assert category(story(step(Finished(content=said))), absent) == expected
