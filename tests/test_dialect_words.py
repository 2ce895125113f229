"""The parts that dialects share: names of keys, reasoning, meanings, and what prompts say."""

from __future__ import annotations

from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.actions import Action
from pipeline.dialects import load_dialect
from pipeline.dialects.keys import key_names, lower_names, split_keys
from pipeline.dialects.meanings import MEANINGS, meaning_of, meaning_of_wheel
from pipeline.dialects.reasoning import Parted, part_reasoning, plain
from pipeline.errors import ActionError
from tests.dialect_moves import THOUGHTS


@pytest.mark.parametrize(
    ("spelled", "names"),
    [
        (["ctrl", "C"], ["Control", "C"]),
        (["CONTROL", "Shift", "arrowup"], ["Control", "Shift", "ArrowUp"]),
        (["cmd", "pgdn"], ["Meta", "PageDown"]),
        (["return"], ["Enter"]),
        ([" "], ["Space"]),
        (["f12", "plus"], ["F12", "+"]),
        (["é"], ["é"]),
    ],
)
def test_keys_have_one_name(spelled: list[str], names: list[str]) -> None:
    assert key_names(spelled) == names
    assert key_names(lower_names(names)) == names


@pytest.mark.parametrize("spelled", [[], ["a", "b", "c", "d"], ["hyper"], [""], [5], [None], ["\n"], ["x" * 500]])
def test_other_keys_are_refused(spelled: list[object]) -> None:
    with pytest.raises(ActionError) as caught:
        key_names(spelled)
    assert caught.value.code == "bad_arguments"
    assert len(caught.value.detail) < 100


@pytest.mark.parametrize(
    ("text", "keys"),
    [
        ("ctrl c", ["ctrl", "c"]),
        ("ctrl+c", ["ctrl", "c"]),
        ("ctrl + c", ["ctrl", "c"]),
        ("+", ["+"]),
        ("enter", ["enter"]),
        ("", []),
    ],
)
def test_keys_in_a_text(text: str, keys: list[str]) -> None:
    assert split_keys(text) == keys


@pytest.mark.parametrize(
    ("text", "parted"),
    [
        ("<think>a</think>b", Parted("a", "b")),
        ("<THINK>a</Think >b", Parted("a", "b")),
        ("a</think>b", Parted("a", "b")),
        ("b<think>a</think>c", Parted("a", "bc")),
        ("<think>a", Parted("a", "")),
        ("b<think>a", Parted("a", "b")),
        ("<think>a <think> c</think>b", Parted("a <think> c", "b")),
        ("<think>a</think>c</think>b", Parted("ac", "b")),
        ("<thinking>a</thinking>b<grounding_think>c</grounding_think>", Parted("ac", "b")),
        ("nothing", Parted("", "nothing")),
    ],
)
def test_reasoning_is_taken_away(text: str, parted: Parted) -> None:
    assert part_reasoning(text) == parted


@given(thought=THOUGHTS, rest=st.text("abc {}[]\n"))
def test_a_plain_thought_between_tags_is_all_that_is_taken(thought: str, rest: str) -> None:
    assert part_reasoning(f"<think>{thought}</think>{rest}") == Parted(thought, rest)


@pytest.mark.parametrize("tag", ["<think>", "</THINK>", "<action>", "</answer>", "<tool_call>", "```json", "```"])
def test_a_plain_thought_holds_nothing_that_forms_use(tag: str) -> None:
    assert plain(f"so {tag} be\nAction: it {tag}") == "so   be\nit"
    assert plain(f"<thi{tag}nk>") == "<thi nk>"


def test_every_action_has_a_meaning_in_both_languages() -> None:
    assert set(MEANINGS) == {action.__name__ for action in get_args(get_args(Action)[0])}
    for word in MEANINGS:
        assert meaning_of(word, "en").isascii()
        assert not meaning_of(word, "zh").isascii()
    assert meaning_of_wheel("down", "up", "zh") == "负数向下滚动，正数向上滚动"


@pytest.mark.parametrize(
    ("name", "lines"),
    [
        (
            "ui-venus-2-browser",
            [
                "Answer in this form, with one action: <think>…</think><action>…</action>",
                "Coordinates (x, y) are whole numbers from 0 to 999 across the picture, whatever its size; "
                "the origin is the top left corner.",
                "- Scroll(point=(x, y), direction='up/down/left/right'): scroll towards what lies in this direction",
                "- Hotkey(keys=['ctrl', 'c']): press up to three keys together",
            ],
        ),
        (
            "ui-venus-2-desktop",
            [
                "Sequence(actions=[…, …]) holds 2 to 32 actions that need no look in between.",
                "- Swipe(amount=-5, axis='vertical'): scroll down, or up with a positive amount",
            ],
        ),
        (
            "ui-tars-1.5",
            [
                "Answer in this form, with one action: Thought: …\\nAction: …",
                "Coordinates (x, y) are pixels of the picture you are shown; the origin is the top left corner.",
                "- drag(start_box='(x1,y1)', end_box='(x2,y2)'): press at the start, move to the end, release",
            ],
        ),
        ("canonical-yx", ['- {"type": "Click", "point": [y, x]}: click or tap the point once']),
        (
            "fara",
            [
                "type may also have coordinate (clicked first), delete_existing_text and press_enter (true or false).",
                '- {"action": "terminate", "status": "failure"}: say that the task cannot be done, and end',
            ],
        ),
        (
            "mai-ui",
            [
                '- {"action": "swipe", "coordinate": [x1, y1], "direction": "up/down/left/right"}: '
                "fling the content from the start to the end"
            ],
        ),
        ("open-autoglm", ["- do(action='Long Press', element=[x, y]): press the point, hold, release"]),
        ("ui-venus-2-grounding", ["- [x, y]: click or tap the point once"]),
    ],
)
def test_prompts_spell_actions_as_the_model_does(name: str, lines: list[str]) -> None:
    dialect = load_dialect(name)
    prompt = dialect.action_space(dialect.platforms[0], "en").splitlines()
    assert [line for line in lines if line not in prompt] == []


def test_prompts_list_what_the_platform_has() -> None:
    dialect = load_dialect("qwen3-vl")
    on_phone, on_web = (dialect.action_space(platform, "en") for platform in ("mobile", "web"))
    assert '"mobile_use"' in on_phone and '"system_button"' in on_phone and '"left_click"' not in on_phone
    assert '"computer_use"' in on_web and '"system_button"' not in on_web and '"left_click"' in on_web


def test_other_spellings_are_understood_and_not_listed() -> None:
    assert "AWAKE" not in load_dialect("mai-ui").action_space("mobile", "en")
    assert load_dialect("qwen3-vl").action_space("web", "zh").count("terminate") == 2
