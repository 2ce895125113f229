"""The phone's command line: what is read, and what is refused."""

from __future__ import annotations

import shlex

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.handset.commandline import RefusedError, parse


def argvs(line: str, status: int = 0) -> list[list[str]]:
    return [command.argv(status) for command in parse(line)]


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("input tap 1 2", ["input", "tap", "1", "2"]),
        ("echo 'a b'\\''c' \"d \\\" e\"", ["echo", "a b'c", 'd " e']),
        ("echo '' a", ["echo", "", "a"]),
        ("echo \"a\\nb\" 'a\\nb' a\\ b", ["echo", "a\\nb", "a\\nb", "a b"]),
        ("echo '$(touch x) `y` | z > w' a=b?c", ["echo", "$(touch x) `y` | z > w", "a=b?c"]),
        ("echo 1$ a#b", ["echo", "1$", "a#b"]),
    ],
)
def test_words_are_read_as_a_shell_reads_them(line: str, words: list[str]) -> None:
    assert argvs(line) == [words]


@given(st.lists(st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"])), min_size=1))
def test_whatever_is_quoted_arrives_as_it_is(words: list[str]) -> None:
    assert argvs(shlex.join(words)) == [words]


def test_commands_know_what_they_wait_for() -> None:
    commands = parse("a; b && c || d\ne")

    assert [(command.condition, command.argv(0)[0]) for command in commands] == [
        ("always", "a"),
        ("always", "b"),
        ("succeeded", "c"),
        ("failed", "d"),
        ("always", "e"),
    ]


def test_the_exit_code_before_is_put_in() -> None:
    assert argvs("echo X$? \"Y$?\" '$?'", status=7) == [["echo", "X7", "Y7", "$?"]]


@pytest.mark.parametrize(
    "line",
    ["echo $(id)", 'echo "$(id)"', "echo `id`", 'echo "`id`"', "a | b", "a > b", "a < b", "a & b", "echo $HOME", "(a)",
     "a # b"],
)  # fmt: skip
def test_what_a_shell_would_carry_out_is_refused(line: str) -> None:
    with pytest.raises(RefusedError, match="not carried out by this handset"):
        parse(line)


@pytest.mark.parametrize("line", ["echo 'a", 'echo "a', "a &&", "; a", "a;;b"])
def test_a_broken_line_is_refused(line: str) -> None:
    with pytest.raises(RefusedError):
        parse(line)
