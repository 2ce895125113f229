"""Which tasks and capabilities a configuration selects, and which folder a run gets."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path

import pytest

from pipeline.config import RunConfig
from pipeline.errors import ConfigError
from pipeline.run import new_folder
from pipeline.selection import select_apps, select_capabilities, select_tasks
from pipeline.tasks import identified
from taskspecs.store import load_tasks
from tests.episodes import fake_task
from tests.runs import fake_config, tasks_file


def test_a_set_is_taken_whole_and_in_order() -> None:
    assert [task.instruction for task in select_tasks(fake_config())] == [
        task.instruction for task in load_tasks("fake")
    ]


def test_a_limit_keeps_the_first() -> None:
    everything = select_tasks(fake_config())

    assert select_tasks(fake_config("tasks.limit=3")) == everything[:3]


def test_limits_of_the_run_are_part_of_the_task() -> None:
    (plain,) = select_tasks(fake_config("tasks.limit=1"))
    (short,) = select_tasks(fake_config("tasks.limit=1", "max_steps=2", "max_seconds=9"))

    assert (short.max_steps, short.max_seconds) == (2, 9)
    assert short.task_id != plain.task_id


def test_a_run_cannot_widen_a_tasks_limits() -> None:
    (plain,) = select_tasks(fake_config("tasks.limit=1"))

    assert select_tasks(fake_config("tasks.limit=1", "max_steps=10000")) == [plain]


def test_versions_of_real_applications_are_bound(tmp_path: Path) -> None:
    start = fake_task().start.model_copy(update={"app_id": "trac"})
    task = identified(fake_task().model_copy(update={"app_ids": ["trac"], "start": start, "capability_ids": []}))
    path = tasks_file(tmp_path / "tasks.jsonl", [task])

    (bound,) = select_tasks(fake_config("provider=chromium", "apps=trac", f"tasks={path}"))

    assert [(param.name, param.value) for param in bound.app_versions] == [("trac", "1.6")]
    assert bound.task_id != task.task_id


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        (["apps=nowhere"], "apps: no task of 'fake' uses 'nowhere'; its applications: fake-todo"),
        (["provider=chromium", "apps=nowhere"], "apps: unknown application 'nowhere'; known: "),
        (["platform=mobile", "apps=[]"], "platform: 'fake' has no task on mobile"),
        (["tasks=missing.jsonl"], "tasks: no task set or file 'missing.jsonl'"),
    ],
)
def test_what_cannot_be_selected_is_named(changes: list[str], message: str) -> None:
    with pytest.raises(ConfigError) as caught:
        select_tasks(fake_config(*changes))

    assert str(caught.value).startswith(message)


def test_capabilities_are_those_of_the_catalogs_the_tasks_use() -> None:
    tasks = select_tasks(fake_config())

    assert {capability.app_id for capability in select_capabilities(tasks)} == {"fake-todo"}
    assert {name for task in tasks for name in task.capability_ids} <= {
        capability.capability_id for capability in select_capabilities(tasks)
    }


def test_a_run_has_a_folder_named_by_day_configuration_and_identity(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    day = datetime.now().astimezone().strftime("%Y%m%d")

    folder = Path(new_folder(None, "somewhere/mine.yaml", "0123456789abcdef").address)

    assert folder == tmp_path / "runs" / f"{day}-mine-01234567"
    assert not folder.exists()


def test_a_job_writes_to_the_home_folder_because_its_own_is_swept_away(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("RAY_JOB_CONFIG_JSON_ENV_VAR", "{}")

    assert Path(new_folder(None, "fake", "0123456789abcdef").address).parent == tmp_path / "pathproof" / "runs"


def test_a_given_folder_is_taken_as_it_is(tmp_path: Path) -> None:
    assert new_folder(tmp_path / "here", "fake", "0123456789abcdef").address == str(tmp_path / "here")


def test_tasks_without_capabilities_need_no_catalog() -> None:
    assert select_capabilities([fake_task(capability_ids=[])]) == []


def test_without_names_tasks_are_made_for_every_application_with_templates() -> None:
    assert select_apps(fake_config("apps=[]")) == ["fake-todo"]
    assert {"fava", "trac"} <= set(select_apps(RunConfig()))


def test_an_application_without_templates_is_refused_by_name() -> None:
    with pytest.raises(ConfigError, match="apps: no task templates for 'nowhere'"):
        select_apps(RunConfig(apps=["nowhere"]))


def test_withheld_probes_leave_contracts_that_only_look() -> None:
    tasks = select_tasks(fake_config("probes=withhold"))

    assert {task.contract_kind for task in tasks} == {"rubric"}
    assert {check.probe for task in tasks for check in task.checks} <= {"address", "tree"}
