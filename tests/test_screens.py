"""What makes two looks the same screen, and whether an address is the one a catalog names."""

from __future__ import annotations

import pytest

from catalogs.screens import family_of, masked, on_screen, pattern_of, structure_signature
from pipeline.structs import Node

HOST = "http://127.0.0.1:8123"


def screen(path: str, *names: str) -> str:
    """The signature of a screen with these controls and headings, `role name` each."""
    nodes = [Node(role=role, name=name) for role, _, name in (text.partition(" ") for text in names)]
    return structure_signature(HOST + path, nodes)


@pytest.mark.parametrize(
    ("location", "pattern"),
    [
        (f"{HOST}/ticket/12", "/ticket/{}"),
        ("http://127.0.0.1:9/ticket/7?order=id", "/ticket/{}"),
        (f"{HOST}/wiki/Start?action=edit&version=3", "/wiki/Start?action=edit"),
        (f"{HOST}/notes/3f2504e0-4f89-11d3-9a0c-0305e82c3301/", "/notes/{}/"),
        (f"{HOST}/journal/?time=2026-03#context-2", "/journal/"),
        (f"{HOST}/app#/flows/12", "/app#/flows/#"),
        (f"{HOST}/%E5%BE%85%E5%8A%9E", "/待办"),
    ],
)
def test_an_address_keeps_its_form_and_drops_its_data(location: str, pattern: str) -> None:
    assert pattern_of(location) == pattern


def test_a_list_is_the_same_screen_whatever_it_lists() -> None:
    short = screen("/", "heading Items", "button Add", "link lamp", "checkbox Done: lamp", "cell 3")
    long = screen("/", "heading Items", "button Add", "link chair", "link table", "checkbox Done: chair", "cell 4")

    assert short == long


def test_two_records_are_shown_by_the_same_screen() -> None:
    assert screen("/item/1", "heading lamp", "button Save") == screen("/item/2", "heading chair", "button Save")


@pytest.mark.parametrize(
    "other",
    [
        screen("/", "heading Items"),
        screen("/", "heading Items", "button Add", "button Remove"),
        screen("/", "heading Archive", "button Add"),
        screen("/old", "heading Items", "button Add"),
    ],
)
def test_other_controls_headings_and_addresses_make_other_screens(other: str) -> None:
    assert screen("/", "heading Items", "button Add") != other


def test_an_unfolded_menu_is_a_screen_of_its_own() -> None:
    folded = [Node(role="button", name="More", states=["collapsed"])]
    unfolded = [Node(role="button", name="More", states=["expanded"])]

    assert structure_signature(HOST, folded) != structure_signature(HOST, unfolded)


def test_many_headings_are_entries_of_a_list() -> None:
    one = screen("/", "heading News", "heading Rain", "heading Snow", "heading Wind")
    other = screen("/", "heading News", "heading Fog", "heading Hail", "heading Sun", "heading Frost")

    assert one == other


def test_records_with_named_addresses_are_of_one_family() -> None:
    button = [Node(role="button", name="Edit this page")]
    page, other = (family_of(f"{HOST}/wiki/{name}", button) for name in ("Backup", "Release"))

    assert page == other
    assert family_of(f"{HOST}/wiki/Backup", []) != page and family_of(f"{HOST}/notes/Backup", button) != page


def test_quoted_texts_digits_and_what_a_label_labels_are_data() -> None:
    assert masked("Delete “lamp”?") == masked("Delete “chair”?")
    assert masked("Done: lamp") == "Done:" and masked("3 comments") == "# comments"
    assert masked("Summary:") == "Summary:"


@pytest.mark.parametrize(
    ("path", "pattern", "expected"),
    [
        ("/ticket/12", "/ticket/{id}", True),
        ("/ticket/12/edit", "/ticket/{id}", False),
        ("/demo/journal/", "/journal/", True),
        ("/demo/journal", "/journal/", True),
        ("/journalism", "/journal/", False),
        ("/", "/", True),
        ("/about", "/", False),
        ("/wiki/Start?action=edit", "/wiki/{page}?action=edit", True),
        ("/wiki/Start", "/wiki/{page}?action=edit", False),
        ("/ledger/#add-transaction", "#add-transaction", True),
        ("/ledger/#context-3f", "#context", True),
        ("/ledger/", "#context", False),
        ("/anything", "details", True),
    ],
)
def test_a_catalog_names_screens_by_address(path: str, pattern: str, expected: bool) -> None:
    assert on_screen(HOST + path, pattern) is expected
