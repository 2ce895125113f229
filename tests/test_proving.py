"""`pathproof tasks selftest` and `tasks revalidate` from the command line."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import pytest

from pipeline.check import check
from pipeline.cli import app_for
from pipeline.commands.shell import run
from pipeline.dataset import Dataset
from pipeline.records import Validation, now
from pipeline.sinks import Committer
from pipeline.tasks import TaskSpec
from taskspecs.store import load_tasks
from taskspecs.validity import VALID_DAYS, expired_tasks
from tests.episodes import fake_task, with_faults
from tests.runs import tasks_file

pytestmark = [pytest.mark.timeout(300), pytest.mark.usefixtures("ray_here")]

GOOD = fake_task("Mark the to-do")
BROKEN = fake_task("Add a to-do", expected_changes=["*"])
WORLDLESS = with_faults(fake_task("How many"), "failing_starts: -1")


def called(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, list[list[str]], str]:
    code = run(app_for(), ["tasks", *arguments])
    said = capsys.readouterr()
    return code, [line.split("\t") for line in said.out.splitlines()], said.err


def test_what_holds_and_what_does_not_are_told_and_written(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    source = tasks_file(tmp_path / "mine.jsonl", [GOOD, BROKEN])
    held, lost = tmp_path / "held.jsonl", tmp_path / "lost.jsonl"

    code, lines, _ = called(capsys, "selftest", str(source), "--out", str(held), "--rejected", str(lost))

    assert code == 1
    assert lines[0][:2] == [BROKEN.task_id, "mutation_survives"]
    assert lines[1:] == [["tasks=2 held=1 rejected=1"]]
    (kept,) = load_tasks(str(held))
    assert kept.task_id == GOOD.task_id and kept.fixture_fingerprint
    assert json.loads(lost.read_text())["reason"] == "mutation_survives"


def test_a_broken_world_is_neither(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    source = tasks_file(tmp_path / "mine.jsonl", [GOOD, WORLDLESS])

    code, lines, err = called(capsys, "selftest", str(source))

    assert (code, lines) == (1, [["tasks=2 held=1 rejected=0 untested=1"]])
    assert f"untested: {WORLDLESS.task_id}: setup/app_not_ready" in err


def test_what_is_chosen_by_application_is_tested_once(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    real = next(task for task in load_tasks("quickstart") if task.app_ids == ["trac"])
    source = tasks_file(tmp_path / "mine.jsonl", [GOOD, real, GOOD])

    code, lines, _ = called(capsys, "selftest", str(source), "--apps", "fake-todo", "--workers", "1")

    assert (code, lines) == (0, [["tasks=1 held=1 rejected=0"]])


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        (["selftest", "nowhere"], "nowhere"),
        (["selftest", "fake", "--apps", "trac"], "--apps"),
        (["revalidate", "nowhere"], "nowhere"),
        (["selftest", "fake", "--workers", "0"], "--workers"),
    ],
)
def test_wrong_arguments_are_named(capsys: pytest.CaptureFixture[str], arguments: list[str], named: str) -> None:
    code, _, err = called(capsys, *arguments)

    assert code == 2
    assert named in err


@pytest.mark.parametrize("command", ["selftest", "revalidate"])
def test_they_have_help_with_examples(capsys: pytest.CaptureFixture[str], command: str) -> None:
    assert run(app_for(), ["tasks", command, "--help"]) == 0
    assert f"  pathproof tasks {command}" in capsys.readouterr().out.split("Examples:")[1]


# --- stored tasks --------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_validations_are_appended_in_an_epoch_of_their_own(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    folder = collected(tmp_path, [GOOD, BROKEN, WORLDLESS])
    before = Dataset(folder)
    capsys.readouterr()

    code, lines, _ = called(capsys, "revalidate", str(folder), "--days", "7")

    assert (code, lines[-1]) == (1, ["tasks=3 held=1 rejected=1 untested=1"])
    dataset = Dataset(folder)
    stored = {row.task_id: row for row in dataset.rows(Validation)}
    assert set(stored) == {GOOD.task_id, BROKEN.task_id}
    held, lost = stored[GOOD.task_id], stored[BROKEN.task_id]
    assert (held.held, held.reason) == (True, None)
    assert held.expires_at is not None and (held.expires_at - held.validated_at).days == 7
    assert (lost.held, lost.reason, lost.expires_at) == (False, "mutation_survives", lost.validated_at)
    assert expired_tasks(stored.values(), now()) == {BROKEN.task_id}
    assert dataset.finished_trajectories() == before.finished_trajectories()
    assert dataset.run.epoch == before.run.epoch + 1
    assert [finding for finding in check(folder) if finding.severity == "error"] == []

    called(capsys, "revalidate", str(folder))

    ran_out = [
        row.expires_at - row.validated_at for row in Dataset(folder).rows(Validation) if row.held and row.expires_at
    ]
    assert [left.days for left in ran_out] == [7, VALID_DAYS]


def test_a_folder_without_tasks_has_nothing_to_validate(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    Committer.claim(tmp_path / "run", "run", {}).finish()

    code, _, err = called(capsys, "revalidate", str(tmp_path / "run"))

    assert (code, "has no tasks" in err) == (1, True)


def collected(tmp_path: Path, tasks: Sequence[TaskSpec]) -> Path:
    """A run of these tasks; some may break."""
    source, folder = tasks_file(tmp_path / "tasks.jsonl", tasks), tmp_path / "run"
    once = ["attempts=1", "faults.stop_rate=1", "policy.mistakes=0"]
    run(app_for(), ["collect", "--config", "fake", f"tasks={source}", *once, "--out", str(folder)])
    return folder
