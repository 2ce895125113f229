"""Parts are whole or absent, and one committer decides what counts."""

from __future__ import annotations

import errno
import hashlib
import os
import resource
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from pipeline import manifest, parts
from pipeline.check import check
from pipeline.dataset import Dataset
from pipeline.errors import RunError, SinkError
from pipeline.file_names import PartName
from pipeline.manifest import Assigned
from pipeline.protocols import Sink
from pipeline.query import VIEWS, connect, query, sound_parts
from pipeline.records import Attempt, Event, Frame, Prompt, Record, Trajectory
from pipeline.schema import SCHEMA_VERSION, TABLES, VERSION_KEY
from pipeline.sinks import ATTEMPTS_PER_FLUSH, BYTES_PER_FLUSH, LOST, Batch, Committer, MemorySink, PartWriter
from pipeline.storage import driver_lock
from pipeline.structs import Fault, Image
from tests.datasets import RUN, assigned, attempt, begin, collected, judging, put, verdict

MEGABYTE = 1 << 20


def writer_in(folder: Path, name: str = "w0", epoch: int = 1) -> PartWriter:
    return PartWriter(folder, RUN, epoch, name)


def frame(content: bytes) -> Frame:
    return Frame(sha256=hashlib.sha256(content).hexdigest(), image=Image(bytes=content), width=1, height=1)


def written(writer: PartWriter, record: Record) -> Batch:
    writer.write(record)
    batch = writer.flush()
    assert batch
    return batch


def errors_in(folder: Path) -> list[str]:
    return [f"{one.kind} {one.path}: {one.detail}" for one in check(folder) if one.severity == "error"]


def files_in(folder: Path) -> set[str]:
    return {str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()}


@contextmanager
def files_no_larger_than(size: int) -> Iterator[None]:
    """Let the kernel refuse larger files, as a full disk does."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


# --- parts -------------------------------------------------------------------------------------------------------


def test_both_sinks_are_sinks(tmp_path: Path) -> None:
    memory, writer = MemorySink(), writer_in(tmp_path)
    sinks: list[Sink] = [memory, writer]

    for sink in sinks:
        sink.write(attempt("t1"))

    batch = writer.flush()
    assert batch is not None
    assert batch.attempts == [record.attempt.attempt_id for record in memory.records]


def test_memory_sink_keeps_records_in_order() -> None:
    sink = MemorySink()

    sink.write(attempt("t1"))
    sink.write(attempt("t2"))

    assert [record.trajectory.trajectory_id for record in sink.records] == ["t1", "t2"]


def test_reference_of_a_part_is_what_is_on_disk(tmp_path: Path) -> None:
    batch = written(writer_in(tmp_path), attempt("t1"))

    for part in batch.parts:
        data = (tmp_path / part.path).read_bytes()
        assert part.bytes == len(data)
        assert part.sha256 == hashlib.sha256(data).hexdigest()
        assert part.rows == pq.read_metadata(tmp_path / part.path).num_rows
        assert part.path == f"{part.table}/part-1-w0-0.parquet"
        assert part.schema_version == SCHEMA_VERSION


def test_parts_are_compressed_checked_and_versioned(tmp_path: Path) -> None:
    written(writer_in(tmp_path), attempt("t1"))

    metadata = pq.read_metadata(tmp_path / "steps/part-1-w0-0.parquet")

    column = metadata.row_group(0).column(0)
    assert column.compression == "ZSTD"
    assert metadata.metadata[VERSION_KEY] == str(SCHEMA_VERSION).encode()


def test_flipped_bit_in_a_page_is_noticed_by_its_checksum(tmp_path: Path) -> None:
    writer = writer_in(tmp_path)
    writer.add([Prompt(prompt_sha256="a", text=os.urandom(4000).hex())])
    assert writer.flush()
    path = tmp_path / "prompts/part-1-w0-0.parquet"
    data = bytearray(path.read_bytes())
    data[len(data) // 4] ^= 1
    path.write_bytes(data)

    with pytest.raises(OSError, match="checksum"):
        pq.read_table(path, page_checksum_verification=True)


def test_pictures_carry_no_statistics_and_no_dictionary(tmp_path: Path) -> None:
    written(writer_in(tmp_path), attempt("t1"))

    group = pq.read_metadata(tmp_path / "frames/part-1-w0-0.parquet").row_group(0)

    columns = {group.column(i).path_in_schema: group.column(i) for i in range(group.num_columns)}
    assert not columns["image.bytes"].is_stats_set
    assert not columns["image.bytes"].has_dictionary_page
    assert columns["sha256"].is_stats_set


def test_row_groups_of_pictures_are_bounded_by_rows(tmp_path: Path) -> None:
    frames = [frame(str(i).encode()) for i in range(parts.GROUP_ROWS + 1)]

    parts.write_part(tmp_path, "frames", PartName(1, "w0", 0), frames, RUN)

    assert group_rows(tmp_path / "frames/part-1-w0-0.parquet") == [parts.GROUP_ROWS, 1]


def test_row_groups_of_pictures_are_bounded_by_bytes(tmp_path: Path) -> None:
    frames = [frame(bytes([i]) * (20 * MEGABYTE)) for i in range(3)]

    parts.write_part(tmp_path, "frames", PartName(1, "w0", 0), frames, RUN)

    assert group_rows(tmp_path / "frames/part-1-w0-0.parquet") == [1, 1, 1]


def group_rows(path: Path) -> list[int]:
    metadata = pq.read_metadata(path)
    return [metadata.row_group(i).num_rows for i in range(metadata.num_row_groups)]


def test_picture_and_tree_are_written_once_per_writer(tmp_path: Path) -> None:
    writer = writer_in(tmp_path)

    first, second = written(writer, attempt("t1")), written(writer, attempt("t2"))

    rows = [{part.table: part.rows for part in batch.parts} for batch in (first, second)]
    assert [one["frames"] for one in rows] == [2, 1]
    assert [one["trees"] for one in rows] == [2, 1]


def test_trajectory_is_written_for_the_final_attempt_only(tmp_path: Path) -> None:
    superseded = written(writer_in(tmp_path), attempt("t1", final=False))

    assert "trajectories" not in {part.table for part in superseded.parts}
    assert "attempts" in {part.table for part in superseded.parts}


def test_full_buffer_is_written_without_being_asked(tmp_path: Path) -> None:
    writer = writer_in(tmp_path)

    for number in range(1, ATTEMPTS_PER_FLUSH):
        writer.write(attempt(f"t{number}"))
    before = writer.take()
    writer.write(attempt("last"))
    after = writer.take()

    assert before is None
    assert after and after.attempts == ["t1-1", "t2-1", "t3-1", "last-1"]
    assert writer.flush() is None


def test_heavy_buffer_is_written_without_being_asked(tmp_path: Path) -> None:
    writer = writer_in(tmp_path)

    writer.add([frame(bytes(BYTES_PER_FLUSH))])

    assert writer.take()


def test_batch_of_several_flushes_names_everything_once(tmp_path: Path) -> None:
    writer = writer_in(tmp_path)
    for number in range(ATTEMPTS_PER_FLUSH + 1):
        writer.write(attempt(f"t{number}"))

    batch = writer.flush()

    assert batch and batch.number == 1
    assert len(batch.attempts) == ATTEMPTS_PER_FLUSH + 1
    assert len({part.path for part in batch.parts}) == len(batch.parts)


@pytest.mark.parametrize("name", ["", "a/b", "../up", ".hidden", "w 0"])
def test_worker_name_must_fit_a_file_name(tmp_path: Path, name: str) -> None:
    with pytest.raises(ValueError, match="cannot be part of a file name"):
        writer_in(tmp_path, name)


def test_two_writers_of_one_name_cannot_overwrite_each_other(tmp_path: Path) -> None:
    batch = written(writer_in(tmp_path), attempt("t1"))

    with pytest.raises(SinkError, match="File exists"):
        written(writer_in(tmp_path), attempt("t2"))

    part = next(part for part in batch.parts if part.table == "attempts")
    assert hashlib.sha256((tmp_path / part.path).read_bytes()).hexdigest() == part.sha256


def test_full_disk_leaves_nothing_behind(tmp_path: Path) -> None:
    writer = writer_in(tmp_path)
    writer.write(attempt("t1"))
    writer.add([frame(os.urandom(MEGABYTE))])

    with files_no_larger_than(MEGABYTE // 2), pytest.raises(SinkError) as caught:
        writer.flush()

    assert caught.value.code == "disk_full"
    assert files_in(tmp_path) == set()
    assert writer.take() is None


def test_writer_goes_on_after_a_full_disk_and_repeats_the_pictures(tmp_path: Path) -> None:
    writer = writer_in(tmp_path)
    writer.write(attempt("t1"))
    writer.add([frame(os.urandom(MEGABYTE))])
    with files_no_larger_than(MEGABYTE // 2), pytest.raises(SinkError):
        writer.flush()

    batch = written(writer, attempt("t1"))

    assert {part.table: part.rows for part in batch.parts}["frames"] == 2


def test_folder_that_cannot_be_written_is_a_sink_error(tmp_path: Path) -> None:
    (tmp_path / "steps").write_text("a file where a folder should be")

    with pytest.raises(SinkError) as caught:
        written(writer_in(tmp_path), attempt("t1"))

    assert caught.value.code == "write_failed"
    assert files_in(tmp_path) == {"steps"}


def test_row_that_cannot_be_stored_is_a_sink_error(tmp_path: Path) -> None:
    record = attempt("t1")
    poisoned = record.model_copy(update={"attempt": record.attempt.model_copy(update={"seed": 2**70})})

    with pytest.raises(SinkError, match="int too large"):
        written(writer_in(tmp_path), poisoned)

    assert files_in(tmp_path) == set()


def test_part_that_reads_back_differently_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    parts.write_part(tmp_path, "prompts", PartName(1, "other", 0), [], RUN)
    found = pq.read_metadata(tmp_path / "prompts/part-1-other-0.parquet")
    monkeypatch.setattr(pq, "read_metadata", lambda *_, **__: found)

    with pytest.raises(SinkError, match="holds 0 rows after writing 1"):
        written(writer_in(tmp_path), attempt("t1"))

    assert files_in(tmp_path) == {"prompts/part-1-other-0.parquet"}


# --- committer ---------------------------------------------------------------------------------------------------


def test_claimed_folder_has_a_part_of_every_table_and_every_view(tmp_path: Path) -> None:
    Committer.claim(tmp_path, RUN, {"seed": 0})

    dataset = Dataset(tmp_path)
    assert all(dataset.parts(table) for table in TABLES)
    with connect({tmp_path: sound_parts(tmp_path)}) as connection:
        rows = {view: len(connection.sql(f"SELECT * FROM {view}")) for view in (*TABLES, *VIEWS)}
    assert set(rows.values()) == {0}
    assert errors_in(tmp_path) == []


def test_published_batch_counts(tmp_path: Path) -> None:
    records = [attempt("t1"), attempt("t2")]

    collected(tmp_path, records)

    assert [row.attempt_id for row in Dataset(tmp_path).rows(Attempt)] == ["t1-1", "t2-1"]
    assert check(tmp_path) == []


def test_manifest_lines_say_what_a_reader_needs(tmp_path: Path) -> None:
    collected(tmp_path, [attempt("t1")])

    lines = manifest.survey(tmp_path).lines

    begun = [line for line in lines if isinstance(line, Assigned)]
    assert [line.attempt_id for line in begun] == ["t1-1"]
    assert {line.table for line in lines if isinstance(line, manifest.PartRef)} == set(TABLES)
    assert not list(tmp_path.rglob("*.tmp"))


def test_batch_told_twice_counts_once(tmp_path: Path) -> None:
    committer, writer, record = begin(tmp_path), writer_in(tmp_path), attempt("t1")
    committer.assign([assigned(record)])
    batch = written(writer, record)

    answers = [committer.publish(batch), committer.publish(batch)]

    assert answers == [True, True]
    assert len(Dataset(tmp_path).rows(Trajectory)) == 1


def test_batch_of_an_older_epoch_is_refused_and_noted(tmp_path: Path) -> None:
    record = attempt("t1")
    older = begin(tmp_path)
    older.assign([assigned(record)])
    late = written(writer_in(tmp_path), record)

    newer = Committer.claim(tmp_path, RUN, {})
    answer = newer.publish(late)

    dataset = Dataset(tmp_path)
    assert answer is False
    assert dataset.rows(Trajectory) == []
    assert [(row.kind, row.attempt_id) for row in dataset.rows(Event)] == [("late_commit", "t1-1")]


def test_revoked_attempt_is_a_row_and_its_report_is_refused(tmp_path: Path) -> None:
    committer, record = begin(tmp_path), attempt("t1")
    committer.assign([assigned(record)])
    late = written(writer_in(tmp_path), record)

    revoked = committer.revoke(assigned(record), final=False)
    answer = committer.publish(late)

    dataset = Dataset(tmp_path)
    assert (revoked, answer) == (True, False)
    [row] = dataset.rows(Attempt)
    assert (row.attempt_id, row.fault, row.termination, row.final) == ("t1-1", LOST, "fault", False)
    assert dataset.rows(Trajectory) == []


def test_batch_with_one_revoked_attempt_is_refused_as_a_whole(tmp_path: Path) -> None:
    committer, writer = begin(tmp_path), writer_in(tmp_path)
    records = [attempt("t1"), attempt("t2")]
    committer.assign([assigned(record) for record in records])
    for record in records:
        writer.write(record)
    committer.revoke(assigned(records[0]), final=False)

    batch = writer.flush()
    assert batch and not committer.publish(batch)

    assert committer.revoke(assigned(records[1]), final=False)
    assert {row.attempt_id for row in Dataset(tmp_path).rows(Attempt)} == {"t1-1", "t2-1"}


def test_last_lost_attempt_ends_its_trajectory_as_a_fault(tmp_path: Path) -> None:
    committer, record = begin(tmp_path), attempt("t1", 3)
    committer.assign([assigned(record)])
    fault = Fault(boundary="sink", code="disk_full", message="no space")

    committer.revoke(assigned(record), final=True, fault=fault)

    [row] = Dataset(tmp_path).rows(Trajectory)
    assert (row.trajectory_id, row.attempt_id, row.fault, row.claim) == ("t1", "t1-3", fault, "none")


def test_attempt_that_has_reported_cannot_be_revoked(tmp_path: Path) -> None:
    committer, record = begin(tmp_path), attempt("t1")
    put(committer, tmp_path, [record])

    assert committer.revoke(assigned(record), final=True) is False

    assert [row.fault for row in Dataset(tmp_path).rows(Attempt)] == [None]


def test_unassigned_attempt_is_refused(tmp_path: Path) -> None:
    committer = begin(tmp_path)

    assert committer.publish(written(writer_in(tmp_path), attempt("t1"))) is False


def test_part_that_the_committer_cannot_see_is_not_listed(tmp_path: Path) -> None:
    committer, record = begin(tmp_path), attempt("t1")
    committer.assign([assigned(record)])
    batch = written(writer_in(tmp_path), record)
    (tmp_path / batch.parts[-1].path).unlink()

    with pytest.raises(SinkError, match="is it shared"):
        committer.publish(batch)

    assert Dataset(tmp_path).rows(Attempt) == []


def test_full_disk_publishes_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    committer, record = begin(tmp_path), attempt("t1")
    committer.assign([assigned(record)])
    batch = written(writer_in(tmp_path), record)
    before = files_in(tmp_path)

    with files_no_larger_than(10), pytest.raises(SinkError) as caught:
        committer.publish(batch)

    assert caught.value.code == "disk_full"
    assert files_in(tmp_path) == before
    assert committer.publish(batch)


def test_later_epoch_seals_what_the_older_one_still_publishes(tmp_path: Path) -> None:
    older = begin(tmp_path)
    record = attempt("t1")
    older.assign([assigned(record)])
    batch = written(writer_in(tmp_path), record)
    newer = Committer.claim(tmp_path, RUN, {})

    with pytest.raises(RunError, match="taken over"):
        older.publish(batch)

    assert newer.epoch == older.epoch + 1
    assert Dataset(tmp_path).rows(Attempt) == []


def test_object_beyond_the_seal_is_not_read(tmp_path: Path) -> None:
    collected(tmp_path, [attempt("t1")])
    last = manifest.survey(tmp_path).counted[-1]
    Committer.claim(tmp_path, RUN, {})
    late = tmp_path / last._replace(number=last.number + 1).path
    late.write_text("published after the claim")

    assert late.name not in {Path(name.path).name for name in manifest.survey(tmp_path).counted}
    assert [(one.severity, one.kind) for one in check(tmp_path)] == [("leftover", "sealed_manifest")]


def test_epoch_is_claimed_by_one_only(tmp_path: Path) -> None:
    begin(tmp_path)
    taken = tmp_path / "epochs" / "2.json"
    original = taken.with_name("1.json").read_text()
    taken.write_text(original)

    with pytest.raises(RunError):
        Committer.claim(tmp_path, RUN, {})

    assert taken.read_text() == original


def test_folder_of_another_run_is_refused(tmp_path: Path) -> None:
    begin(tmp_path)

    with pytest.raises(RunError, match="belongs to run run-a"):
        Committer.claim(tmp_path, "run-b", {})


@pytest.mark.parametrize("name", ["manifest/1-1.jsonl", "epochs/1.json", "run.json"])
def test_damaged_folder_is_not_claimed(tmp_path: Path, name: str) -> None:
    begin(tmp_path)
    (tmp_path / name).write_text("{")

    with pytest.raises(RunError, match="run `pathproof check`"):
        Committer.claim(tmp_path, RUN, {})

    assert not (tmp_path / "epochs" / "2.json").exists()


def test_run_file_says_whether_the_run_ended(tmp_path: Path) -> None:
    committer = begin(tmp_path)
    states = [manifest.read_run(tmp_path).state]

    committer.finish()

    assert [*states, manifest.read_run(tmp_path).state] == ["running", "finished"]
    assert manifest.read_run(tmp_path).config == {"seed": 0}


def test_finished_run_keeps_no_file_that_never_counted(tmp_path: Path) -> None:
    committer = begin(tmp_path)
    (tmp_path / "steps" / "part-1-dead-0.parquet").write_bytes(b"PAR1 and no footer")

    committer.finish()

    assert check(tmp_path) == []


def test_views_work_in_a_bare_shell_started_anywhere(tmp_path: Path) -> None:
    home = tmp_path / "it's [1] a=b"
    collected(home, [attempt("t1")], [judging(), verdict("t1-1")])
    script = "import duckdb, sys; c = duckdb.connect(); c.execute(open(sys.argv[1]).read()); " + (
        "print(c.sql('SELECT app_id, grade, count(*) FROM trace_grades "
        "JOIN trajectories USING (trajectory_id) GROUP BY ALL').fetchall())"
    )

    shown = subprocess.run(
        [sys.executable, "-c", script, home / "views.sql"], cwd="/", capture_output=True, text=True, timeout=60
    )

    assert shown.stdout.strip() == "[('demo', 'complete', 1)]", shown.stderr


# --- the driver's lock ---------------------------------------------------------------------------------------------


def test_second_driver_is_refused_while_the_first_one_lives(tmp_path: Path) -> None:
    script = "import sys; from pathlib import Path; from pipeline.storage import driver_lock\n" + (
        "with driver_lock(Path(sys.argv[1])): print('held', flush=True); sys.stdin.read()"
    )
    command = [sys.executable, "-c", script, str(tmp_path)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as first:
        assert first.stdout and first.stdout.readline() == "held\n"

        with (
            pytest.raises(RunError, match=f"in use by another driver \\(process {first.pid}\\)"),
            driver_lock(tmp_path),
        ):
            pass
        first.kill()
        first.wait(timeout=10)

    with driver_lock(tmp_path):
        pass


def test_lock_is_free_again_after_an_interrupt(tmp_path: Path) -> None:
    with pytest.raises(KeyboardInterrupt), driver_lock(tmp_path):
        raise KeyboardInterrupt

    with driver_lock(tmp_path):
        pass


def test_lock_needs_a_folder(tmp_path: Path) -> None:
    (tmp_path / "file").touch()

    with pytest.raises(SinkError, match="cannot use"), driver_lock(tmp_path / "file"):
        pass


# --- killed processes ----------------------------------------------------------------------------------------------

KILLED_WHILE = {
    "a part is open": "local_storage.os.fsync = die",
    "a part is half written": "parts.pq.ParquetWriter.write_table = die",
    "parts are closed and not published": "sinks.Committer.publish = die",
    "the manifest object is written aside": "local_storage.os.link = die",
    "the object is published and not acknowledged": "sinks.Committer._take_over = die",
    "views are being written": "sinks.views_sql = die",
}
"""Where the process dies, and the one call that is replaced by its death."""

DYING = """
import os, signal, sys
from pathlib import Path
from pipeline import local_storage, parts, sinks
from tests.datasets import attempt, begin, put

folder = Path(sys.argv[1])
committer = begin(folder)
put(committer, folder, [attempt("t1")])

def die(*args, **more):
    os.kill(os.getpid(), signal.SIGKILL)

{fatal}
put(committer, folder, [attempt("t2"), attempt("t3")], worker="w1")
"""


@pytest.mark.parametrize("moment", KILLED_WHILE)
def test_killed_run_leaves_a_sound_folder_that_is_resumed_once(tmp_path: Path, moment: str) -> None:
    script = DYING.format(fatal=KILLED_WHILE[moment])
    done = subprocess.run([sys.executable, "-c", script, tmp_path], capture_output=True, text=True, timeout=60)
    assert done.returncode == -9, done.stderr

    assert errors_in(tmp_path) == []
    counted = query("SELECT count(*) AS n FROM trajectories", [tmp_path]).to_pylist()[0]["n"]
    assert counted == (
        3 if moment in ("the object is published and not acknowledged", "views are being written") else 1
    )

    resume(tmp_path)
    before = {path: (tmp_path / path).read_bytes() for path in files_in(tmp_path)}
    assert Dataset(tmp_path).lost_attempts() == []
    assert errors_in(tmp_path) == []
    rows = Dataset(tmp_path).rows(Trajectory)
    assert sorted(row.trajectory_id for row in rows) == ["t1", "t2", "t3"]
    assert {path: (tmp_path / path).read_bytes() for path in files_in(tmp_path)} == before


def resume(folder: Path) -> None:
    """Write the lost attempts down and try their trajectories again, as a driver does."""
    dataset = Dataset(folder)
    missing = {"t1", "t2", "t3"} - dataset.finished_trajectories()
    if not missing:
        return
    committer = Committer.claim(folder, RUN, {})
    for lost in dataset.lost_attempts():
        committer.revoke(lost, final=False)
    numbers = dataset.attempt_numbers()
    put(committer, folder, [attempt(one, numbers.get(one, 0) + 1) for one in sorted(missing)], worker="w2")
    committer.finish()


def test_interrupt_in_the_middle_of_a_part_leaves_no_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(descriptor: int) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(os, "fsync", interrupted)

    with pytest.raises(KeyboardInterrupt):
        written(writer_in(tmp_path), attempt("t1"))

    assert files_in(tmp_path) == set()


def test_disk_errors_are_told_apart(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    codes = []
    for number in (errno.ENOSPC, errno.EDQUOT, errno.EACCES):

        def refuse(descriptor: int, number: int = number) -> None:
            raise OSError(number, os.strerror(number))

        monkeypatch.setattr(os, "fsync", refuse)
        with pytest.raises(SinkError) as caught:
            written(writer_in(tmp_path), attempt("t1"))
        codes.append(caught.value.code)

    assert codes == ["disk_full", "disk_full", "write_failed"]
