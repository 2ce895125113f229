from __future__ import annotations

from collections.abc import Sequence

import pytest

from pipeline.actions import Action, Click, Finished, Point, Scroll, Wait
from pipeline.exports.cleaning import Cleaned, cleaned
from tests.records import Look, look, node, record, step

HERE = Point(x=500, y=500)
PRESS, OTHER = Click(point=HERE), Click(point=Point(x=1, y=1))
DOWN, UP = Scroll(point=HERE, direction="down"), Scroll(point=HERE, direction="up")
DONE = Finished(content="done")


def screen(name: str) -> Look:
    return look(node("heading", name), picture=name.encode())


def clean(screens: str, actions: Sequence[Action | None], errors: dict[int, str] | None = None) -> Cleaned:
    """The result of cleaning a trajectory whose screens are letters: one more than actions."""
    steps = [step(action, action_error=(errors or {}).get(place)) for place, action in enumerate(actions)]
    return cleaned(record([screen(name) for name in screens], steps))


def test_what_brings_the_task_on_stays() -> None:
    found = clean("abcc", [PRESS, OTHER, DONE])
    assert found.kept == [0, 1, 2] and not found.removed


def test_a_wait_that_changed_nothing_goes_and_one_that_did_stays() -> None:
    found = clean("aabcc", [Wait(), Wait(), PRESS, DONE])
    assert found.kept == [1, 2, 3]
    assert found.removed == {"needless_wait": 1}


def test_scrolls_that_come_back_go_together() -> None:
    found = clean("abcbadd", [DOWN, DOWN, UP, UP, PRESS, DONE])
    assert found.kept == [4, 5]
    assert found.removed == {"scrolled_back": 4}


def test_scrolls_that_lead_somewhere_stay() -> None:
    found = clean("ababb", [DOWN, UP, DOWN, DONE])
    assert found.kept == [2, 3]


def test_a_loop_goes_but_once_round_stays() -> None:
    found = clean("abababcc", [PRESS, OTHER, PRESS, OTHER, PRESS, PRESS, DONE])
    assert found.kept == [2, 3, 4, 5, 6]
    assert found.removed == {"loop": 2}


def test_a_wrong_turn_and_its_way_back_stay() -> None:
    found = clean("abacc", [PRESS, OTHER, Click(point=Point(x=9, y=9)), DONE])
    assert found.kept == [0, 1, 2, 3]


def test_a_failed_try_whose_repetition_succeeds_stays() -> None:
    found = clean("aabb", [PRESS, PRESS, DONE], errors={0: "target_covered"})
    assert found.kept == [0, 1, 2]


def test_the_same_failure_over_and_over_stays_once() -> None:
    found = clean("aaaabb", [PRESS, PRESS, PRESS, OTHER, DONE], dict.fromkeys(range(3), "target_covered"))
    assert found.kept == [2, 3, 4]
    assert found.removed == {"loop": 2}


def test_a_reply_without_action_goes() -> None:
    found = clean("aabb", [None, PRESS, DONE], errors={0: "no_action"})
    assert found.kept == [1, 2]
    assert found.removed == {"unreadable_reply": 1}


def test_screens_that_were_not_captured_are_never_taken_for_equal() -> None:
    dark = look(node("heading", "a"), picture=None)
    found = cleaned(record([dark, dark, dark], [step(Wait()), step(DONE)]))
    assert found.kept == [0, 1]


@pytest.mark.parametrize("screens", ["aaaaa", "ababa", "abcba", "aabba"])
def test_what_is_kept_fits_together(screens: str) -> None:
    """Whatever is removed, each kept step begins on the screen on which the one before it ended."""
    found = clean(screens, [DOWN, Wait(), UP, DONE])
    assert all(screens[left + 1] == screens[right] for left, right in zip(found.kept, found.kept[1:], strict=False))
