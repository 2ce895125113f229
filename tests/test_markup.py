"""Pages as blocks: what is kept of HTML, Markdown, wiki markup and messages, and what is furniture."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from catalogs.markup import Block, Format, read_page
from catalogs.messages import messages_in
from tests.manuals import NOTES_EN, TABLES_EN, TABLES_ZH


def blocks(text: str, form: Format = "html", language: str = "en", **more: list[str]) -> list[Block]:
    return list(read_page(text, form, language, **more).blocks)


def kinds(text: str, form: Format = "html") -> list[tuple[str, str]]:
    return [(block.kind, block.text) for block in blocks(text, form)]


# --- HTML ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("page", [TABLES_EN, TABLES_ZH])
def test_headings_and_steps_are_kept_and_furniture_is_not(page: str) -> None:
    found = blocks(page)

    assert [block.kind for block in found] == [
        "heading", "paragraph", "heading", "step", "step", "heading", "paragraph",
    ]  # fmt: skip
    assert [block.level for block in found if block.kind == "heading"] == [1, 2, 2]


def test_what_is_set_apart_and_anchors_are_kept() -> None:
    step = blocks(TABLES_EN)[4]

    assert step.marked == ("Table - Delete - Table",)
    assert blocks(TABLES_EN)[0].anchor == "t1"


def test_labels_and_buttons_of_a_form_are_kept() -> None:
    form = (
        "<h1>Add a bill</h1><form><label for=a>Amount</label><input id=a placeholder='0.00'>"
        "<input type=hidden value=secret><input type=submit value='Add bill'><button>Cancel</button></form>"
        "<p>Bills are shared between all members of the project, who see them at once.</p>"
    )

    assert kinds(form)[:5] == [
        ("heading", "Add a bill"),
        ("label", "Amount"),
        ("label", "0.00"),
        ("button", "Add bill"),
        ("button", "Cancel"),
    ]


def test_touching_marks_are_one() -> None:
    (block,) = blocks("<p>Choose <b>Tools</b><b> - Options</b> now, and the window with all the settings opens.</p>")

    assert block.marked == ("Tools - Options",)


def test_classes_are_left_out() -> None:
    text = "<p>Press <span class=MAC>Command</span><span>Ctrl</span>+C to copy what is selected in the document.</p>"

    (block,) = blocks(text, leave_out=["MAC"])

    assert block.text.startswith("Press Ctrl+C to copy")


def test_scripts_and_comments_are_no_text() -> None:
    text = "<p>A lamp for every room, and one for the garden.<!-- hidden --></p><script>let a = 1</script>"

    assert kinds(text) == [("paragraph", "A lamp for every room, and one for the garden.")]


@pytest.mark.parametrize("text", ["", "   ", "<!-- -->", "\x00", "<p"])
def test_a_page_without_text_has_no_blocks(text: str) -> None:
    assert blocks(text) == []


@settings(max_examples=60, deadline=None)
@given(st.text(alphabet="<>/pbliolh12 \"'=&;!-x\x00", max_size=80))
def test_no_html_makes_the_reader_fail(text: str) -> None:
    assert all(block.text for block in blocks(text))


# --- lines --------------------------------------------------------------------------------------------------------


def test_markdown_is_read_like_html() -> None:
    found = kinds(NOTES_EN, "markdown")

    assert ("heading", "Renaming a note") in found
    assert ("step", "Choose Edit - Rename Note.") in found


def test_trac_wiki_is_read_by_lines() -> None:
    text = (
        "= The Tickets =\n\nTickets [wiki:X can be] ''edited''\nby all.\n\n"
        "== Deleting !Tickets ==\n 1. Open '''Delete ticket'''.\n * or not\n"
        "{{{\n= code =\n}}}\n||= Name =|| Value ||\n"
    )

    found = blocks(text, "trac")

    assert [(block.kind, block.text) for block in found] == [
        ("heading", "The Tickets"),
        ("paragraph", "Tickets can be edited by all."),
        ("heading", "Deleting Tickets"),
        ("step", "Open Delete ticket."),
        ("item", "or not"),
        ("cell", "Name"),
        ("cell", "Value"),
    ]
    assert found[3].marked == ("Delete ticket",)


def test_a_tiddler_has_a_head_and_a_text() -> None:
    page = read_page("title: Moving\ntags: a\n\n! Moving [[a tiddler|Tiddler]]\n# ''Open'' it\n", "tiddlywiki", "en")

    assert page.title == "Moving"
    assert [(block.kind, block.text) for block in page.blocks] == [("heading", "Moving a tiddler"), ("step", "Open it")]


def test_plain_text_has_paragraphs_and_items() -> None:
    assert kinds("One line\nand its end.\n\n- a thing\n2) a step", "text") == [
        ("paragraph", "One line and its end."),
        ("item", "a thing"),
        ("step", "a step"),
    ]


# --- messages -----------------------------------------------------------------------------------------------------

PO = r"""msgid ""
msgstr "Content-Type: text/plain; charset=utf-8\n"

msgid "Add a bill"
msgstr "添加账单"

#, fuzzy
msgid "x"
msgstr "y"
"""


@pytest.mark.parametrize(("language", "text"), [("en", "Add a bill"), ("zh", "添加账单")])
def test_messages_of_both_languages_share_their_key(language: str, text: str) -> None:
    assert list(messages_in(PO, "po", language)) == [("Add a bill", text)]


def test_nested_messages_are_found_by_their_place() -> None:
    assert list(messages_in('{"menu": {"a": "Add", "b": ["x", 1, ""]}}', "json", "en")) == [
        ("menu.a", "Add"),
        ("menu.b.0", "x"),
    ]


def test_lists_of_fields_are_messages() -> None:
    text = "title: $:/language/\r\n\r\nClose/Hint: 关闭此条目\r\nnothing\r\n"

    assert list(messages_in(text, "multids", "zh")) == [("Close/Hint", "关闭此条目")]


@pytest.mark.parametrize("form", ["po", "json", "multids"])
def test_what_cannot_be_read_has_no_messages(form: Format) -> None:
    assert blocks('msgid "\n{[', form) == []
