"""Identities, boxes, usage, and the rules every record keeps."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from pipeline.actions import Pixel
from pipeline.identity import attempt_id_of, policy_id_of, trajectory_id_of
from pipeline.records import PassRow, digest, now, tree_of
from pipeline.structs import Box, Node, Usage
from pipeline.tasks import Check, probe_call

TEXTS = st.lists(st.text(st.characters(exclude_characters="\x1f", exclude_categories=["Cs"])), max_size=4)


@given(one=TEXTS, other=TEXTS)
def test_a_digest_tells_its_parts_apart(one: list[str], other: list[str]) -> None:
    if one and other:
        assert (digest(*one) == digest(*other)) == (one == other)


def test_a_digest_is_24_hex_digits_and_stays_the_same() -> None:
    assert digest("a", "b") == "f04cdced9736a69da6103f08"
    assert digest("ab") != digest("a", "b")


def test_an_attempt_is_named_after_its_trajectory() -> None:
    assert attempt_id_of("t", 2) == "t-2"


def test_a_policys_settings_are_part_of_it_in_any_order() -> None:
    assert policy_id_of("p", {"a": "1", "b": "2"}) == policy_id_of("p", {"b": "2", "a": "1"})
    assert policy_id_of("p", {"a": "1"}) != policy_id_of("p", {"a": "2"})


@pytest.mark.parametrize("place", range(7))
def test_everything_that_makes_a_trajectory_is_in_its_name(place: int) -> None:
    given: list[str | int] = ["run", "task", "policy", 1, 0, 0, "prefix"]
    other = [*given]
    value = given[place]
    other[place] = value + 1 if isinstance(value, int) else value + "x"
    assert trajectory_id_of(*given) != trajectory_id_of(*other)  # type: ignore[arg-type]


def test_a_box_ends_before_its_right_and_bottom() -> None:
    box = Box(left=10, top=10, right=20, bottom=20)
    assert box.contains(Pixel(x=10, y=19))
    assert not box.contains(Pixel(x=20, y=10)) and not box.contains(Pixel(x=10, y=20))
    assert box.centre == Pixel(x=15, y=15)


@pytest.mark.parametrize(
    ("box", "shows"),
    [
        (Box(left=-5, top=-5, right=1, bottom=1), True),
        (Box(left=-5, top=0, right=0, bottom=9), False),
        (Box(left=639, top=399, right=700, bottom=700), True),
        (Box(left=0, top=400, right=9, bottom=410), False),
    ],
)
def test_whether_a_box_shows_in_a_picture(box: Box, shows: bool) -> None:
    assert box.within(640, 400) is shows


def test_usage_adds_up() -> None:
    total = Usage(calls=1, prompt_tokens=2, cost_usd=0.25) + Usage(calls=2, completion_tokens=3, images=1, cost_usd=0.5)
    assert total == Usage(calls=3, prompt_tokens=2, completion_tokens=3, images=1, cost_usd=0.75)


def test_a_tree_is_named_by_its_nodes_in_order() -> None:
    one, other = Node(role="link", name="a"), Node(role="link", name="b")
    assert tree_of([one, other]).sha256 == tree_of(iter([one, other])).sha256
    assert tree_of([one, other]).sha256 != tree_of([other, one]).sha256


def test_times_are_aware() -> None:
    assert now().tzinfo is UTC
    fields: dict[str, object] = {
        "pass_id": "p",
        "kind": "collect",
        "judge_set": [],
        "rule": "quorum",
        "calibration_id": None,
    }
    assert PassRow.model_validate({**fields, "judged_at": now()})
    with pytest.raises(ValidationError):
        PassRow.model_validate({**fields, "judged_at": datetime(2026, 1, 1)})  # noqa: DTZ001 - the point of the test


def test_records_are_frozen_and_know_their_fields() -> None:
    node = Node(role="link", name="a")
    with pytest.raises(ValidationError):
        node.name = "b"  # type: ignore[misc]
    with pytest.raises(ValidationError):
        Node.model_validate({"role": "link", "name": "a", "colour": "red"})


def test_a_probe_call_has_one_spelling() -> None:
    assert probe_call("todos", {}) == "todos"
    assert probe_call("todo", {"b": "2", "a": "1"}) == "todo(a=1, b=2)"
    assert Check(name="c", verifier="count", probe="todos").call == "todos"
