"""Files that persons write: what can be read, and the one line about what cannot."""

from __future__ import annotations

import gzip
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from catalogs.research import past
from catalogs.sources import Tasks, read_source
from catalogs.survey import read_scores
from pipeline.app_entry import read_entry
from pipeline.cataloguing import read_catalog
from pipeline.config import load_config
from pipeline.errors import ConfigError
from pipeline.label_sets import read_labels
from pipeline.permissions import load_profile
from pipeline.scripted_endpoint import load_script
from pipeline.user_files import decoded, json_of, lines_of, rows_of, text_of, yaml_of
from taskspecs.gate_sets import load_contamination
from taskspecs.store import load_tasks
from verifiers.calibration import load_calibration


def past_tasks(path: Path) -> list[str]:
    return list(past(Tasks(language="en", path=str(path), field="text", install="")))


READERS: list[tuple[str, Callable[[Path], object]]] = [
    ("tasks.jsonl", lambda path: load_tasks(str(path))),
    ("tasks.yaml", lambda path: load_tasks(str(path))),
    ("texts.txt", load_contamination),
    ("texts.jsonl", load_contamination),
    ("texts.jsonl.gz", load_contamination),
    ("labels.csv", lambda path: read_labels(str(path))),
    ("config.yaml", lambda path: load_config(str(path), [])),
    ("catalog.yaml", lambda path: read_catalog(str(path))),
    ("catalog.jsonl", lambda path: read_catalog(str(path))),
    ("script.yaml", load_script),
    ("source.yaml", read_source),
    ("scores.jsonl", read_scores),
    ("past.jsonl", past_tasks),
    ("past.jsonl.gz", past_tasks),
    ("profile.yaml", lambda path: load_profile(str(path))),
    ("app.yaml", read_entry),
    ("calibration.json", lambda path: load_calibration(str(path))),
]
ESCAPED = [(name, read) for name, read in READERS if not name.endswith((".txt", ".csv"))]


def put(path: Path, data: bytes) -> Path:
    path.write_bytes(gzip.compress(data, mtime=0) if path.suffix == ".gz" else data)
    return path


@pytest.mark.parametrize(("name", "read"), READERS, ids=[name for name, _ in READERS])
def test_bytes_that_are_no_text_are_named_with_file_and_line(
    tmp_path: Path, name: str, read: Callable[[Path], object]
) -> None:
    path = put(tmp_path / name, '{"text": "a"}\n{"text": "Ä"}\n'.encode("latin-1"))

    with pytest.raises(ConfigError, match=rf"{name}:[12]: ") as caught:
        read(path)

    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(("name", "read"), ESCAPED, ids=[name for name, _ in ESCAPED])
def test_half_of_a_character_is_refused(tmp_path: Path, name: str, read: Callable[[Path], object]) -> None:
    path = put(tmp_path / name, b'{"text": "\\ud800"}\n')

    with pytest.raises(ConfigError, match=rf"{name}(?::1)?'?(?:: | is )") as caught:
        read(path)

    str(caught.value).encode()


@pytest.mark.parametrize(
    "name", ["tasks.jsonl", "tasks.yaml", "texts.txt", "texts.jsonl", "labels.csv", "catalog.jsonl"]
)
@pytest.mark.parametrize("data", [b"", b"\n \n", b"tasks: []\n"])
def test_a_file_with_nothing_in_it_is_no_success(tmp_path: Path, name: str, data: bytes) -> None:
    if data.startswith(b"tasks") and name != "tasks.yaml":
        data = b"\n"
    path = put(tmp_path / name, data)

    with pytest.raises(ConfigError, match=name):
        dict(READERS)[name](path)


@pytest.mark.parametrize("data", [b"\x1f\x8bnothing", gzip.compress(b"a text\n" * 99, mtime=0)[:-9], b"plain"])
def test_an_archive_that_is_broken_is_one_line(tmp_path: Path, data: bytes) -> None:
    path = tmp_path / "texts.txt.gz"
    path.write_bytes(data)

    with pytest.raises(ConfigError, match=r"texts\.txt\.gz"):
        load_contamination(path)


@pytest.mark.parametrize(
    "text", ["a: 2026-13-45", f"a: {'9' * 5000}", "a: " + "[" * 5000, "a: [1", 'a: "\\ud83d\\ude00"']
)
def test_yaml_that_makes_no_value_is_one_line(text: str) -> None:
    with pytest.raises(ConfigError, match=r"^place") as caught:
        yaml_of(f"b: 1\n{text}\n", "place")

    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("text", ["{", "[" * 100_000, '"\\udc00"', "9" * 5000])
def test_json_that_makes_no_value_is_one_line(text: str) -> None:
    with pytest.raises(ConfigError, match=r"^place"):
        json_of(text, "place")


@pytest.mark.parametrize(
    ("text", "value"), [('"\\ud83d\\ude00"', "😀"), ('"\\\\ud800"', "\\ud800"), ('{"a": [1]}', {"a": [1]})]
)
def test_json_that_is_whole_is_read(text: str, value: object) -> None:
    assert json_of(text, "place") == value


def test_a_line_ends_at_a_line_feed_only() -> None:
    text = decoded('\ufeff{"a": "x\u2028y\x85z"}\r\n\n{"b": 1}'.encode(), "f")

    assert [(line.place, row) for line, row in rows_of(text, "f")] == [
        ("f:1", {"a": "x\u2028y\x85z"}),
        ("f:3", {"b": 1}),
    ]


def test_a_file_that_cannot_be_opened_is_named(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"^--labels: .*nowhere\.csv: cannot be read"):
        text_of(tmp_path / "nowhere.csv", "--labels")


@given(st.binary(max_size=60))
def test_no_bytes_are_too_odd(data: bytes) -> None:
    try:
        text = decoded(data, "f")
        list(lines_of(text, "f"))
        yaml_of(text, "f")
    except ConfigError as error:
        assert str(error).startswith("f:") and "\n" not in str(error)
