"""Each kind of flaw in a folder is found and named, alone, and leftovers are told apart from errors."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from pipeline import manifest
from pipeline.actions import Model
from pipeline.check import check
from pipeline.dataset import Dataset
from pipeline.errors import ConfigError, RunError
from pipeline.manifest import PartRef
from pipeline.query import query, sound_parts
from pipeline.schema import SCHEMA_VERSION
from pipeline.sinks import Committer
from tests import datasets
from tests.datasets import RUN, TASK, attempt, begin, collected, judging, listed_as, put, verdict


def findings(folder: Path) -> list[tuple[str, str, str]]:
    return [(one.severity, one.kind, one.path) for one in check(folder)]


def part_of(folder: Path, table: str) -> PartRef:
    """The newest part of a table that has rows."""
    return [part for part in Dataset(folder).parts(table) if part.rows][-1]


def relisted(folder: Path, part: PartRef, **changes: object) -> None:
    """List the part as it is on disk now, with changes."""
    data = (folder / part.path).read_bytes()
    found = {"bytes": len(data), "sha256": hashlib.sha256(data).hexdigest(), **changes}
    datasets.relisted(folder, listed_as(part.path, **found))


def rewritten(folder: Path, table: str, change: Callable[[pa.Table], pa.Table]) -> PartRef:
    """A part written anew by another program, with its listing put right."""
    part = part_of(folder, table)
    pq.write_table(change(pq.read_table(folder / part.path, partitioning=None)), folder / part.path)
    relisted(folder, part)
    return part


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return collected(tmp_path, [attempt("t1"), attempt("t2")], [judging(), verdict("t1-1"), verdict("t2-1", "fail")])


def test_whole_folder_has_no_findings(folder: Path) -> None:
    assert check(folder) == []


def test_folder_that_is_no_dataset_is_the_users_mistake(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="not a dataset folder"):
        check(tmp_path)


def test_missing_part(folder: Path) -> None:
    part = part_of(folder, "steps")
    (folder / part.path).unlink()

    assert findings(folder) == [("error", "missing_part", part.path)]


def test_empty_file(folder: Path) -> None:
    part = part_of(folder, "steps")
    (folder / part.path).write_bytes(b"")

    assert findings(folder) == [("error", "empty_file", part.path)]


def test_half_file(folder: Path) -> None:
    part = part_of(folder, "frames")
    path = folder / part.path
    path.write_bytes(path.read_bytes()[: part.bytes // 2])

    assert findings(folder) == [("error", "half_file", part.path)]


@pytest.mark.parametrize("table", ["steps", "frames", "trees", "attempts"])
def test_flipped_bit(folder: Path, table: str) -> None:
    part = part_of(folder, table)
    path = folder / part.path
    data = bytearray(path.read_bytes())
    data[100] ^= 1
    path.write_bytes(data)

    assert findings(folder) == [("error", "wrong_hash", part.path)]


def test_wrong_size(folder: Path) -> None:
    part = part_of(folder, "verdicts")
    path = folder / part.path
    table = pq.read_table(path, partitioning=None)
    pq.write_table(table, path, compression="none")

    assert findings(folder) == [("error", "wrong_size", part.path)]


def test_wrong_row_count(folder: Path) -> None:
    part = part_of(folder, "verdicts")
    relisted(folder, part, rows=part.rows + 1)

    assert findings(folder) == [("error", "wrong_rows", part.path)]


def naive(table: pa.Table) -> pa.Table:
    index = table.column_names.index("judged_at")
    times = table.column("judged_at").cast(pa.timestamp("us"))
    return table.set_column(index, pa.field("judged_at", pa.timestamp("us"), nullable=False), times)


def test_naive_timestamp(folder: Path) -> None:
    part = rewritten(folder, "passes", naive)

    assert findings(folder) == [("error", "naive_timestamp", part.path)]


def null_typed(table: pa.Table) -> pa.Table:
    index = table.column_names.index("failure_category")
    return table.set_column(index, pa.field("failure_category", pa.null()), pa.nulls(len(table)))


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (null_typed, "column failure_category is null"),
        (lambda table: table.drop_columns(["share"]), "column share is missing"),
        (lambda table: table.append_column("extra", pa.nulls(len(table), pa.string())), "column extra is not declared"),
        (lambda table: table.select(table.column_names[::-1]), "another order"),
    ],
    ids=["null type", "missing", "undeclared", "order"],
)
def test_schema_drift(folder: Path, change: Callable[[pa.Table], pa.Table], says: str) -> None:
    part = rewritten(folder, "verdicts", change)

    assert findings(folder) == [("error", "schema_drift", part.path)]
    assert says in check(folder)[0].detail
    assert part.path not in {sound.path for sound in sound_parts(folder)}


def test_part_of_a_newer_version(folder: Path) -> None:
    part = part_of(folder, "verdicts")
    relisted(folder, part, schema_version=SCHEMA_VERSION + 1)

    assert findings(folder) == [("error", "unknown_schema_version", part.path)]


def test_part_of_an_unknown_table(folder: Path) -> None:
    part = part_of(folder, "verdicts")
    relisted(folder, part, table="opinions")

    kinds = {kind for _, kind, _ in findings(folder)}
    assert "unknown_table" in kinds


def test_unlisted_part_of_a_finished_run(folder: Path) -> None:
    (folder / "steps" / "part-1-w7-0.parquet").write_bytes(b"PAR1")

    assert findings(folder) == [("error", "unlisted_part", "steps/part-1-w7-0.parquet")]


def test_unlisted_part_of_an_older_epoch_is_a_leftover(folder: Path) -> None:
    Committer.claim(folder, RUN, {}).finish()
    (folder / "steps" / "part-1-w7-0.parquet").write_bytes(b"PAR1")

    assert findings(folder) == [("leftover", "unlisted_part", "steps/part-1-w7-0.parquet")]


def test_unlisted_part_of_an_unfinished_run_is_a_leftover(tmp_path: Path) -> None:
    begin(tmp_path)
    (tmp_path / "steps" / "part-1-w7-0.parquet").write_bytes(b"PAR1")

    assert findings(tmp_path) == [("leftover", "unlisted_part", "steps/part-1-w7-0.parquet")]


@pytest.mark.parametrize("name", [".part-1-w0-0.parquet", "part-1-w0-0.parquet.tmp", "notes.txt"])
def test_stray_file_among_parts(folder: Path, name: str) -> None:
    (folder / "steps" / name).write_bytes(b"")

    assert findings(folder) == [("error", "stray_file", f"steps/{name}")]


def odd(path: Path, kind: str) -> None:
    """Something that is no plain file in the place of one."""
    path.unlink(missing_ok=True)
    if kind == "pipe":
        os.mkfifo(path)
    elif kind == "folder":
        path.mkdir()
    else:
        path.symlink_to("nowhere")


IN_PLACE_OF = {
    "run.json": "unreadable_manifest",
    "views.sql": "wrong_views",
    "manifest/1-2.jsonl": "missing_manifest",
    "epochs/1.json": "missing_manifest",
    "steps/part-1-w0-0.parquet": "missing_part",
    "steps/part-1-w9-0.parquet": "stray_file",
    "manifest/1-77.jsonl": "stray_file",
    "epochs/5.json": "stray_file",
}


@pytest.mark.timeout(60)
@pytest.mark.parametrize("kind", ["pipe", "folder"])
@pytest.mark.parametrize("path", IN_PLACE_OF)
def test_what_is_no_plain_file_is_named_and_not_opened(path: str, kind: str, folder: Path) -> None:
    odd(folder / path, kind)

    (finding,) = [one for one in check(folder) if one.severity == "error"]
    assert (finding.kind, finding.path) == (IN_PLACE_OF[path], path)
    assert f"a {kind}" in finding.detail
    query("SELECT * FROM steps", [folder])
    if IN_PLACE_OF[path] in ("unreadable_manifest", "missing_manifest", "missing_part"):
        with pytest.raises(RunError, match="pathproof check"):
            Dataset(folder).table("steps")


@pytest.mark.parametrize("path", ["socket", "steps/nowhere"])
def test_link_to_nowhere_is_named(path: str, folder: Path) -> None:
    odd(folder / path, "link")

    assert findings(folder) == [("error", "stray_file", path)]


@pytest.mark.parametrize(
    "path",
    [
        "manifest/zzz.jsonl",
        "manifest/01-1.jsonl",
        "manifest/0-1.jsonl",
        "manifest/.DS_Store",
        "epochs/x.json",
        "epochs/01.json",
    ],
)
def test_stray_file_beside_the_manifest(path: str, folder: Path) -> None:
    (folder / path).write_bytes((folder / "manifest/1-1.jsonl").read_bytes())

    assert findings(folder) == [("error", "stray_file", path)]
    assert query("FROM steps", [folder]).num_rows == 6


def test_stray_file_in_the_root_is_left_over(folder: Path) -> None:
    (folder / "report.html").write_text("<!doctype html>")
    (folder / "notes.txt").write_text("mine")

    assert findings(folder) == [("leftover", "stray_file", "notes.txt")]


@pytest.mark.parametrize("finished", [True, False])
@pytest.mark.parametrize("path", ["manifest/1-99.jsonl", "manifest/7-1.jsonl", "epochs/50.json"])
def test_stray_number_far_off_is_the_one_error(path: str, finished: bool, tmp_path: Path) -> None:
    committer = begin(tmp_path)
    if finished:
        committer.finish()
    for data in (b"", b"{", (tmp_path / "manifest/1-1.jsonl").read_bytes(), (tmp_path / "epochs/1.json").read_bytes()):
        (tmp_path / path).write_bytes(data)

        assert [one[2] for one in findings(tmp_path)] == [path], data


def test_missing_object_is_told_with_the_one_that_says_so(folder: Path) -> None:
    (folder / "manifest/1-2.jsonl").unlink()

    (finding,) = [one for one in check(folder) if one.severity == "error"]
    assert finding.detail == "not there; manifest/1-3.jsonl says that it was"


def test_damaged_object_without_one_before_it_is_told_as_a_stray_one(folder: Path) -> None:
    (folder / "manifest/1-99.jsonl").write_bytes(b"")

    (finding,) = check(folder)
    assert finding.detail.endswith("the one before it is not there either, so that it may be a stray file")


def test_interrupted_write_beside_the_manifest_is_a_leftover(folder: Path) -> None:
    (folder / "manifest" / "1-9.jsonl.0f.tmp").write_bytes(b"{")

    assert findings(folder) == [("leftover", "stray_file", "manifest/1-9.jsonl.0f.tmp")]


def test_damaged_manifest_object_is_the_one_error(folder: Path) -> None:
    name = manifest.survey(folder).counted[-1]
    (folder / name.path).write_text('{"kind": "part", "table": "steps"')

    errors = [one for one in findings(folder) if one[0] == "error"]
    assert errors == [("error", "unreadable_manifest", name.path)]


def test_listed_path_may_not_leave_the_folder(folder: Path) -> None:
    datasets.relisted(folder, listed_as(part_of(folder, "verdicts").path, path="../../etc/passwd"))
    name = manifest.survey(folder).counted[-1]

    assert ("error", "unreadable_manifest", name.path) in findings(folder)


def test_missing_manifest_object(folder: Path) -> None:
    name = manifest.survey(folder).counted[1]
    (folder / name.path).unlink()

    errors = [one for one in findings(folder) if one[0] == "error"]
    assert errors == [("error", "missing_manifest", name.path)]


def test_last_manifest_object_is_missed_once_a_later_epoch_has_sealed_it(folder: Path) -> None:
    name = manifest.survey(folder).counted[-1]
    Committer.claim(folder, RUN, {}).finish()
    (folder / name.path).unlink()

    assert ("error", "missing_manifest", name.path) in findings(folder)


def test_damaged_and_missing_epochs(folder: Path) -> None:
    Committer.claim(folder, RUN, {}).finish()
    (folder / "epochs" / "1.json").unlink()
    (folder / "epochs" / "2.json").write_text("{")

    errors = [one for one in findings(folder) if one[0] == "error"]
    assert errors == [
        ("error", "missing_manifest", "epochs/1.json"),
        ("error", "unreadable_manifest", "epochs/2.json"),
    ]


def test_damaged_run_file(folder: Path) -> None:
    (folder / "run.json").write_text("{")

    assert findings(folder) == [("error", "unreadable_manifest", "run.json")]


def test_replaced_parts_are_leftovers(tmp_path: Path) -> None:
    committer = begin(tmp_path)
    put(committer, tmp_path, [attempt("t1")])
    part = part_of(tmp_path, "probe_reads")
    other = next(one for one in Dataset(tmp_path).parts("probe_reads") if not one.rows)
    committer._list([part.model_copy(update={"replaces": [other.path]})])

    assert findings(tmp_path) == [("leftover", "replaced_part", other.path)]


def test_table_without_a_part(folder: Path) -> None:
    part = part_of(folder, "passes")
    empty = next(one for one in Dataset(folder).parts("passes") if not one.rows)
    (folder / empty.path).unlink()
    gone = {empty.path, part.path}
    datasets.relisted(folder, lambda line: None if isinstance(line, PartRef) and line.path in gone else line)
    (folder / part.path).unlink()

    kinds = {(kind, path) for _, kind, path in findings(folder)}
    assert ("table_without_part", "passes") in kinds


def test_missing_views_of_a_finished_run(folder: Path) -> None:
    (folder / "views.sql").unlink()

    assert findings(folder) == [("error", "missing_views", "views.sql")]


@pytest.mark.parametrize("damage", ["emptied", "shortened", "changed"])
def test_wrong_views(folder: Path, damage: str) -> None:
    path = folder / "views.sql"
    text = path.read_text()
    path.write_text({"emptied": "", "shortened": text[:-100], "changed": text.replace("complete", "partial")}[damage])

    assert findings(folder) == [("error", "wrong_views", "views.sql")]


def test_emptied_views_of_an_unfinished_run(tmp_path: Path) -> None:
    begin(tmp_path)
    (tmp_path / "views.sql").write_text("")

    assert findings(tmp_path) == [("error", "wrong_views", "views.sql")]


def test_views_stay_proved_when_an_epoch_publishes_nothing(folder: Path) -> None:
    Committer.claim(folder, RUN, {}).leave()
    (folder / "views.sql").write_text("-- nothing")

    assert findings(folder) == [("error", "wrong_views", "views.sql")]


def test_run_that_was_killed_before_its_views_is_no_error(tmp_path: Path) -> None:
    begin(tmp_path)
    (tmp_path / "views.sql").unlink()

    assert findings(tmp_path) == []


def test_parts_in_a_folder_that_is_no_table(folder: Path) -> None:
    for name in ("opinions/part-1-w0-0.parquet", "export/README.md"):
        (folder / name).parent.mkdir()
        (folder / name).write_bytes(b"PAR1")

    assert findings(folder) == [("error", "unknown_table", "opinions")]


# --- rows that stand twice -------------------------------------------------------------------------------------------


TWICE = attempt("t1")


@pytest.mark.parametrize(
    ("table", "rows", "says"),
    [
        ("attempts", [TWICE.attempt], "attempt_id: 1 stand in more than one row: t1-1"),
        ("trajectories", [TWICE.trajectory], "trajectory_id: 1 stand in more than one row: t1"),
        ("steps", TWICE.steps, "attempt_id, step_index: 3 stand in more than one row: t1-1/0, t1-1/1, t1-1/2"),
        ("observations", TWICE.observations[:1], "attempt_id, observation_index: 1 stand"),
        ("candidates", TWICE.candidates, "attempt_id, step_index, candidate_index: 1 stand"),
        ("probe_reads", TWICE.probe_reads[:1], "attempt_id, observation_index, app_id, probe: 1 stand"),
        ("model_calls", TWICE.model_calls, "call_id: 1 stand"),
        ("tasks", [TASK], "task_id: 1 stand"),
        ("passes", [judging()], "pass_id: 1 stand"),
        ("verdicts", [verdict("t1-1", "fail")], "1 stand in more than one row: pass-1/trace/t1-1"),
        ("verdicts", [verdict("t1-1", step_index=0)], "1 stand in more than one row: pass-1/step/t1-1/0"),
    ],
)
def test_rows_that_stand_twice(table: str, rows: list[Model], says: str, tmp_path: Path) -> None:
    once = [judging(), verdict("t1-1"), verdict("t1-1", step_index=0)]
    folder = collected(tmp_path, [attempt("t1")], [*once, *rows])

    (finding,) = check(folder)
    assert (finding.severity, finding.kind, finding.path) == ("error", "duplicate_id", table)
    assert says in finding.detail


def test_the_same_number_in_another_attempt_or_pass_is_no_duplicate(tmp_path: Path) -> None:
    rows = [judging(), judging("pass-2"), verdict("t1-1"), verdict("t1-1", pass_id="pass-2")]

    assert check(collected(tmp_path, [attempt("t1"), attempt("t2")], rows)) == []


def test_claim_that_published_nothing_is_no_error(tmp_path: Path) -> None:
    (tmp_path / "manifest").mkdir()
    (tmp_path / "epochs").mkdir()

    assert findings(tmp_path) == [("error", "unreadable_manifest", "run.json")]


# --- references between tables ---------------------------------------------------------------------------------------


def dangling(folder: Path) -> list[tuple[str, str]]:
    return [(one.path, one.detail.partition(":")[0]) for one in check(folder) if one.kind == "dangling_id"]


@pytest.mark.parametrize(
    ("row", "found"),
    [
        (verdict("gone-1"), ("verdicts", "attempt_id")),
        (verdict("t1-1", pass_id="gone"), ("verdicts", "pass_id")),
        (attempt("gone").steps[0], ("steps", "attempt_id")),
        (attempt("gone").observations[0], ("observations", "attempt_id")),
        (attempt("gone").events[0], ("events", "attempt_id")),
        (attempt("gone").trajectory, ("trajectories", "attempt_id")),
        (attempt("t1").trajectory.model_copy(update={"task_id": "gone"}), ("trajectories", "task_id")),
        (attempt("t1").observations[0].model_copy(update={"frame_sha256": "gone"}), ("observations", "frame_sha256")),
        (attempt("t1").observations[0].model_copy(update={"tree_sha256": "gone"}), ("observations", "tree_sha256")),
    ],
    ids=lambda value: "-".join(value) if isinstance(value, tuple) else "",
)
def test_dangling_id(tmp_path: Path, row: Model, found: tuple[str, str]) -> None:
    folder = collected(tmp_path, [attempt("t1")], [judging(), row])

    assert dangling(folder) == [found]
    assert "gone" in next(one.detail for one in check(folder) if one.kind == "dangling_id")


def test_late_report_may_precede_its_attempt(tmp_path: Path) -> None:
    event = attempt("gone").events[0].model_copy(update={"kind": "late_commit"})

    assert check(collected(tmp_path, [], [event])) == []


def test_rows_behind_a_flawed_part_are_not_called_dangling(folder: Path) -> None:
    part = part_of(folder, "attempts")
    (folder / part.path).unlink()

    assert findings(folder) == [("error", "missing_part", part.path)]
