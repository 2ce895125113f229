"""Compaction keeps every row, finds every attempt, widens what has drifted, and survives being killed."""

from __future__ import annotations

import hashlib
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from pipeline import manifest
from pipeline.check import check
from pipeline.compact import Compaction, compact
from pipeline.dataset import Dataset
from pipeline.errors import ConfigError, RunError
from pipeline.manifest import PartRef
from pipeline.query import connect, sound_parts
from pipeline.schema import TABLES, schema_of
from pipeline.storage import Storage, driver_lock, storage_of
from tests.datasets import attempt, begin, collected, faulty, judging, listed_as, put, relisted, verdict
from tests.objectstore import contents
from tests.runs import one

NAMES = ("t1", "t2", "t3", "t4")


def filled(storage: Storage) -> Storage:
    """A finished run whose workers each wrote two attempts on their own."""
    committer = begin(storage)
    for worker in ("w0", "w1"):
        for number, name in enumerate(NAMES[:2] if worker == "w0" else NAMES[2:]):
            put(committer, storage, [attempt(name)], worker=f"{worker}.{number}")
    put(committer, storage, [faulty("t5", final=False)], worker="w2")
    committer.record([judging(), *(verdict(f"{name}-1") for name in NAMES)])
    committer.finish()
    return storage


def rows_of(storage: Storage) -> dict[str, list[str]]:
    """Every row of every table as text, sorted; pictures and trees once per hash."""
    with connect({storage: sound_parts(storage)}) as tables:
        found = {table: tables.sql(f"SELECT * FROM {table}").to_arrow_table().to_pylist() for table in TABLES}
    return {table: sorted(map(str, rows)) for table, rows in found.items()}


def current(storage: Storage) -> dict[str, PartRef]:
    return manifest.current_parts(manifest.survey(storage).lines)


def kinds(storage: Storage) -> set[tuple[str, str]]:
    return {(finding.severity, finding.kind) for finding in check(storage)}


def test_every_row_is_kept_in_one_part_per_table(storage: Storage) -> None:
    before = rows_of(filled(storage))

    done = compact(storage)

    assert rows_of(storage) == before
    assert done.after == len(TABLES) < done.before
    assert check(storage) == []


def test_every_attempt_is_found_as_it_was(storage: Storage) -> None:
    filled(storage)

    compact(storage)

    dataset = Dataset(storage)
    for name in NAMES:
        assert dataset.record(f"{name}-1") == attempt(name)


def test_replaced_files_are_gone(storage: Storage) -> None:
    filled(storage)

    compact(storage)

    there = {key for key in contents(storage) if key.endswith(".parquet")}
    assert there == set(current(storage))


def test_second_compaction_starts_nothing(storage: Storage) -> None:
    compact(filled(storage))
    before = contents(storage)

    done = compact(storage)

    assert done == Compaction(len(TABLES), len(TABLES))
    assert contents(storage) == before


def test_pictures_and_trees_that_repeat_are_stored_once(tmp_path: Path) -> None:
    storage = filled(storage_of(tmp_path))
    assert stored(storage, "frames") > distinct(storage, "frames")

    compact(storage)

    for table in ("frames", "trees"):
        assert stored(storage, table) == distinct(storage, table)


def stored(storage: Storage, table: str) -> int:
    return sum(part.rows for part in current(storage).values() if part.table == table)


def distinct(storage: Storage, table: str) -> int:
    return int(str(one(Path(storage.address), f"SELECT count(DISTINCT sha256) FROM {table}")))


def test_large_names_are_left_alone_and_their_pictures_not_repeated(tmp_path: Path) -> None:
    storage = filled(storage_of(tmp_path))
    weights = weights_by_name(storage)
    heaviest = max(weights, key=weights.__getitem__)
    before = rows_of(storage)

    compact(storage, target_bytes=2 * weights[heaviest])

    assert heaviest in weights_by_name(storage)
    assert rows_of(storage) == before
    assert stored(storage, "frames") == distinct(storage, "frames")


def test_batches_end_when_they_reach_the_target(tmp_path: Path) -> None:
    storage = filled(storage_of(tmp_path))
    before = rows_of(storage)

    compact(storage, target_bytes=sum(weights_by_name(storage).values()) // 3)

    names = weights_by_name(storage)
    assert 1 < len(names) <= 4
    assert rows_of(storage) == before
    assert check(storage) == []


def weights_by_name(storage: Storage) -> dict[str, int]:
    weights: dict[str, int] = {}
    for part in current(storage).values():
        weights[part.stem] = weights.get(part.stem, 0) + part.bytes
    return weights


def test_pictures_keep_their_hugging_face_metadata(tmp_path: Path) -> None:
    storage = filled(storage_of(tmp_path))

    compact(storage)

    (part,) = [part for part in current(storage).values() if part.table == "frames"]
    metadata = pq.read_schema(tmp_path / part.path).metadata
    assert metadata[b"huggingface"] == schema_of("frames").metadata[b"huggingface"]


def test_run_goes_on_after_a_compaction(storage: Storage) -> None:
    committer = begin(storage)
    put(committer, storage, [attempt("t1")])
    put(committer, storage, [attempt("t2")], worker="w1")

    compact(storage)

    assert Dataset(storage).finished_trajectories() == {"t1", "t2"}
    with pytest.raises(RunError, match="taken over"):
        put(committer, storage, [attempt("t3")], worker="w2")


@pytest.mark.parametrize("ended", [True, False])
def test_run_is_finished_after_it_if_it_was_before(ended: bool, storage: Storage) -> None:
    committer = begin(storage)
    put(committer, storage, [attempt("t1")])
    if ended:
        committer.finish()
    was = manifest.read_run(storage)

    done = compact(storage)

    assert done.after < done.before
    found = manifest.read_run(storage)
    assert (found.state, found.finished_at) == (was.state, was.finished_at)
    assert check(storage) == []


def test_folder_in_use_is_refused(tmp_path: Path) -> None:
    filled(storage_of(tmp_path))

    with driver_lock(tmp_path), pytest.raises(RunError, match="in use"):
        compact(tmp_path)


def test_folder_that_is_no_dataset_is_the_users_mistake(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="not a dataset folder"):
        compact(tmp_path)


def test_unsound_part_stops_it_before_anything_is_changed(storage: Storage) -> None:
    filled(storage)
    part = next(part for part in current(storage).values() if part.table == "steps" and part.rows)
    storage.replace(part.path, storage.read(part.path)[:-20])
    before = contents(storage)

    with pytest.raises(RunError, match=rf"{part.path}: half_file"):
        compact(storage)

    assert contents(storage) == before


def test_damage_in_a_large_name_that_stays_stops_it_too(tmp_path: Path) -> None:
    storage = filled(storage_of(tmp_path))
    weights = weights_by_name(storage)
    heaviest = max(weights, key=weights.__getitem__)
    path = tmp_path / f"frames/{heaviest}.parquet"
    path.write_bytes(path.read_bytes()[:100] + b"?" + path.read_bytes()[101:])

    with pytest.raises(RunError, match=rf"frames/{heaviest}.parquet: .*run `pathproof check`"):
        compact(storage, target_bytes=2 * weights[heaviest])


# --- drift ---------------------------------------------------------------------------------------------------------


def rewritten(storage: Storage, part: PartRef, change: Callable[[pa.Table], pa.Table]) -> None:
    """Rewrite a part as another writer would have written it, and list it so."""
    key = part.path
    table = change(pq.read_table(key, filesystem=storage.files, partitioning=None))
    storage.delete(key)
    with storage.new_file(key) as file:
        pq.write_table(table, file, write_page_checksum=True)
    facts = {
        "bytes": storage.size(key),
        "sha256": hashlib.sha256(storage.read(key)).hexdigest(),
        "rows": table.num_rows,
    }
    relisted(storage, listed_as(key, **facts))


def only_fields(*names: str) -> Callable[[pa.Table], pa.Table]:
    """The first row whose action has such fields, its `action` narrowed to them."""

    def change(table: pa.Table) -> pa.Table:
        rows = [row for row in table.to_pylist() if row["action"] and row["action"][names[-1]] is not None][:1]
        kind = pa.struct([table.schema.field("action").type.field(name) for name in names])
        narrowed = pa.array([{name: row["action"][name] for name in names} for row in rows], kind)
        whole = pa.Table.from_pylist(rows, schema=table.schema)
        return whole.set_column(table.schema.get_field_index("action"), "action", narrowed)

    return change


def untyped(table: pa.Table) -> pa.Table:
    index = table.schema.get_field_index("action")
    return table.slice(0, 1).set_column(index, "action", pa.nulls(1))


def test_shards_that_drifted_apart_are_widened_to_the_declared_schema(storage: Storage) -> None:
    committer = begin(storage)
    for name in NAMES[:3]:
        put(committer, storage, [attempt(name)], worker=name)
    committer.finish()
    a, b, c = (part for part in current(storage).values() if part.table == "steps" and part.rows)
    rewritten(storage, a, only_fields("type", "point"))
    rewritten(storage, b, only_fields("type", "content"))
    rewritten(storage, c, untyped)
    assert ("error", "schema_drift") in kinds(storage)

    compact(storage)

    (part,) = [part for part in current(storage).values() if part.table == "steps"]
    found = pq.read_table(part.path, filesystem=storage.files, partitioning=None)
    assert found.schema.equals(schema_of("steps"))
    actions = found.column("action").to_pylist()
    assert [action and action["type"] for action in actions] == ["Click", "Type", None]
    assert actions[0]["point"] is not None and actions[1]["content"] == "灯 🙂"
    # Two of three steps of each attempt were taken away for this.
    assert kinds(storage) == {("error", "contradiction"), ("error", "dangling_id")}


def test_widened_part_is_read_by_duckdb_without_any_option(tmp_path: Path) -> None:
    storage = collected(tmp_path, [attempt("t1")])
    part = next(part for part in current(storage_of(storage)).values() if part.table == "steps" and part.rows)
    rewritten(storage_of(storage), part, only_fields("type", "content"))
    compact(tmp_path)

    (path,) = (tmp_path / "steps").glob("*.parquet")
    with duckdb.connect() as bare:
        found = bare.execute(f"SELECT action.type, action.content, action.point FROM '{path}'").fetchall()

    assert found == [("Type", "灯 🙂", None)]


def test_part_with_optional_columns_that_are_all_null_has_their_types(tmp_path: Path) -> None:
    collected(tmp_path, [attempt("t1")])

    for part in current(storage_of(tmp_path)).values():
        kinds_there = pq.read_schema(tmp_path / part.path).types
        assert not any(pa.types.is_null(kind) for kind in kinds_there)


def test_column_that_is_not_declared_is_never_dropped(tmp_path: Path) -> None:
    storage = filled(storage_of(tmp_path))
    part = next(part for part in current(storage).values() if part.table == "steps" and part.rows)
    rewritten(storage, part, lambda table: table.append_column("extra", pa.nulls(table.num_rows, pa.int64())))

    with pytest.raises(RunError, match=r"steps.extra: is not declared, and would be lost"):
        compact(storage)

    rewritten(storage, part, lambda table: table.drop_columns(["extra"]).cast(schema_of("steps")))
    assert {kind for severity, kind in kinds(storage) if severity == "error"} == set()


# --- killed --------------------------------------------------------------------------------------------------------

KILLED_WHILE = {
    "a merged part is written": "compact.write_groups = die",
    "the parts wait to be published": "sinks.Committer.publish = die",
    "replaced parts are removed": "compact._remove_replaced = die",
    "the first replaced part is gone": "type(storage).delete = after_one(type(storage).delete)",
}

DYING = """
import os, signal, sys
from pipeline import compact, sinks
from pipeline.storage import storage_of

storage = storage_of(sys.argv[1])

def die(*args, **more):
    os.kill(os.getpid(), signal.SIGKILL)

def after_one(real):
    def dying(*args):
        real(*args)
        die()
    return dying

{fatal}
compact.compact(storage)
"""


@pytest.mark.parametrize("moment", KILLED_WHILE)
def test_killed_compaction_leaves_a_sound_folder_that_can_be_compacted(tmp_path: Path, moment: str) -> None:
    storage = filled(storage_of(tmp_path))
    before = rows_of(storage)
    script = DYING.format(fatal=KILLED_WHILE[moment])

    done = subprocess.run([sys.executable, "-c", script, storage.address], capture_output=True, text=True, timeout=100)

    assert done.returncode == -9, done.stderr
    assert {severity for severity, _ in kinds(storage)} <= {"leftover"}
    assert rows_of(storage) == before
    compact(storage)
    assert rows_of(storage) == before
    assert len(current(storage)) == len(TABLES)
    assert {kind for _, kind in kinds(storage)} <= {"unlisted_part"}
