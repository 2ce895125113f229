"""One dataset with one fault of each kind: every fault is named exactly, and what is sound is still answered."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from pipeline import manifest
from pipeline.check import Finding, check
from pipeline.compact import compact
from pipeline.errors import RunError
from pipeline.export import ExportOptions, export
from pipeline.manifest import PartRef
from pipeline.query import query
from pipeline.records import Event, Prompt
from pipeline.redact import redact
from pipeline.sinks import Committer, PartWriter
from pipeline.storage import Storage, storage_of
from tests.datasets import RUN, attempt, begin, collected, judging, listed_as, put, relisted, verdict
from tests.objectstore import contents


@pytest.fixture
def damaged(storage: Storage) -> Storage:
    """A run of three starts, of which one was overtaken, and then everything that can go wrong."""
    old = begin(storage)
    put(old, storage, [attempt("t1")])
    _unlisted(storage, epoch=1)
    committer = Committer.claim(storage, RUN, {})
    storage.create("manifest/1-9.jsonl", b"")
    put(committer, storage, [attempt("t2")])
    committer.record([judging(), verdict("t2-1"), Prompt(prompt_sha256="p", text="say")])
    committer.record([Event(attempt_id="nobody", step_index=0, kind="dialog")])
    committer.finish()
    _unlisted(storage, epoch=2)
    _damage(storage)
    return storage


def _unlisted(storage: Storage, epoch: int) -> None:
    writer = PartWriter(storage, RUN, epoch, "lost")
    writer.add([Prompt(prompt_sha256="q", text="never listed")])
    assert writer.flush()


def _damage(storage: Storage) -> None:
    parts = [part for part in _parts(storage) if part.rows]
    first = {table: next(part for part in parts if part.table == table) for table in TABLES_HURT}
    storage.delete(first["candidates"].path)
    storage.replace(first["model_calls"].path, b"")
    storage.replace(first["probe_reads"].path, storage.read(first["probe_reads"].path)[:-30])
    storage.replace(first["observations"].path, _flipped(storage.read(first["observations"].path)))
    storage.replace(first["trees"].path, storage.read(first["trees"].path).replace(b"PAR1", b"XPAR1", 1))
    _relist(storage, first["steps"], rows=first["steps"].rows + 1)
    _rewrite(storage, first["passes"], _naive)
    _rewrite(storage, first["verdicts"], _untyped)
    _relist(storage, first["prompts"], schema_version=99)
    storage.create("frames/picture.png", b"not a part")


TABLES_HURT = (
    "candidates",
    "model_calls",
    "observations",
    "passes",
    "probe_reads",
    "prompts",
    "steps",
    "trees",
    "verdicts",
)

ERRORS = [
    ("dangling_id", "events"),
    ("empty_file", "model_calls"),
    ("half_file", "probe_reads"),
    ("missing_part", "candidates"),
    ("naive_timestamp", "passes"),
    ("schema_drift", "verdicts"),
    ("stray_file", "frames"),
    ("unknown_schema_version", "prompts"),
    ("unlisted_part", "prompts"),
    ("wrong_hash", "observations"),
    ("wrong_rows", "steps"),
    ("wrong_size", "trees"),
]

LEFTOVERS = [("sealed_manifest", "manifest"), ("unlisted_part", "prompts")]


def _parts(storage: Storage) -> list[PartRef]:
    return list(manifest.current_parts(manifest.survey(storage).lines).values())


def _flipped(data: bytes) -> bytes:
    changed = bytearray(data)
    changed[100] ^= 1
    return bytes(changed)


def _naive(table: pa.Table) -> pa.Table:
    index = table.column_names.index("judged_at")
    times = table.column("judged_at").cast(pa.timestamp("us"))
    return table.set_column(index, pa.field("judged_at", pa.timestamp("us"), nullable=False), times)


def _untyped(table: pa.Table) -> pa.Table:
    return table.set_column(table.column_names.index("share"), "share", pa.nulls(table.num_rows))


def _rewrite(storage: Storage, part: PartRef, change: Callable[[pa.Table], pa.Table]) -> None:
    """Put another table in the part's place, listed as it is."""
    table = change(pq.read_table(part.path, filesystem=storage.files, partitioning=None))
    storage.delete(part.path)
    with storage.new_file(part.path) as file:
        pq.write_table(table, file)
    data = storage.read(part.path)
    _relist(storage, part, bytes=len(data), sha256=hashlib.sha256(data).hexdigest())


def _relist(storage: Storage, part: PartRef, **facts: object) -> None:
    relisted(storage, listed_as(part.path, **facts))


def named(findings: list[Finding], severity: str) -> list[tuple[str, str]]:
    return sorted((one.kind, one.path.split("/")[0]) for one in findings if one.severity == severity)


def test_every_fault_is_named_and_nothing_else(damaged: Storage) -> None:
    before = contents(damaged)

    findings = check(damaged)

    assert named(findings, "error") == ERRORS
    assert named(findings, "leftover") == LEFTOVERS
    assert contents(damaged) == before


def test_query_answers_from_what_is_sound(damaged: Storage) -> None:
    counts = query(
        "SELECT (SELECT count(*) FROM trajectories) AS whole, (SELECT count(*) FROM steps) AS left_of_two, "
        "(SELECT count(*) FROM verdicts) AS none, (SELECT count(image.bytes) FROM frames) AS pictures",
        [damaged],
    ).to_pylist()

    assert counts == [{"whole": 2, "left_of_two": 3, "none": 0, "pictures": 3}]


# --- nothing new is made of what is damaged --------------------------------------------------------------------------

DAMAGES: dict[str, Callable[[Storage], None]] = {
    "lost object": lambda storage: storage.delete("manifest/1-2.jsonl"),
    "last object lost": lambda storage: storage.delete(manifest.survey(storage).counted[-1].path),
    "emptied object": lambda storage: storage.replace("manifest/1-2.jsonl", b""),
    "shortened object": lambda storage: storage.replace(
        "manifest/1-2.jsonl", _shortened(storage, "manifest/1-2.jsonl")
    ),
    "lost part": lambda storage: storage.delete(_first(storage, "steps").path),
    "flipped bit": lambda storage: _flip(storage, "steps"),
    "flipped bit in a picture": lambda storage: _flip(storage, "frames"),
    "wrong count": lambda storage: _relist(storage, _first(storage, "verdicts"), rows=7),
}

WORKS: dict[str, Callable[[Storage, Path], object]] = {
    "compact": lambda storage, _: compact(storage),
    "redact": lambda storage, out: redact(storage, out / "copy"),
    "export": lambda storage, out: export(storage, out / "rows", ExportOptions(shape="sft")),
}


def _first(storage: Storage, table: str) -> PartRef:
    return next(part for part in _parts(storage) if part.table == table and part.rows)


def _flip(storage: Storage, table: str) -> None:
    path = _first(storage, table).path
    storage.replace(path, _flipped(storage.read(path)))


def _shortened(storage: Storage, path: str) -> bytes:
    return storage.read(path).partition(b"\n")[2]


@pytest.mark.parametrize("work", WORKS)
@pytest.mark.parametrize("damage", DAMAGES)
def test_damaged_folder_is_refused_by_what_makes_something_new_of_it(work: str, damage: str, tmp_path: Path) -> None:
    storage = storage_of(tmp_path / "run")
    collected(storage, [attempt("t1"), attempt("t2")], [judging(), verdict("t1-1")])
    DAMAGES[damage](storage)
    before = contents(storage)

    with pytest.raises(RunError, match="run `pathproof check`"):
        WORKS[work](storage, tmp_path)

    assert contents(storage) == before
    assert [path.name for path in tmp_path.iterdir()] == ["run"]
    assert {finding.severity for finding in check(storage)} >= {"error"}


@pytest.mark.parametrize("work", WORKS)
def test_damaged_folder_in_a_store_is_refused(work: str, bucket: str, tmp_path: Path) -> None:
    storage = collected(storage_of(f"{bucket}/run"), [attempt("t1"), attempt("t2")])
    storage.delete("manifest/1-2.jsonl")
    before = contents(storage)

    with pytest.raises(RunError, match=r"manifest/1-2.jsonl is missing: run `pathproof check`"):
        WORKS[work](storage, tmp_path)

    assert (contents(storage), list(tmp_path.iterdir())) == (before, [])
