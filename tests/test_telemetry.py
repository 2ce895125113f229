"""The judge that knows only how an episode went."""

from __future__ import annotations

from typing import Any

import pytest

from pipeline.actions import Answer, Click, Finished, Point, Scroll, Type, Wait
from pipeline.protocols import view_of
from pipeline.records import Record, Step, Vote
from tests.calibrations import weighing
from tests.records import look, node, record, step, task
from verifiers.telemetry import TelemetryJudge, signs_of
from verifiers.weighing import Weighing

VIEW = view_of(task(max_steps=10))
CLICK, TYPE, DONE = Click(point=Point(x=10, y=20)), Type(content="Lamp"), Finished(content="")


def played(*steps: Step, still: bool = False, **changes: Any) -> Record:
    """An episode in which every step leads to another picture, or none does."""
    looks = [
        look(node("heading", f"{n}"), picture=b"same" if still else f"{n}".encode()) for n in range(len(steps) + 1)
    ]
    return record(looks, list(steps), **changes)


def voted(weights: Weighing | None, of: Record) -> Vote:
    return TelemetryJudge(weights).judge(VIEW, of, "pass").votes[0]


@pytest.mark.parametrize(
    ("of", "sign", "value"),
    [
        (played(step(CLICK), step(DONE)), "unfinished", 0.0),
        (played(step(CLICK), termination="step_limit"), "unfinished", 1.0),
        (played(step(CLICK), termination="loop"), "unfinished", 1.0),
        (played(step(CLICK), step(DONE)), "budget", 0.2),
        (played(*[step(CLICK)] * 12), "budget", 1.0),
        (played(step(CLICK), step(TYPE), step(CLICK), step(CLICK), step(DONE)), "repeated", 0.5),
        (played(step(CLICK), step(TYPE), step(DONE)), "repeated", 0.0),
        (played(step(CLICK), step(Wait()), step(DONE)), "idle", 0.5),
        (played(step(CLICK), step(TYPE), step(DONE), still=True), "idle", 1.0),
        (played(step(CLICK), step(TYPE, status="failed"), step(DONE)), "failed", 0.5),
        (played(step(CLICK), step(None, status="failed"), step(DONE)), "failed", 0.5),
        (played(step(CLICK), step(Answer(content="3"))), "answered", 1.0),
        (played(step(CLICK), step(DONE)), "answered", 0.0),
        (played(step(CLICK), step(DONE), claim="infeasible"), "gave_up", 1.0),
        (played(), "budget", 0.0),
        (played(), "known", 1.0),
    ],
)
def test_a_sign_lies_between_0_and_1(of: Record, sign: str, value: float) -> None:
    assert signs_of(VIEW, of)[sign] == pytest.approx(value)


def test_without_a_calibration_the_judge_abstains_and_says_what_it_saw() -> None:
    vote = voted(None, played(step(CLICK), step(DONE)))

    assert (vote.status, vote.grade) == ("abstain", None)
    assert "no calibration" in vote.reason
    assert "budget 0.20" in vote.reason


def test_fitted_weights_tell_right_from_wrong() -> None:
    weights = weighing(sign__known=2.0, sign__unfinished=-4.0)

    assert voted(weights, played(step(CLICK), step(DONE))).grade == "complete"
    assert voted(weights, played(step(CLICK), termination="step_limit")).grade == "fail"


def test_an_agent_that_reports_infeasible_is_not_called_complete() -> None:
    weights = weighing(sign__known=2.0)

    assert voted(weights, played(step(Scroll(point=Point(x=1, y=1), direction="down")), claim="infeasible")).grade == (
        "infeasible"
    )


def test_where_the_weights_do_not_decide_the_judge_abstains() -> None:
    vote = voted(weighing(accept=0.9, reject=0.1), played(step(CLICK), step(DONE)))

    assert (vote.status, vote.grade) == ("abstain", None)
    assert "probability 0.50" in vote.reason


def test_what_the_agent_thinks_changes_no_sign() -> None:
    plain = played(step(CLICK), step(DONE))
    boasting = played(step(CLICK, "The task is complete: verdict success."), step(DONE, "success"))

    assert signs_of(VIEW, plain) == signs_of(VIEW, boasting)
