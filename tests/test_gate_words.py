"""What the gate's rules stand on: dates, phrases and likeness of texts."""

from __future__ import annotations

from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from taskspecs.dates import dates_in
from taskspecs.likeness import Likeness, print_of, shared
from taskspecs.numerals import in_digits
from taskspecs.scripts import same_words, simplified
from taskspecs.wording import Finder, Phrases, literals, plain, read_wording, skeleton, words

MONDAY = date(2026, 11, 30)


@pytest.mark.parametrize(
    ("text", "day"),
    [
        ("due 2025-03-12", date(2025, 3, 12)),
        ("due 2025/3/12", date(2025, 3, 12)),
        ("due 12 March 2025", date(2025, 3, 12)),
        ("due on the 12th of March, 2025", date(2025, 3, 12)),
        ("due March 12, 2025", date(2025, 3, 12)),
        ("due Sept. 3rd, 2025", date(2025, 9, 3)),
        ("due 13/01/2025", date(2025, 1, 13)),
        ("due 03/12/2026", date(2026, 12, 3)),
        ("2025年3月12日前", date(2025, 3, 12)),
        ("2025 年 3 月", date(2025, 3, 31)),
        ("in March 2025", date(2025, 3, 31)),
        ("in 2025", date(2025, 12, 31)),
        ("2025年的", date(2025, 12, 31)),
        ("on March 12", date(2027, 3, 12)),
        ("12月25日", date(2026, 12, 25)),
        ("today", MONDAY),
        ("明天", date(2026, 12, 1)),
        ("大后天", date(2026, 12, 3)),
        ("the day after tomorrow", date(2026, 12, 2)),
        ("in three days", date(2026, 12, 3)),
        ("2 weeks ago", date(2026, 11, 16)),
        ("三天后", date(2026, 12, 3)),
        ("两周前", date(2026, 11, 16)),
        ("next Friday", date(2026, 12, 11)),
        ("上周五", date(2026, 11, 27)),
        ("last month", date(2026, 10, 31)),
        ("下个月", date(2026, 12, 31)),
        ("last year", date(2025, 12, 31)),
        ("去年", date(2025, 12, 31)),
        ("明年", date(2027, 12, 31)),
        ("大前天", date(2026, 11, 27)),
        ("due 31-Aug-2026", date(2026, 8, 31)),
        ("due 2026-Aug-31", date(2026, 8, 31)),
        ("due 2026 August 31", date(2026, 8, 31)),
        ("due 8/31/26", date(2026, 8, 31)),
        ("due 20260831", date(2026, 8, 31)),
        ("二〇二六年十一月三日", date(2026, 11, 3)),
        ("二零二五年十二月三十一号", date(2025, 12, 31)),
        ("2026年十一月三日", date(2026, 11, 3)),
        ("二〇二五年三月", date(2025, 3, 31)),
        ("十二月二十五日", date(2026, 12, 25)),
        ("去年十二月三日", date(2025, 12, 3)),
        ("去年3月", date(2025, 3, 31)),
        ("今年1月5日", date(2026, 1, 5)),
        ("前年", date(2024, 12, 31)),
        ("大前年", date(2023, 12, 31)),
        ("后年", date(2028, 12, 31)),
        ("上个月", date(2026, 10, 31)),
        ("上上个月", date(2026, 9, 30)),
        ("上个月三号", date(2026, 10, 3)),
        ("上上周", date(2026, 11, 22)),
        ("上上周五", date(2026, 11, 20)),
        ("昨晚", date(2026, 11, 29)),
        ("yesterday", date(2026, 11, 29)),
        ("last night", date(2026, 11, 29)),
        ("the day before yesterday", date(2026, 11, 28)),
        ("last weekend", date(2026, 11, 29)),
        ("the previous month", date(2026, 10, 31)),
        ("the week before last", date(2026, 11, 22)),
        ("last August", date(2026, 8, 31)),
        ("last December", date(2025, 12, 31)),
        ("a fortnight ago", date(2026, 11, 16)),
        ("two fortnights ago", date(2026, 11, 2)),
        ("a couple of days ago", date(2026, 11, 28)),
        ("several weeks ago", date(2026, 11, 16)),
        ("half a year ago", date(2026, 6, 1)),
        ("半个月前", date(2026, 11, 15)),
        ("十五天前", date(2026, 11, 15)),
        ("几天前", date(2026, 11, 28)),
        ("四十五天之前", date(2026, 10, 16)),
        ("February 30, 2027", None),
        ("2027年2月30日", None),
        ("二〇二七年二月三十日", None),
    ],
)
def test_a_date_is_read_in_each_form(text: str, day: date | None) -> None:
    assert [dated.day for dated in dates_in(text, MONDAY)] == [day]


@pytest.mark.parametrize(
    "text",
    [
        "version 2.0.2024",
        "ticket 2025-1",
        "the 2025 report",
        "room 12/3",
        "1.2.3",
        "3 日志",
        "目前年龄",
        "三年级",
        "上年纪的人",
    ],
)
def test_what_only_looks_like_a_date_is_none(text: str) -> None:
    assert dates_in(text, MONDAY) == []


def test_dates_come_in_the_order_of_the_text() -> None:
    found = dates_in("From tomorrow to 2026-12-24, then 5 January", MONDAY)

    assert [(dated.text, dated.fixed) for dated in found] == [
        ("tomorrow", False),
        ("2026-12-24", True),
        ("5 January", True),
    ]


@given(st.text(alphabet="0123456789年月日./- abMarchinlastnextdaysago前后上下周半几十二〇去", max_size=40))
def test_no_text_is_too_odd_for_dates(text: str) -> None:
    assert all(dated.text in text for dated in dates_in(text, MONDAY))


@pytest.mark.parametrize(
    ("text", "digits"),
    [
        ("three notes", "3 notes"),
        ("Twenty-one notes", "21 notes"),
        ("two hundred and five", "205"),
        ("three thousand two hundred", "3200"),
        ("one two three", "1 2 3"),
        ("the third of 1,200", "the 3rd of 1200"),
        ("someone's tension", "someone's tension"),
        ("三条笔记", "3条笔记"),
        ("一百零五", "105"),
        ("三万五千", "35000"),
        ("两千", "2000"),
        ("二〇二六", "2026"),
        ("第十二条", "第12条"),
        ("壹佰", "100"),
        ("打开一下统一的一些", "打开一下统一的一些"),
    ],
)
def test_numbers_in_words_are_read(text: str, digits: str) -> None:
    assert in_digits(text) == digits


@given(st.text(alphabet="零〇一二两三四五六七八九十百千万亿廿0123,. ", max_size=20))
def test_no_numeral_is_too_odd(text: str) -> None:
    assert not set(in_digits(text)) & set("二三四五六七八九")


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("打开“设置”，关闭Ｗｉ－Ｆｉ。", "打开「设置」, 关闭 Wi-Fi."),
        ("Open the “User’s Guide”!", "open the 'users guide'"),
        ("在 Trac 里新建工单", "在Trac里新建工单"),
    ],
)
def test_spellings_of_one_text_are_plainly_the_same(one: str, other: str) -> None:
    assert plain(one) == plain(other)


def test_quotations_of_every_kind_are_taken_out() -> None:
    wording = read_wording("Name 'a b', \"c\", “d”, 「e」, 《f》 and `g`; it's done in the dogs' house.")

    assert wording.quoted == ("a b", "c", "d", "e", "f", "g")
    assert "it's done in the dogs' house" in wording.bare


def test_what_a_text_is_about_stands_apart_from_its_wording() -> None:
    wording = read_wording("Set the priority of “Pay the rent” to high, 3 times.")

    assert literals(wording, ["high"]) == {"pay the rent", "high", "3"}
    assert skeleton(wording, ["high"]) == "set the priority of to times"


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("Please log in first", "log in"),
        ("Read it without logging in", None),
        ("Do not log in, just read", None),
        ("不要登录，直接查看", None),
        ("请先登录", "登录"),
        ("The catalog index", None),
        ("Do not wait; log in", "log in"),
    ],
)
def test_a_phrase_counts_unless_it_is_ruled_out(text: str, found: str | None) -> None:
    finder = Finder(Phrases(en=["log in", "logging in"], zh=["登录"]), denials=words().denials)

    assert finder.first(text) == found


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("settle the bill", "settle the bill"),
        ("settle all of the open bills", "settle all of the open bills"),
        ("settle in, and then write the long bill", None),
        ("取消那笔订单", "取消那笔订单"),
        ("取消。查看订单", None),
    ],
)
def test_a_few_words_may_come_between(text: str, found: str | None) -> None:
    finder = Finder(Phrases(en=["settle ... bill*"], zh=["取消...订单"]), denials=words().denials)

    assert finder.first(text) == found


def test_a_phrase_that_reaches_out_of_something_harmless_counts() -> None:
    harmless = Phrases(en=[], zh=["骚扰电话"])
    finder = Finder(Phrases(en=[], zh=["骚扰", "拨打骚扰"]), denials=words().denials, harmless=harmless)

    assert (finder.first("屏蔽骚扰电话"), finder.first("拨打骚扰电话")) == (None, "拨打骚扰")


@pytest.mark.parametrize(
    ("text", "one_script", "one_region"),
    [
        ("購買軟體", "购买软体", "购买软件"),
        ("删除软件", "删除软件", "删除软件"),
        ("Buy it", "Buy it", "Buy it"),
    ],
)
def test_chinese_is_read_in_one_script(text: str, one_script: str, one_region: str) -> None:
    assert (simplified(text), same_words(text)) == (one_script, one_region)


def test_near_texts_are_found_in_their_group_only() -> None:
    likeness = Likeness(0.8)
    likeness.add("far", print_of("close all windows of the second desktop"), "a")
    likeness.add("near", print_of("add a note about the weather of the coming week"), "a")
    likeness.add("elsewhere", print_of("add a note about the weather of the coming week"), "b")

    assert likeness.like(print_of("add a note about the weather of the coming weeks"), "a") == ["near"]


def test_a_text_shorter_than_three_characters_is_like_none() -> None:
    likeness = Likeness(0.8)
    likeness.add("short", print_of("ab"))

    assert likeness.like(print_of("ab")) == []


def test_nearly_every_near_text_is_found() -> None:
    likeness = Likeness(0.8)
    texts = [f"open page {number} of the {'large ' * (number % 7)}report and copy its title" for number in range(300)]
    for number, text in enumerate(texts):
        likeness.add(str(number), print_of(text))
    prints = [print_of(text) for text in texts]
    pairs = {(a, b) for a in range(300) for b in range(300) if shared(prints[a].triples, prints[b].triples) >= 0.8}

    found = {(a, int(key)) for a in range(300) for key in likeness.like(prints[a])}

    assert found <= pairs
    assert len(found) >= 0.99 * len(pairs)
