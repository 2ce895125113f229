"""What a statement is asked of: sound parts only, each run once, and a word about everything that was left out."""

from __future__ import annotations

import importlib
import json
import re
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import duckdb
import pytest

import pipeline.query
from pipeline import manifest
from pipeline.check import check
from pipeline.cli import app_for
from pipeline.commands.shell import run
from pipeline.compact import compact
from pipeline.dataset import Dataset
from pipeline.errors import ConfigError, RunError
from pipeline.query import VIEWS, Damage, ask, query, view_sql
from pipeline.redact import redact
from pipeline.storage import Storage, storage_of
from tests.datasets import attempt, collected, judging, verdict
from tests.objectstore import contents
from tests.runs import fingerprint


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return collected(tmp_path / "run", [attempt("t1"), attempt("t2")], [judging(), verdict("t1-1"), verdict("t2-1")])


def flip(folder: Path, table: str) -> None:
    """Change one bit in the middle of a table's newest part, which its size and footer do not show."""
    part = [one for one in Dataset(folder).parts(table) if one.rows][-1]
    data = bytearray((folder / part.path).read_bytes())
    data[100] ^= 1
    (folder / part.path).write_bytes(data)


def test_whole_folder_is_answered_without_a_word(folder: Path) -> None:
    answer = ask("SELECT count(*) AS n FROM steps", [folder])

    assert (answer.rows.to_pylist(), answer.damaged) == ([{"n": 6}], [])


@pytest.mark.parametrize("table", ["steps", "frames", "trees"])
def test_damaged_part_is_left_out_and_named(table: str, folder: Path) -> None:
    flip(folder, table)

    answer = ask(f"SELECT count(*) AS n FROM {table}", [folder])

    assert answer.rows.to_pylist() == [{"n": 0}]
    assert answer.damaged == [Damage(str(folder), 1, [table], 0)]


@pytest.mark.parametrize("spelling", ["FRAMES", '"frames"', "(FROM Frames)", "frames AS f"])
def test_damaged_pictures_are_never_shown(spelling: str, folder: Path) -> None:
    flip(folder, "frames")

    assert query(f"SELECT image.bytes FROM {spelling}", [folder]).num_rows == 0


def test_pictures_are_not_hashed_for_a_statement_that_does_not_name_them(folder: Path) -> None:
    flip(folder, "frames")

    assert ask("SELECT * FROM rl_steps", [folder]).damaged == []


@pytest.mark.parametrize("view", VIEWS)
def test_no_view_reads_what_a_statement_does_not_name(view: str) -> None:
    assert not re.search(r"\b(?:frames|trees)\b", view_sql(view))


def test_damaged_manifest_is_told(folder: Path) -> None:
    name = manifest.survey(folder).counted[-1]
    (folder / name.path).write_text("{")

    (damage,) = ask("SELECT 1", [folder]).damaged

    assert damage == Damage(str(folder), 0, [], 1)


@pytest.mark.parametrize("gap", ["lost", "emptied"])
def test_gap_in_the_manifest_is_told_in_one_line(gap: str, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = folder / manifest.survey(folder).counted[-1].path
    path.write_bytes(b"") if gap == "emptied" else path.unlink()

    code = run(app_for(), ["query", str(folder), "--format", "csv", "SELECT count(*) AS n FROM verdicts"])

    captured = capsys.readouterr()
    assert (code, captured.out) == (0, "n\n0\n")
    assert captured.err.startswith("note: 1 file of the manifest cannot be read or trusted, or cannot be found")
    assert captured.err.endswith(f"; run `pathproof check {folder}`\n") and captured.err.count("\n") == 1


@pytest.mark.parametrize("moment", ["pipeline.soundness.examined", "pipeline.query._run", "pipeline.query.connect"])
def test_query_beside_a_compaction_looks_again(moment: str, storage: Storage, monkeypatch: pytest.MonkeyPatch) -> None:
    collected(storage, [attempt("t1"), attempt("t2")])
    module, _, name = moment.rpartition(".")
    real, times = getattr(importlib.import_module(module), name), [1]

    def beside(*args: Any, **more: Any) -> Any:
        if times:
            times.clear()
            compact(storage)
        return real(*args, **more)

    monkeypatch.setattr(moment, beside)

    answer = ask("SELECT count(*) AS n FROM steps", [storage])

    assert (answer.rows.to_pylist(), answer.damaged) == ([{"n": 6}], [])


@pytest.mark.parametrize("read", [lambda where: query("FROM steps ORDER BY ALL", [where]), check])
def test_part_that_vanishes_once_it_is_allowed_is_never_called_forbidden(
    read: Callable[[Storage], Any], storage: Storage, monkeypatch: pytest.MonkeyPatch
) -> None:
    collected(storage, [attempt("t1"), attempt("t2")])
    whole, real, times = read(storage), pipeline.query._confine, [1]

    def confine(*args: Any) -> None:
        real(*args)
        if times:
            times.clear()
            compact(storage)

    monkeypatch.setattr("pipeline.query._confine", confine)

    assert read(storage) == whole and not times


def test_parts_that_never_stop_vanishing_are_named(storage: Storage, monkeypatch: pytest.MonkeyPatch) -> None:
    collected(storage, [attempt("t1")])
    part = next(one for one in Dataset(storage).parts("steps") if one.rows)
    data, real = storage.read(part.path), pipeline.query._confine

    def confine(*args: Any) -> None:
        real(*args)
        storage.delete(part.path)

    def back(*args: Any) -> Any:
        storage.replace(part.path, data)
        return seen(*args)

    seen = pipeline.query._seen
    monkeypatch.setattr("pipeline.query._confine", confine)
    monkeypatch.setattr("pipeline.query._seen", back)

    with pytest.raises(RunError, match=rf"{part.path} has vanished while it was read: is a compaction at work"):
        query("SELECT * FROM steps", [storage])


def test_left_out_parts_are_told_on_standard_error(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    flip(folder, "steps")
    flip(folder, "frames")

    code = run(app_for(), ["query", str(folder), "--format", "csv", "SELECT count(*) AS n FROM steps, frames"])

    captured = capsys.readouterr()
    assert (code, captured.out) == (0, "n\n0\n")
    assert captured.err == (f"note: 2 damaged parts were left out (frames, steps); run `pathproof check {folder}`\n")


@pytest.mark.parametrize("sql", ["", " ", "/* nothing */", ";"])
def test_sql_that_says_nothing_is_the_users_mistake(sql: str, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(app_for(), ["query", str(folder), sql]) == 2
    assert capsys.readouterr().err == "error: query: the SQL is empty; for example: SELECT * FROM yield_by_app\n"


def test_run_and_its_redacted_copy_are_refused_together(folder: Path, tmp_path: Path) -> None:
    redact(folder, tmp_path / "public")

    with pytest.raises(ConfigError) as caught:
        query("SELECT 1", [folder, tmp_path / "public"])

    for said in (str(folder), str(tmp_path / "public"), "the same run, run-a", "give one of them"):
        assert said in str(caught.value)


def test_run_and_its_compacted_copy_are_refused_together(tmp_path: Path) -> None:
    first, second = (collected(tmp_path / name, [attempt("t1")]) for name in ("one", "two"))
    compact(second)
    (second / "run.json").write_text("{")

    with pytest.raises(ConfigError, match="hold the same run"):
        query("SELECT 1", [first, second])


def test_one_folder_given_twice_is_one_folder(folder: Path) -> None:
    assert query("SELECT * FROM steps", [folder, f"{folder}/"]).num_rows == 6


def test_different_runs_and_empty_ones_are_one_dataset(folder: Path, tmp_path: Path) -> None:
    other = collected(tmp_path / "other", [attempt("t1")], run_id="run-b")
    empty = tmp_path / "empty"
    (empty / "manifest").mkdir(parents=True)

    assert query("SELECT * FROM steps", [folder, other, empty]).num_rows == 9


@pytest.fixture(scope="module")
def still(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder that stays as it is, with a file beside its tables."""
    made = collected(tmp_path_factory.mktemp("still") / "run", [attempt("t1")])
    (made / "private").write_text("key")
    return made


WRITING = {
    "COPY": "COPY steps TO '{folder}/new'",
    "COPY over a part": "-- all of it\nCOPY (SELECT 1 AS a) TO '{part}' (FORMAT parquet, USE_TMP_FILE false)",
    "COPY explained": "EXPLAIN ANALYZE COPY (SELECT 1 AS a) TO '{part}' (FORMAT parquet, USE_TMP_FILE false)",
    "COPY at last": "SELECT 1; COPY steps TO '{folder}/new'",
    "ATTACH": "ATTACH '{folder}/new'",
    "EXPORT": "EXPORT DATABASE '{folder}/new'",
    "LOAD": "INSTALL httpfs; LOAD httpfs",
    "SET": "SET enable_external_access = true",
    "PREPARE": "PREPARE p AS COPY steps TO '{folder}/new'; EXECUTE p",
    "PRAGMA": "PRAGMA version",
}


@pytest.mark.parametrize("kind", WRITING)
def test_statement_that_does_more_than_read_is_refused_and_told_what_to_do(kind: str, still: Path) -> None:
    before = fingerprint(still)
    part = still / Dataset(still).parts("steps")[0].path

    with pytest.raises(ConfigError) as caught:
        query(WRITING[kind].format(folder=still, part=part), [still])

    assert str(caught.value) == (
        f"query: {kind.split()[0]} is refused, for a statement may only read; "
        "to keep its rows: --format parquet > rows.parquet"
    )
    assert fingerprint(still) == before


OUTSIDE = {
    "a text": "SELECT * FROM read_text('{}')",
    "a table": "SELECT * FROM read_parquet('{}')",
    "a pattern": "SELECT * FROM glob('{}*')",
    "in a view": "CREATE VIEW v AS SELECT * FROM read_csv('{}'); SELECT * FROM v",
    "in a subquery": "SELECT (SELECT max(content) FROM read_text('{}')) FROM steps",
    "a secret to keep": "CREATE PERSISTENT SECRET keys (TYPE s3, KEY_ID '{}', SECRET 'b')",
}


@pytest.mark.parametrize("where", OUTSIDE)
def test_nothing_but_the_dataset_can_be_read(where: str, still: Path) -> None:
    for place in (still / "private", "/etc/hostname"):
        with pytest.raises(ConfigError, match="query: nothing but the dataset can be read") as caught:
            query(OUTSIDE[where].format(place), [still])
        assert "\n" not in str(caught.value)


def test_what_a_statement_defines_serves_the_statements_after_it(still: Path) -> None:
    rows = query("CREATE TABLE typed AS FROM steps WHERE action.type = 'Type'; SELECT * FROM typed", [still])

    assert rows.num_rows == 1
    assert query("DESCRIBE rl_steps", [still]).num_rows > 20


@pytest.mark.parametrize(
    "sql", ["SELECT 1; SELECT 2", "FROM steps; CREATE TABLE a AS FROM steps", "EXPLAIN SELECT 1; FROM steps"]
)
def test_second_answer_is_refused_rather_than_dropped(sql: str, still: Path) -> None:
    with pytest.raises(ConfigError, match="query: one answer at a time"):
        query(sql, [still])


@pytest.mark.parametrize("name", ["run-*", "run-?", "run-[1]", "**", "it's {a,b} [", "a\\b"])
def test_folder_is_never_a_pattern(name: str, tmp_path: Path) -> None:
    folder = collected(tmp_path / name, [attempt("t1")])
    beside = collected(tmp_path / "run-1", [attempt("t2")], run_id="run-b")

    for table in ("steps", "frames"):
        runs = f"SELECT DISTINCT run_id FROM {table}"
        assert query(runs, [folder]).to_pylist() == [{"run_id": "run-a"}]
        assert query(runs, [folder, beside]).num_rows == 2
    with duckdb.connect() as bare:
        bare.execute((folder / "views.sql").read_text())
        assert bare.sql("SELECT DISTINCT run_id FROM steps").fetchall() == [("run-a",)]


def test_store_is_read_by_name_only_and_never_written(bucket: str) -> None:
    storage = storage_of(f"{bucket}/run-[1]*")
    collected(storage, [attempt("t1")])
    storage_of(f"{bucket}/run-1").create("steps/private", b"key")
    part = storage.url(Dataset(storage).parts("steps")[0].path)
    before = contents(storage)

    assert query("SELECT * FROM steps", [storage]).num_rows == 3
    for sql in (f"SELECT * FROM read_text('{bucket}/run-1/steps/private')", f"SELECT * FROM glob('{bucket}/**')"):
        with pytest.raises(ConfigError, match="nothing but the dataset can be read"):
            query(sql, [storage])
    with pytest.raises(ConfigError, match="COPY is refused"):
        query(f"COPY (SELECT 1 AS a) TO '{part}'", [storage])
    assert contents(storage) == before


ODD = {
    "'-infinity'::TIMESTAMPTZ": "-infinity",
    "'infinity'::DATE": "infinity",
    "DATE '20000-01-01'": "20000-01-01",
    "[TIMESTAMP 'infinity', NULL]": ["infinity", None],
    "{'at': DATE '-infinity'}": {"at": "-infinity"},
    "MAP {TIMESTAMP '2020-01-01': TIMESTAMP 'infinity'}": {"2020-01-01T00:00:00": "infinity"},
    "MAP {'a': 1}": {"a": 1},
    "INTERVAL 1 MONTH": "1 month",
    "TIMESTAMP '2020-01-02' - TIMESTAMP '2020-01-01'": "1 day",
    "[{'it''s \"so\"': INTERVAL 1 DAY}]": [{'it\'s "so"': "1 day"}],
    "MAP {'a': [INTERVAL 1 DAY]}": {"a": ["1 day"]},
    "340282366920938463463374607431768211455::UHUGEINT": "340282366920938463463374607431768211455",
    "'101'::BIT": "101",
    "'10:00:00+02'::TIMETZ": "10:00:00+02",
    "union_value(x := 1)": "1",
}


@pytest.mark.parametrize("sql", ODD)
def test_values_that_python_or_parquet_has_no_type_for_are_told_in_words(
    sql: str, still: Path, tmp_path: Path, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    statement = f"SELECT {sql} AS odd, 1 AS odd"

    for shape in ("table", "csv", "json", "parquet"):
        assert run(app_for(), ["query", str(still), "--format", shape, statement]) == 0
        sys.stdout.flush()
        out = capfdbinary.readouterr().out
        if shape == "json":
            assert json.loads(out) == {"odd": ODD[sql], "odd:1": 1}
    (tmp_path / "rows.parquet").write_bytes(out)
    with duckdb.connect() as bare:
        bare.execute(f"CREATE TABLE kept AS SELECT odd::VARCHAR AS odd FROM '{tmp_path}/rows.parquet'")
        assert bare.sql(f"SELECT odd FROM kept WHERE odd = ({sql})::VARCHAR").fetchall()
