"""The state of an application in its files: seen, compared, put back."""

from __future__ import annotations

import shutil
import sqlite3
import time
from contextlib import closing
from pathlib import Path

import pytest

from pipeline import app_state
from pipeline.app_state import checksum, difference, inside, prepare, query, restore, run_script, snapshot
from pipeline.entry_state import FilesState, JsonState, LinesState, SqliteState, StateSource
from pipeline.tasks import SetupOperation

DATABASE = SqliteState(path="shop.db", ignore_tables=["cache*"])
LINES = LinesState(path="ledger.txt")
FILES = FilesState(path="content")
SOURCES: list[StateSource] = [DATABASE, LINES, FILES]
SCHEMA = """
CREATE TABLE items (name TEXT, price REAL);
CREATE TABLE "two words" (code TEXT, part INTEGER, note TEXT, PRIMARY KEY (part, code)) WITHOUT ROWID;
CREATE TABLE cache_pages (body TEXT);
CREATE INDEX by_name ON items (name);
INSERT INTO items VALUES ('lamp', 12.5), ('chair', NULL);
INSERT INTO "two words" VALUES ('x', 7, 'first');
INSERT INTO cache_pages VALUES ('old');
"""


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A data folder with a database, a text file and a folder of files."""
    data = tmp_path / "data"
    (data / "content" / "deep").mkdir(parents=True)
    run_script(data / "shop.db", SCHEMA)
    (data / "ledger.txt").write_text("one\n\ntwo\none\n")
    (data / "content" / "a.txt").write_text("a")
    (data / "content" / "deep" / "b.bin").write_bytes(b"\x00\xff")
    return data


@pytest.fixture
def template(root: Path, tmp_path: Path) -> Path:
    """A copy of the data folder as it was first."""
    copy = tmp_path / "template"
    shutil.copytree(root, copy)
    return copy


def change(root: Path, sql: str) -> None:
    run_script(root / "shop.db", sql)


def test_keys_name_rows_lines_and_files(root: Path) -> None:
    assert sorted(snapshot(SOURCES, root)) == [
        "content/a.txt",
        "content/deep/b.bin",
        "items/1",
        "items/2",
        "ledger.txt|one",
        "ledger.txt|two",
        "schema/by_name",
        "schema/items",
        "schema/two words",
        "two words/7,x",
    ]


def test_what_is_missing_is_an_empty_state(tmp_path: Path) -> None:
    assert snapshot([*SOURCES, JsonState(path="flows.json", key=["id"])], tmp_path) == {}


@pytest.mark.parametrize(
    ("sql", "row"),
    [
        ("INSERT INTO items VALUES ('desk', 1)", ["items/3", "added"]),
        ("DELETE FROM items WHERE rowid = 2", ["items/2", "removed"]),
        ("UPDATE items SET price = 13 WHERE rowid = 1", ["items/1", "changed"]),
        ("UPDATE items SET name = '12.5', price = 'lamp' WHERE rowid = 1", ["items/1", "changed"]),
        ("UPDATE items SET price = 'free' WHERE rowid = 1", ["items/1", "changed"]),
        ('UPDATE "two words" SET note = NULL', ["two words/7,x", "changed"]),
        ("DROP INDEX by_name", ["schema/by_name", "removed"]),
        ("ALTER TABLE items RENAME COLUMN price TO cost", ["schema/items", "changed"]),
        ("CREATE VIEW v AS SELECT 1", ["schema/v", "added"]),
    ],
)
def test_a_change_of_the_database_is_one_row(root: Path, sql: str, row: list[str]) -> None:
    before = snapshot(SOURCES, root)
    change(root, sql)
    assert difference(before, snapshot(SOURCES, root)) == [row]


def test_the_same_table_spelled_otherwise_is_the_same_state(tmp_path: Path) -> None:
    one, other = "FOREIGN KEY (a) REFERENCES x", "FOREIGN KEY (b) REFERENCES y"
    run_script(tmp_path / "1.db", f"CREATE TABLE t (a, b, {one}, {other})")
    run_script(tmp_path / "2.db", f"CREATE  TABLE t (a, b, {other}, {one})")
    run_script(tmp_path / "3.db", f"CREATE TABLE t (a, b, {one})")
    states = [snapshot([SqliteState(path=f"{number}.db")], tmp_path) for number in (1, 2, 3)]
    assert states[0] == states[1] != states[2]


def test_changes_of_ignored_tables_are_no_state(root: Path) -> None:
    before = snapshot(SOURCES, root)
    change(root, "UPDATE cache_pages SET body = 'new'; CREATE TABLE cache_2 (x)")
    assert difference(before, snapshot(SOURCES, root)) == []


def test_lines_are_counted_and_blank_ones_are_no_state(root: Path) -> None:
    before = snapshot(SOURCES, root)
    (root / "ledger.txt").write_text("one\n\n\nthree\n")
    assert difference(before, snapshot(SOURCES, root)) == [
        ["ledger.txt|one", "changed"],
        ["ledger.txt|three", "added"],
        ["ledger.txt|two", "removed"],
    ]


def test_files_are_compared_by_content(root: Path) -> None:
    before = snapshot(SOURCES, root)
    (root / "content" / "a.txt").write_text("b")
    (root / "content" / "new").write_text("")
    (root / "content" / "deep" / "b.bin").unlink()
    (root / "content" / "link").symlink_to("/etc/hostname")
    assert difference(before, snapshot(SOURCES, root)) == [
        ["content/a.txt", "changed"],
        ["content/deep/b.bin", "removed"],
        ["content/new", "added"],
    ]


def test_ignored_files_are_no_state(root: Path) -> None:
    kept = FilesState(path="content", ignore=["content/deep/*.bin", "a.txt"])
    assert list(snapshot([kept], root)) == ["content/a.txt"]


def test_folders_count_where_an_entry_says_so(root: Path) -> None:
    counted = FilesState(path="content", folders=True)
    before = snapshot([counted], root)

    (root / "content" / "empty" / "inner").mkdir(parents=True)
    (root / "content" / "deep" / "b.bin").unlink()
    (root / "content" / "deep").rmdir()

    assert difference(before, snapshot([counted], root)) == [
        ["content/deep/", "removed"],
        ["content/deep/b.bin", "removed"],
        ["content/empty/", "added"],
        ["content/empty/inner/", "added"],
    ]


def test_objects_of_a_list_are_named_by_their_fields(tmp_path: Path) -> None:
    source = JsonState(path="flows.json", key=["type", "id"], ignore=["x"])
    (tmp_path / "flows.json").write_text('[{"type": "tab", "id": "t1"}, {"id": "n1", "type": "debug", "x": 1, "y": 2}]')
    before = snapshot([source], tmp_path)

    (tmp_path / "flows.json").write_text('[{"type": "debug", "id": "n1", "y": 2, "x": 7}, {"type": "tab", "id": "t2"}]')

    assert sorted(before) == ["flows.json/debug/n1", "flows.json/tab/t1"]
    assert difference(before, snapshot([source], tmp_path)) == [
        ["flows.json/tab/t1", "removed"],
        ["flows.json/tab/t2", "added"],
    ]


def test_the_checksum_follows_the_state_and_nothing_else() -> None:
    state = {"a": "1", "b": "2"}
    assert checksum(state) == checksum({"b": "2", "a": "1"})
    assert len({checksum(s) for s in (state, {"a": "2", "b": "1"}, {"a": "1"}, {"a": "1b", "": "2"})}) == 4


def test_restore_brings_every_source_back(root: Path, template: Path) -> None:
    change(root, "DELETE FROM items; DROP INDEX by_name; CREATE TABLE more (x); UPDATE cache_pages SET body = 'new'")
    (root / "ledger.txt").write_text("")
    (root / "content" / "a.txt").unlink()
    (root / "content" / "new").write_text("")
    (root / "content" / "deep" / "b.bin").write_bytes(b"")

    restore(SOURCES, template, root)

    assert difference(snapshot(SOURCES, template), snapshot(SOURCES, root)) == []
    assert query(root / "shop.db", "SELECT body FROM cache_pages") == [("old",)]


def test_restore_leaves_no_new_folders_and_brings_back_lost_ones(root: Path, template: Path) -> None:
    counted = FilesState(path="content", folders=True)
    for where in (template, root):
        (where / "content" / "attic").mkdir()
    before = snapshot([counted], root)
    (root / "content" / "attic").rmdir()
    (root / "content" / "new" / "inner").mkdir(parents=True)
    (root / "content" / "new" / "inner" / "c.txt").write_text("c")

    restore([counted], template, root)

    assert snapshot([counted], root) == before
    assert not (root / "content" / "new").exists()


def test_restore_removes_a_database_the_template_lacks(root: Path, template: Path) -> None:
    (template / "shop.db").unlink()
    restore([DATABASE], template, root)
    assert not (root / "shop.db").exists()


def test_restore_works_under_the_connection_of_a_running_application(root: Path, template: Path) -> None:
    with closing(sqlite3.connect(root / "shop.db")) as application:
        application.execute("DELETE FROM items")
        application.commit()
        restore([DATABASE], template, root)
        assert application.execute("SELECT count(*) FROM items").fetchone() == (2,)


def test_restore_gives_up_on_a_database_that_stays_locked(
    root: Path, template: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(app_state, "_LOCK_SECONDS", 0.2)
    with closing(sqlite3.connect(root / "shop.db")) as application:
        application.execute("BEGIN EXCLUSIVE")
        with pytest.raises(sqlite3.OperationalError, match="stayed locked"):
            restore([DATABASE], template, root)


def test_restore_leaves_equal_files_alone(root: Path, template: Path) -> None:
    before = (root / "ledger.txt").stat().st_mtime_ns
    restore([LINES], template, root)
    assert (root / "ledger.txt").stat().st_mtime_ns == before


def test_a_restored_file_looks_new_to_a_watcher(root: Path, template: Path) -> None:
    (root / "ledger.txt").write_text("three\n")
    changed = (root / "ledger.txt").stat().st_mtime_ns
    restore([LINES], template, root)
    assert (root / "ledger.txt").stat().st_mtime_ns >= changed


def operation(kind: str, target: str, content: str) -> SetupOperation:
    return SetupOperation.model_validate({"kind": kind, "app_id": "a", "target": target, "content": content})


def test_set_up_runs_sql_writes_and_appends(root: Path) -> None:
    prepare(operation("sqlite", "shop.db", "DELETE FROM items WHERE name = 'lamp'"), root)
    prepare(operation("append", "ledger.txt", "灯\n"), root)
    prepare(operation("write", "content/new/c.txt", "c"), root)
    assert query(root / "shop.db", "SELECT name FROM items") == [("chair",)]
    assert (root / "ledger.txt").read_text(encoding="utf-8").endswith("one\n灯\n")
    assert (root / "content" / "new" / "c.txt").read_text() == "c"


def test_a_script_that_fails_leaves_nothing_half_done(root: Path) -> None:
    with pytest.raises(sqlite3.Error):
        run_script(root / "shop.db", "DELETE FROM items; INSERT INTO absent VALUES (1)")
    assert query(root / "shop.db", "SELECT count(*) FROM items") == [(2,)]


def test_a_query_cannot_write(root: Path) -> None:
    with pytest.raises(sqlite3.OperationalError, match="readonly"):
        query(root / "shop.db", "DELETE FROM items")


def test_a_query_does_not_make_a_database(tmp_path: Path) -> None:
    with pytest.raises(sqlite3.OperationalError, match="unable to open"):
        query(tmp_path / "absent.db", "SELECT 1")
    assert list(tmp_path.iterdir()) == []


def test_an_endless_query_is_ended(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(app_state, "_LOCK_SECONDS", 0.0)
    monkeypatch.setattr(app_state, "_QUERY_SECONDS", 0.2)
    endless = "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n"
    begun = time.monotonic()
    with pytest.raises(sqlite3.OperationalError, match="interrupted"):
        query(root / "shop.db", endless)
    assert time.monotonic() - begun < 5


@pytest.mark.parametrize("path", ["../x", "/etc/passwd", "content/../../x", "content/out/x"])
def test_paths_cannot_leave_the_data_folder(root: Path, path: str) -> None:
    (root / "content" / "out").symlink_to("/tmp")
    with pytest.raises(ValueError, match="leaves the data folder"):
        inside(root, path)
