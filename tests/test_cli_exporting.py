"""The commands that give data away: exit codes, one-line errors, what they print."""

from __future__ import annotations

from pathlib import Path

import pytest

from pipeline.check import check
from pipeline.cli import app_for
from pipeline.commands.shell import run
from tests.datasets import attempt, collected, judging, verdict


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A small finished dataset: one accepted trajectory, whose pictures are none."""
    return collected(tmp_path / "run", [attempt("a")], [judging(), verdict("a-1")])


def test_export_prints_counts_and_the_place(folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "out"
    code = run(app_for(), ["export", str(folder), "--to", "sft", "--for", "trl", "--out", str(out)])
    captured = capsys.readouterr()
    assert code == 0
    assert captured.out == f"rows=0 rejected=1 out={out}\n"
    assert "rejected: image_count 1, undecodable_picture 1\n" in captured.err
    assert (out / "README.md").is_file()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--to", "sft", "--for", "verl"], "error: export: verl cannot read sft; supported: hf: kto, mopd, "),
        (["--to", "novel"], "error: export: hf cannot read novel; supported: "),
        (["--to", "prm", "--explore", "maybe"], "error: export: explore: "),
        (["--to", "sft", "--split-by", "row"], "error: export: split_by: "),
        (["--to", "sft", "--test-share", "2"], "error: export: test_share: "),
        (["--to", "sft", "--max-tokens", "0"], "error: export: max_tokens: "),
        (["--to", "grounding", "--split-by", "app"], "error: export: --to grounding takes no --split-by: "),
        (
            ["--to", "grounding", "--seed", "0", "--keep-personal-data"],
            "error: export: --to grounding takes no --seed, ",
        ),
        ([], "error: Missing option '--to'"),
    ],
)
def test_wrong_arguments_cost_one_line_and_exit_code_2(
    arguments: list[str], message: str, folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code = run(app_for(), ["export", str(folder), *arguments, "--out", str(tmp_path / "out")])
    captured = capsys.readouterr()
    assert code == 2
    assert captured.out == "" and captured.err.startswith(message) and captured.err.count("\n") == 1
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("command", [["export", "--to", "sft"], ["redact"]])
def test_what_is_no_dataset_is_refused(command: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code = run(app_for(), [*command, str(tmp_path), "--out", str(tmp_path / "out")])
    assert code == 2
    assert "is not a dataset folder" in capsys.readouterr().err
    assert not (tmp_path / "out").exists()


def test_redact_writes_a_sound_folder_and_prints_counts(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "public"
    assert run(app_for(), ["redact", str(folder), "--out", str(out)]) == 0
    assert capsys.readouterr().out == f"pictures=0 trees=0 rows=0 marked=0 out={out}\n"
    assert check(out) == []


def test_redact_prints_the_address_of_a_copy_in_a_store(
    folder: Path, bucket: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(app_for(), ["redact", str(folder), "--out", f"{bucket}/public/"]) == 0
    assert capsys.readouterr().out == f"pictures=0 trees=0 rows=0 marked=0 out={bucket}/public\n"


@pytest.mark.parametrize("out", ["s3://bucket/set", "s3://bucket", "gs://bucket/set", "https://host/set"])
@pytest.mark.parametrize(
    "command", [["export", "--to", "sft"], ["report"], ["calibrate", "--labels"]], ids=["export", "report", "calibrate"]
)
def test_what_is_no_dataset_is_written_on_this_machine_only(
    command: list[str],
    out: str,
    folder: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    before = sorted(tmp_path.iterdir())
    assert run(app_for(), [*command, str(folder), "--out", out]) == 2
    assert capsys.readouterr().err == (f"error: out: {out} is no local path; write it here, and copy it from here\n")
    assert sorted(tmp_path.iterdir()) == before
