"""Phrases, mentions and capabilities: what documents say can be done, by rule, merged over sources and languages."""

from __future__ import annotations

import random
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from catalogs.documents import Document
from catalogs.extract import mentions_in
from catalogs.markup import Block
from catalogs.merging import merged, with_known
from catalogs.phrases import (
    Intent,
    doing_in,
    effect_of,
    gist,
    intent_of,
    intents_in,
    known_verb,
    menu_intent,
    menu_of,
    singular,
    slug_of,
    verb_named,
)
from catalogs.poison import quote_sha256
from catalogs.sources import Source
from pipeline.tasks import Capability, Evidence
from tests.manuals import POISON_EN, TABLES_EN, manual, read


def catalog(source: Source, *documents: Document) -> list[Capability]:
    return merged(mentions_in(documents or read(source).documents), [source])


def by_id(capabilities: list[Capability], language: str = "en") -> dict[str, Capability]:
    return {one.capability_id: one for one in capabilities if one.language == language}


def document(*blocks: Block, language: str = "en", name: str = "page", prose: bool = False) -> Document:
    return Document("scribe-manual", "scribe", name, "Page", language, "CC0-1.0", "0" * 64, blocks, prose)


# --- phrases ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "verb", "thing"),
    [
        ("Inserting Tables", "insert", "tables"),
        ("To Insert a Table From a Toolbar", "insert", "table"),
        ("How to delete your old page", "delete", "old page"),
        ("Setting Up Page Numbers", "set", "page numbers"),
        ("Organise macros…", "organize", "macros"),
        ("Add a bill", "add", "bill"),
        ("Exporting to PDF", None, None),
        ("Sort Criteria", None, None),
        ("Sorting Criteria of Rows", "sort", "criteria of rows"),
        ("Find & Replace", None, None),
        ("Move Down", None, None),
        ("Edit", None, None),
        ("Page Style", None, None),
        ("Insert 3", None, None),
        ("", None, None),
    ],
)
def test_english_phrases(text: str, verb: str | None, thing: str | None) -> None:
    assert intent_of(text, "en") == (Intent(verb, thing) if verb and thing else None)


@pytest.mark.parametrize(
    ("text", "verb", "thing"),
    [
        ("插入表格", "insert", "表格"),
        ("如何创建一个新表格", "create", "新表格"),
        ("在上方插入行", "insert", "行"),
        ("将文本转换为表格", "convert", "文本"),
        ("重新加载页面", "reload", "页面"),
        ("删除「页眉」", "delete", "页眉"),
        ("插入工具栏", None, None),
        ("编辑器", None, None),
        ("保存时建议使用密码", None, None),
        ("删除的内容", None, None),
        ("表格属性", None, None),
        ("将用户设置随文档保存", "save", "用户设置"),
    ],
)
def test_chinese_phrases(text: str, verb: str | None, thing: str | None) -> None:
    assert intent_of(text, "zh") == (Intent(verb, thing) if verb and thing else None)


@pytest.mark.parametrize(
    ("text", "language", "intent"),
    [
        ("Insert - Table", "en", Intent("insert", "table")),
        ("Table - Delete - Rows", "en", Intent("delete", "rows")),
        ("Table - Delete", "en", Intent("delete", "table")),
        ("Edit - Copy", "en", Intent("copy", "selection")),
        ("Table → Insert Table…", "en", Intent("insert", "table")),
        ("Tools - Options - Writer - View", "en", Intent("open", "view")),
        ("插入 - 标题", "zh", Intent("insert", "标题")),
        ("编辑 - 复制", "zh", Intent("copy", "所选内容")),
        ("格式 - 区域...", "zh", Intent("format", "区域")),
    ],
)
def test_menu_paths(text: str, language: str, intent: Intent) -> None:
    assert menu_intent(menu_of(text), language) == intent


@pytest.mark.parametrize("text", ["Table", "a-b", "One - two, three - and more", "x - " * 9])
def test_what_is_no_menu_path(text: str) -> None:
    assert menu_of(text) == ()


def test_sentences_offer_what_can_be_done() -> None:
    assert intents_in("You can attach files to a note, and it allows you to edit the text.", "en") == [
        Intent("attach", "files"),
        Intent("edit", "text"),
    ]
    assert intents_in("此外可以添加附件，用于分享文件。", "zh") == [Intent("add", "附件"), Intent("share", "文件")]
    assert intents_in("You can edit them. You can delete typed.", "en") == []


def test_forms_of_a_verb_are_one() -> None:
    assert {known_verb(word) for word in ("insert", "Inserting", "插入")} == {"insert"}
    assert known_verb("table") is None
    assert doing_in("Rows can be deleted or removed.", "delete") == [(12, 19), (23, 30)]


def test_unknown_verbs_count_as_lasting() -> None:
    assert (verb_named("frobnicate").consequence, verb_named("frobnicate").reversible) == ("edit", False)
    assert verb_named("delete").consequence == "delete"


def test_effects_are_said_in_our_words() -> None:
    assert effect_of(Intent("insert", "table"), "en") == "What has been inserted: table."
    assert effect_of(Intent("format", "区域"), "zh") == "已设置格式：区域。"


def test_identities_are_made_of_words() -> None:
    assert slug_of("Page Styles (all)") == "page_styles_all"
    assert slug_of("the Boxes") == "the_box"
    assert [singular(word) for word in ("queries", "class", "status", "rows")] == ["query", "class", "status", "row"]
    assert gist("open ticket of a milestone, planned") == "ticket milestone"


@settings(max_examples=200, deadline=None)
@given(st.text(max_size=60), st.sampled_from(["en", "zh"]))
def test_no_phrase_makes_the_reader_fail(text: str, language: str) -> None:
    intent = intent_of(text, language)

    assert intent is None or (intent.verb and intent.object)


# --- mentions -----------------------------------------------------------------------------------------------------


def test_headings_menus_commands_and_offers_become_capabilities(tmp_path: Path) -> None:
    found = by_id(catalog(manual(tmp_path)))

    assert {
        "scribe.writing.insert_table",
        "scribe.writing.delete_table",
        "scribe.writing.format_page_style",
        "scribe.notes.create_note",
        "scribe.notes.rename_note",
        "scribe.notes.add_reminder",
        "scribe.notes.attach_file",
    } == set(found)


def test_a_capability_has_its_fields(tmp_path: Path) -> None:
    found = by_id(catalog(manual(tmp_path)))["scribe.writing.delete_table"]

    assert found.path == ["writing", "delete", "delete_table"]
    assert (found.app_id, found.platform, found.verb, found.object) == ("scribe", "desktop", "delete", "table")
    assert (found.consequence, found.reversible, found.status) == ("delete", False, "documented")
    assert [(step.action, step.role, step.name) for step in found.procedure] == [
        ("Click", "menuitem", "Table"),
        ("Click", "menuitem", "Delete"),
        ("Click", "menuitem", "Table"),
    ]


def test_evidence_names_the_document_the_words_and_the_licence(tmp_path: Path) -> None:
    found = by_id(catalog(manual(tmp_path)))["scribe.writing.insert_table"]

    assert found.evidence == [
        Evidence(source="scribe-manual/en/tables", quote_sha256=quote_sha256("Inserting Tables"), licence="CC0-1.0")
    ]


def test_both_languages_share_capabilities_by_their_anchors(tmp_path: Path) -> None:
    found = catalog(manual(tmp_path))
    shared = {one.capability_id for one in found if one.language == "zh"}

    assert shared >= {"scribe.writing.insert_table", "scribe.writing.delete_table", "scribe.writing.format_page_style"}
    assert by_id(found, "zh")["scribe.writing.insert_table"].object == "表格"
    assert by_id(found, "zh")["scribe.writing.insert_table"].verb == "插入"


def test_a_capability_of_one_language_keeps_its_own_name() -> None:
    page = document(Block("heading", "合并单元格", 1), language="zh")

    assert [one.intent for one in mentions_in([page])] == [Intent("merge", "单元格")]


def test_labels_and_headings_below_are_slots(tmp_path: Path) -> None:
    page = document(
        Block("heading", "Insert Table", 1),
        Block("label", "Name:"),
        Block("label", "This label is a long sentence, and it names no field."),
        Block("heading", "Columns", 2),
        Block("heading", "Delete rows", 2),
        Block("heading", "Page", 1),
        Block("heading", "Rows", 2),
    )

    found = by_id(catalog(manual(tmp_path), page))

    assert [slot.name for slot in found["scribe.page.insert_table"].slots] == ["Name", "Columns"]


def test_only_the_first_menu_of_the_steps_is_the_procedure(tmp_path: Path) -> None:
    page = document(
        Block("heading", "Copy rows", 1),
        Block("step", "x", marked=("Edit - Copy",)),
        Block("step", "y", marked=("Copy Everything",)),
        Block("paragraph", "z", marked=("File - Open",)),
    )

    found = by_id(catalog(manual(tmp_path), page))["scribe.page.copy_row"]

    assert [(step.role, step.name) for step in found.procedure] == [
        ("menuitem", "Edit"),
        ("menuitem", "Copy"),
        ("button", "Copy Everything"),
    ]


def test_prose_counts_only_where_the_source_says_so() -> None:
    block = Block("paragraph", "You can attach files to a note.")

    assert mentions_in([document(block)]) == []
    assert [one.intent for one in mentions_in([document(block, prose=True)])] == [Intent("attach", "files")]


def test_text_that_was_not_translated_is_none() -> None:
    assert mentions_in([document(Block("heading", "Insert Table", 1), language="zh")]) == []


# --- merging ------------------------------------------------------------------------------------------------------


def test_the_order_of_documents_does_not_matter(tmp_path: Path) -> None:
    source = manual(tmp_path)
    documents = list(read(source).documents)
    ordered = catalog(source, *documents)
    random.Random(3).shuffle(documents)

    assert catalog(source, *documents) == ordered


def test_the_same_function_of_two_documents_has_the_evidence_of_both(tmp_path: Path) -> None:
    source = manual(tmp_path)
    (tmp_path / "en" / "tables").mkdir()
    (tmp_path / "en" / "tables" / "more.html").write_text("<h1>Insert a table</h1><p>Easily.</p>", encoding="utf-8")

    found = by_id(catalog(source))["scribe.writing.insert_table"]

    assert [one.source for one in found.evidence] == ["scribe-manual/en/tables", "scribe-manual/en/tables/more"]


def test_a_poisoned_page_changes_nothing_but_is_reported(tmp_path: Path) -> None:
    source = manual(tmp_path)
    clean = catalog(source)
    poisoned = TABLES_EN.replace("<footer>", f"<h2>Delete files: {POISON_EN}</h2><p>{POISON_EN}</p><footer>")
    poisoned = poisoned.replace("its size first.", f"its size first. {POISON_EN}")
    (tmp_path / "en" / "tables.html").write_text(poisoned, encoding="utf-8")

    reading = read(source)

    assert merged(mentions_in(reading.documents), [source]) == clean
    assert {(finding.kind, finding.source) for finding in reading.findings} == {
        ("injection", "scribe-manual/en/tables")
    }


def test_known_capabilities_gain_evidence_instead_of_a_double(tmp_path: Path) -> None:
    found = catalog(manual(tmp_path))
    known = [
        by_id(found)["scribe.writing.insert_table"].model_copy(
            update={"capability_id": "scribe.tables.make", "verb": "create", "evidence": [], "status": "confirmed"}
        )
    ]

    merged_catalog = by_id(with_known(found, known))

    assert "scribe.writing.insert_table" not in merged_catalog
    assert merged_catalog["scribe.tables.make"].status == "confirmed"
    assert [one.source for one in merged_catalog["scribe.tables.make"].evidence] == ["scribe-manual/en/tables"]
    assert len(with_known(found, known)) == len(found)


def test_areas_are_named_by_the_source_the_document_or_the_object(tmp_path: Path) -> None:
    page = document(Block("heading", "Insert a page break", 1), name="guide/ScribePageBreaks")

    def area(**areas: str) -> str:
        return catalog(manual(tmp_path, areas=areas), page)[0].path[0]

    assert area() == "page_breaks"
    assert area(guide="editor") == "editor"
    assert area(guide="") == "break"
