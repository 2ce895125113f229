"""Whole exports of a collected dataset, loaded by the loading code that trainers use."""

from __future__ import annotations

import hashlib
import json
import os
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import datasets
import pyarrow.parquet as pq
import pytest
import yaml
from PIL import Image

from pipeline.errors import ConfigError, RunError
from pipeline.export import ExportOptions, Outcome, export
from pipeline.exports import files
from pipeline.exports.preflight import placeholders
from pipeline.exports.trainers import RENDERERS
from pipeline.query import query
from tests.datasets import attempt, collected, judging, verdict

Exporter = Callable[..., Outcome]


@pytest.fixture(scope="module")
def exported(dataset: Path, tmp_path_factory: pytest.TempPathFactory) -> Exporter:
    """Exports of the collected dataset, each made once."""
    made: dict[str, Outcome] = {}
    home = tmp_path_factory.mktemp("exports")

    def make(shape: str, trainer: str = "hf", **more: Any) -> Outcome:
        options = ExportOptions.model_validate({"shape": shape, "trainer": trainer, "test_share": 0.3, **more})
        key = hashlib.sha256(options.model_dump_json().encode()).hexdigest()[:12]
        if key not in made:
            made[key] = export(dataset, home / key, options)
        return made[key]

    return make


@pytest.fixture(autouse=True, scope="module")
def own_cache(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """`datasets` keeps what it has loaded in a folder of the tests."""
    datasets.disable_progress_bars()
    before = datasets.config.HF_DATASETS_CACHE
    datasets.config.HF_DATASETS_CACHE = tmp_path_factory.mktemp("cache")
    yield
    datasets.config.HF_DATASETS_CACHE = before


def loaded(outcome: Outcome) -> dict[str, Any]:
    """Every split, as `datasets` finds it by the card."""
    return dict(datasets.load_dataset(str(outcome.out)))


def size_of(folder: Path, picture: Any) -> tuple[int, int]:
    """Width and height of a picture: decoded by `datasets`, or a file beside the rows."""
    if not isinstance(picture, str):
        return (picture.width, picture.height)
    with Image.open(folder / picture) as opened:
        return (opened.width, opened.height)


@pytest.mark.parametrize("pair", RENDERERS, ids="-".join)
def test_every_pair_loads_with_as_many_pictures_as_places(pair: tuple[str, str], exported: Exporter) -> None:
    outcome = exported(*pair)
    splits = loaded(outcome)
    assert {name: len(rows) for name, rows in splits.items()} == dict(outcome.account.rows)
    assert set(splits) == {"train", "test"}
    for row in splits["train"].select(range(3)):
        pictures = row.get("images", [])
        shown = {name: row[name] for name in ("messages", "prompt", "completion", "completions") if name in row}
        assert placeholders(shown) == len(pictures)
        assert {size_of(outcome.out, picture) for picture in pictures} <= {(640, 400)}


def unscored(dataset: Path) -> int:
    """How many trajectories nobody could judge."""
    return int(query("SELECT * FROM trace_grades WHERE status = 'unscored'", [dataset]).num_rows)


def test_sft_holds_the_accepted_trajectories_and_what_is_missing_is_listed(dataset: Path, exported: Exporter) -> None:
    outcome = exported("sft")
    accepted = set(query("SELECT attempt_id FROM accepted", [dataset]).column(0).to_pylist())
    complete = set(
        query("SELECT attempt_id FROM trace_grades WHERE grade = 'complete'", [dataset]).column(0).to_pylist()
    )
    rows = [row_id for split in loaded(outcome).values() for row_id in split["row_id"]]
    rejected = {row["row_id"]: row["reasons"] for row in pq.read_table(outcome.out / "rejected.parquet").to_pylist()}
    # One screen could not be captured; whether a trajectory changed what it should not is for its mistakes to say.
    assert [row_id for row_id, reasons in rejected.items() if "not_usable" in reasons] == sorted(complete - accepted)
    assert [reasons for reasons in rejected.values() if reasons != ["not_usable"]] == [["image_count"]]
    assert set(rows) == accepted - set(rejected) and len(rows) == len(set(rows))
    assert complete == set(rows) | set(rejected)
    assert outcome.account.left_out["unscored"] == unscored(dataset) > 0


def test_rl_steps_agree_with_the_shipped_view(dataset: Path, exported: Exporter) -> None:
    sql = (
        "SELECT attempt_id || '/' || step_index AS row_id, step_grade, step_share, trace_grade, contract_score "
        "FROM rl_steps WHERE step_grade IS NOT NULL AND trace_status <> 'unscored' AND frame_sha256 IS NOT NULL"
    )
    expected = {row["row_id"]: row for row in query(sql, [dataset]).to_pylist()}
    found = [row for split in loaded(exported("rl-step")).values() for row in split.remove_columns("images")]
    assert {row["row_id"]: {name: row[name] for name in expected[row["row_id"]]} for row in found} == expected


def test_no_task_straddles_the_splits_of_any_shape(exported: Exporter) -> None:
    sides: dict[str, set[str]] = {}
    for shape in ("sft", "rl-step", "prm", "kto", "mopd"):
        for name, rows in loaded(exported(shape)).items():
            for task_id in rows["task_id"]:
                sides.setdefault(task_id, set()).add(name)
    assert all(len(names) == 1 for names in sides.values())
    assert {name for names in sides.values() for name in names} == {"train", "test"}


def test_by_application_everything_falls_on_one_side(exported: Exporter) -> None:
    outcome = exported("prm", split_by="app")
    assert len([split for split, number in outcome.account.rows.items() if number]) == 1


def test_mopd_spans_and_weights_survive_the_way(exported: Exporter) -> None:
    rows = [row for split in loaded(exported("mopd")).values() for row in split.remove_columns("images")]
    weighed = [row for row in rows if row["weights"]]
    assert weighed and all(row["origin"] == "rejected" for row in weighed)
    for row in rows:
        (span,) = (span for span in row["spans"] if span["name"] == "type")
        assert row["reply"][span["start"] : span["end"]] == row["action"]["type"]


def test_llama_factory_finds_its_files_by_dataset_info(exported: Exporter) -> None:
    outcome = exported("kto", "llama-factory")
    info = json.loads((outcome.out / "dataset_info.json").read_text())
    assert set(info) == {"pathproof_kto_train", "pathproof_kto_test"}
    entry = info["pathproof_kto_train"]
    assert entry["formatting"] == "sharegpt"
    assert entry["columns"] == {"messages": "messages", "images": "images", "kto_tag": "kto_tag"}
    assert entry["tags"]["role_tag"] == "role" and entry["tags"]["content_tag"] == "content"
    lines = (outcome.out / entry["file_name"]).read_text(encoding="utf-8").splitlines()
    assert len(lines) == outcome.account.rows["train"]
    assert set(json.loads(lines[0])) == set(entry["columns"].values())
    assert not (exported("kto", "ms-swift").out / "dataset_info.json").exists()


def test_the_card_says_what_is_in_it_and_what_is_not(dataset: Path, exported: Exporter) -> None:
    outcome = exported("rl-step", "verl", licence="cc-by-4.0")
    _, header, text = (outcome.out / "README.md").read_text(encoding="utf-8").split("---\n", 2)
    head = yaml.safe_load(header)
    assert head["license"] == "cc-by-4.0" and head["language"] == ["en"]
    assert head["size_categories"] == ["n<1K"]
    assert [one["path"] for one in head["configs"][0]["data_files"]] == ["data/test.parquet", "data/train.parquet"]
    assert f"| train | {outcome.account.rows['train']} |" in text
    assert f"| correct | {outcome.account.grades['correct']} |" in text
    assert f"{outcome.account.rejected_rows} rows were rejected" in text and "| image_count | 1 |" in text
    assert f"| unscored | {unscored(dataset)} |" in text
    assert "| uncalibrated | unknown | unknown | 0 |" in text
    assert "Run `collected`" in text and "policy.name=planner" in text and "Policy `scripted`" in text
    assert "split_by=template" in text


def test_the_card_gives_measured_error_rates(tmp_path: Path) -> None:
    calibration = {"calibration_id": "web-2026", "fpr": 0.05, "fnr": 0.125, "n": 200}
    rows = [judging(), verdict("t-1", calibration=calibration)]
    folder = collected(tmp_path / "run", [attempt("t")], rows)
    export(folder, tmp_path / "out", ExportOptions(shape="sft"))
    assert "| web-2026 | 0.050 | 0.125 | 200 | 1 |" in (tmp_path / "out" / "README.md").read_text()


def test_pictures_that_do_not_decode_are_rejected_with_their_reason(tmp_path: Path) -> None:
    folder = collected(tmp_path / "run", [attempt("t")], [judging(), verdict("t-1")])
    outcome = export(folder, tmp_path / "out", ExportOptions(shape="sft"))
    (row,) = pq.read_table(outcome.out / "rejected.parquet").to_pylist()
    assert (row["row_id"], row["shape"], row["trainer"], row["step_index"]) == ("t-1", "sft", "hf", None)
    assert "undecodable_picture" in row["reasons"] and "no PNG signature" in " ".join(row["details"])
    assert not (outcome.out / "data").exists()


@pytest.mark.parametrize("trainer", ["hf", "trl", "ms-swift", "llama-factory"])
def test_a_split_without_rows_is_left_out_and_the_rest_loads(trainer: str, exported: Exporter) -> None:
    outcome = exported("kto", trainer, test_share=1.0)
    assert outcome.account.rows["train"] == 0
    assert {name: len(rows) for name, rows in loaded(outcome).items()} == {"test": outcome.account.rows["test"]}
    assert not [path for path in outcome.out.rglob("*train*") if path.is_file()]
    assert "Split `train` has no rows, and therefore no file." in (outcome.out / "README.md").read_text()


@pytest.mark.parametrize("trainer", ["hf", "ms-swift"])
def test_rejected_rows_are_never_loaded_for_data(trainer: str, tmp_path: Path) -> None:
    folder = collected(tmp_path / "run", [attempt("t")], [judging(), verdict("t-1")])
    outcome = export(folder, tmp_path / "out", ExportOptions.model_validate({"shape": "sft", "trainer": trainer}))
    assert outcome.account.rejected_rows == 1
    with pytest.raises(FileNotFoundError, match="data files"):
        loaded(outcome)


def test_a_trajectory_between_splits_is_counted(dataset: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pipeline.export.assign_splits", lambda *_: {})
    account = export(dataset, tmp_path / "out", ExportOptions(shape="sft", split_by="app")).account
    assert account.left_out.keys() == {"between splits"} and account.rows.total() == account.rejected_rows == 0


def test_the_same_dataset_gives_the_same_files(dataset: Path, tmp_path: Path) -> None:
    for name in ("first", "second"):
        export(dataset, tmp_path / name, ExportOptions(shape="kto", trainer="ms-swift"))
    assert (tmp_path / "first" / "train.jsonl").read_bytes() == (tmp_path / "second" / "train.jsonl").read_bytes()


def test_an_export_that_fails_leaves_nothing(dataset: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(self: object, row: object) -> None:
        raise ConfigError("enough")

    monkeypatch.setattr(files.ExportFiles, "reject", full)
    with pytest.raises(ConfigError, match="enough"):
        export(dataset, tmp_path / "out", ExportOptions(shape="sft"))
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("split", ["../escaped", "/tmp/escaped", "", "a/b", ".."])
def test_a_split_cannot_name_a_file_elsewhere(tmp_path: Path, split: str) -> None:
    made = files.ExportFiles(tmp_path / "out", RENDERERS["sft", "hf"])

    with pytest.raises(RunError, match="cannot name a file"):
        made.open_split(split)


def test_a_place_that_is_taken_is_refused(dataset: Path, tmp_path: Path) -> None:
    (tmp_path / "mine.txt").write_text("mine")
    with pytest.raises(ConfigError, match="already there"):
        export(dataset, tmp_path, ExportOptions(shape="sft"))
    assert [path.name for path in tmp_path.iterdir()] == ["mine.txt"]


DYING = """
import os, signal, sys
from pathlib import Path
from pipeline import export
from pipeline.exports import files

files.sync_tree = lambda _: os.kill(os.getpid(), signal.SIGKILL)
export.export(Path(sys.argv[1]), Path(sys.argv[2]), export.ExportOptions(shape="sft"))
"""


def test_what_killed_exports_left_is_removed_by_the_next_one_to_the_same_place(tmp_path: Path) -> None:
    folder = collected(tmp_path / "run", [attempt("t")], [judging(), verdict("t-1")])
    for out in ("out", "other"):
        given = [sys.executable, "-c", DYING, str(folder), str(tmp_path / "to" / out)]
        done = subprocess.run(given, capture_output=True, text=True, timeout=100)
        assert done.returncode == -9, done.stderr
    assert len(list((tmp_path / "to").glob(".out.*.tmp/README.md"))) == 1

    export(folder, tmp_path / "to" / "out", ExportOptions(shape="sft"))

    assert [path.name.split(".")[1] for path in (tmp_path / "to").iterdir() if path.name != "out"] == ["other"]


def test_what_a_living_export_has_aside_is_left_alone(tmp_path: Path) -> None:
    with files.whole_folder(tmp_path / "out") as first:
        (first / "row").write_text("1")
        with pytest.raises(RunError, match="no more"), files.whole_folder(tmp_path / "out"):
            raise RunError("no more")
        assert (first / "row").read_text() == "1"
    assert [path.name for path in tmp_path.iterdir()] == ["out"]


def test_everything_is_durable_before_it_has_its_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = collected(tmp_path / "run", [attempt("t")], [judging(), verdict("t-1")])
    real, synced = os.fsync, set[str]()

    def fsync(descriptor: int) -> None:
        real(descriptor)
        synced.add(re.sub(r".*/\.out\.[0-9a-f]+\.tmp", "", str(Path(f"/proc/self/fd/{descriptor}").readlink())))

    monkeypatch.setattr(os, "fsync", fsync)
    export(folder, tmp_path / "out", ExportOptions(shape="sft"))

    written = {f"/{path.relative_to(tmp_path / 'out')}" for path in (tmp_path / "out").rglob("*")}
    assert "/README.md" in written and written | {""} <= synced
