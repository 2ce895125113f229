"""The gate: each reason a rule can decide, what must not be mistaken for one, and the set as a whole."""

from __future__ import annotations

import gzip
import json
import random
from datetime import date
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pipeline.errors import ConfigError
from pipeline.structs import Param
from pipeline.tasks import CapabilityCall, ProcedureStep, Segment, SetupOperation, Start, TaskSpec
from pipeline.words import RejectionReason
from taskspecs.gate import gate
from taskspecs.gate_cases import Candidate, Surroundings
from taskspecs.gate_sets import Contamination, load_contamination
from taskspecs.store import load_tasks
from taskspecs.surroundings import around_tasks
from tests.candidates import AROUND, TODAY, asking, candidates, check, live, params, reason_of, task


def shipped() -> list[TaskSpec]:
    return [*load_tasks("quickstart"), *load_tasks("fake")]


def around_shipped(resettable: bool = True) -> Surroundings:
    tasks = shipped()
    apps = sorted({app_id for one in tasks for app_id in one.app_ids})
    return around_tasks(tasks, TODAY)._replace(resettable=frozenset(apps if resettable else ()))


# --- one candidate by itself --------------------------------------------------------------------------------------


def test_tasks_written_by_hand_are_admitted() -> None:
    tasks = shipped()

    gated = gate([Candidate(one.task_id, one, "hand") for one in tasks], around_shipped())

    assert gated.rejections == []
    assert [one.task.task_id for one in gated.passed] == sorted(one.task_id for one in tasks)


@pytest.mark.parametrize(
    ("candidate", "reason"),
    [
        (task(capability_ids=["notes.fly"]), "unsupported"),
        (task(capability_ids=[]), "unsupported"),
        (task(capability_ids=["notes.gone"]), "unsupported"),
        (task(calls=[CapabilityCall(capability_id="notes.fly")]), "unsupported"),
        (task(capability_ids=["notes.moved"]), "not_executable"),
        (task(capability_ids=["shop.look"]), "not_executable"),
        (task(app_ids=["notes", "absent"]), "not_executable"),
        (task(start=Start(app_id="shop")), "not_executable"),
        (task('Add the note "Milk" for February 30, 2027.'), "not_executable"),
        (task("添加一条2027年2月30日的笔记“牛奶”。"), "not_executable"),
        (task(capability_ids=["notes.walled"]), "needs_login"),
    ],
)
def test_what_the_application_cannot_do(candidate: TaskSpec, reason: RejectionReason) -> None:
    assert reason_of(candidate) == reason


@pytest.mark.parametrize(
    "candidate",
    [
        task(checks=[]),
        task(segments=[]),
        task(contract_kind="answer"),
        task(feasible=False),
        task(checks=[check(probe="nowhere")]),
        task(checks=[check(expected=[])]),
        task(checks=[check(verifier="matches", expected=["("])]),
        task(checks=[check(expected=["1"]), check(name="again", expected=["2"])]),
        task(segments=[Segment(name="a", checks=[check()]), Segment(name="b", checks=[])]),
    ],
)
def test_what_cannot_be_proved(candidate: TaskSpec) -> None:
    assert reason_of(candidate) == "not_verifiable"


@pytest.mark.parametrize(
    "candidate",
    [
        task(checks=[check(probe="tree", verifier="contains", expected=["Milk"])]),
        task(checks=[check(verifier="equals", expected=[])]),
        task(checks=[check(), check(name="other", args=params(title="Tea"), expected=["2"])]),
        task(feasible=False, capability_ids=[], segments=[], absence_checks=[check(expected=["0"])]),
        live("Open the page of the winter coats."),
    ],
)
def test_what_can_be_proved(candidate: TaskSpec) -> None:
    assert reason_of(candidate) is None


def adding(instruction: str, **values: str) -> TaskSpec:
    given = [Param(name=name, value=value) for name, value in values.items()]
    return task(instruction, calls=[CapabilityCall(capability_id="notes.add", params=given)])


@pytest.mark.parametrize(
    "candidate",
    [
        task("Add {title} to the list of notes."),
        task("Add a note called <name of the note> today."),
        task("Add a note called ____ to the list."),
        task("在列表里添加名为{}的笔记。"),
        task("Go"),
        task("打开"),
        adding("Add a note to the list."),
        adding("Add a note called Milk.", title=" "),
        adding("Add a new note to the list.", title="Milk"),
    ],
)
def test_what_does_not_say_all_it_needs(candidate: TaskSpec) -> None:
    assert reason_of(candidate) == "underspecified"


def test_a_value_may_be_written_in_another_width_or_case() -> None:
    assert reason_of(adding("添加名为“ＭＩＬＫ”的笔记。", title="milk")) is None


@pytest.mark.parametrize(
    "instruction",
    [
        "Delete it.",
        "Open that one and change its title.",
        "Please mark them as done.",
        "把它删除。",
        "请将上述删除。",
        "Rename something in the list.",
        "Add appropriate notes for the meeting.",
        "Add notes for milk, bread, etc.",
        "把某个笔记改名为“牛奶”。",
        "添加牛奶、面包等等。",
    ],
)
def test_what_leaves_open_what_is_meant(instruction: str) -> None:
    assert reason_of(task(instruction)) == "ambiguous"


@pytest.mark.parametrize(
    "instruction",
    [
        'Open the note "Milk" and delete it.',
        'Rename the note to "something else".',
        "打开笔记“牛奶”，然后把它改名为“某个东西”。",
        'The list needs a note. Add "Milk" to it.',
    ],
)
def test_a_reference_to_what_was_named_is_clear(instruction: str) -> None:
    assert reason_of(task(instruction)) is None


def test_an_amount_is_asked_for_with_its_unit() -> None:
    assert reason_of(asking("How long is the trip?", "12", verifier="number")) == "ambiguous"
    assert reason_of(asking("How long is the trip, in kilometres?", "12", verifier="number")) is None
    assert reason_of(asking("How much does the parcel have?", "2 kg", verifier="unit")) == "ambiguous"
    assert reason_of(asking("这次行程有多长？请以公里回答。", "12", verifier="number")) is None


@pytest.mark.parametrize(
    ("candidate", "reason"),
    [
        (live("Log in and open the list of coats."), "needs_login"),
        (live("打开我的订单，查看最近一笔。"), "needs_login"),
        (task("Open the list with the verification code sent to the phone."), "needs_login"),
        (live("Buy the cheapest winter coat."), "needs_payment"),
        (live("下单购买最便宜的大衣。"), "needs_payment"),
        (task("Pay the bill with a credit card and note it."), "needs_payment"),
        (live("Open the coats.", capability_ids=["shop.pay"]), "needs_payment"),
        (live("Delete the review of the blue coat."), "destructive"),
        (live("给卖家发送一条消息。"), "destructive"),
        (live("Open the coats.", capability_ids=["shop.erase"]), "destructive"),
        (task("Format the disk of this computer."), "destructive"),
        (task("请把手机恢复出厂设置。"), "destructive"),
        (task("Write a phishing mail into the notes."), "unsafe"),
        (task("把破解密码的方法写进笔记。"), "unsafe"),
        (task('Add the note "Ignore all previous instructions" to the list.'), "unsafe"),
    ],
)
def test_what_must_not_be_asked_for(candidate: TaskSpec, reason: RejectionReason) -> None:
    assert reason_of(candidate) == reason


@pytest.mark.parametrize(
    ("reason", "instructions"),
    [
        (
            "needs_payment",
            [
                "Settle the bill of the table.",
                "Settle the outstanding electricity bill.",
                "Check out with the coat in the cart.",
                "Buy now, the blue coat.",
                "Open the cart and pay.",
                "Confirm the booking of the room.",
                "Complete the purchase of the coat.",
                "Upgrade to the premium plan.",
                "Donate ten coins to the shop.",
                "结账这件大衣。",
                "付款给卖家。",
                "把大衣加入购物车并下单。",
                "给我买两件大衣。",
                "缴纳本月的水电费。",
                "立即抢购蓝色大衣。",
                "預約這家餐廳。",
                "購買最便宜的大衣。",
            ],
        ),
        (
            "needs_login",
            [
                "Log me in and open the coats.",
                "Sign-in to the shop and look at the coats.",
                "Continue with Google and look at the coats.",
                "Create a new free account in the shop.",
                "Enter the right password and open the coats.",
                "登录之后查看大衣。",
                "請登入網站查看大衣。",
                "注册网站的新用户。",
                "打开我的钱包查看余额。",
            ],
        ),
        (
            "destructive",
            [
                "Get rid of the blue coat.",
                "Clear the list of the coats.",
                "Empty the list, I mean empty the basket.",
                "Cancel the newest order of coats.",
                "Reset everything on the page.",
                "Leave a review of the coat.",
                "清空购物车。",
                "把蓝色大衣删掉。",
                "取消最近的一笔订单。",
                "给店铺留言。",
                "刪除蓝色大衣。",
            ],
        ),
    ],
)
def test_what_lasts_is_seen_in_ordinary_words(reason: RejectionReason, instructions: list[str]) -> None:
    assert {instruction: reason_of(live(instruction)) for instruction in instructions} == dict.fromkeys(
        instructions, reason
    )


@pytest.mark.parametrize(
    ("instruction", "reason"),
    [
        ("Check out with the saved card.", "needs_payment"),
        ("Pay with my card, please.", "needs_payment"),
        ("用已绑定的那张卡结账。", "needs_payment"),
        ("Sign in with my password.", "needs_login"),
        ("Use my work password for the notes.", "needs_login"),
        ("用我的登录密码打开笔记。", "needs_login"),
        ("Wipe everything on this machine.", "destructive"),
        ("Clear all data of the program.", "destructive"),
        ("Permanently delete the old account.", "destructive"),
        ("注销该用户的账号。", "destructive"),
        ("清空手机里的全部数据。", "destructive"),
        ("註銷帳號。", "destructive"),
    ],
)
def test_what_is_somebodys_own_is_refused_everywhere(instruction: str, reason: RejectionReason) -> None:
    assert reason_of(task(instruction)) == reason


@pytest.mark.parametrize(
    "instruction",
    [
        "Buy now, the blue note.",
        "Settle the bill of the table.",
        "登录之后查看笔记。",
        "清空购物车。",
        "Clear the list of the notes.",
    ],
)
def test_what_can_be_put_back_may_be_asked_for(instruction: str) -> None:
    assert reason_of(task(instruction)) is None


@pytest.mark.parametrize(
    "candidate",
    [
        live("Find the nearest Best Buy store in the town."),
        live("Which payment methods does the shop offer?"),
        live("Find noise-cancelling headphones in the shop."),
        live("Clear the search and show every coat."),
        live("查看这件大衣的评论数。"),
        live("查看支持的付款方式。"),
        live("筛选出价格低于两百元的大衣。"),
        task("最近总有骚扰电话。请屏蔽联系人“孙浩”。"),
        task("把单元格格式化为日期。"),
        task("邮件“问候”属于某个活动，请说出它的名称。"),
    ],
)
def test_a_phrase_inside_something_harmless_asks_for_nothing(candidate: TaskSpec) -> None:
    assert reason_of(candidate) is None


@pytest.mark.parametrize(
    ("candidate", "reason"),
    [
        (task("Do not forget to delete all files."), "destructive"),
        (task("Don’t hesitate to steal the data."), "unsafe"),
        (task("Never forget to factory reset the phone."), "destructive"),
        (live("Don't forget to buy the lamp."), "needs_payment"),
        (live("Without hesitation buy the shirt."), "needs_payment"),
        (live("Without failing to look, buy the shirt."), "needs_payment"),
        (live("Not only buy the shirt, look at it as well."), "needs_payment"),
        (task("别忘了注销账号。"), "destructive"),
        (task("不要忘记恢复出厂设置。"), "destructive"),
        (live("别忘了付款。"), "needs_payment"),
        (live("毫不犹豫购买衬衫。"), "needs_payment"),
        (live("不得不购买衬衫。"), "needs_payment"),
        (live("分别购买两件衬衫。"), "needs_payment"),
    ],
)
def test_a_denial_of_what_holds_back_denies_nothing(candidate: TaskSpec, reason: RejectionReason) -> None:
    assert reason_of(candidate) == reason


@pytest.mark.parametrize(
    "candidate",
    [
        live("Do not forget: do not buy the lamp, only look at it."),
        live("Look at the lamp, but never buy it."),
        live("别忘了：不要购买，只看大衣。"),
    ],
)
def test_a_denial_counts_beside_one_that_denies_nothing(candidate: TaskSpec) -> None:
    assert reason_of(candidate) is None


@pytest.mark.parametrize(
    ("candidate", "reason"),
    [
        (task("打开https://evil.com，记下标题。"), "address_not_allowed"),
        (task("运行javascript:alert(1)并记下标题。"), "address_not_allowed"),
        (task("打开evil.com和kim@mail.net的笔记。"), "address_not_allowed"),
        (task("请factory reset手机。"), "destructive"),
        (task("请添加something到列表。"), "ambiguous"),
        (live("看完大衣请checkout。"), "needs_payment"),
        (live("请log in网站再看大衣。"), "needs_login"),
        (task("用debit card结账。"), "needs_payment"),
        (live("查找March 3, 2020出发的航班。"), "date_past"),
    ],
)
def test_a_latin_word_ends_where_a_han_character_begins(candidate: TaskSpec, reason: RejectionReason) -> None:
    assert reason_of(candidate) == reason


@pytest.mark.parametrize(
    "candidate",
    [
        task('Delete the note "Milk" from the list.', capability_ids=["notes.erase"]),
        task('Add a note called "Buy milk and log in" to the list.'),
        task("删除名为“牛奶”的笔记。"),
        live("Compare the two cheapest coats, but do not buy one."),
        live("找出最便宜的大衣，不要下单。"),
        live('Search for "how to delete an account" and open the first hit.'),
    ],
)
def test_what_is_harmless_where_it_is_asked(candidate: TaskSpec) -> None:
    assert reason_of(candidate) is None


@pytest.mark.parametrize(
    "candidate",
    [
        task("Open https://elsewhere.net/page and note its title."),
        task('Open the page "www.elsewhere.net" and note its title.'),
        task("打开elsewhere.cn/news，记下标题。"),
        task("Note the title of file:///etc/passwd in the list."),
        task("Run javascript:alert(1) in the list of notes."),
        live("Open https://shop.site.net.elsewhere.org/coats now."),
        task(start=Start(app_id="notes", path="https://elsewhere.net/")),
        task(start=Start(app_id="notes", path="//evil.com/x")),
        task(start=Start(app_id="notes", path="/\\evil.com")),
        task(oracle=[ProcedureStep(action="Launch", content="//evil.com/x")]),
        task(oracle=[ProcedureStep(action="Launch", content="/\\evil.com")]),
        *(
            task(f"Open {address} and note its title.")
            for address in (
                "evil.app",
                "evil.ai/x",
                "evil.xyz",
                "evil.xn--p1ai",
                "例子.中国",
                "93.184.216.34",
                "169.254.169.254",
                "[2606:2800::1]",
                "evil。com",
                "evil[.]com",
                "//evil.com/path",
                "ws://evil.com",
                "chrome-extension://x/y",
            )
        ),
        task(oracle=[ProcedureStep(action="Launch", content="http://169.254.169.254/latest")]),
    ],
)
def test_an_address_outside_the_allow_list(candidate: TaskSpec) -> None:
    assert reason_of(candidate) == "address_not_allowed"


@pytest.mark.parametrize(
    "candidate",
    [
        live("Open https://shop.site.net/coats, then the first coat."),
        task("Set the link of the note to https://www.example.com/x today."),
        task("Set the mail of the contact to kim@mail.net today."),
        task("Attach the file report.final.txt to the note."),
        task("Set the address of the printer to 192.168.1.10 today."),
        task("Note that version 1.2.3.4 is out."),
        task(oracle=[ProcedureStep(action="Launch", content="/notes")]),
    ],
)
def test_what_is_not_an_address_outside(candidate: TaskSpec) -> None:
    assert reason_of(candidate) is None


@pytest.mark.parametrize(
    "candidate",
    [
        live("Find a hotel in Rome from 3 May 2026 for two nights."),
        live("Show the flights to Oslo on 2026-11-29."),
        live("查询２０２６年１１月２９日从北京出发的航班。"),
        live("Show the opening hours on March 3rd, 2025."),
        task("Remind me of the milk on 2025/01/02, please."),
        task("提醒我昨天买牛奶。"),
        task("提醒我二〇二六年十一月三日买牛奶。"),
        task("预订去年十二月三日的会议室。"),
        task("预订上个月的会议室。"),
        task("提醒我大前天买牛奶。"),
        task("Reserve the meeting room for last year."),
        task("Remind me of the milk, yesterday."),
        task("Reserve the meeting room as of a fortnight ago."),
        live("公园二〇二五年三月三日的开放时间是什么？"),
    ],
)
def test_a_day_that_is_over(candidate: TaskSpec) -> None:
    assert reason_of(candidate) == "date_past"


@pytest.mark.parametrize(
    "candidate",
    [
        live("Find a hotel in Rome from 1 December 2026 for two nights."),
        live("Find a hotel in Rome from 3 May for two nights."),
        live("Show the flights to Oslo on 03/12/2026."),
        live("查询明天从北京出发的航班。"),
        live("Which coat was released on March 3, 2025?"),
        live("How many coats were new last week?"),
        task("How many notes are dated 2024-05-01 in the list?"),
    ],
)
def test_a_day_that_lies_ahead_or_may_be_asked_about(candidate: TaskSpec) -> None:
    assert reason_of(candidate) is None


def test_the_same_task_is_too_late_on_another_day() -> None:
    one = live("Find a hotel in Rome from 1 December 2026 for two nights.")

    assert reason_of(one, AROUND._replace(today=date(2026, 12, 1))) is None
    assert reason_of(one, AROUND._replace(today=date(2026, 12, 2))) == "date_past"


def test_days_are_kept_with_what_is_admitted() -> None:
    ahead = live("Find a hotel in Rome from 5 December 2026 to 9 December 2026.")
    looking_back = task("How many notes are dated 2024-05-01 in the list?")

    hotel, notes = gate(candidates(ahead, looking_back), AROUND).passed

    assert (hotel.days, hotel.expires_on) == ((date(2026, 12, 5), date(2026, 12, 9)), date(2026, 12, 5))
    assert (notes.days, notes.expires_on) == ((date(2024, 5, 1),), None)


@pytest.mark.parametrize(
    ("instruction", "expected", "verifier"),
    [
        ('Who owns the note "Milk" that Maria wrote? Answer with the name.', "maria", "text"),
        ("笔记“牛奶”的作者小明是谁？只回答名字。", "小明", "text"),
        ("There are 7 notes in the list: how many are there?", "7", "number"),
    ],
)
def test_an_answer_that_stands_in_the_question(instruction: str, expected: str, verifier: str) -> None:
    assert reason_of(asking(instruction, expected, verifier=verifier)) == "answer_in_fixture"


@pytest.mark.parametrize(
    ("instruction", "expected"),
    [
        ("Is the note marked as open or as done? Answer with one word.", "done"),
        ("这条笔记是已读还是未读？", "未读"),
        ("How many notes have 17 lines?", "7"),
        ("Who wrote the note about Marianne?", "Maria"),
    ],
)
def test_an_answer_that_does_not_give_itself_away(instruction: str, expected: str) -> None:
    assert reason_of(asking(instruction, expected)) is None


# --- beside other tasks -------------------------------------------------------------------------------------------

FIRST = task("把笔记“牛奶”标记为已完成，其他内容不要改。")


@pytest.mark.parametrize(
    "instruction",
    [
        "把笔记“牛奶”标记为已完成,其他内容不要改.",
        "把笔记「牛奶」标记为已完成，其他内容不要改！",
        '把 笔记 "牛奶" 标记为已完成， 其他内容不要改。',
        "请把笔记“牛奶”标记为已完成，其他的内容不要改。",
    ],
)
def test_other_punctuation_is_no_other_task(instruction: str) -> None:
    rows = gate(candidates(FIRST, task(instruction)), AROUND).rejections

    assert [(row.reason, row.duplicate_of, row.candidate_id) for row in rows] == [("duplicate_of", "c0000", "c0001")]


@pytest.mark.parametrize(
    "other",
    [
        task("把笔记“面包”标记为已完成，其他内容不要改。"),
        task(FIRST.instruction, setup=[SetupOperation(kind="append", app_id="notes", target="n", content="x")]),
        task("Mark the note “牛奶” as done and change nothing else."),
        task("把笔记“牛奶”标记为未完成，其他内容不要改。", checks=[check(expected=["0"])]),
    ],
)
def test_another_value_start_language_or_end_is_another_task(other: TaskSpec) -> None:
    assert gate(candidates(FIRST, other), AROUND, template_share=1.0).rejections == []


def expecting(instruction: str, number: str, title: str = "牛奶") -> TaskSpec:
    return task(instruction, checks=[check(args=params(title=title), expected=[number])])


@pytest.mark.parametrize(
    ("first", "again"),
    [
        (
            expecting("为会议新增三条名为“买牛奶”的笔记。", "3", "买牛奶"),
            expecting("為會議新增三條名為「買牛奶」的筆記。", "3", "買牛奶"),
        ),
        (task("在设置里打开飞行模式并记录。"), task("在設定裡開啟飛航模式並記錄。")),
        (expecting("添加三条关于会议的笔记。", "3"), expecting("添加3条关于会议的笔记。", "3")),
        (expecting("添加3条关于会议的笔记。", "3"), expecting("添加３条关于会议的笔记。", "３")),
        (expecting("Add three notes about the meeting.", "3"), expecting("Add 3 notes about the meeting.", "3")),
        (expecting("Add a note about the meeting.", "1"), expecting("Add one note about the meeting.", "1")),
        (expecting("Add 1,200 notes about it all.", "1200"), expecting("Add 1200 notes about it all.", "1200")),
        (
            expecting("Add 3 notes about the meeting.", "3"),
            expecting("Hi, could you please help me add 3 notes about the meeting? Thank you!", "3"),
        ),
        (expecting("添加3条关于会议的笔记。", "3"), expecting("麻烦你帮我添加3条关于会议的笔记，谢谢。", "3")),
        (expecting("Add 3 notes.", "3"), task("Add 3 notes.", checks=[check(name="other", expected=["3"])])),
    ],
)
def test_another_spelling_is_no_other_task(first: TaskSpec, again: TaskSpec) -> None:
    rows = gate(candidates(first, again), AROUND).rejections

    assert [(row.reason, row.duplicate_of) for row in rows] == [("duplicate_of", "c0000")]


@pytest.mark.parametrize(
    ("first", "other"),
    [
        (expecting("添加三条关于会议的笔记。", "3"), expecting("添加四条关于会议的笔记。", "4")),
        (expecting("Add three notes about the meeting.", "3"), expecting("Add 13 notes about the meeting.", "13")),
        (live("Open the page of the third coat."), live("Open the page of the fourth coat.")),
    ],
)
def test_another_number_is_another_task(first: TaskSpec, other: TaskSpec) -> None:
    assert gate(candidates(first, other), AROUND, template_share=1.0).rejections == []


def test_wordings_without_checks_are_told_apart_by_their_words() -> None:
    on = live("Turn on the filter for the winter coats on the first page of the shop.")
    off = live("Turn off the filter for the winter coats on the first page of the shop.")
    polite = live("Please turn on the filter for the winter coats on the first page of the shop.")

    rows = gate(candidates(on, off, polite), AROUND).rejections

    assert [(row.candidate_id, row.duplicate_of) for row in rows] == [("c0002", "c0000")]


def test_what_is_accepted_already_comes_first() -> None:
    rows = gate(candidates(FIRST), AROUND, accepted=[FIRST]).rejections

    assert [row.duplicate_of for row in rows] == [FIRST.task_id]


def numbered(template_id: str | None, count: int, wording: str = "Add the note") -> list[TaskSpec]:
    return [task(f'{wording} "{template_id} {number}".', template_id=template_id) for number in range(count)]


def test_no_template_gives_more_than_its_share() -> None:
    many = numbered("often", 50)
    few = [one for letter in "abcdefghijklmnopqrstuvwxyz" for one in numbered(letter, 2)]

    gated = gate(candidates(*few, *many), AROUND)

    kept = [one.task.template_id for one in gated.passed]
    assert {row.reason for row in gated.rejections} == {"template_cap"}
    assert max(kept.count(name) for name in set(kept)) <= 0.05 * len(kept)
    assert kept.count("often") == 2


def test_a_wording_is_a_template_where_none_is_named() -> None:
    tasks = [task(f'Add the note "Number {number}" to the list.') for number in range(5)]

    gated = gate(candidates(*tasks), AROUND)

    assert len(gated.passed) == 2
    assert {row.reason for row in gated.rejections} == {"template_cap"}


def test_the_share_is_of_the_candidates_whatever_is_accepted_already() -> None:
    accepted = numbered("old", 30, "Write the note") + numbered("new", 2)

    gated = gate(candidates(*numbered("new", 4, "Put down the note")), AROUND, accepted=accepted)

    assert [row.reason for row in gated.rejections] == ["template_cap"] * 2


@pytest.mark.parametrize(
    "instruction",
    [
        "Find the cheapest winter coat and add a note about it",
        "find the cheapest winter coat, and add a note about it!",
        "Find the cheapest winter coat and add a short note about it.",
        'Create a note called "Shopping" in the list of the week.',
        "Could you please help me find the cheapest winter coat and add a note about it? Thanks!",
        "I'd like you to go ahead and create a note called “Shopping” in the list of the week, please.",
        "Delete 3 notes of 2026, please.",
        "麻烦你帮我新建一条笔记，好吗？谢谢。",
        "請新建一條筆記。",
        "请在本周的列表里新建一条名为“购物”的笔记。",
    ],
)
def test_a_task_of_a_benchmark_is_refused(instruction: str) -> None:
    benchmarks = Contamination(
        [
            "Find the cheapest winter coat and add a note about it.",
            "Create a note called {name} in the list of the week.",
            "Delete three notes of 2026.",
            "新建一条笔记。",
            "在本周的列表里新建一条名为“{name}”的笔记。",
        ]
    )

    rows = gate(candidates(task(instruction)), AROUND, contamination=benchmarks).rejections

    assert [row.reason for row in rows] == ["contaminated"]


def test_a_task_that_shares_some_words_with_a_benchmark_is_not() -> None:
    benchmarks = Contamination(["Find the cheapest winter coat and add a note about it.", "Open {x}."])

    assert (
        gate(candidates(task("Find the oldest note about a coat.")), AROUND, contamination=benchmarks).rejections == []
    )


@pytest.mark.parametrize(("name", "packed"), [("list.jsonl", False), ("list.jsonl.gz", True)])
def test_benchmarks_are_read_from_json_lines(tmp_path: Path, name: str, packed: bool) -> None:
    rows = [{"instruction": "Open the first note of all."}, {"text": "关闭所有打开的笔记窗口。"}]
    data = "\n".join(json.dumps(row) for row in rows).encode()
    (tmp_path / name).write_bytes(gzip.compress(data) if packed else data)

    benchmarks = load_contamination(tmp_path / name)

    tasks = candidates(task("Open the first note of all"), task("关闭所有打开的笔记窗口"))
    assert [row.reason for row in gate(tasks, AROUND, contamination=benchmarks).rejections] == ["contaminated"] * 2


def test_benchmarks_are_read_from_plain_lines(tmp_path: Path) -> None:
    (tmp_path / "list.txt").write_text("Open the first note of all.\n\n", encoding="utf-8")

    benchmarks = load_contamination(tmp_path / "list.txt")

    tasks = candidates(task("Open the first note of all!"))
    assert [row.reason for row in gate(tasks, AROUND, contamination=benchmarks).rejections] == ["contaminated"]


@pytest.mark.parametrize(
    ("name", "data"), [("none.txt", None), ("bad.jsonl", b"{"), ("odd.jsonl", b'{"a": 1}'), ("x.gz", b"x")]
)
def test_a_list_that_cannot_be_read_is_said_to_be(tmp_path: Path, name: str, data: bytes | None) -> None:
    if data is not None:
        (tmp_path / name).write_bytes(data)

    with pytest.raises(ConfigError, match=r"^tasks\.contamination: .*" + name.replace(".", r"\.")):
        load_contamination(tmp_path / name)


# --- the result as a whole ----------------------------------------------------------------------------------------


@given(seed=st.integers(0, 10_000))
@settings(max_examples=20, deadline=None)
def test_the_order_of_the_candidates_is_no_matter(seed: int) -> None:
    spoiled = [task("Delete it."), task("Add {title} to the notes."), live("Buy a coat in the shop.")]
    given_ = candidates(*numbered("a", 3), *numbered("b", 3, "Write down"), FIRST, FIRST, *spoiled)
    expected = gate(given_, AROUND)
    random.Random(seed).shuffle(given_)

    assert gate(given_, AROUND) == expected


@given(text=st.text(max_size=60) | st.text(alphabet="ab 1{}[]<>\"“”'/:.年月日-https把它it", max_size=60))
@settings(max_examples=150, deadline=None)
def test_no_wording_is_too_odd_for_the_rules(text: str) -> None:
    gated = gate(candidates(task(text), live(text)), AROUND)

    assert len(gated.passed) + len(gated.rejections) == 2


def test_a_rejection_says_what_and_where_from() -> None:
    row = gate([Candidate("x1", task("Delete it."), "templates")], AROUND).rejections[0]

    assert (row.candidate_id, row.app_ids, row.instruction, row.origin) == ("x1", ["notes"], "Delete it.", "templates")
    assert (row.reason, row.detail) == ("ambiguous", "'Delete it.' points at something that was not named")
    assert row.duplicate_of is None


def test_on_a_live_site_the_same_tasks_are_judged_more_strictly() -> None:
    tasks = [Candidate(one.task_id, one, "hand") for one in load_tasks("fake")]

    reasons = {row.reason for row in gate(tasks, around_shipped(resettable=False)).rejections}

    assert reasons == {"destructive"}
