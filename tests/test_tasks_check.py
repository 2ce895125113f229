"""`pathproof tasks check`: the gate from the command line."""

from __future__ import annotations

from pathlib import Path

import pytest

from pipeline.cli import app_for
from pipeline.commands.shell import run
from pipeline.tasks import TaskSpec
from taskspecs.gate import gate
from taskspecs.store import load_tasks
from taskspecs.surroundings import around_tasks
from tests.candidates import TODAY, candidates


def checked(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, list[list[str]]]:
    code = run(app_for(), ["tasks", "check", *arguments])
    return code, [line.split("\t") for line in capsys.readouterr().out.splitlines()]


def written(path: Path, *tasks: TaskSpec) -> str:
    path.write_text("".join(task.model_dump_json() + "\n" for task in tasks), encoding="utf-8")
    return str(path)


@pytest.fixture
def quickstart() -> list[TaskSpec]:
    return load_tasks("quickstart")


@pytest.mark.parametrize("name", ["quickstart", "fake"])
def test_the_shipped_sets_are_admitted(capsys: pytest.CaptureFixture[str], name: str) -> None:
    code, rows = checked(capsys, name)

    count = len(load_tasks(name))
    assert (code, rows) == (0, [[f"tasks={count} admitted={count} rejected=0"]])


def test_what_is_not_admitted_is_listed_with_the_reason(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, quickstart: list[TaskSpec]
) -> None:
    good, spoiled = quickstart[0], quickstart[1].model_copy(update={"instruction": "Open it."})

    code, rows = checked(capsys, written(tmp_path / "mine.jsonl", good, spoiled))

    assert code == 1
    assert [row[1] for row in rows[:-1]] == ["underspecified"]
    assert rows[-1] == ["tasks=2 admitted=1 rejected=1"]


def test_a_list_of_benchmarks_is_kept_out(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, quickstart: list[TaskSpec]
) -> None:
    known = tmp_path / "known.txt"
    known.write_text(" ".join(quickstart[0].instruction.split()), encoding="utf-8")

    code, rows = checked(
        capsys, written(tmp_path / "mine.jsonl", *quickstart[:2]), "--contamination", str(known), "--share", "1"
    )

    assert code == 1
    assert "contaminated" in {row[1] for row in rows[:-1]}


def test_addresses_are_allowed_by_name(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, quickstart: list[TaskSpec]
) -> None:
    longer = f"{quickstart[0].instruction} The page is https://docs.site.net/a."
    source = written(tmp_path / "mine.jsonl", quickstart[0].model_copy(update={"instruction": longer}))

    refused, _ = checked(capsys, source)
    admitted, _ = checked(capsys, source, "--allow", "docs.site.net")

    assert (refused, admitted) == (1, 0)


def test_the_day_can_be_stated(capsys: pytest.CaptureFixture[str], tmp_path: Path, quickstart: list[TaskSpec]) -> None:
    longer = f"{quickstart[0].instruction} The deadline is 2027-03-01."
    source = written(tmp_path / "mine.jsonl", quickstart[0].model_copy(update={"instruction": longer}))

    before, _ = checked(capsys, source, "--today", "2027-03-01")
    after, rows = checked(capsys, source, "--today", "2027-03-02")

    assert (before, after) == (0, 1)
    assert rows[0][1] == "date_past"


@pytest.mark.parametrize(
    ("arguments", "named"), [(["nowhere"], "nowhere"), (["quickstart", "--today", "soon"], "--today")]
)
def test_wrong_arguments_are_named(capsys: pytest.CaptureFixture[str], arguments: list[str], named: str) -> None:
    assert run(app_for(), ["tasks", "check", *arguments]) == 2
    assert named in capsys.readouterr().err


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b"", "mine.jsonl: holds no tasks"),
        (b"\n\xff\n", "mine.jsonl:2: byte 0xff is not UTF-8"),
        (b'\n{"instruction": "\\ud800"}\n', "mine.jsonl:2: "),
    ],
)
def test_a_file_that_holds_no_tasks_is_one_line_that_says_where(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, data: bytes, said: str
) -> None:
    (tmp_path / "mine.jsonl").write_bytes(data)

    code = run(app_for(), ["tasks", "check", str(tmp_path / "mine.jsonl")])

    printed = capsys.readouterr()
    assert (code, printed.out, printed.err.count("\n")) == (2, "", 1)
    assert said in printed.err


def test_it_has_help_with_examples(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(app_for(), ["tasks", "check", "--help"]) == 0
    assert "  pathproof tasks check" in capsys.readouterr().out.split("Examples:")[1]


def test_an_application_that_does_not_ship_is_not_available(quickstart: list[TaskSpec]) -> None:
    stranger = quickstart[0].model_copy(update={"app_ids": ["stranger"], "capability_ids": [], "calls": []})
    infeasible = stranger.model_copy(update={"feasible": False})

    rows = gate(candidates(infeasible), around_tasks([infeasible], TODAY)).rejections

    assert [row.reason for row in rows] == ["not_executable"]
