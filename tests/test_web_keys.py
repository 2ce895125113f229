import pytest

from pipeline.envs.web_keys import key_names
from pipeline.errors import ActionError


@pytest.mark.parametrize(
    ("keys", "names"),
    [
        (["Control", "a"], ["Control", "a"]),
        (["a", "ctrl"], ["Control", "a"]),
        (["CTRL", "A"], ["Control", "a"]),
        (["ctrl", "shift", "t"], ["Control", "Shift", "T"]),
        (["A"], ["A"]),
        (["cmd", "option", "esc"], ["Alt", "Meta", "Escape"]),
        (["Page_Down"], ["PageDown"]),
        (["page down"], ["PageDown"]),
        (["return"], ["Enter"]),
        ([" "], ["Space"]),
        (["+"], ["+"]),
        (["f12"], ["F12"]),
        (["a", "a"], ["a"]),
    ],
)
def test_keys_have_one_name_in_the_browser(keys: list[str], names: list[str]) -> None:
    assert key_names(keys) == names


@pytest.mark.parametrize("key", ["", "hyper", "F13", "ab", "é", "\n"])
def test_a_key_that_does_not_exist_is_a_bad_argument(key: str) -> None:
    with pytest.raises(ActionError) as caught:
        key_names(["Control", key])
    assert caught.value.code == "bad_arguments"
