"""Acts that several applications of the handset share, on a database of their own; what applications make of them."""

from __future__ import annotations

from pathlib import Path

import pytest

from pipeline.handset.apps.acts import flipping, keep, naming, removing
from pipeline.handset.apps.app import App, Asked, Done
from pipeline.handset.apps.clock import CLOCK
from pipeline.handset.apps.contacts import CONTACTS
from pipeline.handset.apps.notes import NOTES
from pipeline.handset.apps.shop import SHOP
from pipeline.handset.database import Database
from pipeline.handset.state import Clock, Settings

SCHEMA = "CREATE TABLE shelves (_id INTEGER PRIMARY KEY, name TEXT, open INTEGER NOT NULL DEFAULT 0)"
ROWS: dict[str, list[dict[str, str | int | float | None]]] = {
    "shelves": [{"_id": 1, "name": "Left"}, {"_id": 2, "name": "Right"}]
}
WORDS = {"missing": ("No name", "没有名称"), "taken": ("Taken", "已存在")}


def asking(data: Database, folder: Path, **given: str) -> Asked:
    chosen = {name: [value] for name, value in given.items()}
    return Asked(data, given, chosen, Clock(), Settings(folder / "settings.db", {}), "en", WORDS)


@pytest.fixture
def shelves(tmp_path: Path) -> Database:
    return Database(tmp_path / "shelves.db", SCHEMA, ROWS)


def names(shelves: Database) -> list[str]:
    return [row["name"] for row in shelves.rows("SELECT name FROM shelves ORDER BY _id")]


def test_what_a_form_holds_changes_its_row_or_is_a_new_one(shelves: Database, tmp_path: Path) -> None:
    changed = keep(asking(shelves, tmp_path, id="2"), "shelves", {"name": "Top"})
    added = keep(asking(shelves, tmp_path), "shelves", {"name": "Bottom"})

    assert (changed, added) == (2, 3)
    assert names(shelves) == ["Left", "Top", "Bottom"]


def test_a_switch_turns_its_own_row_on_and_off(shelves: Database, tmp_path: Path) -> None:
    act, asked = flipping("shelves", "open", "shelf"), asking(shelves, tmp_path, shelf="2", id="1")

    seen: list[list[int]] = []
    for _ in range(2):
        assert act(asked) == Done()
        seen.append([row["open"] for row in shelves.rows("SELECT open FROM shelves ORDER BY _id")])

    assert seen == [[0, 1], [0, 0]]


def test_a_row_is_removed_and_the_screen_with_it_unless_it_stays(shelves: Database, tmp_path: Path) -> None:
    asked = asking(shelves, tmp_path, id="1")

    assert (removing("shelves")(asked), removing("shelves", "stay")(asked)) == (Done("back"), Done("stay"))
    assert names(shelves) == ["Right"]


@pytest.mark.parametrize(
    ("given", "problem", "left"),
    [
        ({"name": "  "}, "No name", ["Left", "Right"]),
        ({"name": "Left"}, "Taken", ["Left", "Right"]),
        ({"name": "Left", "id": "2"}, "Taken", ["Left", "Right"]),
        ({"name": "Left", "id": "1"}, "", ["Left", "Right"]),
        ({"name": " Attic "}, "", ["Left", "Right", "Attic"]),
        ({"name": "Attic", "id": "2"}, "", ["Left", "Attic"]),
    ],
)
def test_a_name_is_given_once(
    shelves: Database, tmp_path: Path, given: dict[str, str], problem: str, left: list[str]
) -> None:
    done = naming("shelves", "missing", "taken")(asking(shelves, tmp_path, **given))

    assert (done.problem, names(shelves)) == (problem, left)


@pytest.mark.parametrize(
    ("app", "act", "given", "table", "changed"),
    [
        (CLOCK, "toggle", {"id": "1"}, "alarms", "enabled"),
        (CONTACTS, "block", {"id": "1"}, "contacts", "blocked"),
        (CONTACTS, "favourite", {"id": "1"}, "contacts", "favourite"),
        (NOTES, "pin", {"id": "1"}, "notes", "pinned"),
        (NOTES, "lock", {"id": "1"}, "notes", "locked"),
        (NOTES, "tick", {"item": "1", "id": "9"}, "items", "done"),
    ],
)
def test_each_switch_of_an_application_is_one_column(
    tmp_path: Path, app: App, act: str, given: dict[str, str], table: str, changed: str
) -> None:
    data = Database(tmp_path / "app.db", app.schema, app.seed("en"))
    before = data.row(f"SELECT * FROM {table} WHERE _id = 1")

    app.acts[act](asking(data, tmp_path, **given))

    after = data.row(f"SELECT * FROM {table} WHERE _id = 1")
    assert before is not None and after == {**before, changed: 1 - before[changed]}


@pytest.mark.parametrize(
    ("app", "act", "given", "table"),
    [
        (CLOCK, "delete_alarm", {"id": "2"}, "alarms"),
        (CLOCK, "delete_timer", {"id": "2"}, "timers"),
        (CLOCK, "drop_city", {"id": "2"}, "cities"),
        (CONTACTS, "delete", {"id": "2"}, "contacts"),
        (CONTACTS, "delete_group", {"id": "2"}, "groups"),
        (NOTES, "drop_item", {"item": "2"}, "items"),
        (SHOP, "delete_address", {"id": "2"}, "addresses"),
    ],
)
def test_each_removal_of_an_application_is_one_row(
    tmp_path: Path, app: App, act: str, given: dict[str, str], table: str
) -> None:
    data = Database(tmp_path / "app.db", app.schema, app.seed("en"))
    before = [row["_id"] for row in data.rows(f"SELECT _id FROM {table} ORDER BY _id")]

    app.acts[act](asking(data, tmp_path, **given))

    assert 2 in before
    assert [row["_id"] for row in data.rows(f"SELECT _id FROM {table} ORDER BY _id")] == [
        number for number in before if number != 2
    ]
