"""What the documentation shows as files can be saved and used as it stands."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest

from pipeline import app_entry
from pipeline.app_entry import PhoneEntry, load_entry, read_entry
from pipeline.config import override_config
from pipeline.envs.phones import phone_environment
from pipeline.errors import ConfigError
from pipeline.reaper import Scratch
from pipeline.selection import select_apps, select_tasks
from taskspecs.store import load_tasks

ROOT = Path(__file__).parents[1]


def shown(page: str, begin: str) -> str:
    """The YAML of a page that begins so."""
    found = re.findall(r"^```yaml\n(.*?)^```$", (ROOT / page).read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
    (text,) = (text for text in found if text.startswith(begin))
    return str(text)


def saved(folder: Path, page: str, begin: str, name: str) -> Path:
    path = folder / name
    path.write_text(shown(page, begin), encoding="utf-8")
    return path


def test_the_task_of_the_readme_can_be_run_as_a_file(tmp_path: Path) -> None:
    tasks = str(saved(tmp_path, "README.md", "defaults:", "my-tasks.yaml"))

    (task,) = select_tasks(override_config({}, ["apps=trac", f"tasks={tasks}"]))

    assert task.checks[0].probe in load_entry("trac").asked
    assert task.oracle[-1].action == "Finished" and len(task.oracle) > 1


def test_the_example_for_phones_is_whole(tmp_path: Path) -> None:
    entry = read_entry(saved(tmp_path, "docs/android.md", "app_id:", "app.yaml"))
    (task,) = load_tasks(str(saved(tmp_path, "docs/android.md", "tasks:", "dark.yaml")))

    assert isinstance(entry, PhoneEntry) and task.app_ids == [entry.app_id]
    assert task.platform == entry.platform and {check.probe for check in task.checks} <= entry.asked.keys()


def test_an_entry_that_is_not_finished_keeps_no_run_from_others(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    apps = tmp_path / "apps"
    shutil.copytree(ROOT / "catalogs" / "apps", apps)
    (apps / "my-phone-app").mkdir()
    (apps / "my-phone-app" / "app.yaml").write_text("app_id: my-phone-app\nplatform: mobile\n")
    monkeypatch.setattr(app_entry, "_catalog", lambda: apps)
    config = override_config({}, ["platform=mobile", "provider=handset", "tasks.set=mobile"])

    with Scratch("examples", tmp_path) as scratch:
        phone_environment(config, scratch)

    assert select_tasks(config) and select_apps(config) == []
    with pytest.raises(ConfigError, match="my-phone-app"):
        load_entry("my-phone-app")
