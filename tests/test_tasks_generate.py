"""`pathproof tasks generate`: from the command line to files that `collect` and `check` read."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from pipeline.cli import app_for
from pipeline.commands import generating
from pipeline.commands.shell import run
from pipeline.config import RunConfig
from pipeline.structs import Fault
from pipeline.tasks import TaskSpec
from pipeline.trials import Heard
from taskspecs.selftest import Trial
from taskspecs.store import load_tasks
from tests.endpoints import says, serving

FAKE = ("fake-todo", "--config", "fake", "--share", "1", "--today", "2026-11-30")


class Made:
    """What a command line has left."""

    def __init__(self, code: int, out: str, err: str, folder: Path) -> None:
        self.code, self.out, self.err = code, out, err
        self.tasks = load_tasks(str(folder / "t.jsonl")) if (folder / "t.jsonl").is_file() else []
        rejected = folder / "t.rejected.jsonl"
        self.rejections = [json.loads(line) for line in rejected.read_text().splitlines()] if rejected.is_file() else []

    @property
    def summary(self) -> dict[str, str]:
        """The last line of standard output."""
        return dict(pair.split("=") for pair in self.out.splitlines()[-1].split())


def made(capsys: pytest.CaptureFixture[str], folder: Path, *arguments: str) -> Made:
    code = run(app_for(), ["tasks", "generate", *arguments, "--out", str(folder / "t.jsonl")])
    said = capsys.readouterr()
    return Made(code, said.out, said.err, folder)


def test_tasks_are_written_with_a_table_and_a_line_that_sums_up(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    found = made(capsys, tmp_path, *FAKE, "--no-selftest", "--count", "24")

    assert found.code == 0
    assert found.summary == {"tasks": "24", "apps": "1", "templates": "6", "largest_share": "0.208", "rejected": "0"}
    assert len(found.tasks) == 24
    assert {task.tier for task in found.tasks} == {"single", "multi", "workflow"}
    assert {task.language for task in found.tasks} == {"en", "zh"}
    table = [line.split() for line in found.err.splitlines()]
    assert ["total", "24"] in [row[:2] for row in table]


def test_what_it_writes_is_admitted_by_check(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    made(capsys, tmp_path, *FAKE, "--no-selftest")

    assert run(app_for(), ["tasks", "check", str(tmp_path / "t.jsonl"), "--share", "1"]) == 0


def test_the_same_command_makes_the_same_files(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
        made(capsys, tmp_path / name, *FAKE, "--no-selftest", "--seed", "5")

    assert (tmp_path / "a" / "t.jsonl").read_text() == (tmp_path / "b" / "t.jsonl").read_text()


def test_what_is_rejected_is_written_with_its_reason(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    first = made(capsys, tmp_path, *FAKE, "--no-selftest", "--count", "6")
    public = tmp_path / "public.txt"
    public.write_text(first.tasks[0].instruction, encoding="utf-8")

    again = made(capsys, tmp_path, *FAKE, "--no-selftest", "--count", "6", "--contamination", str(public))

    assert [row["reason"] for row in again.rejections] == ["contaminated"]
    assert again.summary["rejected"] == "1"
    assert "contaminated: 1" in again.err


def test_too_few_templates_are_said_to_be_too_few(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    found = made(capsys, tmp_path, *FAKE[:3], "--no-selftest", "--count", "100", "--infeasible-rate", "0")

    assert "75 fewer drafts than asked for" in found.err


def test_keys_count_where_no_option_is_given(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    keys = ("tasks.limit=8", "tasks.infeasible_rate=0.5", "seed=3")

    found = made(capsys, tmp_path, *FAKE, *keys, "--no-selftest")
    other = made(capsys, tmp_path, *FAKE, *keys, "--no-selftest", "--seed", "4", "--count", "2")

    assert [task.seed for task in found.tasks] == [3] * 8
    assert sum(not task.feasible for task in found.tasks) == 4
    assert [task.seed for task in other.tasks] == [4] * 2


def test_withheld_probes_leave_rubrics(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    found = made(capsys, tmp_path, *FAKE, "probes=withhold", "--no-selftest", "--count", "6")

    assert [(task.contract_kind, task.segments, task.feasible) for task in found.tasks] == [("rubric", [], True)] * 6


def test_contracts_that_do_not_hold_are_rejected(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def try_all(tasks: list[TaskSpec], config: RunConfig, heard: Heard) -> None:
        assert (config.provider, config.apps) == ("fake", ["fake-todo"])
        for number, task in enumerate(tasks):
            heard(task, _TRIALS[min(number, 2)].model_copy(update={"task_id": task.task_id}))

    monkeypatch.setattr(generating, "try_all", try_all)

    found = made(capsys, tmp_path, *FAKE, "--count", "6")

    assert sorted((row["reason"], row["detail"]) for row in found.rejections) == [
        ("noop_passes", "every check holds"),
        ("not_executable", "app_not_ready: no port"),
    ]
    assert [task.fixture_fingerprint for task in found.tasks] == ["f1"] * 4
    assert "1/6 " in found.err and "noop_passes: every check holds" in found.err


_TRIALS = (
    Trial(task_id="", held=False, reason="noop_passes", detail="every check holds"),
    Trial(task_id="", held=False, fault=Fault(boundary="setup", code="app_not_ready", message="no port")),
    Trial(task_id="", held=True, fixture_fingerprint="f1"),
)


def test_a_model_that_is_configured_writes_what_can_be_done(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "none")
    with serving(says("I would rather not", times=None)) as server:
        model = (f"model.base_url={server.base_url}", "model.name=scripted")
        found = made(capsys, tmp_path, *FAKE, *model, "--no-selftest", "--count", "4", "--infeasible-rate", "0.5")

    assert [task.generator for task in found.tasks] == ["template", "template"]
    assert [task.feasible for task in found.tasks] == [False, False]
    assert [row["origin"] for row in found.rejections] == ["model:scripted"] * 2
    assert "2 calls of scripted" in found.err


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        (["nowhere"], "no task templates for 'nowhere'"),
        (["fake-todo", "--languages", "en,fr"], "--languages: 'fr'"),
        (["fake-todo", "--today", "soon"], "--today"),
        (["fake-todo", "colour=red"], "colour"),
        (["fake-todo", "--contamination", "/nowhere.txt"], "tasks.contamination"),
        (["nowhere", "model.base_url=http://127.0.0.1:1/v1", "model.name=m"], "no capability catalog for 'nowhere'"),
    ],
)
def test_wrong_arguments_are_named(capsys: pytest.CaptureFixture[str], arguments: list[str], named: str) -> None:
    assert run(app_for(), ["tasks", "generate", *arguments]) == 2
    assert named in capsys.readouterr().err


def test_it_has_help_with_examples(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(app_for(), ["tasks", "generate", "--help"]) == 0
    assert "  pathproof tasks generate trac fava" in capsys.readouterr().out.split("Examples:")[1]


@pytest.mark.slow
@pytest.mark.timeout(300)
def test_contracts_hold_in_the_application(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    found = made(capsys, tmp_path, *FAKE, "--count", "12")

    assert (found.code, found.summary["tasks"], found.rejections) == (0, "12", [])
    assert all(task.fixture_fingerprint for task in found.tasks)
