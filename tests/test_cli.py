"""The console command: exit codes, one-line errors, formats of results."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from pipeline import collect as collect_script
from pipeline.cli import app_for
from pipeline.commands.shell import run
from pipeline.envs.qemu_image import image_names
from pipeline.errors import SetupError
from tests.datasets import attempt, collected, judging, verdict

COMMANDS = [
    "calibrate",
    "check",
    "collect",
    "doctor",
    "export",
    "judge",
    "query",
    "redact",
    "report",
    "resume",
    "review",
]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A small finished dataset: one accepted trajectory."""
    made = attempt("a" * 24)
    return collected(tmp_path / "run", [made], [judging(), verdict(made.attempt.attempt_id)])


def error_of(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str]:
    """Exit code and the one line on standard error; nothing on standard output."""
    code = run(app_for(), arguments)
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.count("\n") == 1
    return code, captured.err.strip()


@pytest.mark.parametrize("command", [*COMMANDS, "apps list", "apps up", "apps down", "apps reset"])
def test_every_command_has_help_with_examples(capsys: pytest.CaptureFixture[str], command: str) -> None:
    code = run(app_for(), [*command.split(), "--help"])

    text = capsys.readouterr().out
    assert code == 0
    assert f"  pathproof {command}" in text.split("Examples:")[1]


def test_a_command_that_reads_does_not_wait_for_what_acts() -> None:
    asked = "import sys; from pipeline.cli import app_for; app_for(['query', 'DIR']); print('ray' in sys.modules)"

    done = subprocess.run([sys.executable, "-c", asked], capture_output=True, text=True, check=True, timeout=60)

    assert done.stdout.strip() == "False"


@pytest.mark.parametrize("words", [["query"], ["catalog", "show"], ["tasks", "check"], ["apps", "list"]])
def test_what_a_command_line_names_is_found_alone_as_among_all(
    capsys: pytest.CaptureFixture[str], words: list[str]
) -> None:
    told = []
    for app in (app_for(words), app_for()):
        assert run(app, [*words, "--help"]) == 0
        told.append(capsys.readouterr().out)

    assert told[0] == told[1]


def test_the_help_names_every_command(capsys: pytest.CaptureFixture[str]) -> None:
    run(app_for(), ["--help"])

    assert {line.split()[0] for line in capsys.readouterr().out.split("Commands:")[1].splitlines() if line.strip()} >= {
        *COMMANDS,
        "apps",
    }


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["collect", "speed=3"], "error: speed: unknown key; known keys: allow, apps, "),
        (
            ["collect", "tasks.depth=3"],
            "error: tasks.depth: unknown key; known keys: contamination, infeasible_rate, limit, sampling, set",
        ),
        (["collect", "platform=mobile"], "error: platform: 'quickstart' has no task on mobile"),
        (["collect", "profile=yolo"], "error: profile: 'yolo' is none of live, observe, sandbox, supervised"),
        (
            ["judge", "/nowhere", "workers=4"],
            "error: workers: judging again takes only budget, judges, llm, panel, serving keys",
        ),
        (["collect", "seed"], "error: argument 'seed': write it as key=value"),
        (["collect", "workers=0"], "error: workers: "),
        (
            ["collect", "--config", "missing"],
            "error: --config: no configuration 'missing'; names: desktop, fake, mobile",
        ),
        (["collect", "--workers", "3"], "error: No such option: --workers"),
        (["collect", "judges=oracle"], "error: judges: no judge 'oracle'; judges: effect, screen"),
        (["collect", "apps=nowhere"], "error: apps: unknown application 'nowhere'; known: "),
        (["resume", "/nowhere"], "error: /nowhere is not a dataset folder"),
        (["judge", "/nowhere"], "error: /nowhere is not a dataset folder"),
        (["query", "SELECT 1"], "error: query: give one or more folders, then the SQL"),
        (["query", "/nowhere", "SELECT 1"], "error: /nowhere is not a dataset folder"),
        (["fly"], "error: No such command 'fly'"),
        (["apps", "up", "nowhere"], "error: apps: unknown application 'nowhere'"),
        (
            ["collect", "--config", "desktop", "provider=xvfb", "devices=foo"],
            "error: devices: provider 'xvfb' takes none; those that do: adb, avd, qemu",
        ),
    ],
)
def test_wrong_arguments_are_named_in_one_line(
    capsys: pytest.CaptureFixture[str], arguments: list[str], message: str
) -> None:
    code, line = error_of(capsys, *arguments)

    assert code == 2
    assert line.startswith(message)


def test_who_misspells_a_machine_is_told_of_machines(capsys: pytest.CaptureFixture[str]) -> None:
    for command in ("up", "down"):
        _, line = error_of(capsys, "apps", command, "debian-dekstop")

        assert {"debian-desktop", "fava"} <= set(line.partition("known: ")[2].split(", "))


def test_a_folder_that_holds_a_run_is_named(capsys: pytest.CaptureFixture[str], folder: Path) -> None:
    code, line = error_of(capsys, "collect", "--config", "fake", "--out", str(folder))

    assert (code, line) == (
        2,
        f"error: out: {folder} holds a run; use `pathproof resume {folder}`, or another folder",
    )


def test_a_full_disk_is_one_line(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    blocked = tmp_path / "file"
    blocked.write_text("not a folder")

    code, line = error_of(capsys, "collect", "--config", "fake", "--out", str(blocked / "run"))

    assert code == 1
    assert line.startswith("error: rows cannot be written")
    assert "free space, or check the folder's permissions" in line


def test_a_browser_that_is_missing_is_one_line(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setenv("PLAYWRIGHT_BROWSERS_PATH", str(tmp_path))

    code, line = error_of(capsys, "collect", "--out", str(tmp_path / "run"))

    assert code == 1
    assert line.startswith("error: no Chromium found: install one with")


def test_an_application_that_does_not_start_is_one_line(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(app_id: str, announce: object) -> None:
        raise SetupError("app_not_ready", f"{app_id} did not answer\nlast line of its log")

    monkeypatch.setattr("pipeline.apps.up", fail)

    assert error_of(capsys, "apps", "up", "fava") == (1, "error: fava did not answer last line of its log")


def test_ctrl_c_is_one_line(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupt(app_id: str, announce: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("pipeline.apps.up", interrupt)

    assert error_of(capsys, "apps", "up", "fava") == (1, "error: interrupted")


def test_a_query_prints_a_table(capsys: pytest.CaptureFixture[str], folder: Path) -> None:
    code = run(
        app_for(), ["query", str(folder), "SELECT app_id, accepted, 1 / 3 AS third, NULL AS gone FROM yield_by_app"]
    )

    header, *_, row = [line.split() for line in capsys.readouterr().out.splitlines() if line.strip()]
    assert code == 0
    assert header == ["app_id", "accepted", "third", "gone"]
    assert row[1:] == ["1", "0.3333"]


def test_a_query_prints_csv(capsys: pytest.CaptureFixture[str], folder: Path) -> None:
    run(
        app_for(), ["query", str(folder), "--format", "csv", "SELECT 'a,b' AS text, [1, 2] AS list, {'x': 1} AS struct"]
    )

    assert capsys.readouterr().out == 'text,list,struct\n"a,b","[1, 2]","{""x"": 1}"\n'


def test_a_query_prints_json_lines(capsys: pytest.CaptureFixture[str], folder: Path) -> None:
    sql = "SELECT sha256, image.bytes AS picture, now() AS at FROM frames ORDER BY 1"

    run(app_for(), ["query", str(folder), "--format", "json", sql])

    found = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert len(found) == 2
    assert all(isinstance(row["picture"], str) and row["at"].endswith("+00:00") for row in found)


@pytest.mark.parametrize(
    ("shape", "printed"),
    [
        ("csv", "a,a,b\n1,2,3\n"),
        ("json", '{"a": 1, "a:1": 2, "b": 3}\n'),
        ("table", " a   a   b \n ───────── \n 1   2   3 \n"),
    ],
)
def test_columns_of_one_name_keep_their_own_cells(
    capsys: pytest.CaptureFixture[str], folder: Path, shape: str, printed: str
) -> None:
    run(app_for(), ["query", str(folder), "--format", shape, "SELECT 1 AS a, 2 AS a, 3 AS b"])

    lines = [line.strip() for line in capsys.readouterr().out.splitlines() if line.strip()]
    assert lines == [line.strip() for line in printed.splitlines()]


def test_json_holds_sums_as_numbers_and_what_is_no_number_as_text(
    capsys: pytest.CaptureFixture[str], folder: Path
) -> None:
    run(
        app_for(),
        ["query", str(folder), "--format", "json", "SELECT sum(n) AS s, 'nan'::DOUBLE AS d FROM range(3) t(n)"],
    )

    assert json.loads(capsys.readouterr().out) == {"s": 3, "d": "nan"}


def test_a_query_writes_parquet(capfdbinary: pytest.CaptureFixture[bytes], folder: Path, tmp_path: Path) -> None:
    run(app_for(), ["query", str(folder), "--format", "parquet", "SELECT 7 AS seven"])

    path = tmp_path / "rows.parquet"
    path.write_bytes(capfdbinary.readouterr().out)
    assert pq.read_table(path).to_pylist() == [{"seven": 7}]


def test_several_folders_are_one_dataset(capsys: pytest.CaptureFixture[str], folder: Path, tmp_path: Path) -> None:
    other = collected(tmp_path / "other", [attempt("b" * 24)], run_id="run-b")

    sql = "SELECT count(*) AS n FROM trajectories"
    run(app_for(), ["query", str(folder), str(other), "--format", "csv", sql])

    assert capsys.readouterr().out == "n\n2\n"


def test_bad_sql_is_one_line(capsys: pytest.CaptureFixture[str], folder: Path) -> None:
    code, line = error_of(capsys, "query", str(folder), "SELEC 1")

    assert code == 2
    assert line.startswith("error: query: Parser Error")


def test_a_sound_folder_passes_the_check(capsys: pytest.CaptureFixture[str], folder: Path) -> None:
    code = run(app_for(), ["check", str(folder)])

    captured = capsys.readouterr()
    assert (code, captured.out, captured.err) == (0, "", "0 errors, 0 leftovers\n")


def test_an_unsound_folder_fails_the_check_and_is_listed(capsys: pytest.CaptureFixture[str], folder: Path) -> None:
    part = next((folder / "steps").glob("*.parquet"))
    part.unlink()

    code = run(app_for(), ["check", str(folder)])

    captured = capsys.readouterr()
    assert code == 1
    assert any(line.startswith("error\t") and part.name in line for line in captured.out.splitlines())


def test_a_report_is_written_and_named(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    folder = collected(tmp_path / "run", [])
    page = tmp_path / "page.html"

    code = run(app_for(), ["report", str(folder), "--out", str(page)])

    assert (code, capsys.readouterr().out.strip()) == (0, str(page))
    assert page.read_text(encoding="utf-8").startswith("<!doctype html>")


def test_applications_are_listed(capsys: pytest.CaptureFixture[str]) -> None:
    code = run(app_for(), ["apps", "list"])

    listed = [line.split("\t") for line in capsys.readouterr().out.splitlines()]
    assert code == 0
    names, images = [row[0] for row in listed], image_names()
    assert names == [*sorted(names[: -len(images)]), *images]
    assert {"desktop-mousepad", "fava", "ihatemoney", "sqlite-web", "trac"} <= set(names)


def test_ending_what_does_not_run_fails(capsys: pytest.CaptureFixture[str]) -> None:
    assert error_of(capsys, "apps", "down", "fava") == (
        1,
        "fava: no instance is running; start one with: pathproof apps up fava",
    )


def test_the_script_takes_the_same_arguments(capsys: pytest.CaptureFixture[str]) -> None:
    code = run(collect_script.app, ["speed=3"])

    assert code == 2
    assert capsys.readouterr().err.startswith("error: speed: unknown key")
