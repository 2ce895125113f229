"""What a control's words announce."""

from __future__ import annotations

import pytest

from catalogs.meaning import consequence_of, consequence_shown, senses, to_be_avoided


@pytest.mark.parametrize(
    ("name", "consequence"),
    [
        ("Create ticket", "create"),
        ("Save changes", "edit"),
        ("DELETE", "delete"),
        ("Yes, remove it and save", "delete"),
        ("Send reply", "send"),
        ("Buy now", "pay"),
        ("删除任务", "delete"),
        ("保存", "edit"),
        ("Statistics", "none"),
        ("Address book", "none"),
    ],
)
def test_the_worst_announced_effect_counts(name: str, consequence: str) -> None:
    assert consequence_of(name) == consequence


@pytest.mark.parametrize("name", ["Log out", "Sign in", "Shut down", "Checkout", "退出登录", "支付"])
def test_what_ends_the_session_or_costs_money_is_avoided(name: str) -> None:
    assert to_be_avoided(name)


def test_words_of_one_meaning_share_a_sense() -> None:
    assert senses("Add item") & senses("New entry") == {"create"}
    assert not senses("Overview")


@pytest.mark.parametrize(
    ("kinds", "consequence"),
    [
        ([], "none"),
        (["added"], "create"),
        (["added", "changed"], "create"),
        (["added", "removed"], "edit"),
        (["changed"], "edit"),
        (["removed"], "delete"),
        (["removed", "changed"], "edit"),
    ],
)
def test_changes_of_the_state_show_what_was_done(kinds: list[str], consequence: str) -> None:
    assert consequence_shown([[f"row/{number}", kind] for number, kind in enumerate(kinds)]) == consequence
