from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pipeline.actions import Action, Click, Drag, Finished, Hotkey, Point, Scroll, SelectOption, Type, Wait, render
from pipeline.exports.mopd import mopd_weights, teacher_hint
from pipeline.exports.replies import read_reply, reply_of, spans_of

POINTS = st.builds(Point, x=st.integers(0, 999), y=st.integers(0, 999))
TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=40)
ACTIONS: st.SearchStrategy[Action] = st.one_of(
    st.builds(Click, point=POINTS),
    st.builds(Drag, start=POINTS, end=POINTS),
    st.builds(Scroll, point=POINTS, direction=st.sampled_from(["up", "down"])),
    st.builds(Type, content=TEXTS),
    st.builds(Finished, content=TEXTS),
    st.builds(Hotkey, keys=st.lists(TEXTS, min_size=1, max_size=3)),
    st.builds(SelectOption, index=st.integers(0, 10**6)),
    st.builds(Wait),
)


@settings(deadline=None)
@given(ACTIONS, TEXTS)
def test_a_reply_reads_back_as_what_was_said(action: Action, thought: str) -> None:
    assert read_reply(reply_of(thought, action)) == (thought.strip(), action)


@settings(deadline=None)
@given(ACTIONS, TEXTS)
def test_spans_cut_the_type_and_each_parameter_out_of_the_reply(action: Action, thought: str) -> None:
    reply = reply_of(thought, action)
    spans = spans_of(reply)
    plain = json.loads(render(action))
    assert [span.name for span in spans] == list(plain)
    for span in spans:
        cut = reply[span.start : span.end]
        value = plain[span.name]
        assert json.loads(f'"{cut}"' if isinstance(value, str) else cut) == value


def test_a_reply_has_one_envelope() -> None:
    reply = reply_of("The box is checked.", Wait())
    assert reply == '<think>The box is checked.</think>\n<action>{"type":"Wait"}</action>'
    assert reply_of("  ", Wait()) == '<action>{"type":"Wait"}</action>'


@pytest.mark.parametrize(
    "text",
    [
        '<action>{"type":"Wait"}',
        '<action>{"type": "Wait"}</action>',
        '<action>{"type":"Fly"}</action>',
        '<think>a </think> b</think>\n<action>{"type":"Wait"}</action>',
        '<action>{"type":"Type","content":"</action>"}</action>',
        'Sure! <action>{"type":"Wait"}</action>',
        '<action>{"type":"Click","point":{"x":1000,"y":1}}</action>',
    ],
)
def test_any_other_text_is_no_reply(text: str) -> None:
    assert read_reply(text) is None
    with pytest.raises(ValueError, match="canonical"):
        spans_of(text)


def test_a_right_action_is_no_longer_supervised() -> None:
    right = Type(content="Lamp")
    assert mopd_weights(Type(content="Lamp"), right).model_dump() == {"type": 0.0, "parameters": 0.0}


def test_a_right_type_with_wrong_parameters_is_weighted_up() -> None:
    weights = mopd_weights(Click(point=Point(x=1, y=1)), Click(point=Point(x=1, y=2)))
    assert weights.type == weights.parameters > 1.0


def test_a_wrong_type_is_supervised_by_its_type_alone() -> None:
    assert mopd_weights(Wait(), Click(point=Point(x=1, y=2))).model_dump() == {"type": 1.0, "parameters": 0.0}


def test_the_hint_tells_the_type_and_no_parameter() -> None:
    assert teacher_hint(Type(content="hush")) == "The right type of action for this step is Type."
