"""Runs whose judges are models: while they collect, and when what is stored is judged again by another panel."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from pipeline.check import check
from pipeline.cluster import Cluster
from pipeline.config import RunConfig, override_config
from pipeline.errors import ConfigError
from pipeline.manifest import read_run
from pipeline.progress import Board
from pipeline.run import collect, rejudge
from pipeline.scripted_endpoint import ScriptedEndpoint, ScriptedReply
from pipeline.summary import changes_of, silences_of
from tests.endpoints import says, serving
from tests.filmed import FINAL, keypoints, notes
from tests.runs import fake_config, one, rows

pytestmark = [pytest.mark.core, pytest.mark.slow, pytest.mark.timeout(420)]

TASKS = 6


def judging(trace: str, steps: str) -> list[ScriptedReply]:
    """What a model says, in English and Chinese: its grade of every trajectory, and of every step."""
    last = json.dumps({"speaks_for": "f", "speaks_against": "a", "grade": trace})
    step = json.dumps({"target": "t", "thought_and_action": "a", "agree": True, "service_to_task": "s", "grade": steps})
    finals = [says(last, when=asked, times=None) for asked in (FINAL, "行为：")]
    moves = [says(step, when=asked, times=None) for asked in ("The proposed action:", "打算执行的动作：")]
    windows = [notes("unclear"), notes("unclear").model_copy(update={"when": "要点："})]
    return [*finals, *moves, *windows, keypoints("it is there")]


def judge(server: ScriptedEndpoint, name: str = "scripted", **more: object) -> dict[str, object]:
    return {"base_url": server.base_url, "name": name, "usd_per_million_prompt": 3.0, **more}


def config(*judges: object, **more: str) -> RunConfig:
    changes = [f"{key}={value}" for key, value in more.items()]
    return fake_config("policy=scripted", f"tasks.limit={TASKS}", f"judges={json.dumps(list(judges))}", *changes)


def test_a_model_judges_while_a_run_collects(ray_here: Cluster, tmp_path: Path) -> None:
    with serving(*judging("complete", "correct")) as server:
        outcome = collect(config("screen", "effect", judge(server)), "fake", tmp_path / "run", Board())

    folder = tmp_path / "run"
    assert outcome.reason is None
    assert check(folder) == []
    assert rows(folder, "SELECT DISTINCT judge_set FROM passes") == [(["screen", "effect", "scripted"],)]
    models = "SELECT target, count(*) FROM votes WHERE judge = 'scripted' AND status = 'graded' GROUP BY ALL ORDER BY 1"
    assert rows(folder, models) == [("step", one(folder, "SELECT count(*) FROM steps")), ("trace", TASKS)]
    assert one(folder, "SELECT count(*) FROM keypoints WHERE judge = 'scripted'") == TASKS
    assert float(str(one(folder, "SELECT sum(cost_usd) FROM model_calls WHERE stage = 'step'"))) > 0
    assert one(folder, "SELECT count(*) FROM verdicts WHERE target = 'trace' AND families = 2") != 0
    asked = set(rows(folder, "SELECT prompt_sha256 FROM votes WHERE judge = 'scripted'"))
    assert asked <= set(rows(folder, "SELECT prompt_sha256 FROM prompts"))


def test_judging_again_adds_a_pass_and_says_what_it_changed(ray_here: Cluster, tmp_path: Path) -> None:
    folder = tmp_path / "run"
    collect(config("screen", "effect"), "fake", folder, Board())
    before = rows(folder, "SELECT * FROM verdicts ORDER BY ALL")
    with serving(*judging("fail", "wrong")) as server:
        wanted = override_config(
            read_run(folder).config,
            [f"judges={json.dumps([judge(server, family='a'), judge(server, 'other', family='b')])}"],
        )
        with pytest.raises(ConfigError, match="'other' is not served"):
            rejudge(folder, wanted, Board())
        wanted = override_config(read_run(folder).config, [f"judges={json.dumps(['effect', judge(server)])}"])
        outcome = rejudge(folder, wanted, Board())

    assert outcome.reason is None
    assert check(folder) == []
    after = rows(
        folder,
        "SELECT v.* FROM verdicts AS v JOIN passes USING (run_id, pass_id) WHERE kind = 'collect' ORDER BY ALL",
    )
    assert sorted(map(str, after)) == sorted(map(str, before))
    assert rows(folder, "SELECT kind, judge_set FROM passes ORDER BY judged_at") == [
        ("collect", ["screen", "effect"]),
        ("rejudge", ["effect", "scripted"]),
    ]
    assert any(line.startswith("step: correct -> undecided: ") for line in changes_of(folder))
    (silences,) = silences_of(folder)
    assert silences.startswith("judge scripted: asked ") and silences.endswith("abstained 0, failed 0")
    assert one(folder, "SELECT count(DISTINCT attempt_id) FROM model_calls WHERE stage <> 'probe'") == TASKS
    assert one(folder, "SELECT count(*) FROM prompts") == len(set(rows(folder, "SELECT prompt_sha256 FROM prompts")))


def test_a_budget_stops_judging_and_resuming_judges_the_rest(ray_here: Cluster, tmp_path: Path) -> None:
    folder = tmp_path / "run"
    with serving(*judging("complete", "correct")) as server:
        outcome = collect(config("effect", judge(server), **{"budget.calls": "30"}), "fake", folder, Board())

    assert outcome.reason is not None and outcome.reason.startswith("budget.calls: ")
    assert check(folder) == []
    assert one(folder, "SELECT count(*) FROM trajectories") == TASKS
    assert len([asked for asked in server.requests if asked.path.endswith("completions")]) <= 30
