"""What a run says about itself."""

from __future__ import annotations

import importlib.metadata

from pipeline.provenance import opening_rows, pass_row
from pipeline.records import RunRow
from pipeline.selection import select_tasks
from pipeline.tasks import Capability, TaskSpec
from tests.runs import fake_config


def test_a_run_begins_with_its_configuration_tasks_and_capabilities() -> None:
    config = fake_config("seed=3", "budget.seconds=90")
    tasks = select_tasks(config)

    first, *others = opening_rows(config, tasks)

    assert isinstance(first, RunRow)
    written = {param.name: param.value for param in first.config}
    assert written["seed"] == "3"
    assert written["budget.seconds"] == "90.0"
    assert written["judges"] == "screen, effect"
    assert "budget.usd" not in written
    assert [row for row in others if isinstance(row, TaskSpec)] == tasks
    assert any(isinstance(row, Capability) for row in others)


def test_versions_are_those_installed() -> None:
    first, *_ = opening_rows(fake_config(), [])

    assert isinstance(first, RunRow)
    versions = {param.name: param.value for param in first.versions}
    assert versions["ray"] == importlib.metadata.version("ray")
    assert list(versions) == sorted(versions)


def test_a_pass_is_named_by_its_judges_and_what_tells_it_apart() -> None:
    config = fake_config()
    same = pass_row("run", "collect", config).pass_id

    assert pass_row("run", "collect", config).pass_id == same
    assert pass_row("run", "collect", fake_config("judges=screen")).pass_id != same
    assert pass_row("run", "rejudge", config, "2").pass_id != pass_row("run", "rejudge", config, "3").pass_id
