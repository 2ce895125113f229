"""What proves that a task cannot be done, and what holds beside it and proves nothing."""

from __future__ import annotations

import pytest

from pipeline.structs import Param
from pipeline.tasks import CapabilityCall, Check, TaskSpec
from taskspecs.absence import unproved
from taskspecs.store import load_tasks
from tests.records import check, task

DELETE = CapabilityCall(capability_id="todo.delete", params=[Param(name="title", value="Feed the parrot")])


def impossible(instruction: str, *checks: Check, **changes: object) -> TaskSpec:
    return task(instruction, absence_checks=list(checks), **({"feasible": False} | changes))


PROVED = [
    ('Delete "Feed the parrot".', check("count", "todo", "0", title="Feed the parrot")),
    ('Delete "Feed the parrot".', check("absent", "todos", "Feed the parrot")),
    ('Delete "Feed the parrot".', check("equals", "todo", title="Feed the parrot")),
    ("Delete the parrot's to-do.", check("count", "todo", "0", title="Feed the parrot")),
    ("Set the hours to 8.", check("count", "field", "0", pattern="%hour%")),
    ("把类别（Category）设为“交通”。", check("count", "field", "0", pattern="%categor%")),
    ("把联系人加入群组“邻居”。", check("count", "group", "0", title="邻居")),
    ("Turn on NFC.", check("count", "global", "0", title="nfc_on")),
    ('Buy the "Wall clock".', check("equals", "product", "7", "2750", "0", title="Wall clock")),
    ("Run it with a kernel.", check("equals", "kernels", "{}")),
    ("Give the user permissions.", check("absent", "controls", "Permissions")),
]


@pytest.mark.parametrize(("instruction", "held"), PROVED)
def test_what_is_missing_by_the_name_that_the_task_gives_it_is_a_proof(instruction: str, held: Check) -> None:
    assert unproved(impossible(instruction, held)) is None


HOLDING = [
    ('Set the priority of "Rent" to "critical".', check("contains", "todo", "high", title="Rent")),
    ('Share "Rent" by mail.', check("equals", "todo", "high", "open", "", title="Rent")),
    ('Share "Rent" by mail.', check("count", "todo", "1", title="Rent")),
    ('Share "Rent" by mail.', check("matches", "todo", "^high$", title="Rent")),
]


@pytest.mark.parametrize(("instruction", "held"), HOLDING)
def test_a_check_that_says_what_is_there_proves_nothing(instruction: str, held: Check) -> None:
    said = unproved(impossible(instruction, held))

    assert said is not None and "no absence check says that something is missing" in said


UNRELATED = [
    ('Share "Rent" by mail.', check("count", "todo", "0", title="Feed the parrot")),
    ('Share "Rent" by mail.', check("absent", "todos", "Feed the parrot")),
    ('Share "Rent" by mail.', check("equals", "kernels", "{}")),
    ("Set all of the rest.", check("absent", "todos", "All of the parrots")),
]


@pytest.mark.parametrize(("instruction", "held"), UNRELATED)
def test_what_the_task_does_not_name_may_be_missing_and_proves_nothing(instruction: str, held: Check) -> None:
    said = unproved(impossible(instruction, held))

    assert said is not None and "is not what the task names: 'criterion'" in said.replace(held.name, "criterion")


def test_one_proof_among_other_checks_is_enough() -> None:
    others = [held for _, held in UNRELATED[:2]]

    assert unproved(impossible('Share "Rent" by mail.', *others, check("absent", "buttons", "Share"))) is None


def test_what_a_call_names_is_named_by_the_task() -> None:
    held = check("count", "todo", "0", title="Feed the parrot")

    assert unproved(impossible("删除喂鹦鹉的待办。", held, calls=[DELETE])) is None


def test_a_probe_that_asks_for_nothing_in_particular_may_be_named_by_the_reason() -> None:
    switched_off = check("equals", "features", "false", "false")

    assert unproved(impossible("新建项目。", switched_off)) is not None
    assert unproved(impossible("新建项目。", switched_off, infeasible_reason="The feature is switched off.")) is None


def test_a_task_that_can_be_done_needs_no_such_proof() -> None:
    assert unproved(task("Do it.")) is None


@pytest.mark.parametrize("name", ["fake", "mobile", "quickstart"])
def test_every_shipped_task_that_cannot_be_done_proves_it(name: str) -> None:
    assert [(one.instruction, said) for one in load_tasks(name) if (said := unproved(one))] == []
