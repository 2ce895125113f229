"""Public labelled sets: how they are read, on files made here; and what they say, where they are at hand."""

from __future__ import annotations

import csv
import gzip
import json
import os
from collections.abc import Mapping
from pathlib import Path

import pytest

from bench.label_sets import REWARD, agent_rewards, desktop_episodes, visual_web_arena
from bench.votes import figures, weighted
from verifiers.calibrate import decided_by
from verifiers.dependence import dependence_of
from verifiers.rules import RULES

_NAMED = os.environ.get("PATHPROOF_LABELS")
SETS = Path(_NAMED or "/nowhere")
at_hand = pytest.mark.skipif(_NAMED is None, reason="PATHPROOF_LABELS does not name the folder of the labelled sets")

TRAJECTORY = {
    "benchmark": "demo",
    "agent": "an-agent",
    "task_id": "t-1",
    "split": "test",
    "human_success": "1",
    "human_looping": "1",
    "webjudge_7b": "1",
    "webjudge_gpt4o": "0",
    "webjudge_o4mini": "1",
    "functional_reward": "1.0",
    "infeasible_task": "0",
}
HISTORY = {
    "agent": "GenericAgent-an-agent",
    "task_id": "t-1",
    "truncated": False,
    "n_steps": 3,
    "action_history": "1. click('1'). Reasoning: because\n2. click('1'). Reasoning: again\n3. send_msg_to_user(\"7\")",
}


def web_set(folder: Path, *changes: Mapping[str, str]) -> Path:
    """A set of web trajectories, one for each change."""
    with (folder / "verdicts.csv").open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, list(TRAJECTORY))
        writer.writeheader()
        writer.writerows({**TRAJECTORY, **change} for change in changes)
    with gzip.open(folder / "webjudge_judgments.jsonl.gz", "wt", encoding="utf-8") as lines:
        lines.write(json.dumps(HISTORY) + "\n")
    return folder


def test_votes_the_reward_and_signs_of_a_web_trajectory_are_read(tmp_path: Path) -> None:
    labels = agent_rewards(web_set(tmp_path, {}))

    item = labels.items[0]
    assert (item.task_id, item.truth, item.infeasible) == ("t-1", True, False)
    assert item.votes == {"webjudge-7b": True, "webjudge-gpt4o": False, "webjudge-o4mini": True, REWARD: True}
    assert item.signs == {
        "known": 1.0,
        "unfinished": 0.0,
        "budget": 0.1,
        "repeated": pytest.approx(1 / 3),
        "idle": 0.0,
        "answered": 1.0,
        "gave_up": 0.0,
    }


def test_what_was_not_measured_is_silent_and_what_no_person_labelled_is_left_out(tmp_path: Path) -> None:
    labels = agent_rewards(
        web_set(
            tmp_path,
            {"task_id": "t-2", "functional_reward": ""},
            {"human_success": ""},
            {"split": "dev"},
            {"webjudge_o4mini": ""},
        )
    )

    assert [(item.task_id, REWARD in item.votes, item.signs) for item in labels.items] == [("t-2", False, {})]


def test_no_column_of_persons_but_the_truth_is_evidence(tmp_path: Path) -> None:
    one = agent_rewards(web_set(tmp_path, {}))
    other = agent_rewards(web_set(tmp_path, {"human_looping": "0", "benchmark": "another"}))

    assert one == other


def test_prompts_of_one_model_are_judges_and_a_second_score_of_the_same_samples_is_none(tmp_path: Path) -> None:
    shared = {"domain_task_id": "d_1", "gold_source": "s", "gold_score": "1", "traj_len": "15"}
    rows = [
        {**shared, "config_name": "1p_no_k-tri-x", "predicted_score": "1"},
        {**shared, "config_name": "1p_no_k-tri-x-s_prob", "predicted_score": "0"},
        {**shared, "config_name": "1p_no_k-range-x", "predicted_score": "0"},
        {**shared, "config_name": "2p-range-x", "predicted_score": "1"},
        {**shared, "config_name": "2p-range-x", "predicted_score": "1", "domain_task_id": "d_2"},
    ]
    with (tmp_path / "verifications.csv").open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)

    plain, again = visual_web_arena(tmp_path), visual_web_arena(tmp_path, again=True)

    assert [item.votes for item in plain.items] == [{"samples": True, "score": False, "score-primed": True}]
    assert plain.items[0].signs == {"known": 1.0, "budget": 0.5, "unfinished": 0.0}
    assert again.items[0].votes["samples-again"] is False


def test_a_desktop_episode_has_its_score_the_agents_claim_and_signs(tmp_path: Path) -> None:
    episode = {"source_model": "m", "trajectory_id": "t-1", "success_raw": 0.0, "infeasible_task": True}
    actions = ["click(1)", "click(1)", "WAIT", "FAIL"]
    unlabelled = {**episode, "success_raw": None, "steps": [{"action": "DONE"}]}
    with gzip.open(tmp_path / "trajectories.jsonl.gz", "wt", encoding="utf-8") as lines:
        for row in ({**episode, "steps": [{"action": action} for action in actions]}, unlabelled):
            lines.write(json.dumps(row) + "\n")

    (item,) = desktop_episodes(tmp_path).items

    assert (item.task_id, item.truth, item.infeasible, item.votes) == ("t-1", False, True, {"claim": True})
    assert item.signs == {
        "known": 1.0,
        "unfinished": 0.0,
        "budget": 0.04,
        "repeated": 0.25,
        "idle": 0.25,
        "gave_up": 1.0,
    }


# --- what the sets say, where they are at hand -------------------------------------------------------------------


@at_hand
def test_fitted_weights_are_no_worse_than_the_best_fixed_rule() -> None:
    labels = agent_rewards(SETS / "arb").where(lambda item: REWARD in item.votes).without_signs()

    fixed = [figures(labels, decided_by(rule.decide, labels)) for rule in RULES]

    best = max(one.f1.value or 0.0 for one in fixed if one.coverage.value == 1.0)
    assert (weighted(labels).best.f1.value or 0.0) >= best - 0.01


@at_hand
def test_a_program_check_is_worth_more_than_another_model() -> None:
    labels = agent_rewards(SETS / "arb").where(lambda item: REWARD in item.votes).without_signs()
    models = labels.only(*(voter.name for voter in labels.voters if voter.name != REWARD))

    assert (weighted(labels).best.f1.value or 0.0) > (weighted(models).best.f1.value or 0.0) + 0.03


@at_hand
def test_the_second_score_of_the_same_samples_is_found_out() -> None:
    found = dependence_of(visual_web_arena(SETS / "sgv_vwa", again=True))

    assert [(pair.first, pair.second) for pair in found.pairs if pair.duplicate] == [("samples", "samples-again")]
