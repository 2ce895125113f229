from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from pipeline import manifest
from pipeline.actions import Type
from pipeline.check import check
from pipeline.dataset import Dataset
from pipeline.errors import ConfigError, RunError
from pipeline.export import ExportOptions, export
from pipeline.masking import MASK
from pipeline.parts import write_part
from pipeline.progress import Board
from pipeline.query import ask, query
from pipeline.redact import redact
from pipeline.run import resume
from pipeline.sinks import Committer
from pipeline.storage import LOCK_NAMES, Storage, storage_of
from pipeline.structs import Box, Image
from tests.datasets import RUN, attempt, begin, collected, judging, put, verdict
from tests.objectstore import contents
from tests.runs import fingerprint
from tests.signedin import REGION, SECRET, colours, cut, made_of, shown, signed_in


@pytest.mark.parametrize("where", ["tree", "frame"])
def test_the_secret_is_nowhere_in_the_copy(where: str, tmp_path: Path) -> None:
    source = made_of(tmp_path / "run", signed_in(where=where, flags=("contains_secret",)))
    redact(source, tmp_path / "out")
    everything = [
        cell
        for table in ("tasks", "steps", "trees", "probe_reads", "observations", "trajectories", "verdicts")
        for row in query(f"SELECT * FROM {table}", [tmp_path / "out"]).to_pylist()
        for cell in row.values()
    ]
    assert SECRET not in str(everything) and MASK in str(everything)
    assert check(tmp_path / "out") == []


def test_a_region_is_masked_in_the_picture_of_the_same_look_and_nowhere_else(tmp_path: Path) -> None:
    source = made_of(tmp_path / "run", signed_in())
    redact(source, tmp_path / "out")
    before, after = Dataset(source).record("a-1"), Dataset(tmp_path / "out").record("a-1")
    assert colours(before, 1, REGION) > 1 and colours(after, 1, REGION) == 1
    title = Box(left=0, top=0, right=320, bottom=36)
    assert cut(after, 1, title).tobytes() == cut(before, 1, title).tobytes()
    assert shown(after, 3) == shown(before, 3)


def test_a_picture_that_shows_the_secret_later_is_masked_where_its_tree_says(tmp_path: Path) -> None:
    source = made_of(tmp_path / "run", signed_in())
    redact(source, tmp_path / "out")
    after = Dataset(tmp_path / "out").record("a-1")
    assert colours(after, 2, Box(left=10, top=80, right=310, bottom=100)) == 1
    assert after.trees[after.observations[2].tree_sha256 or ""].nodes[1].name == MASK


def test_what_was_typed_into_a_hidden_field_is_secret_even_when_the_field_shows_dots(tmp_path: Path) -> None:
    made = signed_in()
    dots = {
        name: tree.model_copy(
            update={
                "nodes": [one.model_copy(update={"value": "•••"}) if one.value == SECRET else one for one in tree.nodes]
            }
        )
        for name, tree in made.trees.items()
    }
    source = made_of(tmp_path / "run", made.model_copy(update={"trees": dots}))
    redact(source, tmp_path / "out")
    after = Dataset(tmp_path / "out").record("a-1")
    assert after.steps[0].action == Type(content=MASK)
    assert after.steps[0].thought == f"I type {MASK}."


def test_a_redacted_trajectory_can_be_exported(tmp_path: Path) -> None:
    source = made_of(tmp_path / "run", signed_in(flags=("contains_secret",)))
    before = export(source, tmp_path / "before", ExportOptions(shape="sft")).account
    assert before.rejected == {"secret_in_view": 1, "not_usable": 1}
    redact(source, tmp_path / "out")
    assert export(tmp_path / "out", tmp_path / "after", ExportOptions(shape="sft")).account.rejected_rows == 0


def test_every_row_identity_and_grade_is_kept(dataset: Path, tmp_path: Path) -> None:
    counts = redact(dataset, tmp_path / "out")
    assert counts == (0, 0, 0, 0)
    for table in (
        "attempts",
        "trajectories",
        "steps",
        "observations",
        "votes",
        "verdicts",
        "tasks",
        "events",
        "frames",
    ):
        sql = f"SELECT * FROM {table} ORDER BY ALL"
        assert query(sql, [tmp_path / "out"]).equals(query(sql, [dataset])), table
    assert Dataset(tmp_path / "out").attempt_numbers() == Dataset(dataset).attempt_numbers()
    assert check(tmp_path / "out") == []


def test_redacting_a_copy_again_changes_nothing(tmp_path: Path) -> None:
    source = made_of(tmp_path / "run", signed_in())
    redact(source, tmp_path / "once")
    redact(tmp_path / "once", tmp_path / "twice")
    for table in ("frames", "trees", "steps", "tasks"):
        sql = f"SELECT * FROM {table} ORDER BY ALL"
        assert query(sql, [tmp_path / "once"]).equals(query(sql, [tmp_path / "twice"]))


def test_the_source_is_not_touched(tmp_path: Path) -> None:
    source = made_of(tmp_path / "run", signed_in())
    before = fingerprint(source)
    redact(source, tmp_path / "out")
    assert fingerprint(source) == before


def test_a_copy_onto_itself_is_refused_however_it_is_spelled(tmp_path: Path) -> None:
    source = made_of(tmp_path / "run", signed_in())
    link = tmp_path / "link"
    link.symlink_to(source)
    before = fingerprint(source)
    for out in (source, link, f"{tmp_path}/../{tmp_path.name}/run/"):
        with pytest.raises(ConfigError, match="is the dataset itself"):
            redact(source, out)
    assert fingerprint(source) == before


WRITES = ("epochs/1.json", "views.sql", "run.json", "manifest/1-1.jsonl")
"""What makes parts a dataset, in this order."""


def before_writing(moment: str, kind: type[Storage], happens: Callable[[], None]) -> Callable[..., None]:
    """The storage's way to write a new object, before one of which something happens."""
    real = kind.create

    def create(storage: Storage, key: str, data: bytes) -> None:
        if key == moment:
            happens()
        real(storage, key, data)

    return create


def in_store(bucket: str, name: str) -> Storage:
    return collected(storage_of(f"{bucket}/{name}"), [attempt("a")], [judging(), verdict("a-1")])


def test_a_stored_copy_onto_itself_is_refused_however_it_is_spelled(bucket: str) -> None:
    source = in_store(bucket, "one")
    before = contents(source)
    for out in (f"{bucket}/one", f"{bucket}/one/", Path(f"{bucket}/one")):
        with pytest.raises(ConfigError, match="is the dataset itself"):
            redact(source.address, out)
    assert contents(source) == before


def test_a_second_copy_to_the_same_store_is_refused_and_changes_nothing(bucket: str) -> None:
    source = in_store(bucket, "one")
    redact(source, f"{bucket}/red")
    copy = storage_of(f"{bucket}/red")
    before = contents(copy)
    with pytest.raises(ConfigError, match=f"out: {bucket}/red is already there"):
        redact(source, f"{bucket}/red")
    assert contents(copy) == before
    assert check(copy) == []
    rows = "SELECT * FROM steps ORDER BY ALL"
    assert query(rows, [copy]).equals(query(rows, [source]))


def test_a_place_with_anything_in_it_is_refused(storage: Storage, tmp_path: Path) -> None:
    source = made_of(tmp_path / "run", signed_in())
    storage.prepare(["deep"])
    storage.create("deep/file", b"mine")
    with pytest.raises(ConfigError, match="already there"):
        redact(source, storage)
    assert storage.read("deep/file") == b"mine"
    assert storage.sizes("") == {}


@pytest.mark.parametrize("moment", ["write_part", *WRITES])
def test_a_copy_that_fails_leaves_nothing_and_can_be_made_again(
    moment: str, storage: Storage, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object, **__: object) -> None:
        raise RunError("no more")

    source = made_of(tmp_path / "run", signed_in())
    with monkeypatch.context() as broken:
        if moment == "write_part":
            written = iter([write_part] * 5)
            broken.setattr("pipeline.sinks.write_part", lambda *given: next(written, fail)(*given))
        else:
            broken.setattr(type(storage), "create", before_writing(moment, type(storage), fail))
        with pytest.raises(RunError, match="no more"):
            redact(source, storage)
    assert not storage.occupied(LOCK_NAMES)
    with pytest.raises(ConfigError, match="is not a dataset folder"):
        check(storage)
    redact(source, storage)
    assert check(storage) == []


DYING = """
import os, signal, sys
from pipeline.redact import redact
from pipeline.storage import storage_of
from tests.test_redact import before_writing

source, out, moment = sys.argv[1:]
kind = type(storage_of(out))
kind.create = before_writing(moment, kind, lambda: os.kill(os.getpid(), signal.SIGKILL))
redact(source, out)
"""


@pytest.mark.parametrize("moment", WRITES)
def test_a_killed_copy_is_no_dataset_or_damaged_and_is_never_resumed(
    moment: str, storage: Storage, tmp_path: Path
) -> None:
    source = made_of(tmp_path / "run", signed_in())
    given = [sys.executable, "-c", DYING, str(source), storage.address, moment]
    done = subprocess.run(given, capture_output=True, text=True, timeout=100)
    assert done.returncode == -9, done.stderr
    assert storage.sizes("steps") and not storage.sizes("manifest")

    assert refused(lambda: ask("SELECT * FROM steps", [storage]).damaged)
    assert refused(lambda: [finding for finding in check(storage) if finding.severity == "error"])
    with pytest.raises((ConfigError, RunError)):
        Dataset(storage)
    with pytest.raises((ConfigError, RunError)):
        resume(storage, Board())


def refused(read: Callable[[], Sequence[object]]) -> bool:
    """Whether it is said that this is no dataset, or what is wrong with it."""
    try:
        return bool(read())
    except ConfigError as error:
        return "is not a dataset folder" in str(error)


@pytest.mark.parametrize("ended", [True, False])
def test_a_copy_says_what_its_run_says_and_that_it_is_a_copy(ended: bool, storage: Storage) -> None:
    committer = begin(storage)
    put(committer, storage, [attempt("a")])
    if ended:
        committer.finish()
    copy = storage_of(f"{storage.address}-copy")

    redact(storage, copy)

    was, found = manifest.read_run(storage), manifest.read_run(copy)
    same = ("run_id", "state", "started_at", "finished_at")
    assert [getattr(found, name) for name in same] == [getattr(was, name) for name in same]
    assert (was.copied_at, found.copied_at is None) == (None, False)
    assert check(copy) == []


def test_a_copy_is_never_resumed_whatever_became_of_it(storage: Storage) -> None:
    put(begin(storage), storage, [attempt("a")])
    once, twice = (storage_of(f"{storage.address}-{name}") for name in ("once", "twice"))
    redact(storage, once)
    redact(once, twice)
    Committer.claim(twice, RUN, {}).leave()

    for copy in (once, twice):
        with pytest.raises(ConfigError, match=r"is a redacted copy, .*: resume the run itself"):
            resume(copy, Board())
    assert check(twice) == []


def test_a_picture_that_cannot_be_masked_is_named(tmp_path: Path) -> None:
    made = signed_in(where="frame")
    name = made.observations[1].frame_sha256 or ""
    broken = made.frames[name].model_copy(update={"image": Image(bytes=b"no picture", path=None)})
    source = made_of(tmp_path / "run", made.model_copy(update={"frames": made.frames | {name: broken}}))
    with pytest.raises(RunError, match=f"picture {name} cannot be masked"):
        redact(source, tmp_path / "out")
