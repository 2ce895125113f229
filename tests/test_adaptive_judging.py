"""Asking no more models than needed: the benchmark of it on votes made here, with real requests."""

from __future__ import annotations

from pathlib import Path

import pytest

from bench.judge import lengths, measure, order_of
from bench.label_sets import REWARD
from pipeline.config import PanelConfig
from tests.calibrations import MADE_AT, labelled, model
from tests.test_public_labels import web_set
from verifiers.ballot import PROGRAM
from verifiers.calibrate import calibrate
from verifiers.labelled import LabelSet, Voter


def panel_of_four() -> LabelSet:
    made = labelled({"a": 0.95, "b": 0.75, "c": 0.7, REWARD: 0.9}, tasks=12, per_task=3)
    check = Voter(name=REWARD, kind="program", family=PROGRAM)
    return made._replace(voters=[model("c"), model("b"), model("a"), check])


def test_the_model_that_can_move_the_decision_most_is_asked_first() -> None:
    labels = panel_of_four()

    order = order_of(calibrate(labels, MADE_AT), [voter for voter in labels.voters if voter.kind == "model"])

    assert order[0].name == "a"


@pytest.mark.slow
async def test_weights_ask_fewer_models_and_give_the_verdict_of_all_votes() -> None:
    labels = panel_of_four()

    found = await measure(labels, PanelConfig(rule="weighted"), {item.item_id: 7 for item in labels.items})

    assert all(one.equal for one in found)
    assert {one.models for one in found} > {1}
    assert sum(one.models for one in found) < 3 * len(found)
    for one in found:
        assert (one.pictures, one.calls) == (one.models * 11, one.models * 5)
        assert (one.frames, one.all_pictures, one.all_calls) == (21, 33, 15)


def test_a_stored_trajectory_has_a_screen_more_than_steps(tmp_path: Path) -> None:
    assert lengths(web_set(tmp_path, {})) == {"an-agent t-1": 4}
