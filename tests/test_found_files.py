"""Files that somebody else has made: pipes, large and shut ones, odd names, folders that come and go."""

from __future__ import annotations

import os
import shutil
import socket
import threading
from pathlib import Path

import pytest

from pipeline.app_state import difference, query, restore, snapshot
from pipeline.entry_state import FilesState, LinesState, SqliteState, StateSource
from pipeline.envs.home_files import fingerprints
from pipeline.found_files import SPECIAL, UNREADABLE, clear, fingerprint, read, read_text
from pipeline.records import ProbeRead

SOURCES: list[StateSource] = [FilesState(path="notes"), LinesState(path="list.txt"), SqliteState(path="data.db")]


def folder_with_pipe(top: Path) -> Path:
    """A folder where a pipe that nobody writes to lies in the place of a file."""
    (top / "notes").mkdir()
    (top / "notes" / "a.txt").write_text("a", encoding="utf-8")
    os.mkfifo(top / "notes" / "b.txt")
    return top


def test_a_pipe_is_told_of_and_not_waited_for(tmp_path: Path) -> None:
    found = fingerprints(folder_with_pipe(tmp_path), "")

    assert found["notes/b.txt"] == SPECIAL
    assert len(found["notes/a.txt"]) == 64
    with pytest.raises(FileNotFoundError):
        read(tmp_path / "notes" / "b.txt")
    with pytest.raises(FileNotFoundError):
        read(tmp_path / "notes")


def test_a_socket_is_told_of(tmp_path: Path) -> None:
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(tmp_path / "s"))

        assert fingerprint(tmp_path / "s") == SPECIAL


def test_a_large_file_is_told_by_size_and_time_and_not_read(tmp_path: Path) -> None:
    large = tmp_path / "large"
    large.write_bytes(b"12345")
    os.utime(large, ns=(1, 1))

    assert fingerprint(large, most=4) == "large 5 1"
    assert fingerprint(large, most=5) != "large 5 1"
    with pytest.raises(OSError, match="more than 4 bytes"):
        read(large, most=4)
    assert read(large, most=5) == b"12345"


def test_a_sparse_file_of_terabytes_takes_no_time(tmp_path: Path) -> None:
    with (tmp_path / "huge").open("wb") as file:
        file.truncate(1 << 40)

    assert fingerprints(tmp_path, "")["huge"].startswith(f"large {1 << 40} ")


def test_lines_end_as_in_text_files(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes("é\r\nb\n".encode())

    assert read_text(tmp_path / "a") == "é\nb\n"


def test_what_its_reader_may_not_see_is_unreadable(tmp_path: Path) -> None:
    (tmp_path / "shut").mkdir()
    (tmp_path / "a").write_bytes(b"")

    found = as_nobody(tmp_path, "a", "shut")

    assert found == {"a": UNREADABLE, "shut/": UNREADABLE}


def as_nobody(home: Path, *shut: str) -> dict[str, str]:
    """What somebody without rights sees in a home folder in which some things have no permissions."""
    for name in shut:
        (home / name).chmod(0)
    if os.getuid() != 0:
        return fingerprints(home, "")
    for folder in [home, *home.parents]:
        if folder.stat().st_uid == 0 and folder != Path("/") and not folder.stat().st_mode & 0o5:
            folder.chmod(folder.stat().st_mode | 0o055)
    os.seteuid(65534)
    try:
        return fingerprints(home, "")
    finally:
        os.seteuid(0)


def test_folders_that_come_and_go_are_no_trouble(tmp_path: Path) -> None:
    end = threading.Event()
    (tmp_path / "stays").write_bytes(b"")

    def churn() -> None:
        while not end.is_set():
            for number in range(20):
                (tmp_path / str(number) / "deep").mkdir(parents=True, exist_ok=True)
                (tmp_path / str(number) / "deep" / "file").write_bytes(b"x")
            for number in range(20):
                shutil.rmtree(tmp_path / str(number), ignore_errors=True)

    restless = threading.Thread(target=churn)
    restless.start()
    try:
        looks = [fingerprints(tmp_path, "") for _ in range(100)]
    finally:
        end.set()
        restless.join()

    assert all(len(look["stays"]) == 64 for look in looks)
    assert len({frozenset(look) for look in looks}) > 1, "nothing came or went"


def test_a_name_that_is_no_text_can_be_written_down(tmp_path: Path) -> None:
    (tmp_path / os.fsdecode(b"a\xff")).write_bytes(b"")

    rows = difference({}, fingerprints(tmp_path, ""))

    assert rows == [["a\\xff", "added"]]
    assert (
        b"xff"
        in ProbeRead(attempt_id="", observation_index=0, app_id="a", probe="changes", value=rows, error=None)
        .model_dump_json()
        .encode()
    )


def test_the_state_of_an_application_is_told_and_put_back_whatever_lies_there(tmp_path: Path) -> None:
    template, data = tmp_path / "template", tmp_path / "data"
    for folder in (template, data):
        folder.mkdir()
    (template / "notes").mkdir()
    for name in ("notes/a.txt", "list.txt"):
        (template / name).write_text("a\n", encoding="utf-8")
    outside = tmp_path / "outside"
    outside.write_text("keep", encoding="utf-8")
    (data / "notes").mkdir()
    (data / "notes" / "a.txt").symlink_to(outside)
    for name in ("notes/pipe", "list.txt", "data.db"):
        os.mkfifo(data / name)

    told = snapshot(SOURCES, data)
    with pytest.raises(OSError, match=r"data\.db is no file"):
        query(data / "data.db", "SELECT 1")
    restore(SOURCES, template, data)

    assert told == {"notes/pipe": SPECIAL}
    assert snapshot(SOURCES, data) == snapshot(SOURCES, template)
    assert outside.read_text(encoding="utf-8") == "keep"


def test_room_is_made_for_a_file_and_files_and_folders_stay(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"")
    (tmp_path / "folder").mkdir()
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "link").symlink_to("/nowhere")

    for path in [*tmp_path.iterdir(), tmp_path / "gone"]:
        clear(path)

    assert sorted(path.name for path in tmp_path.iterdir()) == ["file", "folder"]
