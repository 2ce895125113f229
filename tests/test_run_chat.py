"""Whole runs in which a model acts through real browsers; the model is a real server that replies from a script.

The script is what the oracle did, written down as a model of another dialect would say it, so that the right replies
to the right screens are known.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from pipeline.apps import install, load_app
from pipeline.check import check
from pipeline.cluster import Cluster
from pipeline.config import load_config
from pipeline.dataset import Dataset
from pipeline.dialects import Move, Picture, load_dialect
from pipeline.errors import ConfigError, RunError
from pipeline.progress import Board
from pipeline.run import collect
from pipeline.scripted_endpoint import ScriptedEndpoint, ScriptedReply
from tests.endpoints import says, serving
from tests.runs import fake_config, one, rows

pytestmark = [pytest.mark.core, pytest.mark.slow, pytest.mark.timeout(420)]

ROOT = Path(__file__).resolve().parents[1]
TASKS = 4
DIALECT = "ui-venus-2-browser"
CORRECT = '{"target": "t", "thought_and_action": "a", "agree": true, "service_to_task": "s", "grade": "correct"}'
PASSES = [says(CORRECT, when=asked, times=None) for asked in ("The proposed action:", "打算执行的动作：")]
"""What the step judge says of everything, in either language."""


@pytest.fixture
def key(monkeypatch: pytest.MonkeyPatch) -> str:
    """A key in the environment, as a user has it."""
    monkeypatch.setenv("SCRIPTED_KEY", "sk-the-users-own-key")
    return "sk-the-users-own-key"


def chatting(server: ScriptedEndpoint, *more: str) -> list[str]:
    return [
        "policy=chat",
        f"model.base_url={server.base_url}",
        "model.name=scripted",
        "model.api_key_env=SCRIPTED_KEY",
        *more,
    ]


def test_a_model_acts_in_real_browsers_and_its_run_is_graded(ray_here: Cluster, tmp_path: Path, key: str) -> None:
    install(load_app("sqlite-web"))
    same = ["apps=sqlite-web", f"tasks.limit={TASKS}"]
    collect(load_config("quickstart", ["policy=scripted", *same]), "quickstart", tmp_path / "oracle", Board())
    folder = tmp_path / "run"

    with serving(*PASSES, *_replies(tmp_path / "oracle"), key=key) as server:
        acting = chatting(server, f"model.dialect={DIALECT}", "model.images=1", "model.usd_per_million_prompt=3")
        done = _main_job(folder, [*same, *acting, "step_judge.online=true"])

    assert done.returncode == 0, done.stderr
    assert key not in done.stdout + done.stderr
    assert check(folder) == []
    graded = "SELECT grade, count(*) FROM trace_grades GROUP BY ALL"
    assert rows(folder, graded) == rows(tmp_path / "oracle", graded)
    assert rows(folder, "SELECT DISTINCT dialect, coordinate_space, divisor, status FROM steps") == [
        (DIALECT, "relative_1000", 1000, "ok")
    ]
    steps = one(folder, "SELECT count(*) FROM steps")
    assert one(folder, "SELECT sum(usage.calls) FROM trajectories") == 2 * int(str(steps))
    assert one(folder, "SELECT count(*) FROM model_calls WHERE stage <> 'probe'") == 2 * int(str(steps))
    assert float(str(one(folder, "SELECT min(usage.cost_usd) FROM trajectories"))) > 0
    assert float(str(one(folder, "SELECT sum(usd_per_accepted) FROM cost_per_accepted"))) > 0
    assert rows(
        folder, "SELECT DISTINCT v.grade, kind FROM votes v JOIN passes USING (pass_id) WHERE judge = 'scripted'"
    ) == [("correct", "online")]
    assert one(folder, "SELECT count(*) FROM votes WHERE prompt_sha256 IN (SELECT prompt_sha256 FROM prompts)") == steps
    _nowhere(folder, key)


def _main_job(folder: Path, settings: list[str]) -> subprocess.CompletedProcess[str]:
    """The main job as a user starts it, with a Ray of its own that takes over the environment's key."""
    command = [sys.executable, str(ROOT / "pipeline" / "collect.py"), "--out", str(folder), *settings]
    own = {name: value for name, value in os.environ.items() if not name.startswith("RAY_")}
    return subprocess.run(command, env=own, capture_output=True, text=True, timeout=300, check=False)


def _replies(oracle: Path) -> list[ScriptedReply]:
    """What the oracle did in each task, as replies to prompts that show the task's instruction."""
    dialect, dataset, replies = load_dialect(DIALECT), Dataset(oracle), []
    for attempt_id in dataset.table("trajectories", ["attempt_id"]).column(0).to_pylist():
        record = dataset.record(attempt_id)
        instruction = dataset.task(record.attempt.task_id).instruction
        size = Picture(*next((frame.width, frame.height) for frame in record.frames.values()))
        for step in record.steps:
            assert step.action is not None
            points = tuple(point for point in (step.device_point, step.device_point_end) if point)
            text = dialect.render([Move(step.action, points)], step.thought, size)
            replies.append(says(text, when=f"{instruction}\n"))
    return replies


def _nowhere(folder: Path, key: str) -> None:
    """The key is in no file and no row."""
    assert not any(key.encode() in path.read_bytes() for path in folder.rglob("*") if path.is_file())
    assert key not in str(rows(folder, "SELECT * FROM runs"))


# --- what stops a run before or while it goes -----------------------------------------------------------------------


def test_what_the_endpoint_cannot_do_is_said_before_any_rollout(ray_here: Cluster, tmp_path: Path) -> None:
    with serving(images=1) as server, pytest.raises(ConfigError, match=r"model\.images: .* takes 1 pictures"):
        collect(fake_config(*chatting(server, "model.images=2")), "fake", tmp_path / "run", Board())

    assert not (tmp_path / "run").exists()


def test_a_model_that_is_not_served_is_named_with_those_that_are(ray_here: Cluster, tmp_path: Path) -> None:
    with serving() as server, pytest.raises(ConfigError, match=r"'other' is not served at .*; served: scripted"):
        collect(fake_config(*chatting(server), "model.name=other"), "fake", tmp_path / "run", Board())


def test_a_wrong_key_stops_at_once_and_names_the_endpoint(ray_here: Cluster, tmp_path: Path, key: str) -> None:
    with serving(key="another") as server, pytest.raises(RunError, match="SCRIPTED_KEY") as stopped:
        collect(fake_config(*chatting(server)), "fake", tmp_path / "run", Board())

    assert server.base_url in str(stopped.value)
    assert key not in str(stopped.value)


def test_a_budget_of_calls_is_met_exactly_and_the_run_can_be_resumed(ray_here: Cluster, tmp_path: Path) -> None:
    idle = says('{"type": "Wait"}', times=None)
    with serving(idle) as server:
        settings = fake_config(*chatting(server, "budget.calls=20", "workers=3"))
        outcome = collect(settings, "fake", tmp_path / "run", Board())

    assert outcome.reason is not None and "budget.calls" in outcome.reason
    assert len([asked for asked in server.requests if asked.path.endswith("completions")]) == 20
    assert one(tmp_path / "run", "SELECT count(*) FROM model_calls") == 20
    assert rows(tmp_path / "run", "SELECT DISTINCT fault.code FROM attempts WHERE fault IS NOT NULL") == []
    assert check(tmp_path / "run") == []


@pytest.mark.parametrize(
    ("settings", "says_"),
    [
        (["policy=chat"], "model.base_url: missing"),
        (["policy=chat", "model.base_url=http://127.0.0.1:1/v1"], "model.name: missing"),
        (["policy=chat", "model.base_url=ftp://x", "model.name=m"], "model.base_url: "),
        (["policy=chat", "model.base_url=http://u:p@x/v1", "model.name=m"], "model.base_url: "),
        (["policy=chat", "model.base_url=http://x/v1", "model.name=m", "model.dialect=klingon"], "model.dialect: "),
        (
            ["policy=chat", "model.base_url=http://x/v1", "model.name=m", "model.dialect=ui-venus-2-mobile"],
            "model.dialect: ",
        ),
        (["policy=chat", "model.base_url=http://x/v1", "model.name=m", "budget.usd=1"], "budget.usd: the price of 'm'"),
        (
            [
                "policy=noop",
                "judges=[{base_url: http://x/v1, name: m, family: a}, {base_url: http://x/v1, name: m, family: b}]",
            ],
            "family: 'm' at http://x/v1 cannot be of two families",
        ),
        (["step_judge.online=true"], "step_judge.online: "),
        (["judges=screen", "model.colour=red"], "model.colour: unknown key"),
    ],
)
def test_wrong_settings_name_their_key(ray_here: Cluster, tmp_path: Path, settings: list[str], says_: str) -> None:
    with pytest.raises(ConfigError) as found:
        collect(fake_config(*settings), "fake", tmp_path / "run", Board())

    assert str(found.value).startswith(says_)
    assert not (tmp_path / "run").exists()
