"""Call syntax: what is read, what is refused, and that writing is the inverse of reading."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.dialects.calls import Call, looks_like_call, read_calls, write_call
from pipeline.errors import ActionError
from tests.dialect_moves import TEXTS

VALUES = st.one_of(TEXTS, st.integers(-(10**9), 10**9), st.booleans(), st.none())
ARGUMENTS = st.dictionaries(
    st.from_regex(r"[a-z_][a-z0-9_]{0,8}", fullmatch=True), st.one_of(VALUES, st.lists(VALUES, max_size=4)), max_size=4
)


def one(text: str) -> Call:
    [call] = read_calls(text)
    return call


@given(calls=st.lists(st.builds(Call, st.sampled_from(["Click", "do", "left_double"]), ARGUMENTS), max_size=3))
def test_what_is_written_is_read_back(calls: list[Call]) -> None:
    assert read_calls(",".join(map(write_call, calls))) == calls


@given(text=TEXTS)
def test_written_calls_hold_no_tag_and_no_line_break(text: str) -> None:
    written = write_call(Call("Type", {"content": text}))
    assert "\n" not in written
    assert "</" not in written
    assert "<think" not in written


@pytest.mark.parametrize(
    ("written", "content"),
    [
        ("'plain'", "plain"),
        ('"double"', "double"),
        ("'it's here'", "it's here"),
        ("'say 'yes', then go'", "say 'yes', then go"),
        ('"a "quoted" word"', 'a "quoted" word'),
        ("'f('a')'", "f('a')"),
        ("'a, b=c'", "a, b=c"),
        ("'(x) [y] {z} | `w`'", "(x) [y] {z} | `w`"),
        (r"'line\nnext\ttab'", "line\nnext\ttab"),
        ("'line\nnext'", "line\nnext"),
        (r"'C:\dir \' \" \\'", "C:\\dir ' \" \\"),
        (r"'\u4f60\x41\U0001F642'", "你A🙂"),
        (r"'\ud83d\ude42'", "🙂"),
        ("''", ""),
        ("'''", "'"),
    ],
)
def test_texts(written: str, content: str) -> None:
    assert one(f"Type(content={written})") == Call("Type", {"content": content})


@pytest.mark.parametrize(
    ("written", "value"),
    [
        ("(1, 2)", [1, 2]),
        ("[1,2]", [1, 2]),
        ("( 0.5 , -3 )", [0.5, -3]),
        ("['ctrl', \"c\"]", ["ctrl", "c"]),
        ("('it's', 'b')", ["it's", "b"]),
        ("[(1, 2), []]", [[1, 2], []]),
        ("[1, 2,]", [1, 2]),
        ("1e3", 1000.0),
        ("True", True),
        ("false", False),
        ("None", None),
        ("-inf", -math.inf),
    ],
)
def test_other_values(written: str, value: object) -> None:
    assert one(f"f(x={written})").arguments["x"] == value


def test_not_a_number_is_read_as_such() -> None:
    assert math.isnan(one("f(x=NaN)").arguments["x"])  # type: ignore[arg-type]


def test_space_and_commas_between_calls_do_not_matter() -> None:
    expected = [Call("A", {"x": 1}), Call("B", {}), Call("C", {"t": "a) b("})]
    assert read_calls(" A( x = 1 ) ,B()\n\nC(t='a) b(' , ) ") == expected


def test_calls_stand_in_lists() -> None:
    call = one("Sequence(actions=[Click(box=(1, 2)), Type(content='it's')])")
    assert call.arguments["actions"] == [Call("Click", {"box": [1, 2]}), Call("Type", {"content": "it's"})]
    assert one(write_call(call)) == call


@pytest.mark.parametrize("text", ["click the button", "(1, 2)", "'text'", "Click", "- Click(x=1)"])
def test_what_does_not_begin_as_a_call_is_no_action(text: str) -> None:
    with pytest.raises(ActionError) as caught:
        read_calls(text)
    assert caught.value.code == "no_action"


@pytest.mark.parametrize(
    "text",
    [
        "Click(",
        "Click(box=(1, 2)",
        "Click(box=(1, 2",
        "Click((1, 2))",
        "Click(1, 2)",
        "Click(box)",
        "Click(box=)",
        "Click(box=word)",
        "Click(box=(1 2))",
        "Click(box=(1,, 2))",
        "Click(box=1 point=2)",
        "Click(box=1, box=1)",
        "Click(x=Other(y=1))",
        "Click(x=1) and then rest",
        "Type(content='cut",
        "Type(content='cut)",
        "Type(content='print('a'), b')",
        "Click(x=(((((1)))))",
        "Click(x=" + "9" * 200 + ")",
        "Click(x=__import__('os'))",
        "Click(x=1+1)",
        "Click(**{'x': 1})",
    ],
)
def test_broken_calls_are_refused_and_not_repaired(text: str) -> None:
    with pytest.raises(ActionError) as caught:
        read_calls(text)
    assert caught.value.code == "bad_arguments"


@pytest.mark.parametrize("text", ["Wait()", " Click (point=(1,2))", "Type(content="])
def test_text_that_begins_as_a_call(text: str) -> None:
    assert looks_like_call(text)


@pytest.mark.parametrize("text", ["Sorry (I cannot)", "Done. Wait()", "wait", ""])
def test_text_that_does_not(text: str) -> None:
    assert not looks_like_call(text)
