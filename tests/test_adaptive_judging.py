"""Asking no more models than needed: the benchmark of it on votes made here, with real requests."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bench.judge import lengths, measure, order_of
from bench.label_sets import REWARD
from pipeline.config import PanelConfig
from pipeline.judging import Waiting, undecided_of
from pipeline.words import Grade
from tests.calibrations import MADE_AT, labelled, model
from tests.test_panel import QUORUM, asked, case_of, ended, outcome
from tests.test_public_labels import web_set
from tests.votes import program, vote
from verifiers.ballot import PROGRAM
from verifiers.calibrate import calibrate
from verifiers.labelled import LabelSet, Voter
from verifiers.panel import decide


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


@settings(max_examples=200, deadline=None)
@given(
    grades=st.lists(st.sampled_from(["complete", "fail", "partial", None]), min_size=1, max_size=5),
    families=st.lists(st.sampled_from(["a", "b", "c"]), min_size=5, max_size=5),
    checked=st.sampled_from(["passed", "failed", "unreadable"]),
    programmed=st.sampled_from(["complete", "fail", None]),
)
def test_models_that_were_not_asked_could_not_have_turned_the_verdict(
    grades: list[Grade | None], families: list[str], checked: str, programmed: Grade | None
) -> None:
    made, reads = asked(checked)
    case = case_of(made, ended(*reads), QUORUM)
    screen = [program(programmed)] if programmed else []
    models = [
        vote(grade, family, f"m{place}") for place, (grade, family) in enumerate(zip(grades, families, strict=False))
    ]

    heard = list(screen)
    for place, one in enumerate(models):
        if undecided_of(case, heard, QUORUM, Waiting(trace=len(models) - place, step=0))[0]:
            heard.append(one)

    whole = decide(case, [*screen, *models], QUORUM, "pass")[0]
    assert outcome(decide(case, heard, QUORUM, "pass")[0]) == outcome(whole)
