"""Readers of public labelled sets, as the items that `pathproof calibrate` measures on.

The sets are not part of the project: they belong to their authors, and their folder is given on the command line. Only
stored votes, a benchmark's own reward and what a record alone shows are taken as evidence; of the columns that persons
filled in only the truth is read, and neither agents nor benchmarks are told apart.
"""

from __future__ import annotations

import csv
import gzip
import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path

from verifiers.ballot import PROGRAM
from verifiers.labelled import Item, LabelSet, Voter

REWARD = "reward"
"""The benchmark's own reward, taken as a judge without a model."""
_WEB_JUDGES = {
    "webjudge_7b": Voter(name="webjudge-7b", kind="model", family="qwen"),
    "webjudge_gpt4o": Voter(name="webjudge-gpt4o", kind="model", family="gpt"),
    "webjudge_o4mini": Voter(name="webjudge-o4mini", kind="model", family="gpt"),
}
_PROGRAM_CHECK = Voter(name=REWARD, kind="program", family=PROGRAM)
CLAIM = "claim"
"""That the agent says it did right."""
_MAX_STEPS, _MAX_DESKTOP_STEPS = 30, 100
"""The limits that the episodes of the web sets, and those of the desktop set, were stopped at."""
_FULL_SCORE = 0.99
_ACTION = re.compile(r"^\d+\. (.*?)(?:\. Reasoning:|$)", re.MULTILINE)
_SAMPLES, _SCORE, _PRIMED = "1p_no_k-tri", "1p_no_k-range", "2p-range"
_PROMPTS = {_SAMPLES: "samples", _SCORE: "score", _PRIMED: "score-primed"}
_SAME_SAMPLES, _AGAIN = "-s_prob", "samples-again"
"""Configurations of this ending score the samples of the one without it once more: no judge of its own."""


def agent_rewards(folder: Path) -> LabelSet:
    """AgentRewardBench: web trajectories labelled by persons, three judges, and the benchmarks' reward.

    Only the test split, where every judge was asked.
    """
    signs = dict(_histories(folder / "webjudge_judgments.jsonl.gz"))
    with (folder / "verdicts.csv").open(encoding="utf-8-sig", newline="") as file:
        rows = [row for row in csv.DictReader(file) if row["split"] == "test" and row["human_success"]]
    items = [
        Item(
            item_id=f"{row['agent']} {row['task_id']}",
            task_id=row["task_id"],
            truth=row["human_success"] == "1",
            votes={voter.name: row[column] == "1" for column, voter in _WEB_JUDGES.items()} | _reward(row),
            signs=signs.get((row["agent"], row["task_id"]), {}),
            infeasible=row["infeasible_task"] == "1",
            domain="Web",
        )
        for row in rows
        if all(row[column] for column in _WEB_JUDGES)
    ]
    return LabelSet("AgentRewardBench", items, [*_WEB_JUDGES.values(), _PROGRAM_CHECK])


def _reward(row: Mapping[str, str]) -> dict[str, bool]:
    return {REWARD: float(row["functional_reward"]) == 1} if row["functional_reward"] else {}


def _histories(path: Path) -> Iterator[tuple[tuple[str, str], dict[str, float]]]:
    """What each stored episode shows by itself: the same signs as `verifiers.telemetry` reads from a record."""
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        for line in lines:
            row = json.loads(line)
            actions = _ACTION.findall(row["action_history"] or "")
            said = [action for action in actions if action.startswith("send_msg_to_user")]
            refused = [action for action in actions if action.startswith("report_infeasible")]
            yield (
                (row["agent"].removeprefix("GenericAgent-"), row["task_id"]),
                {
                    "known": 1.0,
                    "unfinished": float(row["truncated"]),
                    "budget": min(row["n_steps"] / _MAX_STEPS, 1.0),
                    "repeated": 1 - len(set(actions)) / max(len(actions), 1),
                    "idle": sum(action.startswith("noop") for action in actions) / max(len(actions), 1),
                    "answered": float(bool(said)),
                    "gave_up": float(bool(refused)),
                },
            )


def visual_web_arena(folder: Path, *, again: bool = False) -> LabelSet:
    """Verdicts of three prompts of one model on the same episodes; the truth is the benchmark's reward.

    With `again` one of them counts twice, to see whether that is found out.
    """
    prompts = {*_PROMPTS.values(), *([_AGAIN] if again else [])}
    found: dict[tuple[str, str], dict[str, dict[str, str]]] = {}
    with (folder / "verifications.csv").open(encoding="utf-8-sig", newline="") as file:
        for row in csv.DictReader(file):
            prompt = _prompt_of(row["config_name"])
            if prompt in prompts and row["predicted_score"]:
                found.setdefault((row["gold_source"], row["domain_task_id"]), {})[prompt] = row
    items = [
        Item(
            item_id=" ".join(key),
            task_id=key[1],
            truth=next(iter(rows.values()))["gold_score"] == "1",
            votes={prompt: float(row["predicted_score"]) == 1 for prompt, row in rows.items()},
            signs=_length(next(iter(rows.values()))),
            domain="Web",
        )
        for key, rows in sorted(found.items())
        if len(rows) == len(prompts)
    ]
    voters = [Voter(name=name, kind="model", family="gemini") for name in sorted(prompts)]
    return LabelSet("VisualWebArena", items, voters)


def _prompt_of(configuration: str) -> str:
    prompt = next((name for start, name in _PROMPTS.items() if configuration.startswith(start)), "")
    return _AGAIN if configuration.endswith(_SAME_SAMPLES) else prompt


def desktop_episodes(folder: Path) -> LabelSet:
    """OSWorld: episodes of desktop agents as text; the truth is the benchmark's score, the one vote the agent's claim.

    The claim is no evidence; it is what any judge must beat.
    """
    items = []
    with gzip.open(folder / "trajectories.jsonl.gz", "rt", encoding="utf-8") as lines:
        for line in lines:
            row = json.loads(line)
            if row["success_raw"] is not None and row["steps"]:
                actions = [step["action"].strip() for step in row["steps"]]
                items.append(
                    Item(
                        item_id=f"{row['source_model']} {row['trajectory_id']}",
                        task_id=row["trajectory_id"],
                        truth=row["success_raw"] >= _FULL_SCORE,
                        votes={CLAIM: actions[-1].startswith(("DONE", "FAIL"))},
                        signs=_desktop_signs(actions),
                        infeasible=row["infeasible_task"],
                        domain="Computer",
                    )
                )
    return LabelSet("OSWorld", items, [Voter(name=CLAIM, kind="program", family=PROGRAM)])


def _desktop_signs(actions: list[str]) -> dict[str, float]:
    ended = actions[-1].startswith(("DONE", "FAIL"))
    return {
        "known": 1.0,
        "unfinished": float(not ended),
        "budget": min(len(actions) / _MAX_DESKTOP_STEPS, 1.0),
        "repeated": 1 - len(set(actions)) / len(actions),
        "idle": sum(action.startswith("WAIT") for action in actions) / len(actions),
        "gave_up": float(actions[-1].startswith("FAIL")),
    }


def _length(row: Mapping[str, str]) -> dict[str, float]:
    steps = int(row["traj_len"])
    return {"known": 1.0, "budget": min(steps / _MAX_STEPS, 1.0), "unfinished": float(steps >= _MAX_STEPS)}
