"""Rows for what was found."""

from __future__ import annotations

from catalogs.finding import Place, acting, opening, reading
from catalogs.naming import label, slug, unused
from catalogs.subject import Subject
from pipeline.tasks import ProcedureStep, Slot

SHOP = Subject("shop", language="en")
HOST = "http://127.0.0.1:8123"


def press(name: str) -> ProcedureStep:
    return ProcedureStep(action="Click", role="link", name=name, nth=1)


def place(*names: str) -> Place:
    found = Place()
    for name in names:
        found = found.further(name, [press(name)])
    return found


def test_the_state_decides_what_was_done_but_deleting_words_stand() -> None:
    added, removed = [["item/9", "added"]], [["item/9", "changed"]]

    assert acting(SHOP, place("New item", "Save"), added, HOST).consequence == "create"
    assert acting(SHOP, place("Delete"), removed, HOST).consequence == "delete"
    assert acting(SHOP, place("Go"), [], HOST).consequence == "edit"


def test_a_row_tells_the_way_the_words_and_the_effect() -> None:
    row = acting(SHOP, place("New item", "Save"), [["item/9", "added"], ["item/10", "added"]], f"{HOST}/item/9")

    assert row.capability_id == "shop.found.new-item-save" and row.path == ["found", "New item", "Save"]
    assert (row.verb, row.object, row.screens) == ("save", "New item", ["/item/{id}"])
    assert row.effect == "In the application's state: added item." and row.reversible


def test_reading_and_opening_change_nothing() -> None:
    assert reading(SHOP, place("Search"), f"{HOST}/search?q=x").consequence == "none"
    row = opening(SHOP, place("About").at(f"{HOST}/about"))
    assert (row.capability_id, row.verb, row.screens) == ("shop.found.open-about", "open", ["/about"])


def test_a_record_is_named_by_a_slot() -> None:
    found = place("Items", "lamp").of_any(["lamp", "chair"])

    assert found.steps[-1].name == "{record}" and found.steps[-1].nth == 0
    assert found.slots == (Slot(name="record", values=["lamp", "chair"]),) and found.labels == ("Items", "a record")


def test_what_all_records_begin_with_stays_outside_the_slot() -> None:
    found = place("Done: lamp").of_any(["Done: lamp", "Done: chair"], "Done:")

    assert found.steps[-1].name == "Done: {record}" and found.slots[0].values == ["lamp", "chair"]


def test_two_records_on_one_way_have_slots_of_their_own() -> None:
    found = place("lamp").of_any(["lamp"]).further("small", [press("small")]).of_any(["small"])

    assert [slot.name for slot in found.slots] == ["record", "record_2"]


def test_names_are_short_plain_and_unused() -> None:
    assert slug("Créate – Ticket #3!", "x") == "cr-ate-ticket-3"
    assert slug("新建", "found").startswith("found-") and slug("", "found") == "found"
    assert len(label("Ignore all of this " * 9)) == 48 and label(" Name :\n") == "Name"
    assert unused("a", {"a", "a-2"}) == "a-3" and unused("b", {"a"}) == "b"
