"""Whether a typed text arrived, by two looks at the fields."""

from __future__ import annotations

import pytest

from pipeline.envs.desktop_typing import UNVERIFIED, check_arrived
from pipeline.errors import ActionError
from pipeline.structs import Box, Node


def field(value: str, *more: str, role: str = "textbox") -> list[Node]:
    return [Node(role=role, name="", value=value, states=["editable", "focused", *more])]


def test_what_a_program_made_of_the_text_is_told_apart_from_what_it_lost() -> None:
    with pytest.raises(ActionError) as changed:
        check_arrived("it's", [], field("it’s"))
    with pytest.raises(ActionError) as lost:
        check_arrived("it's", [], field("its brother"))

    assert (changed.value.code, lost.value.code) == ("value_reverted", "value_reverted")
    with pytest.raises(ActionError) as gone:
        check_arrived("abc", [], field("ab"))
    assert gone.value.code == "text_not_delivered"


NAME, TEXT = Box(left=10, top=40, right=200, bottom=60), Box(left=10, top=80, right=600, bottom=400)


def at(box: Box, value: str, *states: str) -> Node:
    return Node(role="textbox", name="", value=value, box=box, states=["editable", *states])


@pytest.mark.parametrize(
    ("text", "before", "after", "flags"),
    [
        ("15\n", [at(NAME, "", "focused")], [at(NAME, "15", "focused")], []),
        ("mine.txt\n", [at(TEXT, "hello"), at(NAME, "", "focused")], [at(TEXT, "hello", "focused")], [UNVERIFIED]),
        ("x\n", [at(TEXT, "a\n"), at(NAME, "", "focused")], [at(TEXT, "a\n", "focused")], [UNVERIFIED]),
        ("2+2\n", [at(NAME, "", "focused")], [at(NAME, "4", "focused")], [UNVERIFIED]),
        ("hi\n", [at(NAME, "", "focused")], [at(NAME, "", "focused")], [UNVERIFIED]),
        ("one\ntwo\n", [at(TEXT, "", "focused")], [at(TEXT, "one\ntwo\n", "focused")], []),
        ("12", [at(NAME, "", "focused"), at(TEXT, "")], [at(NAME, "1"), at(TEXT, "2", "focused")], [UNVERIFIED]),
    ],
    ids=["find bar", "dialog closes", "dialog over lines", "calculator", "message", "lines", "full"],
)
def test_a_return_that_took_effect_is_no_lost_text(
    text: str, before: list[Node], after: list[Node], flags: list[str]
) -> None:
    assert check_arrived(text, before, after) == flags


@pytest.mark.parametrize(
    ("text", "held", "holds", "flags"),
    [
        ("5", "1500", "1500", [UNVERIFIED]),
        ("5", "1500", "15005", []),
        ("15", "1500 15", "15", []),
        ("15", "15", "15", [UNVERIFIED]),
        ("/ho", "", "/home", []),
        ("15", "15 a", "15 b", [UNVERIFIED]),
    ],
    ids=["lost", "typed", "put in place of the rest", "again", "completed", "something else"],
)
def test_a_text_that_the_field_held_before_is_not_seen_to_arrive(
    text: str, held: str, holds: str, flags: list[str]
) -> None:
    assert check_arrived(text, [at(NAME, held, "focused")], [at(NAME, holds, "focused")]) == flags


def test_a_text_of_which_the_field_shows_nothing_new_is_lost_whatever_letters_it_held() -> None:
    with pytest.raises(ActionError) as lost:
        check_arrived("it's", [at(NAME, "its brother", "focused")], [at(NAME, "its brother", "focused")])

    assert lost.value.code == "text_not_delivered"


@pytest.mark.parametrize(
    ("text", "nodes"),
    [
        ("secret", field("••••••", "protected")),
        ("a\tb", field("b")),
        ("x", []),
        ("42", field("", role="gridcell")),
        ("x", field("y" * 2000)),
    ],
    ids=["password", "tab", "no field", "cell", "cut"],
)
def test_what_does_not_show_what_it_holds_is_not_verified(text: str, nodes: list[Node]) -> None:
    assert check_arrived(text, [], nodes) == ["text_unverified"]


def test_in_a_document_the_text_has_arrived_when_more_places_show_it() -> None:
    page = [Node(role="paragraph", name="", value=text, states=["editable"]) for text in ("one", "two", "")]

    assert check_arrived("one\ntwo\n", [], page) == []
    assert check_arrived("one\ntwo\n", page[:1], page) == ["text_unverified"]
    assert check_arrived("two", page, page) == ["text_unverified"]
    assert check_arrived("two", [], field("two", role="paragraph")) == []
    assert check_arrived("two", page[:1], [*field("", role="document"), *page]) == []


def test_in_a_terminal_the_text_has_arrived_when_its_line_shows_it() -> None:
    before, after = (
        [Node(role="textbox", name="Terminal", value=value, states=["focused"])] for value in ("~$ ", "~$ ls 文档\n")
    )

    assert check_arrived("ls 文档", before, after) == []
    assert check_arrived("ls 文档", before, before) == check_arrived("ls 文档", after, after) == ["text_unverified"]
