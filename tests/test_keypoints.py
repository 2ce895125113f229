from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.protocols import view_of
from tests.records import task
from verifiers.keypoints import Sought, keypoints_of, quoted_in, same_value, unquoted


def found(instruction: str, language: str = "en") -> list[tuple[str, str]]:
    return [(sought.wanted, sought.value) for sought in keypoints_of(view_of(task(instruction, language=language)))]


@pytest.mark.parametrize(
    ("instruction", "expected"),
    [
        (
            'Create a ticket with summary "Broken lamp" and priority "critical".',
            [("shown", "Broken lamp"), ("shown", "critical")],
        ),
        ("Close the ticket “Login fails” as “wontfix”.", [("seen", "Login fails"), ("shown", "wontfix")]),
        ('Add the comment "Seen again" to the ticket "Lamp".', [("shown", "Seen again"), ("seen", "Lamp")]),
        ('Rename the milestone "A" to "B".', [("seen", "A"), ("shown", "B")]),
        ("Set the weight of “Zofia” to 2.", [("seen", "Zofia"), ("shown", "2")]),
        ("Delete the bill “Dinner”.", [("gone", "Dinner")]),
        ('Delete the row with id 5 from the table "users".', [("seen", "5"), ("seen", "users"), ("changed", "")]),
        ("Deactivate the participant “Zofia”.", [("seen", "Zofia"), ("changed", "")]),
        ("Who owns the ticket “Lamp”? Answer with the name.", [("seen", "Lamp"), ("answered", "")]),
        ("Export the budget as PDF.", [("changed", ""), ("formatted", "as pdf")]),
        ("Open the page “Help”.", [("seen", "Help")]),
        ("Look at the weather.", []),
        (
            "Change the priority of “X” to “minor”, then delete the page “Foo”.",
            [("seen", "X"), ("shown", "minor"), ("gone", "Foo")],
        ),
    ],
)
def test_each_value_is_wanted_as_its_clause_says(instruction: str, expected: list[tuple[str, str]]) -> None:
    assert found(instruction) == expected


@pytest.mark.parametrize(
    ("instruction", "expected"),
    [
        ("把票“登录失败”的优先级改为“minor”。", [("seen", "登录失败"), ("shown", "minor")]),
        ("新建一个票，标题为“灯坏了”，类型为“defect”。", [("shown", "灯坏了"), ("shown", "defect")]),
        ("删除账单“晚饭”，然后把“Zofia”的权重设为2。", [("gone", "晚饭"), ("seen", "Zofia"), ("shown", "2")]),
        ("给票“登录失败”添加评论“又出现了”。", [("seen", "登录失败"), ("shown", "又出现了")]),
        ("票「登录失败」的负责人是谁？只回答名字。", [("seen", "登录失败"), ("answered", "")]),
        ("在维基页面“首页”末尾追加一句“已检查”。", [("seen", "首页"), ("shown", "已检查")]),
    ],
)
def test_chinese_instructions_are_read_as_well(instruction: str, expected: list[tuple[str, str]]) -> None:
    assert found(instruction, "zh") == expected


def test_numbers_and_days_are_values_too() -> None:
    kinds = [(s.kind, s.value) for s in keypoints_of(view_of(task("Record 4.50 on 2026-03-05 as “Tea”.")))]

    assert kinds == [("number", "4.50"), ("day", "2026-03-05"), ("text", "Tea")]


def test_full_stops_inside_a_value_do_not_cut_the_clause() -> None:
    assert found("Add the comment “Done. Then delete it.” to “Lamp”.") == [
        ("shown", "Done. Then delete it."),
        ("seen", "Lamp"),
    ]


def test_texts_are_in_the_language_of_the_instruction() -> None:
    english = keypoints_of(view_of(task("Delete “Lamp”.")))[0].text
    chinese = keypoints_of(view_of(task("删除“灯”。", language="zh")))[0].text

    assert english == "“Lamp” was on screen and is no longer there."
    assert "灯" in chinese
    assert "屏幕" in chinese


def test_a_value_named_twice_is_one_keypoint() -> None:
    assert found("Delete “Lamp”. Delete “Lamp”.") == [("gone", "Lamp")]


def test_the_contract_and_feasibility_are_not_needed() -> None:
    assert "feasible" not in type(view_of(task())).model_fields
    assert keypoints_of(view_of(task(feasible=False))) == keypoints_of(view_of(task(feasible=True)))


def test_quotes_of_every_kind_are_known() -> None:
    text = '“a” "b" 「c」 『d』 `e` 《f》'

    assert quoted_in(text) == ["a", "b", "c", "d", "e", "f"]
    assert unquoted(text).split() == []


def test_the_same_day_in_another_form_is_the_same_value() -> None:
    day = Sought("shown", "2026-03-05", "day", "create", "")

    assert same_value(day, "March 5, 2026")
    assert not same_value(day, "March 6, 2026")


@given(st.text(max_size=120))
def test_no_instruction_breaks_the_reading(instruction: str) -> None:
    for sought in keypoints_of(view_of(task(instruction))):
        assert sought.text
