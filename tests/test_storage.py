"""A local folder and an object store behave alike, and lose nothing when a write fails."""

from __future__ import annotations

import pickle
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from pipeline.errors import ConfigError, RunError, SinkError
from pipeline.storage import Storage, driver_lock, storage_of


@pytest.fixture
def place(storage: Storage) -> Storage:
    storage.prepare(["folder"])
    return storage


def test_created_object_is_there_as_a_whole(place: Storage) -> None:
    place.create("folder/a", b"one")

    assert place.read("folder/a") == b"one"
    assert place.size("folder/a") == 3
    assert place.sizes("folder") == {"a": 3}


def test_second_creation_of_a_key_is_refused_and_changes_nothing(place: Storage) -> None:
    place.create("folder/a", b"one")

    with pytest.raises(FileExistsError):
        place.create("folder/a", b"two")

    assert place.read("folder/a") == b"one"
    assert place.sizes("folder") == {"a": 3}


def test_replaced_object_is_the_new_one(place: Storage) -> None:
    place.replace("folder/a", b"one")
    place.replace("folder/a", b"three")

    assert place.read("folder/a") == b"three"


def test_deleting_twice_is_no_error(place: Storage) -> None:
    place.create("folder/a", b"one")

    place.delete("folder/a")
    place.delete("folder/a")

    assert place.size("folder/a") is None


def test_what_is_not_there(place: Storage) -> None:
    assert place.size("folder/a") is None
    assert place.sizes("nowhere") == {}
    with pytest.raises(FileNotFoundError):
        place.read("folder/a")


def test_listing_is_of_one_level_and_sorted(place: Storage) -> None:
    for key in ("folder/b", "folder/a", "top"):
        place.create(key, key.encode())

    assert list(place.sizes("folder")) == ["a", "b"]
    assert list(place.sizes("")) == ["top"]


def test_folders_are_those_of_one_level(place: Storage) -> None:
    place.prepare(["other"])
    for key in ("other/c", "folder/a", "top"):
        place.create(key, b"x")

    assert place.folders() == ["folder", "other"]


def test_place_is_occupied_by_anything_but_what_is_named(place: Storage) -> None:
    place.create("driver.lock", b"")
    before = place.occupied({"driver.lock"})
    place.create("folder/a", b"")

    assert (before, place.occupied({"driver.lock"})) == (False, True)


def test_place_of_nothing_is_not_occupied_and_a_file_is(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_bytes(b"")

    assert not storage_of(tmp_path / "nothing").occupied(())
    assert storage_of(file).occupied(())


def test_new_file_is_there_when_its_block_ends(place: Storage) -> None:
    with place.new_file("folder/a") as file:
        file.write(b"one")
        file.write(b"two")

    assert place.read("folder/a") == b"onetwo"


def test_new_file_is_absent_when_its_block_fails(place: Storage) -> None:
    with pytest.raises(ZeroDivisionError), place.new_file("folder/a") as file:
        file.write(b"one")
        raise ZeroDivisionError

    assert place.sizes("folder") == {}


def test_new_file_never_replaces_another(place: Storage) -> None:
    place.create("folder/a", b"one")

    with pytest.raises(FileExistsError), place.new_file("folder/a") as file:
        file.write(b"two")

    assert place.read("folder/a") == b"one"


def test_arrow_reads_what_was_written(place: Storage) -> None:
    table = pa.table({"a": [1, 2]})
    with place.new_file("folder/a.parquet") as file:
        pq.write_table(table, file)

    assert pq.read_table("folder/a.parquet", filesystem=place.files, partitioning=None) == table


def test_storage_can_be_told_to_another_process(place: Storage) -> None:
    place.create("folder/a", b"one")

    again: Storage = pickle.loads(pickle.dumps(place))

    assert again == place
    assert again.read("folder/a") == b"one"


def test_address_leads_back_to_the_storage(place: Storage) -> None:
    assert storage_of(place.address) == place
    assert storage_of(Path(place.address)) == place
    assert storage_of(place) is place


def test_storages_of_the_same_keys_stay_apart(bucket: str) -> None:
    storage_of(f"{bucket}/a").create("x", b"one")

    assert storage_of(f"{bucket}/a/").read("x") == b"one"
    assert storage_of(f"{bucket}/ab").size("x") is None
    assert storage_of(bucket).read("a/x") == b"one"


def test_other_kinds_of_address_are_the_users_mistake() -> None:
    with pytest.raises(ConfigError, match="gs://bucket/x: a dataset is a local folder or s3://"):
        storage_of("gs://bucket/x")


def test_bucket_that_is_not_there_is_an_error_of_the_disk(bucket: str) -> None:
    with pytest.raises(SinkError, match="create it, or mend the address"), driver_lock(f"{bucket}-other/x"):
        pass


def test_server_that_is_not_there_is_an_error_of_the_disk(bucket: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_ENDPOINT_URL", "http://127.0.0.1:1")

    with pytest.raises(OSError, match="does not answer: check AWS_ENDPOINT_URL"):
        storage_of(bucket).read("a")


def test_creation_whose_answer_was_lost_succeeds(bucket: str) -> None:
    """The client repeats a request that was answered too late, and meets what it has written itself."""
    place = storage_of(bucket)
    place.create("a", b"one")

    place.create("a", b"one")

    assert place.read("a") == b"one"


def test_second_driver_is_refused_and_the_next_one_is_not(storage: Storage) -> None:
    with driver_lock(storage), pytest.raises(RunError, match="in use by another driver"), second_driver(storage):
        pass

    with driver_lock(storage):
        pass


@contextmanager
def second_driver(storage: Storage) -> Iterator[None]:
    with driver_lock(storage.address):
        yield
