"""Every trainer's keys, one by one, as its own documentation spells them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from pipeline.errors import ConfigError
from pipeline.exports.rows import Shape
from pipeline.exports.shapes import build_rows
from pipeline.exports.trainers import RENDERERS, renderer_for
from pipeline.schema import schema_of_model, to_rows
from pipeline.words import StepGrade
from tests.gradings import graded

CLICK = '{"type":"Click","point":{"x":10,"y":20}}'


def rendered(shape: Shape, trainer: str, grade: StepGrade | None = "correct") -> dict[str, Any]:
    """The first row of a sound trajectory, its first step of this grade, as the trainer reads it."""
    row = build_rows(shape, graded(steps=(grade, "explore", "correct")), "positive").rows[0]
    return renderer_for(shape, trainer).render(row, "train", 7).model_dump()


def text_of(content: list[dict[str, Any]]) -> str:
    return "".join(part["text"] for part in content if part["type"] == "text")


def test_verl_rl_step() -> None:
    row = rendered("rl-step", "verl")
    assert list(row) == ["data_source", "prompt", "images", "ability", "reward_model", "extra_info"]
    assert row["data_source"] == "pathproof/demo" and row["ability"] == "Web"
    assert [message["role"] for message in row["prompt"]] == ["system", "user"]
    assert sum(message["content"].count("<image>") for message in row["prompt"]) == len(row["images"]) == 1
    assert set(row["images"][0]) == {"bytes", "path"}
    assert list(row["reward_model"]) == ["style", "ground_truth"] and row["reward_model"]["style"] == "rule"
    truth = row["reward_model"]["ground_truth"]
    assert (truth["step_grade"], truth["trace_grade"], truth["contract_score"]) == ("correct", "complete", 0.5)
    assert truth["action"] == CLICK
    extra = row["extra_info"]
    assert (extra["split"], extra["index"], extra["answer"]) == ("train", 7, CLICK)
    assert extra["question"] == "Create the ticket “Lamp”." and extra["need_tools_kwargs"] is False


def test_verl_finds_the_keys_of_tools_and_interactions_in_what_parquet_gives_back(tmp_path: Path) -> None:
    row = build_rows("rl-step", graded(), "positive").rows[0]
    renderer = renderer_for("rl-step", "verl")
    schema = schema_of_model(renderer.model)
    pq.write_table(to_rows([renderer.render(row, "train", 0)], schema), tmp_path / "rows.parquet")
    (extra,) = pq.read_table(tmp_path / "rows.parquet").column("extra_info").to_pylist()
    assert extra["tools_kwargs"].get("any_tool", {}) == {}
    assert not extra["interaction_kwargs"]["name"]


@pytest.mark.parametrize("grade", ["wrong", "invalid", "explore", None])
def test_what_was_done_is_the_answer_only_where_it_was_right(grade: StepGrade | None) -> None:
    verl, swift = rendered("rl-step", "verl", grade), rendered("rl-step", "ms-swift", grade)
    assert verl["extra_info"]["answer"] is None and swift["solution"] is None
    assert verl["reward_model"]["ground_truth"]["action"] == swift["action"] == CLICK


def test_trl_sft() -> None:
    row = rendered("sft", "trl")
    assert list(row) == ["messages", "images"]
    assert [list(message) for message in row["messages"]] == [["role", "content"]] * 7
    parts = [part["type"] for message in row["messages"] for part in message["content"]]
    assert parts.count("image") == len(row["images"]) == 3


def test_trl_rl_step() -> None:
    row = rendered("rl-step", "trl")
    assert list(row)[:2] == ["prompt", "images"]
    assert {"step_grade", "step_share", "trace_grade", "trace_share", "contract_score", "action"} < set(row)
    assert "reward" not in row


@pytest.mark.parametrize("trainer", ["trl", "ms-swift"])
def test_rl_step_says_where_a_row_comes_from_and_what_it_trains(trainer: str) -> None:
    row = rendered("rl-step", trainer)
    assert (row["data_source"], row["domain"]) == ("pathproof/demo", "Web")


def test_trl_prm() -> None:
    row = rendered("prm", "trl")
    assert list(row) == ["prompt", "completions", "labels"]
    assert isinstance(row["prompt"], str) and "Create the ticket “Lamp”." in row["prompt"]
    assert len(row["completions"]) == 3 and row["labels"] == [True, True, True]


def test_trl_kto() -> None:
    row = rendered("kto", "trl")
    assert list(row) == ["prompt", "completion", "label", "images"]
    assert [message["role"] for message in row["prompt"]] == ["system", "user"]
    assert row["completion"][0]["role"] == "assistant" and CLICK in text_of(row["completion"][0]["content"])
    assert row["label"] is True


def test_llama_factory_sft() -> None:
    row = rendered("sft", "llama-factory")
    assert list(row) == ["messages", "images"]
    assert [message["role"] for message in row["messages"]] == ["system", *["user", "assistant"] * 3]
    assert sum(message["content"].count("<image>") for message in row["messages"]) == len(row["images"]) == 3
    assert all(path.startswith("images/") and path.endswith(".png") for path in row["images"])


def test_llama_factory_kto() -> None:
    row = rendered("kto", "llama-factory")
    assert list(row) == ["messages", "images", "kto_tag"]
    assert row["messages"][-1]["role"] == "assistant" and row["kto_tag"] is True


def test_ms_swift_sft() -> None:
    row = rendered("sft", "ms-swift")
    assert list(row) == ["messages", "images"]
    assert all(isinstance(message["content"], str) for message in row["messages"])


def test_ms_swift_kto() -> None:
    row = rendered("kto", "ms-swift")
    assert list(row) == ["messages", "images", "label"]
    assert row["messages"][-1]["role"] == "assistant" and row["label"] is True


def test_ms_swift_rl_step_has_no_answer_in_its_messages() -> None:
    row = rendered("rl-step", "ms-swift")
    assert list(row)[:3] == ["messages", "images", "solution"]
    assert [message["role"] for message in row["messages"]] == ["system", "user"]
    assert row["solution"] == row["action"] == CLICK


@pytest.mark.parametrize("shape", ["kto", "mopd", "prm", "rl-step", "sft"])
def test_hf_reads_every_shape_in_canonical_form(shape: Shape) -> None:
    row = rendered(shape, "hf")
    assert {"row_id", "trajectory_id", "task_id", "messages", "images"} < set(row)
    assert json.dumps({name: value for name, value in row.items() if name != "images"})


def test_a_pair_that_is_not_supported_is_refused_with_the_list() -> None:
    with pytest.raises(ConfigError, match="verl cannot read sft; supported: hf: kto, mopd, prm, rl-step, sft; llama"):
        renderer_for("sft", "verl")


def test_pairs_are_sorted() -> None:
    assert list(RENDERERS) == sorted(RENDERERS)
