"""Whose data a text holds: found by its rules, and never where it is nobody's."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from pipeline.dataset import Dataset
from pipeline.personal import Found, Search, find, without_personal_data
from pipeline.records import Tree
from pipeline.secrecy import rows_of


@pytest.mark.parametrize(
    ("kind", "text"),
    [
        ("email", "ann.berg+lists@posteo.de"),
        ("email", "王芳@例子.中国"),
        ("phone", "+86 138 0013 8000"),
        ("phone", "13800138000"),
        ("phone", "0571-88157838"),
        ("phone", "(212) 736-5000"),
        ("phone", "+49 30 901820"),
        ("card", "5500 0055 5555 5559"),
        ("card", "4539578763621486"),
        ("iban", "GB33 BUKB 2020 1555 5555 55"),
        ("iban", "DE75512108001245126199"),
        ("national_id", "11010519491231002X"),
        ("national_id", "536-90-4399"),
    ],
)
def test_it_is_found_in_a_sentence(kind: str, text: str) -> None:
    sentence = f"请联系 {text}, please."

    assert [(piece.kind, sentence[piece.start : piece.end]) for piece in find(sentence)] == [(kind, text)]


@pytest.mark.parametrize(
    "text",
    [
        "",
        "ann@example.org, bob@mail.example.com, eve@shop.test, root@localhost",
        "@everyone, see commit 4d3c@{1}",
        "+1 212-555-0142 and +44 20 7946 0112",
        "Ticket 4155551234 of 2025-05-08 12:30, total 12,345,678.90",
        "192.168.100.121, version 1.30.16.20250508",
        "order 5500005555555558, test card 4242 4242 4242 4242",
        "110105194912310021",
        "000-12-3456",
        "DE89 3704 0044 0532 0130 01",
        "sha256 9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
    ],
)
def test_what_is_reserved_or_unsound_is_nobodys(text: str) -> None:
    assert find(text) == []


def test_a_number_beside_a_date_is_found() -> None:
    text = "2025-05-08 12:30 13800138000 2025-05-09"

    assert [text[piece.start : piece.end] for piece in find(text)] == ["13800138000"]


@pytest.mark.parametrize("text", ["x" * 100_000 + "@", "aaaa." * 20_000 + "@x", "1" * 100_000, "0." + "1" * 20_000])
def test_long_texts_take_no_time(text: str) -> None:
    began = time.perf_counter()

    assert find(text) == []
    assert time.perf_counter() - began < 2


def test_numbers_beyond_those_that_are_looked_up_are_taken_for_telephones() -> None:
    text = " ; ".join(f"213-{200 + number // 10_000}-{number % 10_000:04}" for number in range(0, 3_000_000, 500))
    began = time.perf_counter()

    found = find(text)

    assert time.perf_counter() - began < 5
    assert len(found) > 5500
    assert text[found[-1].start : found[-1].end] == text.rpartition(" ; ")[2]


def test_one_number_is_looked_up_once() -> None:
    text = "13800138000 " * 5000
    began = time.perf_counter()

    assert len(find(text)) == 5000
    assert time.perf_counter() - began < 2


def test_beyond_its_characters_a_search_takes_what_may_hold_data_as_a_whole() -> None:
    search = Search(characters=40)

    assert search.find("call 13800138000 now") == [Found("phone", 5, 16)]
    assert search.find("x" * 100) == []
    assert search.find("a@b " * 10) == [Found("email", 0, 40)]
    assert search.find("number 1234567890") == [Found("phone", 0, 17)]


def test_pieces_are_masked_and_the_rest_stays() -> None:
    text = "Mail ann@posteo.de or call +86 138 0013 8000."

    assert without_personal_data(text, "[x]") == "Mail [x] or call [x]."
    assert without_personal_data("Mail ann", "[x]") == "Mail ann"


def test_one_place_is_of_one_kind() -> None:
    assert [piece.kind for piece in find("13800138000@posteo.de")] == ["email"]


def test_shipped_trees_hold_none_and_are_read_in_no_time(dataset: Path) -> None:
    trees = [row for row in rows_of(Dataset(dataset), "trees") if isinstance(row, Tree)]
    texts = [text for tree in trees for node in tree.nodes for text in (node.name, node.value)]
    assert len(trees) > 20

    began = time.perf_counter()
    found = [text for text in texts if find(text)]

    assert found == []
    assert (time.perf_counter() - began) / len(trees) < 0.003
