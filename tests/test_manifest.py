"""Every file of a manifest is proved: by its own last line, by the next object, and by what seals its epoch."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from pipeline import manifest
from pipeline.check import check
from pipeline.dataset import Dataset
from pipeline.errors import RunError
from pipeline.file_names import ObjectName
from pipeline.local_storage import LocalStorage
from pipeline.manifest import Epoch, RunFile, Survey
from pipeline.records import Prompt
from pipeline.sinks import Committer
from pipeline.storage import Storage
from tests.datasets import RUN, Folder, attempt, begin, collected, put
from tests.objectstore import contents


def lines_of(data: bytes) -> list[bytes]:
    return data.splitlines(keepends=True)


DAMAGES: dict[str, Callable[[bytes], bytes]] = {
    "emptied": lambda data: data[:0],
    "without its first line": lambda data: b"".join(lines_of(data)[1:]),
    "without its last line": lambda data: b"".join(lines_of(data)[:-1]),
    "without its last byte": lambda data: data[:-1],
    "in another order": lambda data: b"".join([*reversed(lines_of(data)[:-1]), lines_of(data)[-1]]),
    "with a line twice": lambda data: lines_of(data)[0] + data,
    "with another end": lambda data: data + lines_of(data)[-1],
    "with a digit changed": lambda data: data.replace(b'"schema_version":2', b'"schema_version":1', 1),
}
"""What can become of an object that can still be read; each has two lines and the closing one at least."""


def test_every_object_is_proved_whatever_its_place(tmp_path: Path) -> None:
    objects = manifest.survey(run_of_two_epochs(tmp_path)).counted
    sound = {name: (tmp_path / name.path).read_bytes() for name in objects}
    assert len({name.epoch for name in objects}) == 2

    for name, data in sound.items():
        for damage in ("emptied", "without its last line", "without its last byte"):
            (tmp_path / name.path).write_bytes(DAMAGES[damage](data))
            assert damaged_in(tmp_path) == [("wrong_manifest", name.path)], damage
        (tmp_path / name.path).unlink()
        assert damaged_in(tmp_path) == [("missing_manifest", name.path)]
        (tmp_path / name.path).write_bytes(data)
    assert check(tmp_path) == []


@pytest.mark.parametrize("damage", DAMAGES)
def test_object_that_is_not_as_it_was_published_is_named(damage: str, storage: Storage) -> None:
    begin(storage)
    path = "manifest/1-1.jsonl"
    storage.replace(path, DAMAGES[damage](storage.read(path)))

    found = manifest.survey(storage)

    assert [(problem.path, problem.altered) for problem in found.problems] == [(path, True)]
    assert found.objects.keys() == {ObjectName(1, 2)}
    with pytest.raises(RunError, match=r"1-1.jsonl cannot be read \(.*run `pathproof check`"):
        Dataset(storage)


@pytest.mark.parametrize("bit", [0, 3, 6])
def test_flipped_bit_is_found_wherever_it_is(bit: int, tmp_path: Path) -> None:
    begin(tmp_path)
    path = tmp_path / "manifest/1-2.jsonl"
    data = path.read_bytes()

    for place in range(0, len(data), 7):
        changed = bytearray(data)
        changed[place] ^= 1 << bit
        path.write_bytes(changed)
        assert [problem.path for problem in manifest.survey(tmp_path).problems] == ["manifest/1-2.jsonl"], place


def test_copy_of_another_object_is_none(tmp_path: Path) -> None:
    begin(tmp_path)
    (tmp_path / "manifest/1-2.jsonl").write_bytes((tmp_path / "manifest/1-1.jsonl").read_bytes())

    (problem,) = manifest.survey(tmp_path).problems

    assert problem == ("manifest/1-2.jsonl", "holds what was published as manifest/1-1.jsonl", True)


def test_object_that_was_written_anew_is_missed_by_the_next(tmp_path: Path) -> None:
    begin(tmp_path)
    rewritten(tmp_path, ObjectName(1, 1))

    assert manifest.survey(tmp_path).problems == [
        ("manifest/1-1.jsonl", "is not what manifest/1-2.jsonl was published after", True)
    ]


def test_last_object_that_was_written_anew_is_missed_by_the_seal(tmp_path: Path) -> None:
    folder = collected(tmp_path, [attempt("t1")])
    last = manifest.survey(folder).counted[-1]
    rewritten(folder, last)

    assert damaged_in(folder) == [("wrong_manifest", last.path)]


def rewritten(folder: Path, name: ObjectName) -> None:
    """Publish an object anew with one line less."""
    data = (folder / name.path).read_bytes()
    after = data.rpartition(b'"after":"')[2].partition(b'"')[0].decode()
    (folder / name.path).write_bytes(manifest.encoded(name, manifest.survey(folder).objects[name][1:], after))


def test_claim_that_was_changed_is_missed_by_the_first_object(tmp_path: Path) -> None:
    begin(tmp_path)
    path = tmp_path / "epochs/1.json"
    path.write_text(path.read_text().replace("20", "19", 1))

    assert damaged_in(tmp_path) == [("wrong_manifest", "epochs/1.json")]


def test_claim_of_another_epoch_is_none(tmp_path: Path) -> None:
    folder = run_of_two_epochs(tmp_path)
    (folder / "epochs/2.json").write_bytes((folder / "epochs/1.json").read_bytes())

    assert ("wrong_manifest", "epochs/2.json") in damaged_in(folder)


def test_last_object_of_a_finished_run_is_missed(storage: Storage) -> None:
    folder = collected(storage, [attempt("t1")])
    last = manifest.survey(folder).counted[-1]
    folder.delete(last.path)

    assert manifest.survey(folder).missing == [last.path]
    with pytest.raises(RunError, match=rf"{last.path} is missing"):
        Dataset(folder)


def test_damaged_manifest_is_neither_sealed_nor_resumed(storage: Storage) -> None:
    folder = run_of_two_epochs(storage)
    for name in manifest.survey(folder).counted:
        data = folder.read(name.path)
        folder.replace(name.path, b"")
        before = contents(folder)

        with pytest.raises(RunError, match="run `pathproof check`"):
            Committer.claim(folder, RUN, {})

        assert contents(folder) == before
        folder.replace(name.path, data)


def test_contents_are_sealed_once(tmp_path: Path) -> None:
    folder = run_of_two_epochs(tmp_path)
    Committer.claim(folder, RUN, {}).leave()

    seals = {(epoch.epoch, seal.epoch): len(seal.objects) for epoch in epochs_of(folder) for seal in epoch.sealed}

    counts = [sum(name.epoch == epoch for name in manifest.survey(folder).counted) for epoch in (1, 2)]
    assert seals == {(2, 1): counts[0], (3, 1): 0, (3, 2): counts[1]}


def run_of_two_epochs(folder: Folder) -> Folder:
    put(begin(folder), folder, [attempt("t1")])
    later = Committer.claim(folder, RUN, {})
    later.record([Prompt(prompt_sha256="p", text="say")])
    later.record([Prompt(prompt_sha256="q", text="and say")])
    later.finish()
    return folder


def damaged_in(folder: Path) -> list[tuple[str, str]]:
    return [(finding.kind, finding.path) for finding in check(folder) if finding.severity == "error"]


def epochs_of(folder: Path) -> list[Epoch]:
    return manifest.survey(folder).epochs


# --- folders of before ---------------------------------------------------------------------------------------------


@pytest.fixture
def before(tmp_path: Path) -> Path:
    """A folder without closing lines and seals of contents, as the first version wrote it."""
    folder = run_of_two_epochs(tmp_path)
    found = manifest.survey(folder)
    for name in found.counted:
        plain = "".join(f"{line.model_dump_json()}\n" for line in found.objects[name])
        (folder / name.path).write_text(plain)
    for epoch in found.epochs:
        sealed = [seal.model_dump(exclude={"objects"}) for seal in epoch.sealed]
        plain = epoch.model_copy(update={"sealed": sealed}).model_dump_json(exclude={"closes"}, warnings=False)
        (folder / "epochs" / f"{epoch.epoch}.json").write_text(plain)
    run = manifest.read_run(folder)
    (folder / "run.json").write_text(run.model_dump_json(exclude={"sealed", "views_sha256"}))
    assert "closing" not in (folder / "manifest/2-1.jsonl").read_text() and "objects" not in run_text(folder)
    return folder


def run_text(folder: Path) -> str:
    return (folder / "epochs/2.json").read_text() + (folder / "run.json").read_text()


def test_folder_without_proofs_is_sound_and_goes_on(before: Path) -> None:
    assert check(before) == []

    Committer.claim(before, RUN, {}).leave()

    assert check(before) == []
    assert manifest.read_run(before).state == "finished"


def test_objects_without_closing_lines_are_proved_once_they_are_sealed(before: Path) -> None:
    Committer.claim(before, RUN, {}).leave()

    for name in manifest.survey(before).counted:
        data = (before / name.path).read_bytes()
        (before / name.path).write_bytes(b"".join(lines_of(data)[1:]))
        assert damaged_in(before) == [("wrong_manifest", name.path)]
        (before / name.path).write_bytes(data)


# --- looking again ---------------------------------------------------------------------------------------------------


def test_objects_that_are_known_are_not_read_again(tmp_path: Path) -> None:
    committer = begin(tmp_path)
    first = manifest.survey(tmp_path)
    (tmp_path / "manifest/1-1.jsonl").write_bytes(b"{")
    committer.record([Prompt(prompt_sha256="p", text="say")])

    later = manifest.survey(tmp_path, first.contents)

    assert later.objects.keys() == {ObjectName(1, 3)}
    assert later.contents.keys() == {ObjectName(1, number) for number in (1, 2, 3)}


def test_listing_that_shows_a_later_object_first_is_repeated(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    begin(tmp_path)
    late, real = ["1-1.jsonl"], LocalStorage.sizes

    def sizes(storage: LocalStorage, folder: str) -> dict[str, int]:
        found = real(storage, folder)
        return {name: size for name, size in found.items() if folder != "manifest" or name != (late and late.pop())}

    monkeypatch.setattr(LocalStorage, "sizes", sizes)

    found: Survey = manifest.whole(tmp_path)

    assert [name.number for name in found.counted] == [1, 2]


def test_number_far_off_names_some_gaps_and_ends(tmp_path: Path) -> None:
    begin(tmp_path)
    far = ObjectName(1, 999_999_999_999)
    (tmp_path / far.path).write_bytes(manifest.encoded(far, [], "what was before"))

    assert len(manifest.survey(tmp_path).missing) == 100


# --- how a run is left ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("ended", [True, False])
def test_epoch_of_somebody_else_leaves_the_run_as_it_was(ended: bool, tmp_path: Path) -> None:
    committer = begin(tmp_path)
    if ended:
        committer.finish()
    was: RunFile = manifest.read_run(tmp_path)

    Committer.claim(tmp_path, RUN, {}).leave()

    found = manifest.read_run(tmp_path)
    assert (found.state, found.finished_at) == (was.state, was.finished_at)
    assert found.sealed and found.sealed.epoch == found.epoch == 2


def test_folder_that_was_none_is_finished_when_it_is_left(tmp_path: Path) -> None:
    Committer.claim(tmp_path, RUN, {}).leave()

    found = manifest.read_run(tmp_path)
    assert found.state == "finished" and found.finished_at
