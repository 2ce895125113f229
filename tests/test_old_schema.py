"""Folders of older schema versions stay readable: the stored one of version 1, and one that lacks columns."""

from __future__ import annotations

import hashlib
import shutil
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from pipeline import manifest
from pipeline.check import check
from pipeline.compact import compact
from pipeline.dataset import Dataset
from pipeline.errors import RunError
from pipeline.manifest import PartRef
from pipeline.query import VIEWS, connect, query, sound_parts, views_sql
from pipeline.records import Record, Step, Trajectory
from pipeline.schema import SCHEMA_VERSION, TABLES, describe, schema_of
from pipeline.structs import Box, Sensitive
from pipeline.tasks import TaskSpec
from pipeline.widening import widened
from tests.datasets import attempt, collected, listed_as, relisted
from tests.runs import rows

STORED = Path(__file__).parent / "fixtures" / "dataset-v1"

LACKING = ("substep", "flags", "error_detail")
"""Columns of `steps` that an imagined older version did not have: a number, a list, and one that may be null."""


@pytest.fixture
def stored(tmp_path: Path) -> Path:
    """A copy of the stored dataset, which nothing may change; its views name the folder, so they are written here."""
    folder = Path(shutil.copytree(STORED, tmp_path / "data"))
    parts = manifest.current_parts(manifest.survey(folder).lines)
    text = views_sql({str(folder / path): part for path, part in parts.items()})
    (folder / "views.sql").write_text(text, encoding="utf-8")
    return folder


def test_stored_dataset_is_sound(stored: Path) -> None:
    assert check(stored) == []


def test_columns_of_the_stored_version_are_all_declared_still() -> None:
    """A column may be added; one that is renamed or removed makes stored datasets lose it."""
    declared = set(_columns(describe()))

    assert set(_columns(STORED.with_name("dataset-v1-columns.txt").read_text(encoding="utf-8"))) <= declared


def _columns(text: str) -> list[tuple[str, str]]:
    """Table and column, of each line of a description."""
    found, table = [], ""
    for line in text.splitlines():
        if line.startswith(" "):
            found.append((table, line.strip().split(":")[0]))
        else:
            table = line
    return found


def test_stored_dataset_is_read_as_records(stored: Path) -> None:
    dataset = Dataset(stored)

    assert [row.attempt_id for row in dataset.rows(Trajectory)] == ["t1-1", "t2-1", "t3-1", "t4-1"]
    assert len(dataset.rows(TaskSpec)) == 1
    record = dataset.record("t2-1")
    assert [step.action.type if step.action else None for step in record.steps] == ["Click", "Type", "Finished"]
    assert set(record.frames) == {look.frame_sha256 for look in record.observations if look.frame_sha256}


@pytest.mark.parametrize("name", [*TABLES, *VIEWS])
def test_stored_dataset_answers_every_table_and_view(stored: Path, name: str) -> None:
    assert query(f"SELECT * FROM {name}", [stored]).column_names


def test_stored_dataset_is_graded_as_it_was(stored: Path) -> None:
    assert rows(stored, "SELECT attempt_id FROM accepted ORDER BY 1") == [("t1-1",), ("t2-1",)]


# --- a version that lacked columns -----------------------------------------------------------------------------------


@pytest.fixture
def older(stored: Path) -> Path:
    """The stored dataset, its first part of steps as a version 0 without some columns would have written it."""
    _rewrite(stored, _filled(stored, "steps"), lambda table: table.drop_columns(LACKING), version=0)
    return stored


def _filled(folder: Path, table: str) -> PartRef:
    """The first part of a table that has rows."""
    parts = manifest.current_parts(manifest.survey(folder).lines).values()
    return next(part for part in parts if part.table == table and part.rows)


def _rewrite(folder: Path, part: PartRef, change: Callable[[pa.Table], pa.Table], version: int) -> None:
    path = folder / part.path
    pq.write_table(change(pq.read_table(path, partitioning=None)), path)
    data = path.read_bytes()
    digest = hashlib.sha256(data).hexdigest()
    relisted(folder, listed_as(part.path, bytes=len(data), sha256=digest, schema_version=version))


def test_older_part_is_sound(older: Path) -> None:
    assert check(older) == []


def test_missing_columns_are_null_or_the_records_default(older: Path) -> None:
    steps = Dataset(older).rows(Step)

    assert {(step.substep, tuple(step.flags), step.error_detail) for step in steps} == {(0, (), None)}


def test_some_columns_of_an_older_part_can_be_read(older: Path) -> None:
    table = Dataset(older).table("steps", ["step_index", "flags"])

    assert table.schema.names == ["step_index", "flags"]
    assert set(map(tuple, table.column("flags").to_pylist())) == {()}


def test_query_over_versions_shows_the_declared_columns(older: Path, tmp_path: Path) -> None:
    other = collected(tmp_path / "other", [attempt("t1"), attempt("t2")], run_id="run-b")
    count = sum(Dataset(folder).table("steps").num_rows for folder in (older, other))

    found = query("SELECT * FROM steps", [older, other])

    assert found.schema.names == schema_of("steps").names
    assert set(found.column("substep").to_pylist()) == {0}
    assert all(flags is not None for flags in found.column("flags").to_pylist())
    assert found.num_rows == count


def test_views_answer_over_an_older_part(older: Path) -> None:
    before = rows(STORED, "SELECT attempt_id, step_index FROM rl_steps ORDER BY ALL")

    assert rows(older, "SELECT attempt_id, step_index FROM rl_steps ORDER BY ALL") == before


def test_compaction_brings_an_older_part_to_the_declared_schema(older: Path) -> None:
    compact(older)

    part = _filled(older, "steps")
    assert part.schema_version == SCHEMA_VERSION
    assert pq.read_schema(older / part.path).equals(schema_of("steps"))
    assert check(older) == []


# --- the name that version 1 had for the class of a region ---------------------------------------------------------

BOX = {"left": 1, "top": 2, "right": 3, "bottom": 4}
OF_VERSION_1 = pa.list_(pa.struct([("kind", pa.string()), ("box", pa.struct([(side, pa.int64()) for side in BOX]))]))


@pytest.fixture(params=["frames", "trees"])
def flagged(request: pytest.FixtureRequest, stored: Path) -> tuple[Path, str]:
    """The stored dataset with a region in each row of its pictures, or of its trees, as version 1 wrote it."""
    table: str = request.param

    def flag(rows: pa.Table) -> pa.Table:
        regions = pa.array([[{"kind": "password", "box": BOX}]] * len(rows), OF_VERSION_1)
        return rows.set_column(rows.column_names.index("sensitive"), "sensitive", regions)

    _rewrite(stored, _filled(stored, table), flag, version=1)
    return stored, table


def test_kind_of_an_older_region_is_its_class(flagged: tuple[Path, str]) -> None:
    folder, table = flagged

    regions = Dataset(folder).table(table, ["sensitive"]).column(0).to_pylist()

    assert [{"class": "password", "box": BOX}] in regions
    assert check(folder) == []


def test_query_shows_older_and_newer_regions_alike(flagged: tuple[Path, str], tmp_path: Path) -> None:
    folder, table = flagged
    newer = collected(tmp_path / "other", [attempt("t9")], run_id="run-b")

    found = query(f"SELECT DISTINCT unnest(sensitive) AS region FROM {table}", [folder, newer])

    assert found.to_pylist() == [{"region": {"class": "password", "box": BOX}}]


def test_compaction_renames_the_kind_of_an_older_region(flagged: tuple[Path, str]) -> None:
    folder, table = flagged

    compact(folder)

    assert pq.read_schema(folder / _filled(folder, table).path).equals(schema_of(table))
    assert [{"class": "password", "box": BOX}] in Dataset(folder).table(table, ["sensitive"]).column(0).to_pylist()


# --- older parts that are none ---------------------------------------------------------------------------------------


def _cast(column: str, kind: pa.DataType) -> Callable[[pa.Table], pa.Table]:
    def change(table: pa.Table) -> pa.Table:
        index = table.column_names.index(column)
        return table.set_column(index, pa.field(column, kind), table.column(column).cast(kind))

    return change


def _set(column: str, kind: pa.DataType) -> Callable[[pa.Table], pa.Table]:
    def change(table: pa.Table) -> pa.Table:
        return table.set_column(table.column_names.index(column), column, pa.nulls(len(table), kind))

    return change


PRESENT = pa.list_(pa.struct([("class", pa.string()), ("box", pa.struct([(side, pa.int64()) for side in BOX]))]))

MISFITS: dict[str, tuple[str, Callable[[pa.Table], pa.Table], str, str]] = {
    "naive times": ("attempts", _cast("started_at", pa.timestamp("us")), "naive_timestamp", "attempts.started_at has"),
    "text for a number": ("steps", _cast("step_index", pa.string()), "schema_drift", "steps.step_index is string"),
    "a number for a struct": ("steps", _set("usage", pa.int64()), "schema_drift", "steps.usage is int64"),
    "no type": ("verdicts", _set("share", pa.null()), "schema_drift", "verdicts.share is null"),
    "another column": (
        "steps",
        lambda table: table.append_column("colour", pa.nulls(len(table), pa.string())),
        "schema_drift",
        "steps.colour is not declared",
    ),
    "no column": ("steps", lambda table: table.drop_columns(["reply"]), "schema_drift", "steps.reply is missing"),
    "no run": ("steps", lambda table: table.drop_columns(["run_id"]), "schema_drift", "steps.run_id is missing"),
    "no regions": ("frames", lambda table: table.drop_columns(["sensitive"]), "schema_drift", "frames.sensitive is"),
    "no box": (
        "trees",
        _set("sensitive", pa.list_(pa.struct([("kind", pa.string())]))),
        "schema_drift",
        "trees.sensitive.box is missing",
    ),
    "the present name": ("trees", _set("sensitive", PRESENT), "schema_drift", "trees.sensitive.class is not declared"),
    "another field": (
        "attempts",
        _set("environment", pa.struct([("wheels", pa.int64())])),
        "schema_drift",
        "attempts.environment.wheels is not declared",
    ),
    "no field": (
        "attempts",
        _set("environment", pa.struct([("driver", pa.string())])),
        "schema_drift",
        "attempts.environment.provider is missing",
    ),
}


@pytest.mark.parametrize("name", MISFITS)
def test_older_part_that_cannot_be_widened_is_named_and_left_out(name: str, stored: Path) -> None:
    table, change, kind, says = MISFITS[name]
    part = _filled(stored, table)
    _rewrite(stored, part, change, version=1)

    (finding,) = check(stored)

    assert (finding.kind, finding.path) == (kind, part.path)
    assert finding.detail.startswith(says) and finding.detail.endswith("(version 1)")
    assert query(f"SELECT * FROM {table}", [stored]).num_rows == 0
    with connect({stored: sound_parts(stored)}) as connection:
        for view in VIEWS:
            connection.sql(f"SELECT * FROM {view}").to_arrow_table()


@pytest.mark.parametrize("name", ["naive times", "text for a number", "another column", "no column", "no run"])
def test_compaction_refuses_what_it_would_lose_or_invent(name: str, stored: Path) -> None:
    table, change, kind, _ = MISFITS[name]
    _rewrite(stored, _filled(stored, table), change, version=1)

    with pytest.raises(RunError):
        compact(stored)

    assert [finding.kind for finding in check(stored) if finding.severity == "error"] == [kind]


# --- there and back --------------------------------------------------------------------------------------------------


def _of_version_1(table: pa.Table) -> pa.Table:
    """The rows as the first version wrote them."""
    index = table.column_names.index("sensitive")
    regions = [
        [{"kind": region["class"], "box": region["box"]} for region in row] for row in table.column(index).to_pylist()
    ]
    return table.set_column(index, "sensitive", pa.array(regions, OF_VERSION_1))


def test_records_come_back_from_an_older_version_as_they_were(tmp_path: Path) -> None:
    made = [_flagged(attempt(name)) for name in ("t1", "t2")]
    folder = collected(tmp_path, made)
    for part in manifest.current_parts(manifest.survey(folder).lines).values():
        change = _of_version_1 if part.table in ("frames", "trees") else _as_it_is
        _rewrite(folder, part, change, version=1)
    assert {part.schema_version for part in manifest.current_parts(manifest.survey(folder).lines).values()} == {1}

    for _ in ("read as it is", "read after it was brought to the present form"):
        dataset = Dataset(folder)
        assert [dataset.record(record.attempt.attempt_id) for record in made] == made
        assert [finding.kind for finding in check(folder)] == []
        compact(folder)


def _as_it_is(table: pa.Table) -> pa.Table:
    return table


def _flagged(record: Record) -> Record:
    region = Sensitive(class_="password", box=Box(**BOX))
    return record.model_copy(
        update={
            kind: {name: row.model_copy(update={"sensitive": [region]}) for name, row in getattr(record, kind).items()}
            for kind in ("frames", "trees")
        }
    )


def test_compaction_of_the_stored_dataset_keeps_every_row(stored: Path) -> None:
    before = {table: Dataset(stored).table(table).to_pylist() for table in TABLES}

    compact(stored)

    dataset = Dataset(stored)
    assert {table: dataset.table(table).to_pylist() for table in TABLES} == before
    assert {part.schema_version for table in TABLES for part in dataset.parts(table)} == {SCHEMA_VERSION}


# --- widening --------------------------------------------------------------------------------------------------------


def test_struct_within_a_list_gets_what_it_lacks() -> None:
    node = {"role": "link", "name": "New"}
    table = pa.table({"run_id": ["r"], "sha256": ["a"], "nodes": [[node]], "sensitive": pa.nulls(1)})

    (row,) = widened(table, "trees").to_pylist()

    assert row["nodes"][0]["role"] == "link" and row["nodes"][0]["box"] is None


def test_value_that_has_no_default_is_never_invented() -> None:
    table = pa.table({"run_id": ["r"], "prompt_sha256": ["a"]})

    with pytest.raises(RunError, match=r"prompts.text: has no value in an older part"):
        widened(table, "prompts")


def test_type_that_does_not_fit_is_refused() -> None:
    table = pa.table({"run_id": ["r"], "prompt_sha256": ["a"], "text": [7]})

    with pytest.raises(RunError, match="do not fit the declared schema"):
        widened(table, "prompts")


def test_field_of_a_struct_that_is_not_declared_is_refused() -> None:
    table = pa.table({"sensitive": [[{"colour": "red"}]]})

    with pytest.raises(RunError, match=r"colour: is not declared, and would be lost"):
        widened(table, "trees")


def test_times_without_a_zone_are_refused() -> None:
    table = pa.table({"judged_at": pa.array([0], pa.timestamp("us"))})

    with pytest.raises(RunError, match="without a zone"):
        widened(table, "passes")
