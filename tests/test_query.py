"""What a statement is asked of: sound parts only, each run once, and a word about everything that was left out."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from pipeline import manifest
from pipeline.cli import app
from pipeline.commands.shell import run
from pipeline.compact import compact
from pipeline.dataset import Dataset
from pipeline.errors import ConfigError
from pipeline.query import VIEWS, Damage, ask, query, view_sql
from pipeline.redact import redact
from tests.datasets import attempt, collected, judging, verdict


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
    name = manifest.object_names(folder)[-1]
    (folder / name.path).write_text("{")

    (damage,) = ask("SELECT 1", [folder]).damaged

    assert damage == Damage(str(folder), 0, [], 1)


def test_left_out_parts_are_told_on_standard_error(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    flip(folder, "steps")
    flip(folder, "frames")

    code = run(app, ["query", str(folder), "--format", "csv", "SELECT count(*) AS n FROM steps, frames"])

    captured = capsys.readouterr()
    assert (code, captured.out) == (0, "n\n0\n")
    assert captured.err == (f"note: 2 damaged parts were left out (frames, steps); run `pathproof check {folder}`\n")


@pytest.mark.parametrize("sql", ["", " ", "/* nothing */", ";"])
def test_sql_that_says_nothing_is_the_users_mistake(sql: str, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(app, ["query", str(folder), sql]) == 2
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
