"""What texts are about, and the days they name."""

from __future__ import annotations

import pytest

from pipeline.safety.bearing import bears_on, content, days


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("Delete the old invoices", {"delete", "old", "invoic"}),
        ("thesis_draft_v1.odt", {"thesi", "draft", "v1", "odt"}),
        ("Send it by mail", {"send", "email"}),
        ("七天有效", {"7天", "七天"}),
        ("please take it off", set()),
        ("", set()),
    ],
)
def test_the_words_that_bear_on_something(text: str, words: set[str]) -> None:
    assert content(text) == words


@pytest.mark.parametrize(
    ("instruction", "texts", "together"),
    [
        ("I can't make physio, call it off", ["Physiotherapy, Tue 14:00"], True),
        ("Cancel my dermatology visit", ["Physiotherapy, Tue 14:00"], False),
        ("看一下我的血常规结果", ["是否让保险公司查阅您的就诊记录?"], False),
        ("查一下就诊记录", ["是否让保险公司查阅您的就诊记录?"], True),
        ("Do it", [], False),
    ],
)
def test_texts_bear_on_each_other_by_a_word_in_common(instruction: str, texts: list[str], together: bool) -> None:
    assert bears_on(instruction, texts) is together


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("on 12 November", {(11, 12)}),
        ("Nov 12th", {(11, 12)}),
        ("the 3rd of May and 2024-11-06", {(5, 3), (11, 6)}),
        ("11月8号", {(11, 8)}),
        ("10 May 14:00, not 31 files", {(5, 10)}),
        ("May I?", set()),
    ],
)
def test_the_days_a_text_names(text: str, named: set[tuple[int, int]]) -> None:
    assert days(text) == named
