"""The exploring worker without Ray, and the command with it: what they find, write and report."""

from __future__ import annotations

from pathlib import Path

import pytest

from catalogs.explore import Budget
from pipeline.check import check
from pipeline.cli import app_for
from pipeline.commands.shell import run
from pipeline.config import override_config
from pipeline.dataset import Dataset
from pipeline.errors import RunError
from pipeline.exploring import CatalogWorker, Errand, subject_of
from pipeline.query import query
from pipeline.records import Transition
from pipeline.sinks import Committer
from pipeline.tasks import Capability

CONFIG = override_config({}, ["provider=fake"])
BUDGET = Budget(seconds=60, states=5, edges=20)


async def test_a_worker_explores_reports_and_leaves_nothing(tmp_path: Path) -> None:
    committer = Committer.claim(tmp_path / "run", "run", {})
    worker = CatalogWorker(Errand("explorer0", CONFIG, BUDGET, tmp_path / "run", "run", committer.epoch, 4))
    await worker.ready()

    before, findings = await worker.heard(), await worker.explore("fake-todo")
    heard, again = await worker.heard(), await worker.heard()
    await worker.close()

    assert findings.batch is not None and committer.publish(findings.batch)
    committer.finish()
    stored = Dataset(tmp_path / "run").rows(Capability)
    assert [row.capability_id for row in stored] == [row.capability_id for row in findings.capabilities]
    assert {row.round for row in stored} == {4}
    assert len(Dataset(tmp_path / "run").rows(Transition)) == findings.report.edges
    assert len(heard) == len(findings.report.lines) and before == again == []
    assert not check(tmp_path / "run")


async def test_a_worker_without_a_folder_writes_nothing() -> None:
    worker = CatalogWorker(Errand("explorer0", CONFIG, BUDGET))
    await worker.ready()

    findings = await worker.explore("fake-todo", [])
    await worker.close()

    assert findings.batch is None and all(line.found for line in findings.report.lines)


async def test_a_worker_must_be_made_ready() -> None:
    with pytest.raises(RunError, match="was not made ready"):
        await CatalogWorker(Errand("explorer0", CONFIG, BUDGET)).explore("fake-todo")


def test_an_application_is_explored_from_its_home() -> None:
    subject = subject_of("fake-todo", CONFIG)

    assert (subject.home, subject.language, subject.resettable) == ("/", "en", True)


@pytest.mark.timeout(300)
@pytest.mark.usefixtures("ray_here")
def test_the_command_prints_a_table_and_keeps_what_was_found(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = str(tmp_path / "catalog")

    codes = [run(app_for(), ["catalog", "explore", "fake-todo", "--out", out, "--edges", "8"]) for _ in range(2)]

    lines = capsys.readouterr().out.splitlines()
    assert codes == [0, 0]
    assert "fake-todo.add\tconfirmed\twrites\t-" in lines
    assert lines[-1].startswith("app=fake-todo capabilities=") and " writing=7 " in lines[-1]
    rounds = query("SELECT round, count(*) AS n FROM capabilities GROUP BY round ORDER BY round", [out]).to_pylist()
    assert [row["round"] for row in rounds] == [0, 1]
    joined = query("SELECT count(*) AS n FROM transitions t ANTI JOIN frames f ON f.sha256 = t.frame_after", [out])
    assert joined.to_pylist() == [{"n": 0}]


def test_the_command_knows_which_applications_there_are(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(app_for(), ["catalog", "explore", "nothing-like-it"]) == 2
    assert run(app_for(), ["catalog", "explore", "fake-todo", "trac"]) == 2
    assert "no capability catalog for 'nothing-like-it'" in capsys.readouterr().err
