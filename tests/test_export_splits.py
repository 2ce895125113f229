from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pipeline.errors import ConfigError
from pipeline.exports.splits import SplitBy, assign_splits
from pipeline.tasks import TaskSpec, identified
from tests.episodes import fake_task
from tests.records import task


def made(number: int, template: str | None = None, apps: tuple[str, ...] = ("demo",), split: str = "train") -> TaskSpec:
    return task(f"Task {number}.").model_copy(update={"template_id": template, "app_ids": list(apps), "split": split})


TASKS = st.lists(
    st.builds(
        made,
        st.integers(0, 10**6),
        st.one_of(st.none(), st.sampled_from(["t1", "t2", "t3", "t4"])),
        st.lists(st.sampled_from(["a", "b", "c", "d", "e", "f"]), min_size=1, max_size=2, unique=True).map(tuple),
    ),
    min_size=1,
    max_size=30,
    unique_by=lambda one: one.task_id,
)


@settings(deadline=None)
@given(TASKS, st.sampled_from(["task", "template", "app"]), st.integers(0, 3))
def test_nothing_that_belongs_together_straddles(tasks: list[TaskSpec], by: SplitBy, seed: int) -> None:
    splits = assign_splits(tasks, by, 0.5, seed)
    assert by == "app" or splits.keys() == {one.task_id for one in tasks}
    placed = [one for one in tasks if one.task_id in splits]
    for left in placed:
        for right in placed:
            same_template = by == "template" and left.template_id and left.template_id == right.template_id
            same_app = by == "app" and set(left.app_ids) & set(right.app_ids)
            if same_template or same_app:
                assert splits[left.task_id] == splits[right.task_id]


@pytest.mark.parametrize("by", ["task", "template"])
def test_what_is_asked_in_two_languages_never_straddles(by: SplitBy) -> None:
    pairs = []
    for number in range(40):
        english = fake_task().model_copy(update={"expected_changes": [f"todo/{number}"]})
        pairs.append(
            (identified(english), identified(english.model_copy(update={"instruction": "加", "language": "zh"})))
        )

    splits = assign_splits([one for pair in pairs for one in pair], by, 0.5)

    assert all(splits[english.task_id] == splits[chinese.task_id] for english, chinese in pairs)
    assert set(splits.values()) == {"train", "test"}


@settings(deadline=None)
@given(TASKS)
def test_the_order_of_tasks_does_not_matter(tasks: list[TaskSpec]) -> None:
    assert assign_splits(tasks, "app", 0.5) == assign_splits(tasks[::-1], "app", 0.5)


def test_more_tasks_leave_the_others_where_they_were() -> None:
    tasks = [made(number, f"t{number % 40}") for number in range(200)]
    some, all_of_them = assign_splits(tasks[:80], "template", 0.3), assign_splits(tasks, "template", 0.3)
    assert some.items() <= all_of_them.items()


@settings(deadline=None)
@given(TASKS, TASKS, st.integers(0, 3))
def test_an_application_falls_where_it_does_whatever_else_there_is(
    tasks: list[TaskSpec], others: list[TaskSpec], seed: int
) -> None:
    beside = [one.model_copy(update={"split": "validation"}) for one in others]
    alone, together = assign_splits(tasks, "app", 0.5, seed), assign_splits([*beside, *tasks], "app", 0.5, seed)
    assert {one.task_id: together.get(one.task_id) for one in tasks} == {
        one.task_id: alone.get(one.task_id) for one in tasks
    }


def test_by_application_what_would_straddle_belongs_to_no_split() -> None:
    sides = {name: assign_splits([made(1, apps=(name,))], "app", 0.5).popitem()[1] for name in "abcdef"}
    train, test = ([name for name in sides if sides[name] == side] for side in ("train", "test"))
    assert assign_splits([made(1, apps=(train[0], train[1]))], "app", 0.5).popitem()[1] == "train"
    assert assign_splits([made(1, apps=(train[0], test[0]))], "app", 0.5) == {}
    assert assign_splits([made(1, apps=(train[0],), split="validation")], "app", 0.5) == {}
    assert assign_splits([made(1, apps=(test[0],), split="test")], "app", 0.5).popitem()[1] == "test"


def test_about_the_wanted_share_is_held_out() -> None:
    splits = list(assign_splits([made(number) for number in range(2000)], "task", 0.1).values())
    assert 0.07 < splits.count("test") / len(splits) < 0.13


def test_another_seed_draws_others() -> None:
    tasks = [made(number) for number in range(50)]
    assert assign_splits(tasks, "task", 0.5, seed=0) != assign_splits(tasks, "task", 0.5, seed=1)


def test_a_declared_split_stands_and_takes_its_template_along() -> None:
    tasks = [made(1, "t"), made(2, "t", split="validation"), made(3)]
    splits = assign_splits(tasks, "template", 0.0)
    assert [splits[one.task_id] for one in tasks] == ["validation", "validation", "train"]


def test_a_share_outside_0_to_1_is_refused() -> None:
    with pytest.raises(ConfigError, match="test-share"):
        assign_splits([made(1)], "task", 1.5)
