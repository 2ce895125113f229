"""JSON in what a model wrote."""

from __future__ import annotations

import json
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pipeline.jsontext import json_values

PLAIN = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(exclude_categories=["Cs"])),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(st.text(st.characters(exclude_categories=["Cs"])), inner, max_size=4)
    ),
    max_leaves=12,
)


def values(text: str) -> list[object]:
    return [found.value for found in json_values(text)]


@pytest.mark.parametrize(
    ("text", "right"),
    [
        ('{"a": 1}', [{"a": 1}]),
        ('Sure:\n```json\n{"a": 1}\n```\nas in [1] and }', [{"a": 1}, [1]]),
        ('```\n{"a": 1}```', [{"a": 1}]),
        ('```JSON {"a": 1} ```', [{"a": 1}]),
        ('```bash\necho {"b": 2}\n```\n```json\n{"a": 1}\n```', [{"a": 1}]),
        ('```python\n{"b": 2}', []),
        ('{"a": 1} and {"a": 2}', [{"a": 1}, {"a": 2}]),
        ('[{"a": 1}]', [[{"a": 1}]]),
        ("{'a': None, 'b': (1, -2.5), 'c': True}", [{"a": None, "b": [1, -2.5], "c": True}]),
        ("{'it': \"it's\"}", [{"it": "it's"}]),
        ('{"a": "```}] <think> {"}', [{"a": "```}] <think> {"}]),
        ('{"a": "one\ntwo"}', [{"a": "one\ntwo"}]),
        (r'{"a": "\ud83d\ude42"}', [{"a": "🙂"}]),
        ("{}", [{}]),
        ("", []),
        ("No, I cannot {do} that [here].", []),
        ("don't {type} it's {\"a\": 1}", [{"a": 1}]),
    ],
)
def test_values_of_a_reply(text: str, right: list[object]) -> None:
    assert values(text) == right


@pytest.mark.parametrize(
    ("text", "right"),
    [
        ('<think>{"b": 2}</think>{"a": 1}', [{"a": 1}]),
        ('<THINK>{"b": 2}</Think >{"a": 1}', [{"a": 1}]),
        ('<thinking>{"b": 2}</thinking>{"a": 1}', [{"a": 1}]),
        ('{"b": 2}\n</think>\n{"a": 1}', [{"a": 1}]),
        ('```json\n{"b": 2}\n</think>\n```json\n{"a": 1}\n```', [{"a": 1}]),
        ('<think>{"b": 2}', []),
        ('<think>it\'s "{</think>{"a": 1}', [{"a": 1}]),
        ('<think>a <think>b</think> {"b": 2}</think>{"a": 1}', [{"a": 1}]),
    ],
)
def test_reasoning_is_left_out(text: str, right: list[object]) -> None:
    assert values(text) == right


@pytest.mark.parametrize(
    "text",
    [
        '{"action": {"type": "Click"}, "thought": "half',
        '{"action": {"type": "Click"}',
        '[{"type": "Click"}, ',
        '{"action": {"type": "Click"}, "thought": "he said "no""}',
        "{'action': open('x')}",
        "{'a', 'b'}",
        "{1: 2}",
        '{"a": b}',
    ],
)
def test_a_broken_or_cut_value_yields_nothing(text: str) -> None:
    assert values(text) == []


@pytest.mark.parametrize("text", ['{"v": "yes", "v": "no"}', "{'v': 1, 'v': 2}", '{"a": 1} {"b": {"v": 1, "v": 2}}'])
def test_a_key_with_two_values_makes_the_text_unreadable(text: str) -> None:
    assert values(text) == []


def test_a_key_that_repeats_itself_is_harmless() -> None:
    assert values('{"v": 1, "v": 1}') == [{"v": 1}]


def test_half_a_surrogate_pair_cannot_be_written_down() -> None:
    assert values(r'{"a": "\ud83d"} {"b": 2}') == [{"b": 2}]


def test_a_value_knows_its_place_and_fence() -> None:
    text = 'x {"a": 1}\n```json\n{"b": 2}\n```'

    plain, fenced = json_values(text)

    assert text[plain.start : plain.end] == '{"a": 1}'
    assert text[fenced.start : fenced.end] == '{"b": 2}'
    assert (plain.fenced, fenced.fenced) == (False, True)


@given(PLAIN)
@settings(max_examples=200, deadline=None, derandomize=True)
def test_what_json_writes_is_read_back_among_prose(value: object) -> None:
    assert values(f"The action is:\n{json.dumps({'v': value})}\nDone.") == [{"v": value}]


@given(PLAIN)
@settings(max_examples=200, deadline=None, derandomize=True)
def test_what_python_writes_is_read_back(value: object) -> None:
    assert values(repr({"v": value})) == [{"v": value}]


@given(st.text(st.sampled_from("{}[]\"'`<>/\\think json1,: \n"), max_size=80))
@settings(max_examples=500, deadline=None, derandomize=True)
def test_any_text_is_read_without_an_error(text: str) -> None:
    for found in json_values(text):
        assert text[found.start] in "{["


@pytest.mark.parametrize("piece", ["[", '{"a":', '{"x', "[1,", "{'", '["{', "```", "<think>", "[[1},", "{'a':[}"])
def test_repetition_takes_linear_time(piece: str) -> None:
    text = piece * (100_000 // len(piece))

    started = time.perf_counter()
    found = json_values(text)

    assert found == []
    assert time.perf_counter() - started < 2.0
